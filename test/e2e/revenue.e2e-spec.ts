import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

const AMOUNTS = [
  'gross',
  'discounts',
  'earned',
  'deferred',
  'refunds',
  'written_off',
  'tax',
] as const;
type Amount = (typeof AMOUNTS)[number];

interface Row extends Readonly<Record<Amount, string>> {
  readonly window_start: string;
  readonly plan_id: string | null;
  readonly customer_id: string | null;
  readonly customer_name: string | null;
  readonly account: string | null;
}

const daysFrom = (day: string) => `interval=day&from=${day}T00:00:00Z&to=2026-01-01T00:00:00Z`;

describe('revenue and collection', () => {
  let engine: TestApp;
  let ada: string;
  let bob: string;
  let plan: string;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-03-10T00:00:00.000Z');
    const rate = await post('tax-rates', { name: 'VAT', percentage: '20' });
    ada = await createCustomer(engine, { name: 'Ada', tax_rate_ids: [rate] });
    bob = await createCustomer(engine, { name: 'Bob' });
    const clock = await post('test-clocks', { name: 'C', now: '2026-03-10T00:00:00.000Z' });
    const clocked = await createCustomer(engine, { test_clock_id: clock });
    plan = await post('plans', {
      code: 'pro',
      name: 'Pro',
      currency: 'EUR',
      interval: 'month',
      prices: [
        { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 },
        { name: 'Support', model: 'flat', timing: 'in_arrears', amount: 333 },
      ],
    });
    await post('coupons', {
      code: 'TEN',
      type: 'percent',
      percent_off: '10',
      duration: 'forever',
    });
    const sold = { plan_id: plan, collection: 'send_invoice' };
    await post('subscriptions', { ...sold, customer_id: ada, coupon: 'TEN' });
    await post('subscriptions', { ...sold, customer_id: clocked });
    await failToCollect();
    const lost = await oneOff(bob, 500);
    await engine.http.post(`/v1/invoices/${lost}/mark-uncollectible`).expect(200);
    const credited = await oneOff(bob, 700);
    const { body } = await engine.http.get(`/v1/invoices/${credited}`);
    const [line] = (body as { lines: { id: string }[] }).lines;
    await post('credit-notes', {
      invoice_id: credited,
      lines: [{ invoice_line_id: line?.id, amount: 200 }],
      reason: 'Late',
      settle: 'credit',
    });
    const paid = await post('payments', { customer_id: bob, amount: 900, currency: 'EUR' });
    await engine.http.post(`/v1/refunds/payment/${paid}`).send({ amount: 400 }).expect(201);
    engine.clock.set('2026-04-10T00:00:00.000Z');
    while (await engine.app.get(DueSubscriptions).runDue());
  });

  afterAll(() => engine.close());

  async function post(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return (answer.body as { id: string }).id;
  }

  async function oneOff(customer: string, amount: number): Promise<string> {
    const lines = [{ description: 'Work', amount }];
    const fields = { currency: 'EUR', collection: 'send_invoice', lines };
    const id = await post('invoices', { customer_id: customer, ...fields });
    await engine.http.post(`/v1/invoices/${id}/finalize`).expect(200);
    return id;
  }

  /** Charges an invoice of 50.00 USD once without success. */
  async function failToCollect(): Promise<void> {
    const customer = await createCustomer(engine, { name: 'Eve' });
    await post(`customers/${customer}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_declined',
      is_default: true,
    });
    const lines = [{ description: 'Work', amount: 5_000 }];
    const fields = { currency: 'USD', collection: 'automatic', lines };
    const id = await post('invoices', { customer_id: customer, ...fields });
    await engine.http.post(`/v1/invoices/${id}/finalize`).expect(200);
    while (await engine.app.get(DueCollections).runDue());
  }

  async function read(query = ''): Promise<readonly Row[]> {
    const answer = await engine.http.get(
      `/v1/analytics/revenue?from=2026-03-01T00:00:00Z&to=2026-05-01T00:00:00Z&currency=EUR&${query}`,
    );
    expect(answer.status).toBe(200);
    return (answer.body as { data: readonly Row[] }).data;
  }

  const sums = (rows: readonly Row[]) =>
    AMOUNTS.map((name) => rows.reduce((sum, row) => sum + BigInt(row[name]), 0n).toString());

  it('is what the ledger posted, window by window', async () => {
    const [march, april, ...others] = await read();
    expect(others).toEqual([]);
    // Ada's base fee of 10.00 less 10% is deferred; Bob's 12.00 are earned, less a credit of 2.00.
    expect(march).toMatchObject({
      gross: '1100',
      discounts: '100',
      earned: '1000',
      deferred: '900',
      refunds: '0',
      written_off: '500',
      tax: '180',
    });
    // The former fee is earned with the support of 3.33 less 0.33, and the next fee is deferred.
    expect(april).toMatchObject({ deferred: '0', earned: '1200', refunds: '0', written_off: '0' });
  });

  it('equals the balances of the same customers, and the sums of its plans, customers and accounts', async () => {
    const total = sums(await read());
    const balances = new Map<string, bigint>();
    for (const customer of [ada, bob]) {
      const answer = await engine.http.get(
        `/v1/ledger/accounts?customer_id=${customer}&at=2026-05-01T00:00:00Z`,
      );
      for (const { account, balance } of (
        answer.body as { data: { account: string; balance: string }[] }
      ).data) {
        balances.set(account, (balances.get(account) ?? 0n) + BigInt(balance));
      }
    }
    const of = (account: string) => balances.get(account) ?? 0n;
    expect(total).toEqual(
      [
        -of('revenue'),
        of('discounts'),
        -of('revenue') - of('discounts'),
        -of('deferred_revenue'),
        of('refunds'),
        of('bad_debt'),
        -of('tax_payable'),
      ].map(String),
    );
    const byPlan = await read('group_by=plan');
    const byCustomer = await read('group_by=customer');
    const byAccount = await read('group_by=account');
    expect([sums(byPlan), sums(byCustomer), sums(byAccount)]).toEqual([total, total, total]);
    expect(new Set(byPlan.map(({ plan_id }) => plan_id))).toEqual(new Set([plan, null]));
    expect(byCustomer.find(({ customer_id }) => customer_id === ada)?.customer_name).toBe('Ada');
    expect(
      new Set((await read('group_by=customer&limit=1')).map((row) => row.customer_id)).size,
    ).toBe(1);
    expect(byAccount.find(({ account }) => account === 'tax_payable')).toMatchObject({
      tax: '180',
      gross: '0',
    });
  });

  it('counts the balances of the ledger before an instant only', async () => {
    const at = async (instant: string) => {
      const answer = await engine.http.get(`/v1/ledger/accounts?customer_id=${ada}&at=${instant}`);
      return (answer.body as { data: readonly object[] }).data;
    };
    expect(await at('2026-03-10T00:00:00Z')).toEqual([]);
    expect(await at('2026-04-10T00:00:00Z')).toContainEqual({
      account: 'deferred_revenue',
      currency: 'EUR',
      balance: '-900',
    });
  });

  it('lists the transactions of an account, a kind, a currency and a time', async () => {
    const list = async (query: string) => {
      const answer = await engine.http.get(`/v1/ledger/transactions?limit=100&${query}`);
      expect(answer.status).toBe(200);
      return (answer.body as { data: { kind: string; currency: string; occurred_at: string }[] })
        .data;
    };
    expect(new Set((await list('kind=write_off,payment')).map(({ kind }) => kind))).toEqual(
      new Set(['write_off', 'payment']),
    );
    expect((await list('account=bad_debt')).map(({ kind }) => kind)).toEqual(['write_off']);
    expect((await list('currency=USD')).map(({ kind }) => kind)).toEqual(['invoice_finalized']);
    const april = await list('occurred_from=2026-04-01T00:00:00Z');
    expect(april.every(({ occurred_at: at }) => at >= '2026-04')).toBe(true);
    expect(april.map(({ kind }) => kind)).toContain('revenue_release');
    expect(await list('occurred_to=2026-03-01T00:00:00Z')).toEqual([]);
    const refused = await engine.http.get('/v1/ledger/transactions?kind=gift');
    expect(refused.body).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it('shows the results of automatic charges by attempt and failure', async () => {
    const path = '/v1/analytics/collection?from=2026-03-01T00:00:00Z';
    const answer = await engine.http.get(path);
    expect((answer.body as { data: readonly object[] }).data).toEqual([
      {
        currency: 'USD',
        attempt: 1,
        status: 'failed',
        failure_code: 'card_declined',
        payments: 1,
        amount: '5000',
      },
    ]);
    const euros = await engine.http.get(`${path}&currency=EUR`);
    expect((euros.body as { data: readonly object[] }).data).toEqual([]);
    const all = await engine.http.get('/v1/analytics/collection?from=0001-01-01T00:00:00Z');
    expect((all.body as { data: readonly object[] }).data).toEqual(
      (answer.body as { data: readonly object[] }).data,
    );
  });

  it.each([
    ['revenue?from=2090-01-01T00:00:00Z', 422, 'report_period_empty'],
    ['collection?from=2090-01-01T00:00:00Z', 422, 'report_period_empty'],
    // 2,001 and 101 days.
    [`revenue?group_by=plan&limit=1&${daysFrom('2020-07-10')}`, 422, 'too_many_windows'],
    [`revenue?group_by=plan&${daysFrom('2025-09-22')}`, 422, 'too_many_windows'],
    ['revenue?group_by=colour', 400, 'validation_failed'],
    ['revenue?limit=0', 400, 'validation_failed'],
    ['collection?interval=day', 400, 'validation_failed'],
  ])('refuses %s', async (query, status, code) => {
    const answer = await engine.http.get(`/v1/analytics/${query}`);
    expect(answer.body).toMatchObject({ status, code });
  });
});
