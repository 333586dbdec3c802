import { Injectable } from '@nestjs/common';
import { Outbox } from '../../platform/outbox';
import type { Customer } from '../customers';
import type { Invoice } from './domain/invoice';
import type { OneOffOrder } from './domain/one-off';
import { invoiceCreated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { IssueInvoiceService } from './issue-invoice.service';

/** Drafts that wait for somebody to finalise them. */
@Injectable()
export class InvoiceDraftsService {
  constructor(
    private readonly invoices: InvoicesRepository,
    private readonly issuing: IssueInvoiceService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Writes a draft, in the caller's transaction. Its amounts are those of now, and are decided again when it is finalised.
   * @throws {ProblemError} `invoice_too_large`
   */
  async create(
    order: OneOffOrder & { readonly currency: string },
    customer: Customer,
    now: Date,
  ): Promise<Invoice> {
    const draft = await this.issuing.preview(
      {
        ...order,
        reason: 'one_off',
        subscriptionId: null,
        renewsAt: null,
        period: null,
        billingPeriod: null,
      },
      customer,
      now,
    );
    await this.invoices.insert(draft);
    await this.outbox.record(invoiceCreated, { after: draft, occurredAt: now });
    return draft;
  }
}
