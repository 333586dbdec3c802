import type { ModelPrice } from './catalog';
import type { Fraction } from './money';

/** A line that can be credited later. */
export interface BilledLine {
  readonly type: 'recurring' | 'proration' | 'credit' | 'usage';
  readonly full: Fraction;
  readonly from: number;
  readonly to: number;
  readonly fullFrom: number;
  readonly fullTo: number;
  readonly unit: 'day' | 'second';
  /** Of the full period. */
  readonly part: Fraction;
  readonly amount: bigint;
  discount: bigint;
  credited: bigint;
  /** What is billed in advance, for as long as it is: until when it is sold, and what counts as billed for it. */
  readonly item: { readonly to: number; billed: BilledLine[] } | null;
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
  lines: BilledLine[];
  /** Whether the usage changed since. */
  isLate: boolean;
}
