import type { Database } from '../../src/platform/database';

const LOOKS_FOR_WRITERS = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle'
    AND query_start > $1::timestamptz AND query LIKE '%RowExclusiveLock%'`;

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
 * Returns a condition that becomes true once another session has looked, after this call, for transactions that write
 * to a table.
 */
export async function looksForWriters(database: Database): Promise<() => Promise<boolean>> {
  const since = await database.queryValue<string>('SELECT clock_timestamp()::text');
  return async () => (await database.query(LOOKS_FOR_WRITERS, [since])).length > 0;
}
