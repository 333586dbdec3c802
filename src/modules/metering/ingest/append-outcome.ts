import { invariant } from '../../../core/invariant';
import {
  isDatabaseUnavailable,
  isWorthRetrying,
  OutcomeUnknownError,
} from '../../../platform/database';
import { ProblemError } from '../../../platform/errors';
import type { AppendResult, IncomingEvent, Rejection } from '../usage-store';
import { type Refusal, rejectionOf } from './usage-refusals';

/**
 * Result of an event that was not stored. `busy` means that the event was skipped and must be tried again. Either its
 * stream (one customer, one event name) is locked, or the cached state of the stream is outdated, or a meter of its
 * name is being created. The slow path (a transaction) skips either all events of a request or none.
 */
export type EventResult = Refusal | 'duplicate' | 'busy';

/**
 * Reason why events were skipped. `busy`: another transaction has locked their stream (one customer, one event name).
 * `outdated`: the cached state of the stream is outdated.
 */
export type NotTried = 'busy' | 'outdated';

/**
 * Reason why a shared commit (of several requests) did not store a request. `timeout`: the request, written alone,
 * waited too long for a lock, or probably would.
 */
export type NotShared = NotTried | 'timeout';

export interface AppendOutcome {
  readonly accepted: number;
  /** Ordered by index. */
  readonly notStored: readonly { readonly index: number; readonly result: EventResult }[];
}

/** Outcome of a request if some of its streams (one customer, one event name) were skipped, but not all. */
export interface PartOutcome {
  readonly stored: AppendOutcome;
  /** Events of the skipped streams. */
  readonly rest: readonly IncomingEvent[];
  readonly reason: NotTried;
}

/** Outcome if it is unknown why some events were not stored. The client gets the error `failure`. */
export interface UnclassifiedOutcome {
  readonly failure: unknown;
}

/**
 * Outcome of a request on the fast path (one statement):
 * - `AppendOutcome`: no event was skipped;
 * - `NotTried`: all events were skipped;
 * - `PartOutcome`: some events were skipped;
 * - `UnclassifiedOutcome`: it is unknown why some events were not stored.
 */
export type FastPathOutcome = AppendOutcome | NotTried | PartOutcome | UnclassifiedOutcome;

/**
 * Returns the outcome of a request without its skipped events (`busy`), which the caller tries again. Returns `reason`
 * if all events were skipped.
 * @param reason why the events were skipped
 */
export function withoutBusy(
  events: readonly IncomingEvent[],
  { accepted, notStored }: AppendOutcome,
  reason: NotTried,
): FastPathOutcome {
  const busy = new Set(
    notStored.filter(({ result }) => result === 'busy').map(({ index }) => index),
  );
  if (busy.size === 0) return { accepted, notStored };
  if (busy.size === events.length) return reason;
  const stored = { accepted, notStored: notStored.filter(({ index }) => !busy.has(index)) };
  return { stored, rest: events.filter(({ index }) => busy.has(index)), reason };
}

/**
 * Returns the outcome of a request if `error` prevents finding out why events were not stored. Returns null if the
 * error does not concern this request, because all its events were stored or skipped.
 */
export function afterFailure(
  { accepted, notStored }: AppendOutcome,
  error: unknown,
): UnclassifiedOutcome | null {
  if (notStored.every(({ result }) => result === 'busy')) return null;
  return { failure: failureOf(accepted, error) };
}

/**
 * Returns the error that the client gets if a part of a request failed with `error`. If some events were stored,
 * replaces an error that means "nothing was stored" by {@link OutcomeUnknownError}.
 * @param accepted number of events of the request that were stored
 */
export function failureOf(accepted: number, error: unknown): unknown {
  const statesNothingDone =
    error instanceof ProblemError || isDatabaseUnavailable(error) || isWorthRetrying(error);
  return accepted > 0 && statesNothingDone ? new OutcomeUnknownError(error) : error;
}

/**
 * Waits for all parts of a request, and returns its outcome.
 * @throws the error of the first part that failed, as {@link failureOf} returns it
 */
export async function joinParts(parts: readonly Promise<AppendOutcome>[]): Promise<AppendOutcome> {
  const settled = await Promise.allSettled(parts);
  const stored = settled.flatMap((part) => (part.status === 'fulfilled' ? [part.value] : []));
  const outcome = mergeParts(stored);
  const failed = settled.find((part) => part.status === 'rejected');
  if (failed !== undefined) throw failureOf(outcome.accepted, failed.reason);
  return outcome;
}

/**
 * Returns the outcome of each of several requests that were written together.
 * @param notStored ordered by `index`: the position of an event among the events of all requests, from 0
 */
export function splitByRequest(
  requests: readonly { readonly events: readonly IncomingEvent[] }[],
  notStored: AppendOutcome['notStored'],
): readonly AppendOutcome[] {
  let first = 0;
  let next = 0;
  return requests.map(({ events }) => {
    const ofRequest: AppendOutcome['notStored'][number][] = [];
    const end = first + events.length;
    for (; next < notStored.length && (notStored[next]?.index ?? 0) < end; next += 1) {
      const { index, result } = notStored[next] ?? { index: 0, result: 'busy' };
      ofRequest.push({ index: events[index - first]?.index ?? -1, result });
    }
    first = end;
    return { accepted: events.length - ofRequest.length, notStored: ofRequest };
  });
}

export function mergeParts(parts: readonly AppendOutcome[]): AppendOutcome {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only;
  return {
    accepted: parts.reduce((sum, { accepted }) => sum + accepted, 0),
    notStored: parts.flatMap(({ notStored }) => notStored).sort((a, b) => a.index - b.index),
  };
}

export function toAppendResult({ accepted, notStored }: AppendOutcome): AppendResult {
  const rejected = notStored.flatMap(({ index, result }) => toRejection(index, result) ?? []);
  return { accepted, duplicates: notStored.length - rejected.length, rejected };
}

function toRejection(index: number, result: EventResult): Rejection | null {
  invariant(result !== 'busy', 'A request that waits for its streams is tried.');
  return result === 'duplicate' ? null : rejectionOf(index, result);
}
