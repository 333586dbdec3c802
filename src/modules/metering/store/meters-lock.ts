import type { Database } from '../../../platform/database';

/** Any number that no other advisory lock of this database has. */
const KEY = 7_301_995;

/**
 * Until the open transaction ends, no meter is made: what the next statements read of meters is what counts their events.
 */
export async function holdMeters(database: Database): Promise<void> {
  database.requireTransaction();
  await database.query('SELECT pg_advisory_xact_lock_shared($1)', [KEY]);
}

/** Until the open transaction ends, nothing is stored by others: for whoever makes a meter of what is there. */
export async function holdUsage(database: Database): Promise<void> {
  database.requireTransaction();
  await database.query('SELECT pg_advisory_xact_lock($1)', [KEY]);
}
