import { parseExact } from '../../../core/decimal';
import type { UsageTotals } from '../../../core/usage';

/** Totals of a period or window as columns, named like those of `usage_bucket`. */
export interface TotalsRow {
  readonly events: string;
  readonly total: string;
  readonly greatest: string | null;
  readonly latest: string | null;
  readonly held_ms: string;
  readonly distinct_values: string;
}

export function toUsageTotals(row: TotalsRow): UsageTotals {
  return {
    events: BigInt(row.events),
    total: parseExact(row.total),
    greatest: row.greatest === null ? null : parseExact(row.greatest),
    latest: row.latest === null ? null : parseExact(row.latest),
    heldMs: parseExact(row.held_ms),
    distinctValues: BigInt(row.distinct_values),
  };
}

/**
 * SQL join that adds the row `totals` ({@link TotalsRow}): the running totals, over all groups, of a registered window
 * (a period with totals of its own). Appended to a FROM clause with `usage_window` and `meter`. For a `unique` meter, a
 * value in two groups counts once.
 */
export const WINDOW_TOTALS = `
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(events), 0) AS events, coalesce(sum(total), 0) AS total, max(greatest) AS greatest,
      (max(ARRAY[extract(epoch FROM latest_at), latest_position, latest]) FILTER (WHERE latest_at IS NOT NULL))[3] AS latest,
      coalesce(sum(held_ms), 0) AS held_ms,
      CASE WHEN meter.aggregation = 'unique' AND count(*) > 1 THEN (
        SELECT count(DISTINCT value_digest) FROM usage_distinct_value
        WHERE (stream_id, meter_id, start_at, end_at)
          = (usage_window.stream_id, usage_window.meter_id, usage_window.start_at, usage_window.end_at)
      ) ELSE coalesce(sum(distinct_values), 0) END AS distinct_values
    FROM usage_bucket
    WHERE (stream_id, meter_id, start_at, end_at)
      = (usage_window.stream_id, usage_window.meter_id, usage_window.start_at, usage_window.end_at)
  ) AS totals`;
