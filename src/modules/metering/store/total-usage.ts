import { Injectable } from '@nestjs/common';
import { compare, parseExact, add, type Rational, ZERO } from '../../../core/decimal';
import type { Group } from '../../../core/usage';
import { Database } from '../../../platform/database';
import { ArchivedUsage } from '../archive/archived-usage';
import { edgesOf, hourOf, splitAtHours } from '../domain/hours';
import type { TotalledAggregation } from '../domain/totalled-aggregation';
import type { TotalUsage, TotalUsageQuery } from '../usage-store';
import { tooMuchUsageToTotal } from '../usage.errors';
import { eventsOf, groupOf, IS_WHOLE_HOUR, NOT_VOIDED } from './totals-sql';

/** Maximum number of running totals and events that one query reads. */
const MAX_PIECES = 2_000_000;

/** SQL of the value of an hour and of an event, and the function that combines values, for each aggregation. */
const PIECES: Record<
  TotalledAggregation,
  { readonly ofHour: string; readonly ofEvent: string; readonly together: 'sum' | 'max' }
> = {
  count: { ofHour: 'bucket.events', ofEvent: '1', together: 'sum' },
  sum: { ofHour: 'bucket.total', ofEvent: 'counted.value', together: 'sum' },
  max: { ofHour: 'bucket.greatest', ofEvent: 'counted.value', together: 'max' },
};

/**
 * Returns SQL that selects `at`, `group_key` and `value` over all streams (one per customer). An hour that a window
 * contains completely has one row for each hourly total. The other hours ($6, in ascending order, may be empty) have
 * one row for each event. Reads events only in hours that have a running total, because other hours have no events.
 * OFFSET 0 makes PostgreSQL read the totals once per stream. Otherwise it would look up each hour of each stream, which
 * takes minutes if the windows start at half past the hour.
 */
function piecesOf({ aggregation, groupBy }: TotalUsageQuery['meter']): string {
  const { ofHour, ofEvent } = PIECES[aggregation];
  const events = { stream: 'stream.id', meter: '$2', condition: NOT_VOIDED, groupBy };
  return `
    SELECT bucket.start_at AS at, bucket.group_key, ${ofHour} AS value
    FROM stream CROSS JOIN LATERAL (
      SELECT * FROM usage_bucket
      WHERE stream_id = stream.id AND meter_id = $2 AND start_at >= $3 AND start_at < $4
        AND ${IS_WHOLE_HOUR} AND start_at <> ALL ($6::timestamptz[]) AND events > 0
      OFFSET 0
    ) AS bucket
    UNION ALL
    SELECT counted.occurred_at, counted.group_key, ${ofEvent}
    FROM stream
      CROSS JOIN LATERAL (
        SELECT start_at FROM usage_bucket
        WHERE stream_id = stream.id AND meter_id = $2
          AND start_at >= ($6::timestamptz[])[1] AND start_at <= ($6::timestamptz[])[cardinality($6)] AND ${IS_WHOLE_HOUR}
        GROUP BY 1 OFFSET 0
      ) AS used
      CROSS JOIN LATERAL (
        SELECT greatest(used.start_at, $3) AS start_at, least(used.start_at + interval '1 hour', $4) AS end_at
        WHERE used.start_at = ANY ($6::timestamptz[])
      ) AS edge
      CROSS JOIN LATERAL (${eventsOf(events)}) AS counted`;
}

interface TotalRow {
  /** Index of the time window among the requested ones. */
  readonly number: number;
  /** Null in the row that combines all groups except the largest ones. */
  readonly group_key: string | null;
  readonly value: string;
  readonly pieces: string;
}

/** Reads the usage of all customers from running totals, in one statement. */
@Injectable()
export class TotalUsageReader {
  constructor(
    private readonly database: Database,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  async read({ meter, windows, groupBy, top }: TotalUsageQuery): Promise<TotalUsage> {
    const edges = windows.flatMap((window) => edgesOf(splitAtHours(window)));
    await this.archivedUsage.requireUnarchivedOfEventName(meter.eventName, edges);
    const { together } = PIECES[meter.aggregation];
    const boundaries = [
      ...windows.map(({ startAt }) => startAt),
      ...windows.slice(-1).map(({ endAt }) => endAt),
    ];
    const cut = boundaries.filter((at) => hourOf(at).startAt.getTime() !== at.getTime());
    const rows = await this.database.query<TotalRow>(
      `WITH stream AS MATERIALIZED (
         SELECT usage_stream.id FROM usage_stream
           JOIN customer ON customer.id = usage_stream.customer_id AND customer.test_clock_id IS NULL
         WHERE usage_stream.event_name = $1
       ), counted AS MATERIALIZED (
         SELECT width_bucket(at, $5::timestamptz[]) - 1 AS number, group_key, ${together}(value) AS value, count(*) AS pieces
         FROM (SELECT * FROM (${piecesOf(meter)}) AS piece LIMIT $7 + 1) AS piece
         GROUP BY 1, 2
       ), grouped AS MATERIALIZED (
         SELECT number, ${groupOf(meter.groupBy, groupBy)} COLLATE "C" AS group_key, ${together}(value) AS value
         FROM counted GROUP BY 1, 2
       ), ranked AS (
         SELECT group_key, row_number() OVER (ORDER BY ${together}(value) DESC, group_key) AS place
         FROM grouped GROUP BY 1
       )
       SELECT number, CASE WHEN place <= $8 THEN group_key END AS group_key, ${together}(value) AS value,
         (SELECT sum(pieces) FROM counted) AS pieces
       FROM grouped JOIN ranked USING (group_key)
       GROUP BY 1, 2 ORDER BY 1, 2 NULLS LAST`,
      [
        meter.eventName,
        meter.id,
        boundaries.at(0)?.toISOString(),
        boundaries.at(-1)?.toISOString(),
        boundaries.map((at) => at.toISOString()),
        [...new Set(cut.map((at) => hourOf(at).startAt.toISOString()))],
        MAX_PIECES,
        top,
      ],
    );
    if (Number(rows[0]?.pieces ?? 0) > MAX_PIECES) throw tooMuchUsageToTotal(MAX_PIECES);
    const totals = windows.map<{ group: Group | null; value: Rational }[]>(() => []);
    for (const { number, group_key: key, value } of rows) {
      totals[number]?.push({
        group: key === null ? null : (JSON.parse(key) as Group),
        value: parseExact(value),
      });
    }
    return { windows: totals, total: combine(together, totals.flat()) };
  }
}

function combine(
  together: 'sum' | 'max',
  [first, ...others]: readonly { readonly value: Rational }[],
): Rational {
  const join = together === 'sum' ? add : (a: Rational, b: Rational) => (compare(a, b) > 0 ? a : b);
  return others.reduce((all, { value }) => join(all, value), first?.value ?? ZERO);
}
