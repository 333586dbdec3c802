import type { Span } from '@opentelemetry/api';
import type { PoolClient } from 'pg';
import type { QueryRunner } from 'typeorm';
import { keepRun } from '../tracing';

/** Trace span of a transaction. It contains no SQL and no values. */
export const TRANSACTION_SPAN = {
  name: 'database transaction',
  attributes: { 'db.system.name': 'postgresql' },
};

const WRITES = /^(INSERT|UPDATE|DELETE|MERGE|COPY)$/;

interface Answered {
  readonly command: string;
  readonly rowCount: number | null;
}

/**
 * Counts the statements of a transaction, including BEGIN and COMMIT. If a statement of a background job writes, marks
 * all spans of this run of the job for export.
 * @returns a function that ends the count, and records it on the span
 */
export async function countStatements(runner: QueryRunner, span: Span): Promise<() => void> {
  const connection = (await runner.connect()) as Partial<Pick<PoolClient, 'query'>>;
  let count = 0;
  // Replaces the method of this connection only. TypeORM and this service both send their statements with it.
  const send = connection.query as (...values: unknown[]) => unknown;
  const counted = (...values: unknown[]): unknown => {
    count += 1;
    const answer = Reflect.apply(send, connection, values);
    if (answer instanceof Promise) void answer.then(recordWrite, () => undefined);
    else keepRun();
    return answer;
  };
  Object.assign(connection, { query: counted });
  return () => {
    delete connection.query;
    span.setAttribute('db.statements', count);
  };
}

function recordWrite({ command, rowCount }: Answered): void {
  if (WRITES.test(command) && rowCount !== 0) keepRun();
}
