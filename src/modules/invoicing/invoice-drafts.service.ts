import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import { customerCurrencyMismatch, CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import type { Invoice } from './domain/invoice';
import type { OneOffRequest } from './domain/one-off';
import { invoiceCreated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { IssueInvoiceService } from './issue-invoice.service';

/** Creates drafts of one-off invoices. They stay drafts until a request finalizes them. */
@Injectable()
export class InvoiceDraftsService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly invoices: InvoicesRepository,
    private readonly issuing: IssueInvoiceService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Creates a draft. Its amounts use the present taxes and credit, and are calculated again when it is finalized.
   * @throws {ProblemError} `reference_not_found`, `customer_currency_mismatch`, `invoice_too_large`,
   *   `test_clock_advancing`, `test_clock_failed`
   */
  create(request: OneOffRequest): Promise<Invoice> {
    return this.database.transaction(async () => {
      const customer = await this.customers.requireForReference(request.customerId, '/customer_id');
      const currency = request.currency ?? customer.currency;
      if (currency === null) throw customerCurrencyMismatch(null, null);
      await this.customers.fixCurrency(customer.id, currency);
      const now = await this.testClocks.nowFor(customer.testClockId);
      const bound = { subscriptionId: null, renewsAt: null, period: null, billingPeriod: null };
      const draft = await this.issuing.preview(
        { ...request, ...bound, currency, reason: 'one_off' },
        customer,
        now,
      );
      await this.invoices.insert(draft);
      await this.outbox.record(invoiceCreated, { after: draft, occurredAt: now });
      return draft;
    });
  }
}
