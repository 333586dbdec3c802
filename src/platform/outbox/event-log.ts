import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import {
  cursorAt,
  Database,
  idTime,
  type ListOrder,
  NEWEST_FIRST,
  nullIfUnreadable,
  type Page,
  pageFrom,
  type PageRequest,
  positionOf,
  readDamagedRows,
} from '../database';
import { invalidCursor } from '../errors';
import { firstIdAt } from '../ids';
import type { WaitingRows } from '../jobs';
import { DamagedReads } from '../observability';
import { STORED_COLUMNS, withData, withoutData } from './event-data';
import {
  CUSTOMER_OF_EVENT,
  type EventLogCursor,
  type EventLogFilter,
  type EventPageQuery,
  eventPage,
  isBySequence,
  isByTime,
} from './event-page';

export interface RecordedEvent {
  readonly id: string;
  readonly type: string;
  readonly objectId: string;
  /** Number of the event among the events of its object, from 1. */
  readonly sequence: number;
  /** `{ "object": …, "previous": … }`, as JSON text. Null if it is missing or damaged in the database. */
  readonly data: string | null;
  readonly occurredAt: Date;
  /** Id of the principal that caused the event, or `worker`; null if it was not recorded. */
  readonly actor: string | null;
}

/** An event without its data and its actor. The id and the type decide which webhook endpoints receive the event. */
export type EventHead = Pick<RecordedEvent, 'id' | 'type' | 'objectId' | 'sequence' | 'occurredAt'>;

/**
 * Place of the data of a deleted event: its pack (a row of `event_pack` with the data of several events), and the
 * position in the pack. Both are null for an event that is stored alone.
 */
interface PlaceRow {
  readonly pack_id: string | null;
  readonly pack_place: number | null;
}

type PackedRow = PlaceRow & { readonly pack_id: string };

/** Columns of an {@link EventHead} except its id. */
const HEAD = 'type, object_id AS "objectId", sequence, occurred_at AS "occurredAt"';

/**
 * Events for which no webhook deliveries were created yet, at most 10,000, for the metrics of waiting work. `dueAt` is
 * always the present time. The real waiting time is unknown, because the time of an event may come from a test clock.
 */
export const UNDISPATCHED: WaitingRows = {
  table: '(SELECT event_id FROM event_dispatch LIMIT 10000) AS undispatched',
  dueAt: 'now()',
};

const TAKE_UNDISPATCHED = `
  DELETE FROM event_dispatch WHERE event_id = ANY (ARRAY(
    SELECT event_id FROM event_dispatch ORDER BY event_id LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING event_id AS id, ${HEAD}`;

const SKIP = 'DELETE FROM event_dispatch WHERE event_id = $1';

const FOUND = { events: `SELECT ${STORED_COLUMNS} FROM event WHERE id = ANY ($1)`, order: '' };

const LOCK = `SELECT id, ${HEAD} FROM event WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE`;

/** Order of event lists whose filter has `from` or `to`. */
const BY_TIME: ListOrder = { column: 'occurred_at', isAscending: false };

/** Order of a list of the events of one object, without `from` and `to`. */
const BY_SEQUENCE: ListOrder = { column: 'sequence', isAscending: false };

const CURSOR = 'SELECT occurred_at FROM event WHERE id = $1';

/**
 * Selects the ids of all objects that have events about the customers `$1`. Looks up the customers in the index one by
 * one. Without OFFSET 0, PostgreSQL would assume that a list of customers matches a tenth of all events, and would read
 * the whole table.
 */
const OBJECTS_OF = `
  SELECT DISTINCT object_id FROM unnest($1::text[]) AS deleted (customer_id) CROSS JOIN LATERAL (
    SELECT object_id FROM event WHERE ${CUSTOMER_OF_EVENT} = deleted.customer_id OFFSET 0) AS found`;
const REMOVE_QUEUED = 'DELETE FROM event_dispatch WHERE object_id = ANY ($1)';
const REMOVE = 'DELETE FROM event WHERE object_id = ANY ($1) RETURNING pack_id, pack_place';
const REMOVE_SEQUENCES = 'DELETE FROM event_sequence WHERE object_id = ANY ($1)';

/**
 * SQL condition that is true if an event was dispatched and has no pending delivery. Uses LIMIT 1, so that PostgreSQL
 * looks up each event; with NOT EXISTS, it may read all deliveries. Compares the expression `status || ''`, so that
 * PostgreSQL does not read the index of all pending deliveries.
 */
const DELETABLE = `
  (SELECT true FROM event_dispatch WHERE event_id = event.id LIMIT 1) IS NULL
  AND (
    SELECT true FROM webhook_delivery AS delivery
    WHERE delivery.event_id = event.id AND delivery.status || '' = 'pending' LIMIT 1
  ) IS NULL`;

/** Maximum number of events that one batch checks, including those that it keeps. */
const MAX_CHECKED = 5_000;
const LAST_CHECKED = `SELECT id FROM event WHERE id < $1 AND id > $2 ORDER BY id OFFSET ${MAX_CHECKED - 1} LIMIT 1`;

/** Locks the oldest deletable events. Orders them by id, because the time of an event may come from a test clock. */
const LOCK_OLDEST = `
  SELECT id FROM event WHERE id < $1 AND id > $3 AND id <= $4 AND ${DELETABLE}
  ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`;

/**
 * Deletes locked events, except those that got a pending delivery after they were selected. If the newest event of an
 * object is deleted, stores its sequence number, so that the numbers of later events continue from it.
 */
const DELETE_EVENTS = `
  WITH deleted AS (
    DELETE FROM event WHERE id = ANY ($1) AND ${DELETABLE}
    RETURNING object_id, sequence, pack_id, pack_place
  ), last AS (
    INSERT INTO event_sequence AS known (object_id, sequence)
    SELECT object_id, max(sequence) FROM deleted
    GROUP BY object_id
    HAVING NOT EXISTS (
      SELECT FROM event AS later WHERE later.object_id = deleted.object_id AND later.sequence > max(deleted.sequence))
    ORDER BY object_id
    ON CONFLICT (object_id) DO UPDATE SET sequence = greatest(known.sequence, excluded.sequence)
  )
  SELECT pack_id, pack_place FROM deleted`;

/**
 * Locks packs (rows with the data of several events) before they are changed. Example: two transactions delete events
 * of one pack. The second one waits for the commit of the first one, and then sees its deletions.
 */
const LOCK_PACKS = 'SELECT FROM event_pack WHERE id = ANY ($1) ORDER BY id FOR UPDATE';
const REMOVE_PACKS = `
  DELETE FROM event_pack WHERE id = ANY ($1) AND NOT EXISTS (SELECT FROM event WHERE pack_id = event_pack.id)`;
/** Replaces the data of deleted events with null in packs (rows of `event_pack`) that still have other events. */
const CLEAR_PLACES = `
  UPDATE event_pack AS pack SET data = (
    SELECT array_agg(CASE WHEN entry.place = ANY (cleared.places) THEN 'null' ELSE entry.data END ORDER BY entry.place)
    FROM unnest(pack.data) WITH ORDINALITY AS entry (data, place))
  FROM (
    SELECT id, array_agg(place) AS places FROM unnest($1::bigint[], $2::smallint[]) AS deleted (id, place)
    GROUP BY id) AS cleared
  WHERE pack.id = cleared.id`;

const PACKED = 'SELECT id FROM event WHERE pack_id = ANY ($1) ORDER BY id';

const HEADS_AFTER = `
  SELECT id, ${HEAD} FROM event
  WHERE (occurred_at, ${idTime('id')}, id) > ($1, ${idTime('$3::varchar')}, $3) AND occurred_at < $2
  ORDER BY occurred_at, ${idTime('id')}, id LIMIT $4`;

/** Reads and deletes events. Takes events off the queue of the dispatcher, which creates webhook deliveries. */
@Injectable()
export class EventLog {
  constructor(
    private readonly database: Database,
    private readonly damagedReads: DamagedReads,
  ) {}

  /**
   * Takes the oldest events off the queue and returns them, oldest first. Call it in the transaction that creates their
   * deliveries. If that transaction is rolled back, the events stay in the queue.
   */
  async takeUndispatched(limit: number): Promise<readonly EventHead[]> {
    this.database.requireTransaction();
    const events = await this.database.query<EventHead>(TAKE_UNDISPATCHED, [limit]);
    return events.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * Takes one event off the queue, so that the dispatcher creates no deliveries for it. Call it in the transaction that
   * recorded the event.
   */
  async skipDispatch(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(SKIP, [id]);
  }

  async find(ids: readonly string[]): Promise<ReadonlyMap<string, RecordedEvent>> {
    const events = await this.read({ ...FOUND, parameters: [ids] });
    return new Map(events.map((event) => [event.id, event]));
  }

  /** Locks events until the transaction ends, so that they cannot be deleted. Returns the existing events by id. */
  async lock(ids: readonly string[]): Promise<ReadonlyMap<string, EventHead>> {
    this.database.requireTransaction();
    const events = await this.database.query<EventHead>(LOCK, [ids]);
    return new Map(events.map((event) => [event.id, event]));
  }

  /**
   * Returns a page of matching events, newest first. Orders them:
   * - by the time at which they occurred, if the filter has `from` or `to`;
   * - otherwise by sequence number, if the filter has an object;
   * - otherwise by id.
   * @throws {ProblemError} `invalid_cursor` if the cursor was made for another order, or if the order is by time and
   *   the last event of the previous page was deleted
   */
  async page(filter: EventLogFilter, { limit, after }: PageRequest): Promise<Page<RecordedEvent>> {
    const cursor = after === null ? null : await this.cursorOf(after, filter);
    const found = await this.read(eventPage(filter, cursor, limit + 1));
    return pageFrom(found, limit, (last) => cursorAfter(last, filter));
  }

  /** Reads events with their data, and reports those whose data is missing or damaged. */
  private async read(found: EventPageQuery): Promise<readonly RecordedEvent[]> {
    const query = (sql: string, parameters: readonly unknown[]) =>
      this.database.query<RecordedEvent>(sql, parameters);
    const events = await readDamagedRows({
      all: () => query(withData(found), found.parameters),
      bare: () => query(withoutData(found), found.parameters),
      one: ({ id }) => query(withData(FOUND), [[id]]),
    });
    const lost = events.filter(({ data }) => data === null);
    this.damagedReads.report(
      'event',
      lost.map(({ id }) => id),
    );
    return events;
  }

  private async cursorOf(cursor: string, filter: EventLogFilter): Promise<EventLogCursor> {
    if (isBySequence(filter)) {
      const { id, value } = positionOf(cursor, BY_SEQUENCE);
      if (value === null || !/^\d{1,10}$/.test(value)) throw invalidCursor();
      return { id, occurredAt: null, sequence: Number(value) };
    }
    if (!isByTime(filter)) {
      return { id: positionOf(cursor, NEWEST_FIRST).id, occurredAt: null, sequence: null };
    }
    const { id } = positionOf(cursor, BY_TIME);
    const [row] = await this.database.query<{ occurred_at: Date }>(CURSOR, [id]);
    if (row === undefined) throw invalidCursor();
    return { id, occurredAt: row.occurred_at, sequence: null };
  }

  /**
   * Deletes all events of deleted objects and of deleted customers, with the deliveries of these events. The events of
   * a customer include those of the customer's objects, even of drafts and tokens that were deleted earlier.
   */
  async remove(deletedIds: readonly string[], customerIds: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    const rows = await this.database.query<{ object_id: string }>(OBJECTS_OF, [customerIds]);
    const objectIds = [...new Set([...deletedIds, ...rows.map((row) => row.object_id)])];
    // Must be the first deletion: it waits for a dispatcher that is creating deliveries of these events.
    await this.database.query(REMOVE_QUEUED, [objectIds]);
    await this.removeData(await this.database.query<PlaceRow>(REMOVE, [objectIds]));
    await this.database.query(REMOVE_SEQUENCES, [objectIds]);
  }

  /**
   * Deletes the oldest events recorded before an instant, together with their deliveries, in one commit. Keeps events
   * that are not dispatched yet or have a pending delivery. Checks at most {@link MAX_CHECKED} events.
   * @param after deletes only events with ids above this id; empty: no limit
   * @returns the number of deleted events, and the id after which the next batch starts; null: there are no more events
   */
  deleteOldest(
    before: Date,
    limit: number,
    after: string,
  ): Promise<{ readonly deleted: number; readonly next: string | null }> {
    return this.database.transaction(async () => {
      const end = firstIdAt('evt', before);
      const lastChecked = await this.database.queryValue<string>(LAST_CHECKED, [end, after]);
      const parameters = [end, limit, after, lastChecked ?? end];
      const ids = await this.database.queryValues<string>(LOCK_OLDEST, parameters);
      if (ids.length === 0) return { deleted: 0, next: lastChecked };
      const deleted = await this.database.query<PlaceRow>(DELETE_EVENTS, [ids]);
      await this.removeData(deleted);
      const next = ids.length < limit ? lastChecked : (ids.at(-1) ?? null);
      return { deleted: deleted.length, next };
    });
  }

  /**
   * Removes the data of deleted events from their packs (rows with the data of several events). Deletes a pack if all
   * its events are deleted. Leaves a pack as it is if PostgreSQL cannot read it, and reports its other events as
   * damaged.
   */
  private async removeData(deleted: readonly PlaceRow[]): Promise<void> {
    const packed = deleted.filter((row): row is PackedRow => row.pack_id !== null);
    if (packed.length === 0 || (await this.clear(packed))) return;
    const packs = [...groupBy(packed, ({ pack_id: id }) => id)];
    const unreadable: string[] = [];
    // In the order in which LOCK_PACKS locks.
    for (const [id, rows] of packs.sort(([a], [b]) => Number(a) - Number(b))) {
      if (!(await this.clear(rows))) unreadable.push(id);
    }
    const ids = await this.database.queryValues<string>(PACKED, [unreadable]);
    this.database.afterCommit(() => {
      this.damagedReads.report('event', ids);
    });
  }

  /**
   * Removes the data of deleted events from their packs. Returns false if PostgreSQL cannot read one of the packs. Then
   * no data is cleared, but empty packs may be deleted.
   */
  private async clear(packed: readonly PackedRow[]): Promise<boolean> {
    const ids = packed.map(({ pack_id: id }) => id);
    const places = packed.map(({ pack_place: place }) => place);
    const isDone = (statement: string, parameters: unknown[]): Promise<boolean | null> =>
      nullIfUnreadable(this.database, async () => {
        await this.database.query(statement, parameters);
        return true;
      });
    // The lock stays if only the data cannot be read, so that the transaction that deletes the last event sees this one.
    return (
      (await isDone(LOCK_PACKS, [ids])) === true &&
      (await isDone(REMOVE_PACKS, [ids])) === true &&
      (await isDone(CLEAR_PLACES, [ids, places])) === true
    );
  }

  /**
   * Returns events that occurred in `[from, to)`, oldest first.
   * @param id id of the last event of the previous page, which occurred at `from`; empty for the first page
   */
  headsAfter(from: Date, to: Date, id: string, limit: number): Promise<readonly EventHead[]> {
    return this.database.query<EventHead>(HEADS_AFTER, [from, to, id, limit]);
  }
}

function cursorAfter({ id, sequence }: RecordedEvent, filter: EventLogFilter): string {
  if (isBySequence(filter)) return cursorAt({ id, value: sequence.toString() }, BY_SEQUENCE);
  return cursorAt({ id, value: null }, isByTime(filter) ? BY_TIME : NEWEST_FIRST);
}
