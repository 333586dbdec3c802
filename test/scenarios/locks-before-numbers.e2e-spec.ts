import { Client } from 'pg';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createEntitlement } from '../support/allowances';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';
const IN_MARCH = '2026-03-16T00:00:00.000Z';
const BEFORE_BOUNDARY = '2026-03-31T00:00:00.000Z';
const BOUNDARY = '2026-04-01T00:00:00.000Z';
const IN_GRACE = '2026-04-02T00:00:00.000Z';
const GRACE_HOURS = 72;
const THIRD_PERIOD = '2026-05-02T00:00:00.000Z';

/** The most recently created objects. */
const USAGE = `
  SELECT FROM usage_stream WHERE id = (SELECT max(id) FROM usage_stream WHERE customer_id = $1) FOR UPDATE`;
const CREDIT = 'SELECT FROM credit_grant WHERE customer_id = $1 FOR UPDATE';
const PAYMENT = 'SELECT FROM payment WHERE customer_id = $1 AND amount_applied > 0 FOR UPDATE';
const ACCESS = 'SELECT FROM customer_access WHERE customer_id = $1 FOR UPDATE';
const COUPON = 'SELECT FROM coupon_redemption WHERE customer_id = $1 FOR UPDATE';
const BILLED_LINES = `
  SELECT FROM invoice_line WHERE invoice_id IN (SELECT id FROM invoice WHERE customer_id = $1) FOR UPDATE`;

interface Meter {
  readonly id: string;
  readonly event: string;
}

/** A deadlock is never detected here: it shows as a lock wait that times out. */
describe('work that creates invoices', () => {
  let made: TestDatabase;
  let engine: TestApp;
  let holder: Client;
  let count = 0;

  beforeAll(async () => {
    made = await createTestDatabase();
    holder = new Client({ connectionString: made.url });
    await holder.connect();
    const name = new URL(made.url).pathname.slice(1);
    await holder.query(`ALTER DATABASE ${name} SET deadlock_timeout = '1h'`);
    const environment = { LOG_LEVEL: 'fatal' };
    engine = await startTestApp({ databaseUrl: made.url, environment });
  });

  afterAll(async () => {
    await holder.end();
    await engine.close();
    await made.drop();
  });

  beforeEach(() => {
    engine.clock.set(START);
  });

  const create = async (path: string, body: object): Promise<string> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return (answer.body as { id: string }).id;
  };
  const named = (): string => `named-${(count += 1)}`;
  const customer = (fields: object = {}) => create('customers', { name: 'Ada', ...fields });
  const plan = (prices: readonly object[], fields: object = {}) =>
    create('plans', {
      ...{ code: named(), name: 'Plan', currency: 'USD', interval: 'month', prices },
      ...fields,
    });
  const base = (amount: number) => ({
    ...{ name: 'Base', model: 'flat', timing: 'in_advance', amount },
  });
  const calls = (meter_id: string) => ({
    ...{ name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10', meter_id },
  });
  const meter = async (): Promise<Meter> => {
    const [key, event] = [named().replace('-', '_'), named()];
    const id = await create('meters', { key, event_name: event, aggregation: 'count' });
    return { id, event };
  };
  const use = async (customer_id: string, event_name: string): Promise<void> => {
    const event = { idempotency_key: named(), customer_id, event_name };
    const timestamp = engine.clock.now().toISOString();
    const { body } = await engine.http.post('/v1/usage-events').send({ ...event, timestamp });
    expect(body).toMatchObject({ accepted: 1 });
  };
  const subscribe = (customer_id: string, plan_id: string, fields: object = {}) =>
    create('subscriptions', { customer_id, plan_id, collection: 'send_invoice', ...fields });
  const change = async (id: string, body: object): Promise<void> => {
    const answer = await engine.http.post(`/v1/subscriptions/${id}/change`).send(body);
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  };
  const finalize = async (id: string): Promise<object> =>
    (await engine.http.post(`/v1/invoices/${id}/finalize`)).body as object;
  const renew = async (): Promise<void> => {
    while (await engine.app.get(DueSubscriptions).runDue());
  };
  /** Pays in money without an invoice, which the next invoices consume. */
  const giveCredit = async (customer_id: string): Promise<void> => {
    const payment = { customer_id, amount: 90_000, currency: 'USD', provider: 'sandbox' };
    await engine.http.post('/v1/payments').send(payment).expect(201);
  };
  const waits = (queries: number): Promise<void> => untilSessionsWait(engine.database, queries);

  /** Locks rows of a customer while the work runs. */
  async function withRowsLocked(
    rows: string,
    customerId: string,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    await holder.query('BEGIN');
    try {
      const held = await holder.query(rows, [customerId]);
      expect(held.rowCount).toBeGreaterThan(0);
      await meanwhile();
    } finally {
      await holder.query('ROLLBACK');
    }
  }

  const isSeriesFree = async (): Promise<boolean> => {
    const series = `SELECT FROM invoice_series WHERE name = 'INV' FOR UPDATE SKIP LOCKED`;
    return (await engine.database.query(series)).length === 1;
  };

  /** Runs work while rows of a customer are locked; returns true if others could take an invoice number meanwhile. */
  async function leavesNumbersFree(
    rows: string,
    customerId: string,
    work: () => Promise<unknown>,
  ): Promise<boolean> {
    let isFree = false;
    let working: Promise<unknown> = Promise.resolve();
    await withRowsLocked(rows, customerId, async () => {
      working = work();
      await waits(1);
      isFree = await isSeriesFree();
    });
    await working;
    return isFree;
  }

  /**
   * Creates a subscription in the grace period of a renewal at whose boundary the plan changed, for usage of another
   * meter.
   */
  async function withDraft(others: (customerId: string, later: Meter) => Promise<unknown>) {
    const [first, second] = [await meter(), await meter()];
    const customerId = await customer({ invoice_grace_hours: GRACE_HOURS });
    const id = await subscribe(customerId, await plan([base(3_000), calls(first.id)]));
    await others(customerId, second);
    const next = await plan([base(4_000), calls(second.id)]);
    await change(id, { plan_id: next, when: 'period_end' });
    for (const { event } of [first, second]) await use(customerId, event);
    engine.clock.set(BOUNDARY);
    await renew();
    engine.clock.set(IN_GRACE);
    const expensivePlan = await plan([base(8_000), calls(second.id)]);
    return { customerId, change: () => change(id, { plan_id: expensivePlan, when: 'now' }) };
  }

  const verified = async (): Promise<void> => {
    expect((await engine.http.get('/v1/ledger/verify')).body).toMatchObject({ ok: true });
    const numbers = await engine.database.query<{ number: number }>(
      'SELECT right(number, 6)::int AS number FROM invoice WHERE number IS NOT NULL ORDER BY 1',
    );
    expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => index + 1));
  };

  it.each([
    ['the access of', ACCESS],
    ['usage of', USAGE],
    ['credit of', CREDIT],
  ])(
    'locks no number series while a change that finalizes a draft waits for %s its customer',
    async (_, rows) => {
      const { customerId, change: changeIt } = await withDraft(giveCredit);
      expect(await leavesNumbersFree(rows, customerId, changeIt)).toBe(true);
      await verified();
    },
  );

  it('bills a change and another subscription for the same usage concurrently', async () => {
    const code = named().toUpperCase();
    const terms = { code, type: 'percent', percent_off: '50', duration: 'forever' };
    await engine.http.post('/v1/coupons').send(terms).expect(201);
    let other = '';
    const { customerId, change: changeIt } = await withDraft(async (customer_id, { id }) => {
      other = await subscribe(customer_id, await plan([calls(id)]), { coupon: code });
    });
    const [draft] = await engine.database.query<{ id: string }>(
      `SELECT id FROM invoice WHERE subscription_id = $1 AND status = 'draft'`,
      [other],
    );
    let both: Promise<unknown> = Promise.resolve();
    await withRowsLocked(COUPON, customerId, async () => {
      // It locks the usage, and the coupon before it takes a number.
      const finalizing = finalize(draft?.id ?? '');
      await waits(1);
      both = Promise.all([finalizing, changeIt()]);
      await waits(2);
    });
    expect(await both).toMatchObject([{ status: 'open', subtotal: 10, discount: 5 }, undefined]);
    await verified();
  });

  it.each([
    ['the access of', ACCESS],
    ['usage that counts for', USAGE],
  ])(
    'does not lock the number series while a renewal waits for %s its customer',
    async (_, rows) => {
      const { id: meter_id, event } = await meter();
      const { id } = await createEntitlement(engine, { type: 'metered', meter_id });
      const customerId = await customer();
      const entitlements = [{ entitlement_id: id, value: '100' }];
      await subscribe(customerId, await plan([base(1_000)], { entitlements }));
      await use(customerId, event);
      engine.clock.set(BOUNDARY);
      expect(await leavesNumbersFree(rows, customerId, renew)).toBe(true);
      await verified();
    },
  );

  it('locks no number series while a renewal waits to recognize revenue', async () => {
    const customerId = await customer();
    await subscribe(customerId, await plan([base(1_000)]));
    engine.clock.set(BOUNDARY);
    expect(await leavesNumbersFree(BILLED_LINES, customerId, renew)).toBe(true);
    await verified();
  });

  it('locks no number series while an end waits for a coupon that takes nothing off', async () => {
    const code = named().toUpperCase();
    const other = await plan([base(1_000)]);
    const terms = { type: 'percent', percent_off: '50', duration: 'forever' };
    const { id, event } = await meter();
    const planId = await plan([calls(id)]);
    await create('coupons', { code, ...terms, plan_ids: [other, planId] });
    const customerId = await customer();
    const subscriptionId = await subscribe(customerId, planId, { coupon: code });
    await change(subscriptionId, { plan_id: await plan([calls(id)]), when: 'now' });
    await use(customerId, event);
    engine.clock.set(IN_MARCH);
    const ending = async () => {
      await engine.http
        .post(`/v1/subscriptions/${subscriptionId}/cancel`)
        .send({ when: 'now' })
        .expect(200);
    };
    expect(await leavesNumbersFree(COUPON, customerId, ending)).toBe(true);
    await verified();
  });

  it('locks no number series while a command that bills two periods first waits for usage', async () => {
    const [first, second] = [await meter(), await meter()];
    const customerId = await customer();
    const id = await subscribe(customerId, await plan([base(3_000), calls(first.id)]));
    const next = await plan([base(4_000), calls(second.id)]);
    await change(id, { plan_id: next, when: 'period_end' });
    await use(customerId, second.event);
    engine.clock.set(THIRD_PERIOD);
    const ending = async () => {
      await engine.http.post(`/v1/subscriptions/${id}/cancel`).send({ when: 'now' }).expect(200);
    };
    expect(await leavesNumbersFree(USAGE, customerId, ending)).toBe(true);
    await verified();
  });

  it('locks no credit while a first invoice that expires with a renewal waits for its payments', async () => {
    const customerId = await customer();
    await subscribe(customerId, await plan([base(1_000)]));
    engine.clock.set(BEFORE_BOUNDARY);
    const incomplete = { payment_behavior: 'default_incomplete', collection: 'automatic' };
    await subscribe(customerId, await plan([base(5_000)]), incomplete);
    const [first] = await engine.database.query<{ id: string }>(
      `SELECT id FROM invoice WHERE customer_id = $1 AND total = 5000`,
      [customerId],
    );
    const part = { customer_id: customerId, invoice_id: first?.id, amount: 700, currency: 'USD' };
    await create('payments', { ...part, provider: 'manual' });
    await giveCredit(customerId);
    engine.clock.set(BOUNDARY);
    let renewing: Promise<unknown> = Promise.resolve();
    await withRowsLocked(PAYMENT, customerId, async () => {
      renewing = renew();
      await waits(1);
      const free = await engine.database.query(`${CREDIT} SKIP LOCKED`, [customerId]);
      expect(free).toHaveLength(1);
    });
    await renewing;
    expect(
      await engine.database.query('SELECT status FROM invoice WHERE id = $1', [first?.id]),
    ).toEqual([{ status: 'void' }]);
    await verified();
  });

  it('locks no number series while a command after a back-dated start waits for usage', async () => {
    const { id, event } = await meter();
    const customerId = await customer();
    await use(customerId, event);
    const planId = await plan([base(3_000), calls(id)]);
    engine.clock.set(THIRD_PERIOD);
    const subscriptionId = await subscribe(customerId, planId, { start_at: START });
    const pausing = async () => {
      await engine.http.post(`/v1/subscriptions/${subscriptionId}/pause`).send({}).expect(200);
    };
    expect(await leavesNumbersFree(USAGE, customerId, pausing)).toBe(true);
    await verified();
  });
});
