import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import type { Customer } from '../customers';
import { type Invoice, InvoiceBooks, type InvoiceOrder, IssueInvoiceService } from '../invoicing';
import type { NewIds, Outcome } from './domain/outcome';
import type { Subscription } from './domain/subscription';
import { SUBSCRIPTION_EVENTS } from './subscriptions.events';
import { SubscriptionsRepository } from './subscriptions.repository';

export const NEW_IDS: NewIds = {
  item: () => newId('si'),
  period: () => newId('sp'),
  change: () => newId('sch'),
};

/** Applies what was decided about a subscription, or shows what it would be invoiced. */
@Injectable()
export class SubscriptionOutcomesService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly invoicing: IssueInvoiceService,
    private readonly books: InvoiceBooks,
    private readonly redemptions: RedemptionsService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * The invoice that a decision would make, empty where it makes none. Changes nothing.
   * @param redeemed coupons that would be redeemed before
   */
  preview(
    outcome: Outcome,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<Invoice> {
    return this.invoicing.preview(orderOf(outcome), customer, now, redeemed);
  }

  /**
   * Writes a decision, invoices it, posts it and tells of it, in the caller's transaction.
   * @returns the subscription as it is now
   */
  async apply(before: Subscription, outcome: Outcome, now: Date): Promise<Subscription> {
    this.database.requireTransaction();
    const after = { ...outcome.subscription, version: before.version + 1, updatedAt: now };
    await this.subscriptions.apply({ ...outcome, subscription: after });
    if (outcome.billing !== null) await this.invoicing.issue(orderOf(outcome), now);
    if (outcome.earned !== null) {
      const { period, isCutShort } = outcome.earned;
      const over = { id: period.id, subscriptionId: after.id, endAt: period.endAt, isCutShort };
      await this.books.releaseEarned(over, after.customerId, after.currency, now);
    }
    if (after.status === 'canceled') await this.redemptions.endAll(after.id, now);
    await this.tell(outcome, before, after, now);
    return after;
  }

  private async tell(
    { facts }: Outcome,
    before: Subscription,
    after: Subscription,
    now: Date,
  ): Promise<void> {
    for (const fact of facts) {
      const event = SUBSCRIPTION_EVENTS[fact];
      await this.outbox.record(event, { after, before, occurredAt: now });
    }
  }
}

function orderOf({ subscription, billing }: Outcome): InvoiceOrder {
  const { id, customerId, currency, collection, daysUntilDue } = subscription;
  return {
    reason: billing?.reason ?? 'change',
    customerId,
    subscriptionId: id,
    renewsAt: billing?.renewsAt ?? null,
    currency,
    period: billing?.period ?? null,
    lines: billing?.lines ?? [],
    collection,
    daysUntilDue,
    metadata: {},
  };
}
