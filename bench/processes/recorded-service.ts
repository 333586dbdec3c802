import { resolve } from 'node:path';
import { Client, type QueryResult } from 'pg';
import { answerJobs } from '../support/channel';
import type { Statement } from '../support/statements';

/** Runs the compiled service and records everything it sends through `pg`. */

type Query = (this: Client, ...args: unknown[]) => unknown;

interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

type Callback = (error: unknown, result?: QueryResult) => void;

/** Statements since the last record was taken. `rowCount` is filled in when the result arrives. */
let statements: { -readonly [Key in keyof Statement]: Statement[Key] }[] = [];

const prototype = Client.prototype as unknown as { query: Query };
const original = prototype.query;
prototype.query = function query(this: Client, ...args: unknown[]): unknown {
  const statement = toStatement(args);
  statements.push(statement);
  const note = (result: QueryResult | undefined): void => {
    statement.rowCount = result?.rowCount ?? null;
  };
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    args[args.length - 1] = ((error, result) => {
      note(result);
      (callback as Callback)(error, result);
    }) satisfies Callback;
    return original.apply(this, args);
  }
  const answer = original.apply(this, args);
  if (answer instanceof Promise) (answer as Promise<QueryResult>).then(note, () => undefined);
  return answer;
};

function toStatement([query, given]: readonly unknown[]): (typeof statements)[number] {
  const config: QueryConfig = typeof query === 'string' ? { text: query } : (query as QueryConfig);
  const values = Array.isArray(given) ? (given as readonly unknown[]) : (config.values ?? []);
  const { text, name } = config;
  return {
    text,
    values,
    rowCount: null,
    ...(name === undefined ? {} : { name }),
  };
}

answerJobs((): Promise<readonly Statement[]> => {
  const taken = statements;
  statements = [];
  return Promise.resolve(taken);
});

void import(resolve('dist/src/main.js'));
