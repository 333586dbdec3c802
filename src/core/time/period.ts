/**
 * A half-open span of time, `[startAt, endAt)`: the end is the start of what follows. Instants are
 * UTC; the calendar they were computed in is named beside them.
 */
export type Period = { readonly startAt: Date; readonly endAt: Date };

/** Returns true when `instant` lies in the period: the start is included, the end is not. */
export function contains(period: Period, instant: Date): boolean {
  return period.startAt <= instant && instant < period.endAt;
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
