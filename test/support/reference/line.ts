import type { Redemption } from './redemption';
import type { ModelPrice } from './catalog';
import { type Fraction, fraction, rounded, split, sum, times } from './money';

/** What a coupon took off a line, in the billing period that starts then. */
export interface Off {
  readonly redemption: Redemption;
  readonly period: number;
  readonly amount: bigint;
}

/** What a credit takes back of: lines, what they held before, and what of their discounts returns to coupons. */
export interface Back {
  readonly lines: readonly BilledLine[];
  readonly held: bigint;
  readonly returned: readonly Off[];
}

/** A line that can be credited later. */
export interface BilledLine {
  readonly type: 'recurring' | 'proration' | 'credit' | 'usage' | 'minimum' | 'maximum';
  readonly full: Fraction;
  readonly from: number;
  readonly to: number;
  readonly fullFrom: number;
  readonly fullTo: number;
  readonly unit: 'day' | 'second';
  /** Of the full period. */
  readonly part: Fraction;
  readonly amount: bigint;
  /** What a maximum took of it. */
  capped: bigint;
  discount: bigint;
  /** Of its rates, whether on top or within. */
  tax: bigint;
  /** The tax of each of its rates, in their order. */
  taxes: readonly bigint[];
  /** What each coupon took off. */
  offs: readonly Off[];
  /** Of a credit, or of usage that is taken back. */
  readonly back: Back | null;
  /** The amount at list prices, where usage is taken back at what was paid. */
  readonly listed: bigint | null;
  /** Whether a later invoice, which is not void, credited its unused part. */
  isTakenBack: boolean;
  /** What of the tax is within the amount. */
  taxWithin: bigint;
  /** What later invoices and credit notes took back of the amount. */
  credited: bigint;
  /** What of that credit notes did, and the tax that came with it. */
  noted: {
    readonly net: bigint;
    readonly tax: bigint;
    readonly taxes: readonly bigint[];
    readonly amount: bigint;
  };
  /** What is billed in advance, for as long as it is: until when it is sold, and what counts as billed for it. */
  readonly item: { readonly to: number; billed: BilledLine[] } | null;
  /** Of a charge: itself and what lifts or lowers it to a limit of its price. */
  together: readonly BilledLine[];
  /** Of a credit: the line it takes back. */
  readonly takesBack: BilledLine | null;
  /** What it is sold by; null for nothing that is sold. */
  readonly price: ModelPrice | null;
  /** Of usage: what was billed for its period. */
  readonly usage: BilledUsage | null;
  readonly isLate: boolean;
  isVoid: boolean;
}

/** What was billed for the usage of a price in a period. */
export interface BilledUsage {
  readonly subscription: number;
  readonly price: ModelPrice;
  readonly from: number;
  readonly to: number;
  /** Of a whole period, for the limits of the price. */
  readonly part: Fraction;
  lines: BilledLine[];
  /** Whether the usage changed since. */
  isLate: boolean;
}

/** What a line starts with, before it is on an invoice. */
export const UNTOUCHED = {
  capped: 0n,
  discount: 0n,
  tax: 0n,
  taxWithin: 0n,
  taxes: [],
  offs: [],
  back: null,
  listed: null,
  isTakenBack: false,
  credited: 0n,
  noted: { net: 0n, tax: 0n, taxes: [], amount: 0n },
  isVoid: false,
} as const;

/** After discounts, without any tax. */
export function netOf({ amount, discount, taxWithin }: BilledLine): bigint {
  return amount - discount - taxWithin;
}

/** The lines that bill the same price for the same period, but for those that are void. */
export function billedWith(line: BilledLine): readonly BilledLine[] {
  return (line.usage?.lines ?? line.together).filter(({ isVoid }) => !isVoid);
}

/** What lines hold together after discounts and credit. */
export function heldBy(lines: readonly BilledLine[]): bigint {
  return sum(lines.map(({ amount, discount, credited }) => amount - discount - credited));
}

/**
 * What lines give back of what was paid for them: the share of what they hold, rounded once, and the same share of the
 * discounts that return to their coupons. What one coupon took once returns at any time, an amount of each period within it.
 */
export function giveBack(
  lines: readonly BilledLine[],
  share: Fraction,
  period: number,
): { readonly amount: bigint; readonly back: Back } {
  const held = heldBy(lines);
  const offs: Off[] = [];
  for (const { offs: taken, back } of lines) {
    const all = [
      ...taken,
      ...(back?.returned ?? []).map((one) => ({ ...one, amount: -one.amount })),
    ];
    for (const off of all.filter((one) => returns(one, period))) {
      const place = offs.findIndex(
        (one) => one.redemption === off.redemption && one.period === off.period,
      );
      if (place === -1) offs.push(off);
      else offs[place] = { ...off, amount: off.amount + (offs[place]?.amount ?? 0n) };
    }
  }
  const discounts = offs.filter(({ amount }) => amount > 0n);
  const weights = discounts.map(({ amount }) => amount);
  const parts = split(rounded(times(fraction(sum(weights)), share)), weights);
  const returned = discounts
    .map((one, index) => ({ ...one, amount: parts[index] ?? 0n }))
    .filter(({ amount }) => amount > 0n);
  const amount = held > 0n ? rounded(times(fraction(held), share)) : 0n;
  return { amount, back: { lines, held, returned } };
}

function returns({ redemption, period: taken }: Off, period: number): boolean {
  const { duration, amountOff } = redemption.terms;
  return duration === 'once' || (amountOff !== undefined && taken === period);
}

export function isTrueUp({ type }: BilledLine): boolean {
  return type === 'minimum' || type === 'maximum';
}
