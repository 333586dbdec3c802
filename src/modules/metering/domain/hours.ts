import type { Period } from '../../../core/time';

const HOUR_MS = 3_600_000;

/**
 * A period in three parts, each of which may be empty: `[startAt, hoursStartAt)`, the whole UTC hours
 * `[hoursStartAt, hoursEndAt)`, and `[hoursEndAt, endAt)`. The first and the last part are its edges.
 */
export interface SplitPeriod extends Period {
  readonly hoursStartAt: Date;
  readonly hoursEndAt: Date;
}

/** Splits a period at its first and last UTC hour boundary. A period without a whole hour becomes a single edge. */
export function splitAtHours({ startAt, endAt }: Period): SplitPeriod {
  const hoursStartMs = Math.ceil(startAt.getTime() / HOUR_MS) * HOUR_MS;
  const hoursEndMs = Math.floor(endAt.getTime() / HOUR_MS) * HOUR_MS;
  if (hoursStartMs >= hoursEndMs) return withoutHours({ startAt, endAt });
  return {
    startAt,
    endAt,
    hoursStartAt: new Date(hoursStartMs),
    hoursEndAt: new Date(hoursEndMs),
  };
}

/**
 * Returns a period as a single edge, even if it contains whole hours. An edge is counted from events, not hourly
 * totals.
 */
export function withoutHours({ startAt, endAt }: Period): SplitPeriod {
  return { startAt, endAt, hoursStartAt: endAt, hoursEndAt: endAt };
}

/** Returns the parts of a period before and after its whole hours, without empty ones. */
export function edgesOf({ startAt, hoursStartAt, hoursEndAt, endAt }: SplitPeriod): Period[] {
  return [
    { startAt, endAt: hoursStartAt },
    { startAt: hoursEndAt, endAt },
  ].filter((edge) => edge.startAt < edge.endAt);
}

/** Returns the length of the edges of all periods in hours, such as half an hour for `[10:45, 13:15)`. */
export function edgeHoursOf(periods: readonly Period[]): number {
  const lengths = periods
    .flatMap((period) => edgesOf(splitAtHours(period)))
    .map(({ startAt, endAt }) => endAt.getTime() - startAt.getTime());
  return lengths.reduce((sum, ms) => sum + ms, 0) / HOUR_MS;
}

/**
 * Returns the part of a period from `instant` on, which may be empty. Returns the whole period if `instant` is null.
 */
export function afterInstant({ startAt, endAt }: Period, instant: Date | null): Period {
  if (instant === null || instant <= startAt) return { startAt, endAt };
  return { startAt: instant < endAt ? instant : endAt, endAt };
}

/** Returns true if the period is exactly one UTC hour. */
export function isHour({ startAt, endAt }: Period): boolean {
  return startAt.getTime() % HOUR_MS === 0 && endAt.getTime() - startAt.getTime() === HOUR_MS;
}

export function hourOf(instant: Date): Period {
  const startMs = Math.floor(instant.getTime() / HOUR_MS) * HOUR_MS;
  return { startAt: new Date(startMs), endAt: new Date(startMs + HOUR_MS) };
}
