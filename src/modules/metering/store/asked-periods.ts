import type { SplitPeriod } from '../domain/hours';

/** SQL for the periods of `PiecesSql`, from the parameters that {@link columnsOf} returns: $3 to $7. */
export const ASKED = `
  SELECT * FROM unnest($3::integer[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
    AS asked(number, start_at, hours_start_at, hours_end_at, end_at)`;

/** Returns the periods as parameters, numbered from 0. */
export function columnsOf(periods: readonly SplitPeriod[]): readonly (readonly unknown[])[] {
  return [
    periods.map((_, number) => number),
    periods.map(({ startAt }) => startAt.toISOString()),
    periods.map(({ hoursStartAt }) => hoursStartAt.toISOString()),
    periods.map(({ hoursEndAt }) => hoursEndAt.toISOString()),
    periods.map(({ endAt }) => endAt.toISOString()),
  ];
}
