import { groupBy } from '../../../core/grouping';
import type { CreditableLine, CreditNoteLine, LeftTogether } from '../../../core/invoice';
import { type AmountRange, lesser, nonNegative } from '../../../core/money';
import type { TaxShare } from '../../../core/tax';
import type { InstantRange } from '../../../core/time';
import { type BilledElsewhere, billedTogetherKey } from './billed-together';
import type { HeldByInvoice, ReturnedAmounts, ReturnedMoney } from './given-back';
import { amountRemaining, type Invoice, type InvoiceLine } from './invoice';

export const CREDIT_NOTE_STATUSES = ['issued', 'void'] as const;
export type CreditNoteStatus = (typeof CREDIT_NOTE_STATUSES)[number];

/** A null field does not filter. */
export interface CreditNoteFilter {
  readonly customerId: string | null;
  readonly invoiceId: string | null;
  readonly statuses: readonly CreditNoteStatus[] | null;
  readonly currency: string | null;
  readonly total: AmountRange;
  readonly created: InstantRange;
}

export const SETTLEMENTS = ['credit', 'refund'] as const;
export type Settlement = (typeof SETTLEMENTS)[number];

/** Amounts taken off an invoice after it was finalized, in positive minor units. */
export interface CreditNote {
  readonly id: string;
  readonly version: number;
  readonly number: string;
  readonly status: CreditNoteStatus;
  readonly invoiceId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly reason: string;
  readonly settle: Settlement;
  readonly net: bigint;
  readonly tax: bigint;
  readonly total: bigint;
  /** Part of the net amount that was deferred revenue when the note was issued. */
  readonly deferred: bigint;
  /** Part of the total that lowered the unpaid amount of the invoice. */
  readonly toReceivable: bigint;
  readonly toCredit: bigint;
  /** Part of the total that is paid out by refunds. */
  readonly toRefund: bigint;
  /** The credit that the note added to the balance of the customer; null if it added none. */
  readonly creditId: string | null;
  readonly lines: readonly CreditNoteLine[];
  /** Principal that issued the note; null if not recorded. */
  readonly actor: string | null;
  readonly voidedAt: Date | null;
  /** Principal that voided the note; null if the note is not void, or if the principal was not recorded. */
  readonly voidedBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface CreditNoteRequest {
  readonly invoiceId: string;
  /**
   * Lines to credit, each with the net amount to take back. A net amount of 0 takes back the tax that is left on a line
   * whose net amount is already credited in full.
   */
  readonly lines: readonly { readonly lineId: string; readonly netMinor: bigint }[];
  readonly reason: string;
  readonly settle: Settlement;
  readonly pointer: string;
}

/**
 * Returns the part of the `amount` of an invoice line that a credit note line credits: its net amount plus inclusive
 * tax.
 */
export function amountOfCredit(
  invoice: Pick<Invoice, 'taxRates'>,
  part: Pick<CreditNoteLine, 'netMinor' | 'taxShares'>,
): bigint {
  const within = new Set(
    invoice.taxRates.filter(({ inclusive }) => inclusive).map(({ taxRateId }) => taxRateId),
  );
  return part.taxShares
    .filter(({ taxRateId }) => within.has(taxRateId))
    .reduce((total, { taxMinor }) => total + taxMinor, part.netMinor);
}

/**
 * Returns the lines of an invoice with the limits for crediting them. Two limits apply to the net amount and to the
 * tax:
 * - what is left of the line
 * - what is left of all lines of the invoice for the same item and period. This limit is lower if a maximum, or a usage
 *   correction on another invoice, reduced these lines.
 *
 * @param invoice result of {@link countCredits}
 */
export function toCreditable(
  { lines }: Invoice,
  elsewhere: BilledElsewhere,
): readonly CreditableLine[] {
  const creditable = [...groupBy(lines, billedTogetherKey).values()].flatMap((group) => {
    const together = leftOf(group, elsewhere);
    return group.map((line) => [line.id, creditableLine(line, together)] as const);
  });
  const byId = new Map(creditable);
  return lines.flatMap(({ id }) => byId.get(id) ?? []);
}

function leftOf(group: readonly InvoiceLine[], elsewhere: BilledElsewhere): LeftTogether {
  const other = group.flatMap(({ id }) => elsewhere.get(id) ?? []).at(0);
  return {
    netMinor: group.reduce(
      (sum, { net, creditedNet }) => sum + net - creditedNet,
      lesser(other?.netMinor ?? 0n, 0n),
    ),
    taxShares: sumByRate(
      [
        ...group.flatMap(({ taxShares }) => taxShares),
        ...(other?.taxShares ?? []).filter(({ taxMinor }) => taxMinor < 0n),
      ],
      group.flatMap(({ creditedTaxShares }) => creditedTaxShares),
    ),
  };
}

function creditableLine(line: InvoiceLine, together: LeftTogether): CreditableLine {
  return {
    lineId: line.id,
    netMinor: line.net,
    taxShares: line.taxShares,
    creditedNetMinor: line.creditedNet,
    creditedTaxShares: line.creditedTaxShares,
    together,
  };
}

/** Returns the tax of each tax rate: the sum in `shares` less the sum in `credited`. */
export function sumByRate(
  shares: readonly TaxShare[],
  credited: readonly TaxShare[],
): readonly TaxShare[] {
  const sums = new Map<string, bigint>();
  const addTo = (rate: string, minor: bigint): void => {
    sums.set(rate, (sums.get(rate) ?? 0n) + minor);
  };
  for (const { taxRateId, taxMinor } of shares) addTo(taxRateId, taxMinor);
  for (const { taxRateId, taxMinor } of credited) addTo(taxRateId, -taxMinor);
  return [...sums].map(([taxRateId, taxMinor]) => ({ taxRateId, taxMinor }));
}

/**
 * Adds the credit lines of later invoices to the credited net amounts and taxes of the lines of this invoice. A credit
 * for unused time names only the line of a charge. But it can also take back the true-up: the separate line that lifts
 * the charge to its minimum. The credit is counted on the charge first, and its rest on the true-up.
 *
 * @param credits credit lines of later invoices, for lines of this invoice
 */
export function countCredits(invoice: Invoice, credits: readonly InvoiceLine[]): Invoice {
  return credits.reduce(countCredit, invoice);
}

function countCredit(invoice: Invoice, credit: InvoiceLine): Invoice {
  const charge = invoice.lines.find(({ id }) => id === credit.creditsLineId);
  if (charge === undefined) return invoice;
  let netMinor = -credit.net;
  const taxes = new Map(
    credit.taxShares.map(({ taxRateId, taxMinor }) => [taxRateId, -taxMinor] as const),
  );
  const lines = invoice.lines.map((line): InvoiceLine => {
    const isMinimum =
      line.kind === 'minimum' && billedTogetherKey(line) === billedTogetherKey(charge);
    if (line !== charge && !isMinimum) return line;
    const takenMinor = lesser(netMinor, nonNegative(line.net - line.creditedNet));
    netMinor -= takenMinor;
    const creditedTaxShares = line.taxShares.map(({ taxRateId, taxMinor }) => {
      const credited = line.creditedTaxShares.find((share) => share.taxRateId === taxRateId);
      const creditedMinor = credited?.taxMinor ?? 0n;
      const taxTaken = lesser(taxes.get(taxRateId) ?? 0n, taxMinor - creditedMinor);
      taxes.set(taxRateId, (taxes.get(taxRateId) ?? 0n) - taxTaken);
      return { taxRateId, taxMinor: creditedMinor + taxTaken };
    });
    return { ...line, creditedNet: line.creditedNet + takenMinor, creditedTaxShares };
  });
  return { ...invoice, lines };
}

export interface GivenBack extends ReturnedAmounts {
  /**
   * Total of the issued credit notes, in three parts: `toReceivableMinor` lowered the amount due, `toCreditMinor`
   * became credit, and `toRefundMinor` is paid out by refunds.
   */
  readonly toReceivableMinor: bigint;
  readonly toCreditMinor: bigint;
  readonly toRefundMinor: bigint;
  readonly held: HeldByInvoice;
}

/**
 * Returns how much of a new credit note refunds can pay out: the paid money, less the money lost in disputes
 * ({@link lostForRefunds}), less the parts of earlier notes that refunds pay out. Never negative.
 */
export function maxRefundableByNote(
  { amountPaid }: Pick<Invoice, 'amountPaid'>,
  given: Pick<GivenBack, 'toRefundMinor' | keyof ReturnedMoney>,
): bigint {
  return nonNegative(amountPaid - lostForRefunds(amountPaid, given) - given.toRefundMinor);
}

/** Returns how much of the paid amount was lost in disputes, but at most the amount that was not refunded. */
export function lostForRefunds(
  paidMinor: bigint,
  { refundedMinor, lostMinor }: ReturnedMoney,
): bigint {
  return refundedMinor < paidMinor ? lesser(lostMinor, paidMinor - refundedMinor) : 0n;
}

/**
 * Splits the total of a note. The note first lowers the amount due. If `settle` is `refund`, refunds pay out the rest,
 * up to {@link maxRefundableByNote}. Any remaining part becomes credit, for example the part of the invoice that was
 * paid with credit.
 */
export function settlementOf(
  invoice: Invoice,
  totalMinor: bigint,
  settle: Settlement,
  given: Pick<GivenBack, 'toRefundMinor' | keyof ReturnedMoney>,
): Pick<CreditNote, 'toReceivable' | 'toCredit' | 'toRefund'> {
  const toReceivable = lesser(totalMinor, owedOf(invoice));
  const rest = totalMinor - toReceivable;
  const toRefund = settle === 'refund' ? lesser(rest, maxRefundableByNote(invoice, given)) : 0n;
  return { toReceivable, toCredit: rest - toRefund, toRefund };
}

/** Returns the unpaid amount of an open invoice; 0 for an invoice with any other status. */
export function owedOf(invoice: Invoice): bigint {
  return invoice.status === 'open' ? amountRemaining(invoice) : 0n;
}

export function deferredOf(invoice: Invoice, parts: readonly CreditNoteLine[]): bigint {
  const deferred = new Set(
    invoice.lines.filter((line) => line.isInAdvance && !line.isReleased).map(({ id }) => id),
  );
  return parts
    .filter(({ lineId }) => deferred.has(lineId))
    .reduce((total, { netMinor }) => total + netMinor, 0n);
}

/**
 * Returns the credited tax of an invoice line, by rate, after adding (`sign` 1) or subtracting (`sign` -1) the tax of a
 * credit note line.
 */
export function addShares(
  line: InvoiceLine,
  part: CreditNoteLine,
  sign: 1n | -1n,
): InvoiceLine['creditedTaxShares'] {
  return line.taxShares.map(({ taxRateId }) => {
    const of = (shares: InvoiceLine['taxShares']): bigint =>
      shares.find((share) => share.taxRateId === taxRateId)?.taxMinor ?? 0n;
    return { taxRateId, taxMinor: of(line.creditedTaxShares) + sign * of(part.taxShares) };
  });
}
