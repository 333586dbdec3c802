import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import type { ProviderOutcome } from '../../src/modules/payments/domain/payment-provider';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { Database } from '../../src/platform/database';
import { Idempotency } from '../../src/platform/idempotency';
import { poolOf } from '../../src/platform/database/pool-use';
import { AbandonedWork, ReturnedLeases } from '../../src/platform/processes';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { captureLog } from '../support/leaks';
import { untilStatementWaits } from '../support/lock-waits';
import { createCustomer } from '../support/metering';
import { openTransaction } from '../support/open-transaction';
import { breakSession, loseNumber, sessionOf } from '../support/process-sessions';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** Two engines on one database: the first calls a provider that does not answer, the second takes over. */
describe('work of a process', () => {
  let database: TestDatabase;
  let first: TestApp;
  let second: TestApp;
  let customer: string;
  let answerFirst: ((outcome: ProviderOutcome) => void) | null;

  beforeEach(async () => {
    database = await createTestDatabase();
    first = await startTestApp({ databaseUrl: database.url });
    second = await startTestApp({ databaseUrl: database.url });
    second.app.get(Idempotency).maxWaitForFirstRequestMs = 300;
    customer = await createCustomer(first);
    answerFirst = null;
    jest
      .spyOn(first.app.get(SandboxProvider), 'charge')
      .mockImplementation(() => new Promise((answer) => (answerFirst = answer)));
  });

  afterEach(async () => {
    answerFirst?.({ kind: 'unknown' });
    await first.close();
    await second.close();
    await database.drop();
  });

  const pay = (engine: TestApp, key: string) =>
    engine.http
      .post('/v1/payments')
      .set('Idempotency-Key', key)
      .send({ customer_id: customer, amount: 500, currency: 'EUR' });

  /** Starts a payment whose provider call by the first engine is in flight. */
  async function inFlight(key: string): Promise<{ id: string; answer: Promise<unknown> }> {
    const answer = pay(first, key).then(({ body }) => body as unknown);
    await until('the provider is called', () => answerFirst !== null);
    const [row] = await second.database.query<{ id: string }>('SELECT id FROM payment');
    return { id: row?.id ?? '', answer };
  }

  async function takeOver(): Promise<void> {
    await second.app.get(AbandonedWork).runDue();
    const worker = second.app.get(DuePayments);
    await worker.runDue();
    await worker.idle();
  }

  async function statusOf(id: string): Promise<string> {
    const answer = await second.http.get(`/v1/payments/${id}`);
    return (answer.body as { status: string }).status;
  }

  it('is not taken over while the process lives, and a repeated key names the payment', async () => {
    const { id, answer } = await inFlight('alive');
    await takeOver();
    expect(await statusOf(id)).toBe('pending');

    const repeated = await pay(second, 'alive');
    expect(repeated.status).toBe(409);
    expect(repeated.headers['retry-after']).toBe('2');
    expect(repeated.body).toMatchObject({ code: 'idempotency_key_in_use', resource_id: id });

    answerFirst?.({ kind: 'succeeded', reference: 'pm_sandbox_ok/alive' });
    expect(await answer).toMatchObject({ id, status: 'succeeded' });
  });

  it('is taken over when its lock is free, and done once although the process continues', async () => {
    const { id, answer } = await inFlight('lost');
    await loseNumber(first);
    await takeOver();
    expect(await statusOf(id)).toBe('succeeded');
    const repeated = await pay(second, 'lost');
    expect([repeated.status, repeated.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(repeated.body).toMatchObject({ id, status: 'succeeded' });

    answerFirst?.({ kind: 'unknown' });
    expect(await answer).toEqual(repeated.body);
    const operations = await second.database.query('SELECT key FROM sandbox_operation');
    expect(operations).toHaveLength(1);
    expect((await eventsOf(second, id)).map(({ type }) => type)).toEqual([
      'payment.created',
      'payment.succeeded',
    ]);
  });

  it('is taken over while another transaction refers to its row', async () => {
    const { id } = await inFlight('referred');
    await loseNumber(first);
    const letContinue = await openTransaction(second.database, () =>
      second.database.query('SELECT FROM payment FOR KEY SHARE'),
    );
    await takeOver();
    await letContinue();
    expect(await statusOf(id)).toBe('succeeded');
  });

  /** Ends the sessions of the first engine: that of its number, or all others. */
  async function endSessions(which: 'number' | 'others'): Promise<void> {
    const { number } = sessionOf(first);
    await second.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND
         pid ${which === 'number' ? '= ANY' : '<> ALL'} (
           ARRAY(SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
                 AND classid = 720575 AND ($1::integer IS NULL OR objid = $1::integer::oid)))`,
      [which === 'number' ? number : null],
    );
  }

  it('is not begun by a process without a number, because no other would see its death', async () => {
    // Opens the connection of the probe.
    await first.http.get('/health/ready').expect(200);
    await database.accept(false);
    try {
      await endSessions('number');
      await until('it has no number', () => sessionOf(first).number === null);
      const refused = await pay(first, 'unnumbered');
      expect(refused.status).toBe(503);
      expect(refused.body).toMatchObject({ code: 'service_unavailable' });
      expect(refused.headers['retry-after']).toBe('2');
      expect(await second.database.query('SELECT id FROM payment')).toEqual([]);
      await expect(first.app.get(DuePayments).runDue()).rejects.toThrow('no session');
      const isReady = async () => (await first.http.get('/health/ready')).status === 200;
      await until('it is not ready', async () => !(await isReady()));
      expect((await first.http.get('/metrics')).text).toMatch(/^service_ready 0$/m);
    } finally {
      await database.accept(true);
    }
    await first.http.get('/v1/customers').expect(200);
    await until(
      'it is ready again',
      async () => (await first.http.get('/health/ready')).status === 200,
    );
    const { id, answer } = await inFlight('unnumbered');
    answerFirst?.({ kind: 'succeeded', reference: 'pm_sandbox_ok/unnumbered' });
    expect(await answer).toMatchObject({ id, status: 'succeeded' });
  });

  it('whose outcome could not be stored is due again within seconds, although the process lives', async () => {
    const { id, answer } = await inFlight('not stored');
    const { number } = sessionOf(first);
    await database.accept(false);
    try {
      await endSessions('others');
      answerFirst?.({ kind: 'succeeded', reference: 'pm_sandbox_ok/not stored' });
      expect(await answer).toMatchObject({ code: 'outcome_unknown' });
    } finally {
      await database.accept(true);
    }
    expect(sessionOf(first).number).toBe(number);
    await until('it is given back', async () => {
      const [row] = await second.database.query<{ leased_by: number | null }>(
        'SELECT leased_by FROM payment',
      );
      return row?.leased_by === null;
    });
    second.clock.advanceMs(1_000);
    const worker = second.app.get(DuePayments);
    await worker.runDue();
    await worker.idle();
    expect(await statusOf(id)).toBe('succeeded');
    expect((await pay(second, 'not stored')).body).toMatchObject({ id, status: 'succeeded' });
  });

  it('that fails gives back its own lease, and no later one of the same process', async () => {
    const { id } = await inFlight('later lease');
    const leases = first.app.get(ReturnedLeases);
    const leaseOf = async () => {
      const [row] = await second.database.query<{ leased_by: number | null; due_at: Date }>(
        'SELECT leased_by, due_at FROM payment',
      );
      if (row === undefined) throw new Error('There is no payment.');
      return row;
    };
    const failUnder = async (endsAt: Date): Promise<void> => {
      const failed = leases.finish({ table: 'payment', ids: [id], endsAt }, () =>
        Promise.reject(new Error('It fails.')),
      );
      await expect(failed).rejects.toThrow('It fails.');
      await leases.beforeApplicationShutdown();
    };
    const { due_at: former } = await leaseOf();
    await second.database.query("UPDATE payment SET due_at = due_at + interval '150 seconds'");
    const later = await leaseOf();
    expect(later.leased_by).toBe(sessionOf(first).number);
    await failUnder(former);
    expect(await leaseOf()).toEqual(later);
    await failUnder(later.due_at);
    expect(await leaseOf()).toMatchObject({ leased_by: null });
  });

  it('waits for a number outside of transactions only, where it holds no locks', async () => {
    const waiting = first.app.get(Database).transaction(() => sessionOf(first).requireNumber());
    await expect(waiting).rejects.toThrow('must not run inside a transaction');
  });

  it('is answered as it was stored, although the process that was taken over knows more by then', async () => {
    const { id, answer } = await inFlight('two answers');
    await loseNumber(first);
    const unknown = jest
      .spyOn(second.app.get(SandboxProvider), 'charge')
      .mockResolvedValue({ kind: 'unknown' });
    await takeOver();
    unknown.mockRestore();
    answerFirst?.({ kind: 'succeeded', reference: 'pm_sandbox_ok/two answers' });
    const answered = await answer;
    expect(answered).toMatchObject({ id, status: 'processing' });
    expect((await pay(second, 'two answers')).body).toEqual(answered);
    expect(await statusOf(id)).toBe('succeeded');
  });

  it('is taken over when the process has stopped', async () => {
    const { number } = sessionOf(first);
    const id = ((await pay(second, 'stopped')).body as { id: string }).id;
    await second.database.query(
      `UPDATE payment SET status = 'pending', provider_reference = NULL, due_at = $2, leased_by = $3
       WHERE id = $1`,
      [id, new Date(second.clock.now().getTime() + 150_000), number],
    );
    await takeOver();
    expect(await statusOf(id)).toBe('pending');
    await first.close();
    // `afterEach` closes it as well, which does nothing.
    await second.app.get(AbandonedWork).runDue();
    const [row] = await second.database.query<{ leased_by: number | null; due_at: Date }>(
      'SELECT leased_by, due_at FROM payment WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ leased_by: null, due_at: second.clock.now() });
  });
});

it('a process without a number keeps its other connections while the database accepts no more', async () => {
  const database = await createTestDatabase();
  const proxy = await DatabaseProxy.before(database.url);
  const log = captureLog();
  const environment = { DATABASE_POOL_SIZE: '3', LOG_LEVEL: 'info' };
  const engine = await startTestApp({ databaseUrl: proxy.url, environment });
  try {
    const pool = poolOf(engine.app.get(DataSource));
    const openAnother = () => engine.database.query('SELECT pg_sleep(0.05)');
    await Promise.all([openAnother(), openAnother(), openAnother()]);
    expect(pool.totalCount).toBe(3);
    sessionOf(engine).onChange(() => proxy.hold());
    await breakSession(engine, database.url);
    await until('it has given up an attempt', () => log.text().includes('database is unreachable'));
    expect(pool.totalCount).toBe(3);
  } finally {
    proxy.release();
    await engine.close();
    log.stop();
    await proxy.close();
    await database.drop();
  }
});

describe('a process that is closed', () => {
  let database: TestDatabase;
  let holder: Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    holder = new Client(database.url);
    await holder.connect();
  });

  afterEach(async () => {
    await holder.end();
    await database.drop();
  });

  const untilNoSessionIsLeft = () =>
    until('no session is left', async () => {
      const { rows } = await holder.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND starts_with(application_name, 'billing-engine')`,
      );
      return rows.length === 0;
    });

  it.each([
    ['', 'SELECT'],
    [', after its key was retired', `UPDATE encryption_key_use SET status = 'retiring'`],
  ])('while it connects again%s leaves no session and does not end its host', async (_, sql) => {
    const endHost = jest.spyOn(process, 'kill').mockReturnValue(true);
    const { exitCode } = process;
    const engine = await startTestApp({ databaseUrl: database.url });
    try {
      // Requested like the lock of a rotation of the encryption keys, and granted when the session has ended.
      const held = holder.query(`SELECT pg_advisory_lock(720576, hashtext('test'))`);
      await breakSession(engine);
      await held;
      await untilStatementWaits(engine, 'pg_advisory_lock_shared');
      await engine.close();
      await holder.query(sql);
      await holder.query('SELECT pg_advisory_unlock_all()');
      await untilNoSessionIsLeft();
      expect(endHost).not.toHaveBeenCalled();
    } finally {
      endHost.mockRestore();
      process.exitCode = exitCode;
    }
  });

  it('while it begins to listen for due work again leaves no session', async () => {
    const proxy = await DatabaseProxy.before(database.url);
    const engine = await startTestApp({ databaseUrl: proxy.url, environment: { ROLE: 'worker' } });
    try {
      proxy.inject((statement) => (statement.startsWith('LISTEN') ? { kind: 'hold' } : null));
      await holder.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
      );
      await until('it listens again', () => proxy.heldBytes > 0);
      await engine.close();
      proxy.release();
      await untilNoSessionIsLeft();
    } finally {
      await proxy.close();
    }
  });
});
