import { invariant } from '../../../core/invariant';
import { isLockTimeout, isOutage } from '../../../platform/database';
import type { OnBusy } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';
import {
  type AppendOutcome,
  failureOf,
  type FastPathOutcome,
  mergeParts,
  type NotShared,
  type PartOutcome,
} from './append-outcome';
import type { FastPathRequest } from './fast-path-request';
import { MAX_EVENTS_IN_MEMORY } from './staged-events';

export interface QueuedRequest {
  readonly events: readonly IncomingEvent[];
  /** The same events, prepared for the fast path; null on the slow path. */
  readonly fastPath: FastPathRequest | null;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Stores requests together. Returns the outcome of each, or the reason why it was skipped. */
export type Append<Request = QueuedRequest> = (
  group: readonly Request[],
  onBusy: OnBusy,
) => Promise<readonly FastPathOutcome[]>;

interface WriteApart<Request> {
  readonly append: Append<Request>;
  /** Treatment of locks in the first write. */
  readonly onBusy: OnBusy;
  /** Returns true if a request is to be left without a write. */
  readonly isLeft: (request: Request) => boolean;
  /**
   * Takes over a request that was not stored, or the skipped part of a request.
   * @param timeout error of a request that alone waited too long for a lock, otherwise null
   */
  readonly leave: (request: Request, reason: NotShared, timeout: unknown) => void;
}

/** Treatment of locks after a write has waited too long. It skips locked streams, which can be many. */
const AFTER_TIMEOUT: OnBusy = { rows: 'skip', waitMs: 20 };

/**
 * Writes requests together, and answers those that were stored or refused. If the write fails, writes them in parts, and
 * those of a part that fails one by one, so that one request cannot fail the others. After an outage, repeats nothing,
 * because the events may be stored. Never throws, because that would stop a queue for ever.
 */
export async function writeApart<Request extends QueuedRequest>(
  group: readonly Request[],
  { append, onBusy, isLeft, leave }: WriteApart<Request>,
): Promise<void> {
  const tryToLeave: typeof leave = (request, reason, timeout) => {
    try {
      leave(request, reason, timeout);
    } catch (error) {
      request.reject(error);
    }
  };
  let hasTimedOut = false;
  const parts = [group];
  for (let next = parts.shift(); next !== undefined; next = parts.shift()) {
    const part: Request[] = [];
    for (const request of next) {
      if (isLeft(request)) tryToLeave(request, 'timeout', null);
      else part.push(request);
    }
    if (part.length === 0) continue;
    try {
      const outcomes = await append(part, hasTimedOut ? AFTER_TIMEOUT : onBusy);
      for (const [at, request] of part.entries()) answer(request, outcomes[at], tryToLeave);
    } catch (error) {
      const isTimeout = isLockTimeout(error) && !isOutage(error);
      hasTimedOut ||= isTimeout;
      const size = next === group ? Math.floor(Math.sqrt(part.length)) : 1;
      if (part.length > 1 && !isOutage(error)) parts.unshift(...inParts(part, size));
      else if (isTimeout) for (const request of part) tryToLeave(request, 'timeout', error);
      else for (const { reject } of part) reject(error);
    }
  }
}

/** Takes as many of the first requests of a queue as fit into one statement, at least one. */
export function takeGroup<Request extends QueuedRequest>(queue: Request[]): readonly Request[] {
  let events = 0;
  const end = queue.findIndex((request, index) => {
    events += request.events.length;
    return index > 0 && events > MAX_EVENTS_IN_MEMORY;
  });
  return queue.splice(0, end === -1 ? queue.length : end);
}

/** Answers a request or leaves its events. An error rejects only this request. */
function answer<Request extends QueuedRequest>(
  request: Request,
  outcome: FastPathOutcome | undefined,
  leave: WriteApart<Request>['leave'],
): void {
  try {
    invariant(outcome !== undefined, 'Each request has an outcome.');
    if (typeof outcome === 'string') leave(request, outcome, null);
    else if ('failure' in outcome) request.reject(outcome.failure);
    else if ('rest' in outcome) leave(restOf(request, outcome), outcome.reason, null);
    else request.resolve(outcome);
  } catch (error) {
    request.reject(error);
  }
}

/**
 * Returns a new request for the skipped events of a request. When the new one is resolved, the original one is resolved
 * with the outcome of all its events.
 */
function restOf<Request extends QueuedRequest>(
  request: Request,
  { rest, stored }: PartOutcome,
): Request {
  return {
    ...request,
    events: rest,
    fastPath: null,
    resolve: (outcome) => request.resolve(mergeParts([stored, outcome])),
    reject: (error) => request.reject(failureOf(stored.accepted, error)),
  };
}

function inParts<Request>(group: readonly Request[], size: number): (readonly Request[])[] {
  return Array.from({ length: Math.ceil(group.length / size) }, (_, part) =>
    group.slice(part * size, (part + 1) * size),
  );
}
