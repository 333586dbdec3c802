import { Client, escapeLiteral } from 'pg';
import { migrate } from '../../src/platform/database';
import { startEphemeralPostgres } from '../../packages/embedded-postgres';
import { databaseNamed, TEMPLATE_DATABASE } from './databases';
import { fastDirectory } from './fast-directory';

/**
 * Provides one database server for the whole run: the server of TEST_DATABASE_URL (of a superuser of PostgreSQL 15 to
 * 18), whose other databases stay unchanged, or a temporary one. Builds the schema once, in a template that every test
 * file clones. Each Jest project that needs the server calls this function, so only the first call has an effect.
 */
export default async function globalSetup(): Promise<void> {
  if (process.env['TEST_SERVER_URL'] !== undefined) return;
  const given = process.env['TEST_DATABASE_URL'];
  let serverUrl = given;
  if (serverUrl === undefined) {
    const server = await inFastDirectory(() =>
      startEphemeralPostgres({ database: 'postgres', log: () => undefined }),
    );
    serverUrl = server.connectionString;
    await hashPasswordOnce(serverUrl);
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

/** Hashes the password with one iteration instead of the usual 4,096, which would make each connection 3 ms slower. */
async function hashPasswordOnce(serverUrl: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query('SET scram_iterations = 1');
  await client.query(`ALTER USER postgres PASSWORD ${escapeLiteral(new URL(serverUrl).password)}`);
  await client.end();
}

/** Runs the work with `TMPDIR` set to a fast directory. */
async function inFastDirectory<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = await fastDirectory();
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
