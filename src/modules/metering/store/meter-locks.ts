import { hash } from 'node:crypto';
import type { Database } from '../../../platform/database';
import { type OnBusy, shortLockTimeout } from './usage-streams';

/**
 * Advisory lock class of ingest. Transactions that store events take the lock in shared mode. The creation of a meter
 * counts earlier events at once only if it gets the lock in exclusive mode. Otherwise, a backfill counts them later.
 */
const INGEST_KEY = 7_301_995;
/**
 * Advisory lock class of the creation of meters. Meters whose event names share a slot (see {@link SLOT_COUNT}) are
 * created one after the other.
 */
const CREATION_KEY = 7_301_996;
/**
 * Number of slots. An event name is locked by locking its slot, which other names share. With one lock per name, a
 * large request would fill the lock table.
 */
const SLOT_COUNT = 64;

/** SQL of slots in ascending order, so that all callers lock them in the same order and cannot deadlock. */
const SLOT = `(SELECT slot FROM unnest($2::int[]) AS slot ORDER BY slot) AS slots`;
const tryToLock = (timeout: string): string => `
  SELECT slot FROM ${SLOT} WHERE ${timeout} IS NULL OR NOT pg_try_advisory_xact_lock_shared($1, slot)`;
const LOCK_METERS = {
  wait: `SELECT slot FROM ${SLOT} WHERE pg_advisory_xact_lock_shared($1, slot) IS NULL`,
  skip: tryToLock(shortLockTimeout('skip')),
  hurry: tryToLock(shortLockTimeout('hurry')),
} as const;

const INGESTING = `
  SELECT DISTINCT virtualtransaction AS id FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND classid = $1::int AND objid = $2::int AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Locks ingest of these event names, in shared mode, until the transaction ends. A meter can still be created during
 * this time. A backfill then counts the events that this transaction stores without seeing the new meter. If `onBusy`
 * is not `wait`, the statement also sets the {@link shortLockTimeout} of the transaction.
 * @returns names that were skipped, because a meter may be being created for them or for a name with the same lock;
 *   empty with `wait`
 */
export async function lockMeters(
  database: Database,
  eventNames: Iterable<string>,
  onBusy: OnBusy = 'wait',
): Promise<ReadonlySet<string>> {
  database.requireTransaction();
  const slots = new Map([...eventNames].map((name) => [name, slotOf(name)]));
  const rows = await database.queryPrepared<{ slot: number }>(
    `usage-lock-meters-${onBusy}`,
    LOCK_METERS[onBusy],
    [INGEST_KEY, [...new Set(slots.values())]],
  );
  const busy = new Set(rows.map(({ slot }) => slot));
  return new Set([...slots].filter(([, slot]) => busy.has(slot)).map(([name]) => name));
}

/**
 * SQL condition: no meter is being created for event names of this slot. Takes a shared lock on the slot, which lasts
 * until the transaction ends.
 */
export const noMeterIsCreated = (slot: string): string =>
  `pg_try_advisory_xact_lock_shared(${INGEST_KEY}, ${slot})`;

/** Locks the creation of meters of this event name until the open transaction ends. Does not block ingest. */
export async function lockMeterCreation(database: Database, eventName: string): Promise<void> {
  database.requireTransaction();
  await database.query('SELECT pg_advisory_xact_lock($1, $2)', [CREATION_KEY, slotOf(eventName)]);
}

/**
 * Tries to block ingest of this event name until the transaction ends. Returns false if a transaction is storing events
 * with this name. Never waits, because requests that store events would queue behind the waiting lock.
 */
export async function tryLockIngest(database: Database, eventName: string): Promise<boolean> {
  database.requireTransaction();
  const sql = 'SELECT pg_try_advisory_xact_lock($1, $2)';
  return (await database.queryValue<boolean>(sql, [INGEST_KEY, slotOf(eventName)])) === true;
}

/**
 * Returns the virtual ids (of PostgreSQL) of the transactions that may be storing events with this name. After the
 * commit of a meter for this name, these include all transactions that store events without seeing the meter.
 */
export async function ingestingTransactions(
  database: Database,
  eventName: string,
): Promise<readonly string[]> {
  return database.queryValues<string>(INGESTING, [INGEST_KEY, slotOf(eventName)]);
}

export function slotOf(eventName: string): number {
  return hash('sha256', eventName, 'buffer').readUInt8() % SLOT_COUNT;
}
