import { addToPlainBuckets, isHourSql } from '../store/bucket-sql';
import { noMeterIsCreated, slotOf } from '../store/meter-locks';
import {
  ADVANCED_STREAMS,
  EVENT_COLUMNS,
  INTO_EVENTS,
  type OnStoredKey,
  storedEventParts,
} from './append-sql';
import { keyDigest } from './key-digest';

/**
 * SQL for higher modules that store usage events together with their own rows. Usually one statement locks the streams,
 * and a later one, in the same transaction, stores the events. A single statement does both if the caller knows the
 * version and the last position of the streams from an earlier lock.
 */

/** SQL expressions of a usage window. */
export interface WindowSql {
  readonly meterId: string;
  readonly startAt: string;
  readonly endAt: string;
}

/**
 * CTE `stream`: locks streams in ascending order of their ids, without waiting. Reads the streams to lock from the CTE
 * `requested` with the columns `customer_id`, `event_name` and `slot` (see {@link ingestSlotOf}). Leaves out streams
 * that another transaction has locked or has just changed, and event names for which a meter is being created. The
 * bills and windows of a locked stream do not change until the transaction ends: changing them increments the version
 * of the stream, which needs the lock.
 * @param customerIds parameter with the ids of the customers
 */
export const lockedStreams = (customerIds: string): string => `
  stream AS MATERIALIZED (
    SELECT stream.id, stream.customer_id, stream.event_name, stream.version, stream.last_position
    FROM requested
    JOIN usage_stream AS seen ON seen.customer_id = requested.customer_id AND seen.event_name = requested.event_name
    JOIN usage_stream AS stream ON stream.id = seen.id AND stream.version = seen.version
    WHERE seen.customer_id = ANY (${customerIds}::text[]) AND ${noMeterIsCreated('requested.slot')}
    ORDER BY stream.id
    FOR UPDATE OF stream SKIP LOCKED
  )`;

/**
 * SQL condition on a locked `stream`: all billed periods have ended by this instant, and the given window is the only
 * registered window that contains it.
 */
export const changesOnlyWindow = (
  instant: string,
  { meterId, startAt, endAt }: WindowSql,
): string => `
  NOT EXISTS (SELECT FROM usage_billed WHERE stream_id = stream.id AND period_end_at > ${instant})
  AND (
    SELECT count(*) = 1 AND bool_and((meter_id, start_at, end_at) = (${meterId}, ${startAt}, ${endAt}))
    FROM usage_window
    WHERE stream_id = stream.id AND usage_window.start_at <= ${instant} AND usage_window.end_at > ${instant}
  )`;

/**
 * SQL of the first time after `instant` at which a registered window of a locked `stream` starts or ends; null if there
 * is none. If {@link changesOnlyWindow} is true at `instant`, it stays true until this time, as long as the version of
 * the stream stays the same. Each new bill or meter, and each window that is opened or closed, increments the version.
 */
export const nextWindowChange = (instant: string): string => `
  (SELECT min(boundary) FROM usage_window CROSS JOIN LATERAL (VALUES (start_at), (end_at)) AS edge (boundary)
   WHERE stream_id = stream.id AND boundary > ${instant})`;

/**
 * SQL of the aggregation of a window's meter, `count` or `sum`, if the caller can compute by itself how its new events
 * change the totals. Null in these cases: the meter has another aggregation, or has groups; another meter counts the
 * same event name; the window is exactly one UTC hour, so that hour and window share one total. The result is valid
 * until the version of the locked `stream` changes.
 */
export const plainAggregation = ({ meterId, startAt, endAt }: WindowSql): string => `
  (SELECT CASE WHEN count(*) = 1 AND NOT ${isHourSql(startAt, endAt)}
      AND bool_and(meter.id = ${meterId} AND meter.aggregation IN ('count', 'sum') AND meter.group_by = '[]')
    THEN min(meter.aggregation) END
   FROM meter WHERE meter.event_name = stream.event_name)`;

/**
 * CTEs that store events of locked streams, and update all totals. Only for streams whose {@link plainAggregation} is
 * not null. The statement fails if the key of an event is already stored.
 * @param events SQL of rows as for {@link joinedAppend}
 * @param at parameter with the timestamp of the events
 * @param streams SQL of one row per stream with the columns `stream_id`, `position` (of its last new event), `events`
 *   (the number of its new events), `total` (the sum that these events add to the meter), `meter_id`, and
 *   `window_start_at` and `window_end_at`
 */
export const plainAppend = (events: string, at: string, streams: string): string => `
  fresh AS (${INTO_EVENTS} ${inOrder(events, at)}),
  added AS NOT MATERIALIZED (${streams}),
  ${ADVANCED_STREAMS},
  ${addToPlainBuckets(at)}`;

/**
 * CTEs that store events of locked streams and update all totals. The CTE `fresh` returns the stored events.
 * `onStoredKey` says how to treat events whose keys are already stored.
 * @param events SQL of rows with the columns `stream_id`, `position`, `key_digest`, `idempotency_key` and `properties`
 * @param at parameter with the timestamp of the events
 * @param streamIds SQL of a list with the ids of the streams
 */
export const joinedAppend = (
  events: string,
  at: string,
  streamIds: string,
  onStoredKey: OnStoredKey = 'skip',
): string => storedEventParts(inOrder(events, at), streamIds, onStoredKey);

/** SQL of the columns of events with one timestamp, in the order of their key digests. */
const inOrder = (events: string, at: string): string => `
  SELECT ${EVENT_COLUMNS} FROM (
    SELECT *, ${at}::timestamptz AS occurred_at, ${at}::timestamptz AS received_at FROM ${events}
  ) AS event ORDER BY key_digest`;

export { keyDigest as usageKeyDigest, slotOf as ingestSlotOf };
