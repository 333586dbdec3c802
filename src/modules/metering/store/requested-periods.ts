import type { SplitPeriod } from '../domain/hours';

/** SQL for `PiecesSql.requested`: periods in the parameters $3 to $7, numbered from 0. */
export const REQUESTED_PERIODS = `
  SELECT * FROM unnest($3::integer[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
    AS requested(number, start_at, hours_start_at, hours_end_at, end_at)`;

export function requestedPeriodParameters(
  periods: readonly SplitPeriod[],
): readonly (readonly unknown[])[] {
  return [
    periods.map((_, number) => number),
    periods.map(({ startAt }) => startAt.toISOString()),
    periods.map(({ hoursStartAt }) => hoursStartAt.toISOString()),
    periods.map(({ hoursEndAt }) => hoursEndAt.toISOString()),
    periods.map(({ endAt }) => endAt.toISOString()),
  ];
}
