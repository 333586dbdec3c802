import { Injectable } from '@nestjs/common';
import { raise } from '../../../platform/errors';
import { Database, type VersionCondition } from '../../../platform/database';
import {
  type Invoice,
  invoiceNotFound,
  InvoicesService,
  RegenerateInvoiceService,
} from '../../invoicing';
import { SubscriptionPeriodsService, SubscriptionsRepository } from '../../subscriptions';
import { BillingLocks } from '../billing-locks';
import { RefundedAmounts } from '../refunded-amounts';
import { DerivedState } from '../subscriptions/derived-state';

/**
 * Regenerates void invoices: makes a new invoice for the part of a void one that is still owed.
 *
 * 1. Locks the customer and the subscription, so that the subscription is neither changed nor ended meanwhile.
 * 2. Reads the present state of the items and of the period that the void invoice billed.
 * 3. Locks the payments of the earlier invoices that the new invoice credits or corrects. Reads how much of these
 *    payments was refunded.
 * 4. Locks the void invoice, makes a new one with the present coupons, taxes and credit, and finalizes it.
 * 5. Ends the coupons again if the subscription has ended, and records the MRR. A finalized invoice can make a coupon
 *    usable again, and can change the MRR (`DerivedState.updateAfterInvoices`).
 */
@Injectable()
export class RegenerateInvoiceWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly periods: SubscriptionPeriodsService,
    private readonly invoices: InvoicesService,
    private readonly refundedAmounts: RefundedAmounts,
    private readonly regenerateInvoice: RegenerateInvoiceService,
    private readonly derivedState: DerivedState,
  ) {}

  /**
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invoice_not_void`, `invoice_reissued`,
   *   `invoice_overtaken`, `invoice_too_large`, `usage_archived`, `test_clock_advancing`, `test_clock_failed`
   */
  regenerate(id: string, expected: VersionCondition): Promise<Invoice> {
    return this.database.transaction(async () => {
      const found = (await this.invoices.find(id)) ?? raise(invoiceNotFound(id));
      const { customer, now } =
        (await this.locks.lockCustomer(found.customerId)) ?? raise(invoiceNotFound(id));
      const charges = await this.periods.lockBilled(found);
      const { refunded } = await this.refundedAmounts.lock({
        credits: this.regenerateInvoice.creditsOf(found),
        invoiceIds: await this.regenerateInvoice.correctedBy(found),
      });
      const periods = await this.periods.billingPeriods(
        this.regenerateInvoice.correctedFrom(found),
      );
      const terms = { expected, customer, charges, refunded, periods };
      const invoice = await this.regenerateInvoice.regenerate(id, terms, now);
      const { subscriptionId } = found;
      const billed = subscriptionId === null ? null : await this.subscriptions.find(subscriptionId);
      if (billed !== null) await this.derivedState.updateAfterInvoices([billed], now);
      return invoice;
    });
  }
}
