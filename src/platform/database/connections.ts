import type { QueryConfig } from 'pg';
import type { QueryRunner } from 'typeorm';

/** `pg` reads this of each query; its types know it of connections only. */
export interface TimedQuery extends QueryConfig {
  readonly query_timeout?: number | undefined;
}

/** The same statement, with a time of its own for its answer where one is given. */
export function timed(statement: string | TimedQuery, timeoutMs?: number): string | TimedQuery {
  if (timeoutMs === undefined) return statement;
  const query = typeof statement === 'string' ? { text: statement } : statement;
  return { ...query, query_timeout: timeoutMs };
}

/** The pool does not take it back, and the server rolls back what was open. */
export async function disconnect(runner: QueryRunner): Promise<void> {
  const connection = (await runner.connect().catch(() => null)) as { end(): Promise<void> } | null;
  // Not waited for: the other side may be gone for good.
  void connection?.end().catch(() => undefined);
}

/** A connection that is gone cannot roll back and has nothing to: the first error is the one that tells. */
export async function rollBackQuietly(runner: QueryRunner): Promise<void> {
  try {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
  } catch {
    // The server rolls back what a lost connection left open.
  }
}
