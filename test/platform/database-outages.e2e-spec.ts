import { Logger } from '@nestjs/common';
import { Client, type ClientBase, type ClientConfig } from 'pg';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions, isOutage, Reports } from '../../src/platform/database';
import { poolOf } from '../../src/platform/database/pool-use';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { createCustomer } from '../support/metering';
import { captureLog, type CapturedLog } from '../support/leaks';
import { loseNumber, sessionOf } from '../support/process-sessions';
import { SessionPooler } from '../support/session-pooler';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

let own: TestDatabase;
let proxy: DatabaseProxy;
let log: CapturedLog;
/** Callbacks that close what a test has opened, run after it, the last first. */
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

/** Starts an engine behind the proxy, with no more connections than it needs. */
async function startEngine(environment: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const engine = await startTestApp({
    databaseUrl: proxy.url,
    environment: { DATABASE_POOL_SIZE: '2', ...environment },
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

const PAUSE = 'SELECT pg_sleep(0.05)';

const UNAVAILABLE = { status: 503, body: { code: 'service_unavailable' } };

const aCustomer = { name: 'Ada Lovelace' };

/** Time limit that is meant to be exceeded. Far longer than anything else takes on a busy machine. */
const TIME_LIMIT_MS = 2_000;

it('a connection that breaks between two requests affects only itself', async () => {
  const dataSource = await new DataSource(dataSourceOptions(proxy.url, 1)).initialize();
  undo.push(() => dataSource.destroy());
  const database = new Database(dataSource);
  proxy.hold();
  const first = database.query('SELECT 1').catch(() => undefined);
  const second = database
    .transaction(() => database.query('SELECT 2'))
    .catch((error: unknown) => error);
  await until('the first answer has arrived', () => proxy.heldBytes > 0);
  const before = proxy.heldBytes;
  await administer(TERMINATE_OTHERS);
  await until('the end of the connection has arrived', () => proxy.heldBytes > before);
  proxy.release();
  await first;
  expect(await second).toEqual([{ '?column?': 2 }]);
  expect(await database.query('SELECT 3 AS three')).toEqual([{ three: 3 }]);
});

it('a database without answers is not waited for, and its connections are not reused', async () => {
  const options = dataSourceOptions(proxy.url, 1);
  const dataSource = await new DataSource({
    ...options,
    extra: { ...options.extra, query_timeout: TIME_LIMIT_MS },
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

/** Injects a network fault at the next statement of this kind. */
function injectOnce(statementKind: RegExp, kind: 'hold' | 'cut' | 'lose'): void {
  let isDone = false;
  proxy.inject((statement) => {
    if (isDone || !statementKind.test(statement)) return null;
    isDone = true;
    return { kind };
  });
}

/** Counts committed rows on another connection. */
async function countOf(table: string): Promise<number> {
  const client = new Client({ connectionString: own.url });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table}`,
  );
  await client.end();
  return rows[0]?.count ?? -1;
}

describe('an answer after the time limit', () => {
  async function report(engine: TestApp, customer: string, name: string): Promise<void> {
    const { status, body } = await engine.http.post('/v1/usage-events').send({
      idempotency_key: name,
      customer_id: customer,
      event_name: name,
      timestamp: '2026-01-01T00:00:00Z',
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { accepted: 1 } });
  }

  it.each([
    ['START TRANSACTION', /^START TRANSACTION/, aCustomer],
    ['ROLLBACK', /^ROLLBACK/, { ...aCustomer, test_clock_id: 'clock_01kq3m5x6zf0a8v7s9w2b4c6d8' }],
  ])('to %s leaves no connection in a transaction', async (_, kind, refused) => {
    const engine = await startEngine({ DATABASE_STATEMENT_TIMEOUT_MS: String(TIME_LIMIT_MS) });
    const customer = await createCustomer(engine);
    injectOnce(kind, 'hold');
    const { status } = await engine.http.post('/v1/customers').send(refused);
    expect(status).toBeGreaterThanOrEqual(400);
    proxy.release();
    for (const number of [1, 2, 3]) {
      await report(engine, customer, `alone-${number}`);
      expect(await countOf('usage_event')).toBe(number);
    }
    // More at once than there are connections, so that each connection stores some.
    await Promise.all(
      [1, 2, 3, 4, 5, 6].map((number) => report(engine, customer, `beside-${number}`)),
    );
    expect(await countOf('usage_event')).toBe(9);
    await engine.close();
    undo.pop();
    expect(await countOf('usage_event')).toBe(9);
  });
});

describe('a lost answer to a commit', () => {
  const UNKNOWN = { status: 503, body: { code: 'outcome_unknown' } };

  it.each([
    ['after the commit', 'cut', 1],
    ['before the commit', 'lose', 0],
  ] as const)(
    '%s: is reported as an unknown outcome, and executed once with its key',
    async (_, fault, count) => {
      const { http } = await startEngine();
      for (const [key, made] of [
        [null, count],
        ['customer-1', 2 * count],
      ] as const) {
        injectOnce(/^COMMIT/, fault);
        const request = http
          .post('/v1/customers')
          .set(key === null ? {} : { 'Idempotency-Key': key });
        const { status, body, headers } = await request.send(aCustomer);
        expect({ status, body }).toMatchObject(UNKNOWN);
        expect(headers).not.toHaveProperty('retry-after');
        await until(
          'the database has ended the transaction',
          async () => (await countOf('customer')) === made,
        );
      }
      const repeated = await http
        .post('/v1/customers')
        .set('Idempotency-Key', 'customer-1')
        .send(aCustomer);
      expect(repeated.status).toBe(201);
      expect(await countOf('customer')).toBe(count + 1);
    },
  );

  it('a connection that breaks before the commit is reported as without effect', async () => {
    const { http } = await startEngine();
    injectOnce(/INSERT INTO "?customer"?/, 'cut');
    expect(await http.post('/v1/customers').send(aCustomer)).toMatchObject(UNAVAILABLE);
    expect(await countOf('customer')).toBe(0);
  });

  it('for usage is reported as an unknown outcome, and counted once when it is sent again', async () => {
    const engine = await startEngine();
    const customer_id = await createCustomer(engine);
    // The first event of a stream takes a transaction, later ones a statement that commits by itself.
    for (const [idempotency_key, statement, stored] of [
      ['call-1', /^COMMIT/, 1],
      ['call-2', /INSERT INTO usage_event/, 2],
    ] as const) {
      const timestamp = '2026-01-01T00:00:00Z';
      const event = { idempotency_key, customer_id, event_name: 'call', timestamp };
      injectOnce(statement, 'cut');
      expect(await engine.http.post('/v1/usage-events').send(event)).toMatchObject(UNKNOWN);
      await until('it is stored', async () => (await countOf('usage_event')) === stored);
      const repeated = await engine.http.post('/v1/usage-events').send(event);
      expect(repeated).toMatchObject({ status: 200, body: { accepted: 0, duplicates: 1 } });
      expect(await countOf('usage_event')).toBe(stored);
    }
  });

  it('of a payment whose outcome cannot be stored is reported as unknown, because the payment exists', async () => {
    const engine = await startEngine();
    const customer = await createCustomer(engine);
    let commits = 0;
    proxy.inject((statement) => {
      commits += statement === 'COMMIT' ? 1 : 0;
      return commits > 0 && statement === 'START TRANSACTION' ? { kind: 'lose' } : null;
    });
    const paid = await engine.http
      .post('/v1/payments')
      .send({ customer_id: customer, amount: 1000, currency: 'USD' });
    expect(paid).toMatchObject(UNKNOWN);
    expect(await countOf('payment')).toBe(1);
  });

  it('of the first commit of a payment or refund leaves work that is due again at once, although the process lives', async () => {
    const engine = await startEngine();
    const customer = await createCustomer(engine);
    const payment = { customer_id: customer, amount: 1000, currency: 'USD' };
    const first = await engine.http.post('/v1/payments').send(payment);
    const { id } = first.body as { id: string };
    for (const [table, path, body] of [
      ['payment', '/v1/payments', payment],
      ['refund', `/v1/refunds/payment/${id}`, { amount: 10 }],
    ] as const) {
      injectOnce(/^COMMIT/, 'cut');
      const lost = await engine.http.post(path).set('Idempotency-Key', table).send(body);
      expect(lost).toMatchObject(UNKNOWN);
      await until(`the ${table} is given back`, async () => {
        const rows = await engine.database.query<{ leased_by: number | null; due_at: Date }>(
          `SELECT leased_by, due_at FROM ${table} WHERE due_at IS NOT NULL`,
        );
        return rows.length === 1 && rows[0]?.leased_by === null;
      });
      const [row] = await engine.database.query<{ due_at: Date; attempts: number }>(
        `SELECT due_at, attempts FROM ${table} WHERE due_at IS NOT NULL`,
      );
      const inASecond = new Date(engine.clock.now().getTime() + 1_000);
      expect(row).toEqual({ due_at: inASecond, attempts: 1 });
    }
  });

  it('is never reported for a read', async () => {
    const { http } = await startEngine();
    await http.get('/v1/ledger/verify').expect(200);
    injectOnce(/^COMMIT|^SELECT|^WITH/, 'cut');
    expect(await http.get('/v1/ledger/verify')).toMatchObject(UNAVAILABLE);
  });
});

it('a transaction with an ignored error is not reported as committed', async () => {
  const { database } = await startEngine();
  const work = database.transaction(async () => {
    await database.query('SELECT 1 / 0').catch(() => undefined);
  });
  await expect(work).rejects.toThrow('Nothing was committed');
});

it.each(['SELECT 1', 'DELETE FROM customer'])(
  '"%s" with a parameter that it does not use is a defect, not an outage',
  async (statement) => {
    const dataSource = await new DataSource(dataSourceOptions(own.url, 1)).initialize();
    undo.push(() => dataSource.destroy());
    const error: unknown = await new Database(dataSource)
      .query(statement, [1])
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: '08P01' });
    expect(isOutage(error)).toBe(false);
  },
);

it('a statement of an ended transaction does not run in another one', async () => {
  const { database } = await startEngine();
  let release: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (release = resolve));
  let stray: Promise<unknown> = Promise.resolve();
  await database.transaction(async () => {
    await database.query('SELECT 1');
    stray = ended.then(() => database.query('SELECT 2'));
  });
  await database.transaction(async () => {
    release();
    await expect(stray).rejects.toThrow('The transaction of this call has ended');
  });
});

it('a connection may be idle for any time, whatever the database allows others', async () => {
  const name = new URL(own.url).pathname.slice(1);
  await administer(`ALTER DATABASE ${name} SET idle_session_timeout = '60s'`);
  undo.push(() => administer(`ALTER DATABASE ${name} RESET idle_session_timeout`));
  const { database } = await startEngine();
  const shown = await database.query('SHOW idle_session_timeout');
  expect(shown).toEqual([{ idle_session_timeout: '0' }]);
});

it('each connection releases locks of a vanished process within a minute', async () => {
  const { database } = await startEngine();
  const settings = await database.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'
       OR name = 'client_connection_check_interval' OR name LIKE 'tcp_keepalives%'`,
  );
  const of = Object.fromEntries(settings.map(({ name, setting }) => [name, Number(setting)]));
  expect(of['idle_in_transaction_session_timeout']).toBe(45_000);
  expect(of['client_connection_check_interval']).toBe(10_000);
  const {
    tcp_keepalives_idle: idle,
    tcp_keepalives_interval: pause,
    tcp_keepalives_count: count,
  } = of;
  expect((idle ?? 0) + (pause ?? 0) * (count ?? 0)).toBe(45);
});

it('a process without answers of the database reports it, and is ready again afterwards', async () => {
  const { http } = await startEngine();
  await http.get('/health/ready').expect(200);
  proxy.hold();
  expect(await http.get('/health/ready')).toMatchObject(UNAVAILABLE);
  proxy.release();
  await until('it is ready again', async () => (await http.get('/health/ready')).status === 200);
});

it('a database that accepts no connections for now is unavailable: 503, and the service goes on afterwards', async () => {
  const { http } = await startEngine();
  await http.get('/health/ready').expect(200);
  undo.push(() => own.accept(true));
  const administrator = new Client({ connectionString: own.url });
  await administrator.connect();
  await own.accept(false);
  await administrator.query(TERMINATE_OTHERS);
  await administrator.end();
  const invoice = { customer_id: 'cus_01kq3m5x6zf0a8v7s9w2b4c6d8', currency: 'EUR' };
  for (const send of [
    () => http.post('/v1/customers').send(aCustomer),
    () => http.post('/v1/invoices').set('Idempotency-Key', 'invoice').send(invoice),
    () => http.get('/v1/invoices'),
    () => http.get('/health/ready'),
  ]) {
    const refused = await send();
    expect(refused).toMatchObject(UNAVAILABLE);
    expect(refused.headers['retry-after']).toBe('2');
  }
  await own.accept(true);
  expect((await http.post('/v1/customers').send(aCustomer)).status).toBe(201);
});

/** Creates a role that may use all tables. Returns the URL of the database with this role. */
async function createRole(...options: readonly string[]): Promise<URL> {
  const role = `limited_${process.pid}`;
  const url = new URL(own.url);
  url.username = role;
  url.password = 'change-me';
  undo.push(() => administer(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`));
  await administer(
    `CREATE ROLE ${role} LOGIN PASSWORD 'change-me' ${options.join(' ')}`,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  return url;
}

it('callers share the connections that the server allows, in the order of their arrival', async () => {
  const limited = await createRole('CONNECTION LIMIT 3');
  let attempts = 0;
  class CountedClient extends Client {
    constructor(config: ClientConfig) {
      super(config);
      attempts += 1;
    }
  }
  const options = dataSourceOptions(limited.toString(), 20);
  const dataSource = await new DataSource({
    ...options,
    extra: { ...options.extra, Client: CountedClient },
  }).initialize();
  undo.push(() => dataSource.destroy());
  const database = new Database(dataSource);
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  undo.push(async () => warn.mockRestore());
  const served: number[] = [];
  const call = async (caller: number): Promise<void> => {
    await database.query('SELECT pg_sleep(0.02)');
    served.push(caller);
    for (let time = 0; time < 4; time += 1) await database.query('SELECT pg_sleep(0.01)');
  };
  await Promise.all(Array.from({ length: 60 }, (_, caller) => call(caller)));
  // The first callers open connections at once. All others wait behind them.
  const early = served.filter((caller, place) => caller - place > 20);
  expect({ early, hammers: attempts > 80 }).toEqual({ early: [], hammers: false });
  expect(warn).toHaveBeenCalledWith({ open: 3, pool_size: 20 }, expect.any(String));
});

it('connections that could not be made, or came too late, take no place of the pool', async () => {
  let isBroken = false;
  let isSlow = false;
  class BreakableClient extends Client {
    constructor(config: ClientConfig) {
      super(config);
      if (isBroken) throw new Error('A certificate cannot be read.');
    }
  }
  const options = dataSourceOptions(own.url, 2);
  const { onConnect } = options.extra as { onConnect: (client: ClientBase) => Promise<void> };
  const dataSource = await new DataSource({
    ...options,
    extra: {
      ...options.extra,
      Client: BreakableClient,
      connectionTimeoutMillis: TIME_LIMIT_MS,
      onConnect: async (client: ClientBase) => {
        await onConnect(client);
        if (isSlow) await client.query('SELECT pg_sleep(2.5)');
      },
    },
  }).initialize();
  undo.push(() => dataSource.destroy());
  const database = new Database(dataSource);
  const pool = poolOf(dataSource);
  const twoCalls = () =>
    Promise.allSettled([database.query('SELECT 1 AS n'), database.query('SELECT 2 AS n')]);
  isBroken = true;
  // The first call takes the idle connection. The pool makes another one for the second call, in a callback of its own.
  expect(await twoCalls()).toEqual([
    { status: 'fulfilled', value: [{ n: 1 }] },
    { status: 'rejected', reason: new Error('A certificate cannot be read.') },
  ]);
  isBroken = false;
  isSlow = true;
  expect(await twoCalls()).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected' }]);
  await until('the late connection is idle', () => pool.idleCount === 2);
  isSlow = false;
  isBroken = true;
  await administer(TERMINATE_OTHERS);
  await until('the pool is empty', () => pool.totalCount === 0);
  for (let call = 0; call < 3; call += 1) {
    await expect(database.query('SELECT 1')).rejects.toThrow('A certificate cannot be read.');
  }
  isBroken = false;
  const calls = [1, 2, 3, 4].map(() => database.query('SELECT pg_sleep(0.05)'));
  expect(pool.waitingCount).toBe(2);
  await Promise.all(calls);
});

it('a server without a connection for the probe leaves a process ready that has other connections', async () => {
  const limited = await createRole();
  const name = limited.pathname.slice(1);
  const engine = await startTestApp({ databaseUrl: limited.toString() });
  undo.push(() => engine.close());
  const { http } = engine;
  const create = () => http.post('/v1/customers').send(aCustomer).expect(201);
  // Opens several connections of the pool, because work after a commit may need one beside the next request.
  await Promise.all(Array.from({ length: 4 }, create));
  await administer(`ALTER DATABASE ${name} CONNECTION LIMIT 1`);
  await http.get('/health/ready').expect(200);
  // They wait for the open connections.
  await Promise.all(Array.from({ length: 40 }, create));
  await administer(`ALTER DATABASE ${name} CONNECTION LIMIT -1`);
  await http.get('/health/ready').expect(200);
});

it.each<[string, (engine: TestApp) => Promise<unknown>]>([
  ['of its pool', ({ database }) => Promise.all([1, 2].map(() => database.query(PAUSE)))],
  ['of the probe', ({ http }) => http.get('/health/ready').expect(200)],
  ['of reports', ({ app }) => app.get(Reports).query('summary', PAUSE, [])],
])(
  'a process without a number at the connection limit closes an idle connection %s to get one',
  async (_, openAnother) => {
    const limited = await createRole();
    const engine = await startTestApp({
      databaseUrl: limited.toString(),
      environment: { DATABASE_POOL_SIZE: '2' },
    });
    undo.push(() => engine.close());
    while (poolOf(engine.app.get(DataSource)).totalCount > 1) {
      await engine.database.withConnection(() => Promise.resolve());
    }
    await openAnother(engine);
    await administer(`ALTER DATABASE ${limited.pathname.slice(1)} CONNECTION LIMIT 2`);
    await loseNumber(engine, own.url);
    await engine.http.get('/health/ready').expect(200);
  },
);

it('a process gets a number although its pool is busy', async () => {
  const engine = await startEngine();
  const before = sessionOf(engine).number;
  await engine.database.withConnection(() =>
    engine.database.withConnection(async (connection) => {
      await connection.run(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 720575
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      await until('it has another number', () => {
        const { number } = sessionOf(engine);
        return number !== null && number !== before;
      });
    }),
  );
});

it('a pooler without a free connection leaves a process ready, which makes room for another session', async () => {
  const pooler = await SessionPooler.before(own.url, 4);
  const environment = { DATABASE_POOL_SIZE: '4' };
  const engine = await startTestApp({ databaseUrl: pooler.url, environment });
  undo.push(async () => {
    await engine.close();
    await pooler.close();
  });
  let isBusy = true;
  const work = async (): Promise<void> => {
    // Fails if its connection waits at the pooler for too long.
    while (isBusy) await engine.database.query('SELECT pg_sleep(0.02)').catch(() => undefined);
  };
  const working = Promise.all([work(), work(), work(), work()]);
  try {
    const pool = poolOf(engine.app.get(DataSource));
    await until('the pool needs all connections of the pooler', () => pool.totalCount === 4);
    await loseNumber(engine, own.url);
  } finally {
    isBusy = false;
    await working;
  }
  await engine.http.get('/health/ready').expect(200);
});

it('a read-only database is unavailable: 503, not ready, and no connection of that time remains', async () => {
  const { http, database } = await startEngine();
  const [{ name } = { name: '' }] = await database.query<{ name: string }>(
    'SELECT current_database() AS name',
  );
  await administer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  proxy.cut();
  await until('earlier connections are closed', async () => {
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
  await until('connections of that time are closed', async () => {
    return (await http.post('/v1/customers').send(aCustomer)).status === 201;
  });
  await http.get('/health/ready').expect(200);
});

it('the log reports an outage once, and its end', async () => {
  const engine = await startTestApp({
    databaseUrl: proxy.url,
    environment: { DATABASE_POOL_SIZE: '2', LOG_LEVEL: 'info', ROLE: 'all' },
  });
  undo.push(() => engine.close());
  const from = performance.now();
  await proxy.close();
  for (let time = 0; time < 20; time += 1) {
    expect(await engine.http.post('/v1/customers').send(aCustomer)).toMatchObject(UNAVAILABLE);
  }
  const lines = log
    .text()
    .split('\n')
    .filter((line) => line.includes('"level"') && !line.includes('"msg":"request"'));
  expect(lines[0]).toMatch(/"msg":"the database is unreachable/);
  // It is logged again every 10 s, which the requests may take on a busy machine.
  expect(lines.length).toBeLessThanOrEqual(1 + (performance.now() - from) / 10_000);
  expect(lines.join()).not.toContain('stack');
});

it('a worker without requests or probes reports how long an outage has lasted', async () => {
  await startEngine({ ROLE: 'worker', LOG_LEVEL: 'info' });
  undo.push(() => own.accept(true));
  const administrator = new Client({ connectionString: own.url });
  await administrator.connect();
  await own.accept(false);
  await administrator.query(TERMINATE_OTHERS);
  await administrator.end();
  await until('it is logged again after 10 s', () => /"for_ms":[1-9]\d{4}/.test(log.text()));
  await own.accept(true);
  await until('the end is logged', () => /"lasted_ms":[1-9]\d{4}/.test(log.text()));
});
