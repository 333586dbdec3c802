import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { AppModule } from './app.module';
import { configureApp } from './configure-app';
import { type Configuration, ConfigurationError, loadConfiguration } from './platform/config';
import { migrate } from './platform/database';
import {
  EmbeddedPostgresError,
  type EmbeddedServer,
  startEmbeddedPostgres,
} from './platform/embedded-postgres';
import { createLogger, NestLogger } from './platform/logging';

async function main(): Promise<void> {
  const configuration = loadConfiguration();
  const logger = createLogger(configuration.logLevel);
  const embedded = await startDatabaseIfNone(configuration, logger);
  const databaseUrl = embedded?.connectionString ?? configuration.databaseUrl ?? '';
  try {
    await serve(configuration, logger, databaseUrl, embedded);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function startDatabaseIfNone(
  configuration: Configuration,
  logger: Logger,
): Promise<EmbeddedServer | null> {
  if (configuration.databaseUrl !== null) return null;
  return startEmbeddedPostgres({
    directory: configuration.dataDirectory,
    database: 'billing',
    log: (message) => {
      logger.info({ context: 'embedded-postgres' }, message);
    },
  });
}

async function serve(
  configuration: Configuration,
  logger: Logger,
  databaseUrl: string,
  embedded: EmbeddedServer | null,
): Promise<void> {
  for (const name of await migrate(databaseUrl)) logger.info({ migration: name }, 'migrated');
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(configuration, databaseUrl),
    { bodyParser: false, logger: new NestLogger(logger), abortOnError: false },
  );
  configureApp(app, logger);
  stopOnSignal(app, configuration, logger, embedded);
  if (configuration.answersHttp) {
    await app.listen(configuration.port, configuration.host);
    announce(await app.getUrl(), embedded);
  } else {
    await app.init();
    logger.info('worker started');
  }
}

/** For the person at the terminal; everything else goes through the log. */
function announce(url: string, embedded: EmbeddedServer | null): void {
  const lines = [`Billing engine: ${url}`, `Swagger UI:     ${url}/docs`];
  if (embedded !== null) lines.push(`PostgreSQL:     ${embedded.connectionString}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Not ready, claim nothing more, finish what is in flight, close; then the embedded server. */
function stopOnSignal(
  app: NestExpressApplication,
  configuration: Configuration,
  logger: Logger,
  embedded: EmbeddedServer | null,
): void {
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.error('what was in flight did not finish in time');
      process.exitCode = 1;
      void stopEmbedded(embedded).finally(() => process.exit());
    }, configuration.shutdownTimeoutMs).unref();
    await app.close();
    await stopEmbedded(embedded);
    logger.info('stopped');
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(signal));
  }
}

async function stopEmbedded(embedded: EmbeddedServer | null): Promise<void> {
  await embedded?.stop();
}

function explain(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof EmbeddedPostgresError) {
    return error.message;
  }
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return `The port is taken (${message}). Stop what listens there, or set PORT to another one.`;
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `Cannot listen: ${message}. Set HOST or PORT.`;
  return stack ?? String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
