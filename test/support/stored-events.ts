/**
 * SQL of the events with their data. An event has its own data, or refers to a place in `event_pack`, a row with the
 * data of several events.
 */
export const EVENTS = `(
  SELECT id, type, object_id, sequence, occurred_at, actor,
    coalesce((SELECT pack.data[pack_place] FROM event_pack AS pack WHERE pack.id = pack_id), event.data) AS data
  FROM event) AS event`;
