import {
  changesOnlyWindow,
  joinedAppend,
  lockedStreams,
  nextWindowChange,
  plainAggregation,
  plainAppend,
} from '../metering';
import { BALANCE_COLUMNS, NEXT_VERSION } from './balance-rows';
import { windowEnd } from './balance-windows.repository';
import { INTO_ANSWERS } from './consumptions.repository';

/** SQL condition: the customer has another balance with the same meter and window, so that usage would change both. */
const IS_SHARED_WINDOW = `
  EXISTS (
    SELECT FROM customer_entitlement AS other JOIN entitlement ON entitlement.id = other.entitlement_id
    WHERE other.customer_id = h.customer_id AND other.id <> h.id AND entitlement.meter_id = e.meter_id
      AND other.window_start_at = h.window_start_at
      AND other.window_end_at IS NOT DISTINCT FROM h.window_end_at
  )`;

const WINDOW = {
  meterId: 'e.meter_id',
  startAt: 'h.window_start_at',
  endAt: windowEnd('h.window_end_at'),
};

const IN_ORDER_OF_KEYS = `
  ORDER BY customer_id COLLATE "C", entitlement_id COLLATE "C", idempotency_key COLLATE "C"`;

/**
 * Locks the usage streams of the requested balances, then the balances, both in ascending order of id. A stream is the
 * usage events of one name of one customer. Skips a balance if
 * - another transaction has locked it, or it must be recalculated;
 * - its customer is on a test clock, is deleted or is being deleted;
 * - its window starts in the future, because it was opened by a process whose clock is ahead;
 * - a usage event would change more than this balance: another balance, another open usage window or a billed period.
 *
 * Without the repeated conditions on customer ids, the cached query plan would read whole tables.
 *
 * Parameters: $1 customers, $2 entitlement keys, $3 event names, $4 lock slots of the event names, $5 the current time.
 */
export const LOCK = `
  WITH requested AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) WITH ORDINALITY
      AS requested (customer_id, key, event_name, slot, number)
  ),
  ${lockedStreams('$1')}
  SELECT requested.number, stream.id AS stream_id, stream.version AS stream_version, stream.last_position,
    CASE WHEN e.meter_id IS NOT NULL THEN ${nextWindowChange('$5')} END AS next_change_at,
    CASE WHEN e.meter_id IS NOT NULL THEN ${plainAggregation(WINDOW)} END AS plain_aggregation,
    e.version + e.rules_version AS entitlement_version, ${BALANCE_COLUMNS}
  FROM requested
  JOIN customer c ON c.id = requested.customer_id AND c.deleted_at IS NULL
  JOIN customer_access a ON a.customer_id = requested.customer_id
  JOIN entitlement e ON e.key = requested.key
  JOIN customer_entitlement h ON h.customer_id = requested.customer_id AND h.entitlement_id = e.id
    AND h.access_version = a.version AND h.rules_version = e.rules_version
  LEFT JOIN stream ON stream.customer_id = requested.customer_id AND stream.event_name = requested.event_name
  WHERE c.id = ANY ($1::text[]) AND a.customer_id = ANY ($1::text[]) AND h.customer_id = ANY ($1::text[])
    AND h.test_clock_id IS NULL AND (h.valid_until IS NULL OR h.valid_until > $5::timestamptz)
    AND (h.window_start_at IS NULL OR h.window_start_at <= $5::timestamptz)
    AND CASE WHEN e.meter_id IS NULL THEN requested.event_name IS NULL
      ELSE stream.id IS NOT NULL AND ${changesOnlyWindow('$5', WINDOW)} AND NOT ${IS_SHARED_WINDOW}
    END
  ORDER BY h.id
  FOR NO KEY UPDATE OF h SKIP LOCKED FOR KEY SHARE OF c SKIP LOCKED`;

/**
 * Stores the answers to consumption requests, the new usage of the locked balances, and the usage events. Skips answers
 * and events whose keys are already stored. Returns how many answers and how many events were stored.
 *
 * Parameters: $1 the current time, and
 * - for each answer: $2 customer, $3 entitlement, $4 key, $5 quantity, $6 answer ($6 is one JSON list);
 * - for each balance: $7 id, $8 usage, $9 plan usage, $10 notified thresholds;
 * - for each event: $11 stream, $12 position, $13 key digest, $14 key, $15 properties ($15 is one JSON list);
 * - $16 the ids of the streams of all events, each once.
 */
export const WRITE = `
  WITH answered AS (
    ${INTO_ANSWERS}
    SELECT customer_id, entitlement_id, idempotency_key, quantity, answer, $1::timestamptz
    FROM ROWS FROM (
      unnest($2::text[], $3::text[], $4::text[], $5::numeric[]), jsonb_array_elements($6::jsonb)
    ) AS new (customer_id, entitlement_id, idempotency_key, quantity, answer)
    ${IN_ORDER_OF_KEYS}
    ON CONFLICT DO NOTHING
    RETURNING 1
  ),
  used AS (
    UPDATE customer_entitlement AS h
    SET used = c.used, covered = c.covered, told = c.told, updated_at = $1::timestamptz, version = ${NEXT_VERSION}
    FROM unnest($7::text[], $8::numeric[], $9::numeric[], $10::jsonb[]) AS c (id, used, covered, told)
    WHERE h.id = c.id AND h.id = ANY ($7::text[])
  ),
  ${joinedAppend(
    `ROWS FROM (
      unnest($11::bigint[], $12::bigint[], $13::uuid[], $14::text[]), jsonb_array_elements($15::jsonb)
    ) AS new (stream_id, position, key_digest, idempotency_key, properties)`,
    '$1',
    '$16::bigint[]',
  )}
  SELECT (SELECT count(*) FROM answered)::int AS answers, (SELECT count(*) FROM fresh)::int AS events`;

/**
 * Kinds of usage events that a statement stores. `nothing`: no events. `plain`: only events that a single meter counts
 * or sums without groups, which are stored faster. `any`: all kinds.
 */
export type Counting = 'nothing' | 'plain' | 'any';

const NEW_EVENTS = `
  (SELECT locked.stream_id, locked.last_position + nth AS position, key_digest, idempotency_key, properties
   FROM ROWS FROM (
     unnest($20::int[], $21::int[], $22::uuid[], $23::text[]), jsonb_array_elements($24::jsonb)
   ) AS new (number, nth, key_digest, idempotency_key, properties) JOIN locked USING (number)) AS new`;

const COUNTED: Readonly<Record<Counting, string>> = {
  nothing: '',
  plain: `, ${plainAppend(
    NEW_EVENTS,
    '$1::timestamptz',
    `SELECT stream_id, last_position + events AS position, events, total, meter_id, window_start_at,
      ${windowEnd('window_end_at')} AS window_end_at
     FROM locked WHERE events > 0`,
  )}`,
  any: `, ${joinedAppend(NEW_EVENTS, '$1', 'ARRAY(SELECT stream_id FROM locked)', 'fail')}`,
};

/**
 * Locks balances and writes the answers to their requests in one autocommitted statement. A stream is the usage events
 * that the meter of the balance counts. Skips a balance if
 * - another transaction has locked the balance or its stream;
 * - the balance, its stream, its entitlement or the access version of its customer (which changes of subscriptions
 *   increment) has changed since this process read it;
 * - its customer is deleted.
 *
 * Returns the numbers of the written balances, counted from 1. Fails if the key of an answer or event is already
 * stored.
 *
 * - If a row changes after the snapshot of the statement, PostgreSQL compares the version again when it locks the row,
 *   and skips the row.
 * - With the lateral joins, the plan looks up each row by its key, even if the plan was made when the tables were
 *   small.
 * - `generate_subscripts` hides the number of balances from the planner. Otherwise PostgreSQL would make a new plan for
 *   each execution, because plans for few balances look cheaper. Planning takes longer than the execution.
 *
 * Parameters: $1 the current time, and
 * - for each balance: $2 id, $3 version, $4 customer, $5 access version, $6 entitlement, $7 sum of the entitlement's
 *   `version` and `rulesVersion`, $8 usage (null: unchanged), $9 plan usage;
 * - for each answer: $10 number of the balance, $11 key, $12 quantity, $13 answer (as one JSON list);
 * - if events are counted, for each balance: $14 stream or null, $15 version and $16 last position of the stream, $17
 *   number of events, $18 total of the events, $19 meter;
 * - and for each event: $20 number of the balance, $21 number of the event within the balance, $22 key digest, $23 key,
 *   $24 properties (as one JSON list).
 */
const consumeUnchangedSql = (counting: Counting): string => {
  const isCounted = counting !== 'nothing';
  return `
  WITH locked AS MATERIALIZED (
    SELECT requested.*, h.window_start_at, h.window_end_at
    FROM ROWS FROM (
      unnest($2::text[], $3::int[], $4::text[], $5::int[], $6::text[], $7::int[], $8::numeric[], $9::numeric[]
        ${isCounted ? ', $14::bigint[], $15::bigint[], $16::bigint[], $17::int[], $18::numeric[], $19::text[]' : ''}),
      generate_subscripts($2::text[], 1)
    ) AS requested (
      balance_id, version, customer_id, access_version, entitlement_id, entitlement_version, used, covered,
      ${isCounted ? 'stream_id, stream_version, last_position, events, total, meter_id,' : ''} number
    )
    ${
      isCounted
        ? `LEFT JOIN LATERAL (
      SELECT id FROM usage_stream AS stream
      WHERE (stream.id, stream.version, stream.last_position) = (requested.stream_id, requested.stream_version, requested.last_position)
      FOR UPDATE SKIP LOCKED
    ) AS stream ON true`
        : ''
    }
    CROSS JOIN LATERAL (
      SELECT FROM customer WHERE customer.id = requested.customer_id AND deleted_at IS NULL
      FOR KEY SHARE SKIP LOCKED
    ) AS c
    CROSS JOIN LATERAL (
      SELECT window_start_at, window_end_at FROM customer_entitlement AS h
      WHERE (h.id, h.version) = (requested.balance_id, requested.version)
      FOR NO KEY UPDATE SKIP LOCKED
    ) AS h
    WHERE (SELECT version FROM customer_access AS a WHERE a.customer_id = requested.customer_id) = requested.access_version
      AND (SELECT version + rules_version FROM entitlement AS e WHERE e.id = requested.entitlement_id) = requested.entitlement_version
      ${isCounted ? 'AND (requested.stream_id IS NULL OR stream.id IS NOT NULL)' : ''}
  ),
  answered AS (
    ${INTO_ANSWERS}
    SELECT customer_id, entitlement_id, idempotency_key, quantity, answer, $1::timestamptz
    FROM ROWS FROM (
      unnest($10::int[], $11::text[], $12::numeric[]), jsonb_array_elements($13::jsonb)
    ) AS new (number, idempotency_key, quantity, answer) JOIN locked USING (number)
    ${IN_ORDER_OF_KEYS}
  ),
  changed AS (
    UPDATE customer_entitlement AS h
    SET used = locked.used, covered = locked.covered, updated_at = $1::timestamptz, version = ${NEXT_VERSION}
    FROM locked
    WHERE h.id = locked.balance_id AND h.id = ANY (ARRAY(SELECT balance_id FROM locked)) AND locked.used IS NOT NULL
  )
  ${COUNTED[counting]}
  SELECT ARRAY(SELECT number FROM locked) AS numbers`;
};

export const CONSUME_UNCHANGED: Readonly<Record<Counting, string>> = {
  nothing: consumeUnchangedSql('nothing'),
  plain: consumeUnchangedSql('plain'),
  any: consumeUnchangedSql('any'),
};
