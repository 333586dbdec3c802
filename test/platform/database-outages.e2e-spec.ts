import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions } from '../../src/platform/database';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { captureLog, type CapturedLog } from '../support/leaks';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

let own: TestDatabase;
let proxy: DatabaseProxy;
let log: CapturedLog;
/** What a test has opened, to be closed after it, the last first. */
const undo: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  own = await createTestDatabase();
  proxy = await DatabaseProxy.before(own.url);
  log = captureLog();
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  log.stop();
  await proxy.close();
  await own.drop();
});

/** An engine behind the proxy, with no more connections than it needs. */
async function startEngine(): Promise<TestApp> {
  const engine = await startTestApp({
    databaseUrl: proxy.url,
    environment: { DATABASE_POOL_SIZE: '2' },
  });
  undo.push(() => engine.close());
  return engine;
}

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

const UNAVAILABLE = { status: 503, body: { code: 'service_unavailable' } };

const aCustomer = { name: 'Ada Lovelace' };

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

it('a database that says nothing is not waited for, and its connections are not used again', async () => {
  const options = dataSourceOptions(proxy.url, 1);
  const dataSource = await new DataSource({
    ...options,
    extra: { ...options.extra, query_timeout: 300 },
  }).initialize();
  undo.push(() => dataSource.destroy());
  const database = new Database(dataSource);
  const inTransaction = () => database.transaction(() => database.query('SELECT 1'));
  await inTransaction();
  proxy.hold();
  await expect(inTransaction()).rejects.toThrow('Query read timeout');
  proxy.release();
  expect(await database.query('SELECT 2 AS two')).toEqual([{ two: 2 }]);
});

it('a process whose database says nothing tells so, and is ready once it does', async () => {
  const { http } = await startEngine();
  await http.get('/health/ready').expect(200);
  proxy.hold();
  expect(await http.get('/health/ready')).toMatchObject(UNAVAILABLE);
  proxy.release();
  await http.get('/health/ready').expect(200);
});

it('a database that takes no writes is none: 503, not ready, and no connection stays from that time', async () => {
  const { http, database } = await startEngine();
  const [{ name } = { name: '' }] = await database.query<{ name: string }>(
    'SELECT current_database() AS name',
  );
  await administer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  proxy.cut();
  await until('connections of before have gone', async () => {
    return (await http.post('/v1/customers').send(aCustomer)).status === 503;
  });
  expect(await http.get('/health/ready')).toMatchObject(UNAVAILABLE);
  for (let time = 0; time < 3; time += 1) {
    const refused = await http.post('/v1/customers').send(aCustomer);
    expect(refused).toMatchObject(UNAVAILABLE);
    expect(refused.headers['retry-after']).toBe('2');
  }
  await administer(
    'SET default_transaction_read_only = off',
    `ALTER DATABASE ${name} RESET default_transaction_read_only`,
  );
  await until('connections of that time have gone', async () => {
    return (await http.post('/v1/customers').send(aCustomer)).status === 201;
  });
  await http.get('/health/ready').expect(200);
});

it('the log tells of an outage once, whatever fails in it, and of its end', async () => {
  const engine = await startTestApp({
    databaseUrl: proxy.url,
    environment: { DATABASE_POOL_SIZE: '2', LOG_LEVEL: 'info', ROLE: 'all' },
  });
  undo.push(() => engine.close());
  await proxy.close();
  for (let time = 0; time < 20; time += 1) {
    expect(await engine.http.post('/v1/customers').send(aCustomer)).toMatchObject(UNAVAILABLE);
  }
  const told = log
    .text()
    .split('\n')
    .filter((line) => line.includes('"level"') && !line.includes('"msg":"request"'));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/"msg":"the database is out of reach/);
  expect(told.join()).not.toContain('stack');
});
