/** Half-open span of time, `[startAt, endAt)`: the end is the start of what follows. Instants are UTC. */
export type Period = { readonly startAt: Date; readonly endAt: Date };

/** Returns true when `instant` lies in the period: the start is included, the end is not. */
export function contains(period: Period, instant: Date): boolean {
  return period.startAt <= instant && instant < period.endAt;
}

/**
 * Returns the seconds from start to end of a period. Both are rounded down to whole seconds first, so that the seconds of
 * adjoining periods add up.
 */
export function elapsedSeconds(period: Period): bigint {
  return epochSeconds(period.endAt) - epochSeconds(period.startAt);
}

function epochSeconds(instant: Date): bigint {
  return BigInt(Math.floor(instant.getTime() / 1000));
}
