import { rational, type Rational } from '../decimal';
import { invariant } from '../invariant';
import { elapsedSeconds, localDateCount, type Period } from '../time';
import { greater, lesser } from '../money';

/**
 * The part of a full period that is billed, `numerator / denominator`, in local dates or elapsed seconds. The invoice line keeps
 * both numbers, so the fraction is not reduced.
 */
export type Proration = {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly unit: 'day' | 'second';
};

/** A part of a period, and how it ends. */
export type ProratedPart = Period & {
  /**
   * `border`: a new price or the next period starts where the part ends. Proration by day bills that
   * date to the new price or period. `termination`: the subscription ends there, or a pause begins.
   * Proration by day bills that date to the part.
   */
  readonly end: 'border' | 'termination';
};

/**
 * Returns the part as a fraction of `fullPeriod`. By `day`, counts local dates of `timeZone`: the date
 * of a change counts for the new price, and the date on which a subscription ends or is paused is billed, but
 * never more dates than are left in the period. By `second`, counts elapsed time. The denominator is
 * the full period; for a short first calendar period, the whole calendar period.
 *
 * @throws InvariantError when the part is not within the full period, the full period is empty, or
 * the zone is unknown.
 */
export function prorate(
  unit: 'day' | 'second',
  part: ProratedPart,
  fullPeriod: Period,
  timeZone: string,
): Proration {
  invariant(
    fullPeriod.startAt <= part.startAt &&
      part.startAt <= part.endAt &&
      part.endAt <= fullPeriod.endAt,
    'a part lies within its full period',
  );
  const measure = unit === 'day' ? datesIn(timeZone) : elapsedSeconds;
  const denominator = measure(fullPeriod);
  const numerator =
    unit === 'day' && part.end === 'termination'
      ? lesser(measure(part) + 1n, measure({ startAt: part.startAt, endAt: fullPeriod.endAt }))
      : measure(part);
  invariant(denominator > 0n, 'a full period is not empty');
  invariant(0n <= numerator && numerator <= denominator, 'a part is at most the whole');
  return { numerator, denominator, unit };
}

/** An instant at which one part ends and another begins, and the unit that both are counted in there. */
export type PartBoundary = { readonly at: Date; readonly unit: 'day' | 'second' };

/**
 * Returns the part between two boundaries, so that the parts of a period add up to the whole although their units differ. In
 * different units the part is in seconds: a boundary counted by day is where the dates before it end if all dates of the full
 * period are equally long. If that is within a second, numerator and denominator are multiplied by the number of dates. A part
 * whose end is counted before its start is zero.
 */
export function prorateBetween(
  from: PartBoundary,
  to: PartBoundary,
  fullPeriod: Period,
  timeZone: string,
): Proration {
  const { startAt } = fullPeriod;
  if (from.unit === to.unit || from.at.getTime() === startAt.getTime()) {
    const part = { startAt: from.at, endAt: to.at, end: 'border' as const };
    return prorate(to.unit, part, fullPeriod, timeZone);
  }
  const before = ({ at, unit }: PartBoundary): Proration =>
    prorate(unit, { startAt, endAt: at, end: 'border' }, fullPeriod, timeZone);
  const [used, all] = [before(from), before(to)];
  const [seconds, dates] =
    all.unit === 'second'
      ? [all.denominator, used.denominator]
      : [used.denominator, all.denominator];
  const length = all.numerator * used.denominator - used.numerator * all.denominator;
  const numerator = greater(0n, length);
  return numerator % dates === 0n
    ? { numerator: numerator / dates, denominator: seconds, unit: 'second' }
    : { numerator, denominator: seconds * dates, unit: 'second' };
}

/**
 * Returns `billed` less `used`: the unused part, which is credited. Both must begin at the same instant: the start of the full
 * period or, if only a part of it was billed, of that part.
 *
 * @throws InvariantError when more was used than billed, or the two measure different periods.
 */
export function unusedPart(used: Proration, billed: Proration): Proration {
  invariant(
    used.denominator === billed.denominator && used.unit === billed.unit,
    'prorations of one period in one unit',
  );
  invariant(used.numerator <= billed.numerator, 'no more is used than was billed');
  return { ...billed, numerator: billed.numerator - used.numerator };
}

/** Returns the billed share of the full period as an exact number from 0 to 1. */
export function factorOf(proration: Proration): Rational {
  return rational(proration.numerator, proration.denominator);
}

function datesIn(timeZone: string): (period: Period) => bigint {
  return (period) => localDateCount(period, timeZone);
}
