import { Injectable } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import { raise } from '../../../platform/errors';
import { assertVersion, Database, type VersionCondition } from '../../../platform/database';
import { type Invoice, invoiceNotFound, InvoicesService } from '../../invoicing';
import { LostCreditService } from '../../payments';
import { BillingLocks } from '../billing-locks';
import { FirstPaymentsWorkflow } from '../subscriptions/first-payments.workflow';
import { DerivedState } from '../subscriptions/derived-state';

/**
 * Voids invoices.
 *
 * 1. Locks the customer, the subscription and the invoice. If the subscription is waiting for its first payment, also
 *    locks what step 5 changes. Locks the payments of the invoice, and the payments that funded credit used by the
 *    invoice.
 * 2. Refuses an invoice that billed usage of archived months, because that usage could not be billed again.
 * 3. Voids the invoice: returns the credit and the coupon discounts that the invoice used, reverses its ledger
 *    postings, and records `invoice.voided`. If returned credit came from a payment that later lost money in a dispute,
 *    or was refunded at the provider, this credit covers the loss.
 * 4. If the subscription has ended, ends coupons that the void made usable again. Records the MRR of the subscription,
 *    which can change when a coupon becomes usable again.
 * 5. Ends the subscription if it was waiting for its first payment.
 */
@Injectable()
export class VoidInvoiceWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicesService,
    private readonly losses: LostCreditService,
    private readonly firstPayments: FirstPaymentsWorkflow,
    private readonly derivedState: DerivedState,
  ) {}

  /**
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invalid_transition`, `invoice_credited`,
   *   `invoice_partly_paid`, `usage_archived`, `test_clock_advancing`, `test_clock_failed`
   */
  void(id: string, expected: VersionCondition): Promise<Invoice> {
    return this.database.transaction(async () => {
      const locked = (await this.locks.lockInvoice(id)) ?? raise(invoiceNotFound(id));
      assertVersion(expected, locked.invoice);
      const { subscription } = locked;
      await this.firstPayments.lockBeforeInvoice(subscription);
      const lost = await this.losses.lockLost([locked.invoice]);
      await this.firstPayments.lockBeforeCredit(subscription);
      const now = changedAt(locked.now, ...lost);
      const invoice = await this.invoices.void(locked.invoice, now);
      if (subscription !== null) await this.derivedState.updateAfterInvoices([subscription], now);
      await this.losses.coverLosses(lost, { sourceId: id, occurredAt: now });
      await this.firstPayments.endInvoice(invoice, subscription, now);
      return invoice;
    });
  }
}
