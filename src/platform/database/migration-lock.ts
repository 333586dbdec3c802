import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { type DatabaseSession, describeSession, SESSION_COLUMNS } from './database-session';

/** Key of the advisory lock: an arbitrary number, the same in all processes. */
const MIGRATION_LOCK = 7_205_759_403;
const POLL_EVERY_MS = 250;

const HOLDER = `
  SELECT lock.pid, ${SESSION_COLUMNS}
  FROM pg_locks AS lock LEFT JOIN pg_stat_activity AS activity USING (pid)
  WHERE lock.locktype = 'advisory' AND lock.granted AND lock.objsubid = 1
    AND (lock.classid::bigint << 32 | lock.objid::bigint) = $1
    AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LIMIT 1`;

/** Thrown if another session has held the migration lock, or a lock that a migration needs, for too long. */
export class MigrationLockError extends Error {}

/**
 * Opens a transaction, and takes the migration lock until the transaction ends. Does not use a session lock, because
 * behind a pooler it would outlive the process that took it.
 * @param onWait called at most once, if another session holds the lock, with a description of that session
 * @throws {MigrationLockError} naming the session that holds the lock, if the lock is not released in time
 */
export async function lockMigrations(
  connection: Client,
  onWait: (holder: string) => void,
  maxWaitForLockMs: number,
): Promise<void> {
  const givesUpAt = performance.now() + maxWaitForLockMs;
  for (let looks = 0; !(await tryLock(connection)); looks += 1) {
    const holder = await holderOf(connection);
    if (holder !== null && looks === 0) onWait(describeSession(holder));
    if (performance.now() >= givesUpAt) throw lockTakenError(holder, maxWaitForLockMs);
    await pause(POLL_EVERY_MS);
  }
}

/**
 * Opens a transaction that holds the lock. If another session holds the lock, returns false and leaves no transaction
 * open, because `CREATE INDEX CONCURRENTLY` waits for every transaction with a snapshot. For the same reason, the
 * statement that takes the lock has no parameters: with parameters, it would keep a snapshot until the next statement.
 */
async function tryLock(connection: Client): Promise<boolean> {
  await connection.query('BEGIN');
  await connection.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await connection.query<{ free: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS free`,
  );
  if (rows[0]?.free === true) return true;
  await connection.query('ROLLBACK');
  return false;
}

/** Returns the session that holds the lock; null if the lock was just released. */
async function holderOf(connection: Client): Promise<DatabaseSession | null> {
  const { rows } = await connection.query<DatabaseSession>(HOLDER, [MIGRATION_LOCK]);
  return rows[0] ?? null;
}

function lockTakenError(
  holder: DatabaseSession | null,
  maxWaitForLockMs: number,
): MigrationLockError {
  const who = holder === null ? 'other sessions, one after the other' : describeSession(holder);
  const end = holder === null ? '' : ` with SELECT pg_terminate_backend(${holder.pid})`;
  return new MigrationLockError(
    `The migration lock was not free within ${Math.round(maxWaitForLockMs / 1000)} s: it is held by ${who}. If that session ` +
      `is migrating, wait for it, or set MIGRATION_WAIT_MS; if its process is gone, end it${end}.`,
  );
}
