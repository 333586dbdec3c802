import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Database, listOfAnyLength } from '../../../platform/database';
import { customerNotFound } from '../../customers';

/** Identifies a stream: the events of one name of one customer. */
export interface StreamName {
  readonly customerId: string;
  readonly eventName: string;
}

export interface LockedStream {
  readonly id: string;
  readonly lastPosition: string;
  /** Events before this instant are refused; null if no month of the stream is closed. */
  readonly closedBefore: Date | null;
}

interface LockedStreamRow extends LockedStream, StreamName {}

const FIND = `
  SELECT id, customer_id AS "customerId", event_name AS "eventName"
  FROM usage_stream
  WHERE (customer_id, event_name) IN (
    SELECT * FROM unnest(${listOfAnyLength('$1', 'text')}, ${listOfAnyLength('$2', 'text')})
  )`;

/**
 * Inserts streams in sorted order. Transactions that create the same streams then wait for each other, and do not
 * deadlock. Skips customers that were purged with their test clock in the meantime.
 */
const CREATE = `
  INSERT INTO usage_stream (customer_id, event_name, last_position)
  SELECT customer.id, new.event_name, 0
  FROM unnest($1::text[], $2::text[]) AS new(customer_id, event_name) JOIN customer ON customer.id = new.customer_id
  ORDER BY customer.id COLLATE "C", new.event_name COLLATE "C"
  FOR KEY SHARE OF customer
  ON CONFLICT DO NOTHING`;

const LOCK = `
  SELECT id, customer_id AS "customerId", event_name AS "eventName", last_position AS "lastPosition",
    closed_before AS "closedBefore"
  FROM usage_stream
  WHERE id = ANY (${listOfAnyLength('$1', 'bigint')})
  ORDER BY id
  FOR UPDATE`;

const LOCK_IDS = `
  SELECT id FROM usage_stream WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE`;

const LOCK_ONE = `
  SELECT id, last_position AS "lastPosition", closed_before AS "closedBefore"
  FROM usage_stream WHERE customer_id = $1 AND event_name = $2 FOR UPDATE`;

/** SQL that locks all streams of the customers `$1`, in ascending order of their ids. Returns no columns. */
export const LOCK_STREAMS =
  'SELECT FROM usage_stream WHERE customer_id = ANY ($1) ORDER BY id FOR UPDATE';

const LOCK_ALL = `
  SELECT FROM usage_stream WHERE customer_id = ANY ($1) OR id = ANY ($2::bigint[]) ORDER BY id FOR UPDATE`;

const INVALIDATE_ALL = `
  UPDATE usage_stream SET version = version + 1
  WHERE id IN (SELECT id FROM usage_stream WHERE customer_id = $1 ORDER BY id FOR UPDATE)`;

const INVALIDATE =
  'UPDATE usage_stream SET version = version + 1 WHERE customer_id = $1 AND event_name = $2';

/**
 * Treatment of streams that another transaction has locked: wait for them, or skip them. `skip` and `hurry` also limit
 * the waits of ingest for other locks. They differ only in this limit ({@link shortLockTimeout}).
 */
export type OnBusy = 'wait' | 'skip' | 'hurry';

/**
 * Longest waits for a lock: `skip` for a shared commit, `hurry` for the commits that follow once a commit has waited
 * too long.
 */
const LOCK_TIMEOUTS_MS = { skip: 200, hurry: 20 };

/**
 * SQL that limits how long each later statement of the transaction waits for a lock. SKIP LOCKED does not prevent these
 * waits. An insert waits for another transaction that has inserted the same stream or key and has not committed yet.
 * All requests that share the commit would wait with it.
 */
export const shortLockTimeout = (onBusy: keyof typeof LOCK_TIMEOUTS_MS): string =>
  `set_config('lock_timeout', '${LOCK_TIMEOUTS_MS[onBusy]}', true)`;

/** Returns the missing streams that must be created. */
type CreatedStreams = (
  missing: readonly StreamName[],
) => readonly StreamName[] | Promise<readonly StreamName[]>;

export const ALL_MISSING: CreatedStreams = (missing) => missing;

/**
 * Locks and finds streams (a stream: one customer, one event name). A transaction that writes to a stream, or bills it,
 * holds its row lock.
 */
@Injectable()
export class UsageStreams {
  constructor(private readonly database: Database) {}

  /**
   * Locks streams until the transaction ends, in ascending order of their ids, so that callers cannot deadlock.
   * @param toCreate returns the missing streams that must be created
   * @returns the streams in the order of the names; null for a missing stream, `busy` for a skipped one
   */
  async lock(
    names: readonly StreamName[],
    toCreate: CreatedStreams,
    onBusy: OnBusy,
  ): Promise<readonly (LockedStream | 'busy' | null)[]> {
    this.database.requireTransaction();
    const found = await this.findOrCreate(names, toCreate);
    const sql = onBusy === 'wait' ? LOCK : `${LOCK} SKIP LOCKED`;
    const locked = await this.database.queryPrepared<LockedStreamRow>(
      `usage-streams-${onBusy}`,
      sql,
      [[...found.values()]],
    );
    const streams = new Map(locked.map((stream) => [streamKey(stream), stream]));
    return names.map((name) => {
      const isBusy = onBusy !== 'wait' && found.has(streamKey(name));
      return streams.get(streamKey(name)) ?? (isBusy ? 'busy' : null);
    });
  }

  /**
   * Locks the streams of these names, and all existing streams of these customers, until the transaction ends. Creates
   * missing streams of these names before it locks any stream: a transaction that waits for a stream that another
   * transaction is creating must hold no stream. A stream of these customers that is created during the call is not
   * locked. Its id is higher, so it comes later in the lock order.
   */
  async lockAll(customerIds: readonly string[], names: readonly StreamName[]): Promise<void> {
    this.database.requireTransaction();
    const found = await this.findOrCreate(names, ALL_MISSING);
    await this.database.query(LOCK_ALL, [customerIds, [...found.values()]]);
  }

  /**
   * Locks one stream until the transaction ends. Creates it if it is missing.
   * @throws {ProblemError} `customer_not_found` if the customer was purged with its test clock in the meantime
   */
  async lockOne(name: StreamName): Promise<LockedStream> {
    this.database.requireTransaction();
    const [existing] = await this.database.queryPrepared<LockedStream>(
      'usage-streams-lock-one',
      LOCK_ONE,
      [name.customerId, name.eventName],
    );
    if (existing !== undefined) return existing;
    const [stream] = await this.lock([name], ALL_MISSING, 'wait');
    if (stream === null) throw customerNotFound(name.customerId);
    invariant(stream !== undefined && stream !== 'busy', 'The stream is locked.');
    return stream;
  }

  /**
   * Locks streams until the transaction ends. Waits only for the first stream. Waiting for another stream while the
   * first one is locked could cause a deadlock.
   * @param ids ids in ascending order
   * @returns ids of the locked streams; ends before the first stream that another transaction has locked
   */
  async lockUntilBusy(ids: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    const first = await this.database.queryValues<string>(LOCK_IDS, [ids.slice(0, 1)]);
    const others = ids.slice(1);
    if (others.length === 0) return first;
    const free = await this.lockFree(others);
    const busy = others.findIndex((id, index) => free[index] !== id);
    return [...first, ...free.slice(0, busy === -1 ? undefined : busy)];
  }

  /** Locks the streams that no other transaction has locked, until the transaction ends. Returns their ids. */
  lockFree(ids: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(`${LOCK_IDS} SKIP LOCKED`, [ids]);
  }

  /**
   * Invalidates the cached state of all streams of a customer by incrementing their versions. Versions are also
   * incremented
   * - by database triggers, when a stream is billed, or when one of its usage windows is opened or closed;
   * - by a backfill when it first counts the stream;
   * - by the archive when it closes a month.
   */
  async invalidateAll(customerId: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(INVALIDATE_ALL, [customerId]);
  }

  /** Invalidates the cached state of a stream that the caller has locked, by incrementing its version. */
  async invalidate({ customerId, eventName }: StreamName): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(INVALIDATE, [customerId, eventName]);
  }

  /** Returns the id of a stream, which never changes; null if there is no stream. */
  async idOf(name: StreamName): Promise<string | null> {
    return (await this.find([name])).get(streamKey(name)) ?? null;
  }

  /** Returns the ids of the existing and created streams, by {@link streamKey}. */
  private async findOrCreate(
    names: readonly StreamName[],
    toCreate: CreatedStreams,
  ): Promise<ReadonlyMap<string, string>> {
    const found = await this.find(names);
    const missing = names.filter((name) => !found.has(streamKey(name)));
    const created = missing.length === 0 ? [] : await toCreate(missing);
    if (created.length > 0) {
      await this.database.query(CREATE, columnsOf(created));
      for (const [key, id] of await this.find(created)) found.set(key, id);
    }
    return found;
  }

  private async find(names: readonly StreamName[]): Promise<Map<string, string>> {
    if (names.length === 0) return new Map();
    const rows = await this.database.queryPrepared<LockedStreamRow>(
      'usage-streams-find',
      FIND,
      columnsOf(names),
    );
    return new Map(rows.map((row) => [streamKey(row), row.id]));
  }
}

function columnsOf(names: readonly StreamName[]): [string[], string[]] {
  return [names.map(({ customerId }) => customerId), names.map(({ eventName }) => eventName)];
}

export function streamKey({ customerId, eventName }: StreamName): string {
  return `${customerId} ${eventName}`;
}
