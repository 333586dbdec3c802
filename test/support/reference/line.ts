import type { Added, BillTerms } from './bill-terms';
import type { SoldPrice } from './offers';
import type { Redemption } from './redemption';
import { type Fraction, fraction, rounded, split, sum, times } from './money';

/** The discount that one coupon gives on a line. `period` is the start of the discounted billing period. */
export interface Off {
  readonly redemption: Redemption;
  readonly period: number;
  readonly amount: bigint;
}

export interface LineTax {
  /** The index of the rate. */
  readonly rate: number;
  readonly amount: bigint;
}

/** Charged lines that a credit takes back, with the amount that they held before it, and with their discounts. */
export interface Back {
  readonly lines: readonly BilledLine[];
  readonly held: bigint;
  /** True if a part takes its share of the tax that is left, whatever the rates. */
  readonly sharesTax: boolean;
  /** All discounts on the lines. `returned`: the parts of these discounts that return to their coupons. */
  readonly discounts: readonly Off[];
  readonly returned: readonly Off[];
}

/** The part of a usage correction that is taken back from one invoice. `from` contains the lines of this invoice. */
export interface Taken {
  readonly from: readonly BilledLine[];
  readonly amount: bigint;
  /** Amount with exclusive tax, each rate rounded up: the least that refunds can have left of the invoice. */
  readonly most: bigint;
  /** Amount with exclusive tax. Set when the invoice of the correction is finalized. */
  whole: bigint;
}

/** A line of an invoice, with the data for crediting it later. */
export interface BilledLine {
  readonly type: 'recurring' | 'proration' | 'credit' | 'usage' | 'minimum' | 'maximum';
  readonly from: number;
  readonly to: number;
  readonly fullFrom: number;
  readonly fullTo: number;
  readonly unit: 'day' | 'second';
  /** Part of the full period that counts for the amount. */
  readonly part: Fraction;
  /**
   * Duration of the line as a part of the full period. A plan without proration bills the full price even if this is
   * less than the full period.
   */
  readonly span: Fraction;
  readonly amount: bigint;
  /** Amount that a maximum took off the line. */
  capped: bigint;
  discount: bigint;
  /** Sum of the taxes of all rates, exclusive or inclusive. */
  tax: bigint;
  /** Tax of each rate with which the line was billed. */
  taxes: readonly LineTax[];
  /** Discount of each coupon. */
  offs: readonly Off[];
  /** Charges that a credit or a usage correction takes back; null if the line takes nothing back. */
  readonly back: Back | null;
  /** Taxes and coupons of a line that adds usage to a bill; null for other lines. */
  readonly added: Added | null;
  /** For a negative usage correction: the amount at list prices; null for other lines. `amount` is a share of what was paid. */
  readonly listed: bigint | null;
  /** For a negative usage correction: the part that is taken back from each invoice. Null for other lines. */
  readonly taken: readonly Taken[] | null;
  /** True if a later invoice that is not void credited the unused part of the line. */
  isTakenBack: boolean;
  /** Inclusive part of `tax`. */
  taxWithin: bigint;
  /** Part of the amount that later invoices and credit notes credited. */
  credited: bigint;
  /** Amounts that credit notes credited on the line. `amount` is the part of `credited`: the net with inclusive tax. */
  creditedByNotes: {
    readonly net: bigint;
    readonly tax: bigint;
    /** In the order of the rates of the line. */
    readonly taxes: readonly bigint[];
    readonly amount: bigint;
  };
  /**
   * The item that the line prepays: the instant until which it is sold, and the lines that were billed for it.
   * Otherwise null.
   */
  readonly item: { readonly to: number; billed: BilledLine[] } | null;
  /** For a charge: the line and its true-ups. */
  together: readonly BilledLine[];
  /** For a credit: the credited line. */
  readonly creditedLine: BilledLine | null;
  /** The price that the line bills; null if there is none. */
  readonly price: SoldPrice | null;
  /** For a usage line: all that was billed for the usage of the price and period. Null for other lines. */
  readonly usage: BilledUsage | null;
  readonly isLate: boolean;
  isVoid: boolean;
}

/** The usage of a price billed for a period. */
export interface BilledUsage {
  readonly subscription: number;
  readonly price: SoldPrice;
  readonly from: number;
  readonly to: number;
  /** Start of the billing period, from which events of a weighted sum are held. */
  readonly heldFrom: number;
  /** Length of the full period, by which a weighted sum is divided. */
  readonly fullMs: bigint;
  /** Part of a whole period, by which the limits of the price are prorated. */
  readonly part: Fraction;
  lines: BilledLine[];
  /** True if the usage changed since it was billed. */
  isLate: boolean;
  /** Terms of the invoice that billed the usage without a line. */
  terms: BillTerms | null;
}

/** The initial values of a line, before it is on an invoice. */
export const UNTOUCHED = {
  capped: 0n,
  discount: 0n,
  tax: 0n,
  taxWithin: 0n,
  taxes: [],
  offs: [],
  back: null,
  added: null,
  listed: null,
  taken: null,
  isTakenBack: false,
  credited: 0n,
  creditedByNotes: { net: 0n, tax: 0n, taxes: [], amount: 0n },
  isVoid: false,
} as const;

/** Returns the amount after discounts, without tax. */
export function netOf({ amount, discount, taxWithin }: BilledLine): bigint {
  return amount - discount - taxWithin;
}

export function withTax(line: BilledLine): bigint {
  return netOf(line) + line.tax;
}

/** Returns the lines of invoices in effect. */
export function standing(lines: readonly BilledLine[]): readonly BilledLine[] {
  return lines.filter(({ isVoid }) => !isVoid);
}

/** Returns the lines that bill the same price for the same period, except void ones. */
export function billedWith(line: BilledLine): readonly BilledLine[] {
  return standing(line.usage?.lines ?? line.together);
}

/** Returns the sum of the amounts of lines, less discounts and credits. */
export function heldBy(lines: readonly BilledLine[]): bigint {
  return sum(lines.map(({ amount, discount, credited }) => amount - discount - credited));
}

/**
 * Returns a share of the amount that lines hold, and the same share of their discounts, which return to the coupons.
 * Each of the two shares is rounded once.
 */
export function giveBack(
  lines: readonly BilledLine[],
  share: Fraction,
): { readonly amount: bigint; readonly back: Back } {
  const held = heldBy(lines);
  const offs: Off[] = [];
  for (const { offs: taken, back } of lines) {
    const all = [
      ...taken,
      ...(back?.returned ?? []).map((one) => ({ ...one, amount: -one.amount })),
    ];
    for (const off of all) {
      const place = offs.findIndex(
        (one) => one.redemption === off.redemption && one.period === off.period,
      );
      if (place === -1) offs.push(off);
      else offs[place] = { ...off, amount: off.amount + (offs[place]?.amount ?? 0n) };
    }
  }
  const discounts = offs.filter(({ amount }) => amount > 0n);
  const amount = held > 0n ? rounded(times(fraction(held), share)) : 0n;
  const returned = returnedOf(discounts, share);
  return { amount, back: { lines, held, sharesTax: false, discounts, returned } };
}

/** Returns a share of discounts, rounded once together. */
export function returnedOf(discounts: readonly Off[], share: Fraction): readonly Off[] {
  const weights = discounts.map(({ amount }) => amount);
  const parts = split(rounded(times(fraction(sum(weights)), share)), weights);
  return discounts
    .map((one, index) => ({ ...one, amount: parts[index] ?? 0n }))
    .filter(({ amount }) => amount > 0n);
}

/** Returns the amount at list prices. */
export function listedOf({ listed, amount }: Pick<BilledLine, 'listed' | 'amount'>): bigint {
  return listed ?? amount;
}

export function isTrueUp({ type }: BilledLine): boolean {
  return type === 'minimum' || type === 'maximum';
}
