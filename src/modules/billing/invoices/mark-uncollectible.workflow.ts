import { Injectable } from '@nestjs/common';
import { raise } from '../../../platform/errors';
import { assertVersion, Database, type VersionCondition } from '../../../platform/database';
import { type Invoice, invoiceNotFound, InvoicesService } from '../../invoicing';
import { BillingLocks } from '../billing-locks';
import { FirstPaymentsWorkflow } from '../subscriptions/first-payments.workflow';

/**
 * Writes invoices off.
 *
 * 1. Locks the customer, the subscription and the invoice.
 * 2. Posts the open amount as bad debt and records `invoice.uncollectible`.
 * 3. Ends the subscription if it was waiting for its first payment.
 */
@Injectable()
export class MarkUncollectibleWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicesService,
    private readonly firstPayments: FirstPaymentsWorkflow,
  ) {}

  /**
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invalid_transition`, `test_clock_advancing`,
   *   `test_clock_failed`
   */
  markUncollectible(id: string, expected: VersionCondition): Promise<Invoice> {
    return this.database.transaction(async () => {
      const locked = (await this.locks.lockInvoice(id)) ?? raise(invoiceNotFound(id));
      assertVersion(expected, locked.invoice);
      const { subscription, now } = locked;
      const invoice = await this.invoices.markUncollectible(locked.invoice, now);
      await this.firstPayments.endInvoice(invoice, subscription, now);
      return invoice;
    });
  }
}
