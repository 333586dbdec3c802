import { Injectable } from '@nestjs/common';
import { raise } from '../../../platform/errors';
import { assertVersion, Database, type VersionCondition } from '../../../platform/database';
import { type Invoice, invoiceNotFound, invoiceNotOwed, InvoicesService } from '../../invoicing';
import { isAwaitingPayment } from '../../subscriptions';
import { BillingLocks } from '../billing-locks';

/**
 * Writes off invoices: posts the unpaid amount as bad debt. First locks the customer, the subscription and the invoice.
 * Refuses an open invoice while its subscription waits for its first payment, because such a subscription owes nothing.
 */
@Injectable()
export class MarkUncollectibleWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicesService,
  ) {}

  /**
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invalid_transition`, `invoice_not_owed`,
   *   `test_clock_advancing`, `test_clock_failed`
   */
  markUncollectible(id: string, expected: VersionCondition): Promise<Invoice> {
    return this.database.transaction(async () => {
      const locked = (await this.locks.lockInvoice(id)) ?? raise(invoiceNotFound(id));
      const { invoice, subscription, now } = locked;
      assertVersion(expected, invoice);
      if (invoice.status === 'open' && subscription !== null && isAwaitingPayment(subscription))
        throw invoiceNotOwed(id);
      return this.invoices.markUncollectible(invoice, now);
    });
  }
}
