import { Injectable, Logger } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import type { ListSummary, Page, PageRequest } from '../../platform/database';
import { invalidTransition, raise } from '../../platform/errors';
import { Outbox } from '../../platform/outbox';
import { BilledTogetherRepository } from './billed-together.repository';
import { mayInvoiceBecome } from './domain/finalize';
import { closeCollectionAt } from './domain/invoice-collection';
import { assertTotals, type Invoice, isCredited, brokenTotalOf } from './domain/invoice';
import type { InvoiceFilter } from './domain/invoice-filter';
import { InvoicePostings } from './invoice-postings';
import { InvoicesRepository } from './invoices.repository';
import { invoiceCredited, invoiceNotFound, invoicePartlyPaid } from './invoicing.errors';
import { invoiceUncollectible } from './invoicing.events';
import { RenewalDraftsRepository } from './renewal-drafts.repository';
import { VoidInvoiceService } from './void-invoice.service';

@Injectable()
export class InvoicesService {
  private readonly logger = new Logger('invoices');

  constructor(
    private readonly invoices: InvoicesRepository,
    private readonly together: BilledTogetherRepository,
    private readonly drafts: RenewalDraftsRepository,
    private readonly voiding: VoidInvoiceService,
    private readonly postings: InvoicePostings,
    private readonly outbox: Outbox,
  ) {}

  /**
   * @throws {ProblemError} `invoice_not_found`
   * @throws {InvariantError} when the stored totals are damaged
   */
  async get(id: string): Promise<Invoice> {
    const invoice = (await this.invoices.find(id)) ?? raise(invoiceNotFound(id));
    assertTotals(invoice);
    return invoice;
  }

  /**
   * Returns an invoice for reading only. Damaged totals are logged and cause no error, so that a damaged invoice can be
   * examined.
   * @throws {ProblemError} `invoice_not_found`
   */
  async read(id: string): Promise<Invoice> {
    const invoice = (await this.invoices.find(id)) ?? raise(invoiceNotFound(id));
    const broken = brokenTotalOf(invoice);
    if (broken !== null) {
      this.logger.error({ invoice_id: id, broken }, 'the totals of an invoice are damaged');
    }
    return invoice;
  }

  list(filter: InvoiceFilter, request: PageRequest): Promise<Page<Invoice>> {
    return this.invoices.page(filter, request);
  }

  summarize(filter: InvoiceFilter): Promise<readonly ListSummary[]> {
    return this.invoices.summarize(filter);
  }

  /** Finds an invoice, without checking its totals. */
  find(id: string): Promise<Invoice | null> {
    return this.invoices.find(id);
  }

  /**
   * Returns, by customer, the start of the earliest billing period whose usage a renewal draft bills. Omits customers
   * on test clocks.
   */
  usageWaitingSince(customerIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    return this.drafts.usageSince(customerIds);
  }

  /** Locks an invoice for the caller's transaction. Lock order: subscription, invoice, payments of the invoice. */
  lock(id: string): Promise<Invoice | null> {
    return this.invoices.lock(id);
  }

  /**
   * Voids an invoice, so that nothing is owed for it any more. Credit that the invoice used becomes available again,
   * and lines that it credited can be credited again. Runs in the caller's transaction, which has locked the invoice.
   * @throws {ProblemError} `invalid_transition`, `invoice_credited`, `invoice_partly_paid`, `usage_archived`
   */
  async void(before: Invoice, now: Date): Promise<Invoice> {
    assertMayBecome(before, 'void');
    const isLowered = isCredited(before) || before.amountCredited > 0n;
    if (isLowered || (await this.isTakenBack(before))) throw invoiceCredited(before.id);
    if (before.amountPaid > 0n) throw invoicePartlyPaid(before.id);
    return this.voiding.void(before, now);
  }

  /**
   * Writes an invoice off, in the caller's transaction, which has locked the invoice.
   * @throws {ProblemError} `invalid_transition`
   */
  async markUncollectible(before: Invoice, now: Date): Promise<Invoice> {
    assertMayBecome(before, 'uncollectible');
    await this.postings.postUncollectible(before, now);
    const after = nextVersion(before, now, {
      status: 'uncollectible',
      uncollectibleAt: now,
      collectAt: closeCollectionAt(before, now),
    });
    await this.invoices.update(after);
    await this.outbox.record(invoiceUncollectible, { after, before, occurredAt: now });
    return after;
  }

  /**
   * Returns true if a later invoice credited or corrected charges of the invoice. A void would then return the same
   * amounts and discounts a second time.
   */
  private isTakenBack({ lines, number }: Invoice): Promise<boolean> {
    const lineIds = lines.map(({ id }) => id);
    return this.together.isTakenBackAfter(lineIds, number ?? '');
  }
}

/** @throws {ProblemError} `invalid_transition` */
function assertMayBecome(before: Invoice, to: 'void' | 'uncollectible'): void {
  if (!mayInvoiceBecome(before, to)) throw invalidTransition('invoice', before.status, to);
}
