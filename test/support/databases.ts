import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';

export const TEMPLATE_DATABASE = 'billing_template';

/** Returns the URL of another database on the same server. */
export function databaseNamed(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.toString();
}

export interface TestDatabase {
  readonly url: string;
  /** Drops the database. Then throws if sessions of the database had a deadlock that the test did not expect. */
  drop(): Promise<void>;
  /** Allows or refuses new sessions. Connected sessions stay. */
  accept(connections: boolean): Promise<void>;
}

/** Connection to create and drop databases. It stays open for later use, but does not keep the process running. */
let server: Pool | null = null;

async function onServer<Row extends object = object>(statement: string): Promise<Row[]> {
  if (server === null) {
    server = new Pool({ connectionString: serverUrl(), max: 1, allowExitOnIdle: true });
    // The server may stop before this process does.
    server.on('error', () => undefined);
  }
  return (await server.query<Row>(statement)).rows;
}

async function deadlocksIn(name: string): Promise<string> {
  const [row] = await onServer<{ deadlocks: string }>(
    `SELECT deadlocks FROM pg_stat_database WHERE datname = '${name}'`,
  );
  return row?.deadlocks ?? '0';
}

function serverUrl(): string {
  const url = process.env['TEST_SERVER_URL'];
  if (url === undefined) throw new Error('The global set-up has not run.');
  return url;
}

/** Creates a database, empty or cloned from the migrated template. */
export async function createTestDatabase(
  content: 'migrated' | 'empty' = 'migrated',
  plantsDeadlocks = false,
): Promise<TestDatabase> {
  const name = `billing_test_${randomBytes(6).toString('hex')}`;
  const template = content === 'migrated' ? (process.env['TEST_TEMPLATE'] ?? '') : 'template0';
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  return {
    url: databaseNamed(serverUrl(), name),
    drop: async () => {
      const deadlocks = await deadlocksIn(name);
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      if (!plantsDeadlocks && deadlocks !== '0')
        throw new Error(`Sessions have deadlocked: ${deadlocks} times.`);
    },
    accept: async (connections) => {
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${String(connections)}`);
    },
  };
}

/** Copies a database. No session may be connected to the original. */
export async function copyTestDatabase(url: string): Promise<TestDatabase> {
  const database = await createTestDatabase('empty');
  const [name, original] = [database.url, url].map((one) => new URL(one).pathname.slice(1));
  await database.drop();
  await onServer(`CREATE DATABASE ${name ?? ''} TEMPLATE ${original ?? ''} STRATEGY FILE_COPY`);
  return database;
}
