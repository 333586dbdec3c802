import { rational, type Rational } from '../decimal';
import { invariant } from '../invariant';
import { elapsedSeconds, localDateCount, type Period } from '../time';
import { lesser } from '../money';

/**
 * Share of a full period, `numerator / denominator`, in local dates or elapsed seconds. Not reduced, because invoice lines
 * show both figures: `14 / 28` days.
 */
export type Proration = {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly unit: 'day' | 'second';
};

/** Part of a period to bill. */
export type ProratedPart = Period & {
  /**
   * Says in which part the date of `endAt` is billed, if proration is in days. `boundary`: another price or the next
   * period starts at `endAt` and bills that date. `termination`: the subscription ends at `endAt`, so this part bills it.
   */
  readonly end: 'boundary' | 'termination';
};

/**
 * Returns the share of `fullPeriod` that the part takes. `day` counts local dates of `timeZone`, at most as many as the
 * full period has left. `second` counts elapsed seconds and ignores `timeZone`. For a short first calendar period, pass the
 * whole calendar period as `fullPeriod`.
 *
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
  const numerator =
    unit === 'day' && part.end === 'termination'
      ? lesser(measure(part) + 1n, measure({ startAt: part.startAt, endAt: fullPeriod.endAt }))
      : measure(part);
  invariant(denominator > 0n, 'a full period is not empty');
  invariant(0n <= numerator && numerator <= denominator, 'a part is at most the whole');
  return { numerator, denominator, unit };
}

/**
 * Returns what is left of `billed` after `used`: the share to credit. Both must start at the same instant.
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

/** Returns the share as an exact number from 0 to 1. */
export function factorOf(proration: Proration): Rational {
  return rational(proration.numerator, proration.denominator);
}

function datesIn(timeZone: string): (period: Period) => bigint {
  return (period) => localDateCount(period, timeZone);
}
