import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { isTerminal } from '../../core/states';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox, toEventRecord } from '../../platform/outbox';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import type { Customer } from '../customers';
import {
  type EarnedPeriod,
  FinalizeInvoicesService,
  type Invoice,
  InvoiceBooks,
  type InvoiceOrder,
  IssueInvoiceService,
  WithdrawInvoicesService,
} from '../invoicing';
import { activated, isAwaitingPayment } from './domain/first-payment';
import { type NewIds, type Outcome, takesBack } from './domain/outcome';
import { nextBilling } from './domain/look-ahead';
import { type Snapshot, type Subscription, SUBSCRIPTION_TRANSITIONS } from './domain/subscription';
import type { SubscriptionPreview } from './subscription-preview';
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
    private readonly finalizing: FinalizeInvoicesService,
    private readonly withdrawing: WithdrawInvoicesService,
    private readonly books: InvoiceBooks,
    private readonly redemptions: RedemptionsService,
    private readonly watchers: SubscriptionWatchers,
    private readonly outbox: Outbox,
  ) {}

  /**
   * The invoice that a decision makes, or that falls due next after it; empty where none is to come. Changes nothing.
   * @param redeemed coupons that would be redeemed before
   */
  async preview(
    snapshot: Snapshot,
    decided: Outcome,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<SubscriptionPreview> {
    const { outcome, at: billsAt } = nextBilling(snapshot, decided, NEW_IDS, now);
    const invoice = await this.invoicing.preview(orderOf(outcome), customer, billsAt, redeemed);
    const { planVersionId } = outcome.subscription;
    return { invoice, planVersionId, billsAt };
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

  /**
   * The same for decisions about many subscriptions, one about each: they are invoiced in their order. All that others wait
   * for is locked before the first invoice takes its number.
   */
  async applyAll(decisions: readonly Decision[], now: Date): Promise<readonly Subscription[]> {
    this.database.requireTransaction();
    await this.finalizeBeyond(decisions, now);
    const decided = decisions.map(({ before, outcome }) => {
      const after = { ...outcome.subscription, version: before.version + 1, updatedAt: now };
      return { before, after, outcome: { ...outcome, subscription: after } };
    });
    const outcomes = decided.map(({ outcome }) => outcome);
    await this.subscriptions.applyAll(outcomes);
    await this.watchers.tell(
      decided.map(({ before, after }) => ({ before, after })),
      now,
    );
    const billed = outcomes.filter(({ billing }) => billing !== null);
    const invoices = await this.invoicing.issueAll(billed.map(orderOf), now);
    await this.withdrawing.withdrawAll(decided.flatMap(givenUpOf), now);
    await this.books.releaseEarned(outcomes.flatMap(earnedOf), now);
    const ended = outcomes.filter(({ subscription }) =>
      isTerminal(SUBSCRIPTION_TRANSITIONS, subscription.status),
    );
    await this.redemptions.endAll(
      ended.map(({ subscription }) => subscription.id),
      now,
    );
    const applied = await this.activateUnowed(decided, invoices, now);
    await this.outbox.recordAll(
      applied.flatMap(({ before, after, outcome: { facts } }) =>
        facts.map((fact) =>
          toEventRecord(SUBSCRIPTION_EVENTS[fact], { after, before, occurredAt: now }),
        ),
      ),
    );
    return applied.map(({ after }) => after);
  }

  /**
   * Locks what the invoices of locked subscriptions may need, for a transaction that makes them one after the other: none of
   * them waits once the first has taken its number, which all others who make invoices wait for.
   */
  async lockForTurns(subscriptions: readonly Subscription[]): Promise<void> {
    await this.watchers.lock(subscriptions);
    await this.invoicing.holdFor(subscriptions.map(({ customerId }) => customerId));
  }

  /** Finalises drafts that charge for what the decisions take back. */
  private async finalizeBeyond(decisions: readonly Decision[], now: Date): Promise<void> {
    const taking = decisions.filter(({ outcome }) => takesBack(outcome));
    const drafts = await this.finalizing.lockBeyond(taking.map(({ before }) => before.id));
    if (drafts.length === 0) return;
    await this.lockForTurns(decisions.map(({ before }) => before));
    await this.finalizing.finalizeInTurn(drafts, now);
  }

  /** What begins to wait for its first payment, and owes nothing after coupons and credit, is active at once. */
  private async activateUnowed(
    decided: readonly Applied[],
    invoices: readonly Invoice[],
    now: Date,
  ): Promise<readonly Applied[]> {
    const owed = new Set(
      invoices
        .filter(({ status }) => status !== 'paid')
        .map(({ subscriptionId }) => subscriptionId),
    );
    const unowed = decided.filter(
      ({ before, after }) =>
        isAwaitingPayment(after) && !isAwaitingPayment(before) && !owed.has(after.id),
    );
    if (unowed.length === 0) return decided;
    const begun = new Map(unowed.map(({ after }) => [after.id, activated(after)]));
    for (const after of begun.values()) await this.subscriptions.updateStanding(after);
    await this.watchers.tell(
      unowed.map(({ after: before }) => ({ before, after: begun.get(before.id) ?? before })),
      now,
    );
    return decided.map((one) => {
      const after = begun.get(one.after.id);
      if (after === undefined) return one;
      return { ...one, after, outcome: { ...one.outcome, facts: ['activated'] } };
    });
  }
}

/** What was decided about a subscription, and how it was before. */
export interface Decision {
  readonly before: Subscription;
  readonly outcome: Outcome;
}

/** A decision that was written. */
interface Applied extends Decision {
  readonly after: Subscription;
}

/** One that waited for its first payment and has ended: its invoice goes with it. */
function givenUpOf({ before, after }: Applied): readonly string[] {
  return isAwaitingPayment(before) && isTerminal(SUBSCRIPTION_TRANSITIONS, after.status)
    ? [after.id]
    : [];
}

function earnedOf({ subscription, earned }: Outcome): readonly EarnedPeriod[] {
  if (earned === null) return [];
  const { period, end } = earned;
  const { id: subscriptionId, customerId, currency } = subscription;
  const { id, endAt } = period;
  return [{ id, subscriptionId, customerId, currency, endAt, end }];
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
    billingPeriod: billing?.billingPeriod ?? billing?.period ?? null,
    lines: billing?.lines ?? [],
    lateUsage: billing?.lateUsage,
    collection,
    daysUntilDue,
    metadata: {},
  };
}
