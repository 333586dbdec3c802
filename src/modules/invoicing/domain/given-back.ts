import { maxWithTax, partWithin, type HeldLines } from '../../../core/invoice';
import { allocate, greater } from '../../../core/money';

/** Amounts of an invoice that went back to the customer by refunds (including pending ones) or by lost disputes. */
export interface RefundedAmount {
  readonly moneyMinor: bigint;
  /**
   * Credit that the invoice used, if its payment was later refunded or lost in a dispute, in minor units. Excludes
   * amounts that unused credit of the same payment can cover.
   */
  readonly creditMinor: bigint;
}

export const NOTHING_REFUNDED: RefundedAmount = { moneyMinor: 0n, creditMinor: 0n };

/** Refunded amounts by invoice id. Invoices without refunds are absent. */
export type RefundedOf = ReadonlyMap<string, RefundedAmount>;

/** Part of the paid money that went back to the customer, in minor units. */
export interface ReturnedMoney {
  /** Includes pending refunds. */
  readonly refundedMinor: bigint;
  readonly lostMinor: bigint;
}

/** Money and credit of an invoice that went back to the customer, in minor units. */
export interface ReturnedAmounts extends ReturnedMoney {
  /**
   * Credit that the invoice used, if its payment was later refunded or lost in a dispute. Excludes amounts that unused
   * credit of the same payment can cover.
   */
  readonly lostCreditMinor: bigint;
}

export const NOTHING_RETURNED: ReturnedMoney = { refundedMinor: 0n, lostMinor: 0n };

/**
 * Credit that came from a payment, in minor units. Refunds took `refundedMinor`, lost disputes took `lostMinor`, and
 * invoices used `usedMinor`.
 */
export interface CoveredCredit extends ReturnedMoney {
  readonly usedMinor: bigint;
}

export const NOTHING_COVERED: CoveredCredit = { ...NOTHING_RETURNED, usedMinor: 0n };

/** Amounts that limit how much of an invoice can still be given back, in minor units. */
export interface HeldByInvoice {
  /** Charges of the invoice with tax, less the amounts that later invoices and credit notes credited. */
  readonly heldMinor: bigint;
  /** Part of the credit notes that is paid out by refunds, with tax. */
  readonly toRefundMinor: bigint;
  /** Amount paid in money, not by credit. */
  readonly paidMinor: bigint;
}

/**
 * Returns how much of an invoice may still be credited: what is left of its charges, less the amounts that went back to
 * the customer without a credit note. Null if no amount went back in this way: then only what is left of the credited
 * lines is a limit.
 */
export function maxCreditable(
  { heldMinor, toRefundMinor }: HeldByInvoice,
  { moneyMinor, creditMinor }: RefundedAmount,
): bigint | null {
  const withoutNoteMinor = greater(moneyMinor - toRefundMinor, 0n) + creditMinor;
  return withoutNoteMinor === 0n ? null : greater(heldMinor - withoutNoteMinor, 0n);
}

/**
 * Returns the largest possible total of all refunds of an invoice; null: the whole amount paid in money can be
 * refunded.
 * @param lostMinor amount that cannot be refunded: used credit whose payment was refunded or lost in a dispute, plus
 *   the money and used credit that open disputes may take
 */
export function maxRefundable(
  { heldMinor, toRefundMinor, paidMinor }: HeldByInvoice,
  lostMinor: bigint,
): bigint | null {
  const maxMinor = heldMinor + toRefundMinor - lostMinor;
  return maxMinor < paidMinor ? maxMinor : null;
}

/**
 * Limits a credit to the amount that remains of the credited invoice after refunds. Returns the limit, or null if
 * `amountMinor` can be credited in full. Each call lowers the amount left for the next call with the same invoice.
 */
export type LimitCredit = (
  invoiceId: string,
  held: HeldLines,
  amountMinor: bigint,
) => bigint | null;

/** Part of a usage correction that is taken from one invoice, in minor units, before exclusive tax. */
export interface TakenFrom {
  readonly invoiceId: string;
  readonly amountMinor: bigint;
}

export interface LimitedCorrection<Held extends HeldLines> {
  readonly taken: readonly TakenFrom[];
  /** Total of `taken` if refunds made it less than the correction; otherwise null. */
  readonly mostMinor: bigint | null;
  /** Billed amounts and taxes from which the tax of the correction and of its parts is calculated. */
  readonly held: Held;
}

/**
 * Divides a usage correction over the invoices that billed the usage, in proportion to the amount left on each. Takes
 * from each invoice at most the amount that remains after refunds.
 *
 * A correction that takes everything left on several invoices also takes all tax that is left on them. Earlier
 * roundings can have left more tax than the rates give for the parts, so each part takes its share of the tax that is
 * left.
 */
export function limitCorrection<Held extends HeldLines>(
  amountMinor: bigint,
  all: Held,
  heldOfInvoices: ReadonlyMap<string, bigint>,
  limit: LimitCredit,
): LimitedCorrection<Held> {
  const sources = [...heldOfInvoices].filter(([, heldMinor]) => heldMinor > 0n);
  if (amountMinor === 0n || sources.length === 0) return { taken: [], mostMinor: null, held: all };
  const takesAll = amountMinor >= all.heldMinor && sources.length > 1;
  const held = takesAll ? { ...all, hasOneSetOfRates: false } : all;
  const parts = allocate(
    amountMinor,
    sources.map(([, heldMinor]) => heldMinor),
  );
  const taken = sources.map(([invoiceId], index) => {
    const partMinor = parts[index] ?? 0n;
    return { invoiceId, amountMinor: limit(invoiceId, held, partMinor) ?? partMinor };
  });
  const takenMinor = taken.reduce((total, part) => total + part.amountMinor, 0n);
  return { taken, mostMinor: takenMinor < amountMinor ? takenMinor : null, held };
}

/**
 * Returns a function that limits the credits on a new invoice.
 * @param creditable how much of an invoice may still be credited, in minor units; invoices without an entry have no
 *   limit
 */
export function limitCredits(creditable: ReadonlyMap<string, bigint>): LimitCredit {
  const left = new Map(creditable);
  return (invoiceId, held, amountMinor) => {
    const leftMinor = left.get(invoiceId);
    if (leftMinor === undefined) return null;
    const maxMinor = partWithin(held, amountMinor, leftMinor);
    left.set(invoiceId, leftMinor - maxWithTax(held, maxMinor));
    return maxMinor < amountMinor ? maxMinor : null;
  };
}
