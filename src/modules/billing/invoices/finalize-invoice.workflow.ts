import { Injectable } from '@nestjs/common';
import { RefundedAmounts } from '../refunded-amounts';
import { assertVersion, Database, type VersionCondition } from '../../../platform/database';
import { raise } from '../../../platform/errors';
import { FinalizeInvoicesService, type Invoice, invoiceNotFound } from '../../invoicing';
import { SubscriptionPeriodsService } from '../../subscriptions';
import { BillingLocks } from '../billing-locks';
import { DerivedState } from '../subscriptions/derived-state';

const NOTHING_EARNED: ReadonlyMap<string, Date> = new Map();

/**
 * Finalizes a draft by request. It is a renewal draft whose grace period has not ended, or a draft created by request.
 *
 * 1. Locks the customer, the subscription and the invoice.
 * 2. Reads the time up to which charges in advance of the subscription are recognized as revenue.
 * 3. Locks the payments of earlier invoices whose usage has changed, so that no money is both refunded and credited.
 * 4. Calculates the amounts with the present usage, taxes, coupons and credit, and finalizes the invoice.
 * 5. Ends the coupons again if the subscription has ended, and records the MRR. A finalized invoice can make a coupon
 *    usable again, and can change the MRR (`DerivedState.updateAfterInvoices`).
 */
@Injectable()
export class FinalizeInvoiceWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly periods: SubscriptionPeriodsService,
    private readonly refundedAmounts: RefundedAmounts,
    private readonly finalizeInvoices: FinalizeInvoicesService,
    private readonly derivedState: DerivedState,
  ) {}

  /**
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invalid_transition`, `invoice_empty`,
   *   `invoice_too_large`, `test_clock_advancing`, `test_clock_failed`
   */
  finalize(id: string, expected: VersionCondition): Promise<Invoice> {
    return this.database.transaction(async () => {
      const { invoice, customer, subscription, now } =
        (await this.locks.lockInvoice(id)) ?? raise(invoiceNotFound(id));
      assertVersion(expected, invoice);
      const earned =
        subscription === null ? NOTHING_EARNED : await this.periods.earnedUntil([subscription.id]);
      const subscriptionIds = subscription === null ? [] : [subscription.id];
      const givenBack = await this.refundedAmounts.lock({ subscriptionIds });
      const finalized = await this.finalizeInvoices.finalize(
        invoice,
        customer,
        earned,
        givenBack,
        now,
      );
      if (subscription !== null) await this.derivedState.updateAfterInvoices([subscription], now);
      return finalized;
    });
  }
}
