import { defineEvents, type DomainEvent } from '../../platform/outbox';
import type { SubscriptionEventKind } from './domain/outcome';
import type { Subscription, SubscriptionStatus } from './domain/subscription';
import { SubscriptionDto, toSubscriptionDto } from './dto/subscription.dto';

const subscriptionEvent = defineEvents(SubscriptionDto, toSubscriptionDto);

/** Period that ends at the time of an example event. */
const ENDED_PERIOD = {
  current_period_start: '2026-02-01T09:30:00.000Z',
  current_period_end: '2026-03-01T09:30:00.000Z',
};

export const SUBSCRIPTION_RENEWAL_FAILED = subscriptionEvent(
  'subscription.renewal_failed',
  'Due work of a subscription, such as its renewal, failed with `renewal_failure_code` and is retried. Sent ' +
    'again only if the code changes, or it fails after a success.',
  {
    ...ENDED_PERIOD,
    next_billing_at: '2026-03-01T09:30:00.000Z',
    renewal_failed_at: '2026-03-01T09:30:00.000Z',
    renewal_failure_code: 'invoice_too_large',
  },
);

export const SUBSCRIPTION_EVENTS = {
  created: subscriptionEvent('subscription.created', 'A customer subscribed.'),
  activated: subscriptionEvent(
    'subscription.activated',
    'A subscription became active: at its start, at the first payment it waited for, or at the end of its ' +
      'trial; or because it was past due or unpaid and now owes nothing.',
  ),
  updated: subscriptionEvent(
    'subscription.updated',
    'A subscription changed: its plan, quantities, add-ons or scheduled change; its trial began; it waits for its ' +
      'first payment; it is unpaid, because the last payment attempt failed; or its period ended in a pause.',
  ),
  trial_ending: subscriptionEvent(
    'subscription.trial_ending',
    'The trial of a subscription ends in three days. Sent at the start of a shorter trial.',
    {
      status: 'trialing',
      trial_end_at: '2026-03-04T09:30:00.000Z',
      current_period_end: '2026-03-04T09:30:00.000Z',
      next_billing_at: '2026-03-04T09:30:00.000Z',
    },
  ),
  renewed: subscriptionEvent('subscription.renewed', 'A further period of a subscription began.'),
  past_due: subscriptionEvent(
    'subscription.past_due',
    'An automatic payment failed and is retried; or a paused subscription whose payment had failed was resumed; or the ' +
      'subscription was unpaid and has another payment method to try.',
    { status: 'past_due' },
  ),
  paused: subscriptionEvent(
    'subscription.paused',
    'A subscription was paused: no further period begins.',
    { status: 'paused', paused_at: '2026-03-01T09:30:00.000Z' },
  ),
  resumed: subscriptionEvent('subscription.resumed', 'A paused subscription goes on.'),
  expired: subscriptionEvent(
    'subscription.expired',
    'A subscription that waited for its first payment did not get it in time, or cannot get it any more: its invoice was ' +
      'voided or written off.',
    {
      status: 'incomplete_expired',
      payment_behavior: 'default_incomplete',
      incomplete_expires_at: null,
      current_period_end: '2026-03-02T08:30:00.000Z',
      next_billing_at: null,
      ended_at: '2026-03-02T08:30:00.000Z',
    },
  ),
  canceled: subscriptionEvent('subscription.canceled', 'A subscription ended.', {
    ...ENDED_PERIOD,
    status: 'canceled',
    canceled_at: '2026-03-01T09:30:00.000Z',
    ended_at: '2026-03-01T09:30:00.000Z',
    next_billing_at: null,
  }),
} as const satisfies Record<SubscriptionEventKind, unknown>;

/** Returns the event to record after a payment event, such as a failed charge, has changed the status to `status`. */
export function statusEventOf(
  status: SubscriptionStatus,
): DomainEvent<Subscription, SubscriptionDto> {
  if (status === 'past_due') return SUBSCRIPTION_EVENTS.past_due;
  return status === 'active' ? SUBSCRIPTION_EVENTS.activated : SUBSCRIPTION_EVENTS.updated;
}
