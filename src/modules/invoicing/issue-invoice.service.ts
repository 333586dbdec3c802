import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { isWireSafe } from '../../core/money';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox, told, type ToldChange } from '../../platform/outbox';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import { BillingFactsService } from './billing-facts.service';
import { CreditGrantsRepository } from './credit-grants.repository';
import { creditAfter, grantOf, type StoredCreditGrant } from './domain/credit-grant';
import { type BillingFacts, decideInvoice } from './domain/decide-invoice';
import { finalized } from './domain/finalize';
import type { Invoice, InvoiceCoupon } from './domain/invoice';
import type { InvoiceOrder } from './domain/order';
import { buyerOf, type Parties } from './domain/parties';
import { InvoiceBooks } from './invoice-books';
import { invoiceTooLarge } from './invoicing.errors';
import { invoiceCreated, invoiceFinalized, invoicePaid } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { UsageReadingsService } from './usage-readings.service';

const DIGITS_OF_A_NUMBER = 6;

/** An invoice whose amounts are decided, with the credit that it becomes where it is negative. */
interface Draft {
  readonly invoice: Invoice;
  readonly added: StoredCreditGrant | null;
}

/** Makes invoices from orders, and finalises them: number, amounts, credit, coupons, books and events in one commit. */
@Injectable()
export class IssueInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly facts: BillingFactsService,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly customers: CustomersService,
    private readonly redemptions: RedemptionsService,
    private readonly books: InvoiceBooks,
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
    const facts = await this.facts.load(order, customer, now, 'preview', redeemed);
    return this.decide(order, facts, now);
  }

  /**
   * Makes invoices and finalises them, in the caller's transaction, in the order of their orders. Those of one customer
   * share its credit: each finds what the former left. An order that says nothing, no line, makes none.
   * @returns the invoices that were made
   * @throws {ProblemError} `invoice_too_large`, `customer_currency_mismatch`
   */
  async issueAll(orders: readonly InvoiceOrder[], now: Date): Promise<readonly Invoice[]> {
    this.database.requireTransaction();
    if (orders.length === 0) return [];
    const customers = await this.customers.fixCurrencies(orders);
    const factsOf = await this.facts.loadAll(orders, [...customers.values()], now, 'issue');
    const decided = this.decideAll(orders, factsOf, now);
    const drafts = decided.filter(({ invoice }) => invoice.lines.length > 0);
    const invoices = await this.settle(drafts, customers, now);
    await this.invoices.insertAll(invoices);
    await this.usage.record(
      orders.map((order, index) => {
        const { usage } = factsOf(order);
        return { order, usage, invoice: decided[index]?.invoice ?? null };
      }),
      now,
    );
    await this.outbox.recordAll(
      invoices.flatMap((invoice, index) => {
        const draft = drafts[index]?.invoice;
        invariant(draft !== undefined, 'every invoice was a draft');
        return [told(invoiceCreated, { after: draft, occurredAt: now }), ...toldOf(draft, invoice)];
      }),
    );
    return invoices;
  }

  /**
   * Finalises a draft whose amounts were decided in this transaction: nothing about it changes afterwards except its
   * payment state.
   */
  async finalize(draft: Invoice, customer: Customer, now: Date): Promise<Invoice> {
    this.database.requireTransaction();
    const drafts = [{ invoice: draft, added: grantOf(draft, newId('crd'), now) }];
    const [invoice] = await this.settle(drafts, new Map([[customer.id, customer]]), now);
    invariant(invoice !== undefined, `The draft ${draft.id} was finalised.`);
    await this.invoices.update(invoice);
    await this.outbox.recordAll(toldOf(draft, invoice));
    return invoice;
  }

  /**
   * What finalising drafts does beside their own rows: uses credit and coupons, posts, and numbers them in their order. The
   * numbers are taken last, so that their series is locked for the shortest time.
   */
  private async settle(
    drafts: readonly Draft[],
    customers: ReadonlyMap<string, Customer>,
    now: Date,
  ): Promise<readonly Invoice[]> {
    const invoices = drafts.map(({ invoice }) => invoice);
    await this.grants.insertAll(drafts.flatMap(({ added }) => added ?? []));
    await this.grants.useAll(invoices.flatMap(({ credits }) => credits));
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
    await this.books.postFinalized(invoices, now);
    const numbers = await this.takeNumbers(
      invoices.map(({ customerId }) => seriesOf(customers.get(customerId))),
    );
    return invoices.map((draft, index) => {
      const parties = this.partiesOf(customers.get(draft.customerId));
      const number = numbers[index];
      invariant(number !== undefined, 'every invoice has a number');
      const invoice = finalized(draft, number, parties, now);
      return { ...invoice, version: draft.version + 1 };
    });
  }

  private partiesOf(customer: Customer | undefined): Parties {
    invariant(customer !== undefined, 'the customer of an invoice was read');
    return { seller: this.configuration.seller, buyer: buyerOf(customer) };
  }

  private decideAll(
    orders: readonly InvoiceOrder[],
    factsOf: (order: InvoiceOrder) => BillingFacts,
    now: Date,
  ): readonly Draft[] {
    const credit = new Map<string, BillingFacts['creditGrants']>();
    return orders.map((order) => {
      const facts = factsOf(order);
      const creditGrants = credit.get(order.customerId) ?? facts.creditGrants;
      const invoice = this.decide(order, { ...facts, creditGrants }, now);
      const added = grantOf(invoice, newId('crd'), now);
      credit.set(order.customerId, creditAfter(creditGrants, invoice.credits, added));
      return { invoice, added };
    });
  }

  private decide(order: InvoiceOrder, facts: BillingFacts, now: Date): Invoice {
    const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
    const invoice = decideInvoice(order, facts, ids, now);
    const amounts = invoice.lines.flatMap(({ amount, tax }) => [amount, tax]);
    const totals = [invoice.subtotal, invoice.tax, invoice.total];
    if (![...amounts, ...totals].every(isWireSafe)) throw invoiceTooLarge();
    return invoice;
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

/** Customers on test clocks have a series of their own: no test leaves a gap in the books. */
function seriesOf(customer: Customer | undefined): string {
  invariant(customer !== undefined, 'the customer of an invoice was read');
  return customer.testClockId === null ? 'INV' : 'TEST';
}

function toApplied({ redemptionId, amountMinor, duration, amountOffMinor }: InvoiceCoupon) {
  const unusedMinor = duration === 'once' ? (amountOffMinor ?? amountMinor) - amountMinor : 0n;
  return { redemptionId, amountMinor, unusedMinor };
}

/** What finalising tells. */
function toldOf(before: Invoice, after: Invoice): readonly ToldChange[] {
  const occurredAt = after.updatedAt;
  const finalizing = told(invoiceFinalized, { after, before, occurredAt });
  if (after.status !== 'paid') return [finalizing];
  return [finalizing, told(invoicePaid, { after, before, occurredAt })];
}
