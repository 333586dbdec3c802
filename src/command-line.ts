import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EngineModule } from './engine.module';
import { explainFailure } from './explain-failure';
import { startDatabaseIfNone } from './own-database.module';
import { loadCommandConfiguration } from './platform/config';
import { migrate } from './platform/database';
import { ProblemError } from './platform/errors';
import { createLogger, NestLogger } from './platform/logging';
import { ClockCheck, ProcessSession } from './platform/processes';

/** Error of a command that was called with wrong arguments. The message says how to call the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command-line program that works on the database of the service. */
export interface DatabaseCommand<Arguments> {
  /** Text that `--help` prints: how to call the command. */
  readonly usage: string;
  /**
   * Reads the arguments of the process, before the database is opened or the embedded server is started.
   * @throws {UsageError} when the arguments are wrong
   */
  readonly readArguments: () => Arguments;
  /** Returns true if the command changes objects by the clock of the machine, which must then be right. */
  readonly isDated: (given: Arguments) => boolean;
  readonly run: (app: INestApplicationContext, given: Arguments) => Promise<void>;
}

/**
 * Parses the arguments of the process with `parseArgs` of Node.
 * @throws {UsageError} with the reason, followed by `usage`
 */
export function parseArguments<Config extends ParseArgsConfig>(
  usage: string,
  config?: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : ''}${usage}`);
  }
}

/**
 * Migrates the database of the service, and then runs the command on it. The service may run at the same time. If the
 * command fails, the process exits with code 1.
 */
export function runCommand<Arguments>(command: DatabaseCommand<Arguments>): void {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${command.usage}\n`);
    return;
  }
  runOnDatabase(command).catch((error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    // An application that failed to start leaves its connections open, which would keep the process running.
    process.exit(1);
  });
}

async function runOnDatabase<Arguments>({
  readArguments,
  isDated,
  run,
}: DatabaseCommand<Arguments>): Promise<void> {
  const given = readArguments();
  const configuration = loadCommandConfiguration();
  const embedded = await startDatabaseIfNone(
    configuration,
    () => undefined,
    (message) => void process.stderr.write(`${message}\n`),
  );
  try {
    const databaseUrl = embedded?.connectionString ?? configuration.databaseUrl ?? '';
    await migrate(databaseUrl, reportWait, configuration.migrationWaitMs);
    const app = await NestFactory.createApplicationContext(
      EngineModule.with(configuration, databaseUrl),
      { logger: new NestLogger(createLogger(configuration.logLevel)), abortOnError: false },
    );
    try {
      if (isDated(given)) await requireRightClock(app);
      await run(app, given);
    } finally {
      await app.close();
    }
  } finally {
    await embedded?.stop();
  }
}

/**
 * Compares the clocks again if the comparison at the start failed.
 * @throws {ProblemError} `service_unavailable` if the clock of this machine is wrong, or cannot be compared
 */
async function requireRightClock(app: INestApplicationContext): Promise<void> {
  await app.get(ProcessSession, { strict: false }).requireNumber();
  const clockCheck = app.get(ClockCheck, { strict: false });
  if (!clockCheck.isRight) await clockCheck.check().catch(() => undefined);
  clockCheck.requireRight();
}

function reportWait(holder: string, migration: string | null): void {
  const what = migration === null ? 'the migration lock' : `a lock for the migration ${migration}`;
  process.stderr.write(`Waiting for ${what}, held by ${holder}.\n`);
}

function messageOf(error: unknown): string {
  if (error instanceof ProblemError) return error.occurrence.detail;
  return error instanceof UsageError ? error.message : explainFailure(error);
}
