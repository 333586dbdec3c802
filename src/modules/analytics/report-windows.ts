import {
  BEGINNING,
  type InstantRange,
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
 * Returns the period of a report. By default, it ends now, and starts at the beginning of the month one year before its
 * end, but not before the year 1.
 * @throws {ProblemError} `report_period_empty`
 */
export function reportPeriodOf({ from, to }: InstantRange, timeZone: string, now: Date): Period {
  const endAt = to ?? now;
  const yearBefore = monthOfYearBefore(endAt, timeZone);
  const startAt = from ?? (yearBefore > BEGINNING ? yearBefore : BEGINNING);
  if (startAt >= endAt) throw reportPeriodEmpty();
  return { startAt, endAt };
}

/**
 * Returns the period of a report, as {@link reportPeriodOf} does, and its windows.
 * @param maxWindows maximum number of windows of the period
 * @throws {ProblemError} `report_period_empty`, `too_many_windows`
 */
export function reportOf(
  range: ReportRange,
  now: Date,
  maxWindows = MAX_WINDOWS,
): { readonly period: Period; readonly windows: readonly Period[] } {
  const period = reportPeriodOf(range, range.timeZone, now);
  const windows = windowsOf(period, range.timeZone, range.interval, maxWindows);
  return { period, windows: windows ?? raise(tooManyWindows(maxWindows)) };
}
