import { localHourAfter, type Period, periodAt } from '../../../core/time';

export const USAGE_INTERVALS = ['hour', 'day', 'month'] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];

/**
 * The local hours, days or months that a period spans, the first and the last cut at its ends; null if there are more
 * than `most`. Days and months follow the calendar of the zone; a day that a zone skipped has no window.
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

/** The calendar ends with the year 9999: from here on there is one window to the end of the period. */
const LAST_BORDER_AT = new Date('9999-11-01T00:00:00.000Z');
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
    if (startAt >= LAST_BORDER_AT) return NEVER;
    let { endAt } = periodAt(anchor, index);
    while (endAt <= startAt) {
      index += 1;
      ({ endAt } = periodAt(anchor, index));
    }
    return endAt;
  };
}
