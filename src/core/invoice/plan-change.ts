import type { Rational } from '../decimal';
import { invariant } from '../invariant';
import { prorate, type Proration } from '../proration';
import { roundAtLine } from '../rating';
import type { Period } from '../time';

/** A finalised line for a price paid in advance, with what has happened to it since. */
export type BilledLine = {
  /** The price as the line stored it: its exact amount for the full period, in minor units. */
  readonly fullAmount: Rational;
  /** Of the line; null when it billed the full period. */
  readonly proration: Proration | null;
  /** As billed, before discount. */
  readonly amountMinor: bigint;
  readonly discountMinor: bigint;
  /** Taken back so far by credit lines and credit notes. */
  readonly creditedMinor: bigint;
};

/**
 * What is credited for the unused part of a price paid in advance, zero or more, in minor units:
 * the price as stored on the line that billed it, times the unused part, rounded once, half away
 * from zero; never more than the line still holds after its discounts and earlier credits.
 *
 * @throws InvariantError when the unused part is more than the line billed, or measured otherwise,
 * or the line was credited beyond what it held.
 */
export function creditForUnused(line: BilledLine, unused: Proration): bigint {
  const billed = line.proration ?? { ...unused, numerator: unused.denominator };
  invariant(
    unused.unit === billed.unit && unused.denominator === billed.denominator,
    'prorations of one period in one unit',
  );
  invariant(unused.numerator <= billed.numerator, 'no more is unused than was billed');
  const heldMinor = line.amountMinor - line.discountMinor - line.creditedMinor;
  invariant(heldMinor >= 0n, 'a line is never credited beyond what it held');
  const unusedMinor = roundAtLine(line.fullAmount, unused);
  return unusedMinor < heldMinor ? unusedMinor : heldMinor;
}

export type PlanChange = {
  readonly unit: 'day' | 'second';
  readonly timeZone: string;
  /** The period that runs, and the full one it is part of. */
  readonly period: Period;
  readonly fullPeriod: Period;
  readonly changeAt: Date;
  readonly oldLine: BilledLine;
  /** The new price's exact amount for the full period, in minor units. */
  readonly newFullAmount: Rational;
};

/**
 * The two lines of a change now, within one interval, of a price paid in advance: a credit for the
 * unused part of the old price (zero or negative) and a charge for the rest of the period at the
 * new one, both over the same part of the full period.
 *
 * @throws InvariantError when the change is outside the period.
 */
export function changeInAdvance(change: PlanChange): {
  readonly creditMinor: bigint;
  readonly chargeMinor: bigint;
  readonly proration: Proration;
} {
  const rest = { startAt: change.changeAt, endAt: change.period.endAt, end: 'border' as const };
  invariant(change.period.startAt <= change.changeAt, 'a change is within its period');
  const proration = prorate(change.unit, rest, change.fullPeriod, change.timeZone);
  return {
    creditMinor: -creditForUnused(change.oldLine, proration),
    chargeMinor: roundAtLine(change.newFullAmount, proration),
    proration,
  };
}
