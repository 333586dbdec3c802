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

const IN_WINDOWS = `
    UNION ALL
    SELECT counted.*, usage_window.start_at, usage_window.end_at
    FROM counted JOIN usage_window USING (stream_id, meter_id)
    WHERE counted.occurred_at >= usage_window.start_at AND counted.occurred_at < usage_window.end_at
      AND ${IS_NO_HOUR}`;

/**
 * Parts of a statement that add the rows of its part `counted` (stream_id, meter_id, aggregation, position, occurred_at,
 * value, text, group_key) to the running totals of their hours and of the registered windows that hold them. The caller
 * holds the streams. The part `moved` has the buckets as they are then.
 */
const moveBuckets = (inWindows: string): string => `
  spanned AS NOT MATERIALIZED (
    SELECT counted.*, hour.start_at, hour.start_at + interval '1 hour' AS end_at
    FROM counted CROSS JOIN LATERAL (SELECT ${hourOf('counted.occurred_at')} AS start_at) AS hour${inWindows}
  ),
  new_value AS (
    INSERT INTO usage_distinct_value (${BUCKET}, value_digest)
    SELECT DISTINCT ${BUCKET}, ${digestOf('text')} FROM spanned WHERE text IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING ${BUCKET}
  ),
  moved AS (
    INSERT INTO usage_bucket AS bucket
      (${BUCKET}, events, total, greatest, latest, latest_at, latest_position, held_ms, distinct_values)
    SELECT ${BUCKET}, events, total, greatest, last[3], to_timestamp(last[1]), last[2], held_ms, distinct_values
    FROM (
      SELECT ${BUCKET},
        count(aggregation) AS events,
        coalesce(sum(value) FILTER (WHERE aggregation IN ('sum', 'weighted_sum')), 0) AS total,
        max(value) FILTER (WHERE aggregation = 'max') AS greatest,
        max(ARRAY[extract(epoch FROM occurred_at), position, value]) FILTER (WHERE aggregation = 'latest') AS last,
        coalesce(sum(value * extract(epoch FROM end_at - occurred_at) * 1000)
          FILTER (WHERE aggregation = 'weighted_sum'), 0) AS held_ms,
        count(*) - count(aggregation) AS distinct_values
      FROM (
        SELECT ${BUCKET}, aggregation, occurred_at, position, value FROM spanned
        UNION ALL
        SELECT ${BUCKET}, NULL, NULL, NULL, NULL FROM new_value
      ) AS piece
      GROUP BY ${BUCKET}
    ) AS change
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

export const MOVE_BUCKETS = moveBuckets(IN_WINDOWS);

/** The same for events that are in no registered window. */
export const MOVE_HOURS = moveBuckets('');
