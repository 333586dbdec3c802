/**
 * SQL that counts the events of each stream (one customer, one event name) in a period, in the order of stream ids.
 * Stops once it has counted $5 + 1 events in total. The count of the last stream may then be too small, and later
 * streams have no row. OFFSET 0 makes PostgreSQL look up the events of each stream by index.
 * @param streams FROM item with the column `id`
 */
export const eventsOfStreams = (streams: string, startAt: string, endAt: string): string => `
  SELECT id, count(*) AS events
  FROM (
    SELECT streams.id
    FROM (SELECT id FROM ${streams} ORDER BY id) AS streams CROSS JOIN LATERAL (
      SELECT FROM usage_event
      WHERE stream_id = streams.id AND occurred_at >= ${startAt} AND occurred_at < ${endAt}
      OFFSET 0
    ) AS event
    ORDER BY streams.id LIMIT $5 + 1
  ) AS counted
  GROUP BY id`;
