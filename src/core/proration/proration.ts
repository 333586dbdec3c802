import { rational, type Rational } from '../decimal';
import { invariant } from '../invariant';
import { elapsedSeconds, localDateCount, type Period } from '../time';
import { greater, lesser } from '../money';

/**
 * The billed part of a full period as the fraction `numerator / denominator`, in local dates or elapsed seconds. The
 * fraction is not reduced, because the invoice line shows both numbers.
 */
export type Proration = {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly unit: 'day' | 'second';
};

/** A part of a period, and how the part ends. */
export type ProratedPart = Period & {
  /**
   * How the part ends.
   * - `border`: a new price or the next period starts. With proration by day, the date of `endAt` is not billed with
   *   the part.
   * - `termination`: the subscription ends or a pause begins. With proration by day, the date of `endAt` is billed with
   *   the part.
   */
  readonly end: 'border' | 'termination';
};

/**
 * Returns the part as a fraction of `fullPeriod`. The denominator is the length of the full period. With a `calendar`
 * billing anchor, the full period of a short first period is the whole calendar period.
 * - Unit `day`: counts local dates in `timeZone`. The date of a price change belongs to the new price. The date on
 *   which a subscription ends or is paused belongs to the part. If the full period ends on that date, the date belongs
 *   to the next period instead.
 * - Unit `second`: counts elapsed time.
 * @throws InvariantError when the part is not within the full period, the full period is empty, or the zone is unknown.
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
  // When clocks are set back over midnight, the date of a later instant can be earlier than that of the start. The
  // count would be negative, and is therefore raised to 0: the instant then counts as on the later date.
  const before = (endAt: Date): bigint =>
    greater(0n, measure({ startAt: fullPeriod.startAt, endAt }));
  const lastDate = unit === 'day' && part.end === 'termination' ? 1n : 0n;
  const until = lesser(before(part.endAt) + lastDate, denominator);
  const numerator = greater(0n, until - before(part.startAt));
  invariant(denominator > 0n, 'a full period is not empty');
  invariant(numerator <= denominator, 'a part is at most the whole');
  return { numerator, denominator, unit };
}

/**
 * Instant at which one part of a period ends and the next part starts. `unit` is the unit for the time from the start
 * of the full period to this instant.
 */
export type PartBoundary = { readonly at: Date; readonly unit: 'day' | 'second' };

/**
 * Returns the part of `fullPeriod` between two boundaries. The parts of a period always add up to the whole period.
 * - If both units are equal, or the period starts at `from`: the part has the unit of `to`.
 * - Otherwise: the part is in seconds. The days up to the boundary with the unit `day` are converted to seconds, with
 *   all days of the full period equally long. If the seconds are not a whole number, numerator and denominator are
 *   multiplied by the number of days. If `to` then lies before `from`, the part is zero.
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
 * Returns the unused part, which is credited: `billed` minus `used`. Both parts must have the same start.
 * @throws InvariantError when more was used than billed, or the parts differ in denominator or unit.
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
