import { listOfAnyLength } from '../../../platform/database';
import { archivedBefore } from '../archive/archived-sql';
import { ADD_TO_BUCKETS, ADD_TO_HOURS } from '../store/bucket-sql';
import { type OnBusy, shortLockTimeout } from '../store/usage-streams';
import { countedOf, hourOf, IS_COUNTED, METER_READS, msOf } from '../store/counted-sql';

/**
 * Statements of the slow path, which appends events in a transaction. Parameters:
 * - $1 the current time;
 * - $2 the earliest timestamp of the events;
 * - $3 the list of stream ids (a stream: one customer, one event name);
 * - from $4 on the parameters of {@link FROM_PARAMETERS} or {@link FROM_TABLE}.
 */

/** Columns with $1 and $2. Every statement selects them, because PostgreSQL requires each parameter to be used. */
const TIMES = '$1::timestamptz AS received_at, $2::timestamptz AS first_at';

/**
 * SQL condition: no archived event has this key. Costs nothing while no event is archived. OFFSET 0 makes PostgreSQL
 * look up each key in the index. Without it, PostgreSQL could scan the table, which is far larger than a request.
 */
const isUnarchived = (key: string): string => `
    (NOT (SELECT EXISTS (SELECT FROM usage_archived_key))
      OR NOT EXISTS (SELECT FROM usage_archived_key AS archived WHERE archived.key_digest = ${key} OFFSET 0))`;

/**
 * Events as parameters. `position` is the number that the event gets if it is stored. This number counts the events of
 * one customer and event name. `refusal` is null if the event is not refused.
 */
const FROM_PARAMETERS = `
  SELECT one.*, ${TIMES} FROM ROWS FROM (
    unnest($3::bigint[], $4::int[], $5::uuid[], $6::text[], $7::bigint[], $8::timestamptz[], $9::text[]),
    jsonb_array_elements($10::jsonb)
  ) AS one(stream_id, index, key_digest, idempotency_key, position, occurred_at, refusal, properties)`;

/** Events from the temporary table `usage_staged`, with the state of their streams as parameters. */
const FROM_TABLE = `
  SELECT staged.index, staged.key_digest, staged.idempotency_key, stream.id AS stream_id,
    stream.last_position + staged.nth AS position, staged.occurred_at, staged.properties,
    CASE
      WHEN stream.refusal IS NOT NULL THEN stream.refusal
      WHEN staged.occurred_at > stream.last_instant THEN 'usage_in_future'
      WHEN staged.occurred_at < stream.closed_before THEN 'usage_archived'
    END AS refusal,
    ${TIMES}
  FROM usage_staged AS staged
  JOIN unnest($3::bigint[], $4::int[], $5::bigint[], $6::text[], $7::timestamptz[], $8::timestamptz[])
    AS stream(id, no, last_position, refusal, last_instant, closed_before) ON stream.no = staged.stream_no`;

/**
 * CTE `late`: the billed periods for which a meter would count an event, one row per event, meter and period. For a
 * weighted sum, these include later periods, because the value of the event carries over into them.
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

export const EVENT_COLUMNS =
  'key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties';
export const INTO_EVENTS = `
  INSERT INTO usage_event (${EVENT_COLUMNS})`;
const RETURNING_EVENTS = `
  RETURNING stream_id, position, occurred_at, properties`;
const SKIP_STORED_KEYS = `
  ON CONFLICT (key_digest) DO NOTHING ${RETURNING_EVENTS}`;

/** Treatment of an event whose key is already stored: skip it, or fail the statement. */
export type OnStoredKey = 'skip' | 'fail';

/**
 * CTE `advanced`: sets the last position of each stream to that of its newest event in the CTE `fresh` (the stored
 * events). PostgreSQL may have cached a query plan while the table was small. Without the condition on the stream ids,
 * that plan would scan the whole table.
 */
const advancedStreams = (streamIds: string): string => `
  advanced AS (
    UPDATE usage_stream SET last_position = change.position
    FROM (SELECT stream_id, max(position) AS position FROM fresh GROUP BY stream_id) AS change
    WHERE usage_stream.id = change.stream_id AND usage_stream.id = ANY (${streamIds})
  )`;

/**
 * CTE `advanced`: sets the last position (number of the newest event) of each stream to `position` in the CTE `added`,
 * which has one row per stream.
 */
export const ADVANCED_STREAMS = `
  advanced AS (
    UPDATE usage_stream SET last_position = added.position FROM added
    WHERE usage_stream.id = added.stream_id AND usage_stream.id = ANY(ARRAY(SELECT stream_id FROM added))
  )`;

const LATE_USAGE = `
  SELECT stream_id::text AS "streamId", billed_id AS "billedId", meter_id AS "meterId", ${msOf('start_at')} AS "startMs",
    ${msOf('end_at')} AS "endMs", count(*) AS events
  FROM late JOIN fresh USING (stream_id, position)
  GROUP BY stream_id, billed_id, meter_id, start_at, end_at
  ORDER BY billed_id`;

/**
 * CTEs that store the rows of `incoming` as events and update all totals. The CTE `fresh` returns the stored events.
 * The caller has locked the streams (one customer, one event name). Events are inserted in the order of their keys, so
 * that two requests with the same keys cannot deadlock. If a key occurs twice, the first event is stored. Every join
 * must have few rows on at least one side, because PostgreSQL uses the same cached query plan for short and long lists.
 * @param incoming SQL that selects {@link EVENT_COLUMNS}, sorted by key digest
 * @param streamIds SQL of a list with the ids of the streams
 */
export const storedEventParts = (
  incoming: string,
  streamIds: string,
  onStoredKey: OnStoredKey = 'skip',
): string => `
  fresh AS (
    ${INTO_EVENTS}
    ${incoming}
    ${onStoredKey === 'skip' ? SKIP_STORED_KEYS : RETURNING_EVENTS}
  ),
  ${advancedStreams(streamIds)},
  counted AS MATERIALIZED (${countedOf(`
    fresh AS event
    JOIN usage_stream AS stream ON stream.id = event.stream_id AND stream.id = ANY (${streamIds})
    JOIN meter ON meter.event_name = stream.event_name`)}),
  ${ADD_TO_BUCKETS}`;

/**
 * SQL condition: the event is not refused. For a plain `refusal IS NULL`, PostgreSQL would estimate that 1 row of 200
 * matches. Its plan would then search the whole list of streams for each event. CASE avoids this estimate.
 */
const IS_NOT_REFUSED = 'CASE WHEN refusal IS NULL THEN true ELSE false END';

const recordSql = (incoming: string): string => `
  WITH incoming AS NOT MATERIALIZED (${incoming}),
  ${LATE},
  ${storedEventParts(
    `SELECT ${EVENT_COLUMNS} FROM incoming
    WHERE ${IS_NOT_REFUSED} AND index NOT IN (SELECT index FROM late WHERE late_events = 'reject')
      AND ${isUnarchived('incoming.key_digest')}
    ORDER BY key_digest, index`,
    '$3::bigint[]',
  )}
  SELECT
    (SELECT count(*) FROM fresh)::int AS accepted,
    (SELECT coalesce(json_agg(late_usage), '[]') FROM (${LATE_USAGE}) AS late_usage) AS late`;

/**
 * Returns SQL of `list` if any stream was locked, otherwise of NULL. PostgreSQL then does not read a list that it does
 * not need.
 */
const ifAnyLocked = (list: string): string => `CASE WHEN known.is_any THEN ${list} END`;

/** SQL of the list of stream ids, which is parameter $2 of {@link fastPathSql}. */
const STREAMS = listOfAnyLength('$2', 'bigint');

/** Cases that the fast path (one statement) must handle. Each combination has a statement of its own. */
export interface FastPathNeeds {
  /** True if an archived event may have the same key as an event of the request. */
  readonly hasArchive: boolean;
  /** True if events may be in registered windows: periods with running totals of their own. */
  readonly hasWindows: boolean;
}

/**
 * Fast path: stores and counts events with one statement. Skips a stream (one customer, one event name) if
 * - its cached version is outdated;
 * - another transaction has locked it, and `onBusy` is not `wait`;
 * - it changes after the snapshot of the statement. Locking a row compares the version again.
 *
 * If `onBusy` is not `wait`, the statement sets the {@link shortLockTimeout} before it inserts events.
 *
 * Returns
 * - `accepted`: the number of stored events;
 * - `positions`: for each stream, its last position before the statement, or null if it was skipped. The whole list is
 *   null if all events were stored;
 * - `current`: places in $2, from 1, of the streams whose version is current. Null if no stream was skipped.
 *
 * Parameters: $1 the current time,
 * - for each stream: $2 id, $3 version, $9 event name;
 * - for each event: $4 place of its stream in $2, from 1, $5 key digest, $6 key, $7 timestamp, $8 properties (all in
 *   one JSON list), $10 its number among the events of its stream, from 1.
 *
 * The position of an event is the last position of its stream plus $10.
 */
const fastPathSql = (onBusy: OnBusy, { hasArchive, hasWindows }: FastPathNeeds): string => `
  WITH locked AS MATERIALIZED (
    SELECT cached.number, stream.id, stream.last_position, cached.event_name
    FROM unnest(${STREAMS}, ${listOfAnyLength('$3', 'bigint')}, ${listOfAnyLength('$9', 'text')})
      WITH ORDINALITY AS cached(id, version, event_name, number)
    JOIN usage_stream AS stream ON stream.id = cached.id AND stream.version = cached.version
    WHERE stream.id = ANY (${STREAMS})
    ORDER BY stream.id
    FOR UPDATE OF stream ${onBusy === 'wait' ? '' : 'SKIP LOCKED'}
  ),
  known AS MATERIALIZED (
    SELECT array_agg(locked.last_position ORDER BY cached.number) AS positions, count(locked.id) > 0 AS is_any
      ${onBusy === 'wait' ? '' : `, ${shortLockTimeout(onBusy)}`}
    FROM generate_subscripts(${STREAMS}, 1) AS cached(number)
    LEFT JOIN locked ON locked.number = cached.number
  ),
  fresh AS (
    ${INTO_EVENTS}
    SELECT key_digest, ($2::bigint[])[number], known.positions[number] + nth, occurred_at, $1, idempotency_key, properties
    FROM known CROSS JOIN LATERAL ROWS FROM (
      unnest(
        ${ifAnyLocked(listOfAnyLength('$4', 'int'))}, ${ifAnyLocked(listOfAnyLength('$5', 'uuid'))},
        ${ifAnyLocked(listOfAnyLength('$6', 'text'))}, ${ifAnyLocked(listOfAnyLength('$7', 'timestamptz'))},
        ${ifAnyLocked(listOfAnyLength('$10', 'int'))}
      ),
      jsonb_array_elements(${ifAnyLocked('$8::jsonb')})
    ) AS event(number, key_digest, idempotency_key, occurred_at, nth, properties)
    WHERE known.positions[number] IS NOT NULL ${hasArchive ? `AND ${isUnarchived('event.key_digest')}` : ''}
    ORDER BY key_digest, nth
    ${SKIP_STORED_KEYS}
  ),
  ${advancedStreams(STREAMS)},
  counted AS ${hasWindows ? '' : 'NOT'} MATERIALIZED (${countedOf(`
    fresh AS event
    JOIN locked AS stream ON stream.id = event.stream_id
    JOIN meter ON meter.event_name = stream.event_name`)}),
  ${hasWindows ? ADD_TO_BUCKETS : ADD_TO_HOURS}
  SELECT
    (SELECT count(*) FROM fresh)::int AS accepted,
    CASE WHEN (SELECT count(*) FROM fresh) < cardinality($4::int[]) THEN (SELECT positions::text[] FROM known) END AS positions,
    CASE WHEN (SELECT array_position(positions, NULL) FROM known) IS NOT NULL THEN ARRAY(
      SELECT cached.number::int
      FROM unnest(${STREAMS}, ${listOfAnyLength('$3', 'bigint')}) WITH ORDINALITY AS cached(id, version, number)
      JOIN usage_stream AS stream ON stream.id = cached.id AND stream.version = cached.version
      WHERE stream.id = ANY (${STREAMS})
    ) END AS current`;

const fastPathStatements = new Map<string, string>();

export interface PreparedStatement {
  readonly name: string;
  readonly sql: string;
}

export function fastPathAppend(onBusy: OnBusy, needs: FastPathNeeds): PreparedStatement {
  const [archive, windows] = [
    needs.hasArchive ? '-archive' : '',
    needs.hasWindows ? '-windows' : '',
  ];
  const name = `usage-fast-path-${onBusy}${archive}${windows}`;
  const sql = fastPathStatements.get(name) ?? fastPathSql(onBusy, needs);
  fastPathStatements.set(name, sql);
  return { name, sql };
}

const classified = (incoming: string): string => `
  WITH classified AS MATERIALIZED (
    SELECT incoming.index, incoming.stream_id, incoming.occurred_at,
      CASE
        WHEN incoming.refusal = 'busy' THEN 'busy'
        -- Archived events lie in archived months, so an event outside of them has other content. More than these months
        -- is refused as archived: also the rest of a billed period that begins in one.
        WHEN stored.position IS NULL AND EXISTS (
          SELECT FROM usage_archived_key AS archived WHERE archived.key_digest = incoming.key_digest OFFSET 0
        ) THEN CASE
          WHEN incoming.refusal = 'usage_archived' AND incoming.occurred_at < ${archivedBefore('incoming.stream_id')}
            THEN 'duplicate'
          ELSE 'idempotency_key_reused'
        END
        -- Without a refusal, the event was not stored because a meter rejects late usage.
        WHEN stored.position IS NULL THEN coalesce(incoming.refusal, 'usage_late')
        WHEN stored.stream_id = incoming.stream_id AND stored.position = incoming.position THEN NULL
        WHEN stored.stream_id = incoming.stream_id AND stored.occurred_at = incoming.occurred_at
          AND stored.properties = incoming.properties THEN 'duplicate'
        ELSE 'idempotency_key_reused'
      END AS result
    FROM (${incoming}) AS incoming
    LEFT JOIN LATERAL (
      SELECT stream_id, position, occurred_at, properties
      FROM usage_event WHERE key_digest = incoming.key_digest LIMIT 1
    ) AS stored ON true
  )`;

const RESULTS = 'SELECT index, result FROM classified WHERE result IS NOT NULL ORDER BY index';

/**
 * Determines why events were not stored, and counts duplicates and refusals by hour. Must run as a separate statement
 * after the append, to see which events are stored under the same keys. Looks up each key by index, because the table
 * is larger than any request.
 */
const classifySql = (incoming: string): string => `
  ${classified(incoming)},
  -- In the order of the primary key, so that two classifications, which lock no stream, cannot deadlock.
  tallied AS (
    INSERT INTO usage_tally AS tally (stream_id, hour, duplicates, rejected)
    SELECT stream_id, ${hourOf('occurred_at')},
      count(*) FILTER (WHERE result = 'duplicate'), count(*) FILTER (WHERE result <> 'duplicate')
    FROM classified WHERE stream_id IS NOT NULL AND result <> 'busy'
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (stream_id, hour) DO UPDATE SET
      duplicates = tally.duplicates + excluded.duplicates,
      rejected = tally.rejected + excluded.rejected
  )
  ${RESULTS}`;

/** Statements that append events in a transaction, either from parameters or from the table of staged events. */
export interface AppendStatements {
  readonly record: string;
  readonly classify: string;
}

export const ON_PARAMETERS: AppendStatements = {
  record: recordSql(FROM_PARAMETERS),
  classify: classifySql(FROM_PARAMETERS),
};

/** Determines why events were not stored. Does not count duplicates and refusals, and so waits for no lock. */
export const CLASSIFY_ONLY = `${classified(FROM_PARAMETERS)} ${RESULTS}`;

export const ON_TABLE: AppendStatements = {
  record: recordSql(FROM_TABLE),
  classify: classifySql(FROM_TABLE),
};
