import { Injectable } from '@nestjs/common';
import {
  type CreditableLine,
  type CreditNoteAmounts,
  type CreditNoteLine,
  creditNoteOfRest,
  CreditNoteParts,
} from '../../core/invoice';
import { greater } from '../../core/money';
import { changedAt, nextVersion } from '../../core/next-version';
import type { ListSummary, Page, PageRequest } from '../../platform/database';
import { currentActor } from '../../platform/access';
import { invalidTransition, referenceNotFound, raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { LedgerService } from '../ledger';
import { BilledTogetherRepository } from './billed-together.repository';
import { CreditGrantsRepository } from './credit-grants.repository';
import { CreditNotesRepository } from './credit-notes.repository';
import { newGrant } from './domain/credit-grant';
import {
  addShares,
  amountOfCredit,
  countCredits,
  type CreditNote,
  type CreditNoteFilter,
  type CreditNoteRequest,
  deferredOf,
  type GivenBack,
  maxRefundableByNote,
  settlementOf,
  toCreditable,
} from './domain/credit-note';
import { type ReturnedAmounts, type ReturnedMoney, NOTHING_RETURNED } from './domain/given-back';
import type { Invoice } from './domain/invoice';
import { withCredit } from './domain/invoice-payment';
import { limitOfNote } from './domain/note-limit';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { InvoicePostings } from './invoice-postings';
import { InvoicesRepository } from './invoices.repository';
import {
  creditExceedsLine,
  creditGivenBackAlready,
  creditTakesNothing,
  creditNoteCorrected,
  creditNoteNotFound,
  creditNoteSettled,
  invoiceNotCreditable,
} from './invoicing.errors';
import {
  creditNoteIssued,
  creditNoteVoided,
  invoicePaid,
  invoiceUpdated,
} from './invoicing.events';

/** A credit note, and the invoice as the note changed it. */
export interface IssuedCreditNote {
  readonly note: CreditNote;
  readonly invoice: Invoice;
}

/** An issued credit note, and limits for further credit notes on the invoice, in minor units. */
export interface CreditNoteWithLimits extends IssuedCreditNote {
  /** Largest amount that refunds could pay out for further credit notes. */
  readonly leftToRefund: bigint;
  /** Largest total of further credit notes with the same `settle` (refund or credit) as this note. */
  readonly leftToGiveBack: bigint;
  /**
   * Credit that paid the invoice, if the payment of the credit was later refunded or lost in a dispute. Excludes
   * amounts that other unused credit, or the credit of this note, covers. 0 if it already lowers `leftToGiveBack`.
   */
  readonly lostCredit: bigint;
}

@Injectable()
export class CreditNotesService {
  constructor(
    private readonly notes: CreditNotesRepository,
    private readonly invoices: InvoicesRepository,
    private readonly together: BilledTogetherRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly held: HeldByInvoiceRepository,
    private readonly postings: InvoicePostings,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
  ) {}

  /** @throws {ProblemError} `credit_note_not_found` */
  async get(id: string): Promise<CreditNote> {
    return (await this.notes.find(id)) ?? raise(creditNoteNotFound(id));
  }

  list(filter: CreditNoteFilter, request: PageRequest): Promise<Page<CreditNote>> {
    return this.notes.page(filter, request);
  }

  summarize(filter: CreditNoteFilter): Promise<readonly ListSummary[]> {
    return this.notes.summarize(filter);
  }

  /**
   * Issues a credit note for the requested net amounts and the tax on them. The note first lowers the amount owed on
   * the invoice. If `settle` of the request is `refund`, refunds pay out the rest, as far as possible; otherwise the
   * rest becomes credit. Runs in the caller's transaction, which has locked the invoice. Before the note gets its
   * number, locks the available credit of the customer: the caller may cover losses or refund a payment with it, and
   * all other notes wait for the next number until this transaction ends.
   * @param returned amounts that refunds and lost disputes took from the payments of the invoice, and from the credit
   *   that the invoice used
   * @returns the note, the changed invoice, and the limits of further notes
   * @throws {ProblemError} `reference_not_found`, `invoice_not_creditable`, `credit_exceeds_line`,
   *   `credit_takes_nothing`, `credit_given_back_already`
   */
  async issue(
    request: CreditNoteRequest,
    invoice: Invoice,
    returned: ReturnedAmounts,
    now: Date,
  ): Promise<CreditNoteWithLimits> {
    if (invoice.status !== 'open' && invoice.status !== 'paid') {
      throw invoiceNotCreditable(invoice.id, invoice.status);
    }
    const credited = creditedBy(request, await this.creditableLines(invoice));
    const held = await this.held.heldByInvoice(invoice.id);
    const given = { ...(await this.notes.givenOf(invoice.id)), ...returned, held };
    const limit = limitOfNote(invoice, request.settle, given);
    if (credited.totalMinor > limit.creditableTotalMinor) {
      throw creditGivenBackAlready(
        `${request.pointer}/lines`,
        invoice.id,
        credited.totalMinor,
        limit,
      );
    }
    await this.grants.open([invoice.customerId], true);
    const issued = await this.issueOf(invoice, credited, request, now, given);
    return {
      ...issued,
      leftToRefund: maxRefundableByNote(invoice, given) - issued.note.toRefund,
      leftToGiveBack: limit.creditableTotalMinor - credited.totalMinor,
      lostCredit: greater(given.lostCreditMinor - limit.lostCreditMinor - issued.note.toCredit, 0n),
    };
  }

  /**
   * Credits everything that is still left of an open invoice. The note first lowers the amount owed; the rest becomes
   * credit of the customer. Runs in the caller's transaction, which has locked the invoice and the available credit of
   * the customer, and has already turned the money paid for the invoice into credit.
   * @param before the invoice before its payments became credit; the event shows it as the previous state
   */
  async creditUnpaid(before: Invoice, reason: string, now: Date): Promise<CreditNote> {
    const invoice = { ...before, amountPaid: 0n };
    const credited = creditNoteOfRest(await this.creditableLines(invoice));
    const terms = { reason, settle: 'credit' } as const;
    const given = { toRefundMinor: 0n, ...NOTHING_RETURNED };
    return (await this.issueOf(invoice, credited, terms, now, given, before)).note;
  }

  /**
   * Voids a credit note in the caller's transaction, which has locked the invoice. The amount that the note took off
   * the invoice is owed again, and the credit that the note gave is taken back. Refused in three cases:
   * - The credit was used.
   * - The note lowered the amount owed, and the invoice is no longer open.
   * - A later invoice credited unused time of the credited lines, or lowered the amount billed for their usage. Without
   *   the note, that invoice would have given back more.
   * @throws {ProblemError} `credit_note_not_found`, `invalid_transition`, `credit_note_corrected`,
   *   `credit_note_settled`
   */
  async void(id: string, invoice: Invoice, readAt: Date): Promise<CreditNote> {
    const before = await this.get(id);
    if (before.status !== 'issued') throw invalidTransition('credit note', before.status, 'void');
    const lineIds = before.lines.map(({ lineId }) => lineId);
    const takenBackBy = await this.together.takenBackSince(lineIds, before.createdAt);
    if (takenBackBy !== null) throw creditNoteCorrected(id, takenBackBy);
    const isSettled = before.toReceivable > 0n && invoice.status !== 'open';
    if (isSettled || !(await this.takeCreditBack(before))) throw creditNoteSettled(id);
    const now = await this.voidedAt(before, invoice, readAt);
    for (const line of before.lines) {
      await this.creditLine(invoice, line, -1n);
    }
    await this.postings.postNoteVoided(before, deferredOf(invoice, before.lines), now);
    const voided = { status: 'void', voidedAt: now, voidedBy: currentActor() } as const;
    const after = nextVersion(before, now, voided);
    await this.notes.update(after);
    await this.outbox.record(creditNoteVoided, { after, before, occurredAt: now });
    if (before.toReceivable > 0n) {
      const owed = nextVersion(invoice, now, {
        amountCredited: invoice.amountCredited - before.toReceivable,
      });
      await this.invoices.update(owed);
      await this.outbox.record(invoiceUpdated, { after: owed, before: invoice, occurredAt: now });
    }
    return after;
  }

  /** Returns the lines of an invoice, with the credits on later invoices added to their credited amounts. */
  private async creditableLines(invoice: Invoice): Promise<readonly CreditableLine[]> {
    const credits = await this.held.creditLinesOf(invoice.id);
    const withLaterCredits = countCredits(invoice, await this.invoices.findLines(credits));
    return toCreditable(withLaterCredits, await this.together.billedElsewhere(invoice.id));
  }

  private async issueOf(
    invoice: Invoice,
    credited: CreditNoteAmounts,
    { reason, settle }: Pick<CreditNoteRequest, 'reason' | 'settle'>,
    now: Date,
    given: Pick<GivenBack, 'toRefundMinor' | keyof ReturnedMoney>,
    before: Invoice = invoice,
  ): Promise<IssuedCreditNote> {
    const settled = settlementOf(invoice, credited.totalMinor, settle, given);
    const note: CreditNote = {
      id: newId('cn'),
      version: 1,
      number: await this.nextNumber(invoice),
      status: 'issued',
      invoiceId: invoice.id,
      customerId: invoice.customerId,
      currency: invoice.currency,
      reason,
      settle,
      net: credited.netMinor,
      tax: credited.taxMinor,
      total: credited.totalMinor,
      deferred: deferredOf(invoice, credited.lines),
      ...settled,
      creditId: settled.toCredit > 0n ? newId('crd') : null,
      lines: credited.lines,
      actor: currentActor(),
      voidedAt: null,
      voidedBy: null,
      createdAt: now,
      updatedAt: now,
    };
    return { note, invoice: await this.apply(note, invoice, before, now) };
  }

  private async apply(
    note: CreditNote,
    invoice: Invoice,
    before: Invoice,
    now: Date,
  ): Promise<Invoice> {
    await this.notes.insert(note);
    for (const line of note.lines) await this.creditLine(invoice, line, 1n);
    if (note.creditId !== null) {
      const { creditId: id, id: sourceId, customerId, currency, toCredit: amount } = note;
      await this.grants.insert(
        newGrant({ id, customerId, currency, amount, sourceId, createdAt: now }),
      );
    }
    await this.postings.postNote(note, now);
    await this.outbox.record(creditNoteIssued, { after: note, occurredAt: now });
    if (note.toReceivable === 0n && invoice.amountPaid === before.amountPaid) return invoice;
    const after = withCredit(invoice, note.toReceivable, now);
    await this.invoices.update(after);
    const event = after.status === invoice.status ? invoiceUpdated : invoicePaid;
    await this.outbox.record(event, { after, before, occurredAt: now });
    return after;
  }

  /**
   * Adds the amounts of a credit note line to the credited amounts of its invoice line, or subtracts them (`sign` -1).
   */
  private async creditLine(invoice: Invoice, part: CreditNoteLine, sign: 1n | -1n): Promise<void> {
    const line = invoice.lines.find(({ id }) => id === part.lineId);
    if (line === undefined) return;
    await this.invoices.updateCredited({
      ...line,
      credited: line.credited + sign * amountOfCredit(invoice, part),
      creditedNet: line.creditedNet + sign * part.netMinor,
      creditedTaxShares: addShares(line, part, sign),
    });
  }

  /**
   * Returns the time of the void: `readAt`, or the last change of the note or of the customer's credit if that is
   * later.
   */
  private async voidedAt(note: CreditNote, invoice: Invoice, readAt: Date): Promise<Date> {
    if (note.creditId === null || invoice.testClockId !== null) return changedAt(readAt, note);
    const latest = await this.ledger.latestAfter([note.customerId], readAt);
    return changedAt(latest.get(note.customerId) ?? readAt, note);
  }

  private async takeCreditBack({ creditId, toCredit }: CreditNote): Promise<boolean> {
    return creditId === null || this.grants.tryUse(creditId, toCredit);
  }

  private async nextNumber({ testClockId }: Invoice): Promise<string> {
    const series = testClockId === null ? 'CN' : 'TEST-CN';
    return `${series}-${(await this.invoices.takeNumbers(series, 1)).toString().padStart(6, '0')}`;
  }
}

function creditedBy(
  { lines: asked, pointer: at }: CreditNoteRequest,
  lines: readonly CreditableLine[],
): CreditNoteAmounts {
  const parts = new CreditNoteParts();
  asked.forEach(({ lineId, netMinor }, index) => {
    const line = lines.find((one) => one.lineId === lineId);
    const pointer = `${at}/lines/${index}`;
    if (line === undefined) throw referenceNotFound(`${pointer}/invoice_line_id`, lineId);
    const creditable = parts.creditableMinor(line);
    if (netMinor > creditable) throw creditExceedsLine(`${pointer}/amount`, creditable);
    if (netMinor === 0n && !parts.isOnlyTaxLeft(line)) {
      throw creditTakesNothing(`${pointer}/amount`, creditable);
    }
    parts.take(line, netMinor);
  });
  const credited = parts.amounts(lines);
  // A tax below zero elsewhere on the invoice can use up the tax that is left of a line.
  const empty = credited.lines.findIndex(({ netMinor, taxMinor }) => netMinor + taxMinor === 0n);
  if (empty !== -1) throw creditTakesNothing(`${at}/lines/${empty}/amount`, 0n);
  return credited;
}
