import { digestOf, hourOf } from './counted-sql';

const BUCKET = 'stream_id, meter_id, start_at, end_at, group_key';

/** SQL condition: the period is exactly one UTC hour. */
export const isHourSql = (startAt: string, endAt: string): string =>
  `(${endAt} - ${startAt} = interval '1 hour' AND ${startAt} = ${hourOf(startAt)})`;

/**
 * SQL condition: the registered window (a period with running totals of its own) is not exactly one UTC hour. A window
 * that is exactly one hour uses the totals of this hour instead of its own.
 */
const IS_NOT_WHOLE_HOUR = `NOT ${isHourSql('usage_window.start_at', 'usage_window.end_at')}`;

/**
 * SQL of `column` in an upsert of totals. Takes the value from the totals that contain the later event: the stored
 * totals (`bucket`) or the added totals (`excluded`). Of two events with the same timestamp, the event accepted last is
 * later.
 */
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
      AND ${IS_NOT_WHOLE_HOUR}`;

/**
 * CTE `change`: amounts that the events of the CTE `counted` add to the running totals of their hours. With
 * {@link IN_WINDOWS}, also amounts for the registered windows (periods with running totals of their own) that contain
 * them. `counted` has the columns stream_id, meter_id, aggregation, position, occurred_at, value, text and group_key.
 */
const changeOf = (inWindows: string): string => `
  spanned AS NOT MATERIALIZED (
    SELECT counted.*, hour.start_at, hour.start_at + interval '1 hour' AS end_at
    FROM counted CROSS JOIN LATERAL (SELECT ${hourOf('counted.occurred_at')} AS start_at) AS hour${inWindows}
  ),
  change AS MATERIALIZED (
    SELECT ${BUCKET}, value_digest, count(*) AS events,
      sum(value) FILTER (WHERE aggregation IN ('sum', 'weighted_sum')) AS total,
      max(value) FILTER (WHERE aggregation = 'max') AS greatest,
      max(ARRAY[extract(epoch FROM occurred_at), position, value]) FILTER (WHERE aggregation = 'latest') AS last,
      sum(value * extract(epoch FROM end_at - occurred_at) * 1000) FILTER (WHERE aggregation = 'weighted_sum') AS held_ms
    FROM spanned CROSS JOIN LATERAL (SELECT ${digestOf('text')} AS value_digest) AS what
    GROUP BY ${BUCKET}, value_digest
  )`;

/**
 * CTEs that add the events of the CTE `counted` (see {@link changeOf}) to running totals. The CTE `updated` returns the
 * changed totals. The streams must be locked.
 */
const addToBuckets = (inWindows: string): string => `
  ${changeOf(inWindows)},
  new_value AS (
    INSERT INTO usage_distinct_value (${BUCKET}, value_digest)
    SELECT ${BUCKET}, value_digest FROM change WHERE value_digest IS NOT NULL ORDER BY ${BUCKET}, value_digest
    ON CONFLICT DO NOTHING
    RETURNING ${BUCKET}
  ),
  updated AS (
    INSERT INTO usage_bucket AS bucket
      (${BUCKET}, events, total, greatest, latest, latest_at, latest_position, held_ms, distinct_values)
    SELECT ${BUCKET}, events, coalesce(total, 0), greatest, last[3], to_timestamp(last[1]), last[2], coalesce(held_ms, 0), 0
    FROM change WHERE value_digest IS NULL
    UNION ALL
    SELECT ${BUCKET}, sum(events), 0, NULL, NULL, NULL, NULL, 0, sum(distinct_values)
    FROM (
      SELECT ${BUCKET}, events, 0 AS distinct_values FROM change WHERE value_digest IS NOT NULL
      UNION ALL
      SELECT ${BUCKET}, 0, 1 FROM new_value
    ) AS piece
    GROUP BY ${BUCKET}
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

export const ADD_TO_BUCKETS = addToBuckets(IN_WINDOWS);

/**
 * CTEs that subtract the only event of the CTE `counted` (see {@link changeOf}) from all running totals that include
 * the event. The CTE `updated` returns the changed totals. The stream must be locked. Greatest, latest and distinct
 * values cannot be subtracted. For these, `updated` has two more columns:
 * - `is_extreme` is true if the greatest or latest value may be that of the event;
 * - `value_digest` is the digest of the event's value for a `unique` meter.
 */
export const SUBTRACT_FROM_BUCKETS = `
  ${changeOf(IN_WINDOWS)},
  updated AS (
    UPDATE usage_bucket AS bucket SET
      events = bucket.events - change.events,
      total = bucket.total - coalesce(change.total, 0),
      held_ms = bucket.held_ms - coalesce(change.held_ms, 0)
    FROM change
    WHERE (bucket.stream_id, bucket.meter_id, bucket.start_at, bucket.end_at, bucket.group_key)
      = (change.stream_id, change.meter_id, change.start_at, change.end_at, change.group_key)
    RETURNING bucket.*, change.value_digest,
      coalesce(change.greatest = bucket.greatest OR change.last[2] = bucket.latest_position, false) AS is_extreme
  )`;

/**
 * Like {@link ADD_TO_BUCKETS}, for events that are in no registered window (a period with running totals of its own).
 */
export const ADD_TO_HOURS = addToBuckets('');

/**
 * Returns a CTE that adds totals to the hour that contains `at`, and to a registered window (a period with running
 * totals of its own). Reads them from the CTE `added` with the columns stream_id, meter_id, events, total,
 * window_start_at and window_end_at. Only for `count` and `sum` meters without groups.
 */
export const addToPlainBuckets = (at: string): string => `
  updated AS (
    INSERT INTO usage_bucket AS bucket (${BUCKET}, events, total, held_ms, distinct_values)
    SELECT stream_id, meter_id, span.start_at, span.end_at, '[]', events, total, 0, 0
    FROM added CROSS JOIN LATERAL (VALUES
      (${hourOf(at)}, ${hourOf(at)} + interval '1 hour'),
      (window_start_at, window_end_at)
    ) AS span (start_at, end_at)
    ON CONFLICT (${BUCKET}) DO UPDATE SET events = bucket.events + excluded.events, total = bucket.total + excluded.total
  )`;
