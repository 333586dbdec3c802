import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { changedAt } from '../../core/next-version';
import { currentActor } from '../access';
import { auditedFields, auditSql, AuditTrail } from '../audit';
import {
  Database,
  Instants,
  Integers,
  isDatabaseUnavailable,
  listOfAnyLength,
  OutcomeUnknownError,
  Texts,
  untilWritersEnd,
} from '../database';
import { newId } from '../ids';
import { Signals } from '../jobs';
import type { DomainEvent } from './define-event';
import type { EventHead } from './event-log';
import { type PackPlace, packPlaces } from './event-packs';

/** Name of the background job that creates the webhook deliveries of recorded events. */
export const DISPATCH_WORK = 'dispatch-events';

const MAX_WAIT_FOR_UNCOMMITTED_EVENTS_MS = 10_000;

export interface ResourceChange<Resource> {
  readonly after: Resource;
  /**
   * State before the change.
   * - Equal to `after` if no field changed. The audit log then shows no fields.
   * - Absent for a new resource, or for a report such as `usage.late`. The audit log then shows all fields.
   * - Absent for a deletion.
   */
  readonly before?: Resource;
  readonly occurredAt: Date;
}

export interface EventRecord {
  readonly type: string;
  readonly object: { readonly id: string };
  readonly previous: object;
  /** True if the audit log shows all fields: for a resource's first event, and for a report such as `usage.late`. */
  readonly isNew?: boolean;
  readonly occurredAt: Date;
}

/** PostgreSQL types of the array parameters of {@link INSERT}. Each array has the values of one column. */
const COLUMN_TYPES = [
  'text',
  'text',
  'text',
  'integer',
  'text',
  'text',
  'timestamptz',
  'integer',
  'integer',
  'text',
];

/**
 * Inserts events, and numbers the events of each object in the order in which they are passed. Events with the
 * same `pack` number store their data in one row of `event_pack`. To save round trips, the statement also queues the
 * events for the dispatcher, and adds their changed fields to the audit log.
 */
const INSERT = `
  WITH added AS (
    SELECT id, type, object_id, number, data::json, fields::json, occurred_at, pack, place::smallint, indexed::json
    FROM unnest(${COLUMN_TYPES.map((type, index) => listOfAnyLength(`$${index + 1}`, type)).join(', ')})
      AS added (id, type, object_id, number, data, fields, occurred_at, pack, place, indexed)),
  pack AS (
    SELECT pack AS number, nextval('event_pack_id') AS id, array_agg(data ORDER BY place) AS data
    FROM added WHERE pack IS NOT NULL GROUP BY pack),
  packed AS (INSERT INTO event_pack (id, data) SELECT id, data FROM pack),
  ${auditSql(12, 'SELECT type AS action, object_id, fields AS changes, pack, place FROM added')},
  recorded AS (
    INSERT INTO event
      (id, type, object_id, sequence, data, occurred_at, actor, pack_id, pack_place)
    SELECT added.id, type, object_id,
      coalesce(greatest(
        (SELECT max(sequence) FROM event WHERE event.object_id = added.object_id),
        (SELECT sequence FROM event_sequence WHERE event_sequence.object_id = added.object_id)), 0) + added.number,
      coalesce(indexed, added.data), occurred_at, $11::varchar, pack.id, place
    FROM added LEFT JOIN pack ON pack.number = added.pack
    RETURNING id, type, object_id, sequence, occurred_at)
  INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at)
  SELECT id, type, object_id, sequence, occurred_at FROM recorded
  RETURNING event_id AS id, sequence`;

/** Records events in the transaction of the change that they describe. */
@Injectable()
export class Outbox {
  private recordedEvents = 0;

  constructor(
    private readonly database: Database,
    private readonly signals: Signals,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Records an event. The caller must have inserted, updated or locked the row of the object in this transaction, so
   * that concurrent events of the object get different sequence numbers. Otherwise the unique constraint may refuse the
   * event.
   */
  async record<Resource, Dto extends { readonly id: string }>(
    event: DomainEvent<Resource, Dto>,
    change: ResourceChange<Resource>,
  ): Promise<EventHead> {
    const [head] = await this.recordAll([toEventRecord(event, change)]);
    invariant(head !== undefined, `The event ${event.type} was not written.`);
    return head;
  }

  /**
   * Records an event about a change. The time of the event is `now`, or the object's last change before this change if
   * that is later.
   */
  recordChange<Resource extends { readonly updatedAt: Date }, Dto extends { readonly id: string }>(
    event: DomainEvent<Resource, Dto>,
    { after, before }: { readonly after: Resource; readonly before: Resource },
    now: Date,
  ): Promise<EventHead> {
    return this.record(event, { after, before, occurredAt: changedAt(now, before) });
  }

  /** Records events in the given order. The caller must have locked each object, as for `record`. */
  async recordAll(changes: readonly EventRecord[]): Promise<readonly EventHead[]> {
    this.database.requireTransaction();
    if (changes.length === 0) return [];
    const records = packed(numbered(changes));
    const rows = await this.database.queryPrepared<{ id: string; sequence: number }>(
      this.statementName(records.length),
      INSERT,
      [...columnsOf(records), currentActor(), ...this.audit.entryParameters()],
    );
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

  /**
   * Waits until the transactions that have recorded events so far have ended, but at most ten seconds. An event of an
   * open transaction may be committed after events with higher ids.
   * @throws {OutcomeUnknownError} if the database fails, because this request or an earlier one may have committed its
   *   change
   */
  async waitForUncommittedEvents(): Promise<void> {
    try {
      await untilWritersEnd(this.database, 'event', MAX_WAIT_FOR_UNCOMMITTED_EVENTS_MS);
    } catch (error) {
      throw isDatabaseUnavailable(error) ? new OutcomeUnknownError(error) : error;
    }
  }

  /**
   * Returns the name of the prepared statement. A new name makes PostgreSQL plan the statement again. The name changes
   * each time the number of recorded events has quadrupled, because a plan for small tables reads whole tables. The
   * statement is prepared, because planning it takes as long as running it.
   */
  private statementName(events: number): string {
    this.recordedEvents += events;
    return `record_events_${Math.floor(Math.log2(this.recordedEvents) / 2)}`;
  }
}

interface InsertedEvent {
  readonly id: string;
  readonly type: string;
  readonly object_id: string;
  /** Position of the event among the events of the same object in this statement, from 1. */
  readonly number: number;
  /** Changed fields for the audit log, as JSON text. */
  readonly fields: string;
  readonly occurred_at: Date;
  readonly data: string;
  readonly customerId: unknown;
  readonly packed: PackPlace | null;
}

function numbered(changes: readonly EventRecord[]): readonly InsertedEvent[] {
  const numbers = new Map<string, number>();
  return changes.map((change) => {
    const { type, object, previous, occurredAt } = change;
    const number = (numbers.get(object.id) ?? 0) + 1;
    numbers.set(object.id, number);
    const customerId: unknown = Reflect.get(object, 'customer_id');
    return {
      id: newId('evt'),
      type,
      object_id: object.id,
      number,
      fields: JSON.stringify(auditedFields(change)),
      occurred_at: occurredAt,
      data: JSON.stringify({ object, previous }),
      customerId,
      packed: null,
    };
  });
}

function packed(records: readonly InsertedEvent[]): readonly InsertedEvent[] {
  const places = packPlaces(records.map(({ data }) => data.length));
  return records.map((record, index) => ({ ...record, packed: places[index] ?? null }));
}

/** Returns the parameters of {@link INSERT} from `$1` on. Each is an array with the values of one column. */
function columnsOf(records: readonly InsertedEvent[]): readonly Buffer[] {
  const { length } = records;
  const [ids, types, objects] = [new Texts(length), new Texts(length), new Texts(length)];
  const [data, fields, indexed] = [new Texts(length), new Texts(length), new Texts(length)];
  const [numbers, packs, places] = [
    new Integers(length),
    new Integers(length),
    new Integers(length),
  ];
  const instants = new Instants(length);
  for (const { packed: at, ...record } of records) {
    ids.add(record.id);
    types.add(record.type);
    objects.add(record.object_id);
    numbers.add(record.number);
    data.add(record.data);
    fields.add(record.fields);
    instants.add(record.occurred_at);
    if (at === null) for (const elements of [packs, places, indexed]) elements.addNull();
    else {
      packs.add(at.pack);
      places.add(at.place);
      indexed.add(JSON.stringify({ object: { customer_id: record.customerId } }));
    }
  }
  const columns = [ids, types, objects, numbers, data, fields, instants, packs, places, indexed];
  return columns.map((elements) => elements.toBuffer());
}

export function toEventRecord<Resource, Dto extends { readonly id: string }>(
  event: DomainEvent<Resource, Dto>,
  { after, before, occurredAt }: ResourceChange<Resource>,
): EventRecord {
  return shownEventRecord(event, {
    after: event.toDto(after),
    ...(before !== undefined && { before: event.toDto(before) }),
    occurredAt,
  });
}

/** Like {@link toEventRecord}, but `after` and `before` are DTOs already. */
export function shownEventRecord<Dto extends { readonly id: string }>(
  { type }: Pick<DomainEvent<never, Dto>, 'type'>,
  { after, before, occurredAt }: ResourceChange<Dto>,
): EventRecord {
  const previous = before === undefined ? {} : previousValues(before, after);
  const isNew = before === undefined && !type.endsWith('.deleted');
  return { type, object: after, previous, isNew, occurredAt };
}

/** Returns the previous values of changed top-level fields. Skips `updated_at`, which changes every time. */
function previousValues(before: object, after: object): object {
  const previous: Record<string, unknown> = {};
  for (const key of Object.keys(before)) {
    const value: unknown = Reflect.get(before, key);
    if (key === 'updated_at' || isDeepStrictEqual(value, Reflect.get(after, key))) continue;
    previous[key] = value;
  }
  return previous;
}
