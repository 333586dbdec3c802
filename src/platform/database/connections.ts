import type { Pool, PoolClient, QueryConfig } from 'pg';
import { type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { isIdle } from './connection-settings';
import { OutcomeUnknownError } from './outcome-unknown';
import {
  isAnswerLost,
  isConnectionUnusable,
  isDataException,
  isLockTimeout,
  violatedConstraint,
} from './postgres-errors';

/** Query with a client-side timeout. `pg` supports it for each query, but its types declare it for connections only. */
export interface TimedQuery extends QueryConfig {
  readonly query_timeout?: number | undefined;
}

export function timed(statement: string | TimedQuery, timeoutMs?: number): string | TimedQuery {
  if (timeoutMs === undefined) return statement;
  const query = typeof statement === 'string' ? { text: statement } : statement;
  return { ...query, query_timeout: timeoutMs };
}

/** @throws {OutcomeUnknownError} if the answer to COMMIT is lost; after any other error nothing was committed */
export async function commit(runner: QueryRunner): Promise<void> {
  // TypeORM has released the runner because its connection broke: the database has rolled back.
  if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
  const connection = (await runner.connect()) as PoolClient;
  const { command } = await connection.query('COMMIT').catch((error: unknown) => {
    throw isAnswerLost(error) ? new OutcomeUnknownError(error) : error;
  });
  // PostgreSQL answers ROLLBACK, without an error, if a statement of the transaction has failed.
  if (command !== 'COMMIT') {
    throw new Error('Nothing was committed: a statement failed, and its error was ignored.');
  }
}

/**
 * Rolls back a failed transaction. If the connection is unusable or the rollback fails, closes the connection. The
 * server then rolls back.
 */
export async function abort(runner: QueryRunner, error: unknown): Promise<void> {
  const connection = (await runner.connect().catch(() => null)) as PoolClient | null;
  if (connection === null || runner.isReleased) return;
  if (isConnectionUnusable(error) || !(await rollBack(connection))) {
    // Not awaited, because the server may not answer.
    void connection.end().catch(() => undefined);
  }
}

/** Rolls back the transaction of a connection. Returns false if the connection may still be in a transaction. */
async function rollBack(connection: PoolClient): Promise<boolean> {
  if (isIdle(connection)) return true;
  try {
    await connection.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

const MAY_WRITE = /\b(?:INSERT|UPDATE|DELETE|MERGE|COPY|pg_notify)\b/i;

/**
 * Sends a statement outside of a transaction.
 * @throws {OutcomeUnknownError} if a statement that may have written data is not answered
 */
export async function sendAutocommit(
  pool: Pool,
  statement: string | TimedQuery,
  values?: unknown[],
): Promise<unknown[]> {
  const connection = await pool.connect();
  try {
    const { rows } = await connection.query(statement, values);
    connection.release();
    return rows as unknown[];
  } catch (error) {
    // After another error, the connection may be broken, or one of its prepared statements useless.
    const isUsable =
      violatedConstraint(error) !== null || isDataException(error) || isLockTimeout(error);
    // `pg` reports the error before the server is ready again. Until then, the pool would close the connection.
    if (isUsable && !isIdle(connection)) await connection.query('').catch(() => undefined);
    connection.release(!isUsable);
    const sql = typeof statement === 'string' ? statement : statement.text;
    throw isAnswerLost(error) && MAY_WRITE.test(sql) ? new OutcomeUnknownError(error) : error;
  }
}
