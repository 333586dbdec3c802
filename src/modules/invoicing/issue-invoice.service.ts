import { Injectable } from '@nestjs/common';
import { isWireSafe } from '../../core/money';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { type RedeemedTerms, RedemptionsService } from '../coupons';
import { type Customer, CustomersService } from '../customers';
import { BillingFactsService } from './billing-facts.service';
import { CreditGrantsRepository } from './credit-grants.repository';
import { decideInvoice } from './domain/decide-invoice';
import { finalized } from './domain/finalize';
import type { Invoice } from './domain/invoice';
import type { InvoiceOrder } from './domain/order';
import { InvoiceBooks } from './invoice-books';
import { invoiceTooLarge } from './invoicing.errors';
import { invoiceCreated, invoiceFinalized, invoicePaid } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';

const DIGITS_OF_A_NUMBER = 6;

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
    private readonly outbox: Outbox,
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
   * Makes the invoice and finalises it, in the caller's transaction. Null where there is nothing to say: no line.
   * @throws {ProblemError} `invoice_too_large`, `customer_currency_mismatch`
   */
  async issue(order: InvoiceOrder, now: Date): Promise<Invoice | null> {
    this.database.requireTransaction();
    const customer = await this.customers.fixCurrency(order.customerId, order.currency);
    const facts = await this.facts.load(order, customer, now, 'issue');
    const draft = this.decide(order, facts, now);
    if (draft.lines.length === 0) return null;
    await this.invoices.insert(draft);
    await this.outbox.record(invoiceCreated, { after: draft, occurredAt: now });
    return this.finalize(draft, customer, now);
  }

  /**
   * Finalises a draft whose amounts were decided in this transaction: nothing about it changes afterwards except its
   * payment state. The number is taken last, so that its series is locked for the shortest time.
   */
  async finalize(draft: Invoice, customer: Customer, now: Date): Promise<Invoice> {
    this.database.requireTransaction();
    await this.useCredit(draft, now);
    for (const line of draft.lines) {
      if (line.creditsLineId === null) continue;
      await this.invoices.addCredited(line.creditsLineId, -line.amount);
    }
    for (const { redemptionId, amountMinor, duration, amountOffMinor } of draft.coupons) {
      const unusedMinor = duration === 'once' ? (amountOffMinor ?? amountMinor) - amountMinor : 0n;
      await this.redemptions.noteApplied(redemptionId, { amountMinor, unusedMinor }, now);
    }
    await this.books.postFinalized(draft, now);
    const invoice = {
      ...finalized(draft, await this.nextNumber(customer), now),
      version: draft.version + 1,
    };
    await this.invoices.update(invoice);
    await this.outbox.record(invoiceFinalized, { after: invoice, before: draft, occurredAt: now });
    if (invoice.status === 'paid') {
      await this.outbox.record(invoicePaid, { after: invoice, before: draft, occurredAt: now });
    }
    return invoice;
  }

  private decide(
    order: InvoiceOrder,
    facts: Parameters<typeof decideInvoice>[1],
    now: Date,
  ): Invoice {
    const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
    const invoice = decideInvoice(order, facts, ids, now);
    const amounts = invoice.lines.flatMap(({ amount, tax }) => [amount, tax]);
    const totals = [invoice.subtotal, invoice.tax, invoice.total];
    if (![...amounts, ...totals].every(isWireSafe)) throw invoiceTooLarge();
    return invoice;
  }

  private async useCredit(draft: Invoice, now: Date): Promise<void> {
    for (const { creditId, amountMinor } of draft.credits) {
      await this.grants.use(creditId, amountMinor);
    }
    if (draft.creditedToBalance === 0n) return;
    await this.grants.insert({
      id: newId('crd'),
      customerId: draft.customerId,
      currency: draft.currency,
      amount: draft.creditedToBalance,
      remaining: draft.creditedToBalance,
      sourceId: draft.id,
      createdAt: now,
    });
  }

  /** Customers on test clocks have a series of their own: no test leaves a gap in the books. */
  private async nextNumber({ testClockId }: Customer): Promise<string> {
    const series = testClockId === null ? 'INV' : 'TEST';
    const number = await this.invoices.takeNumber(series);
    return `${series}-${number.toString().padStart(DIGITS_OF_A_NUMBER, '0')}`;
  }
}
