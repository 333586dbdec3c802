import { join } from 'node:path';
import type { ClientBase } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import {
  clientSettings,
  CONNECT_TIMEOUT_MS,
  prepareConnection,
  STATEMENT_TIMEOUT_MS,
} from './connection-settings';
import { DatabaseClient } from './database-client';
import { SnakeNaming } from './snake-naming';

/**
 * An unused connection is closed after this time. The time is long, so that a burst of requests after a quiet time
 * still finds open connections with prepared statements.
 */
const IDLE_CONNECTION_MS = 600_000;

export const ENTITIES = join(__dirname, '../../**/*.entity.{js,ts}');
const MIGRATIONS = join(__dirname, '../../../migrations/*-*.{js,ts}');

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
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      ...clientSettings(statementTimeoutMs),
      Client: DatabaseClient,
      onConnect: (connection: ClientBase) => prepareConnection(connection, statementTimeoutMs),
    },
  };
}
