import type { ModelPrice } from './catalog';
import { type Fraction, sum } from './money';

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
  /** What of the tax is within the amount. */
  taxWithin: bigint;
  /** What later invoices and credit notes took back of the amount. */
  credited: bigint;
  /** What of that credit notes did, and the tax that came with it. */
  noted: { readonly net: bigint; readonly tax: bigint; readonly amount: bigint };
  /** What is billed in advance, for as long as it is: until when it is sold, and what counts as billed for it. */
  readonly item: { readonly to: number; billed: BilledLine[] } | null;
  /** Of a charge: itself and what lifts or lowers it to a limit of its price. */
  together: readonly BilledLine[];
  /** Of a credit: the line it takes back. */
  readonly takesBack: BilledLine | null;
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
  credited: 0n,
  noted: { net: 0n, tax: 0n, amount: 0n },
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

export function isTrueUp({ type }: BilledLine): boolean {
  return type === 'minimum' || type === 'maximum';
}
