import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../packages/embedded-postgres';

export interface TemporaryDatabase {
  readonly url: string;
  /** A new directory, which `remove()` deletes. */
  readonly directory: string;
  /** Version of PostgreSQL, as the server reports it. */
  readonly version: string;
  remove(): Promise<void>;
}

/**
 * Settings as in production: every commit is on disk before it is acknowledged. Only sizes differ from the defaults.
 * The buffers are a quarter of the memory of a server with 8 GiB, as the manual of PostgreSQL suggests (20.4.1).
 */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '200',
  shared_buffers: '2GB',
  max_wal_size: '4GB',
};

/** Creates a database on the server of DATABASE_URL, or on a new server that is deleted afterwards. */
export async function createTemporaryDatabase(): Promise<TemporaryDatabase> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'billing-bench-'));
  // The server does not run as root, and needs access to its data.
  await chmod(directory, 0o711);
  const removeDirectory = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const given = process.env['DATABASE_URL'];
    const database = await (given === undefined ? onOwnServer(directory) : onServer(given));
    const [row] = await runSql<{ server_version: string }>(database.url, 'SHOW server_version');
    const remove = (): Promise<void> => database.remove().finally(removeDirectory);
    return { url: database.url, directory, version: row?.server_version ?? '', remove };
  } catch (error) {
    await removeDirectory();
    throw error;
  }
}

type Removable = Pick<TemporaryDatabase, 'url' | 'remove'>;

async function onOwnServer(directory: string): Promise<Removable> {
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    database: 'billing_bench',
    log: () => undefined,
    settings: SETTINGS,
  });
  return { url: server.connectionString, remove: () => server.stop() };
}

async function onServer(serverUrl: string): Promise<Removable> {
  const name = `billing_bench_${randomBytes(4).toString('hex')}`;
  await runSql(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const remove = async (): Promise<void> => {
    await runSql(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  return { url: url.toString(), remove };
}

/** Runs one statement on a new connection; returns the rows. */
export async function runSql<Row extends object>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
