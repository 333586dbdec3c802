import { Injectable } from '@nestjs/common';
import { RefundedAmounts } from '../refunded-amounts';
import { Database } from '../../../platform/database';
import { type DueDraft, FinalizeInvoicesService } from '../../invoicing';
import { SubscriptionPeriodsService, SubscriptionsRepository } from '../../subscriptions';
import { DerivedState } from '../subscriptions/derived-state';

/**
 * Finalizes renewal drafts whose grace period is over.
 *
 * 1. Locks the customers, then the subscriptions, so that no other transaction uses their coupons or bills their late
 *    usage meanwhile. (Late usage is usage accepted after its period was billed.)
 * 2. Locks the drafts, except drafts that were finalized or deleted meanwhile.
 * 3. Reads, for each subscription, the time up to which charges in advance are recognized as revenue.
 * 4. Locks the payments of earlier invoices whose usage has changed, so that no money is both refunded and credited.
 * 5. Calculates the drafts again with the usage until now, and finalizes them. Deletes drafts without lines.
 * 6. Ends the coupons of ended subscriptions again, and records the MRR. A finalized invoice can make a coupon usable
 *    again, and can change the MRR (`DerivedState.updateAfterInvoices`).
 */
@Injectable()
export class FinalizeDueDraftsWorkflow {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly periods: SubscriptionPeriodsService,
    private readonly refundedAmounts: RefundedAmounts,
    private readonly finalizeInvoices: FinalizeInvoicesService,
    private readonly derivedState: DerivedState,
  ) {}

  /**
   * Finalizes these drafts in one commit. Skips drafts that were finalized or deleted meanwhile.
   * @param drafts at most one draft of each subscription
   */
  finalizeDue(drafts: readonly DueDraft[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const subscriptionIds = drafts.map(({ subscriptionId }) => subscriptionId);
      await this.subscriptions.lockCustomersOf(subscriptionIds);
      const subscriptions = await this.subscriptions.lockAll(subscriptionIds);
      const waiting = await this.finalizeInvoices.lockWaiting(drafts.map(({ id }) => id));
      if (waiting.length === 0) return;
      const earned = await this.periods.earnedUntil(subscriptionIds);
      const givenBack = await this.refundedAmounts.lock({ subscriptionIds });
      await this.finalizeInvoices.finalizeAll(waiting, earned, givenBack, now);
      await this.derivedState.updateAfterInvoices(subscriptions, now);
    });
  }
}
