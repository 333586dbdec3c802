import { Injectable } from '@nestjs/common';
import { Database } from '../database';
import { newId } from '../ids';
import type { DomainEvent } from './define-event';

export interface Change<Resource> {
  readonly after: Resource;
  /** Left out for what is new. */
  readonly before?: Resource;
  readonly occurredAt: Date;
}

const INSERT = `
  INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
  SELECT $1, $2, $3::varchar, coalesce(max(sequence), 0) + 1, $4::json, $5::timestamptz
  FROM event WHERE object_id = $3::varchar`;

/** Writes events in the transaction of the change they tell of. */
@Injectable()
export class Outbox {
  constructor(private readonly database: Database) {}

  /**
   * Records an event. The caller has inserted, updated or locked the object's row in this transaction, which puts the
   * events of one object in order; the unique constraint on its sequence holds whatever the caller did.
   */
  async record<Resource, Dto extends { readonly id: string }>(
    event: DomainEvent<Resource, Dto>,
    { after, before, occurredAt }: Change<Resource>,
  ): Promise<void> {
    this.database.requireTransaction();
    const object = event.toDto(after);
    const previous = before === undefined ? {} : previousValues(event.toDto(before), object);
    await this.database.query(INSERT, [
      newId('evt'),
      event.type,
      object.id,
      JSON.stringify({ object, previous }),
      occurredAt,
    ]);
  }
}

/** The former values of the top-level fields that differ. `updated_at` goes with every change and says nothing. */
export function previousValues<Resource extends object>(
  before: Resource,
  after: Resource,
): Partial<Resource> {
  const changed = Object.entries(before).filter(
    ([key, value]) =>
      key !== 'updated_at' && JSON.stringify(value) !== JSON.stringify(Reflect.get(after, key)),
  );
  return Object.fromEntries(changed) as Partial<Resource>;
}
