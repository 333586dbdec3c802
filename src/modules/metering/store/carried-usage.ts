import { parseExact, type Rational } from '../../../core/decimal';
import type { Database } from '../../../platform/database';
import { hourOf } from './counted-sql';
import { NOT_VOIDED, totalsOf } from './totals-sql';

/**
 * Registered window (a period with running totals of its own) of a meter whose values carry over into later periods.
 */
export interface CarryingWindow {
  readonly streamId: string;
  readonly meterId: string;
  readonly startAt: Date;
}

const HOUR = hourOf('carrying.start_at');

const BEFORE_WINDOW = totalsOf({
  aggregation: 'weighted_sum',
  stream: 'carrying.stream_id',
  meter: 'carrying.meter_id',
  requested: `
    SELECT 0 AS number, '0001-01-01T00:00:00Z'::timestamptz AS start_at, '0001-01-01T00:00:00Z'::timestamptz AS hours_start_at,
      ${HOUR} AS hours_end_at, carrying.start_at AS end_at`,
  condition: NOT_VOIDED,
  // Adds up all groups.
  groupBy: [],
});

const CARRIED = `
  SELECT coalesce((SELECT sum(total) FROM ${BEFORE_WINDOW} AS earlier), 0) AS total
  FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS carrying(stream_id, meter_id, start_at, number)
  ORDER BY number`;

/** Returns, for each window, the value that carries over into it from earlier events, summed over all groups. */
export async function carriedOverValues(
  database: Database,
  windows: readonly CarryingWindow[],
): Promise<readonly Rational[]> {
  if (windows.length === 0) return [];
  const rows = await database.query<{ total: string }>(CARRIED, [
    windows.map(({ streamId }) => streamId),
    windows.map(({ meterId }) => meterId),
    windows.map(({ startAt }) => startAt),
  ]);
  return rows.map(({ total }) => parseExact(total));
}
