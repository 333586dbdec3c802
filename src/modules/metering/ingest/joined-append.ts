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
 * SQL for modules that store usage events together with their own rows. Usually, one statement locks the streams (a
 * stream: one customer, one event name), and a second statement in the same transaction stores the events. If the
 * caller knows the version and last position of the streams from an earlier lock, a single statement can do both.
 */

export interface WindowSql {
  readonly meterId: string;
  readonly startAt: string;
  readonly endAt: string;
}

/**
 * CTE `stream`: locks streams (a stream: one customer, one event name) in ascending order of their ids, without
 * waiting. Reads them from the CTE `requested` with the columns `customer_id`, `event_name` and `slot` (see
 * {@link ingestSlotOf}). Skips streams that another transaction has locked or has just changed, and event names for
 * which a meter is being created. The bills and windows of a locked stream do not change until the transaction ends,
 * because changing them needs the lock.
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
 * SQL condition on a locked `stream`. None of its billed periods ends after `instant`, and the given window is the only
 * registered window that contains `instant`. A registered window is a period with running totals of its own.
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
 * is none. A registered window is a period with running totals of its own. If {@link changesOnlyWindow} is true at
 * `instant`, it stays true until that time, unless the version of the stream changes. A new bill or meter, and opening
 * or closing a window, increment the version.
 */
export const nextWindowChange = (instant: string): string => `
  (SELECT min(boundary) FROM usage_window CROSS JOIN LATERAL (VALUES (start_at), (end_at)) AS edge (boundary)
   WHERE stream_id = stream.id AND boundary > ${instant})`;

/**
 * SQL of the aggregation of the window's meter (`count` or `sum`) if {@link plainAppend} can be used, otherwise null.
 * The result is valid until the version of the locked `stream` changes. {@link plainAppend} cannot be used if
 * - the meter has another aggregation or has groups;
 * - another meter counts the same event name;
 * - the window is exactly one UTC hour. It then uses the totals of this hour.
 */
export const plainAggregation = ({ meterId, startAt, endAt }: WindowSql): string => `
  (SELECT CASE WHEN count(*) = 1 AND NOT ${isHourSql(startAt, endAt)}
      AND bool_and(meter.id = ${meterId} AND meter.aggregation IN ('count', 'sum') AND meter.group_by = '[]')
    THEN min(meter.aggregation) END
   FROM meter WHERE meter.event_name = stream.event_name)`;

/**
 * CTEs that store events of locked streams, and add totals that the caller has computed. Only for streams whose
 * {@link plainAggregation} is not null. The statement fails if the key of an event is already stored.
 * @param events SQL of rows as for {@link joinedAppend}
 * @param at parameter with the timestamp of the events
 * @param streams SQL of one row per stream, with the columns
 *   - `stream_id`, `meter_id`, `window_start_at`, `window_end_at`;
 *   - `position` of its last new event;
 *   - `events`, the number of its new events;
 *   - `total`, the sum that these events add to the meter
 */
export const plainAppend = (events: string, at: string, streams: string): string => `
  fresh AS (${INTO_EVENTS} ${inOrder(events, at)}),
  added AS NOT MATERIALIZED (${streams}),
  ${ADVANCED_STREAMS},
  ${addToPlainBuckets(at)}`;

/**
 * CTEs that store events of locked streams and update all totals. The CTE `fresh` returns the stored events.
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

/** SQL that selects {@link EVENT_COLUMNS} of events with the same timestamp, ordered by key digest. */
const inOrder = (events: string, at: string): string => `
  SELECT ${EVENT_COLUMNS} FROM (
    SELECT *, ${at}::timestamptz AS occurred_at, ${at}::timestamptz AS received_at FROM ${events}
  ) AS event ORDER BY key_digest`;

export { keyDigest as usageKeyDigest, slotOf as ingestSlotOf };
