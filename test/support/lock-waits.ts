import type { Client, ClientBase } from 'pg';
import { DataSource } from 'typeorm';
import { poolOf } from '../../src/platform/database/pool-use';
import type { TestApp } from './test-app';
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

/** Waits until a session of the service waits for a lock in a statement that contains this text. */
export async function untilStatementWaits({ database }: TestApp, text: string): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database() AND strpos(query, $1) > 0`;
  await until(
    `the statement ${text} waits for a lock`,
    async () => (await database.query(waiting, [text])).length > 0,
  );
}

/** Waits until this many sessions of a database have waited for a lock for longer than a shared commit of usage may. */
export async function untilSessionsWaitLong({ database }: TestApp, sessions = 1): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()
      AND query_start < clock_timestamp() - interval '500 ms'`;
  await until(
    `${sessions} sessions wait for a lock for long`,
    async () => (await database.query(waiting)).length >= sessions,
  );
}

/**
 * Waits until no other session executes a statement or has an open transaction, as sessions of a killed process do for a
 * moment.
 */
export async function untilOthersRest(database: Queryable): Promise<void> {
  const working = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
      AND state <> 'idle'`;
  await until('other sessions rest', async () => (await database.query(working)).length === 0);
}

/** Disables the lock timeout of the service's connections. Otherwise a slow test ends the waits that it observes. */
export async function disableLockTimeout({ app }: TestApp): Promise<void> {
  const pool = poolOf(app.get(DataSource));
  // The pool awaits `onConnect`, but its type does not say so.
  const options = pool.options as { onConnect?: (connection: ClientBase) => Promise<void> };
  const { onConnect } = options;
  options.onConnect = async (connection) => {
    await onConnect?.(connection);
    await connection.query('SET lock_timeout = 0');
  };
  const all = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  for (const connection of all) {
    await connection.query('SET lock_timeout = 0');
    connection.release();
  }
}

/**
 * Runs the work while its first rows are locked, and locks its later ones once it waits. Returns how many.
 * @param customerId the parameter of both statements
 */
export async function lockLaterRows(
  { database }: TestApp,
  holder: Client,
  customerId: string,
  [first, later]: readonly [first: string, later: string],
  work: () => PromiseLike<{ readonly status: number }>,
): Promise<number | null> {
  await holder.query('BEGIN');
  const held = await holder.query(first, [customerId]);
  expect(held.rowCount).toBeGreaterThan(0);
  const answer = Promise.resolve(work());
  try {
    await untilSessionsWait(database);
    return (await holder.query(later, [customerId])).rowCount;
  } finally {
    await holder.query('ROLLBACK');
    expect((await answer).status).toBeLessThan(300);
  }
}
