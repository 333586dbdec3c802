/** Half-open span of time, `[startAt, endAt)`: contains its start but not its end. */
export type Period = { readonly startAt: Date; readonly endAt: Date };

export function contains(period: Period, instant: Date): boolean {
  return period.startAt <= instant && instant < period.endAt;
}

/**
 * Returns the seconds from start to end. Start and end are first rounded down to whole seconds, so that the seconds of
 * adjoining periods add up.
 */
export function elapsedSeconds(period: Period): bigint {
  return epochSeconds(period.endAt) - epochSeconds(period.startAt);
}

function epochSeconds(instant: Date): bigint {
  return BigInt(Math.floor(instant.getTime() / 1000));
}
