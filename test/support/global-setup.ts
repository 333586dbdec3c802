import { statfs } from 'node:fs/promises';
import { Client } from 'pg';
import { migrate } from '../../src/platform/database';
import { startEphemeralPostgres } from '../../packages/embedded-postgres';
import { databaseNamed, TEMPLATE_DATABASE } from './databases';

/**
 * Starts one server for the whole run: TEST_DATABASE_URL (a superuser of PostgreSQL 15 to 18; other databases are left
 * alone), or one that is deleted afterwards. The schema is built once, in a template that every test file clones.
 */
export default async function globalSetup(): Promise<void> {
  const given = process.env['TEST_DATABASE_URL'];
  let serverUrl = given;
  if (serverUrl === undefined) {
    const server = await inMemoryIfPossible(() =>
      startEphemeralPostgres({ database: 'postgres', log: () => undefined }),
    );
    serverUrl = server.connectionString;
    Object.assign(globalThis, { stopTestServer: () => server.stop() });
  }
  process.env['TEST_SERVER_URL'] = serverUrl;
  const template = `${TEMPLATE_DATABASE}_${process.pid}`;
  process.env['TEST_TEMPLATE'] = template;
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await client.end();
  await migrate(databaseNamed(serverUrl, template));
}

/** File system in memory on Linux. Cloning a database writes some 700 files, which takes most of the time of many tests. */
const MEMORY = '/dev/shm';
/** More than all databases and the write-ahead log of a run. Containers often have only 64 MiB. */
const NEEDED_BYTES = 4 * 2 ** 30;

/** Runs the work with temporary files in memory if there is enough space, otherwise on disk. */
async function inMemoryIfPossible<Result>(work: () => Promise<Result>): Promise<Result> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (free < NEEDED_BYTES) return work();
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = MEMORY;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
