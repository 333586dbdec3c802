import { isTerminal } from '../../../core/states';
import {
  type ScheduledChange,
  type Subscription,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionPeriod,
} from './subscription';

/**
 * When the next piece of work falls due: the end of the period that runs, a change that waits, word of a trial's end. What
 * waits for its first payment has its expiry before it, and nothing else.
 */
export function nextDueAt(
  subscription: Pick<Subscription, 'status' | 'startAt' | 'trialEndingAt' | 'incompleteExpiresAt'>,
  period: SubscriptionPeriod | null,
  pending: Pick<ScheduledChange, 'effectiveAt'> | null,
): Date | null {
  if (isTerminal(SUBSCRIPTION_TRANSITIONS, subscription.status)) return null;
  if (subscription.incompleteExpiresAt !== null) return subscription.incompleteExpiresAt;
  const dues = [
    period === null ? subscription.startAt : period.isClosed ? null : period.endAt,
    pending?.effectiveAt ?? null,
    subscription.trialEndingAt,
  ].filter((due) => due !== null);
  return dues.reduce<Date | null>(
    (earliest, due) => (earliest === null || due < earliest ? due : earliest),
    null,
  );
}

/** The subscription in a period, with what falls due next. */
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
