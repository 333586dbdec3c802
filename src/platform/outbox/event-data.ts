/**
 * Columns of a stored event. The data of some events is in a pack (a row of `event_pack` with the data of several
 * events) instead of the column `data`. {@link withData} reads both.
 */
export const STORED_COLUMNS =
  'id, type, object_id, sequence, occurred_at, actor, data, pack_id, pack_place';

/** Columns of a `RecordedEvent` without its data. */
const SHOWN_COLUMNS =
  'stored.id, type, object_id AS "objectId", sequence, occurred_at AS "occurredAt", actor';

/** Parts of a query: a SELECT of {@link STORED_COLUMNS}, and an ORDER BY clause, or '' if any order will do. */
export interface EventsQuery {
  readonly events: string;
  readonly order: string;
}

/**
 * Returns the statement that reads events with their data. The data of an event is null if its pack (a row of
 * `event_pack`) is missing.
 */
export function withData({ events, order }: EventsQuery): string {
  return `
    WITH stored AS MATERIALIZED (${events}),
    packed AS (
      SELECT pack.id, entry.place, entry.data
      FROM event_pack AS pack CROSS JOIN LATERAL unnest(pack.data) WITH ORDINALITY AS entry (data, place)
      WHERE pack.id = ANY (ARRAY(SELECT DISTINCT pack_id FROM stored WHERE pack_id IS NOT NULL)))
    SELECT ${SHOWN_COLUMNS},
      CASE WHEN pack_id IS NULL THEN stored.data ELSE packed.data END::text AS data
    FROM stored LEFT JOIN packed ON packed.id = pack_id AND packed.place = pack_place
    ${order}`;
}

/** Like {@link withData}, but reads null instead of the data, which may be damaged. */
export function withoutData({ events, order }: EventsQuery): string {
  return `
    WITH stored AS MATERIALIZED (${events})
    SELECT ${SHOWN_COLUMNS}, NULL AS data FROM stored ${order}`;
}
