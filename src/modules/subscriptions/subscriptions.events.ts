import { defineEvent, type DomainEvent } from '../../platform/outbox';
import type { SubscriptionEventKind } from './domain/outcome';
import type { Subscription, SubscriptionStatus } from './domain/subscription';
import { SubscriptionDto, toSubscriptionDto } from './dto/subscription.dto';

const shown = { dto: SubscriptionDto, toDto: toSubscriptionDto };

const subscriptionPastDue = defineEvent({
  type: 'subscription.past_due',
  meaning:
    'An automatic payment of an invoice of the subscription failed, and is tried again; or an unpaid one has another ' +
    'payment method to try.',
  example: { status: 'past_due' },
  ...shown,
});

/** The event of each fact that a decision tells of. */
export const SUBSCRIPTION_EVENTS = {
  created: defineEvent({
    type: 'subscription.created',
    meaning: 'A customer subscribed.',
    ...shown,
  }),
  activated: defineEvent({
    type: 'subscription.activated',
    meaning:
      'A subscription began to be billed, at its start, with its first payment where it waits for that, or at the end of its ' +
      'trial; or it was past due or unpaid and owes nothing any more.',
    ...shown,
  }),
  updated: defineEvent({
    type: 'subscription.updated',
    meaning:
      'A subscription changed: its plan, quantities, add-ons, or what is planned for it; or it has begun to wait for its ' +
      'first payment; or it is unpaid, since the last attempt at an invoice of it failed.',
    ...shown,
  }),
  trial_ending: defineEvent({
    type: 'subscription.trial_ending',
    meaning:
      'The trial of a subscription ends in three days. Sent at the start of a shorter trial.',
    example: {
      status: 'trialing',
      trial_end_at: '2026-03-04T09:30:00.000Z',
      current_period_end: '2026-03-04T09:30:00.000Z',
      next_billing_at: '2026-03-04T09:30:00.000Z',
    },
    ...shown,
  }),
  renewed: defineEvent({
    type: 'subscription.renewed',
    meaning: 'A further period of a subscription began.',
    ...shown,
  }),
  paused: defineEvent({
    type: 'subscription.paused',
    meaning: 'A subscription was paused: no further period begins.',
    ...shown,
  }),
  resumed: defineEvent({
    type: 'subscription.resumed',
    meaning: 'A paused subscription goes on.',
    ...shown,
  }),
  expired: defineEvent({
    type: 'subscription.expired',
    meaning:
      'A subscription that waited for its first payment did not get it in time, or cannot get it any more: its invoice was ' +
      'voided or written off.',
    example: {
      status: 'incomplete_expired',
      payment_behavior: 'default_incomplete',
      incomplete_expires_at: null,
      next_billing_at: null,
      ended_at: '2026-03-02T08:30:00.000Z',
    },
    ...shown,
  }),
  canceled: defineEvent({
    type: 'subscription.canceled',
    meaning: 'A subscription ended.',
    ...shown,
  }),
} as const satisfies Record<SubscriptionEventKind, unknown>;

/** Returns the event of a status that payments led to. */
export function statusEventOf(
  status: SubscriptionStatus,
): DomainEvent<Subscription, SubscriptionDto> {
  if (status === 'past_due') return subscriptionPastDue;
  return status === 'active' ? SUBSCRIPTION_EVENTS.activated : SUBSCRIPTION_EVENTS.updated;
}
