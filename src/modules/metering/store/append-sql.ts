import { IS_COUNTED, GROUP_KEY, hourOf, METER_READS } from './counted-sql';
import { MOVE_BUCKETS, MOVED_WINDOWS, msOf, SIDES_OF_WINDOWS } from './bucket-sql';

/** Number of the first parameter that the staged events take. */
export const FIRST_STAGED = 9;

/**
 * The streams of the request: `id` null where there is none, `refusal` why none of its events can be stored, else null,
 * `last_instant` the last at which they may have happened.
 */
const STREAM = `
  stream AS (
    SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[])
      AS one(no, id, last_position, event_name, refusal, last_instant)
  )`;

const TALLY = `
  INSERT INTO usage_tally AS tally (stream_id, hour, accepted, duplicates, rejected)`;
const ADD_TO_TALLY = `
  ON CONFLICT (stream_id, hour) DO UPDATE SET
    accepted = tally.accepted + excluded.accepted,
    duplicates = tally.duplicates + excluded.duplicates,
    rejected = tally.rejected + excluded.rejected`;

/**
 * The events that lie in a period that is billed, and count there; most of the time the first part is empty. What a
 * recurring meter holds is carried over: such an event is late for every later period too.
 */
const LATE = `
  billed AS MATERIALIZED (
    SELECT stream_id, meter_id, period_start_at, period_end_at, min(id) AS id
    FROM usage_billed WHERE stream_id = ANY($2::bigint[]) AND period_end_at > $7
    GROUP BY stream_id, meter_id, period_start_at, period_end_at
  ),
  late AS MATERIALIZED (
    SELECT event.index, stream.no, stream.id AS stream_id, stream.last_position + event.index + 1 AS position,
      billed.id AS billed_id, billed.meter_id, billed.period_start_at AS start_at, billed.period_end_at AS end_at,
      meter.late_events
    FROM billed
    JOIN stream ON stream.id = billed.stream_id
    JOIN meter ON meter.id = billed.meter_id
    JOIN staged AS event ON event.stream_no = stream.no
      AND event.occurred_at < billed.period_end_at
      AND (event.occurred_at >= billed.period_start_at OR meter.is_recurring)
    ${METER_READS}
    WHERE ${IS_COUNTED}
  )`;

const COUNTED = `
  counted AS MATERIALIZED (
    SELECT event.stream_id, meter.id AS meter_id, meter.aggregation, event.position, event.occurred_at,
      read.value, read.text, ${GROUP_KEY} AS group_key
    FROM fresh AS event
    JOIN stream ON stream.id = event.stream_id
    JOIN meter ON meter.event_name = stream.event_name
    ${METER_READS}
    WHERE ${IS_COUNTED}
  )`;

/** Part of the statement: the periods of `late` events that are stored have usage which is not billed. */
const MARK_LATE = `
  marked AS (
    UPDATE usage_billed SET is_late = true
    FROM late JOIN fresh USING (stream_id, position)
    WHERE usage_billed.stream_id = late.stream_id AND usage_billed.meter_id = late.meter_id
      AND usage_billed.period_start_at = late.start_at
      AND usage_billed.period_end_at = late.end_at AND NOT usage_billed.is_late
  )`;

/**
 * Stores what is new of the staged events and moves all that is counted of it. Events go in by the order of their keys, so
 * that two requests with the same keys wait for each other in one direction; a repetition within the request goes in
 * after the first. `missed` are those not stored: refused, or with a key that is known.
 * @param staged the events, in SQL
 */
export const recordSql = (staged: string): string => `
  WITH staged AS NOT MATERIALIZED ${staged},
  ${STREAM},
  ${LATE},
  incoming AS NOT MATERIALIZED (
    SELECT staged.*, stream.id AS stream_id, stream.last_position + staged.index + 1 AS position,
      CASE
        WHEN stream.refusal IS NOT NULL THEN stream.refusal
        WHEN staged.occurred_at > stream.last_instant THEN 'usage_in_future'
        WHEN staged.index IN (SELECT index FROM late WHERE late_events = 'reject') THEN 'usage_late'
      END AS refusal
    FROM staged JOIN stream ON stream.no = staged.stream_no
  ),
  fresh AS (
    INSERT INTO usage_event (key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties)
    SELECT key_digest, stream_id, position, occurred_at, $8::timestamptz, idempotency_key, properties
    FROM incoming WHERE refusal IS NULL
    ORDER BY key_digest, index
    ON CONFLICT (key_digest) DO NOTHING
    RETURNING stream_id, position, occurred_at, properties
  ),
  advanced AS (
    UPDATE usage_stream SET last_position = change.position
    FROM (SELECT stream_id, max(position) AS position FROM fresh GROUP BY stream_id) AS change
    WHERE usage_stream.id = change.stream_id
  ),
  tallied AS (
    ${TALLY}
    SELECT stream_id, ${hourOf('occurred_at')}, count(*), 0, 0 FROM fresh GROUP BY 1, 2 ORDER BY 1, 2
    ${ADD_TO_TALLY}
  ),
  ${COUNTED},
  ${MOVE_BUCKETS},
  ${SIDES_OF_WINDOWS},
  ${MARK_LATE},
  missed AS (
    SELECT index, refusal FROM incoming
    WHERE NOT EXISTS (
      SELECT FROM fresh WHERE fresh.stream_id = incoming.stream_id AND fresh.position = incoming.position
    )
  )
  SELECT
    (SELECT count(*) FROM fresh)::int AS accepted,
    (SELECT coalesce(json_agg(json_build_array(index, refusal)), '[]') FROM missed) AS missed,
    (SELECT coalesce(json_agg(late_usage), '[]') FROM (
      SELECT late.no, billed_id AS "billedId", meter_id AS "meterId", ${msOf('start_at')} AS "startMs",
        ${msOf('end_at')} AS "endMs", count(*) AS events
      FROM late JOIN fresh USING (stream_id, position)
      GROUP BY late.no, billed_id, meter_id, start_at, end_at
      ORDER BY billed_id
    ) AS late_usage) AS late,
    (SELECT coalesce(json_agg(moved_window), '[]') FROM (${MOVED_WINDOWS}) AS moved_window) AS windows`;

/**
 * What became of the events that were not stored: a statement of its own, because it has to see what others stored under
 * their keys meanwhile, and what the first of a repetition has become.
 */
export const judgeSql = (staged: string): string => `
  WITH staged AS NOT MATERIALIZED ${staged},
  ${STREAM},
  missed AS (SELECT * FROM unnest($7::int[], $8::text[]) AS one(index, refusal)),
  judged AS MATERIALIZED (
    SELECT missed.index, stream.id AS stream_id, staged.occurred_at,
      CASE
        WHEN known.key_digest IS NULL OR missed.refusal = 'busy' THEN missed.refusal
        WHEN known.stream_id = stream.id AND known.occurred_at = staged.occurred_at
          AND known.properties = staged.properties THEN 'duplicate'
        ELSE 'idempotency_key_reused'
      END AS verdict
    FROM missed
    JOIN staged ON staged.index = missed.index
    JOIN stream ON stream.no = staged.stream_no
    LEFT JOIN usage_event AS known ON known.key_digest = staged.key_digest
  ),
  tallied AS (
    ${TALLY}
    SELECT stream_id, ${hourOf('occurred_at')}, 0,
      count(*) FILTER (WHERE verdict = 'duplicate'), count(*) FILTER (WHERE verdict <> 'duplicate')
    FROM judged WHERE stream_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
    ${ADD_TO_TALLY}
  )
  SELECT index, verdict FROM judged ORDER BY index`;
