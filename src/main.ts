import './supported-node';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { EngineModule } from './engine.module';
import { explainFailure } from './explain-failure';
import { isNdjsonUsageRequest } from './modules/metering';
import { startDatabaseIfNone } from './own-database.module';
import { type Configuration, loadConfiguration } from './platform/config';
import { migrate } from './platform/database';
import type { EmbeddedServer } from '../packages/embedded-postgres';
import { HttpAdapter } from './platform/http';
import { createLogger, NestLogger, showSourcePositions } from './platform/logging';
import { MonitoringServer } from './platform/observability';
import { startTracing } from './platform/tracing';

interface Running {
  /**
   * Start of the embedded server; pending while the server starts. Resolves to null if `DATABASE_URL` is set, or if the
   * start failed.
   */
  embedded: Promise<EmbeddedServer | null>;
  app: NestExpressApplication | null;
  /**
   * Creation of `app` until it listens; null before. A stop waits for it, so that `app` is stopped before its database.
   */
  opening: Promise<void> | null;
  /** Exports the last spans, and stops tracing. Null without tracing. */
  stopTracing: (() => Promise<void>) | null;
  isStopping: boolean;
}

async function main(): Promise<void> {
  showSourcePositions();
  const configuration = loadConfiguration();
  const logger = createLogger(configuration.logLevel);
  // A closed standard output must not stop the service.
  process.stdout.on('error', () => undefined);
  // Node then prints the error and ends the process.
  process.on('uncaughtExceptionMonitor', (error) => {
    logger.fatal({ err: error }, 'the process ends, because nothing handled this error');
  });
  const running: Running = {
    embedded: Promise.resolve(null),
    app: null,
    opening: null,
    stopTracing: null,
    isStopping: false,
  };
  stopOnSignal(running, configuration, logger);
  if (configuration.ineffective.length > 0) {
    logger.warn({ settings: configuration.ineffective }, 'some settings have no effect');
  }
  try {
    await start(running, configuration, logger);
  } catch (error) {
    // A start fails when a signal stops the database that it uses. The process then ends as the signal wants.
    if (running.isStopping) return;
    // Background work has already started when listening fails.
    await running.app?.close().catch(() => undefined);
    await (await running.embedded)?.stop();
    throw error;
  }
}

async function start(
  running: Running,
  configuration: Configuration,
  logger: Logger,
): Promise<void> {
  if (configuration.tracing) running.stopTracing = await startTracing(logger);
  const context = 'embedded-postgres';
  const starting = startDatabaseIfNone(
    configuration,
    (message) => {
      logger.info({ context }, message);
    },
    (message) => {
      logger.warn({ context }, message);
    },
  );
  running.embedded = starting.catch(() => null);
  const embedded = await starting;
  const databaseUrl = embedded?.connectionString ?? configuration.databaseUrl ?? '';
  const migrations = await migrate(
    databaseUrl,
    (holder, migration) => {
      if (migration === null) logger.info({ holder }, 'waiting for the migration lock');
      else logger.warn({ migration, holder }, 'a migration waits for a lock, and is tried again');
    },
    configuration.migrationWaitMs,
  );
  for (const name of migrations) logger.info({ migration: name }, 'migrated');
  if (isStopping(running)) return;
  running.opening = open(running, configuration, { databaseUrl, logger });
  await running.opening;
  if (isStopping(running) || running.app === null) return;
  if (configuration.answersHttp) announce(await running.app.getUrl(), embedded);
  else logger.info('worker started');
}

/**
 * Reads `isStopping`, which a signal can change at any time. TypeScript assumes that a property does not change between
 * checks.
 */
function isStopping(running: Running): boolean {
  return running.isStopping;
}

/** Creates the application and lets it listen. After a signal, it does not begin to listen. */
async function open(
  running: Running,
  configuration: Configuration,
  { databaseUrl, logger }: { readonly databaseUrl: string; readonly logger: Logger },
): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(
    EngineModule.with(configuration, databaseUrl, logger),
    new HttpAdapter(isNdjsonUsageRequest),
    { bodyParser: false, logger: new NestLogger(logger), abortOnError: false },
  );
  running.app = app;
  if (isStopping(running)) return;
  await app.init();
  if (isStopping(running)) return;
  if (configuration.answersHttp) await app.listen(configuration.port, configuration.host);
  if (isStopping(running)) return;
  // Starts last, so that the process is not reported ready before it listens and its background work has started.
  await app.get(MonitoringServer).listen();
}

/** Prints the addresses of the service to the standard output, as plain text instead of log lines. */
function announce(url: string, embedded: EmbeddedServer | null): void {
  const lines = [
    `Billing engine: ${url}`,
    `Console:        ${url}/studio`,
    `Swagger UI:     ${url}/docs`,
  ];
  // The URL contains the password, so it is printed to a terminal only, never to a log.
  if (embedded !== null && process.stdout.isTTY) {
    lines.push(`PostgreSQL:     ${embedded.connectionString}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

/**
 * Stops the process on a signal. The process takes these steps in order: it reports that it is not ready, claims no new
 * work, finishes work in flight, closes its connections, and stops the embedded server.
 */
function stopOnSignal(running: Running, configuration: Configuration, logger: Logger): void {
  const stop = async (signal: string): Promise<void> => {
    if (running.isStopping) return;
    running.isStopping = true;
    logger.info({ signal }, 'stopping');
    const inTime = await finishWithin(configuration.shutdownTimeoutMs, close(running));
    if (!inTime) logger.error('requests and jobs in flight did not finish in time');
    await running.stopTracing?.();
    const started = running.embedded.then(() => undefined);
    if (await finishWithin(configuration.shutdownTimeoutMs, started)) {
      await (await running.embedded)?.stop();
    }
    logger.info('stopped');
    // A part of the service that stops the process sets `process.exitCode` first.
    process.exit(inTime ? (process.exitCode ?? 0) : 1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(signal));
  }
}

async function close(running: Running): Promise<void> {
  await running.opening?.catch(() => undefined);
  await running.app?.close();
}

async function finishWithin(timeoutMs: number, work: Promise<void> | undefined): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const finished = Promise.resolve(work).then(() => true);
  return Promise.race([finished, tooLate]).finally(() => {
    clearTimeout(timer);
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${explainFailure(error)}\n`);
  process.exit(1);
});
