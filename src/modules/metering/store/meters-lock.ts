import { hash } from 'node:crypto';
import type { Database } from '../../../platform/database';
import type { Patience } from './usage-streams';

/** Any number that no other advisory lock of this database has. */
const KEY = 7_301_995;
/** A lock for every name there may be in a request would fill the table of locks. */
const SLOTS = 64;

/** In one order for everybody. */
const SLOT = `(SELECT slot FROM unnest($2::int[]) AS slot ORDER BY slot) AS slots`;
const HOLD = `SELECT pg_advisory_xact_lock($1, slot) FROM ${SLOT}`;
const HOLD_METERS = {
  wait: `SELECT slot FROM ${SLOT} WHERE pg_advisory_xact_lock_shared($1, slot) IS NULL`,
  skip: `SELECT slot FROM ${SLOT} WHERE NOT pg_try_advisory_xact_lock_shared($1, slot)`,
} as const;

/**
 * Until the open transaction ends, no meter of these events is made: what the next statements read of meters is what
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

/** Until the open transaction ends, no event of the name is stored by others: for whoever makes a meter of what is there. */
export async function holdUsage(database: Database, eventName: string): Promise<void> {
  database.requireTransaction();
  await database.query(HOLD, [KEY, [slotOf(eventName)]]);
}

/** Names share a lock with others. */
export function slotOf(eventName: string): number {
  return hash('sha256', eventName, 'buffer').readUInt8() % SLOTS;
}
