import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox, told } from '../../platform/outbox';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import type { Customer } from '../customers';
import {
  type EarnedPeriod,
  type Invoice,
  InvoiceBooks,
  type InvoiceOrder,
  IssueInvoiceService,
} from '../invoicing';
import type { NewIds, Outcome } from './domain/outcome';
import type { Subscription } from './domain/subscription';
import { SubscriptionWatchers } from './subscription-watchers';
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
    private readonly watchers: SubscriptionWatchers,
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
    const [after] = await this.applyAll([{ before, outcome }], now);
    invariant(after !== undefined, `The decision about ${before.id} was applied.`);
    return after;
  }

  /** The same for decisions about many subscriptions, one about each: they are invoiced in their order. */
  async applyAll(decisions: readonly Decision[], now: Date): Promise<readonly Subscription[]> {
    this.database.requireTransaction();
    const applied = decisions.map(({ before, outcome }) => {
      const after = { ...outcome.subscription, version: before.version + 1, updatedAt: now };
      return { before, after, outcome: { ...outcome, subscription: after } };
    });
    const outcomes = applied.map(({ outcome }) => outcome);
    await this.subscriptions.applyAll(outcomes);
    const billed = outcomes.filter(({ billing }) => billing !== null);
    await this.invoicing.issueAll(billed.map(orderOf), now);
    await this.books.releaseEarned(outcomes.flatMap(earnedOf), now);
    const ended = outcomes.filter(({ subscription }) => subscription.status === 'canceled');
    await this.redemptions.endAll(
      ended.map(({ subscription }) => subscription.id),
      now,
    );
    await this.watchers.tell(
      applied.map(({ before, after }) => ({ before, after })),
      now,
    );
    await this.outbox.recordAll(
      applied.flatMap(({ before, after, outcome: { facts } }) =>
        facts.map((fact) => told(SUBSCRIPTION_EVENTS[fact], { after, before, occurredAt: now })),
      ),
    );
    return applied.map(({ after }) => after);
  }
}

/** What was decided about a subscription, and how it was before. */
export interface Decision {
  readonly before: Subscription;
  readonly outcome: Outcome;
}

function earnedOf({ subscription, earned }: Outcome): readonly EarnedPeriod[] {
  if (earned === null) return [];
  const { period, isCutShort } = earned;
  const { id: subscriptionId, customerId, currency } = subscription;
  const { id, endAt } = period;
  return [{ id, subscriptionId, customerId, currency, endAt, isCutShort }];
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
