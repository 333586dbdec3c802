import { Injectable } from '@nestjs/common';
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
import { changedAt } from '../../core/next-version';
import { LedgerService } from '../ledger';
import type { CreditNote } from './domain/credit-note';
import type { EarnedPeriod } from './domain/earned-period';
import { amountRemaining, type Invoice } from './domain/invoice';
import { InvoicesRepository } from './invoices.repository';

/** Credit from a negative invoice that lowered the amounts owed on other invoices of its subscription. */
export interface UsedCredit {
  readonly invoice: Invoice;
  readonly amountMinor: bigint;
  /** Part of the amount that lowered invoices which had been written off (status `uncollectible`). */
  readonly recoveredMinor: bigint;
  readonly usedAt: Date;
}

/** Returns the ledger transaction of an invoice when it is finalized. */
export function transactionOf({ currency, lines, creditApplied }: Invoice): LedgerTransaction {
  return postInvoice({
    currency,
    lines: lines.map(({ net, discount, tax, isInAdvance }) => ({
      netMinor: net,
      discountMinor: discount,
      taxMinor: tax,
      isDeferred: isInAdvance,
    })),
    creditAppliedMinor: creditApplied,
  });
}

@Injectable()
export class InvoicePostings {
  constructor(
    private readonly ledger: LedgerService,
    private readonly invoices: InvoicesRepository,
  ) {}

  /**
   * Posts finalized invoices. Revenue of lines billed in advance is deferred until their period is over. Recognizes the
   * deferred revenue of the periods in `earned`. The revenue of a line is never recognized twice.
   * @param invoices finalized in this transaction but not stored as finalized yet. Lines with `isReleased` are earned
   *   already: this call both defers and recognizes their revenue
   * @param earned periods that are over, at most one for each subscription
   */
  async postFinalized(
    invoices: readonly Invoice[],
    earned: readonly EarnedPeriod[],
    now: Date,
  ): Promise<void> {
    const stored = await this.invoices.releaseLines(earned);
    const invoicesOf = (subscriptionId: string): readonly Invoice[] =>
      invoices.filter((invoice) => invoice.subscriptionId === subscriptionId);
    const releasedMinor = (subscriptionId: string): bigint =>
      invoicesOf(subscriptionId)
        .flatMap(({ lines }) => lines.filter(({ isReleased }) => isReleased))
        .reduce((total, { net }) => total + net, stored.get(subscriptionId)?.netMinor ?? 0n);
    const posted = invoices.map((invoice) => ({
      ...transactionOf(invoice),
      sourceId: invoice.id,
      customerId: invoice.customerId,
      occurredAt: changedAt(now, invoice),
    }));
    const released = earned.map(({ id, subscriptionId, customerId, currency }) => ({
      ...postRevenueRelease(currency, releasedMinor(subscriptionId)),
      sourceId: id,
      customerId,
      occurredAt: changedAt(now, stored.get(subscriptionId) ?? null, ...invoicesOf(subscriptionId)),
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

  /** Reverses all postings of an invoice, including the recognition of its deferred revenue. */
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

  /** Posts credit from finalized negative invoices that lowered the amounts owed on other invoices. */
  async postCreditApplied(used: readonly UsedCredit[]): Promise<void> {
    for (const { invoice, amountMinor, recoveredMinor, usedAt } of used) {
      await this.post(invoice, postRecovery(invoice.currency, recoveredMinor), usedAt);
      await this.post(invoice, postCreditApplied(invoice.currency, amountMinor), usedAt);
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
   * Reverses the postings of a credit note. This restores the deferred revenue that the note had reduced. Revenue of
   * some lines may have been recognized after the note was issued. Then the restored revenue of these lines is
   * recognized too.
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
