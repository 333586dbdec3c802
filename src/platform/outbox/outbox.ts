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

const INSERT = `
  INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
  SELECT $1, $2, $3::varchar, coalesce(max(sequence), 0) + 1, $4::json, $5::timestamptz
  FROM event WHERE object_id = $3::varchar
  RETURNING sequence`;

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
    { after, before, occurredAt }: Change<Resource>,
  ): Promise<EventHead> {
    this.database.requireTransaction();
    const object = event.toDto(after);
    const previous = before === undefined ? {} : previousValues(event.toDto(before), object);
    const id = newId('evt');
    const [row] = await this.database.query<{ sequence: number }>(INSERT, [
      id,
      event.type,
      object.id,
      JSON.stringify({ object, previous }),
      occurredAt,
    ]);
    invariant(row !== undefined, `The event ${id} was not written.`);
    this.database.afterCommit(() => {
      this.signals.announce(DISPATCH_WORK);
    });
    return { id, type: event.type, objectId: object.id, sequence: row.sequence, occurredAt };
  }
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
