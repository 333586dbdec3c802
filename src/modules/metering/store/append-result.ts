import { invariant } from '../../../core/invariant';
import { type Refusal, rejectionOf } from './usage-refusals';
import type { AppendResult, Rejection } from './usage-store';

/** What became of an event that was not stored; `busy`: it was not tried, because somebody holds its stream. */
export type Verdict = Refusal | 'duplicate' | 'busy';

/** Why a request was not tried: somebody holds a stream of it, or a stream is not as it was known. */
export type NotTried = 'busy' | 'changed';

export interface Appended {
  readonly accepted: number;
  /** Of the others, in order. */
  readonly missed: readonly { readonly index: number; readonly verdict: Verdict }[];
}

export function toResult({ accepted, missed }: Appended): AppendResult {
  const rejected = missed.flatMap(({ index, verdict }) => toRejection(index, verdict) ?? []);
  return { accepted, duplicates: missed.length - rejected.length, rejected };
}

function toRejection(index: number, verdict: Verdict): Rejection | null {
  invariant(verdict !== 'busy', 'Whoever waits for a stream gets it.');
  return verdict === 'duplicate' ? null : rejectionOf(index, verdict);
}
