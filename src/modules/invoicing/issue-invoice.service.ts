import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { isWireSafe } from '../../core/money';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox, toEventRecord, type EventRecord } from '../../platform/outbox';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import { BillingContextService } from './billing-context.service';
import { CreditGrantsRepository } from './credit-grants.repository';
import { grantOf } from './domain/credit-grant';
import { type Decided, decideInTurn, type OpenMinorOf } from './domain/decide-in-turn';
import { type BillingContext, decideInvoice } from './domain/decide-invoice';
import { finalized } from './domain/finalize';
import { graceEnd, isWaiting } from './domain/grace';
import type { Invoice, InvoiceCoupon } from './domain/invoice';
import type { InvoiceOrder } from './domain/order';
import { buyerOf, type InvoiceSnapshots } from './domain/invoice-snapshots';
import { InvoicePostings } from './invoice-postings';
import { invoiceTooLarge } from './invoicing.errors';
import { invoiceCreated, invoiceFinalized, invoicePaid } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { LowerOpenInvoicesService } from './lower-open-invoices.service';
import { UsageReadingsService } from './usage-readings.service';

const DIGITS_OF_A_NUMBER = 6;

/** Makes invoices from orders, and finalises them: number, amounts, credit, coupons, postings and events in one commit. */
@Injectable()
export class IssueInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly contexts: BillingContextService,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly openInvoices: LowerOpenInvoicesService,
    private readonly customers: CustomersService,
    private readonly redemptions: RedemptionsService,
    private readonly postings: InvoicePostings,
    private readonly usage: UsageReadingsService,
    private readonly outbox: Outbox,
    private readonly configuration: Configuration,
  ) {}

  /**
   * The invoice that the order would make now; it changes nothing. The caller has a transaction open, so that all it reads
   * belongs together.
   * @param redeemed coupons that would be redeemed before
   * @throws {ProblemError} `invoice_too_large`
   */
  async preview(
    order: InvoiceOrder,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<Invoice> {
    const context = await this.contexts.load(order, customer, now, 'preview', redeemed);
    return this.decide(order, context, now, customer);
  }

  /**
   * Holds the usage and the credit of customers until the caller's transaction ends. A caller that makes
   * their invoices one after the other in one commit does this first: a transaction that holds the number series must
   * not wait for one that wants a number.
   */
  async holdFor(customerIds: readonly string[]): Promise<void> {
    await this.usage.holdAll(customerIds);
    await this.grants.open(customerIds, true);
  }

  /**
   * Makes invoices and finalises them, in the caller's transaction, in the order of their orders; those that wait for their
   * grace stay drafts. Those of one customer share its credit: each finds what the former left. An order without lines makes
   * no invoice, unless it bills late usage.
   * @returns the invoices that were made
   * @throws {ProblemError} `invoice_too_large`, `customer_currency_mismatch`
   */
  async issueAll(orders: readonly InvoiceOrder[], now: Date): Promise<readonly Invoice[]> {
    this.database.requireTransaction();
    if (orders.length === 0) return [];
    const customers = await this.customersOf(orders);
    const contextOf = await this.contexts.loadAll(orders, [...customers.values()], now, 'issue');
    const decided = decideInTurn(
      orders,
      contextOf,
      (order, context) => this.decide(order, context, now, customers.get(order.customerId)),
      () => newId('crd'),
      await this.openMinorOf(orders),
      now,
    );
    // What waits may be empty: usage can still come.
    const made = decided.filter(({ invoice }) => invoice.lines.length > 0 || isWaiting(invoice));
    await this.customers.fixCurrencies(made.map(({ invoice }) => invoice));
    const settled = await this.settle(
      made.filter(({ invoice }) => !isWaiting(invoice)),
      customers,
      now,
    );
    const settledById = new Map(settled.map((invoice) => [invoice.id, invoice]));
    const invoices = made.map(({ invoice }) => settledById.get(invoice.id) ?? invoice);
    await this.invoices.insertAll(invoices);
    await this.usage.record(
      orders.flatMap((order, index) => {
        const invoice = decided[index]?.invoice ?? null;
        if (invoice !== null && isWaiting(invoice)) return [];
        return { order, usage: contextOf(order).usage, invoice };
      }),
      now,
    );
    await this.outbox.recordAll(
      made.flatMap(({ invoice: draft }) => {
        const invoice = settledById.get(draft.id);
        const creating = toEventRecord(invoiceCreated, { after: draft, occurredAt: now });
        return invoice === undefined ? [creating] : [creating, ...eventsOf(draft, invoice)];
      }),
    );
    return invoices;
  }

  /** Reads the open amounts that credit of these orders lowers first, see {@link LowerOpenInvoicesService}. */
  openMinorOf(
    orders: readonly Pick<InvoiceOrder, 'customerId' | 'subscriptionId'>[],
  ): Promise<OpenMinorOf> {
    return this.openInvoices.openMinorOf(orders);
  }

  /**
   * Finalises a draft whose amounts were decided in this transaction: nothing about it changes afterwards except its
   * payment state.
   */
  async finalize(draft: Invoice, customer: Customer, now: Date): Promise<Invoice> {
    const drafts = [{ invoice: draft, added: grantOf(draft, newId('crd'), now) }];
    const [invoice] = await this.finalizeAll(drafts, new Map([[customer.id, customer]]), now);
    invariant(invoice !== undefined, `The draft ${draft.id} was finalised.`);
    return invoice;
  }

  /**
   * The same for many, in their order.
   * @param drafts each with the draft as it was before it was decided, where that is another
   */
  async finalizeAll(
    drafts: readonly (Decided & { readonly before?: Invoice })[],
    customers: ReadonlyMap<string, Customer>,
    now: Date,
  ): Promise<readonly Invoice[]> {
    this.database.requireTransaction();
    if (drafts.length === 0) return [];
    const invoices = await this.settle(drafts, customers, now);
    await this.invoices.updateAll(invoices);
    await this.outbox.recordAll(
      invoices.flatMap((invoice, index) => {
        const draft = drafts[index]?.invoice;
        invariant(draft !== undefined, 'every invoice was a draft');
        return eventsOf(drafts[index]?.before ?? draft, invoice);
      }),
    );
    return invoices;
  }

  /**
   * Does all of finalising beside the rows of the drafts: uses credit and coupons, posts, and numbers them in their order.
   * The numbers are taken last, so that their series is locked for the shortest time.
   */
  private async settle(
    drafts: readonly Decided[],
    customers: ReadonlyMap<string, Customer>,
    now: Date,
  ): Promise<readonly Invoice[]> {
    const invoices = drafts.map(({ invoice }) => invoice);
    await this.grants.insertAll(drafts.flatMap(({ added }) => added ?? []));
    await this.grants.useAll(invoices.flatMap(({ credits }) => credits));
    await this.openInvoices.lowerAll(drafts, now);
    await this.invoices.addCredited(
      invoices.flatMap(({ lines }) =>
        lines.flatMap(({ creditsLineId: lineId, amount }) =>
          lineId === null ? [] : [{ lineId, amount: -amount }],
        ),
      ),
    );
    await this.redemptions.noteApplied(
      invoices.flatMap(({ coupons }) => coupons.map(toApplied)),
      now,
    );
    await this.postings.postFinalized(invoices, now);
    const numbers = await this.takeNumbers(
      invoices.map(({ customerId }) => seriesOf(customers.get(customerId))),
    );
    return invoices.map((draft, index) => {
      const snapshots = this.snapshotsOf(customers.get(draft.customerId));
      const number = numbers[index];
      invariant(number !== undefined, 'every invoice has a number');
      const invoice = finalized(draft, number, snapshots, now);
      return { ...invoice, version: draft.version + 1 };
    });
  }

  /** The customers of orders. An order without lines may bill nothing, so that it fixes no currency yet. */
  private async customersOf(
    orders: readonly InvoiceOrder[],
  ): Promise<ReadonlyMap<string, Customer>> {
    const fixing = orders.filter(({ lines }) => lines.length > 0);
    const fixed = await this.customers.fixCurrencies(fixing);
    const others = orders.flatMap(({ customerId }) => (fixed.has(customerId) ? [] : [customerId]));
    if (others.length === 0) return fixed;
    return new Map([...fixed, ...(await this.customers.getAllForHistory(others))]);
  }

  private snapshotsOf(customer: Customer | undefined): InvoiceSnapshots {
    invariant(customer !== undefined, 'the customer of an invoice was read');
    return { seller: this.configuration.seller, buyer: buyerOf(customer) };
  }

  private decide(
    order: InvoiceOrder,
    context: BillingContext,
    now: Date,
    customer: Customer | undefined,
  ): Invoice {
    const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
    const invoice = decideInvoice(order, context, ids, now);
    assertNotTooLarge(invoice);
    const graceHours = customer?.invoiceGraceHours ?? this.configuration.invoiceGraceHours;
    const finalizesAt = graceEnd(order, graceHours, now);
    return finalizesAt === null ? invoice : { ...invoice, finalizesAt, orderedLines: order.lines };
  }

  /** The next numbers of these series, one for each time one is named. */
  private async takeNumbers(series: readonly string[]): Promise<readonly string[]> {
    const next = new Map<string, bigint>();
    for (const name of [...new Set(series)].sort()) {
      const count = series.filter((one) => one === name).length;
      next.set(name, await this.invoices.takeNumbers(name, count));
    }
    return series.map((name) => {
      const number = next.get(name);
      invariant(number !== undefined, 'every series gave its numbers');
      next.set(name, number + 1n);
      return `${name}-${number.toString().padStart(DIGITS_OF_A_NUMBER, '0')}`;
    });
  }
}

/** @throws {ProblemError} `invoice_too_large` */
export function assertNotTooLarge(invoice: Invoice): void {
  const amounts = invoice.lines.flatMap(({ amount, tax }) => [amount, tax]);
  const totals = [invoice.subtotal, invoice.tax, invoice.total];
  if (![...amounts, ...totals].every(isWireSafe)) throw invoiceTooLarge();
}

/** Customers on test clocks have a series of their own: no test leaves a gap in the real series. */
function seriesOf(customer: Customer | undefined): string {
  invariant(customer !== undefined, 'the customer of an invoice was read');
  return customer.testClockId === null ? 'INV' : 'TEST';
}

function toApplied(coupon: InvoiceCoupon) {
  const { redemptionId, amountMinor, returnedMinor = 0n, duration, amountOffMinor } = coupon;
  const mostMinor = amountOffMinor ?? coupon.mostMinor ?? amountMinor;
  const unusedMinor = duration === 'once' ? mostMinor - amountMinor : 0n;
  return { redemptionId, amountMinor, returnedMinor, unusedMinor, endsAt: coupon.endsAt ?? null };
}

/** Returns the events of finalising. */
function eventsOf(before: Invoice, after: Invoice): readonly EventRecord[] {
  const occurredAt = after.updatedAt;
  const finalizing = toEventRecord(invoiceFinalized, { after, before, occurredAt });
  if (after.status !== 'paid') return [finalizing];
  return [finalizing, toEventRecord(invoicePaid, { after, before, occurredAt })];
}
