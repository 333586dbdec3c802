import { setTimeout as pause } from 'node:timers/promises';
import type { Client, ClientBase, PoolConfig } from 'pg';
import {
  type DataSource,
  type DataSourceOptions,
  type Migration,
  MigrationExecutor,
  type QueryRunner,
} from 'typeorm';
import { prepareConnection } from './connection-settings';
import { dataSourceOptions } from './data-source-options';
import { type DatabaseSession, describeSession, SESSION_COLUMNS } from './database-session';
import { MIGRATION_SESSION, MigrationLockError } from './migration-lock';
import { isLockTimeout, isWorthRetrying } from './postgres-errors';

/**
 * Longest wait of a migration for a lock. It is short, because statements of running processes queue behind a migration
 * that waits, and fail after their own lock timeout of 5 s.
 */
const LOCK_TIMEOUT_MS = 1_000;
const FIRST_PAUSE_BETWEEN_ATTEMPTS_MS = 1_000;
const MAX_PAUSE_BETWEEN_ATTEMPTS_MS = 15_000;
const WATCH_EVERY_MS = 250;
/**
 * Key of an advisory lock that each migration takes in its own transaction. It keeps two processes from running
 * migrations at once even if one of them has lost the migration lock without noticing.
 */
const TRANSACTION_LOCK = 7_205_759_404;

const NO_TIMEOUT_MS = 0;

/** Maximum pause between two statements outside of a transaction. After a longer pause, the server ends the session. */
const IDLE_TIMEOUT_MS = 45_000;

/** Returns the options of connections that migrate: no statement timeout, and the name {@link MIGRATION_SESSION}. */
export function migrationOptions(url: string, poolSize = 2): DataSourceOptions {
  const options = dataSourceOptions(url, poolSize, NO_TIMEOUT_MS);
  const onConnect = async (connection: ClientBase): Promise<void> => {
    await prepareConnection(connection, NO_TIMEOUT_MS);
    // A statement, because DATABASE_URL or a pooler may set another name.
    await connection.query(
      `SET application_name = '${MIGRATION_SESSION}'; SET idle_session_timeout = ${IDLE_TIMEOUT_MS}`,
    );
  };
  return { ...options, extra: { ...(options.extra as PoolConfig), onConnect } };
}

/**
 * Runs the pending migrations and returns their names. Rolls back a migration that does not get a lock in time. Tries
 * it again after a pause, in which running processes can work. A migration outside of a transaction waits for locks
 * without limit. Therefore it may only contain statements that let others read and write, such as `CREATE INDEX
 * CONCURRENTLY`.
 * @param onBlocked called at most once per attempt, with a description of the session that holds a lock
 * @param lost aborted when the migration lock is lost. The running migration is then stopped.
 * @throws {MigrationLockError} if a migration did not get its locks within `maxWaitForLockMs`, or the migration lock is
 *   lost
 */
export async function runMigrations(
  dataSource: DataSource,
  onBlocked: (migration: string, holder: string) => void,
  maxWaitForLockMs: number,
  lost: AbortSignal,
): Promise<readonly string[]> {
  const queryRunner = dataSource.createQueryRunner();
  const connection = (await queryRunner.connect()) as Client;
  // Needs no answer of the database. The server ends a statement whose client is gone, and the next process the session.
  const stop = () => void connection.end();
  lost.addEventListener('abort', stop);
  try {
    lost.throwIfAborted();
    const pid = await pidOf(queryRunner);
    const executor = new MigrationExecutor(dataSource, queryRunner);
    const ran: string[] = [];
    for (const migration of await executor.getPendingMigrations()) {
      const givesUpAt = performance.now() + maxWaitForLockMs;
      const blocked = new BlockedSession(dataSource, pid, (holder) => {
        onBlocked(migration.name, holder);
      });
      let outcome: MigrationOutcome;
      for (let longestPauseMs = FIRST_PAUSE_BETWEEN_ATTEMPTS_MS; ; longestPauseMs *= 2) {
        outcome = await blocked.during(() => attempt(executor, queryRunner, migration));
        if (outcome !== 'to be repeated') break;
        if (performance.now() >= givesUpAt) {
          throw notLocked(migration, blocked.holder, maxWaitForLockMs);
        }
        await pause(
          Math.min(longestPauseMs, MAX_PAUSE_BETWEEN_ATTEMPTS_MS, givesUpAt - performance.now()),
          undefined,
          { signal: lost },
        );
      }
      if (outcome === 'ran') ran.push(migration.name);
    }
    return ran;
  } catch (error) {
    lost.throwIfAborted();
    throw error;
  } finally {
    lost.removeEventListener('abort', stop);
    await queryRunner.release();
  }
}

async function pidOf(queryRunner: QueryRunner): Promise<number> {
  const rows = (await queryRunner.query('SELECT pg_backend_pid() AS pid')) as { pid: number }[];
  return rows[0]?.pid ?? 0;
}

function isInTransaction({ instance }: Migration): boolean {
  return instance?.transaction !== false;
}

/** `ran in another process` can occur if one of two processes has lost the migration lock without noticing. */
type MigrationOutcome = 'ran' | 'ran in another process' | 'to be repeated';

async function attempt(
  executor: MigrationExecutor,
  queryRunner: QueryRunner,
  migration: Migration,
): Promise<MigrationOutcome> {
  const isTransaction = isInTransaction(migration);
  await queryRunner.query(`SET lock_timeout = ${isTransaction ? LOCK_TIMEOUT_MS : 0}`);
  if (isTransaction) await queryRunner.startTransaction();
  try {
    if (isTransaction) await queryRunner.query(`SELECT pg_advisory_xact_lock(${TRANSACTION_LOCK})`);
    const isRecorded = (await recordedMigrations(queryRunner)).includes(migration.name);
    if (!isRecorded) await executor.executeMigration(migration);
    if (isTransaction) await queryRunner.commitTransaction();
    return isRecorded ? 'ran in another process' : 'ran';
  } catch (error) {
    if (queryRunner.isTransactionActive) {
      await queryRunner.rollbackTransaction().catch(() => undefined);
    }
    if (isLockTimeout(error) || isWorthRetrying(error)) return 'to be repeated';
    throw error;
  }
}

/** Returns the names of the migrations that have run, the oldest first. */
export async function recordedMigrations(connection: {
  query(sql: string): Promise<unknown>;
}): Promise<readonly string[]> {
  const table = await connection.query(`SELECT to_regclass('migration') AS name`);
  if ((table as readonly { readonly name: string | null }[])[0]?.name === null) return [];
  const rows = await connection.query('SELECT name FROM migration ORDER BY timestamp');
  return (rows as readonly { readonly name: string }[]).map(({ name }) => name);
}

/** Uses another connection to find the session that a migration waits for. */
class BlockedSession {
  holder: DatabaseSession | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly pid: number,
    private readonly onBlocked: (holder: string) => void,
  ) {}

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    const finished = new AbortController();
    const watching = this.watchUntil(finished.signal);
    try {
      return await work();
    } finally {
      finished.abort();
      await watching;
    }
  }

  private async watchUntil(finished: AbortSignal): Promise<void> {
    for (;;) {
      await pause(WATCH_EVERY_MS, undefined, { signal: finished }).catch(() => undefined);
      if (finished.aborted) return;
      const holder = await this.find().catch(() => null);
      if (holder === null) continue;
      this.holder = holder;
      this.onBlocked(describeSession(holder));
      return;
    }
  }

  /**
   * Returns a session that blocks the migration; null if none does. Opens no transaction, because `CREATE INDEX
   * CONCURRENTLY` waits for open transactions. It waits for this statement too, whose session is therefore left out.
   */
  private async find(): Promise<DatabaseSession | null> {
    const [holder] = await this.dataSource.query<DatabaseSession[]>(`
      SELECT activity.pid, ${SESSION_COLUMNS}
      FROM unnest(pg_blocking_pids(${this.pid})) AS blocking (pid)
      JOIN pg_stat_activity AS activity USING (pid)
      WHERE pid <> pg_backend_pid() ORDER BY activity.xact_start LIMIT 1`);
    return holder ?? null;
  }
}

function notLocked(
  migration: Migration,
  holder: DatabaseSession | null,
  maxWaitForLockMs: number,
): MigrationLockError {
  const who = holder === null ? 'other sessions' : describeSession(holder);
  const end = holder === null ? '' : `, or end it with SELECT pg_terminate_backend(${holder.pid})`;
  const effect = isInTransaction(migration)
    ? 'Nothing of it was applied.'
    : 'What it has done stays, and it continues at the next start.';
  return new MigrationLockError(
    `The migration ${migration.name} did not get its locks within ${Math.round(maxWaitForLockMs / 1000)} s: they are held by ` +
      `${who}. ${effect} Start again when that session has ended its transaction${end}.`,
  );
}
