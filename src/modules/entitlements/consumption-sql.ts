import { isOnlyIn, joinedAppend, lockedStreams } from '../metering';
import { BALANCE_COLUMNS } from './balance-rows';
import { windowEnd } from './balance-windows.repository';
import { INTO_ANSWERS } from './consumptions.repository';

/** Statements that consume balances of many customers. */

/** Another balance of the customer counts by the same window, so that its usage would have to be written as well. */
const IS_SHARED_WINDOW = `
  EXISTS (
    SELECT FROM customer_entitlement AS other JOIN entitlement ON entitlement.id = other.entitlement_id
    WHERE other.customer_id = h.customer_id AND other.id <> h.id AND entitlement.meter_id = e.meter_id
      AND other.window_start_at = h.window_start_at
      AND other.window_end_at IS NOT DISTINCT FROM h.window_end_at
  )`;

/**
 * Rows that lock balances of the part `asked`, in ascending order, after the streams. Skips balances that another transaction
 * has locked, that must be recalculated, whose customer is on a test clock or being deleted, and those of which an event
 * changes more than the balance. The conditions on the ids of the customers keep the cached plan from reading whole tables.
 */
const lockedBalances = (at: string, condition = ''): string => `
  FROM asked
  JOIN customer c ON c.id = asked.customer_id
  JOIN customer_access a ON a.customer_id = asked.customer_id
  JOIN entitlement e ON e.key = asked.key
  JOIN customer_entitlement h ON h.customer_id = asked.customer_id AND h.entitlement_id = e.id
    AND h.access_version = a.version AND h.rules_version = e.rules_version
  LEFT JOIN stream ON stream.customer_id = asked.customer_id AND stream.event_name = asked.event_name
  WHERE c.id = ANY ($1::text[]) AND a.customer_id = ANY ($1::text[]) AND h.customer_id = ANY ($1::text[])
    AND h.test_clock_id IS NULL AND (h.valid_until IS NULL OR h.valid_until > ${at}::timestamptz)
    AND CASE WHEN e.meter_id IS NULL THEN asked.event_name IS NULL ELSE
      stream.id IS NOT NULL
      AND ${isOnlyIn(at, {
        meterId: 'e.meter_id',
        startAt: 'h.window_start_at',
        endAt: windowEnd('h.window_end_at'),
      })}
      AND NOT ${IS_SHARED_WINDOW}
    END ${condition}
  ORDER BY h.id
  FOR NO KEY UPDATE OF h SKIP LOCKED FOR KEY SHARE OF c SKIP LOCKED`;

/** Parameters: $1 customers, $2 keys, $3 event names, $4 slots of the event names, $5 the current time. */
export const LOCK = `
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) WITH ORDINALITY
      AS asked (customer_id, key, event_name, slot, number)
  ),
  ${lockedStreams('$1')}
  SELECT asked.number, stream.id AS stream_id, stream.last_position, e.key, e.type, e.meter_id, e.thresholds,
    e.version AS entitlement_version, ${BALANCE_COLUMNS}
  ${lockedBalances('$5')}`;

/**
 * Parts of a statement that store answers and events, and update balances and the totals of usage.
 *
 * Parameters, from the given one: for each answer customer, entitlement, key, quantity, answer, as one JSON list; for each
 * balance id, usage, plan usage, notified thresholds; for each event stream, position, key digest, key, properties, as one JSON
 * list; ids of the streams. With `onStoredKey` fail also the number of the balance in the part `locked` of each answer, each
 * balance and each event: nothing is written for a balance that is not in it.
 */
const written = (at: string, first: number, onStoredKey: 'skip' | 'fail'): string => {
  const p = (index: number): string => `$${first + index}`;
  const isSelective = onStoredKey === 'fail';
  const number = (index: number): string => (isSelective ? `, ${p(index)}::int[]` : '');
  const numbered = isSelective ? 'number, ' : '';
  const ifLocked = (row: string): string =>
    isSelective ? `${row}.number IN (SELECT number FROM locked)` : 'true';
  return `
  answered AS (
    ${INTO_ANSWERS}
    SELECT customer_id, entitlement_id, idempotency_key, quantity, answer, ${at}::timestamptz
    FROM ROWS FROM (
      unnest(${p(0)}::text[], ${p(1)}::text[], ${p(2)}::text[], ${p(3)}::numeric[]${number(15)}),
      jsonb_array_elements(${p(4)}::jsonb)
    ) AS new (customer_id, entitlement_id, idempotency_key, quantity, ${numbered}answer)
    WHERE ${ifLocked('new')}
    ORDER BY customer_id COLLATE "C", entitlement_id COLLATE "C", idempotency_key COLLATE "C"
    ${isSelective ? '' : 'ON CONFLICT DO NOTHING'}
    RETURNING 1
  ),
  used AS (
    UPDATE customer_entitlement AS h
    SET used = c.used, covered = c.covered, told = c.told, updated_at = ${at}::timestamptz, version = h.version + 1
    FROM unnest(${p(5)}::text[], ${p(6)}::numeric[], ${p(7)}::numeric[], ${p(8)}::jsonb[]${number(16)})
      AS c (id, used, covered, told${isSelective ? ', number' : ''})
    WHERE h.id = c.id AND h.id = ANY (${p(5)}::text[]) AND ${ifLocked('c')}
  ),
  ${joinedAppend(
    `ROWS FROM (
      unnest(${p(9)}::bigint[], ${p(10)}::bigint[], ${p(11)}::uuid[], ${p(12)}::text[]${number(17)}),
      jsonb_array_elements(${p(13)}::jsonb)
    ) AS new (stream_id, position, key_digest, idempotency_key, ${numbered}properties) WHERE ${ifLocked('new')}`,
    at,
    p(14),
    onStoredKey,
  )}`;
};

/**
 * Writes decisions about locked balances. Answers and events whose key exists are not stored: the result tells how many were.
 * Parameters: $1 the current time, then those of {@link written}.
 */
export const WRITE = `
  WITH ${written('$1', 2, 'skip')}
  SELECT (SELECT count(*) FROM answered)::int AS answers, (SELECT count(*) FROM fresh)::int AS events`;

/**
 * Locks balances and writes decisions about them in one autocommitted statement. Leaves out balances, streams and entitlements
 * that have changed since the decision, like those that {@link LOCK} skips. Returns the numbers of the others, from 1. Fails if
 * the key of an answer or event exists.
 *
 * A balance, stream or entitlement that changed after the snapshot of this statement has another version by the time that its
 * row is locked, and is skipped. Only streams that {@link LOCK} has locked before may be asked for: then a meter that is not in
 * the snapshot has incremented the version of the stream, or prevents the lock.
 *
 * Parameters: those of {@link LOCK}; for each balance $6 its id, $7 its version, $8 the version of its entitlement, $9 the id
 * and $10 the last position of its stream; then those of {@link written}.
 */
export const CONSUME_KNOWN = `
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(
      $1::text[], $2::text[], $3::text[], $4::int[], $6::text[], $7::int[], $8::int[], $9::bigint[], $10::bigint[]
    ) WITH ORDINALITY AS asked (
      customer_id, key, event_name, slot, balance_id, version, entitlement_version, stream_id, last_position, number
    )
  ),
  ${lockedStreams('$1')},
  locked AS MATERIALIZED (
    SELECT asked.number
    ${lockedBalances(
      '$5',
      `AND (h.id, h.version, e.version) = (asked.balance_id, asked.version, asked.entitlement_version)
      AND stream.id IS NOT DISTINCT FROM asked.stream_id
      AND stream.last_position IS NOT DISTINCT FROM asked.last_position`,
    )}
  ),
  ${written('$5', 11, 'fail')}
  SELECT ARRAY(SELECT number::int FROM locked) AS numbers`;
