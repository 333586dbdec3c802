import type { Period } from '../../../core/time';

const HOUR_MS = 3_600_000;

/** A period and the whole UTC hours in it: [startAt, hoursStartAt), the hours, [hoursEndAt, endAt). */
export interface SplitPeriod extends Period {
  readonly hoursStartAt: Date;
  readonly hoursEndAt: Date;
}

/** Splits a period at the first and the last UTC hour that starts in it. Without a whole hour, all of it is an edge. */
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

/** The same, with no hour taken whole: all of it is an edge. */
export function withoutHours({ startAt, endAt }: Period): SplitPeriod {
  return { startAt, endAt, hoursStartAt: endAt, hoursEndAt: endAt };
}

/** Whether the period is a whole UTC hour, whose totals are kept for every stream. */
export function isHour({ startAt, endAt }: Period): boolean {
  return startAt.getTime() % HOUR_MS === 0 && endAt.getTime() - startAt.getTime() === HOUR_MS;
}

/** The UTC hour that holds the instant. */
export function hourOf(instant: Date): Period {
  const startMs = Math.floor(instant.getTime() / HOUR_MS) * HOUR_MS;
  return { startAt: new Date(startMs), endAt: new Date(startMs + HOUR_MS) };
}
