import { invariant } from '../../../core/invariant';
import type { Subscription } from './subscription';

/** How long a subscription waits for its first payment: less than a day, so that a daily one expires before it would renew. */
const LONGEST_WAIT_MS = 23 * 3_600_000;

/** Whether it has begun and waits for its first invoice to be paid; before its start it waits for that. */
export function isAwaitingPayment({
  incompleteExpiresAt,
}: Pick<Subscription, 'incompleteExpiresAt'>): boolean {
  return incompleteExpiresAt !== null;
}

/** A subscription that begins, and waits for its first invoice to be paid. */
export function awaitingPayment(subscription: Subscription, now: Date): Subscription {
  const incompleteExpiresAt = new Date(now.getTime() + LONGEST_WAIT_MS);
  return { ...subscription, status: 'incomplete', incompleteExpiresAt };
}

/** What the payment of its first invoice makes of it. The period counts from the start: what is over by then is due. */
export function activated(subscription: Subscription): Subscription {
  invariant(isAwaitingPayment(subscription), 'what was paid was waited for');
  const { currentPeriodEndAt: nextBillingAt } = subscription;
  invariant(nextBillingAt !== null, 'what waits for its first payment has a period');
  return { ...subscription, status: 'active', incompleteExpiresAt: null, nextBillingAt };
}

/** Whether its time is over, so that nothing but a payment under way can still save it. */
export function isOutOfTime(
  { incompleteExpiresAt }: Pick<Subscription, 'incompleteExpiresAt'>,
  now: Date,
): boolean {
  return incompleteExpiresAt !== null && incompleteExpiresAt <= now;
}
