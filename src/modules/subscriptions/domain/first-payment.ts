import { invariant } from '../../../core/invariant';
import type { Subscription } from './subscription';

/**
 * Time limit of a first payment. Less than a day, so that a subscription with daily periods expires before it would
 * renew.
 */
const FIRST_PAYMENT_TIME_LIMIT_MS = 23 * 3_600_000;

/** Returns true if the subscription has started and waits for the payment of its first invoice. */
export function isAwaitingPayment({
  incompleteExpiresAt,
}: Pick<Subscription, 'incompleteExpiresAt'>): boolean {
  return incompleteExpiresAt !== null;
}

/** Returns the started subscription as `incomplete`, with the time limit of its first payment. */
export function awaitingPayment(subscription: Subscription, now: Date): Subscription {
  const incompleteExpiresAt = new Date(now.getTime() + FIRST_PAYMENT_TIME_LIMIT_MS);
  return { ...subscription, status: 'incomplete', incompleteExpiresAt };
}

/**
 * Activates a subscription whose first invoice is paid. The first period began at the start of the subscription, not
 * with the payment. The period may have ended already.
 */
export function activated(subscription: Subscription): Subscription {
  invariant(isAwaitingPayment(subscription), 'The subscription waited for this payment.');
  const { currentPeriodEndAt: nextBillingAt } = subscription;
  invariant(
    nextBillingAt !== null,
    'A subscription that waits for its first payment has a period.',
  );
  return { ...subscription, status: 'active', incompleteExpiresAt: null, nextBillingAt };
}

/**
 * Returns true if the time limit of the first payment has passed, so that only a payment in flight can still
 * activate the subscription.
 */
export function isFirstPaymentOverdue(
  { incompleteExpiresAt }: Pick<Subscription, 'incompleteExpiresAt'>,
  now: Date,
): boolean {
  return incompleteExpiresAt !== null && incompleteExpiresAt <= now;
}
