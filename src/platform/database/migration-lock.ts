import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { type DatabaseSession, describeSession, SESSION_COLUMNS } from './database-session';

/** Key of the advisory lock: an arbitrary number, the same in all processes. */
const MIGRATION_LOCK = 7_205_759_403;
const POLL_EVERY_MS = 250;

/** Application name of the sessions that migrate. */
export const MIGRATION_SESSION = 'billing-engine migration';

/**
 * Interval of statements that keep the session with the lock busy. The server ends a session whose transaction is idle
 * for 45 s.
 */
const KEEP_EVERY_MS = 10_000;
/** A statement that takes no snapshot, because `CREATE INDEX CONCURRENTLY` waits for transactions with a snapshot. */
const KEEP = 'SHOW application_name';

const HOLDER = `
  SELECT lock.pid, ${SESSION_COLUMNS}
  FROM pg_locks AS lock LEFT JOIN pg_stat_activity AS activity USING (pid)
  WHERE lock.locktype = 'advisory' AND lock.granted AND lock.objsubid = 1
    AND (lock.classid::bigint << 32 | lock.objid::bigint) = $1
    AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  LIMIT 1`;

const FORMER = `
  SELECT activity.pid, ${SESSION_COLUMNS} FROM pg_stat_activity AS activity
  WHERE activity.application_name = '${MIGRATION_SESSION}' AND activity.datname = current_database()`;
/**
 * Returns SQL that ends a session if the database user is allowed to, and waits up to 1 s for its end. The statement
 * has no parameters, because with parameters the session that runs it would keep a snapshot.
 */
const END = (pid: number): string => `
  DO $$ BEGIN PERFORM pg_terminate_backend(${pid}, 1000);
  EXCEPTION WHEN insufficient_privilege THEN NULL; END $$`;

/**
 * Thrown in these cases:
 * - another session held the migration lock, or a lock that a migration needs, for too long;
 * - a session of an earlier migration does not end;
 * - this process has lost the migration lock.
 */
export class MigrationLockError extends Error {}

/**
 * Opens a transaction, and takes the migration lock until the transaction ends. Uses no session-level lock, because
 * behind a pooler it would outlive the process that took it. Also ends the sessions of earlier migrations, because they
 * could change the schema at the same time as this process. Example: a process is suspended, and the server ends its
 * idle transaction with the lock. When the process goes on, its other sessions go on, too.
 * @param onWait called with a description of the session that holds the lock, or of an earlier session that does not
 *   end
 * @returns signal that is aborted, with a `MigrationLockError`, when the session of `connection` ends and the lock is
 *   lost
 * @throws {MigrationLockError} if the wait for the lock, or for the end of earlier sessions, takes too long
 */
export async function lockMigrations(
  connection: Client,
  onWait: (session: string) => void,
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
  await endFormerSessions(connection, onWait, givesUpAt);
  return keepLock(connection, keepEveryMs);
}

/** Ends the sessions that migrated before this process got the lock, and waits until they have ended. */
async function endFormerSessions(
  connection: Client,
  onWait: (session: string) => void,
  givesUpAt: number,
): Promise<void> {
  // The name keeps this session from being ended. Without a role, it may end the sessions of the user that logs in.
  await connection.query(
    `SET LOCAL application_name = '${MIGRATION_SESSION} lock'; SET LOCAL role = none`,
  );
  const asked = new Set<number>();
  for (let isReported = false; ;) {
    // Otherwise a transaction sees the sessions of its first look.
    await connection.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await connection.query<DatabaseSession>(FORMER);
    if (rows.length === 0) return;
    const left = rows.find(({ pid }) => asked.has(pid));
    if (left !== undefined) {
      if (!isReported) onWait(describeSession(left));
      isReported = true;
      if (performance.now() >= givesUpAt) throw formerSessionError(left);
      await pause(POLL_EVERY_MS);
    }
    for (const { pid } of rows) {
      await connection.query(END(pid));
      asked.add(pid);
    }
  }
}

/**
 * Sends a statement in each interval, so that the server does not end the session as idle. Returns a signal that is
 * aborted when the session ends.
 */
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
 * open. `CREATE INDEX CONCURRENTLY` waits for every transaction with a snapshot. Therefore the statement that takes the
 * lock also has no parameters: with parameters, it would keep a snapshot until the next statement.
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

function formerSessionError(session: DatabaseSession): MigrationLockError {
  return new MigrationLockError(
    `A session of an earlier migration has not ended: ${describeSession(session)}. End its process, or as an ` +
      `administrator the session with SELECT pg_terminate_backend(${session.pid}), and start again.`,
  );
}

function lockLostError(): MigrationLockError {
  return new MigrationLockError(
    'The database session that held the migration lock has ended, so the migration was stopped. Start again: it continues ' +
      'with the first migration that was not recorded.',
  );
}
