import { invariant } from '../invariant';

/**
 * A half-open span of time, `[startAt, endAt)`: the end is the start of what follows. Instants are
 * UTC; the calendar they were computed in is named beside them.
 */
export type Period = { readonly startAt: Date; readonly endAt: Date };

/** Returns true when `instant` lies in the period: the start is included, the end is not. */
export function contains(period: Period, instant: Date): boolean {
  return period.startAt <= instant && instant < period.endAt;
}

/** Returns true when two periods share an instant. Periods that touch do not, and an empty one never does. */
export function overlaps(left: Period, right: Period): boolean {
  return (
    left.startAt < right.endAt &&
    right.startAt < left.endAt &&
    left.startAt < left.endAt &&
    right.startAt < right.endAt
  );
}

/**
 * Asserts that no period shares an instant with another, whatever order they come in.
 *
 * @throws InvariantError when two overlap or one ends before it starts.
 */
export function assertNoOverlap(periods: readonly Period[]): void {
  const sorted = periods
    .filter(({ startAt, endAt }) => startAt.getTime() !== endAt.getTime())
    .sort((left, right) => left.startAt.getTime() - right.startAt.getTime());
  let previousEndAt: Date | undefined;
  for (const { startAt, endAt } of sorted) {
    invariant(startAt < endAt, 'a period does not end before it starts');
    invariant(previousEndAt === undefined || previousEndAt <= startAt, 'periods do not overlap');
    previousEndAt = endAt;
  }
}

/**
 * Whole seconds from the start to the end of the period, each instant taken at its whole second, so
 * that the seconds of adjoining periods add up to those of both.
 */
export function elapsedSeconds(period: Period): bigint {
  return epochSeconds(period.endAt) - epochSeconds(period.startAt);
}

function epochSeconds(instant: Date): bigint {
  return BigInt(Math.floor(instant.getTime() / 1000));
}
