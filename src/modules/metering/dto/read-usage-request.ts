import type { Request } from 'express';
import { malformedRequest, type ProblemItem, unsupportedMediaType } from '../../../platform/errors';
import {
  hasBody,
  type LineLimits,
  linesOf,
  type StallLimits,
  toValidationError,
} from '../../../platform/http';
import type { UsageEvent } from '../domain/usage-event';
import type { StreamPiece } from '../ingest/stream-turns';
import type { UsageItem } from '../usage-events.service';
import { NDJSON } from '../usage-route';
import { readUsageEvent } from './read-usage-event';

const MAX_EVENTS_PER_BATCH = 1_000;
const MAX_LINES = 100_000;

export type UsageReport =
  | { readonly kind: 'event'; readonly event: UsageEvent }
  | { readonly kind: 'batch'; readonly items: readonly UsageItem[] }
  | { readonly kind: 'stream'; readonly pieces: AsyncIterable<StreamPiece<UsageItem>> };

/**
 * Returns the events of a request. Lines of NDJSON are returned as they arrive.
 * @throws {ProblemError} `malformed_request`, `unsupported_media_type`, or `validation_failed` for a malformed single
 *   event and for a list that is malformed or too long. While lines are read: `payload_too_large`, `request_timeout`,
 *   `service_unavailable`
 */
export function readUsageRequest(request: Request, limits: StallLimits): UsageReport {
  const body = request.body as unknown;
  if (body === undefined) {
    if (request.is(NDJSON) === NDJSON) {
      return { kind: 'stream', pieces: piecesOf(request, { maxLines: MAX_LINES, ...limits }) };
    }
    if (hasBody(request)) {
      throw unsupportedMediaType(`Send application/json or ${NDJSON}.`);
    }
  }
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, 'events')) {
    return { kind: 'batch', items: eventsIn(body).map((value, index) => itemOf(index, value)) };
  }
  const event = readUsageEvent(body ?? {});
  if (isFaulty(event)) throw toValidationError(event);
  return { kind: 'event', event };
}

function eventsIn(body: object): readonly unknown[] {
  if (Object.keys(body).length > 1) {
    throw malformedRequest('A list of events has the field "events" only.');
  }
  const events: unknown = Reflect.get(body, 'events');
  const fault = (code: string, message: string) =>
    toValidationError([{ pointer: '/events', code, message }]);
  if (!Array.isArray(events)) throw fault('is_array', 'must be a list of events');
  if (events.length > MAX_EVENTS_PER_BATCH) {
    throw fault('too_many_items', `holds more than ${MAX_EVENTS_PER_BATCH} events: send NDJSON`);
  }
  return events;
}

async function* piecesOf(
  request: Request,
  limits: LineLimits,
): AsyncGenerator<StreamPiece<UsageItem>> {
  for await (const lines of linesOf(request, limits)) {
    yield {
      items: lines.map(({ index, text }) => lineOf(index, text)),
      bytes: lines.reduce((sum, { text }) => sum + (text?.length ?? 0), 0),
    };
  }
}

function lineOf(index: number, text: string | null): UsageItem {
  const unread = { index, code: malformedRequest.definition.code };
  if (text === null) return { ...unread, message: 'is not UTF-8' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ...unread, message: 'is not JSON' };
  }
  return itemOf(index, value);
}

function itemOf(index: number, value: unknown): UsageItem {
  const event = readUsageEvent(value);
  if (!isFaulty(event)) return { ...event, index };
  const message = event.map((fault) => `${fault.pointer} ${fault.message}`.trim()).join('; ');
  return { index, code: 'validation_failed', message };
}

function isFaulty(event: UsageEvent | readonly ProblemItem[]): event is readonly ProblemItem[] {
  return Array.isArray(event);
}
