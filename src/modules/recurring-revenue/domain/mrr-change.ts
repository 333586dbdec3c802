import { MAX_AHEAD_MS } from '../../../core/next-version';
import type { InstantRange } from '../../../core/time';

export const MRR_CHANGE_KINDS = [
  'new',
  'expansion',
  'contraction',
  'churn',
  'reactivation',
] as const;
export type MrrChangeKind = (typeof MRR_CHANGE_KINDS)[number];

/** A change of the monthly recurring revenue of one subscription. Immutable. */
export interface MrrChange {
  readonly id: string;
  readonly subscriptionId: string;
  /** Position among the changes of the subscription, from 1, without gaps. */
  readonly sequence: number;
  readonly customerId: string;
  /** ISO 4217. */
  readonly currency: string;
  readonly kind: MrrChangeKind;
  /** Minor units per month. */
  readonly beforeMinor: bigint;
  readonly afterMinor: bigint;
  readonly changedAt: Date;
  /** True if the change was derived later, because the subscription is older than the recording of changes. */
  readonly isBackfilled: boolean;
}

/** Sum of the changes of one currency and kind within one window, such as a month. */
export interface MrrSum {
  readonly currency: string;
  /** Number of the window, from 1. Changes before the first window have the number 0. */
  readonly window: number;
  readonly kind: MrrChangeKind;
  /** Minor units per month; negative if revenue decreased. */
  readonly amountMinor: bigint;
  readonly changes: number;
}

/** Filter of a list of changes; a field that is null matches all changes. */
export interface MrrChangeFilter {
  readonly customerId: string | null;
  readonly currency: string | null;
  readonly kinds: readonly MrrChangeKind[] | null;
  readonly changed: InstantRange;
}

export type LastChange = Pick<
  MrrChange,
  'subscriptionId' | 'sequence' | 'afterMinor' | 'changedAt'
>;

/**
 * Returns the change to a new amount; null if the amount stays the same.
 * @param last the newest change so far; null: none yet, so the amount was 0
 */
export function changeTo(
  last: Pick<LastChange, 'sequence' | 'afterMinor'> | null,
  afterMinor: bigint,
): Pick<MrrChange, 'kind' | 'sequence' | 'beforeMinor' | 'afterMinor'> | null {
  const beforeMinor = last?.afterMinor ?? 0n;
  if (beforeMinor === afterMinor) return null;
  const kind = kindOf(last === null, beforeMinor, afterMinor);
  return { kind, sequence: (last?.sequence ?? 0) + 1, beforeMinor, afterMinor };
}

function kindOf(isFirst: boolean, before: bigint, after: bigint): MrrChangeKind {
  if (after === 0n) return 'churn';
  if (before === 0n) return isFirst ? 'new' : 'reactivation';
  return after > before ? 'expansion' : 'contraction';
}

/** Returns true if a subscription in this status has recurring revenue. */
export function isCounted({ status }: { readonly status: string }): boolean {
  return status === 'active' || status === 'past_due';
}

/**
 * Returns the time from which a change counts. This is `now`, when the change is recorded, with two exceptions:
 * - A change by scheduled work that was due counts from `dueAt` in two cases. It is the first change of the
 *   subscription, or `dueAt` is not after the creation of the subscription (whose start was then back-dated).
 * - A change never counts from before the last change. A last change dated more than a minute after `now` is ignored,
 *   because a wrong clock dated it.
 * @param dueAt when the scheduled work that made the change was due, such as the end of a trial; null: no such work
 */
export function countsFrom(
  { createdAt }: { readonly createdAt: Date },
  last: Pick<LastChange, 'changedAt'> | null,
  dueAt: Date | null,
  now: Date,
): Date {
  const isDueWork = dueAt !== null && dueAt <= now && (last === null || dueAt <= createdAt);
  const at = isDueWork ? dueAt : now;
  const until = new Date(now.getTime() + MAX_AHEAD_MS);
  return last !== null && last.changedAt > at && last.changedAt <= until ? last.changedAt : at;
}
