import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { RenewSubscriptionsWorkflow } from '../../src/modules/billing/subscriptions/renew-subscriptions.workflow';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/databases';
import { verifyLedger } from '../support/ledger';
import { leftByRenewals } from '../support/renewal-outcome';
import { startTestApp, type TestApp } from '../support/test-app';

const START_AT = '2026-01-31T10:00:00.000Z';
const RENEWED_AT = '2026-03-01T00:00:00.000Z';
const LEASE_OVER_MS = 61_000;
/** More than one batch. */
const MANY = 60;

const create = async (engine: TestApp, path: string, body: object): Promise<string> => {
  const answer = await engine.http.post(`/v1/${path}`).send(body);
  expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
  return (answer.body as { id: string }).id;
};

const planOf = (engine: TestApp, code: string, prices: readonly object[]): Promise<string> =>
  create(engine, 'plans', { name: 'Plan', currency: 'EUR', interval: 'month', code, prices });

const BASE = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 };
const SEATS = { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '712.5' };

/** Creates customers with a subscription each, distinguished by `index`. */
async function subscribeMany(engine: TestApp, count: number): Promise<readonly string[]> {
  const planId = await planOf(engine, 'flat', [BASE]);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const customerId = await create(engine, 'customers', { name: 'Ada Lovelace' });
    const terms = { customer_id: customerId, plan_id: planId, metadata: { index } };
    ids.push(await create(engine, 'subscriptions', terms));
  }
  return ids;
}

/** Counts the renewal invoices of each subscription. */
async function renewalsOf(engine: TestApp): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.database.query<{ id: string; invoices: number }>(`
    SELECT subscription.id, count(invoice.id)::int AS invoices FROM subscription
      LEFT JOIN invoice ON invoice.subscription_id = subscription.id AND invoice.reason = 'renewal'
    GROUP BY subscription.id`);
  return new Map(rows.map(({ id, invoices }) => [id, invoices]));
}

const numbersOf = async (engine: TestApp): Promise<readonly number[]> => {
  const rows = await engine.database.query<{ number: number }>(
    `SELECT right(number, 6)::int AS number FROM invoice ORDER BY number`,
  );
  return rows.map(({ number }) => number);
};

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);

describe('renewals in a batch', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
    engine.clock.set(START_AT);
  });

  afterEach(() => engine.close());

  const workOf = (app: TestApp): DueSubscriptions => app.app.get(DueSubscriptions);

  it('succeed except for one that fails, which is retried after its lease ends', async () => {
    const ids = await subscribeMany(engine, 5);
    const poisoned = ids[2] ?? '';
    await engine.database.query(
      `ALTER TABLE invoice ADD CONSTRAINT no_invoice CHECK (subscription_id <> '${poisoned}') NOT VALID`,
    );
    engine.clock.set(RENEWED_AT);
    expect(await workOf(engine).runDue()).toBe(true);
    expect(await workOf(engine).runDue()).toBe(false);
    const others = new Map(ids.map((id) => [id, id === poisoned ? 0 : 1]));
    expect(await renewalsOf(engine)).toEqual(others);

    await engine.database.query('ALTER TABLE invoice DROP CONSTRAINT no_invoice');
    engine.clock.advanceMs(LEASE_OVER_MS);
    expect(await workOf(engine).runDue()).toBe(true);
    expect(await renewalsOf(engine)).toEqual(new Map(ids.map((id) => [id, 1])));
    expect(await numbersOf(engine)).toEqual(upTo(10));
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('are made once by two concurrent workers, with numbers without a gap', async () => {
    const ids = await subscribeMany(engine, MANY);
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    try {
      for (const app of [engine, other]) app.clock.set(RENEWED_AT);
      const runAll = async (app: TestApp): Promise<void> => {
        while (await workOf(app).runDue());
      };
      await Promise.all([runAll(engine), runAll(other)]);
    } finally {
      await other.close();
    }
    expect(await renewalsOf(engine)).toEqual(new Map(ids.map((id) => [id, 1])));
    expect(await numbersOf(engine)).toEqual(upTo(2 * MANY));
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('are made once by two workers that claimed the same subscriptions, in either order', async () => {
    const ids = await subscribeMany(engine, 5);
    engine.clock.set(RENEWED_AT);
    const due = engine.app.get(RenewSubscriptionsWorkflow);
    const now = engine.clock.now();
    await Promise.all([due.runNext(ids, now), due.runNext([...ids].reverse(), now)]);
    expect(await renewalsOf(engine)).toEqual(new Map(ids.map((id) => [id, 1])));
  });
});

describe('a batch of renewals', () => {
  const databases: TestDatabase[] = [];

  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  /**
   * Creates a coupon, taxes, arrears, a trial that ends, an end with credit, and two subscriptions of one customer that
   * share its credit.
   */
  async function seed(engine: TestApp, isPaid: boolean): Promise<void> {
    engine.clock.set(START_AT);
    const flat = await planOf(engine, 'flat', [BASE]);
    const both = await planOf(engine, 'both', [BASE, SEATS]);
    const vat = await create(engine, 'tax-rates', { name: 'VAT', percentage: '19' });
    const gift = { type: 'amount', amount_off: 6_000, currency: 'EUR', duration: 'once' };
    await create(engine, 'coupons', { ...gift, code: 'GIFT' });
    const subscribe = (index: number, customerId: string, fields: object): Promise<string> =>
      create(engine, 'subscriptions', { customer_id: customerId, metadata: { index }, ...fields });
    const newCustomer = (taxRateIds: readonly string[] = []): Promise<string> =>
      create(engine, 'customers', { name: 'Ada Lovelace', tax_rate_ids: taxRateIds });
    await subscribe(0, await newCustomer([vat]), { plan_id: both, quantity: '7' });
    await subscribe(1, await newCustomer(), { plan_id: flat, coupon: 'GIFT' });
    await subscribe(2, await newCustomer(), { plan_id: flat, trial_days: 10 });
    const shared = await newCustomer([vat]);
    const large = await planOf(engine, 'large', [{ ...BASE, amount: 20_000 }]);
    const ending = await subscribe(3, shared, { plan_id: large });
    await subscribe(4, shared, { plan_id: both, quantity: '2' });
    await subscribe(5, shared, { plan_id: flat });
    if (isPaid) {
      const path = `/v1/invoices?customer_id=${shared}&subscription_id=${ending}`;
      const { body } = await engine.http.get(path).expect(200);
      const [invoice] = (body as { data: { id: string }[] }).data;
      const payment = { provider: 'sandbox' };
      await engine.http
        .post(`/v1/invoices/${invoice?.id ?? ''}/pay`)
        .send(payment)
        .expect(201);
    }
    const end = { when: 'at', at: '2026-02-05T00:00:00.000Z', credit_unused: true };
    const answer = await engine.http.post(`/v1/subscriptions/${ending}/cancel`).send(end);
    expect(answer.status).toBe(200);
  }

  const DUE = `
    SELECT id FROM subscription WHERE next_billing_at <= $1 ORDER BY next_billing_at, id`;

  async function runAlone(engine: TestApp): Promise<void> {
    const due = engine.app.get(RenewSubscriptionsWorkflow);
    const now = engine.clock.now();
    for (;;) {
      const rows = await engine.database.query<{ id: string }>(DUE, [now]);
      if (rows.length === 0) return;
      for (const { id } of rows) await due.runNext([id], now);
    }
  }

  async function renewed(url: string, run: (engine: TestApp) => Promise<void>): Promise<unknown> {
    const engine = await startTestApp({ databaseUrl: url });
    try {
      engine.clock.set('2026-04-02T00:00:00.000Z');
      await run(engine);
      return await engine.database.query(
        'SELECT subscription_id, renews_at, number, credited_to_balance FROM invoice ORDER BY number',
      );
    } finally {
      await engine.close();
    }
  }

  it.each([
    [
      'paid: its credit pays other renewals of the customer',
      true,
      [
        ['4', '7527'],
        ['4', '5342'],
        ['5', '5831'],
      ],
    ],
    ['open: its credit lowers that invoice', false, []],
  ])(
    'writes exactly what the renewals write one by one, the ended one %s',
    async (_, isPaid, shared) => {
      const together = await createTestDatabase();
      const engine = await startTestApp({ databaseUrl: together.url });
      await seed(engine, isPaid);
      await engine.close();
      const alone = await copyTestDatabase(together.url);
      databases.push(together, alone);

      const inBatches = await renewed(together.url, async ({ app }) => {
        while (await app.get(DueSubscriptions).runDue());
      });
      const oneByOne = await renewed(alone.url, runAlone);
      expect(inBatches).toEqual(oneByOne);
      const left = await leftByRenewals(together.url);
      expect(left).toEqual(await leftByRenewals(alone.url));

      const credited = (left['invoices'] as { subscription: string; credit_applied: string }[])
        .filter(({ credit_applied }) => credit_applied !== '0')
        .map(({ subscription, credit_applied }) => [subscription, credit_applied]);
      expect(credited).toEqual(shared);
    },
  );
});
