import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { type DatabaseSession, describeSession, SESSION_COLUMNS } from './database-session';

/** Key of the advisory lock: an arbitrary number, the same in all processes. */
const MIGRATION_LOCK = 7_205_759_403;
const POLL_EVERY_MS = 250;

/** Application name of the sessions that migrate. */
export const MIGRATION_SESSION = 'billing-engine migration';

/** Far less than `idle_in_transaction_session_timeout`, after which the server ends the session of the lock. */
const KEEP_EVERY_MS = 10_000;
/** Statement without a snapshot, for which `CREATE INDEX CONCURRENTLY` would wait. */
const KEEP = 'SHOW application_name';

const HOLDER = `
  SELECT lock.pid, ${SESSION_COLUMNS}
  FROM pg_locks AS lock LEFT JOIN pg_stat_activity AS activity USING (pid)
  WHERE lock.locktype = 'advisory' AND lock.granted AND lock.objsubid = 1
    AND (lock.classid::bigint << 32 | lock.objid::bigint) = $1
    AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LIMIT 1`;

/** A session that migrates, and that this user may end. */
const FORMER = `
  SELECT activity.pid, ${SESSION_COLUMNS} FROM pg_stat_activity AS activity
  WHERE activity.application_name = '${MIGRATION_SESSION}' AND activity.datname = current_database()
    AND pg_has_role(activity.usesysid, 'USAGE')
  LIMIT 1`;
/** Waits up to 1 s for the end. Has no parameters, for the same reason as the statement that takes the lock. */
const END = (pid: number): string => `SELECT pg_terminate_backend(${pid}, 1000)`;

/** Thrown if another session has held the migration lock, or a lock that a migration needs, for too long. */
export class MigrationLockError extends Error {}

/**
 * Opens a transaction, and takes the migration lock until the transaction ends. Does not use a session lock, because
 * behind a pooler it would outlive the process that took it. The server ends the transaction of a process that is
 * suspended. Then ends the sessions of a process that has lost the lock while it migrated, because its next statements
 * would change what this process migrates.
 * @param onWait called at most once, if another session holds the lock, with a description of that session
 * @returns signal that is aborted, with a `MigrationLockError`, when the session ends and the lock is lost
 * @throws {MigrationLockError} naming the session that holds the lock, if the lock is not released in time
 */
export async function lockMigrations(
  connection: Client,
  onWait: (holder: string) => void,
  maxWaitForLockMs: number,
  keepEveryMs = KEEP_EVERY_MS,
): Promise<AbortSignal> {
  const givesUpAt = performance.now() + maxWaitForLockMs;
  for (let looks = 0; !(await tryLock(connection)); looks += 1) {
    const holder = await holderOf(connection);
    if (holder !== null && looks === 0) onWait(describeSession(holder));
    if (performance.now() >= givesUpAt) throw lockTakenError(holder, maxWaitForLockMs);
    await pause(POLL_EVERY_MS);
  }
  await connection.query(`SET LOCAL application_name = '${MIGRATION_SESSION} lock'`);
  for (let looks = 0; ; looks += 1) {
    const former = await endFormerSession(connection);
    if (former === null) break;
    if (looks > 0 && performance.now() >= givesUpAt) throw lockTakenError(former, maxWaitForLockMs);
  }
  return keepLock(connection, keepEveryMs);
}

/** Ends a session that migrated before this process got the lock, and returns it; null if there is none. */
async function endFormerSession(connection: Client): Promise<DatabaseSession | null> {
  // Otherwise a transaction sees the sessions of its first look.
  await connection.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await connection.query<DatabaseSession>(FORMER);
  const former = rows[0] ?? null;
  // Asked only now, because the right to call the function may have been taken from this user.
  if (former !== null) await connection.query(END(former.pid));
  return former;
}

/** Keeps the session from being ended as idle. */
function keepLock(connection: Client, everyMs: number): AbortSignal {
  const lost = new AbortController();
  const timer = setInterval(() => {
    connection.query(KEEP).catch(() => void connection.end().catch(() => undefined));
  }, everyMs);
  connection.once('end', () => {
    clearInterval(timer);
    lost.abort(lockLostError());
  });
  return lost.signal;
}

/**
 * Opens a transaction that holds the lock. If another session holds the lock, returns false and leaves no transaction
 * open, because `CREATE INDEX CONCURRENTLY` waits for every transaction with a snapshot. For the same reason, the
 * statement that takes the lock has no parameters: with parameters, it would keep a snapshot until the next statement.
 */
async function tryLock(connection: Client): Promise<boolean> {
  await connection.query('BEGIN');
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
    `The migration lock was not free within ${Math.round(maxWaitForLockMs / 1000)} s: it is held by ${who}. Wait for its ` +
      `process, which is migrating, or set MIGRATION_WAIT_MS, or end that process. If you cannot reach it, end the session${end}.`,
  );
}

function lockLostError(): MigrationLockError {
  return new MigrationLockError(
    'The database session that held the migration lock has ended, so the migration was stopped. Start again: it continues ' +
      'with the first migration that was not recorded.',
  );
}
