import { until } from './until';

/** Object that sends statements to a database: the `Database` service or a client of `pg`. */
interface Queryable {
  readonly query: (sql: string) => Promise<readonly unknown[]>;
}

/**
 * Returns the number of sessions of a database that wait for a lock. Do not query `pg_stat_activity` on a connection
 * with an open transaction: it lists only the sessions that existed at the first such query of the transaction.
 */
export async function countLockWaits(database: Queryable): Promise<number> {
  const rows = await database.query(
    `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  return rows.length;
}

/** Waits until this many sessions of a database wait for a lock. */
export async function untilSessionsWait(database: Queryable, sessions = 1): Promise<void> {
  await until(
    `${sessions} sessions wait for a lock`,
    async () => (await countLockWaits(database)) >= sessions,
  );
}
