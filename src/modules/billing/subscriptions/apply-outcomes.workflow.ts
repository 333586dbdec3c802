import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { changedAt, nextVersion } from '../../../core/next-version';
import { isTerminal } from '../../../core/states';
import { toEventRecord } from '../../../platform/outbox';
import { SubscriptionBalancesService } from '../../entitlements';
import {
  CreditBalanceService,
  type Invoice,
  IssueInvoiceService,
  leavesNothingToPay,
} from '../../invoicing';
import {
  activated,
  type Decision,
  isAwaitingPayment,
  type Outcome,
  type Subscription,
  SUBSCRIPTION_EVENTS,
  SUBSCRIPTION_TRANSITIONS,
  SubscriptionsRepository,
} from '../../subscriptions';
import { FinalizePrepaidDraftsWorkflow } from '../invoices/finalize-prepaid-drafts.workflow';
import { VoidUnpaidInvoicesWorkflow } from '../invoices/void-unpaid-invoices.workflow';
import { RefundedAmounts } from '../refunded-amounts';
import { DerivedState } from './derived-state';
import { creditsOf, earnedPeriodOf, billingRequestOf, periodsAfter } from './billing-request';

interface Applied extends Decision {
  readonly after: Subscription;
}

/**
 * Writes decisions about subscriptions: changes that are worked out but not yet stored. Runs in the transaction of the
 * caller, which has locked the subscriptions. Numbers the invoices last, because all other transactions wait for the
 * next number until this transaction ends.
 *
 * 1. Locks the invoices that step 6 voids or credits. Locks the payments of invoices that the decisions credit or
 *    correct, so that no money is both refunded and credited.
 * 2. Finalizes drafts with charges in advance, if a decision credits these charges or shortens their period.
 * 3. Writes the subscriptions, their items, periods and scheduled changes.
 * 4. Locks the usage that entitlement balances count and that the invoices bill. Updates the entitlement balances.
 * 5. Locks the credit of the customers, if step 6 has invoices: its credit notes get numbers before step 7. Prepares the
 *    invoices, in the order of the decisions, and recognizes the revenue of closed periods.
 * 6. Voids or credits the invoices of subscriptions that ended without their first payment. Activates subscriptions
 *    whose first invoice leaves nothing to pay. Ends the coupons of ended subscriptions. Records the MRR with the
 *    coupons that are left after the invoices.
 * 7. Numbers and stores the invoices, and records the events of the subscriptions.
 */
@Injectable()
export class ApplyOutcomesWorkflow {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly credit: CreditBalanceService,
    private readonly balances: SubscriptionBalancesService,
    private readonly derivedState: DerivedState,
    private readonly issueInvoice: IssueInvoiceService,
    private readonly refundedAmounts: RefundedAmounts,
    private readonly prepaidDrafts: FinalizePrepaidDraftsWorkflow,
    private readonly unpaidInvoices: VoidUnpaidInvoicesWorkflow,
  ) {}

  async apply(before: Subscription, outcome: Outcome, now: Date): Promise<Subscription> {
    const [after] = await this.applyAll([{ before, outcome }], now);
    invariant(after !== undefined, `The decision about ${before.id} was applied.`);
    return after;
  }

  /**
   * Writes decided changes of different subscriptions, with one statement per table. Throws the errors of
   * `IssueInvoiceService.prepareAll`.
   */
  async applyAll(decisions: readonly Decision[], now: Date): Promise<readonly Subscription[]> {
    const givenUp = decisions.flatMap(({ before, outcome }) =>
      idIfEndedUnpaid(before, outcome.subscription),
    );
    if (givenUp.length > 0) await this.unpaidInvoices.lock(givenUp);
    const givenBack = await this.refundedAmounts.lock({
      credits: decisions.flatMap(({ outcome }) => creditsOf(outcome)),
      subscriptionIds: decisions.map(({ before }) => before.id),
    });
    await this.prepaidDrafts.finalize(decisions, givenBack, now);
    const decided = decisions.map(({ before, outcome }) => {
      const after = nextVersion(before, now, outcome.subscription);
      return { before, after, outcome: { ...outcome, subscription: after } };
    });
    const outcomes = decided.map(({ outcome }) => outcome);
    await this.subscriptions.applyAll(outcomes);
    const billed = outcomes.filter(({ billing }) => billing !== null);
    const requests = billed.map((outcome) => ({
      ...billingRequestOf(outcome),
      ...givenBack,
      periods: periodsAfter(givenBack.periods, outcome),
    }));
    await this.balances.updateAfterChanges(
      decided.map(({ before, after }) => ({ before, after })),
      now,
      await this.issueInvoice.usageToBlock(requests),
    );
    if (givenUp.length > 0) {
      await this.credit.lockAvailableOf(decisions.map(({ before }) => before.customerId));
    }
    const prepared = await this.issueInvoice.prepareAll(
      requests,
      outcomes.flatMap(earnedPeriodOf),
      now,
    );
    await this.unpaidInvoices.voidOrCreditAll(givenUp, now);
    const applied = await this.activateWithoutPayment(decided, prepared.drafts, now);
    await this.derivedState.updateAfterInvoices(
      applied.map(({ after }) => after),
      now,
      new Map(applied.map(({ before }) => [before.id, before.nextBillingAt])),
    );
    const ofSubscriptions = applied.flatMap(({ before, after, outcome: { events } }) =>
      events.map((fact) =>
        toEventRecord(SUBSCRIPTION_EVENTS[fact], {
          after,
          before,
          occurredAt: changedAt(now, before),
        }),
      ),
    );
    await this.issueInvoice.storeAll(prepared, now, ofSubscriptions);
    return applied.map(({ after }) => after);
  }

  /**
   * Activates new subscriptions whose first invoice leaves nothing to pay, because coupons and credit cover it.
   * Otherwise these subscriptions would wait for a first payment.
   */
  private async activateWithoutPayment(
    decided: readonly Applied[],
    drafts: readonly Invoice[],
    now: Date,
  ): Promise<readonly Applied[]> {
    const owed = new Set(
      drafts
        .filter((draft) => !leavesNothingToPay(draft))
        .map(({ subscriptionId }) => subscriptionId),
    );
    const unowed = decided.filter(
      ({ before, after }) =>
        isAwaitingPayment(after) && !isAwaitingPayment(before) && !owed.has(after.id),
    );
    if (unowed.length === 0) return decided;
    const begun = new Map(unowed.map(({ after }) => [after.id, activated(after)]));
    for (const after of begun.values()) await this.subscriptions.updateStatus(after);
    await this.balances.updateAfterChanges(
      unowed.map(({ after: before }) => ({ before, after: begun.get(before.id) ?? before })),
      now,
    );
    return decided.map((one) => {
      const after = begun.get(one.after.id);
      if (after === undefined) return one;
      return { ...one, after, outcome: { ...one.outcome, events: ['activated'] } };
    });
  }
}

function idIfEndedUnpaid(
  before: Subscription,
  after: Pick<Subscription, 'id' | 'status'>,
): readonly string[] {
  return isAwaitingPayment(before) && isTerminal(SUBSCRIPTION_TRANSITIONS, after.status)
    ? [after.id]
    : [];
}
