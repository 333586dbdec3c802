import { hash } from 'node:crypto';
import type { Database } from '../../../platform/database';
import type { Patience } from './usage-streams';

/** Any number that no other advisory lock of this database has. */
const KEY = 7_301_995;
/** Held by those who make meters, one at a time for each slot. */
const MAKERS_KEY = 7_301_996;
/** A lock for every name there may be in a request would fill the table of locks. */
const SLOTS = 64;

/** In one order for everybody. */
const SLOT = `(SELECT slot FROM unnest($2::int[]) AS slot ORDER BY slot) AS slots`;
const HOLD_METERS = {
  wait: `SELECT slot FROM ${SLOT} WHERE pg_advisory_xact_lock_shared($1, slot) IS NULL`,
  skip: `SELECT slot FROM ${SLOT} WHERE NOT pg_try_advisory_xact_lock_shared($1, slot)`,
} as const;

const STORING = `
  SELECT DISTINCT virtualtransaction AS id FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND classid = $1::int AND objid = $2::int AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Until the open transaction ends, no meter of these events becomes active without a backfill: what the next statements read of meters is what
 * counts them.
 * @returns those names of which somebody makes a meter at the moment, if they are not waited for
 */
export async function holdMeters(
  database: Database,
  eventNames: Iterable<string>,
  patience: Patience = 'wait',
): Promise<ReadonlySet<string>> {
  database.requireTransaction();
  const slots = new Map([...eventNames].map((name) => [name, slotOf(name)]));
  const rows = await database.prepared<{ slot: number }>(
    `usage-hold-meters-${patience}`,
    HOLD_METERS[patience],
    [KEY, [...new Set(slots.values())]],
  );
  const busy = new Set(rows.map(({ slot }) => slot));
  return new Set([...slots].filter(([, slot]) => busy.has(slot)).map(([name]) => name));
}

/** In SQL, for a statement by itself: whether nobody makes a meter of the names with this slot. */
export const noMeterIsMade = (slot: string): string =>
  `pg_try_advisory_xact_lock_shared(${KEY}, ${slot})`;

/** Holds the making of meters of this name until the open transaction ends; events go on being stored. */
export async function holdMaking(database: Database, eventName: string): Promise<void> {
  database.requireTransaction();
  await database.query('SELECT pg_advisory_xact_lock($1, $2)', [MAKERS_KEY, slotOf(eventName)]);
}

/**
 * Holds all storing of events of this name until the open transaction ends, if nobody stores any at the moment. Does not
 * wait, since whoever stores events next would wait behind it.
 */
export async function tryHoldUsage(database: Database, eventName: string): Promise<boolean> {
  database.requireTransaction();
  const [row] = await database.query<{ isHeld: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1, $2) AS "isHeld"',
    [KEY, slotOf(eventName)],
  );
  return row?.isHeld ?? false;
}

/**
 * Returns the transactions that store events of this name at the moment, by their virtual ids. Whoever stores events without
 * seeing a meter that is committed is one of them.
 */
export async function storingTransactions(
  database: Database,
  eventName: string,
): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(STORING, [KEY, slotOf(eventName)]);
  return rows.map(({ id }) => id);
}

/** Names share a lock with others. */
export function slotOf(eventName: string): number {
  return hash('sha256', eventName, 'buffer').readUInt8() % SLOTS;
}
