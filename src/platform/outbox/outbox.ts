import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../database';
import { newId } from '../ids';
import { Signals } from '../jobs';
import type { DomainEvent } from './define-event';
import type { EventHead } from './event-log';

/** The work that tells endpoints of recorded events; woken whenever there are new ones. */
export const DISPATCH_WORK = 'dispatch-events';

export interface Change<Resource> {
  readonly after: Resource;
  /** Left out for what is new. */
  readonly before?: Resource;
  readonly occurredAt: Date;
}

/** A change and what it is told as. */
export interface ToldChange {
  readonly type: string;
  readonly object: { readonly id: string };
  readonly previous: object;
  readonly occurredAt: Date;
}

/** Events of one object that are recorded together are numbered in their order. */
const INSERT = `
  INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
  SELECT id, type, object_id,
    coalesce((SELECT max(sequence) FROM event WHERE event.object_id = told.object_id), 0) + place,
    data, occurred_at
  FROM json_to_recordset($1::json) AS told
    (id text, type text, object_id text, place integer, data json, occurred_at timestamptz)
  RETURNING id, sequence`;

/** Writes events in the transaction of the change they tell of. */
@Injectable()
export class Outbox {
  constructor(
    private readonly database: Database,
    private readonly signals: Signals,
  ) {}

  /**
   * Records an event. The caller has inserted, updated or locked the object's row in this transaction, which puts the
   * events of one object in order; the unique constraint on its sequence holds whatever the caller did.
   */
  async record<Resource, Dto extends { readonly id: string }>(
    event: DomainEvent<Resource, Dto>,
    change: Change<Resource>,
  ): Promise<EventHead> {
    const [head] = await this.recordAll([told(event, change)]);
    invariant(head !== undefined, `The event ${event.type} was not written.`);
    return head;
  }

  /** Records many events with one statement, in their order. What `record` asks of its caller holds for each object. */
  async recordAll(changes: readonly ToldChange[]): Promise<readonly EventHead[]> {
    this.database.requireTransaction();
    if (changes.length === 0) return [];
    const places = new Map<string, number>();
    const records = changes.map(({ type, object, previous, occurredAt }) => {
      const place = (places.get(object.id) ?? 0) + 1;
      places.set(object.id, place);
      const data = { object, previous };
      return {
        id: newId('evt'),
        type,
        object_id: object.id,
        place,
        data,
        occurred_at: occurredAt,
      };
    });
    const rows = await this.database.query<{ id: string; sequence: number }>(INSERT, [
      JSON.stringify(records),
    ]);
    const sequences = new Map(rows.map(({ id, sequence }) => [id, sequence]));
    this.database.afterCommit(() => {
      this.signals.announce(DISPATCH_WORK);
    });
    return records.map(({ id, type, object_id: objectId, occurred_at: occurredAt }) => {
      const sequence = sequences.get(id);
      invariant(sequence !== undefined, `The event ${id} was not written.`);
      return { id, type, objectId, sequence, occurredAt };
    });
  }
}

/** A change as `recordAll` takes it. */
export function told<Resource, Dto extends { readonly id: string }>(
  event: DomainEvent<Resource, Dto>,
  { after, before, occurredAt }: Change<Resource>,
): ToldChange {
  const object = event.toDto(after);
  const previous = before === undefined ? {} : previousValues(event.toDto(before), object);
  return { type: event.type, object, previous, occurredAt };
}

/** The former values of the top-level fields that differ. `updated_at` goes with every change and says nothing. */
function previousValues<Resource extends object>(
  before: Resource,
  after: Resource,
): Partial<Resource> {
  const changed = Object.entries(before).filter(
    ([key, value]) => key !== 'updated_at' && !isDeepStrictEqual(value, Reflect.get(after, key)),
  );
  return Object.fromEntries(changed) as Partial<Resource>;
}
