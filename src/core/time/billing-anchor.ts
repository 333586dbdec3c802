import type { Temporal } from 'temporal-polyfill';
import { invariant } from '../invariant';
import { contains, type Period } from './period';
import { toInstant, toLocal, toLocalBeforeMove } from './zone';

export type Interval = 'day' | 'week' | 'month' | 'year';

/**
 * Origin of all periods of a subscription.
 * - `anniversary`: intervals are counted from the local date and time of `startAt`.
 * - `calendar`: periods start at the local midnight at which a day, ISO week (Monday), month or year begins. Only the
 *   first period starts at `startAt`, and may therefore be shorter.
 */
export type BillingAnchor = {
  readonly mode: 'anniversary' | 'calendar';
  readonly startAt: Date;
  /** IANA time zone of the customer, in which months and days are counted. */
  readonly timeZone: string;
  readonly interval: Interval;
  /** Length of a period in intervals: 3 with `month` is a quarter. */
  readonly intervalCount: number;
};

export type BillingPeriod = Period & {
  /** Position of the period: 0 for the first. */
  readonly index: number;
  /** The period itself, or the calendar period that a short first period is part of. */
  readonly fullPeriod: Period;
};

/** Last supported year: far beyond any contract, and within the limits of the calendar library and of RFC 3339. */
const MAX_YEAR = 9999;
const MAX_INTERVALS = 100_000;

const DURATION_KEY = { day: 'days', week: 'weeks', month: 'months', year: 'years' } as const;

/** Maximum length of each interval, not counting clock changes. */
const LONGEST_INTERVAL_MS = {
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 31 * 86_400_000,
  year: 366 * 86_400_000,
} as const;

/**
 * Returns period `index` of the anchor. Counts from the anchor, not from the end of the previous period. An anchor on
 * the 31st therefore ends periods on the 31st, on the 30th, or on the last day of February. A period is empty if the
 * time zone skipped all of it, as Apia skipped 30 December 2011. {@link periodFollowing} skips empty periods.
 * @throws InvariantError when the anchor is not valid, the index is not a whole number from 0, or the period ends after
 *   the year 9999.
 */
export function periodAt(anchor: BillingAnchor, index: number): BillingPeriod {
  invariant(Number.isInteger(index) && index >= 0, 'a period index is a whole number from 0');
  const origin = originOf(anchor);
  const startAt = index === 0 ? anchor.startAt : boundaryAt(anchor, origin, index);
  const endAt = boundaryAt(anchor, origin, index + 1);
  invariant(startAt <= endAt, 'a period does not end before it starts');
  const fullStartAt =
    index === 0 && anchor.mode === 'calendar' ? boundaryAt(anchor, origin, 0) : startAt;
  return { index, startAt, endAt, fullPeriod: { startAt: fullStartAt, endAt } };
}

/**
 * Returns a function from an index to the end of that period, as {@link periodAt} computes it. Computes the origin only
 * once, for callers that need many ends.
 */
export function periodEndsOf(anchor: BillingAnchor): (index: number) => Date {
  const origin = originOf(anchor);
  return (index) => boundaryAt(anchor, origin, index + 1);
}

/**
 * Returns the local time some months after the start of a period. If a DST change skipped the local time of the start,
 * such as 02:30, counts from the skipped time. Later periods start at 02:30 again.
 * @throws InvariantError when the number of months is not valid or the result is after the year 9999.
 */
export function monthsAfter(startAt: Date, months: number, timeZone: string): Date {
  invariant(Number.isInteger(months) && months >= 1, 'a number of months is from 1');
  const month = { mode: 'anniversary', startAt, timeZone, interval: 'month' } as const;
  return boundaryAt({ ...month, intervalCount: months }, toLocalBeforeMove(startAt, timeZone), 1);
}

/**
 * Returns the period that contains `instant`; undefined before the anchor's start. An instant on a boundary belongs
 * to the period that starts there.
 * @throws InvariantError when the anchor is not valid or the period ends after the year 9999.
 */
export function periodContaining(anchor: BillingAnchor, instant: Date): BillingPeriod | undefined {
  invariant(!Number.isNaN(instant.getTime()), 'an instant is a valid date');
  if (instant < anchor.startAt) {
    return undefined;
  }
  let low = earliestIndex(anchor, instant);
  let period = periodAt(anchor, low);
  while (!contains(period, instant)) {
    low += 1;
    period = periodAt(anchor, low);
  }
  return period;
}

/**
 * Returns the period after a stored period, given the stored index and end. The returned period starts at the stored
 * end, even if newer time zone data gives this boundary another instant. Skips periods that end at or before the stored
 * end.
 */
export function periodFollowing(
  anchor: BillingAnchor,
  { index, endAt: startAt }: Pick<BillingPeriod, 'index' | 'endAt'>,
): BillingPeriod {
  let { index: next, endAt } = periodAt(anchor, index + 1);
  while (endAt <= startAt) ({ index: next, endAt } = periodAt(anchor, next + 1));
  return { index: next, startAt, endAt, fullPeriod: { startAt, endAt } };
}

/**
 * Returns how many periods have started by an instant, at most `max`.
 * @throws InvariantError when the anchor is not valid or the period that contains the instant ends after the year 9999.
 */
export function periodsBegunBy(anchor: BillingAnchor, instant: Date, max: number): number {
  const longestMs = LONGEST_INTERVAL_MS[anchor.interval] * anchor.intervalCount;
  if (instant.getTime() - anchor.startAt.getTime() > max * longestMs) return max;
  const current = periodContaining(anchor, instant);
  return current === undefined ? 0 : Math.min(current.index + 1, max);
}

/** Returns the index of the period that contains `instant`, or an index shortly before it. */
function earliestIndex(anchor: BillingAnchor, instant: Date): number {
  const longestMs = LONGEST_INTERVAL_MS[anchor.interval] * anchor.intervalCount;
  let estimate = 0;
  // Each round covers most of the remaining distance, because months are 28 to 31 days long.
  for (;;) {
    const { startAt } = periodAt(anchor, estimate);
    const further = Math.floor((instant.getTime() - startAt.getTime()) / longestMs);
    // Stays one interval short, because a time zone may shift a boundary by an hour or a day.
    if (further <= 1) {
      return estimate;
    }
    estimate += further - 1;
  }
}

/** Returns the local date and time to which intervals are added to get the boundaries of periods. */
function originOf(anchor: BillingAnchor): Temporal.PlainDateTime {
  const { intervalCount } = anchor;
  invariant(Number.isInteger(intervalCount) && intervalCount >= 1, 'an interval count is from 1');
  const local = toLocal(anchor.startAt, anchor.timeZone).toPlainDateTime();
  if (anchor.mode === 'anniversary') return local;
  const begun = calendarStart(local, anchor.interval);
  const next = begun.add({ [DURATION_KEY[anchor.interval]]: 1 });
  // In a repeated hour, the first of two midnights may be over although the clock shows the day before again.
  return toInstant(next, anchor.timeZone) > anchor.startAt ? begun : next;
}

/** Returns the midnight at which the day, ISO week, month or year that contains `local` begins. */
function calendarStart(local: Temporal.PlainDateTime, interval: Interval): Temporal.PlainDateTime {
  const midnight = local.withPlainTime();
  switch (interval) {
    case 'day':
      return midnight;
    case 'week':
      return midnight.subtract({ days: midnight.dayOfWeek - 1 });
    case 'month':
      return midnight.with({ day: 1 });
    case 'year':
      return midnight.with({ month: 1, day: 1 });
  }
}

function boundaryAt(anchor: BillingAnchor, origin: Temporal.PlainDateTime, index: number): Date {
  const intervals = index * anchor.intervalCount;
  invariant(intervals <= MAX_INTERVALS, 'a period lies within the calendar');
  const local = origin.add(
    { [DURATION_KEY[anchor.interval]]: intervals },
    { overflow: 'constrain' },
  );
  invariant(local.year <= MAX_YEAR, 'a period lies within the calendar');
  return toInstant(local, anchor.timeZone);
}
