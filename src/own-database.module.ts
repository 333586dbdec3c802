import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  type EmbeddedServer,
  startEmbeddedPostgres,
  startEphemeralPostgres,
} from '../packages/embedded-postgres';
import { Configuration } from './platform/config';
import { migrate } from './platform/database';

const DATABASE = 'billing';

/** Starts the embedded server in the data directory if `DATABASE_URL` is not set. Otherwise returns null. */
export async function startDatabaseIfNone(
  { databaseUrl, dataDirectory }: Configuration,
  log: (message: string) => void,
  warn = log,
): Promise<EmbeddedServer | null> {
  if (databaseUrl !== null) return null;
  return startEmbeddedPostgres({ directory: dataDirectory, database: DATABASE, log, warn });
}

/**
 * Opens the database of the application at `DATABASE_URL`. Without this setting, starts an embedded server in the data
 * directory. With `NODE_ENV=test`, which Jest sets, the embedded server is temporary, so that test files can run at the
 * same time.
 */
@Injectable()
export class OwnDatabase implements OnApplicationShutdown {
  private server: EmbeddedServer | null = null;

  constructor(private readonly configuration: Configuration) {}

  /** Starts the embedded server if `DATABASE_URL` is not set. Migrates the database, and returns its URL. */
  async open(): Promise<string> {
    const { databaseUrl, migrationWaitMs } = this.configuration;
    if (databaseUrl === null) this.server = await this.start();
    const url = databaseUrl ?? this.server?.connectionString ?? '';
    try {
      await migrate(url, () => undefined, migrationWaitMs);
    } catch (error) {
      // An application that could not be made calls no hooks of its shutdown.
      await this.server?.stop();
      throw error;
    }
    return url;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server?.stop();
  }

  private start(): Promise<EmbeddedServer> {
    const options = { database: DATABASE, log: () => undefined };
    const { isTest, dataDirectory } = this.configuration;
    if (isTest) return startEphemeralPostgres(options);
    return startEmbeddedPostgres({ ...options, directory: dataDirectory });
  }
}

@Module({ providers: [OwnDatabase], exports: [OwnDatabase] })
export class OwnDatabaseModule {}
