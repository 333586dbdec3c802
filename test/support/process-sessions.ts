import { Client } from 'pg';
import { PROCESS_LOCK_CLASS, ProcessSession } from '../../src/platform/processes/process-session';
import type { TestApp } from './test-app';
import { until } from './until';

export const sessionOf = (engine: TestApp): ProcessSession => engine.app.get(ProcessSession);

/**
 * Breaks the connection with which an engine holds its process number. The command does not go through the engine's own
 * connections, because a test may hold these as soon as the engine notices.
 */
export async function breakSession(
  engine: TestApp,
  databaseUrl = engine.databaseUrl,
): Promise<void> {
  const { number } = sessionOf(engine);
  expect(number).not.toBeNull();
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1::integer::oid AND objid = $2::integer::oid
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [PROCESS_LOCK_CLASS, number],
  );
  await client.end();
}

/**
 * Breaks the connection with which an engine holds its process number, and waits until the engine has a new number.
 * @param databaseUrl URL with which the command gets a connection, if the engine's own URL allows no further one
 */
export async function loseNumber(engine: TestApp, databaseUrl?: string): Promise<void> {
  const before = sessionOf(engine).number;
  await breakSession(engine, databaseUrl);
  await until('it has another number', () => {
    const { number } = sessionOf(engine);
    return number !== null && number !== before;
  });
}
