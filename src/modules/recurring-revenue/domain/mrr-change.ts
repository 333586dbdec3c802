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

/** Sum of the changes of one currency and kind within one window. */
export interface MrrSum {
  readonly currency: string;
  /** Number of the window from 1; 0: before all windows. */
  readonly window: number;
  readonly kind: MrrChangeKind;
  /** Minor units per month; negative for less revenue. */
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

/** The newest change of a subscription. */
export type LastChange = Pick<MrrChange, 'subscriptionId' | 'sequence' | 'afterMinor'>;

/** Returns the change to a new amount; null if the amount is the same. */
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

/** Fields of a subscription that show when it had recurring revenue. */
export interface SubscriptionState {
  readonly status:
    | 'incomplete'
    | 'trialing'
    | 'active'
    | 'past_due'
    | 'unpaid'
    | 'paused'
    | 'canceled'
    | 'incomplete_expired';
  readonly startAt: Date;
  readonly trialEndAt: Date | null;
  readonly pausedAt: Date | null;
  readonly endedAt: Date | null;
  readonly updatedAt: Date;
}

/** Returns true if a subscription in this status has recurring revenue. */
export function isCounted({ status }: Pick<SubscriptionState, 'status'>): boolean {
  return status === 'active' || status === 'past_due';
}

/** Span in which a subscription had recurring revenue. Starts with the subscription, or at the end of its trial. */
export interface RevenueSpan {
  readonly startAt: Date;
  /** Null: the revenue continues. */
  readonly endAt: Date | null;
}

/**
 * Returns the span in which a subscription had recurring revenue, or null if it had none. Includes earlier pauses and
 * times of failed payments, because the fields of the subscription do not show them. For status `unpaid`, the
 * span ends at the last change of the subscription.
 */
export function revenueSpanOf(subscription: SubscriptionState): RevenueSpan | null {
  const { status, startAt: begunAt, trialEndAt } = subscription;
  const startAt = trialEndAt !== null && trialEndAt > begunAt ? trialEndAt : begunAt;
  switch (status) {
    case 'active':
    case 'past_due':
      return { startAt, endAt: null };
    case 'unpaid':
      return endedTime(startAt, subscription.updatedAt);
    case 'paused':
      return endedTime(startAt, subscription.pausedAt);
    case 'canceled':
      return endedTime(startAt, subscription.endedAt);
    case 'incomplete':
    case 'trialing':
    case 'incomplete_expired':
      return null;
  }
}

function endedTime(startAt: Date, endAt: Date | null): RevenueSpan | null {
  return endAt === null || endAt <= startAt ? null : { startAt, endAt };
}

/**
 * Returns the instant from which the first revenue of a subscription counts: the later of `startAt` and the start of
 * the newest item, but at most `now`. If a coupon has ended, returns `now`, because there may have been no revenue
 * while the coupon ran.
 */
export function firstRevenueAt(
  startAt: Date,
  items: readonly { readonly startAt: Date }[],
  coupons: readonly { readonly endedAt: Date | null; readonly endsAt: Date | null }[],
  now: Date,
): Date {
  const hasEnded = coupons.some(
    ({ endedAt, endsAt }) => endedAt !== null || (endsAt !== null && endsAt <= now),
  );
  if (hasEnded) return now;
  const begun = items.filter((item) => item.startAt <= now).map((item) => item.startAt.getTime());
  return new Date(Math.min(now.getTime(), Math.max(startAt.getTime(), ...begun)));
}

/** Returns true if an item or coupon applied at the instant at which the revenue of its subscription stopped. */
export function isActiveUntil(
  part: { readonly startAt: Date; readonly endAt: Date | null },
  stoppedAt: Date,
): boolean {
  return part.startAt < stoppedAt && (part.endAt === null || part.endAt >= stoppedAt);
}
