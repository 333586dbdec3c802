import {
  divide,
  lesserOf,
  multiply,
  rational,
  roundToInteger,
  ZERO,
  type Rational,
} from '../decimal';
import { invariant } from '../invariant';
import { factorOf, type Proration } from '../proration';

/** A finalized line for a price billed in advance, with the amount credited since. */
export type PrepaidLine = {
  /** Amount that the line would have for the full period, in minor units (see {@link forFullPeriod}). */
  readonly fullAmount: Rational;
  /** Proration of the line; null if the line billed the full period. */
  readonly proration: Proration | null;
  /** Amount as billed, before discount. */
  readonly amountMinor: bigint;
  readonly discountMinor: bigint;
  /** Amount that credit lines and credit notes have taken back so far. */
  readonly creditedMinor: bigint;
};

/**
 * Returns the exact amount that a line would have for the full period, in minor units. Returns the amount itself if the
 * proration is zero: nothing of the line is then unused. A proration is zero if newer time zone data left no day of the
 * billed part.
 */
export function forFullPeriod(amountMinor: bigint, proration: Proration | null): Rational {
  const amount = rational(amountMinor);
  const isUndivided = proration === null || proration.numerator === 0n;
  return isUndivided ? amount : divide(amount, factorOf(proration));
}

/**
 * Returns the share of a prepaid line that is unused, from 0 to 1: (amount for the full period x unused part of the
 * period) / amount of the line.
 * - The share is limited to 1. Without this limit, it could exceed 1 if a new plan version prorates by another unit.
 * - A line of zero or less has no unused share: 0.
 * @throws InvariantError when line and unused part have the same unit, and the unused part is larger than the billed
 *   part or has another denominator.
 */
export function unusedShare(
  line: Pick<PrepaidLine, 'fullAmount' | 'proration' | 'amountMinor'>,
  unused: Proration,
): Rational {
  const billed = line.proration ?? { ...unused, numerator: unused.denominator };
  const isSameUnit = unused.unit === billed.unit;
  if (isSameUnit) {
    invariant(unused.denominator === billed.denominator, 'prorations of one period in one unit');
    invariant(unused.numerator <= billed.numerator, 'no more is unused than was billed');
  }
  if (unused.numerator === 0n || line.amountMinor <= 0n) return ZERO;
  if (isSameUnit && unused.numerator === billed.numerator) return rational(1n);
  const exact = multiply(line.fullAmount, factorOf(unused));
  return lesserOf(divide(exact, rational(line.amountMinor)), rational(1n));
}

/**
 * Returns the credit for the unused part of a price billed in advance, zero or more, in minor units. It is (amount of
 * the line - discount - earlier credits) x {@link unusedShare}, rounded once, half away from zero.
 * @throws InvariantError in the cases of {@link unusedShare}, and when the line was credited beyond its billed amount.
 */
export function creditForUnused(line: PrepaidLine, unused: Proration): bigint {
  const heldMinor = line.amountMinor - line.discountMinor - line.creditedMinor;
  invariant(heldMinor >= 0n, 'a line is never credited beyond its billed amount');
  return roundToInteger(multiply(rational(heldMinor), unusedShare(line, unused)));
}
