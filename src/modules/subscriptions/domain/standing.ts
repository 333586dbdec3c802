import { activated } from './first-payment';
import type { Subscription, SubscriptionStatus } from './subscription';

/** What happens to the invoices of a subscription, as far as its state is concerned. */
export type PaymentFact =
  /** An automatic attempt failed, and another one is planned. */
  | 'failed'
  /** The last attempt failed. */
  | 'used_up'
  /** There is another payment method to try. */
  | 'tried_anew'
  /** Nothing is owed any more. */
  | 'settled';

/** What each fact makes of a state; what is not named stays as it is. */
export const STANDINGS: Readonly<
  Record<PaymentFact, Readonly<Partial<Record<SubscriptionStatus, SubscriptionStatus>>>>
> = {
  failed: { active: 'past_due' },
  used_up: { active: 'unpaid', past_due: 'unpaid' },
  tried_anew: { unpaid: 'past_due' },
  settled: { incomplete: 'active', past_due: 'active', unpaid: 'active' },
};

export function statusAfter(status: SubscriptionStatus, fact: PaymentFact): SubscriptionStatus {
  return STANDINGS[fact][status] ?? status;
}

/** The subscription after a fact, the same where that changes nothing. What was incomplete waited for just this. */
export function standingAfter(subscription: Subscription, fact: PaymentFact): Subscription {
  const status = statusAfter(subscription.status, fact);
  if (status === subscription.status) return subscription;
  return subscription.status === 'incomplete'
    ? activated(subscription)
    : { ...subscription, status };
}
