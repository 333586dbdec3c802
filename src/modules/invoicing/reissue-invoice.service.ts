import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import { BillingFactsService } from './billing-facts.service';
import type { Invoice } from './domain/invoice';
import type { CreditOrder } from './domain/line-order';
import { isOvertaken, reissueOf, type Standing } from './domain/reissue';
import {
  invoiceNotFound,
  invoiceNotVoid,
  invoiceOvertaken,
  invoiceReissued,
} from './invoicing.errors';
import { invoiceCreated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { IssueInvoiceService } from './issue-invoice.service';
import { UsageReadingsService } from './usage-readings.service';

/** Bills void invoices anew. */
@Injectable()
export class ReissueInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly facts: BillingFactsService,
    private readonly issuing: IssueInvoiceService,
    private readonly usage: UsageReadingsService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Issues an invoice in the place of a void one, once: the same charges with the coupons, taxes and credit of now.
   * @param standingOf what the module above knows of what the invoice billed; it locks what could change that
   * @throws {ProblemError} `invoice_not_found`, `invoice_not_void`, `invoice_reissued`, `invoice_overtaken`,
   *   `test_clock_advancing`, `test_clock_failed`
   */
  reissue(id: string, standingOf: (invoice: Invoice) => Promise<Standing>): Promise<Invoice> {
    return this.database.transaction(async () => {
      const found = await this.invoices.find(id);
      if (found === null) throw invoiceNotFound(id);
      const customer = await this.customers.lockForHistory(found.customerId);
      const now = await this.testClocks.nowFor(customer.testClockId);
      const standing = await standingOf(found);
      const voided = await this.lockVoid(id);
      if (isOvertaken(voided, standing)) throw invoiceOvertaken(id);
      const order = {
        ...voided,
        lines: [],
        creditOrders: creditsOf(voided),
        billingPeriod: standing.billingPeriod,
      };
      const facts = await this.facts.load(order, customer, now, 'issue');
      const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
      const draft = reissueOf(voided, standing, facts, ids, now);
      if (draft.lines.length === 0) throw invoiceOvertaken(id);
      await this.invoices.insertAll([draft]);
      await this.usage.reopen(draft);
      await this.outbox.record(invoiceCreated, { after: draft, occurredAt: now });
      return this.issuing.finalize(draft, customer, now);
    });
  }

  private async lockVoid(id: string): Promise<Invoice> {
    const voided = await this.invoices.lock(id);
    if (voided === null) throw invoiceNotFound(id);
    if (voided.status !== 'void') throw invoiceNotVoid(id, voided.status);
    const reissue = await this.invoices.findReissueOf(id);
    if (reissue !== null) throw invoiceReissued(id, reissue);
    return voided;
  }
}

/** The credits of an invoice, as they are ordered anew. */
function creditsOf({ lines }: Invoice): readonly CreditOrder[] {
  return lines.flatMap(({ kind, itemId, period }) =>
    kind === 'credit' && itemId !== null && period !== null
      ? [{ kind, itemId, unusedFrom: period.startAt, end: 'border' as const }]
      : [],
  );
}
