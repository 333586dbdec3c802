import { monthOfYearBefore, type Period, type WindowInterval, windowsOf } from '../../core/time';
import { raise } from '../../platform/errors';
import { tooManyWindows } from '../metering';
import { reportPeriodEmpty } from './analytics.errors';

export const REPORT_INTERVALS = [
  'day',
  'week',
  'month',
] as const satisfies readonly WindowInterval[];
export type ReportInterval = (typeof REPORT_INTERVALS)[number];

const MAX_WINDOWS = 2_000;

/**
 * Requested period of a report. `interval` is the length of the windows into which the period is divided. If `from` or
 * `to` is null, {@link reportOf} uses a default.
 */
export interface ReportRange {
  readonly from: Date | null;
  readonly to: Date | null;
  readonly interval: ReportInterval;
  readonly timeZone: string;
}

export interface Report<Row> {
  readonly period: Period;
  readonly rows: readonly Row[];
}

/**
 * Returns the period of a report and its windows. By default, the period ends now, and starts at the beginning of the
 * month one year before its end.
 * @param maxWindows maximum number of windows of the period
 * @throws {ProblemError} `report_period_empty`, `too_many_windows`
 */
export function reportOf(
  { from, to, interval, timeZone }: ReportRange,
  now: Date,
  maxWindows = MAX_WINDOWS,
): { readonly period: Period; readonly windows: readonly Period[] } {
  const endAt = to ?? now;
  const startAt = from ?? monthOfYearBefore(endAt, timeZone);
  if (startAt >= endAt) throw reportPeriodEmpty();
  const period = { startAt, endAt };
  const windows = windowsOf(period, timeZone, interval, maxWindows);
  return { period, windows: windows ?? raise(tooManyWindows(maxWindows)) };
}
