import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
import { ConfigurationError, loadConfiguration } from './platform/config';
import {
  isDatabaseUnavailable,
  migrate,
  MigrationLockError,
  SchemaError,
} from './platform/database';
import { EmbeddedPostgresError, startEmbeddedPostgres } from '../packages/embedded-postgres';
import { ProblemError } from './platform/errors';
import { createLogger, NestLogger } from './platform/logging';

/** Error of a command that was called with wrong arguments. The message says how to call the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Migrates the database of the service and runs a command on it. The service may run meanwhile. A failure gives exit
 * code 1.
 */
export function runCommand(work: (app: INestApplicationContext) => Promise<void>): void {
  runOnDatabase(work).catch((error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  });
}

async function runOnDatabase(work: (app: INestApplicationContext) => Promise<void>): Promise<void> {
  // With the role `api` the application does no background work. It does not listen, because no server is started.
  const configuration = loadConfiguration({ ROLE: 'api', LOG_LEVEL: 'error' });
  const embedded =
    configuration.databaseUrl === null
      ? await startEmbeddedPostgres({
          directory: configuration.dataDirectory,
          database: 'billing',
          log: () => undefined,
        })
      : null;
  try {
    const databaseUrl = embedded?.connectionString ?? configuration.databaseUrl ?? '';
    await migrate(databaseUrl, reportWait, configuration.migrationWaitMs);
    const app = await NestFactory.createApplicationContext(
      AppModule.with(configuration, databaseUrl),
      { logger: new NestLogger(createLogger(configuration.logLevel)), abortOnError: false },
    );
    try {
      await work(app);
    } finally {
      await app.close();
    }
  } finally {
    await embedded?.stop();
  }
}

function reportWait(holder: string, migration: string | null): void {
  const what = migration === null ? 'the migration lock' : `a lock for the migration ${migration}`;
  process.stderr.write(`Waiting for ${what}, held by ${holder}.\n`);
}

/** Errors whose message says what to do. Other errors are defects and are printed with their stack. */
const EXPLAINED = [
  UsageError,
  ConfigurationError,
  EmbeddedPostgresError,
  MigrationLockError,
  SchemaError,
];

function messageOf(error: unknown): string {
  if (error instanceof ProblemError) return error.occurrence.detail;
  if (!(error instanceof Error)) return String(error);
  const isExplained =
    EXPLAINED.some((kind) => error instanceof kind) || isDatabaseUnavailable(error);
  return isExplained ? error.message : (error.stack ?? error.message);
}
