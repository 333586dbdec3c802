import { greater, lesser } from '../../../core/money';
import {
  type GivenBack,
  lostForRefunds,
  maxRefundableByNote,
  owedOf,
  type Settlement,
} from './credit-note';
import type { Invoice, InvoiceLine } from './invoice';

/** The largest total of a further credit note, and the amounts that lower it. In minor units, with tax. */
export interface NoteLimit {
  readonly creditableTotalMinor: bigint;
  /** Charges of the invoice. A line that lowers a charge to its maximum is subtracted; other negative lines are not. */
  readonly chargedMinor: bigint;
  /**
   * Negative lines such as a one-off line of -400. Excludes lines that lower a charge to its maximum, and lines that
   * credit other invoices.
   */
  readonly takenOffMinor: bigint;
  /** Credits and usage corrections on this invoice that give back charges of other invoices. */
  readonly onInvoiceMinor: bigint;
  /** Charges of this invoice that later invoices credited. */
  readonly laterMinor: bigint;
  readonly creditNotesMinor: bigint;
  /** Refunded without a credit note. 0 if the new note is settled by refund, because it may document such refunds. */
  readonly refundedMinor: bigint;
  /** Lost in disputes without a credit note. */
  readonly lostMinor: bigint;
  /**
   * Credit that the invoice used, from payments that were later refunded or lost in disputes. It limits only a note
   * that refunds pay out in part: the credit that any other note gives covers the loss. 0 if it does not limit the new
   * note.
   */
  readonly lostCreditMinor: bigint;
}

/**
 * Returns the largest total of a further note. It is the smaller of two amounts:
 * - the amount owed, plus the amount paid (in money or by credit) that earlier notes did not give back
 * - the amount of the charges that was not credited yet
 *
 * Both exclude amounts that went back to the customer without a note: `refundedMinor`, `lostMinor` and
 * `lostCreditMinor` of {@link NoteLimit}.
 */
export function limitOfNote(invoice: Invoice, settle: Settlement, given: GivenBack): NoteLimit {
  const { toReceivableMinor, toCreditMinor, toRefundMinor, held } = given;
  const withoutNoteMinor = givenBackWithoutNote(invoice, settle, given);
  const loweredMinor = invoice.amountCredited - toReceivableMinor;
  const paidMinor = invoice.amountPaid + invoice.creditApplied + loweredMinor;
  const left = paidMinor - toCreditMinor - toRefundMinor - withoutNoteMinor;
  const owedMinor = owedOf(invoice);
  const allMinor = lesser(owedMinor + greater(left, 0n), held.heldMinor - withoutNoteMinor);
  const refundableMinor = settle === 'refund' ? maxRefundableByNote(invoice, given) : 0n;
  const isLimitedByCredit =
    refundableMinor > 0n && owedMinor + refundableMinor > allMinor - given.lostCreditMinor;
  const lostCreditMinor = isLimitedByCredit ? given.lostCreditMinor : 0n;
  const creditableMinor = greater(allMinor - lostCreditMinor, lesser(allMinor, owedMinor));
  const takenOff = invoice.lines.filter(
    (line) => line.amount < 0n && line.kind !== 'maximum' && !givesBack(line),
  );
  const onInvoiceMinor = -grossOf(invoice.lines.filter(givesBack));
  const takenOffMinor = -grossOf(takenOff);
  const chargedMinor = invoice.total + onInvoiceMinor + takenOffMinor;
  const creditNotesMinor = toReceivableMinor + toCreditMinor + toRefundMinor;
  const refundedMinor = settle === 'refund' ? 0n : greater(given.refundedMinor - toRefundMinor, 0n);
  return {
    creditableTotalMinor: greater(creditableMinor, 0n),
    chargedMinor,
    takenOffMinor,
    onInvoiceMinor,
    laterMinor: invoice.total + onInvoiceMinor - creditNotesMinor - held.heldMinor,
    creditNotesMinor,
    refundedMinor,
    lostMinor: withoutNoteMinor - refundedMinor,
    lostCreditMinor,
  };
}

/**
 * Returns the amount given back without a credit note: by lost disputes and, if the new note is settled by credit, also
 * by refunds.
 */
function givenBackWithoutNote(
  { amountPaid }: Invoice,
  settle: Settlement,
  given: GivenBack,
): bigint {
  if (settle === 'refund') return lostForRefunds(amountPaid, given);
  return greater(given.refundedMinor + given.lostMinor - given.toRefundMinor, 0n);
}

/** Returns true if a line gives back charges of other invoices: a credit, or a negative usage correction. */
function givesBack({ creditsLineId, amount, trace }: InvoiceLine): boolean {
  return (
    creditsLineId !== null ||
    (amount < 0n && trace.kind === 'usage' && trace.corrects?.taken !== undefined)
  );
}

function grossOf(lines: readonly InvoiceLine[]): bigint {
  return lines.reduce((sum, { net, tax }) => sum + net + tax, 0n);
}

export function explainLimit(limit: NoteLimit): string {
  const { chargedMinor, takenOffMinor, onInvoiceMinor, laterMinor, creditNotesMinor } = limit;
  const { refundedMinor, lostMinor, lostCreditMinor } = limit;
  // Credits on this invoice lower the amount paid for it. Credits on later invoices lower what is left of its charges.
  // The larger of the two limits the note.
  const isOnInvoice = onInvoiceMinor >= laterMinor;
  const parts = [
    [takenOffMinor, 'taken off by negative lines'],
    [isOnInvoice ? onInvoiceMinor : 0n, 'credited by lines of the same invoice'],
    [isOnInvoice ? 0n : laterMinor, 'credited by later invoices'],
    [creditNotesMinor, 'credited by other credit notes'],
    [refundedMinor, 'refunded without a credit note'],
    [lostMinor, 'lost in disputes without a credit note'],
    [lostCreditMinor, 'credit of payments that were refunded or lost'],
  ] as const;
  const taken = parts
    .filter(([amountMinor]) => amountMinor > 0n)
    .map(([amountMinor, how]) => `${amountMinor} were ${how}`);
  return [`${chargedMinor} were charged`, ...taken].join(', ');
}
