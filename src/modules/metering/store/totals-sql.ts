import type { Aggregation } from '../../../core/usage';
import { digestOf, groupKeyOf, hourOf, IS_COUNTED, METER_READS } from './counted-sql';

/** SQL of the exact milliseconds from one instant to another. */
const msBetween = (startAt: string, endAt: string): string =>
  `(extract(epoch FROM ${endAt} - ${startAt}) * 1000)`;

/** SQL of an array of timestamp, position and value. The greatest of several such arrays contains the latest value. */
const rankOf = (occurredAt: string, position: string, value: string): string =>
  `ARRAY[extract(epoch FROM ${occurredAt}), ${position}, ${value}]`;

/**
 * SQL condition: the row has the totals of a UTC hour. A length of one hour is not enough, because the table also has
 * rows of registered windows (periods with any start and end). Such a window may be one hour long but start within a
 * UTC hour.
 */
export const IS_WHOLE_HOUR = `end_at - start_at = interval '1 hour' AND start_at = ${hourOf('start_at')}`;

const MS_TO_END = msBetween('bucket.end_at', 'requested.end_at');
const MS_HELD = msBetween('counted.occurred_at', 'requested.end_at');

/** Columns of a row of the CTE `piece` (see {@link piecesOf}), which is the total of an hour or a single event. */
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

/** SQL that computes a column of `usage_bucket` from the rows of `piece` of one group, by aggregation and column. */
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

const EMPTY_TOTALS = {
  total: '0',
  greatest: 'NULL::numeric',
  latest: 'NULL::numeric',
  latest_at: 'NULL::timestamptz',
  latest_position: 'NULL::bigint',
  held_ms: '0',
  distinct_values: '0::bigint',
} as const;

type TotalColumn = keyof typeof EMPTY_TOTALS;

/** Columns of {@link totalsOf} except `number` and `group_key`. They are named like columns of `usage_bucket`. */
export const TOTAL_COLUMNS = ['events', ...Object.keys(EMPTY_TOTALS)].join(', ');

export const NOT_VOIDED = 'event.voided_at IS NULL';

export interface PiecesSql {
  readonly aggregation: Aggregation;
  readonly stream: string;
  readonly meter: string;
  /**
   * SQL that selects periods: `number`, `start_at`, `hours_start_at`, `hours_end_at`, `end_at`. From `hours_start_at`
   * to `hours_end_at`, stored hourly totals are read. Before and after, single events are counted.
   */
  readonly requested: string;
  /** Condition that an `event` must meet to be read. */
  readonly condition: string;
  readonly groupBy: readonly string[];
}

/**
 * SQL subquery of the events that the meter counts between `edge.start_at` and `edge.end_at`. OFFSET 0 keeps PostgreSQL
 * from reading the events of all streams.
 */
export const eventsOf = ({
  stream,
  meter,
  condition,
  groupBy,
}: Pick<PiecesSql, 'stream' | 'meter' | 'condition' | 'groupBy'>): string => `
        SELECT event.occurred_at, event.position, read.value, read.text, ${groupKeyOf(groupBy.length)} AS group_key
        FROM usage_event AS event CROSS JOIN meter ${METER_READS}
        WHERE meter.id = ${meter} AND event.stream_id = ${stream} AND edge.start_at < edge.end_at
          AND event.occurred_at >= edge.start_at AND event.occurred_at < edge.end_at
          AND ${condition} AND ${IS_COUNTED}
        OFFSET 0`;

/**
 * CTEs `requested` (the periods) and `piece` (for each period, a row per hourly total and per event outside whole
 * hours). OFFSET 0 keeps PostgreSQL from turning the lookups into joins that read all events.
 */
function piecesOf(pieces: PiecesSql): string {
  const { aggregation, stream, meter, requested } = pieces;
  const { ofHour, ofEvent } = PIECES[aggregation];
  return `
    requested AS MATERIALIZED (${requested}),
    piece AS NOT MATERIALIZED (
      SELECT requested.number, bucket.group_key, ${['bucket.events', ofHour].filter(Boolean).join(', ')}
      FROM requested CROSS JOIN LATERAL (
        SELECT * FROM usage_bucket
        WHERE stream_id = ${stream} AND meter_id = ${meter}
          AND start_at >= requested.hours_start_at AND start_at < requested.hours_end_at AND ${IS_WHOLE_HOUR}
        OFFSET 0
      ) AS bucket
      UNION ALL
      SELECT requested.number, counted.group_key, ${['1::bigint', ofEvent].filter(Boolean).join(', ')}
      FROM requested CROSS JOIN LATERAL (
        VALUES (requested.start_at, requested.hours_start_at), (requested.hours_end_at, requested.end_at)
      ) AS edge(start_at, end_at) CROSS JOIN LATERAL (${eventsOf(pieces)}
      ) AS counted
      ${aggregation === 'unique' ? distinctValues(stream, meter) : ''}
    )`;
}

/**
 * SQL subquery of the exact totals of each period and group: `number`, `group_key` and {@link TOTAL_COLUMNS}.
 * @param group SQL that maps `group_key` to the groups of the answer
 */
export function totalsOf(pieces: PiecesSql, group = 'group_key'): string {
  const columns = { ...EMPTY_TOTALS, ...TOTALS[pieces.aggregation] };
  return `(
    WITH ${piecesOf(pieces)}
    SELECT number, ${group} AS group_key, sum(events)::bigint AS events,
      ${Object.entries(columns)
        .map(([name, value]) => `${value} AS ${name}`)
        .join(', ')}
    FROM piece GROUP BY 1, 2
  )`;
}

/** SQL subquery of the distinct values (`group_key`, `value_digest`) over all periods, for the aggregation `unique`. */
export function valuesOf(pieces: PiecesSql): string {
  return `(
    WITH ${piecesOf(pieces)}
    SELECT DISTINCT group_key, value AS value_digest FROM piece WHERE value IS NOT NULL
  )`;
}

/**
 * SQL that returns a row of `piece` (see {@link piecesOf}) for each distinct value of the whole hours. Column `events`
 * of these rows is 0, because the hourly totals already count the events.
 */
function distinctValues(stream: string, meter: string): string {
  return `
      UNION ALL
      SELECT requested.number, seen.group_key, 0::bigint, seen.value_digest
      FROM requested CROSS JOIN LATERAL (
        SELECT * FROM usage_distinct_value
        WHERE stream_id = ${stream} AND meter_id = ${meter}
          AND start_at >= requested.hours_start_at AND start_at < requested.hours_end_at AND ${IS_WHOLE_HOUR}
        OFFSET 0
      ) AS seen`;
}

/** Returns SQL that reduces `group_key` to the properties in `kept`, in the order of `kept`. */
export function groupOf(groupBy: readonly string[], kept: readonly string[]): string {
  if (kept.length === groupBy.length && kept.every((name, index) => name === groupBy[index])) {
    return 'group_key';
  }
  const texts = kept.map(
    (name) => `coalesce(to_json(group_key::jsonb ->> ${groupBy.indexOf(name)})::text, 'null')`,
  );
  return texts.length === 0 ? `'[]'` : `'[' || ${texts.join(` || ',' || `)} || ']'`;
}
