import { localHourAfter, type Period, periodAt } from '../../../core/time';

export const USAGE_INTERVALS = ['hour', 'day', 'month'] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];

/**
 * Returns the local hours, days or months of a period, the first and the last cut at its ends; null if there are more than
 * `most`. Days and months follow the calendar of the time zone; a day that a zone skipped has no window.
 */
export function windowsOf(
  period: Period,
  timeZone: string,
  interval: UsageInterval,
  most: number,
): readonly Period[] | null {
  const windows: Period[] = [];
  const endAfter =
    interval === 'hour'
      ? (startAt: Date) => localHourAfter(startAt, timeZone)
      : calendarEnds(period.startAt, timeZone, interval);
  for (let { startAt } = period; startAt < period.endAt;) {
    if (windows.length === most) return null;
    const next = endAfter(startAt);
    const endAt = next < period.endAt ? next : period.endAt;
    windows.push({ startAt, endAt });
    startAt = endAt;
  }
  return windows;
}

/** The calendar ends with the year 9999: from this instant on there is one window to the end of the period. */
const LAST_BOUNDARY_AT = new Date('9999-11-01T00:00:00.000Z');
const NEVER = new Date(8.64e15);

function calendarEnds(anchorAt: Date, timeZone: string, interval: 'day' | 'month') {
  const anchor = {
    mode: 'calendar',
    startAt: anchorAt,
    timeZone,
    interval,
    intervalCount: 1,
  } as const;
  let index = 0;
  return (startAt: Date): Date => {
    if (startAt >= LAST_BOUNDARY_AT) return NEVER;
    let { endAt } = periodAt(anchor, index);
    while (endAt <= startAt) {
      index += 1;
      ({ endAt } = periodAt(anchor, index));
    }
    return endAt;
  };
}
