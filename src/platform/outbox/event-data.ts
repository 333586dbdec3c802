/** Columns of an event as it is stored; `withData` adds its data. */
export const STORED_COLUMNS =
  'id, type, object_id, sequence, occurred_at, actor, data, pack_id, pack_place';

/**
 * Returns the statement that reads events with their data. Each pack is read once, however many of its events are found.
 * @param events SELECT of the stored columns
 * @param order of the events; empty for any
 */
export function withData(events: string, order = ''): string {
  return `
    WITH stored AS MATERIALIZED (${events}),
    packed AS (
      SELECT pack.id, entry.place, entry.data
      FROM event_pack AS pack CROSS JOIN LATERAL unnest(pack.data) WITH ORDINALITY AS entry (data, place)
      WHERE pack.id = ANY (ARRAY(SELECT DISTINCT pack_id FROM stored WHERE pack_id IS NOT NULL)))
    SELECT stored.id, type, object_id, sequence, occurred_at, actor,
      CASE WHEN pack_id IS NULL THEN stored.data ELSE packed.data END::text AS data
    FROM stored LEFT JOIN packed ON packed.id = pack_id AND packed.place = pack_place
    ${order}`;
}
