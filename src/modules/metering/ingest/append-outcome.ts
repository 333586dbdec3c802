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
 * Result of an event that was not stored. `busy`: the event was skipped and must be tried again. On the fast path,
 * another transaction has locked its stream, or the cached state of the stream is outdated. On the slow path, another
 * transaction has locked a stream of the same request, or a meter is being created for one of its event names.
 */
export type EventResult = Refusal | 'duplicate' | 'busy';

/**
 * Reason why events were skipped. `busy`: their stream is locked. `outdated`: the cached state of their stream is
 * outdated.
 */
export type NotTried = 'busy' | 'outdated';

export interface AppendOutcome {
  readonly accepted: number;
  /** The events that were not stored, in order. */
  readonly notStored: readonly { readonly index: number; readonly result: EventResult }[];
}

/** Outcome of a request if some, but not all, of its streams were skipped. */
export interface PartOutcome {
  readonly stored: AppendOutcome;
  /** Events of the skipped streams. */
  readonly rest: readonly IncomingEvent[];
  readonly reason: NotTried;
}

/**
 * Outcome of a request after the commit, if it could not be determined why some of its events were not stored. The
 * request is answered with the error `failure`.
 */
export interface UnclassifiedOutcome {
  readonly failure: unknown;
}

/**
 * Outcome of a request on the fast path. `AppendOutcome`: no stream of the request was skipped; `NotTried`: all were
 * skipped; `PartOutcome`: some were skipped; `UnclassifiedOutcome`: it is unknown why some events were not stored.
 */
export type FastPathOutcome = AppendOutcome | NotTried | PartOutcome | UnclassifiedOutcome;

/**
 * Separates the skipped events (`busy`) from the outcome of a request.
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
 * Returns the outcome of a request if, after the commit, the reasons why events were not stored could not be
 * determined. Returns null if no event of this request needs such a reason: the error then does not affect the request.
 */
export function afterFailure(
  { accepted, notStored }: AppendOutcome,
  error: unknown,
): UnclassifiedOutcome | null {
  if (notStored.every(({ result }) => result === 'busy')) return null;
  return { failure: failureOf(accepted, error) };
}

/**
 * Returns the error that answers a request of which a part failed. A refusal, or a failure of the database, says that
 * nothing was stored. If some events were stored, such an error would be wrong: {@link OutcomeUnknownError} replaces
 * it.
 * @param accepted number of events of the request that were stored
 */
export function failureOf(accepted: number, error: unknown): unknown {
  const statesNothingDone =
    error instanceof ProblemError || isDatabaseUnavailable(error) || isWorthRetrying(error);
  return accepted > 0 && statesNothingDone ? new OutcomeUnknownError(error) : error;
}

/**
 * Awaits the parts of a request and returns its outcome.
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
 * @param notStored the events that were not stored, in order. Their indexes count through the events of all requests
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

/** Returns the outcome of a request that was written in parts. */
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
