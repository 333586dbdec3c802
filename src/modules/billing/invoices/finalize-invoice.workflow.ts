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
 * Finalizes a draft by request: a renewal draft before the end of its grace period, or a draft that was created by
 * request.
 *
 * 1. Locks the customer, the subscription and the invoice.
 * 2. Reads the time up to which charges in advance of the subscription are recognized as revenue.
 * 3. Locks the payments of earlier invoices whose usage has changed, so that no money is both refunded and credited.
 * 4. Calculates the amounts with the present usage, taxes, coupons and credit, and finalizes the invoice.
 * 5. If the subscription has ended, ends its coupons again, because an invoice that returns a discount to a coupon
 *    makes the coupon usable again. Records the MRR of the subscription, because it can change: the discounted months
 *    of a repeating coupon start with the first finalized invoice.
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
