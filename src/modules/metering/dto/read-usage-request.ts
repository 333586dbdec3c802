import type { Request } from 'express';
import { malformedRequest, type ProblemItem, unsupportedMediaType } from '../../../platform/errors';
import { refusalOf } from '../../../platform/http';
import type { UsageEvent } from '../domain/usage-event';
import type { Rejection } from '../store/usage-store';
import type { UsageItem } from '../usage-events.service';
import { readUsageEvent } from './read-usage-event';

const MOST_IN_BATCH = 1_000;

export type UsageReport =
  | { readonly kind: 'event'; readonly event: UsageEvent }
  | { readonly kind: 'items'; readonly items: Iterable<UsageItem> };

/**
 * What a request reports.
 * @throws {ProblemError} `validation_failed` for a single event that is malformed and for a list that is none or too long,
 * `malformed_request`, `unsupported_media_type`
 */
export function readUsageRequest(request: Request): UsageReport {
  const body = request.body as unknown;
  if (body === undefined && hasBody(request)) {
    throw unsupportedMediaType('Only application/json is read.');
  }
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, 'events')) {
    return { kind: 'items', items: itemsOf(eventsIn(body)) };
  }
  const event = readUsageEvent(body ?? {});
  if (isFaulty(event)) throw refusalOf(event);
  return { kind: 'event', event };
}

function hasBody(request: Request): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}

function eventsIn(body: object): readonly unknown[] {
  if (Object.keys(body).length > 1) {
    throw malformedRequest('Beside "events" there is no other field.');
  }
  const events: unknown = Reflect.get(body, 'events');
  const fault = (code: string, message: string) =>
    refusalOf([{ pointer: '/events', code, message }]);
  if (!Array.isArray(events)) throw fault('is_array', 'must be a list of events');
  if (events.length > MOST_IN_BATCH) {
    throw fault('too_many_items', `holds more than ${MOST_IN_BATCH} events: send NDJSON`);
  }
  return events;
}

function* itemsOf(events: readonly unknown[]): Generator<UsageItem> {
  for (const [index, value] of events.entries()) yield itemOf(index, value);
}

function itemOf(index: number, value: unknown): UsageItem {
  const event = readUsageEvent(value);
  return isFaulty(event) ? toRejection(index, event) : { ...event, index };
}

function isFaulty(event: UsageEvent | readonly ProblemItem[]): event is readonly ProblemItem[] {
  return Array.isArray(event);
}

function toRejection(index: number, faults: readonly ProblemItem[]): Rejection {
  const message = faults.map((fault) => `${fault.pointer} ${fault.message}`.trim()).join('; ');
  return { index, code: 'validation_failed', message };
}
