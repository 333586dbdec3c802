import { Injectable, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { type Invoice, InvoiceCollectionService, InvoiceFollowers } from '../invoicing';
import { decideGiveUp } from './domain/decide-first-payment';
import { isAwaitingPayment, isOutOfTime } from './domain/first-payment';
import type { Subscription } from './domain/subscription';
import { SubscriptionOutcomesService } from './subscription-outcomes.service';
import { SubscriptionStandingService } from './subscription-standing.service';
import { SubscriptionsRepository } from './subscriptions.repository';

/** What becomes of subscriptions that wait for their first payment when it cannot come any more, or is not needed. */
@Injectable()
export class FirstPaymentsService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly followers: InvoiceFollowers,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly collection: InvoiceCollectionService,
    private readonly standing: SubscriptionStandingService,
    private readonly outcomes: SubscriptionOutcomesService,
  ) {}

  onModuleInit(): void {
    this.followers.register({
      lock: async (subscriptionId) => {
        await this.standing.lock(subscriptionId);
      },
      follow: (invoice, subscriptionId, now) => this.follow(invoice, subscriptionId, now),
    });
  }

  /**
   * A payment that a locked subscription waited for has ended. Where its time was over and the invoice is still not paid, it
   * expires with it, unless another payment is under way.
   * @param subscription as it was before
   * @returns whether it expired
   */
  async expireUnpaid(subscription: Subscription, now: Date): Promise<boolean> {
    this.database.requireTransaction();
    if (!isOutOfTime(subscription, now)) return false;
    const { id } = subscription;
    const isOver = !isAwaitingPayment(await this.standing.lock(id));
    if (isOver || (await this.collection.lockBeingPaid([id])).has(id)) return false;
    await this.expire(id, now);
    return true;
  }

  /** An invoice that was credited wholly needs no payment; one that is void or written off will not get it. */
  private async follow(invoice: Invoice, subscriptionId: string, now: Date): Promise<void> {
    const subscription = await this.standing.lock(subscriptionId);
    if (!isAwaitingPayment(subscription)) return;
    if (invoice.status === 'paid') await this.standing.note(subscription, 'settled', now);
    else await this.expire(subscriptionId, now);
  }

  private async expire(id: string, now: Date): Promise<void> {
    const snapshot = await this.subscriptions.lockSnapshot(id);
    invariant(snapshot !== null, `The subscription ${id} is gone.`);
    const outcome = decideGiveUp(snapshot, now, 'incomplete_expired');
    await this.outcomes.apply(snapshot.subscription, outcome, now);
  }
}
