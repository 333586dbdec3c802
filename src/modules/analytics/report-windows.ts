import {
  BEGINNING,
  type InstantRange,
  isTooLongFor,
  monthOfYearBefore,
  type Period,
  type WindowInterval,
  windowsOf,
} from '../../core/time';
import { raise } from '../../platform/errors';
import { tooManyWindows } from '../metering';
import { reportPeriodEmpty } from './analytics.errors';

export const REPORT_INTERVALS = [
  'day',
  'week',
  'month',
] as const satisfies readonly WindowInterval[];
export type ReportInterval = (typeof REPORT_INTERVALS)[number];

export const MAX_WINDOWS = 2_000;

/**
 * Requested period of a report. `interval` is the length of the windows into which the period is divided. If `from` or
 * `to` is null, {@link reportPeriodOf} uses a default.
 */
export interface ReportRange extends InstantRange {
  readonly interval: ReportInterval;
  readonly timeZone: string;
}

export interface Report<Row> {
  readonly period: Period;
  readonly rows: readonly Row[];
}

/**
 * Returns the period of a report. The default end is now. The default start is the beginning of the month one year
 * before the end, but not before the year 1.
 * @throws {ProblemError} `report_period_empty`
 */
export function reportPeriodOf({ from, to }: InstantRange, timeZone: string, now: Date): Period {
  const endAt = to ?? now;
  const yearBefore = monthOfYearBefore(endAt, timeZone);
  const startAt = from ?? (yearBefore > BEGINNING ? yearBefore : BEGINNING);
  if (startAt >= endAt) throw reportPeriodEmpty();
  return { startAt, endAt };
}

interface DividedPeriod {
  readonly period: Period;
  /**
   * Returns the windows of the period. Call it within `Reports.run`, because it may compute thousands of windows.
   * @throws {ProblemError} `too_many_windows`
   */
  readonly divide: () => readonly Period[];
}

/**
 * Returns the period of a report, as {@link reportPeriodOf} does.
 * @param maxWindows maximum number of windows of the period
 * @throws {ProblemError} `report_period_empty`, `too_many_windows` if the length of the period alone shows that there
 *   are too many
 */
export function reportOf(range: ReportRange, now: Date, maxWindows = MAX_WINDOWS): DividedPeriod {
  const { timeZone, interval } = range;
  const period = reportPeriodOf(range, timeZone, now);
  if (isTooLongFor(period, interval, maxWindows)) throw tooManyWindows(maxWindows);
  const divide = () =>
    windowsOf(period, timeZone, interval, maxWindows) ?? raise(tooManyWindows(maxWindows));
  return { period, divide };
}
