import type { Aggregation } from '../../../core/usage';
import { digestOf, GROUP_KEY, hourOf, IS_COUNTED, METER_READS } from './counted-sql';

/** Milliseconds from one instant to another, exactly. */
const msBetween = (startAt: string, endAt: string): string =>
  `(extract(epoch FROM ${endAt} - ${startAt}) * 1000)`;

/** Arrays compare from the left: the greatest is the one that happened last, and of two at one instant came last. */
const rankOf = (occurredAt: string, position: string, value: string): string =>
  `ARRAY[extract(epoch FROM ${occurredAt}), ${position}, ${value}]`;

/** A registered window can be an hour long as well. */
const IS_HOUR = `end_at - start_at = interval '1 hour' AND start_at = ${hourOf('start_at')}`;

const MS_TO_END = msBetween('bucket.end_at', 'asked.end_at');
const MS_HELD = msBetween('counted.occurred_at', 'asked.end_at');

/**
 * What an hour and what an event of `counted` add to the totals of the period `asked`: one set of columns for both, of
 * which each aggregation fills those it reads.
 */
const PIECES: Record<Aggregation, { readonly ofHour: string; readonly ofEvent: string }> = {
  count: { ofHour: '', ofEvent: '' },
  sum: { ofHour: 'bucket.total AS total', ofEvent: 'counted.value AS total' },
  max: { ofHour: 'bucket.greatest AS greatest', ofEvent: 'counted.value AS greatest' },
  latest: {
    ofHour: `${rankOf('bucket.latest_at', 'bucket.latest_position', 'bucket.latest')} AS last`,
    ofEvent: `${rankOf('counted.occurred_at', 'counted.position', 'counted.value')} AS last`,
  },
  weighted_sum: {
    ofHour: `bucket.total AS total, bucket.held_ms + bucket.total * ${MS_TO_END} AS held_ms`,
    ofEvent: `counted.value AS total, counted.value * ${MS_HELD} AS held_ms`,
  },
  unique: { ofHour: 'NULL::uuid AS value', ofEvent: `${digestOf('counted.text')} AS value` },
};

/** The totals of the pieces of one group, named like the columns of `usage_bucket`. */
const TOTALS: Record<Aggregation, Partial<Record<TotalColumn, string>>> = {
  count: {},
  sum: { total: 'sum(total)' },
  max: { greatest: 'max(greatest)' },
  latest: {
    latest: '(max(last))[3]',
    latest_at: 'to_timestamp((max(last))[1])',
    latest_position: '(max(last))[2]',
  },
  weighted_sum: { total: 'sum(total)', held_ms: 'sum(held_ms)' },
  unique: { distinct_values: 'count(DISTINCT value)' },
};

const NOTHING_READ = {
  total: '0',
  greatest: 'NULL::numeric',
  latest: 'NULL::numeric',
  latest_at: 'NULL::timestamptz',
  latest_position: 'NULL::bigint',
  held_ms: '0',
  distinct_values: '0::bigint',
} as const;

type TotalColumn = keyof typeof NOTHING_READ;

/** The columns of `usage_bucket` that {@link totalsOf} gives after its group. */
export const TOTAL_COLUMNS = ['events', ...Object.keys(NOTHING_READ)].join(', ');

export const STANDS_NOW = 'event.voided_at IS NULL';

export interface PiecesSql {
  readonly aggregation: Aggregation;
  /** The id of the stream. */
  readonly stream: string;
  /** The id of the meter. */
  readonly meter: string;
  /**
   * Rows `place`, `start_at`, `hours_start_at`, `hours_end_at`, `end_at`: periods, and the whole hours in each to be
   * taken from their buckets; the rest comes from events.
   */
  readonly asked: string;
  /** Condition on `event`: it stands. */
  readonly stands: string;
}

/**
 * What follows WITH: the parts of which the usage of each group in each period is the sum. Without pull-up (OFFSET 0),
 * since for a join the planner reads all events where it should look up a few.
 */
function piecesOf({ aggregation, stream, meter, asked, stands }: PiecesSql): string {
  const { ofHour, ofEvent } = PIECES[aggregation];
  return `
    asked AS MATERIALIZED (${asked}),
    piece AS NOT MATERIALIZED (
      SELECT asked.place, bucket.group_key, ${['bucket.events', ofHour].filter(Boolean).join(', ')}
      FROM asked CROSS JOIN LATERAL (
        SELECT * FROM usage_bucket
        WHERE stream_id = ${stream} AND meter_id = ${meter}
          AND start_at >= asked.hours_start_at AND start_at < asked.hours_end_at AND ${IS_HOUR}
        OFFSET 0
      ) AS bucket
      UNION ALL
      SELECT asked.place, counted.group_key, ${['1::bigint', ofEvent].filter(Boolean).join(', ')}
      FROM asked CROSS JOIN LATERAL (
        VALUES (asked.start_at, asked.hours_start_at), (asked.hours_end_at, asked.end_at)
      ) AS edge(start_at, end_at) CROSS JOIN LATERAL (
        SELECT event.occurred_at, event.position, read.value, read.text, ${GROUP_KEY} AS group_key
        FROM usage_event AS event CROSS JOIN meter ${METER_READS}
        WHERE meter.id = ${meter} AND event.stream_id = ${stream}
          AND event.occurred_at >= edge.start_at AND event.occurred_at < edge.end_at
          AND ${stands} AND ${IS_COUNTED}
        OFFSET 0
      ) AS counted
      ${aggregation === 'unique' ? distinctValues(stream, meter) : ''}
    )`;
}

/**
 * A subquery: `place`, `group_key` and {@link TOTAL_COLUMNS} of each group that has events in a period, exactly.
 * @param group the key of a group of the answer, made of `group_key`
 */
export function totalsOf(pieces: PiecesSql, group = 'group_key'): string {
  const columns = { ...NOTHING_READ, ...TOTALS[pieces.aggregation] };
  return `(
    WITH ${piecesOf(pieces)}
    SELECT place, ${group} AS group_key, sum(events)::bigint AS events,
      ${Object.entries(columns)
        .map(([name, value]) => `${value} AS ${name}`)
        .join(', ')}
    FROM piece GROUP BY 1, 2
  )`;
}

/** A subquery: `group_key` and `value_digest`, the different values of each group over all periods, for `unique`. */
export function valuesOf(pieces: PiecesSql): string {
  return `(
    WITH ${piecesOf(pieces)}
    SELECT DISTINCT group_key, value AS value_digest FROM piece WHERE value IS NOT NULL
  )`;
}

/** The values that the buckets of hours have counted, as pieces without events. */
function distinctValues(stream: string, meter: string): string {
  return `
      UNION ALL
      SELECT asked.place, seen.group_key, 0::bigint, seen.value_digest
      FROM asked CROSS JOIN LATERAL (
        SELECT * FROM usage_distinct_value
        WHERE stream_id = ${stream} AND meter_id = ${meter}
          AND start_at >= asked.hours_start_at AND start_at < asked.hours_end_at AND ${IS_HOUR}
        OFFSET 0
      ) AS seen`;
}

/** `group_key` for all the properties a meter groups by, or one of those kept, in their order. */
export function groupOf(groupBy: readonly string[], kept: readonly string[]): string {
  if (kept.length === groupBy.length && kept.every((name, place) => name === groupBy[place])) {
    return 'group_key';
  }
  const texts = kept.map(
    (name) => `coalesce(to_json(group_key::jsonb ->> ${groupBy.indexOf(name)})::text, 'null')`,
  );
  return texts.length === 0 ? `'[]'` : `'[' || ${texts.join(` || ',' || `)} || ']'`;
}
