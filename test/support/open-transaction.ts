import { Client } from 'pg';
import type { Database } from '../../src/platform/database';

/**
 * Finds the query of another session. The pattern is a parameter, because a pattern in the text would also match this
 * query itself.
 */
const LOOKS_FOR_WRITERS = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'idle' AND query_start > $1::timestamptz AND query LIKE $2`;

/** Runs work in a transaction that stays open. Returns a function that commits it. */
export async function openTransaction(
  database: Database,
  work: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  let commit: () => void = () => undefined;
  const committed = new Promise<void>((resolve) => (commit = resolve));
  let open: Promise<void> = Promise.resolve();
  await new Promise<void>((done, failed) => {
    open = database.transaction(async () => {
      await work();
      done();
      await committed;
    });
    open.catch(failed);
  });
  return () => {
    commit();
    return open;
  };
}

/**
 * Returns a condition that becomes true after another session has queried for transactions that write to a table.
 * Queries before this call do not count. Each check uses a new session: `pg_stat_activity` shows only the last query of
 * a session, so on a connection of the service, the check itself would hide the query.
 */
export async function looksForWriters(databaseUrl: string): Promise<() => Promise<boolean>> {
  const query = async (sql: string, values: readonly unknown[] = []) => {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    return client.query<{ now: string }>(sql, [...values]).finally(() => client.end());
  };
  const { rows } = await query('SELECT clock_timestamp()::text AS now');
  return async () =>
    (await query(LOOKS_FOR_WRITERS, [rows[0]?.now, '%RowExclusiveLock%'])).rows.length > 0;
}
