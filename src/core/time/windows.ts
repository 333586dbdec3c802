import { type Interval, periodEndsOf } from './billing-anchor';
import type { Period } from './period';
import { localHourEnds } from './zone';

export type WindowInterval = 'hour' | Exclude<Interval, 'year'>;

/** Longest possible length of each kind of window (a local hour, day, week or month), clock changes included. */
const LONGEST_MS: Readonly<Record<WindowInterval, number>> = {
  hour: 2 * 3_600_000,
  day: 26 * 3_600_000,
  week: 8 * 86_400_000,
  month: 32 * 86_400_000,
};

/**
 * Returns true if a period is so long that it certainly has more than `max` windows. If false, the period may still
 * have more windows: only {@link windowsOf} counts them.
 */
export function isTooLongFor(
  { startAt, endAt }: Period,
  interval: WindowInterval,
  max: number,
): boolean {
  return endAt.getTime() - startAt.getTime() > max * LONGEST_MS[interval];
}

/**
 * Returns the local hours, days, weeks or months of a period, or null if there are more than `max`. The first and the
 * last window are cut at the ends of the period. Days and longer windows follow the calendar of the time zone. A day
 * that the zone skipped has no window.
 */
export function windowsOf(
  period: Period,
  timeZone: string,
  interval: WindowInterval,
  max: number,
): readonly Period[] | null {
  if (isTooLongFor(period, interval, max)) return null;
  const windows: Period[] = [];
  const endAfter =
    interval === 'hour'
      ? localHourEnds(timeZone)
      : calendarEnds(period.startAt, timeZone, interval);
  for (let { startAt } = period; startAt < period.endAt;) {
    if (windows.length === max) return null;
    const next = endAfter(startAt);
    const endAt = next < period.endAt ? next : period.endAt;
    windows.push({ startAt, endAt });
    startAt = endAt;
  }
  return windows;
}

/**
 * Start of the last window that is computed. A window from here on lasts to the end of the period, because
 * `periodEndsOf` computes no end after the year 9999.
 */
const LAST_BOUNDARY_AT = new Date('9999-11-01T00:00:00.000Z');
const NEVER = new Date(8.64e15);

function calendarEnds(anchorAt: Date, timeZone: string, interval: Exclude<WindowInterval, 'hour'>) {
  const anchor = {
    mode: 'calendar',
    startAt: anchorAt,
    timeZone,
    interval,
    intervalCount: 1,
  } as const;
  const endOf = periodEndsOf(anchor);
  let index = 0;
  let endAt = anchorAt;
  return (startAt: Date): Date => {
    if (startAt >= LAST_BOUNDARY_AT) return NEVER;
    while (endAt <= startAt) {
      endAt = endOf(index);
      index += 1;
    }
    return endAt;
  };
}
