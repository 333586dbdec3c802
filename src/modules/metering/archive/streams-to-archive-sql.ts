import { eventsOfStreams } from '../store/events-of-streams-sql';
import { archivedBefore, NEEDED_FROM } from './archived-sql';

/**
 * Selects streams in the order of their ids. A stream is the events of one name of one customer.
 * - `month` is the earliest month with events that are not archived and are older than the retention period, which
 *   starts at $3. Null if there is no such month, and for customers on test clocks, whose usage is not archived.
 * - `events` is the number of events in `month` if the archive is at this month ($4), otherwise null.
 */
export const NEXT_STREAMS = `
  WITH page AS MATERIALIZED (
    SELECT stream.id, stream.customer_id, first.month
    FROM (SELECT id, customer_id FROM usage_stream WHERE id > $1 ORDER BY id LIMIT $2) AS stream
    LEFT JOIN customer ON customer.id = stream.customer_id AND customer.test_clock_id IS NULL
    LEFT JOIN LATERAL (
      SELECT date_trunc('month', occurred_at, 'UTC') AS month FROM usage_event
      WHERE stream_id = stream.id AND occurred_at < $3 AND customer.id IS NOT NULL
        AND occurred_at >= coalesce(${archivedBefore('stream.id')}, '-infinity')
      ORDER BY occurred_at LIMIT 1
    ) AS first ON true
  )
  SELECT page.id, page.customer_id AS "customerId", page.month, counted.events
  FROM page LEFT JOIN (
    ${eventsOfStreams('page WHERE month = $4', '$4', "($4 AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'")}
  ) AS counted USING (id)
  ORDER BY page.id`;

/**
 * Selects the locked streams whose month, which starts at $4, can be closed (decision 118):
 * - Each billed period that needs events from before the end of the month ended before the retention period ($3).
 * - No such period has late usage to bill (stored or voided after the bill), unless the customer is deleted.
 * - No earlier month has an event that is not archived. Such an event, stored after the search, would never be
 *   archived.
 *
 * `closedBefore` is the end of the month or, if later, the end of the last such period. Earlier events are refused.
 */
export const CLOSABLE = `
  WITH closable AS MATERIALIZED (
    SELECT stream.id, greatest(stream.closed_before, $2::timestamptz, billed.end_at) AS closed_before
    FROM usage_stream AS stream JOIN customer ON customer.id = stream.customer_id CROSS JOIN LATERAL (
      SELECT max(period_end_at) AS end_at, coalesce(bool_or(is_late), false) AS is_late
      FROM usage_billed AS billed JOIN meter ON meter.id = billed.meter_id
      WHERE billed.stream_id = stream.id AND ${NEEDED_FROM} < $2
    ) AS billed
    WHERE stream.id = ANY($1::bigint[]) AND (NOT billed.is_late OR customer.deleted_at IS NOT NULL)
      AND (billed.end_at IS NULL OR billed.end_at <= $3)
      AND (stream.closed_before >= $4 OR NOT EXISTS (
        SELECT FROM usage_event
        WHERE stream_id = stream.id AND occurred_at >= coalesce(stream.closed_before, '-infinity') AND occurred_at < $4
        OFFSET 0
      ))
  )
  SELECT closable.id, closable.closed_before AS "closedBefore", coalesce(counted.events, 0) AS events
  FROM closable LEFT JOIN (${eventsOfStreams('closable', '$4', '$2')}) AS counted USING (id)
  ORDER BY closable.id`;
