import { noMeterIsCreated, slotOf } from '../store/meter-locks';
import { EVENT_COLUMNS, type OnStoredKey, storedEventParts } from './append-sql';
import { keyDigest } from './key-digest';

/**
 * SQL for modules above that store usage events together with rows of their own: a statement that locks the streams, then, in
 * the same transaction, one that stores the events; or both in one statement, if the caller knows the last positions of streams
 * that a former statement locked.
 */

/** Row of a usage window. */
export interface WindowSql {
  readonly meterId: string;
  readonly startAt: string;
  readonly endAt: string;
}

/**
 * Part `stream` of a statement: locks streams in ascending order of their ids, without waiting. `asked` is a part of the
 * statement with `customer_id`, `event_name` and `slot`, which {@link ingestSlotOf} returns. Leaves out streams that another
 * transaction has locked or has just changed, and event names for which a meter is being created: what the statement sees of
 * the bills and windows of a locked stream stays true until the transaction ends, because changes of them have a new version.
 * @param customerIds parameter with the ids of the customers
 */
export const lockedStreams = (customerIds: string): string => `
  stream AS MATERIALIZED (
    SELECT stream.id, stream.customer_id, stream.event_name, stream.last_position
    FROM asked
    JOIN usage_stream AS seen ON seen.customer_id = asked.customer_id AND seen.event_name = asked.event_name
    JOIN usage_stream AS stream ON stream.id = seen.id AND stream.version = seen.version
    WHERE seen.customer_id = ANY (${customerIds}::text[]) AND ${noMeterIsCreated('asked.slot')}
    ORDER BY stream.id
    FOR UPDATE OF stream SKIP LOCKED
  )`;

/**
 * Condition on a locked `stream`: an event at this instant is in no billed period, and the only registered window that it
 * changes is this one.
 */
export const isOnlyIn = (instant: string, { meterId, startAt, endAt }: WindowSql): string => `
  NOT EXISTS (SELECT FROM usage_billed WHERE stream_id = stream.id AND period_end_at > ${instant})
  AND (
    SELECT count(*) = 1 AND bool_and((meter_id, start_at, end_at) = (${meterId}, ${startAt}, ${endAt}))
    FROM usage_window
    WHERE stream_id = stream.id AND usage_window.start_at <= ${instant} AND usage_window.end_at > ${instant}
  )`;

/**
 * Parts of a statement that store events of locked streams and update all totals; `fresh` has the events that are new.
 * @param events SQL of rows with the columns `stream_id`, `position`, `key_digest`, `idempotency_key` and `properties`
 * @param at parameter with the timestamp of the events
 * @param streamIds parameter with the ids of the streams
 */
export const joinedAppend = (
  events: string,
  at: string,
  streamIds: string,
  onStoredKey: OnStoredKey = 'skip',
): string =>
  storedEventParts(
    `SELECT ${EVENT_COLUMNS} FROM (
      SELECT *, ${at}::timestamptz AS occurred_at, ${at}::timestamptz AS received_at FROM ${events}
    ) AS event ORDER BY key_digest`,
    streamIds,
    onStoredKey,
  );

export { keyDigest as usageKeyDigest, slotOf as ingestSlotOf };
