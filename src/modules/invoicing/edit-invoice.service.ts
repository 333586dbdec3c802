import { Injectable } from '@nestjs/common';
import type { Metadata } from '../../core/metadata';
import { changedAt } from '../../core/next-version';
import { assertVersion, Database, revise, type VersionCondition } from '../../platform/database';
import { raise } from '../../platform/errors';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import type { Invoice } from './domain/invoice';
import { invoiceBillsPeriod, invoiceNotDraft, invoiceNotFound } from './invoicing.errors';
import { invoiceDeleted, invoiceUpdated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';

@Injectable()
export class EditInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Merges `sent` into the metadata of an invoice. If this changes nothing, writes nothing and emits no event.
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `metadata_too_large`, `test_clock_advancing`,
   *   `test_clock_failed`
   */
  updateMetadata(
    id: string,
    sent: Metadata | undefined,
    expected: VersionCondition,
  ): Promise<Invoice> {
    return this.database.transaction(async () => {
      const { before, now } = await this.setup(id, expected);
      const after = revise(before, { metadata: sent }, now);
      if (after === before) return before;
      await this.invoices.update(after);
      await this.outbox.recordChange(invoiceUpdated, { after, before }, now);
      return after;
    });
  }

  /**
   * Deletes a draft that bills no subscription. Such a draft has no number and no postings in the ledger.
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `invoice_not_draft`, `invoice_bills_period`,
   *   `test_clock_advancing`, `test_clock_failed`
   */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const { before, now } = await this.setup(id, expected);
      if (before.status !== 'draft') throw invoiceNotDraft(id, before.status);
      if (before.subscriptionId !== null) throw invoiceBillsPeriod(id);
      await this.invoices.deleteAll([id]);
      await this.outbox.record(invoiceDeleted, {
        after: before,
        occurredAt: changedAt(now, before),
      });
    });
  }

  private async setup(
    id: string,
    expected: VersionCondition,
  ): Promise<{ readonly before: Invoice; readonly now: Date }> {
    const found = (await this.invoices.find(id)) ?? raise(invoiceNotFound(id));
    const customer =
      (await this.customers.lockForHistory(found.customerId)) ?? raise(invoiceNotFound(id));
    const now = await this.testClocks.nowFor(customer.testClockId);
    const before = (await this.invoices.lock(id)) ?? raise(invoiceNotFound(id));
    assertVersion(expected, before);
    return { before, now };
  }
}
