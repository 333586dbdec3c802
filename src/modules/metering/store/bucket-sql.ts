import { digestOf, hourOf } from './counted-sql';

const BUCKET = 'stream_id, meter_id, start_at, end_at, group_key';

/** A window of exactly one hour is the bucket of that hour. */
const IS_NO_HOUR = `
  NOT (usage_window.end_at - usage_window.start_at = interval '1 hour'
    AND usage_window.start_at = ${hourOf('usage_window.start_at')})`;

/** Of two events at one instant, the one accepted last is the latest. */
const laterOf = (column: string): string => `
  CASE
    WHEN excluded.latest_at IS NULL
      OR (bucket.latest_at, bucket.latest_position) > (excluded.latest_at, excluded.latest_position)
    THEN bucket.${column} ELSE excluded.${column}
  END`;

/**
 * Parts of a statement that add the rows of its part `counted` (stream_id, meter_id, aggregation, position, occurred_at,
 * value, text, group_key) to the running totals of their hours and of the registered windows that hold them. The caller
 * holds the streams. The part `moved` has the buckets as they are then.
 */
export const MOVE_BUCKETS = `
  spanned AS NOT MATERIALIZED (
    SELECT counted.*, hour.start_at, hour.start_at + interval '1 hour' AS end_at
    FROM counted CROSS JOIN LATERAL (SELECT ${hourOf('counted.occurred_at')} AS start_at) AS hour
    UNION ALL
    SELECT counted.*, usage_window.start_at, usage_window.end_at
    FROM counted JOIN usage_window USING (stream_id, meter_id)
    WHERE counted.occurred_at >= usage_window.start_at AND counted.occurred_at < usage_window.end_at
      AND ${IS_NO_HOUR}
  ),
  new_value AS (
    INSERT INTO usage_distinct_value (${BUCKET}, value_digest)
    SELECT DISTINCT ${BUCKET}, ${digestOf('text')} FROM spanned WHERE text IS NOT NULL
    ORDER BY ${BUCKET}
    ON CONFLICT DO NOTHING
    RETURNING ${BUCKET}
  ),
  moved AS (
    INSERT INTO usage_bucket AS bucket
      (${BUCKET}, events, total, greatest, latest, latest_at, latest_position, held_ms, distinct_values)
    SELECT ${BUCKET}, events, total, greatest, last[3], to_timestamp(last[1]), last[2], held_ms, coalesce(values, 0)
    FROM (
      SELECT ${BUCKET},
        count(*) AS events,
        coalesce(sum(value) FILTER (WHERE aggregation IN ('sum', 'weighted_sum')), 0) AS total,
        max(value) FILTER (WHERE aggregation = 'max') AS greatest,
        max(ARRAY[extract(epoch FROM occurred_at), position, value]) FILTER (WHERE aggregation = 'latest') AS last,
        coalesce(sum(value * extract(epoch FROM end_at - occurred_at) * 1000)
          FILTER (WHERE aggregation = 'weighted_sum'), 0) AS held_ms
      FROM spanned GROUP BY ${BUCKET}
    ) AS change
    LEFT JOIN (SELECT ${BUCKET}, count(*) AS values FROM new_value GROUP BY ${BUCKET}) AS new
      USING (${BUCKET})
    ORDER BY ${BUCKET}
    ON CONFLICT (${BUCKET}) DO UPDATE SET
      events = bucket.events + excluded.events,
      total = bucket.total + excluded.total,
      greatest = greatest(bucket.greatest, excluded.greatest),
      latest = ${laterOf('latest')},
      latest_at = ${laterOf('latest_at')},
      latest_position = ${laterOf('latest_position')},
      held_ms = bucket.held_ms + excluded.held_ms,
      distinct_values = bucket.distinct_values + excluded.distinct_values
    RETURNING bucket.*
  )`;

const WINDOW = 'stream_id, meter_id, start_at, end_at';
const TOTALS =
  'events, total, greatest, latest, latest_at, latest_position, held_ms, distinct_values';

/**
 * Parts that follow {@link MOVE_BUCKETS}: `side` has the buckets of the registered windows that moved, as they were when
 * the statement began and as it leaves them.
 */
export const SIDES_OF_WINDOWS = `
  touched AS MATERIALIZED (
    SELECT DISTINCT ${WINDOW} FROM moved JOIN usage_window USING (${WINDOW})
  ),
  side AS (
    SELECT true AS is_before, ${WINDOW}, ${TOTALS} FROM usage_bucket JOIN touched USING (${WINDOW})
    UNION ALL
    SELECT false, ${WINDOW}, ${TOTALS} FROM moved JOIN touched USING (${WINDOW})
    UNION ALL
    SELECT false, ${WINDOW}, ${TOTALS} FROM usage_bucket AS standing JOIN touched USING (${WINDOW})
    WHERE NOT EXISTS (
      SELECT FROM moved
      WHERE (moved.stream_id, moved.meter_id, moved.start_at, moved.end_at, moved.group_key)
        = (standing.stream_id, standing.meter_id, standing.start_at, standing.end_at, standing.group_key)
    )
  )`;

/** Milliseconds since 1970. */
export const msOf = (instant: string): string => `(extract(epoch FROM ${instant}) * 1000)::bigint`;

/** What a meter reads of the buckets of a window over all groups; of a weighted sum what is still to be divided by time. */
const valueOf = (condition: string): string => `
  coalesce(CASE meter.aggregation
    WHEN 'count' THEN sum(events) FILTER (WHERE ${condition})
    WHEN 'sum' THEN sum(total) FILTER (WHERE ${condition})
    WHEN 'max' THEN max(greatest) FILTER (WHERE ${condition})
    WHEN 'latest' THEN (max(ARRAY[extract(epoch FROM latest_at), latest_position, latest]) FILTER (WHERE ${condition}))[3]
    WHEN 'unique' THEN sum(distinct_values) FILTER (WHERE ${condition})
    WHEN 'weighted_sum' THEN sum(held_ms) FILTER (WHERE ${condition})
  END, 0)::text`;

/** The windows of `side`, each with its value before and after; \`no\` is that of the stream. */
export const MOVED_WINDOWS = `
  SELECT stream.no, meter.id AS "meterId", meter.aggregation, ${msOf('side.start_at')} AS "startMs",
    ${msOf('side.end_at')} AS "endMs", ${valueOf('side.is_before')} AS before, ${valueOf('NOT side.is_before')} AS after
  FROM side JOIN stream ON stream.id = side.stream_id JOIN meter ON meter.id = side.meter_id
  GROUP BY stream.no, meter.id, side.start_at, side.end_at
  ORDER BY stream.no, meter.id, side.start_at, side.end_at`;
