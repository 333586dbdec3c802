import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import { InvoiceCollectionService } from '../invoicing';
import { type PaymentFact, standingAfter } from './domain/standing';
import type { Subscription, SubscriptionStatus } from './domain/subscription';
import { SubscriptionWatchers } from './subscription-watchers';
import { SUBSCRIPTION_EVENTS, subscriptionPastDue } from './subscriptions.events';
import { SubscriptionsRepository } from './subscriptions.repository';

/** What payments make of the state of subscriptions. Payments belong to a module above, which tells. */
@Injectable()
export class SubscriptionStandingService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly collection: InvoiceCollectionService,
    private readonly watchers: SubscriptionWatchers,
    private readonly outbox: Outbox,
  ) {}

  /** The subscription, locked until the caller's transaction ends: before its invoices, as everywhere. */
  async lock(id: string): Promise<Subscription> {
    const subscription = await this.subscriptions.lock(id);
    invariant(subscription !== null, `The subscription ${id} is gone.`);
    return subscription;
  }

  /** Those of the subscriptions for which nothing is charged by itself: unpaid, or out of time for their first payment. */
  leftAlone(ids: readonly string[], now: Date): Promise<ReadonlySet<string>> {
    return this.subscriptions.leftAlone(ids, now);
  }

  /** Writes what a fact makes of a locked subscription, and tells of it where that is another state. */
  async note(before: Subscription, fact: PaymentFact, now: Date): Promise<void> {
    this.database.requireTransaction();
    const standing = standingAfter(before, fact);
    if (standing === before) return;
    const after = { ...standing, version: before.version + 1, updatedAt: now };
    await this.subscriptions.updateStanding(after);
    await this.watchers.tell([{ before, after }], now);
    await this.outbox.record(eventOf(after.status), { after, before, occurredAt: now });
  }

  /** A subscription that goes on after a pause, in the state that its invoices give it: what failed meanwhile counts. */
  async afterPause(subscription: Subscription): Promise<Subscription> {
    const failure = await this.collection.failureOf(subscription.id);
    if (failure === null) return subscription;
    return standingAfter(subscription, failure);
  }

  /** There is another payment method of a customer to try: its unpaid subscriptions are past due again. */
  async tryAnew(customerId: string, now: Date): Promise<void> {
    for (const before of await this.subscriptions.lockUnpaidOf(customerId)) {
      await this.note(before, 'tried_anew', now);
    }
  }
}

function eventOf(status: SubscriptionStatus) {
  if (status === 'past_due') return subscriptionPastDue;
  return status === 'active' ? SUBSCRIPTION_EVENTS.activated : SUBSCRIPTION_EVENTS.updated;
}
