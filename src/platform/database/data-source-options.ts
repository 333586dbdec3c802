import { join } from 'node:path';
import type { ClientBase } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { SnakeNaming } from './snake-naming';

/** A caller waits no longer than this for a row another one holds, and no statement runs longer. */
const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
export const CONNECT_TIMEOUT_MS = 5_000;
/** A server that lives has ended a statement by its own timeout; one that says nothing for this much longer is gone. */
export const ANSWER_SLACK_MS = 5_000;
/** Of silence, after which the machine of the server is asked whether it is still there. */
const KEEP_ALIVE_MS = 10_000;

const MIGRATIONS = join(__dirname, '../../../migrations/*-*.{js,ts}');

/** How every process of the engine speaks to its database. */
export function dataSourceOptions(url: string, poolSize: number): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    applicationName: 'billing-engine',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    namingStrategy: new SnakeNaming(),
    installExtensions: false,
    synchronize: false,
    migrationsRun: false,
    migrations: [MIGRATIONS],
    migrationsTableName: 'migration',
    migrationsTransactionMode: 'each',
    extra: {
      query_timeout: STATEMENT_TIMEOUT_MS + ANSWER_SLACK_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      onConnect: surviveErrors,
      // No statement here runs for so long that compiling it first would pay.
      options: `-c lock_timeout=${LOCK_TIMEOUT_MS} -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c timezone=UTC -c jit=off`,
    },
  };
}

/**
 * A connection may break while it is handed from the pool to whoever asked, when neither listens to it: an error that
 * nobody hears ends the process. Whoever uses the connection next meets the error, and it leaves the pool.
 */
function surviveErrors(connection: ClientBase): void {
  connection.on('error', () => undefined);
}
