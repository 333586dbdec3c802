import { MOVE_BUCKETS, MOVE_HOURS } from './bucket-sql';
import { countedOf, hourOf, IS_COUNTED, METER_READS, msOf } from './counted-sql';

/**
 * The statements of an append. Their parameters: $1 the time, $2 when the first of the events happened, then what
 * FROM_PARAMETERS or FROM_TABLE reads, whose first are the streams.
 */

/** Every statement has both parameters; not every one needs them. */
const GIVEN = '$1::timestamptz AS received_at, $2::timestamptz AS first_at';

/**
 * The events of a request as parameters. `position` is the place each takes in its stream if it is stored; `refusal` why
 * it is not to be.
 */
const FROM_PARAMETERS = `
  SELECT one.*, ${GIVEN} FROM ROWS FROM (
    unnest($3::bigint[], $4::int[], $5::uuid[], $6::text[], $7::bigint[], $8::timestamptz[], $9::text[]),
    jsonb_array_elements($10::jsonb)
  ) AS one(stream_id, index, key_digest, idempotency_key, position, occurred_at, refusal, properties)`;

/** The same from the table of staged events, and what is known of their streams as parameters. */
const FROM_TABLE = `
  SELECT staged.index, staged.key_digest, staged.idempotency_key, stream.id AS stream_id,
    stream.last_position + staged.index + 1 AS position, staged.occurred_at, staged.properties,
    CASE
      WHEN stream.refusal IS NOT NULL THEN stream.refusal
      WHEN staged.occurred_at > stream.last_instant THEN 'usage_in_future'
    END AS refusal,
    ${GIVEN}
  FROM usage_staged AS staged
  JOIN unnest($3::bigint[], $4::int[], $5::bigint[], $6::text[], $7::timestamptz[])
    AS stream(id, no, last_position, refusal, last_instant) ON stream.no = staged.stream_no`;

/** In the order of streams and hours: whoever judges events that were known holds no stream. */
const TALLY = `
  INSERT INTO usage_tally AS tally (stream_id, hour, accepted, duplicates, rejected)`;
const ADD_TO_TALLY = `
  ON CONFLICT (stream_id, hour) DO UPDATE SET
    accepted = tally.accepted + excluded.accepted,
    duplicates = tally.duplicates + excluded.duplicates,
    rejected = tally.rejected + excluded.rejected`;

/**
 * The events that lie in a period that is billed, and count there; most of the time the first part is empty. What a
 * weighted sum holds goes on: such an event is late for every later period too that counts from before it.
 */
const LATE = `
  billed AS MATERIALIZED (
    SELECT stream_id, meter_id, period_start_at AS start_at, period_end_at AS end_at, min(id) AS id,
      min(counted_from_at) AS counted_from_at
    FROM usage_billed
    WHERE stream_id = ANY($3::bigint[]) AND period_end_at > $2
    GROUP BY stream_id, meter_id, period_start_at, period_end_at
  ),
  late AS MATERIALIZED (
    SELECT event.index, event.stream_id, event.position, billed.id AS billed_id, billed.meter_id, billed.start_at,
      billed.end_at, meter.late_events
    FROM billed
    JOIN meter ON meter.id = billed.meter_id
    JOIN incoming AS event ON event.stream_id = billed.stream_id
      AND event.occurred_at < billed.end_at AND event.occurred_at >= billed.counted_from_at
    ${METER_READS}
    WHERE ${IS_COUNTED}
  )`;

const INTO_EVENTS = `
  INSERT INTO usage_event (key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties)`;
const UNLESS_THERE = `
  ON CONFLICT (key_digest) DO NOTHING
  RETURNING stream_id, position, occurred_at, properties`;

/** What moves with the new events of the part `fresh`, but for what meters count. */
const FOLLOWED = `
  advanced AS (
    UPDATE usage_stream SET last_position = change.position
    FROM (SELECT stream_id, max(position) AS position FROM fresh GROUP BY stream_id) AS change
    WHERE usage_stream.id = change.stream_id
  ),
  tallied AS (
    ${TALLY}
    SELECT stream_id, ${hourOf('occurred_at')}, count(*), 0, 0 FROM fresh GROUP BY 1, 2 ORDER BY 1, 2
    ${ADD_TO_TALLY}
  )`;

const COUNTED = countedOf(`
  fresh AS event
  JOIN usage_stream AS stream ON stream.id = event.stream_id
  JOIN meter ON meter.event_name = stream.event_name`);

const LATE_USAGE = `
  SELECT stream_id::text AS "streamId", billed_id AS "billedId", meter_id AS "meterId", ${msOf('start_at')} AS "startMs",
    ${msOf('end_at')} AS "endMs", count(*) AS events
  FROM late JOIN fresh USING (stream_id, position)
  GROUP BY stream_id, billed_id, meter_id, start_at, end_at
  ORDER BY billed_id`;

/**
 * Stores what is new of the events and moves all that is counted of it. They go in by the order of their keys, so that
 * two requests with the same keys wait for each other in one direction; a repetition within the request goes in after the
 * first. Joins nothing by estimate that could be long on both sides: the plan is made once for lists of any length.
 */
const recordSql = (incoming: string): string => `
  WITH incoming AS NOT MATERIALIZED (${incoming}),
  ${LATE},
  fresh AS (
    ${INTO_EVENTS}
    SELECT key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties
    FROM incoming
    WHERE refusal IS NULL AND index NOT IN (SELECT index FROM late WHERE late_events = 'reject')
    ORDER BY key_digest, index
    ${UNLESS_THERE}
  ),
  ${FOLLOWED},
  counted AS MATERIALIZED (${COUNTED}),
  ${MOVE_BUCKETS}
  SELECT
    (SELECT count(*) FROM fresh)::int AS accepted,
    (SELECT coalesce(json_agg(late_usage), '[]') FROM (${LATE_USAGE}) AS late_usage) AS late`;

/**
 * The same for events of streams that are as they were known, in one statement that is a commit of its own. Holds the
 * streams that nobody holds; stores nothing unless that is all of them, and then tells the places of those that it held
 * and of those that are as they were known. A stream that changed after this statement's snapshot was taken has another
 * version by the time it is held. Parameters: $1 the time; the id ($2) and version ($3) of each stream; of each event its
 * stream as a place in $2, from 1 ($4), digest ($5), key ($6), instant ($7) and, as one list, properties ($8). Event n
 * takes the nth place after the last of its stream.
 */
export const RECORD_KNOWN = `
  WITH held AS MATERIALIZED (
    SELECT known.place, stream.last_position
    FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS known(id, version, place)
    JOIN usage_stream AS stream ON stream.id = known.id AND stream.version = known.version
    ORDER BY stream.id
    FOR UPDATE OF stream SKIP LOCKED
  ),
  everything AS MATERIALIZED (
    SELECT array_agg(last_position ORDER BY place) AS positions FROM held HAVING count(*) = cardinality($2)
  ),
  fresh AS (
    ${INTO_EVENTS}
    SELECT key_digest, ($2::bigint[])[place], everything.positions[place] + n, occurred_at, $1, idempotency_key, properties
    FROM everything CROSS JOIN ROWS FROM (
      unnest($4::int[], $5::uuid[], $6::text[], $7::timestamptz[]), jsonb_array_elements($8::jsonb)
    ) WITH ORDINALITY AS event(place, key_digest, idempotency_key, occurred_at, properties, n)
    ORDER BY key_digest, n
    ${UNLESS_THERE}
  ),
  ${FOLLOWED},
  counted AS NOT MATERIALIZED (${COUNTED}),
  ${MOVE_HOURS}
  SELECT
    (SELECT count(*) FROM fresh)::int AS accepted,
    (SELECT positions::text[] FROM everything) AS positions,
    CASE WHEN NOT EXISTS (SELECT FROM everything) THEN ARRAY(SELECT place::int FROM held) END AS held,
    CASE WHEN NOT EXISTS (SELECT FROM everything) THEN ARRAY(
      SELECT known.place::int FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS known(id, version, place)
      JOIN usage_stream AS stream ON stream.id = known.id AND stream.version = known.version
    ) END AS unchanged`;

/**
 * What became of the events that were not stored: a statement of its own, because it has to see what others stored under
 * their keys meanwhile, and what the first of a repetition has become. Looks each key up, however many there are: the
 * table is longer than any request.
 */
const judgeSql = (incoming: string): string => `
  WITH judged AS MATERIALIZED (
    SELECT incoming.index, incoming.stream_id, incoming.occurred_at,
      CASE
        WHEN incoming.refusal = 'busy' THEN 'busy'
        -- Nothing else holds back what was to be stored and is not there.
        WHEN known.position IS NULL THEN coalesce(incoming.refusal, 'usage_late')
        WHEN known.stream_id = incoming.stream_id AND known.position = incoming.position THEN NULL
        WHEN known.stream_id = incoming.stream_id AND known.occurred_at = incoming.occurred_at
          AND known.properties = incoming.properties THEN 'duplicate'
        ELSE 'idempotency_key_reused'
      END AS verdict
    FROM (${incoming}) AS incoming
    LEFT JOIN LATERAL (
      SELECT stream_id, position, occurred_at, properties
      FROM usage_event WHERE key_digest = incoming.key_digest LIMIT 1
    ) AS known ON true
  ),
  tallied AS (
    ${TALLY}
    SELECT stream_id, ${hourOf('occurred_at')}, 0,
      count(*) FILTER (WHERE verdict = 'duplicate'), count(*) FILTER (WHERE verdict <> 'duplicate')
    FROM judged WHERE stream_id IS NOT NULL AND verdict <> 'busy'
    GROUP BY 1, 2 ORDER BY 1, 2
    ${ADD_TO_TALLY}
  )
  SELECT index, verdict FROM judged WHERE verdict IS NOT NULL ORDER BY index`;

/** A pair of statements, for events from one of the two places. */
export interface AppendStatements {
  readonly record: string;
  readonly judge: string;
}

export const ON_PARAMETERS: AppendStatements = {
  record: recordSql(FROM_PARAMETERS),
  judge: judgeSql(FROM_PARAMETERS),
};

export const ON_TABLE: AppendStatements = {
  record: recordSql(FROM_TABLE),
  judge: judgeSql(FROM_TABLE),
};
