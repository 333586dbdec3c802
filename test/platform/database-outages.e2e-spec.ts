import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions } from '../../src/platform/database';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { until } from '../support/until';

let own: TestDatabase;
let proxy: DatabaseProxy;
/** What a test has opened, to be closed after it, the last first. */
const undo: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  own = await createTestDatabase();
  proxy = await DatabaseProxy.before(own.url);
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await proxy.close();
  await own.drop();
});

/** Sends statements past the proxy. */
async function administer(...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: own.url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const TERMINATE_OTHERS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

it('a connection that breaks while it goes from one to the next ends nothing but itself', async () => {
  const dataSource = await new DataSource(dataSourceOptions(proxy.url, 1)).initialize();
  undo.push(() => dataSource.destroy());
  const database = new Database(dataSource);
  proxy.hold();
  const first = database.query('SELECT 1').catch(() => undefined);
  const second = database
    .transaction(() => database.query('SELECT 2'))
    .catch((error: unknown) => error);
  await until('the first answer is there', () => proxy.heldBytes > 0);
  const before = proxy.heldBytes;
  await administer(TERMINATE_OTHERS);
  await until('the end of the connection is there too', () => proxy.heldBytes > before);
  proxy.release();
  await first;
  expect(await second).toMatchObject({ message: expect.stringMatching(/connection/) });
  expect(await database.query('SELECT 3 AS three')).toEqual([{ three: 3 }]);
});
