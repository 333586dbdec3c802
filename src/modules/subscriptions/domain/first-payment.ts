import { invariant } from '../../../core/invariant';
import type { Subscription } from './subscription';

/**
 * How long a subscription waits for its first payment: less than a day, so that one with daily periods expires before it would
 * renew.
 */
const LONGEST_WAIT_MS = 23 * 3_600_000;

/** Returns true if the subscription has started and waits for the payment of its first invoice. */
export function isAwaitingPayment({
  incompleteExpiresAt,
}: Pick<Subscription, 'incompleteExpiresAt'>): boolean {
  return incompleteExpiresAt !== null;
}

/** Returns the subscription at its start: incomplete until its first invoice is paid, for a limited time. */
export function awaitingPayment(subscription: Subscription, now: Date): Subscription {
  const incompleteExpiresAt = new Date(now.getTime() + LONGEST_WAIT_MS);
  return { ...subscription, status: 'incomplete', incompleteExpiresAt };
}

/**
 * Activates a subscription whose first invoice is paid. Its first period began when it started, not with the payment, and may
 * have ended already.
 */
export function activated(subscription: Subscription): Subscription {
  invariant(isAwaitingPayment(subscription), 'The subscription waited for this payment.');
  const { currentPeriodEndAt: nextBillingAt } = subscription;
  invariant(nextBillingAt !== null, 'what waits for its first payment has a period');
  return { ...subscription, status: 'active', incompleteExpiresAt: null, nextBillingAt };
}

/**
 * Returns true if the time limit of the first payment has passed, so that only a payment in flight can still activate the
 * subscription.
 */
export function isFirstPaymentOverdue(
  { incompleteExpiresAt }: Pick<Subscription, 'incompleteExpiresAt'>,
  now: Date,
): boolean {
  return incompleteExpiresAt !== null && incompleteExpiresAt <= now;
}
