import type { RecordedEvent } from '../../../platform/outbox';

/** An event whose data is present and undamaged in the database. */
export type ReadableEvent = RecordedEvent & { readonly data: string };

const bodies = new WeakMap<ReadableEvent, Buffer>();

/**
 * Returns the JSON body of a notification, which is the same in every attempt, byte for byte. Inserts `event.data`
 * unchanged, because it is JSON text already. Attempts that were claimed together share one body of an event, which
 * can have megabytes.
 */
export function notificationBody(event: ReadableEvent): Buffer {
  const made = bodies.get(event) ?? makeBody(event);
  bodies.set(event, made);
  return made;
}

function makeBody(event: ReadableEvent): Buffer {
  const head = JSON.stringify({
    id: event.id,
    type: event.type,
    timestamp: event.occurredAt.toISOString(),
    sequence: event.sequence,
    previous_sequence: event.sequence === 1 ? null : event.sequence - 1,
    actor: event.actor,
  });
  return Buffer.from(`${head.slice(0, -1)},"data":${event.data}}`);
}
