import { isTerminal } from '../../../core/states';
import { earliest } from '../../../core/time';
import {
  type ScheduledChange,
  type Subscription,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionPeriod,
} from './subscription';

/**
 * Returns when the next work is due; null if there is none. While the subscription waits for its first payment, only
 * its expiry is due. Otherwise this is the earliest of
 * - the start of the subscription, or the end of its current period;
 * - a scheduled change;
 * - the announcement of the trial's end.
 */
export function nextDueAt(
  subscription: Pick<Subscription, 'status' | 'startAt' | 'trialEndingAt' | 'incompleteExpiresAt'>,
  period: SubscriptionPeriod | null,
  pending: Pick<ScheduledChange, 'effectiveAt'> | null,
): Date | null {
  if (isTerminal(SUBSCRIPTION_TRANSITIONS, subscription.status)) return null;
  if (subscription.incompleteExpiresAt !== null) return subscription.incompleteExpiresAt;
  return earliest([
    period === null ? subscription.startAt : period.isClosed ? null : period.endAt,
    pending?.effectiveAt ?? null,
    subscription.trialEndingAt,
  ]);
}

export function withPeriod(
  subscription: Subscription,
  period: SubscriptionPeriod,
  pending: ScheduledChange | null,
): Subscription {
  return {
    ...subscription,
    currentPeriodStartAt: period.startAt,
    currentPeriodEndAt: period.endAt,
    nextBillingAt: nextDueAt(subscription, period, pending),
  };
}
