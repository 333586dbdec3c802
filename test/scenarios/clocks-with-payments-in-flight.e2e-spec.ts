import { CollectInvoicesWorkflow } from '../../src/modules/billing/payments/collect-invoices.workflow';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import type { ProviderOutcome } from '../../src/modules/payments/domain/payment-provider';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { post, startTestApp, Story, type TestApp } from '../support/story';
import { loseNumber } from '../support/process-sessions';
import { until } from '../support/until';

const START = '2026-01-31T00:00:00.000Z';
const LATER = '2026-02-20T00:00:00.000Z';

/** Returns the version of the test clock, which grows with each step of an advance, also while the clock waits. */
async function versionOf({ engine, clockId }: Story): Promise<number> {
  const sql = 'SELECT version FROM test_clock WHERE id = $1';
  return (await engine.database.queryValue<number>(sql, [clockId])) ?? -1;
}

describe('a test clock that advances while a payment has no answer', () => {
  let engine: TestApp;
  let story: Story;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    story = await Story.begin(engine, START);
  });

  const read = async (path: string) =>
    (await engine.http.get(path)).body as Readonly<Record<string, unknown>>;
  const next = () => read(`/v1/test-clocks/${story.clockId}/next`);

  /** Subscribes the customer, who has this payment method. The subscription waits for its first payment. */
  async function subscribe(token: string): Promise<string> {
    const path = `/v1/customers/${story.customerId}/payment-methods`;
    await post(engine, path, { provider: 'sandbox', token });
    const fields = { payment_behavior: 'default_incomplete' };
    return (await story.subscribe(await story.plan(1_000), fields)).id;
  }

  async function lastPayment(): Promise<Readonly<Record<string, unknown>>> {
    const { data } = await read(`/v1/payments?customer_id=${story.customerId}&limit=1`);
    return (data as Readonly<Record<string, unknown>>[])[0] ?? {};
  }

  async function expectActivatedAtStart(id: string): Promise<void> {
    expect(await lastPayment()).toMatchObject({ status: 'succeeded', updated_at: START });
    expect(await read(`/v1/subscriptions/${id}`)).toMatchObject({
      status: 'active',
      updated_at: START,
    });
    await story.verify();
  }

  /** Begins the first payment under a lease of this process, but does not call the provider. */
  async function beginPayment(): Promise<string> {
    const id = await subscribe('pm_sandbox_ok');
    const collections = engine.app.get(CollectInvoicesWorkflow);
    const { payments } = await collections.begin(story.clockId, new Date(START), 20);
    expect(payments).toHaveLength(1);
    return id;
  }

  it('completes the payments of a process that died', async () => {
    const id = await beginPayment();
    await loseNumber(engine);
    await story.advance(LATER);
    await expectActivatedAtStart(id);
  });

  it('completes the payments of a process that dies while the clock waits for it', async () => {
    const id = await beginPayment();
    const before = await versionOf(story);
    const advanced = story.advance(LATER);
    await until('the clock waits', async () => (await versionOf(story)) > before + 2);
    expect(await lastPayment()).toMatchObject({ status: 'pending' });
    await loseNumber(engine);
    await advanced;
    await expectActivatedAtStart(id);
  });

  it.each([0, 3])('completes a payment whose lease ends after %d attempts', async (attempts) => {
    const id = await beginPayment();
    const sql = 'UPDATE payment SET attempts = $1 WHERE customer_id = $2';
    await engine.database.query(sql, [attempts, story.customerId]);
    const before = await versionOf(story);
    const advanced = story.advance(LATER);
    await until('the clock waits', async () => (await versionOf(story)) > before + 2);
    expect(await lastPayment()).toMatchObject({ status: 'pending' });
    engine.clock.advanceMs(150_000);
    await advanced;
    await expectActivatedAtStart(id);
  });

  it('no longer waits when its process stops', async () => {
    const id = await beginPayment();
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    const before = await versionOf(story);
    const path = `/v1/test-clocks/${story.clockId}/advance`;
    const answer = other.http.post(path).send({ to: LATER });
    const status = answer.then((response) => response.status);
    await until('the clock waits', async () => (await versionOf(story)) > before + 2);
    await other.close();
    expect(await status).toBe(503);
    await loseNumber(engine);
    await story.advance(LATER);
    await expectActivatedAtStart(id);
  });

  it('asks again about a charge that got no answer', async () => {
    const id = await subscribe('pm_sandbox_unknown');
    await story.advance(LATER);
    await expectActivatedAtStart(id);
  });

  it('asks again about a refund that got no answer', async () => {
    const { id } = await post(engine, '/v1/payments', {
      customer_id: story.customerId,
      amount: 1_000,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_unknown',
    });
    await story.advance(START);
    expect(await read(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
    const refund = await post(engine, `/v1/refunds/payment/${id}`, {});
    expect(await next()).toEqual({ due_at: START, work: ['refund_resumed'] });
    await story.advance(LATER);
    expect(await read(`/v1/refunds/${refund.id}`)).toMatchObject({
      status: 'succeeded',
      updated_at: START,
    });
    await story.verify();
  });

  it('does not wait for a provider that answered that the charge is pending', async () => {
    const id = await subscribe('pm_sandbox_pending');
    await story.advance(LATER);
    expect(await lastPayment()).toMatchObject({ status: 'processing' });
    expect(await story.subscription(id)).toMatchObject({ status: 'incomplete' });
    expect(await next()).toEqual({ due_at: null, work: [] });
  });

  it('does not wait for a provider that stays without an answer', async () => {
    await beginPayment();
    await loseNumber(engine);
    const environment = { PAYMENT_PROVIDERS: 'manual' };
    const other = await startTestApp({ databaseUrl: engine.databaseUrl, environment });
    await post(other, `/v1/test-clocks/${story.clockId}/advance`, { to: LATER });
    await other.close();
    expect(await lastPayment()).toMatchObject({ status: 'processing' });
    expect(await next()).toEqual({ due_at: null, work: [] });
  });
});

/** The first two customers pay; the cards of the others are declined. */
const TOKENS = ['ok', 'ok', 'declined', 'declined', 'declined'];

/** Columns that an interruption must not change. Dates are those of the test clock. */
const STATES = `
  SELECT subscription.status AS subscription, subscription.updated_at AS subscription_updated_at,
    invoice.status AS invoice, invoice.paid_at, invoice.attempt_count, payment.status AS payment,
    payment.collection_attempt, payment.created_at, payment.updated_at
  FROM customer
  JOIN subscription ON subscription.customer_id = customer.id
  JOIN invoice ON invoice.subscription_id = subscription.id
  LEFT JOIN payment ON payment.invoice_id = invoice.id
  WHERE customer.test_clock_id = $1 ORDER BY customer.name, invoice.id, payment.collection_attempt`;

describe('an advance of a test clock whose charges were interrupted by the database', () => {
  let engine: TestApp;
  let story: Story;
  let undisturbed: readonly unknown[];

  beforeAll(async () => {
    engine = await startTestApp();
    await engine.database.query('CREATE SEQUENCE outcome_number');
    await begin();
    await story.advance(START);
    await story.advance(LATER);
    undisturbed = await states();
    expect(undisturbed.length).toBeGreaterThan(TOKENS.length);
  });

  afterAll(() => engine.close());

  beforeEach(begin);

  /** Subscribes one customer for each token, on a clock of their own. */
  async function begin(): Promise<void> {
    story = await Story.begin(engine, START);
    const plan_id = await story.plan(1_000);
    for (const [index, token] of TOKENS.entries()) {
      const fields = { name: `Customer ${index}`, test_clock_id: story.clockId };
      const { id: customer_id } = await post(engine, '/v1/customers', fields);
      const path = `/v1/customers/${customer_id}/payment-methods`;
      await post(engine, path, { provider: 'sandbox', token: `pm_sandbox_${token}` });
      await post(engine, '/v1/subscriptions', { customer_id, plan_id });
    }
  }

  const states = () => engine.database.query<object>(STATES, [story.clockId]);

  const advance = (to: string) =>
    engine.http.post(`/v1/test-clocks/${story.clockId}/advance`).send({ to });

  /** Ends the session that stores an outcome of a charge, for the outcomes with these numbers. */
  async function breakSessionsAt(...outcomes: readonly number[]): Promise<void> {
    await engine.database.query(`ALTER SEQUENCE outcome_number RESTART`);
    await engine.database.query(`
      CREATE OR REPLACE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('outcome_number') IN (${outcomes.join()}) THEN
          PERFORM pg_terminate_backend(pg_backend_pid());
        END IF;
        RETURN NEW;
      END $$`);
    await engine.database.query(`
      CREATE OR REPLACE TRIGGER end_session BEFORE UPDATE ON payment FOR EACH ROW
      WHEN (OLD.status = 'pending' AND NEW.status <> 'pending') EXECUTE FUNCTION end_session()`);
  }

  async function expectUndisturbed(): Promise<void> {
    expect((await advance(LATER)).status).toBe(200);
    expect(await states()).toEqual(undisturbed);
    await story.verify();
  }

  it.each([
    ['once', [2]],
    ['again when the advance is repeated', [2, 3]],
    ['each time the advance is repeated', [2, 3, 4, 5]],
  ])('continues with all charges if an outcome is not stored %s', async (_, outcomes) => {
    await breakSessionsAt(...outcomes);
    for (const outcome of outcomes) {
      const { status } = await advance(START);
      expect({ outcome, status }).toEqual({ outcome, status: 503 });
    }
    expect((await advance(START)).status).toBe(200);
    await expectUndisturbed();
  });

  it('waits for a call that completes one of the charges, and continues then', async () => {
    await breakSessionsAt(2);
    expect((await advance(LATER)).status).toBe(503);
    const answers: ((outcome: ProviderOutcome) => void)[] = [];
    const charge = jest
      .spyOn(engine.app.get(SandboxProvider), 'charge')
      .mockImplementation(() => new Promise((answer) => answers.push(answer)));
    // The leases are given back after the answer.
    const leased = 'SELECT FROM payment WHERE leased_by IS NOT NULL';
    await until('no payment has a lease', async () => {
      return (await engine.database.query(leased)).length === 0;
    });
    engine.clock.advanceMs(1_000);
    const worker = engine.app.get(DuePayments);
    await worker.runDue();
    // Four charges were begun together, and the first one has ended.
    await until('the provider is called', () => answers.length === 3);
    charge.mockRestore();
    const before = await versionOf(story);
    const repeated = advance(LATER).then(({ status }) => status);
    await until('the advance waits', async () => (await versionOf(story)) > before + 2);
    for (const answer of answers) answer({ kind: 'unknown' });
    expect(await repeated).toBe(200);
    await expectUndisturbed();
  });
});
