import { IS_COUNTED, GROUP_KEY, hourOf, METER_READS } from './counted-sql';
import { MOVE_BUCKETS } from './bucket-sql';

/** Number of the first parameter that the staged events take. */
export const FIRST_STAGED = 8;

/**
 * The streams of the request: `id` null where there is none, `last_instant` null where the customer is gone, else the
 * last instant at which its events may have happened.
 */
const STREAM = `
  stream AS (
    SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[])
      AS one(no, id, last_position, event_name, last_instant)
  )`;

const TALLY = `
  INSERT INTO usage_tally AS tally (stream_id, hour, accepted, duplicates, rejected)`;
const ADD_TO_TALLY = `
  ON CONFLICT (stream_id, hour) DO UPDATE SET
    accepted = tally.accepted + excluded.accepted,
    duplicates = tally.duplicates + excluded.duplicates,
    rejected = tally.rejected + excluded.rejected`;

/**
 * Stores what is new of the staged events and moves all that is counted of it. Events go in by the order of their keys, so
 * that two requests with the same keys wait for each other in one direction; a repetition within the request goes in
 * after the first. `missed` are those not stored: refused, or with a key that is known.
 * @param staged the events, in SQL
 */
export const recordSql = (staged: string): string => `
  WITH staged AS NOT MATERIALIZED ${staged},
  ${STREAM},
  billed AS MATERIALIZED (
    SELECT stream_id, meter_id, period_start_at, period_end_at, min(id) AS id
    FROM usage_billed WHERE stream_id = ANY($2::bigint[]) AND period_end_at > $6
    GROUP BY stream_id, meter_id, period_start_at, period_end_at
  ),
  late AS MATERIALIZED (
    SELECT event.index, stream.id AS stream_id, stream.last_position + event.index + 1 AS position,
      billed.id AS billed_id, meter.late_events
    FROM billed
    JOIN stream ON stream.id = billed.stream_id
    JOIN meter ON meter.id = billed.meter_id
    JOIN staged AS event ON event.stream_no = stream.no
      AND event.occurred_at >= billed.period_start_at AND event.occurred_at < billed.period_end_at
    ${METER_READS}
    WHERE ${IS_COUNTED}
  ),
  incoming AS NOT MATERIALIZED (
    SELECT staged.*, stream.id AS stream_id, stream.last_position + staged.index + 1 AS position,
      CASE
        WHEN stream.last_instant IS NULL THEN 'customer_not_found'
        WHEN staged.occurred_at > stream.last_instant THEN 'usage_in_future'
        WHEN staged.index IN (SELECT index FROM late WHERE late_events = 'reject') THEN 'usage_late'
      END AS refusal
    FROM staged JOIN stream ON stream.no = staged.stream_no
  ),
  fresh AS (
    INSERT INTO usage_event (key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties)
    SELECT key_digest, stream_id, position, occurred_at, $7::timestamptz, idempotency_key, properties
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
  counted AS MATERIALIZED (
    SELECT event.stream_id, meter.id AS meter_id, meter.aggregation, event.position, event.occurred_at,
      read.value, read.text, ${GROUP_KEY} AS group_key
    FROM fresh AS event
    JOIN stream ON stream.id = event.stream_id
    JOIN meter ON meter.event_name = stream.event_name
    ${METER_READS}
    WHERE ${IS_COUNTED}
  ),
  ${MOVE_BUCKETS},
  missed AS (
    SELECT index, refusal FROM incoming
    WHERE NOT EXISTS (
      SELECT FROM fresh WHERE fresh.stream_id = incoming.stream_id AND fresh.position = incoming.position
    )
  )
  SELECT
    (SELECT count(*) FROM fresh)::int AS accepted,
    (SELECT coalesce(json_agg(json_build_array(index, refusal)), '[]') FROM missed) AS missed,
    (SELECT coalesce(json_agg(json_build_object('billedId', billed_id, 'events', events)), '[]') FROM (
      SELECT billed_id, count(*) AS events FROM late JOIN fresh USING (stream_id, position)
      GROUP BY billed_id ORDER BY billed_id
    ) AS late_usage) AS late`;

/**
 * What became of the events that were not stored: a statement of its own, because it has to see what others stored under
 * their keys meanwhile, and what the first of a repetition has become.
 */
export const judgeSql = (staged: string): string => `
  WITH staged AS NOT MATERIALIZED ${staged},
  ${STREAM},
  missed AS (SELECT * FROM unnest($6::int[], $7::text[]) AS one(index, refusal)),
  judged AS MATERIALIZED (
    SELECT missed.index, stream.id AS stream_id, staged.occurred_at,
      CASE
        WHEN known.key_digest IS NULL THEN missed.refusal
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
