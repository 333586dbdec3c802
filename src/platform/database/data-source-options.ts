import { join } from 'node:path';
import type { ClientBase } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import {
  clientSettings,
  CONNECT_TIMEOUT_MS,
  prepareConnection,
  STATEMENT_TIMEOUT_MS,
} from './connection-settings';
import { SnakeNaming } from './snake-naming';

const MIGRATIONS = join(__dirname, '../../../migrations/*-*.{js,ts}');

/** Options of all connection pools. */
export function dataSourceOptions(
  url: string,
  poolSize: number,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    namingStrategy: new SnakeNaming(),
    installExtensions: false,
    synchronize: false,
    migrationsRun: false,
    migrations: [MIGRATIONS],
    migrationsTableName: 'migration',
    migrationsTransactionMode: 'each',
    extra: {
      ...clientSettings(statementTimeoutMs),
      onConnect: (connection: ClientBase) => prepareConnection(connection, statementTimeoutMs),
    },
  };
}
