import { activated } from './first-payment';
import type { Subscription, SubscriptionStatus } from './subscription';

export type PaymentEvent =
  /** An automatic charge failed, and another one is planned. */
  | 'failed'
  /** An automatic charge failed, and no further one is planned. */
  | 'used_up'
  /** The customer has a new payment method that can be charged. */
  | 'retried'
  /** No invoice of the subscription is open: each finalized invoice is paid, credited, void or written off. */
  | 'settled';

/** New status by event and present status. A missing combination keeps the status. */
export const STATUS_AFTER: Readonly<
  Record<PaymentEvent, Readonly<Partial<Record<SubscriptionStatus, SubscriptionStatus>>>>
> = {
  failed: { active: 'past_due' },
  used_up: { active: 'unpaid', past_due: 'unpaid' },
  retried: { unpaid: 'past_due' },
  settled: { incomplete: 'active', past_due: 'active', unpaid: 'active' },
};

export function statusAfter(status: SubscriptionStatus, event: PaymentEvent): SubscriptionStatus {
  return STATUS_AFTER[event][status] ?? status;
}

export function afterPaymentEvent(subscription: Subscription, event: PaymentEvent): Subscription {
  const status = statusAfter(subscription.status, event);
  if (status === subscription.status) return subscription;
  return subscription.status === 'incomplete'
    ? activated(subscription)
    : { ...subscription, status };
}
