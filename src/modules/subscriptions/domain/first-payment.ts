import { invariant } from '../../../core/invariant';
import type { Subscription } from './subscription';

/** Less than a day, so that a subscription with daily periods expires before it would renew. */
const FIRST_PAYMENT_TIME_LIMIT_MS = 23 * 3_600_000;

export function isAwaitingPayment({
  incompleteExpiresAt,
}: Pick<Subscription, 'incompleteExpiresAt'>): boolean {
  return incompleteExpiresAt !== null;
}

export function awaitingPayment(subscription: Subscription, now: Date): Subscription {
  const incompleteExpiresAt = new Date(now.getTime() + FIRST_PAYMENT_TIME_LIMIT_MS);
  return { ...subscription, status: 'incomplete', incompleteExpiresAt };
}

/**
 * Activates a subscription whose first invoice is paid. The first period began at the start of the subscription, before
 * the payment. It may have ended already.
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
 * Returns true if the time limit of the first payment has passed at `now`. Also returns true if `nextBillingAt` is
 * null: a process whose clock may be ahead has then already handled the time limit. After that, only a payment in
 * flight can still activate the subscription.
 */
export function isFirstPaymentOverdue(
  {
    incompleteExpiresAt,
    nextBillingAt,
  }: Pick<Subscription, 'incompleteExpiresAt' | 'nextBillingAt'>,
  now: Date,
): boolean {
  if (incompleteExpiresAt === null) return false;
  return nextBillingAt === null || incompleteExpiresAt <= now;
}
