import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  postCreditApplied,
  postCreditNote,
  postInvoice,
  postRecovery,
  postRevenueRelease,
  postVoid,
  postWriteOff,
  type LedgerTransaction,
} from '../../core/ledger';
import { LedgerChecks, LedgerService, postedRows } from '../ledger';
import type { CreditNote } from './domain/credit-note';
import type { EarnedPeriod } from './domain/earned-period';
import { amountRemaining, type Invoice } from './domain/invoice';
import { InvoicesRepository } from './invoices.repository';
import {
  CREDIT_OF_INVOICES_ROWS,
  DEFERRED_NOTE_ROWS,
  DEFERRED_ROWS,
  DISCOUNT_ROWS,
  INVOICE_AMOUNT_ROWS,
  LINE_AMOUNT_ROWS,
  RECEIVABLE_ROWS,
  REVENUE_ROWS,
  TAX_ROWS,
  USED_CREDIT_ROWS,
  WRITTEN_OFF_ROWS,
} from './summed-rows';

/** Credit from a negative invoice that lowered what is owed on other invoices of its subscription. */
export interface UsedCredit {
  readonly invoice: Invoice;
  readonly amountMinor: bigint;
  /** Part of the amount that lowered uncollectible invoices. */
  readonly recoveredMinor: bigint;
}

/** Posts changes of invoices to the ledger, and checks that the ledger equals the invoices. */
@Injectable()
export class InvoicePostings implements OnModuleInit {
  constructor(
    private readonly ledger: LedgerService,
    private readonly checks: LedgerChecks,
    private readonly invoices: InvoicesRepository,
  ) {}

  onModuleInit(): void {
    this.checks.registerSums({
      name: 'receivables_equal_open_invoices',
      left: { name: 'stored', sql: [RECEIVABLE_ROWS] },
      right: { name: 'ledger', sql: [postedRows('accounts_receivable')] },
    });
    this.checks.registerSums({
      name: 'write_offs_equal_uncollectible_invoices',
      left: { name: 'stored', sql: [WRITTEN_OFF_ROWS] },
      right: { name: 'ledger', sql: [postedRows('bad_debt')] },
    });
    this.checks.registerSums({
      name: 'invoices_equal_their_lines',
      left: { name: 'invoices', sql: [INVOICE_AMOUNT_ROWS] },
      right: { name: 'lines', sql: [LINE_AMOUNT_ROWS] },
    });
    this.checks.registerSums({
      name: 'discounts_equal_invoices',
      left: { name: 'stored', sql: [DISCOUNT_ROWS] },
      right: { name: 'ledger', sql: [postedRows('discounts')] },
    });
    this.checks.registerSums({
      name: 'taxes_equal_invoices_less_credit_notes',
      left: { name: 'stored', sql: TAX_ROWS },
      right: { name: 'ledger', sql: [postedRows('tax_payable', -1)] },
    });
    this.checks.registerSums({
      name: 'revenue_equals_invoices_less_credit_notes',
      left: { name: 'stored', sql: REVENUE_ROWS },
      right: {
        name: 'ledger',
        sql: [postedRows('revenue', -1), postedRows('deferred_revenue', -1)],
      },
    });
    this.checks.registerSums({
      name: 'deferred_revenue_equals_lines_not_released',
      left: { name: 'stored', sql: [DEFERRED_ROWS] },
      right: { name: 'ledger', sql: [postedRows('deferred_revenue', -1)] },
    });
    this.checks.registerSums({
      name: 'deferred_parts_of_credit_notes_equal_postings',
      left: { name: 'credit notes', sql: [DEFERRED_NOTE_ROWS] },
      right: { name: 'ledger', sql: [postedRows('deferred_revenue', 1, 'credit_note')] },
    });
    this.checks.registerSums({
      name: 'used_credit_of_payments_equals_invoices',
      left: { name: 'credits', sql: [USED_CREDIT_ROWS] },
      right: { name: 'invoices', sql: CREDIT_OF_INVOICES_ROWS },
    });
  }

  /**
   * Posts finalized invoices, and recognizes the deferred revenue of closed periods. Revenue of lines billed in
   * advance is deferred until their period is closed. The revenue of each line is released once.
   * @param invoices finalized in this transaction but not stored as finalized yet. `isReleased` marks lines of
   *   closed periods, whose revenue is released at once
   * @param earned closed periods, at most one for each subscription
   */
  async postFinalized(
    invoices: readonly Invoice[],
    earned: readonly EarnedPeriod[],
    now: Date,
  ): Promise<void> {
    const stored = await this.invoices.releaseLines(earned);
    const releasedMinor = (subscriptionId: string): bigint =>
      invoices
        .filter((invoice) => invoice.subscriptionId === subscriptionId)
        .flatMap(({ lines }) => lines.filter(({ isReleased }) => isReleased))
        .reduce((total, { net }) => total + net, stored.get(subscriptionId) ?? 0n);
    const posted = invoices.map((invoice) => ({
      ...postInvoice({
        currency: invoice.currency,
        lines: invoice.lines.map(({ net, discount, tax, isInAdvance }) => ({
          netMinor: net,
          discountMinor: discount,
          taxMinor: tax,
          isDeferred: isInAdvance,
        })),
        creditAppliedMinor: invoice.creditApplied,
      }),
      sourceId: invoice.id,
      customerId: invoice.customerId,
      occurredAt: now,
    }));
    const released = earned.map(({ id, subscriptionId, customerId, currency }) => ({
      ...postRevenueRelease(currency, releasedMinor(subscriptionId)),
      sourceId: id,
      customerId,
      occurredAt: now,
    }));
    // Alternates invoices and revenue releases, so that a query for one account skips few transactions of other
    // accounts.
    await this.ledger.postAll(
      Array.from({ length: Math.max(posted.length, released.length) }, (_, index) => [
        ...posted.slice(index, index + 1),
        ...released.slice(index, index + 1),
      ]).flat(),
    );
  }

  /** Reverses all postings of the invoice, released revenue included. */
  async postVoided(invoice: Invoice, now: Date): Promise<void> {
    const releasedMinor = invoice.lines
      .filter(({ isReleased }) => isReleased)
      .reduce((total, { net }) => total + net, 0n);
    const posted = await this.ledger.transactionsOf(invoice.id);
    await this.post(invoice, postVoid(invoice.currency, posted), now);
    await this.post(invoice, postRevenueRelease(invoice.currency, -releasedMinor), now);
  }

  async postUncollectible(invoice: Invoice, now: Date): Promise<void> {
    await this.post(invoice, postWriteOff(invoice.currency, amountRemaining(invoice)), now);
  }

  /** Posts the credit of finalized negative invoices that lowered other invoices. */
  async postCreditApplied(used: readonly UsedCredit[], now: Date): Promise<void> {
    for (const { invoice, amountMinor, recoveredMinor } of used) {
      await this.post(invoice, postRecovery(invoice.currency, recoveredMinor), now);
      await this.post(invoice, postCreditApplied(invoice.currency, amountMinor), now);
    }
  }

  async postNote(note: CreditNote, now: Date): Promise<void> {
    const transaction = postCreditNote({
      currency: note.currency,
      netMinor: note.net,
      taxMinor: note.tax,
      deferredMinor: note.deferred,
      toReceivableMinor: note.toReceivable,
      toCreditMinor: note.toCredit,
      toRefundMinor: note.toRefund,
    });
    await this.post(note, transaction, now);
  }

  /**
   * Reverses the postings of a credit note. This restores the deferred revenue that the note had reduced. Then
   * releases this revenue for lines whose other revenue was released in the meantime.
   * @param deferredMinor the part of the net amount of the note that is on lines whose revenue is still deferred
   */
  async postNoteVoided(note: CreditNote, deferredMinor: bigint, now: Date): Promise<void> {
    const posted = await this.ledger.transactionsOf(note.id);
    await this.post(note, postVoid(note.currency, posted), now);
    const earnedMinor =
      note.deferred - (deferredMinor < note.deferred ? deferredMinor : note.deferred);
    await this.post(note, postRevenueRelease(note.currency, earnedMinor), now);
  }

  private async post(
    { id, customerId }: { readonly id: string; readonly customerId: string },
    transaction: LedgerTransaction,
    occurredAt: Date,
  ): Promise<void> {
    await this.ledger.post(transaction, { sourceId: id, customerId, occurredAt });
  }
}
