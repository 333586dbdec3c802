import { Client } from 'pg';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { OutcomeUnknownError } from '../../src/platform/database';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { createCustomer } from '../support/metering';
import { post, startTestApp, type TestApp } from '../support/story';
import { until } from '../support/until';

const START = '2026-01-31T00:00:00.000Z';
const LATER = '2026-02-20T00:00:00.000Z';
const LOCK = 4_711;
const CLAIM = /UPDATE payment SET due_at/;

/** The leases of a process that lives, and whose session stays open, are not released as abandoned work. */
describe('a process that does not get the answer to a commit that leases payments', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let engine: TestApp;

  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await DatabaseProxy.before(database.url);
    engine = await startTestApp({ databaseUrl: proxy.url });
  });

  afterEach(async () => {
    await engine.close();
    await proxy.close();
    await database.drop();
  });

  /** Breaks the connection after the first of these statements, before its answer arrives. */
  function loseAnswer(statementKind: RegExp): void {
    proxy.inject((statement) => {
      if (!statementKind.test(statement)) return null;
      proxy.inject(() => null);
      return { kind: 'cut' };
    });
  }

  /** Breaks the connection after the commit of the statement that leases payments again. */
  function loseAnswerToClaim(): void {
    proxy.inject((statement) => {
      if (statement.includes('UPDATE payment SET due_at')) loseAnswer(/^COMMIT/);
      return null;
    });
  }

  const leases = () =>
    engine.database.query<{ leased_by: number | null; due_at: Date; attempts: number }>(
      'SELECT leased_by, due_at, attempts FROM payment WHERE due_at IS NOT NULL',
    );

  /** The commit that leases the payment may take effect after its connection broke, so attempts are counted too. */
  const untilReturned = (attempts: number) =>
    until('the payment is given back', async () => {
      const rows = await leases();
      return rows.length === 1 && rows[0]?.leased_by === null && rows[0].attempts === attempts;
    });

  /** A connection that broke keeps its locks until PostgreSQL notices it, and claims skip locked rows. */
  const untilUnlocked = () =>
    until('the payment is not locked', async () => {
      const select = 'SELECT id FROM payment WHERE due_at IS NOT NULL FOR UPDATE SKIP LOCKED';
      return (await engine.database.query(select)).length === 1;
    });

  /** Returns the id of an invoice that is to be charged automatically. */
  async function dueInvoice(): Promise<string> {
    const customer_id = await createCustomer(engine);
    const method = { provider: 'sandbox', token: 'pm_sandbox_ok' };
    await post(engine, `/v1/customers/${customer_id}/payment-methods`, method);
    const lines = [{ description: 'Setup', amount: 700 }];
    const { id } = await post(engine, '/v1/invoices', { customer_id, currency: 'USD', lines });
    await post(engine, `/v1/invoices/${id}/finalize`, {});
    return id;
  }

  it('makes automatic charges due again after a second', async () => {
    const id = await dueInvoice();

    loseAnswer(/^COMMIT/);
    await expect(engine.app.get(DueCollections).runDue()).rejects.toThrow(OutcomeUnknownError);
    await untilReturned(1);
    const inASecond = new Date(engine.clock.now().getTime() + 1_000);
    expect(await leases()).toEqual([{ leased_by: null, due_at: inASecond, attempts: 1 }]);

    const payments = engine.app.get(DuePayments);
    engine.clock.advanceMs(1_000);
    loseAnswer(CLAIM);
    await expect(payments.runDue()).rejects.toThrow();
    await untilUnlocked();
    loseAnswerToClaim();
    await expect(payments.runDue()).rejects.toThrow(OutcomeUnknownError);
    await untilReturned(2);
    const inTwoSeconds = new Date(engine.clock.now().getTime() + 2_000);
    expect(await leases()).toEqual([{ leased_by: null, due_at: inTwoSeconds, attempts: 2 }]);

    engine.clock.advanceMs(2_000);
    await payments.runDue();
    await payments.idle();
    expect((await engine.http.get(`/v1/invoices/${id}`)).body).toMatchObject({ status: 'paid' });
  });

  it('gives charges back whose commit takes effect after its connection broke', async () => {
    await dueInvoice();
    await engine.database.query(`
      CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock(${LOCK});
        RETURN NULL;
      END $$`);
    await engine.database.query(`
      CREATE CONSTRAINT TRIGGER wait_for_lock AFTER INSERT ON payment
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_for_lock()`);
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query(`SELECT pg_advisory_lock(${LOCK})`);
      let hasLeft = false;
      let returns = 0;
      proxy.inject((statement) => {
        if (/UPDATE payment\s+SET due_at/.test(statement)) returns += 1;
        if (hasLeft || !statement.startsWith('COMMIT')) return null;
        hasLeft = true;
        return { kind: 'leave' };
      });
      await expect(engine.app.get(DueCollections).runDue()).rejects.toThrow(OutcomeUnknownError);
      await until('the lease is looked for twice', () => returns > 1);
      expect(await leases()).toEqual([]);
    } finally {
      await holder.end();
    }
    await untilReturned(1);
  });

  it.each([
    ['statement', () => loseAnswer(CLAIM)],
    ['commit', loseAnswerToClaim],
  ])('completes the payment when an advance of a test clock is repeated: %s', async (_, lose) => {
    const { id } = await post(engine, '/v1/test-clocks', { name: 'A clock', now: START });
    const customer = await post(engine, '/v1/customers', { name: 'Ada', test_clock_id: id });
    const payment = await post(engine, '/v1/payments', {
      customer_id: customer.id,
      amount: 1_000,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_unknown',
    });
    const advance = () => engine.http.post(`/v1/test-clocks/${id}/advance`).send({ to: LATER });
    lose();
    expect((await advance()).status).toBe(503);
    await untilUnlocked();
    expect((await advance()).status).toBe(200);
    const { body } = await engine.http.get(`/v1/payments/${payment.id}`);
    expect(body).toMatchObject({ status: 'succeeded', updated_at: START });
  });
});
