import { setTimeout as pause } from 'node:timers/promises';
import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { type DatabaseSession, describeSession, SESSION_COLUMNS } from './database-session';
import { MigrationLockError } from './migration-lock';
import { isLockTimeout, isWorthRetrying } from './postgres-errors';

/**
 * Longest wait of a migration for a lock. It is short, because the statements of running processes queue behind the
 * migration meanwhile, and their own lock timeout is 5 s.
 */
const LOCK_TIMEOUT_MS = 1_000;
const FIRST_PAUSE_BETWEEN_ATTEMPTS_MS = 1_000;
const MAX_PAUSE_BETWEEN_ATTEMPTS_MS = 15_000;
const WATCH_EVERY_MS = 250;

/**
 * Runs the pending migrations and returns their names. A migration that does not get a lock in time is rolled back, and
 * tried again after a pause in which running processes can work. A migration outside of a transaction waits for locks
 * without limit, so it may only contain statements that let others read and write, such as `CREATE INDEX CONCURRENTLY`.
 * @param onBlocked called at most once per attempt, with a description of the session that holds a lock
 * @throws {MigrationLockError} if a migration did not get its locks within `maxWaitForLockMs`
 */
export async function runMigrations(
  dataSource: DataSource,
  onBlocked: (migration: string, holder: string) => void,
  maxWaitForLockMs: number,
): Promise<readonly string[]> {
  const queryRunner = dataSource.createQueryRunner();
  try {
    const executor = new MigrationExecutor(dataSource, queryRunner);
    const pid = await pidOf(queryRunner);
    const ran: string[] = [];
    for (const migration of await executor.getPendingMigrations()) {
      const givesUpAt = performance.now() + maxWaitForLockMs;
      const blocked = new BlockedSession(dataSource, pid, (holder) => {
        onBlocked(migration.name, holder);
      });
      for (let longestPauseMs = FIRST_PAUSE_BETWEEN_ATTEMPTS_MS; ; longestPauseMs *= 2) {
        const failure = await blocked.during(() => attempt(executor, queryRunner, migration));
        if (failure === null) break;
        if (performance.now() >= givesUpAt) {
          throw notLocked(migration.name, blocked.holder, maxWaitForLockMs);
        }
        await pause(
          Math.min(longestPauseMs, MAX_PAUSE_BETWEEN_ATTEMPTS_MS, givesUpAt - performance.now()),
        );
      }
      ran.push(migration.name);
    }
    return ran;
  } finally {
    await queryRunner.release();
  }
}

async function pidOf(queryRunner: QueryRunner): Promise<number> {
  const rows = (await queryRunner.query('SELECT pg_backend_pid() AS pid')) as { pid: number }[];
  return rows[0]?.pid ?? 0;
}

/** Returns null if the migration ran; the error if another attempt may succeed. */
async function attempt(
  executor: MigrationExecutor,
  queryRunner: QueryRunner,
  migration: Migration,
): Promise<Error | null> {
  const isTransaction = migration.instance?.transaction !== false;
  await queryRunner.query(`SET lock_timeout = ${isTransaction ? LOCK_TIMEOUT_MS : 0}`);
  if (isTransaction) await queryRunner.startTransaction();
  try {
    await executor.executeMigration(migration);
    if (isTransaction) await queryRunner.commitTransaction();
    return null;
  } catch (error) {
    if (queryRunner.isTransactionActive) {
      await queryRunner.rollbackTransaction().catch(() => undefined);
    }
    if (isLockTimeout(error) || isWorthRetrying(error)) return error as Error;
    throw error;
  }
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
   * CONCURRENTLY` waits for open transactions.
   */
  private async find(): Promise<DatabaseSession | null> {
    const [holder] = await this.dataSource.query<DatabaseSession[]>(`
      SELECT activity.pid, ${SESSION_COLUMNS}
      FROM unnest(pg_blocking_pids(${this.pid})) AS blocking (pid)
      JOIN pg_stat_activity AS activity USING (pid) ORDER BY activity.xact_start LIMIT 1`);
    return holder ?? null;
  }
}

function notLocked(
  migration: string,
  holder: DatabaseSession | null,
  maxWaitForLockMs: number,
): MigrationLockError {
  const who = holder === null ? 'other sessions' : describeSession(holder);
  const end = holder === null ? '' : `, or end it with SELECT pg_terminate_backend(${holder.pid})`;
  return new MigrationLockError(
    `The migration ${migration} did not get its locks within ${Math.round(maxWaitForLockMs / 1000)} s: they are held by ` +
      `${who}. Nothing of it was applied. Start again when that session has ended its transaction${end}.`,
  );
}
