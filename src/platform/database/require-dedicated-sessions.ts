import type { Client } from 'pg';
import { clientSettings } from './connection-settings';
import { DatabaseClient } from './database-client';

/** Thrown if the connection leads through a pooler that lets its clients share database sessions. */
export class PoolerError extends Error {}

/**
 * Checks that each connection has a session of its own. A pooler in transaction mode gives the session to another
 * client after each transaction. This client then gets the session's settings, locks, LISTEN and prepared statements.
 * Therefore the check itself changes no setting.
 * @throws {PoolerError} if two connections share a session, or a connection is moved to another session
 */
export async function requireDedicatedSessions(url: string): Promise<void> {
  const options = { connectionString: url, ...clientSettings() };
  const [first, second] = [new DatabaseClient(options), new DatabaseClient(options)];
  try {
    await first.connect();
    await second.connect();
    const pid = await sessionOf(first);
    if ((await sessionOf(first)) !== pid) throw refusal();
    await second.query('BEGIN');
    // A pooler cannot reassign the session of an open transaction, so the first connection must use another one.
    const isShared = (await sessionOf(second)) === pid || (await sessionOf(first)) !== pid;
    if (isShared) throw refusal();
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
}

async function sessionOf(connection: Client): Promise<number | undefined> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

function refusal(): PoolerError {
  return new PoolerError(
    'DATABASE_URL leads to a pooler that shares sessions between clients (PgBouncer: pool_mode = transaction or ' +
      'statement). Settings and locks of one process would reach another. Connect to the database directly, or through ' +
      'a pool with pool_mode = session.',
  );
}
