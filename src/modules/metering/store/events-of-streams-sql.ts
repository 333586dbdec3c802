/**
 * Counts the events of each stream in a period, in the order of the stream ids. Stops after $5 + 1 events of all streams
 * together, so only the first streams, with at most $5 events together, are counted completely. OFFSET 0 makes
 * PostgreSQL look up the events of each stream by index.
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
