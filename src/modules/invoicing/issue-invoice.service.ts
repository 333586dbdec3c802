import { Injectable } from '@nestjs/common';
import { isWireSafe } from '../../core/money';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { type EventRecord, Outbox, shownEventRecord } from '../../platform/outbox';
import type { RedeemedTerms } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import type { UsageToBlock } from '../metering';
import { BillingContextService } from './billing-context.service';
import { decideInSequence } from './domain/decide-in-sequence';
import { type BillingContext, decideInvoice } from './domain/decide-invoice';
import { withBillableUsage } from './domain/decide-lines';
import { type EarnedPeriod, withEarned } from './domain/earned-period';
import { graceEnd, isWaiting } from './domain/grace';
import type { Invoice } from './domain/invoice';
import type { BillingRequest } from './domain/billing-request';
import { FinalizationService } from './finalization.service';
import { transactionOf } from './invoice-postings';
import { invoiceTooLarge } from './invoicing.errors';
import { eventsOfFinalizing, invoiceCreated } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { UsageReadingsService } from './usage-readings.service';

/**
 * Invoices that are calculated, but not numbered or stored yet. Those without a grace period are already posted to the
 * ledger, and have already used credit.
 */
export interface PreparedInvoices {
  /** Drafts without numbers. A draft with a grace period stays a draft until its grace period ends. */
  readonly drafts: readonly Invoice[];
  readonly customers: ReadonlyMap<string, Customer>;
}

/** Makes invoices. Finalizes them in the same transaction, unless they have a grace period: then they stay drafts. */
@Injectable()
export class IssueInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly contexts: BillingContextService,
    private readonly invoices: InvoicesRepository,
    private readonly customers: CustomersService,
    private readonly usage: UsageReadingsService,
    private readonly finalization: FinalizationService,
    private readonly outbox: Outbox,
    private readonly configuration: Configuration,
  ) {}

  /**
   * Returns the invoice that the billing request would make now. Changes nothing. Call it in a transaction, so that its
   * reads are consistent.
   * @param redeemed coupons that are applied as if they were redeemed already
   * @throws {ProblemError} `invoice_too_large`
   */
  async preview(
    request: BillingRequest,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<Invoice> {
    const context = await this.contexts.load(request, customer, null, redeemed);
    return this.decide(request, withBillableUsage(request, context), now, customer);
  }

  /**
   * Returns the time until which an invoice of the customer stays a draft; null if it is finalized at once.
   * @param now time at which the invoice is made
   */
  graceEnd(
    request: BillingRequest,
    customer: Pick<Customer, 'invoiceGraceHours'> | undefined,
    now: Date,
  ): Date | null {
    const hours = customer?.invoiceGraceHours ?? this.configuration.invoiceGraceHours;
    return graceEnd(request, hours, now);
  }

  /**
   * Makes invoices in the caller's transaction. Calls {@link prepareAll}, then {@link storeAll}.
   * @throws {ProblemError} `invoice_too_large`, `customer_currency_mismatch`
   */
  async issueAll(requests: readonly BillingRequest[], now: Date): Promise<void> {
    await this.storeAll(await this.prepareAll(requests, [], now), now);
  }

  /** Returns the usage that {@link prepareAll} blocks until the transaction ends. */
  usageToBlock(requests: readonly BillingRequest[]): Promise<UsageToBlock> {
    return this.usage.usageToBlock(requests);
  }

  /**
   * Prepares invoices in the caller's transaction, in the order of `requests`. Does all work except taking invoice
   * numbers and storing the invoices. Invoices of one customer use the same credit, one after the other. A request that
   * bills nothing makes an invoice only if it has a grace period. The caller must do all other work of the transaction
   * before it calls {@link storeAll}.
   * @param earned billing periods that are over, whose deferred revenue is recognized by the same call
   * @throws {ProblemError} `invoice_too_large`, `customer_currency_mismatch`
   */
  async prepareAll(
    requests: readonly BillingRequest[],
    earned: readonly EarnedPeriod[],
    now: Date,
  ): Promise<PreparedInvoices> {
    this.database.requireTransaction();
    if (requests.length === 0) {
      await this.finalization.settle([], earned, now);
      return { drafts: [], customers: new Map() };
    }
    const customers = await this.customersOf(requests);
    const loaded = await this.contexts.loadAll(requests, [...customers.values()], now);
    const contextOf = (request: BillingRequest): BillingContext =>
      withBillableUsage(request, loaded(request));
    const decided = decideInSequence(
      requests,
      contextOf,
      (request, context) => this.decide(request, context, now, customers.get(request.customerId)),
      () => newId('crd'),
      await this.finalization.owedBySubscription(requests),
      now,
    );
    // A draft with a grace period may have no lines, because usage can arrive until the grace period ends.
    const made = decided
      .filter(({ invoice }) => invoice.lines.length > 0 || isWaiting(invoice))
      .map(({ invoice, added }) => ({ invoice: withEarned(invoice, earned), added }));
    const drafts = made.map(({ invoice }) => invoice);
    await this.customers.fixCurrencies(drafts);
    await this.finalization.settle(
      made.filter(({ invoice }) => !isWaiting(invoice)),
      earned,
      now,
    );
    await this.usage.record(
      requests.flatMap((request, index) => {
        const invoice = decided[index]?.invoice ?? null;
        if (invoice !== null && isWaiting(invoice)) return [];
        return { request, context: contextOf(request), invoice };
      }),
      now,
    );
    return { drafts, customers };
  }

  /**
   * Numbers and stores prepared invoices, and records their events. Invoices with a grace period stay drafts.
   * @param others events to record after the events of the invoices
   */
  async storeAll(
    { drafts, customers }: PreparedInvoices,
    now: Date,
    others: readonly EventRecord[] = [],
  ): Promise<void> {
    if (drafts.length === 0) {
      await this.outbox.recordAll(others);
      return;
    }
    const finalizing = drafts.filter((draft) => !isWaiting(draft));
    const shown = drafts.map(invoiceCreated.toDto);
    const numbered = await this.finalization.number(finalizing, customers, now);
    const numberedById = new Map(numbered.map((invoice) => [invoice.id, invoice]));
    await this.invoices.insertAll(drafts.map((draft) => numberedById.get(draft.id) ?? draft));
    const ofInvoices = shown.flatMap((draft) => {
      const created = shownEventRecord(invoiceCreated, { after: draft, occurredAt: now });
      const invoice = numberedById.get(draft.id);
      return [created, ...(invoice === undefined ? [] : eventsOfFinalizing(draft, invoice))];
    });
    await this.outbox.recordAll([...ofInvoices, ...others]);
  }

  /**
   * Returns the customers of billing requests. A customer without a currency gets the currency of the request. A
   * request without lines sets no currency, because its invoice may bill nothing.
   */
  private async customersOf(
    requests: readonly BillingRequest[],
  ): Promise<ReadonlyMap<string, Customer>> {
    const fixing = requests.filter(({ lines }) => lines.length > 0);
    const fixed = await this.customers.fixCurrencies(fixing);
    const others = requests.flatMap(({ customerId }) =>
      fixed.has(customerId) ? [] : [customerId],
    );
    if (others.length === 0) return fixed;
    return new Map([...fixed, ...(await this.customers.getAllForHistory(others))]);
  }

  private decide(
    request: BillingRequest,
    context: BillingContext,
    now: Date,
    customer: Customer | undefined,
  ): Invoice {
    const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
    const invoice = decideInvoice(request, context, ids, now);
    assertNotTooLarge(invoice);
    const finalizesAt = this.graceEnd(request, customer, now);
    return finalizesAt === null
      ? invoice
      : { ...invoice, finalizesAt, requestedLines: request.lines };
  }
}

/** @throws {ProblemError} `invoice_too_large` */
export function assertNotTooLarge(invoice: Invoice): void {
  const ofLines = invoice.lines.flatMap(({ amount, discount, tax }) => [amount, discount, tax]);
  const ofRates = invoice.taxRates.flatMap(({ taxableMinor, taxMinor }) => [
    taxableMinor,
    taxMinor,
  ]);
  const { subtotal, discount, tax, inclusiveTax, total } = invoice;
  const totals = [subtotal, discount, tax, inclusiveTax, total];
  const posted = transactionOf(invoice).postings.map(({ amountMinor }) => amountMinor);
  if (![...ofLines, ...ofRates, ...totals, ...posted].every(isWireSafe)) throw invoiceTooLarge();
}
