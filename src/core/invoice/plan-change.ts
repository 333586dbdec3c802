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
 * Returns the exact amount that a line would have for the full period, in minor units. If the proration is zero, because
 * newer time zone data left no day of the billed part, it is the amount itself: nothing of the line is then unused.
 */
export function forFullPeriod(amountMinor: bigint, proration: Proration | null): Rational {
  const amount = rational(amountMinor);
  const isUndivided = proration === null || proration.numerator === 0n;
  return isUndivided ? amount : divide(amount, factorOf(proration));
}

/**
 * Returns the unused share of a line for a price billed in advance: (amount for the full period x unused part of the
 * period) / amount of the line. If a new plan version prorates by another unit than the line, the unused part is in the
 * new unit. The result could then exceed 1, and is limited to 1. For a line of zero or less, it is 0.
 * @throws InvariantError when the line and the unused part have the same unit, and the unused part is larger than the
 *   billed part or has another denominator.
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
