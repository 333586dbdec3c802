import { resolve } from 'node:path';
import { Client, type QueryResult } from 'pg';
import { answerJobs } from '../support/channel';
import type { Statement } from '../support/statements';

/** The compiled service, with a look at everything it hands to `pg`. */

type Query = (this: Client, ...args: unknown[]) => unknown;

interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

const statements: Statement[] = [];

function record(args: readonly unknown[], result: unknown): void {
  const [query, given] = args;
  const config: QueryConfig = typeof query === 'string' ? { text: query } : (query as QueryConfig);
  const values = Array.isArray(given) ? (given as readonly unknown[]) : (config.values ?? []);
  const { text, name } = config;
  const index = statements.push({ text, values, rowCount: null, ...(name && { name }) }) - 1;
  if (!(result instanceof Promise)) return;
  const note = ({ rowCount }: QueryResult): void => {
    const statement = statements[index];
    if (statement?.text === text) statements[index] = { ...statement, rowCount };
  };
  (result as Promise<QueryResult>).then(note, () => undefined);
}

const prototype = Client.prototype as unknown as { query: Query };
const original = prototype.query;
prototype.query = function query(this: Client, ...args: unknown[]): unknown {
  const result = original.apply(this, args);
  record(args, result);
  return result;
};

answerJobs<'take', readonly Statement[]>(() => Promise.resolve(statements.splice(0)));

void import(resolve('dist/src/main.js'));
