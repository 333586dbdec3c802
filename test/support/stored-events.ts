/** SQL of the events with their data, which may be in a pack. */
export const EVENTS = `(
  SELECT id, type, object_id, sequence, occurred_at, actor,
    coalesce((SELECT pack.data[pack_place] FROM event_pack AS pack WHERE pack.id = pack_id), event.data) AS data
  FROM event) AS event`;
