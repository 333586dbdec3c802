import { invariant } from '../../../core/invariant';
import { type Refusal, rejectionOf } from './usage-refusals';
import type { AppendResult, IncomingEvent, Rejection } from './usage-store';

/** What became of an event that was not stored; `busy`: it was not tried, because somebody holds its stream. */
export type Verdict = Refusal | 'duplicate' | 'busy';

/** Why a request was not tried: somebody holds a stream of it, or a stream is not as it was known. */
export type NotTried = 'busy' | 'changed';

export interface Appended {
  readonly accepted: number;
  /** Of the others, in order. */
  readonly missed: readonly { readonly index: number; readonly verdict: Verdict }[];
}

/**
 * What became of each of several requests that were written as one.
 * @param missed of all their events, each by its place among them, in order
 */
export function apart(
  requests: readonly { readonly events: readonly IncomingEvent[] }[],
  missed: Appended['missed'],
): readonly Appended[] {
  let first = 0;
  let next = 0;
  return requests.map(({ events }) => {
    const ofOne: Appended['missed'][number][] = [];
    for (; next < missed.length && (missed[next]?.index ?? 0) < first + events.length; next += 1) {
      const { index, verdict } = missed[next] ?? { index: 0, verdict: 'busy' };
      ofOne.push({ index: events[index - first]?.index ?? -1, verdict });
    }
    first += events.length;
    return { accepted: events.length - ofOne.length, missed: ofOne };
  });
}

/** What became of a request that was written in parts. */
export function joined(parts: readonly Appended[]): Appended {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only;
  return {
    accepted: parts.reduce((sum, { accepted }) => sum + accepted, 0),
    missed: parts.flatMap(({ missed }) => missed).sort((a, b) => a.index - b.index),
  };
}

export function toResult({ accepted, missed }: Appended): AppendResult {
  const rejected = missed.flatMap(({ index, verdict }) => toRejection(index, verdict) ?? []);
  return { accepted, duplicates: missed.length - rejected.length, rejected };
}

function toRejection(index: number, verdict: Verdict): Rejection | null {
  invariant(verdict !== 'busy', 'Whoever waits for a stream gets it.');
  return verdict === 'duplicate' ? null : rejectionOf(index, verdict);
}
