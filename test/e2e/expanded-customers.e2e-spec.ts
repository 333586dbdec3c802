import { createCustomer, createPayment } from '../support/billing';
import { bearing, createKey, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';

const LISTS = [
  'invoices',
  'credit-notes',
  'payments',
  'refunds',
  'disputes',
  'subscriptions',
  'analytics/mrr/changes',
  'ledger/transactions',
] as const;

interface Listed {
  readonly data: readonly { readonly customer_id: string; readonly customer?: object }[];
}

describe('lists with the customer within each item', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const get = async (path: string): Promise<Listed> =>
    (await engine.http.get(`/v1/${path}`).expect(200)).body as Listed;

  it.each(LISTS)('are empty where there is nothing: %s', async (list) => {
    expect(await get(`${list}?expand=customer`)).toMatchObject({ data: [] });
  });

  it('show it on request only, also where it is deleted', async () => {
    const payment = await createPayment(engine);
    await createPayment(engine);
    await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount: 100 }).expect(201);
    const ada = await createCustomer(engine, { name: 'Ada', email: 'ada@example.com' });
    await engine.http
      .post('/v1/invoices')
      .send({ customer_id: ada, currency: 'USD', lines: [{ description: 'Work', amount: 1 }] })
      .expect(201);
    const { data } = await get(`invoices?expand=customer`);
    expect(data).toMatchObject([
      { customer: { id: ada, name: 'Ada', email: 'ada@example.com', is_deleted: false } },
    ]);
    const paid = (await get(`payments?expand=customer&limit=1`)).data[0]?.customer_id ?? '';
    await engine.http.delete(`/v1/customers/${paid}`).expect(204);
    const payments = await get('payments?expand=customer');
    expect(payments.data.map(({ customer }) => customer)).toEqual([
      { id: paid, name: 'Ada Lovelace', email: null, is_deleted: true },
      expect.objectContaining({ name: 'Ada Lovelace', is_deleted: false }) as object,
    ]);
    expect((await get('refunds?expand=customer')).data[0]).toMatchObject({
      customer: { name: 'Ada Lovelace' },
    });
    for (const list of LISTS) {
      for (const item of (await get(list)).data) expect(item).not.toHaveProperty('customer');
    }
  });

  it('are the same as CSV', async () => {
    const read = async (query: string) =>
      (await engine.uncheckedHttp.get(`/v1/payments${query}`).set('Accept', 'text/csv')).text;
    expect(await read('?expand=customer')).toBe(await read(''));
  });

  it.each(['expand=plan', 'expand=coupon', 'expand=', 'expand=customer,customer'])(
    'refuse %s',
    async (query) => {
      for (const list of LISTS) {
        if (list === 'subscriptions' && query === 'expand=plan') continue;
        const { body } = await engine.http.get(`/v1/${list}?${query}`);
        expect(body).toMatchObject({ status: 400, code: 'validation_failed' });
      }
    },
  );

  it('include those of the ledger, and of the redemptions of a coupon', async () => {
    const posted = await get('ledger/transactions?expand=customer');
    expect(posted.data.length).toBeGreaterThan(0);
    for (const { customer_id, customer } of posted.data) {
      expect(customer).toMatchObject({ id: customer_id, name: 'Ada Lovelace' });
    }
    const create = async (path: string, body: object): Promise<string> =>
      ((await engine.http.post(`/v1/${path}`).send(body).expect(201)).body as { id: string }).id;
    const coupon = await create('coupons', {
      code: 'ONCE',
      type: 'percent',
      percent_off: '10',
      duration: 'once',
    });
    const plan = await create('plans', {
      code: 'pro',
      name: 'Pro',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 100 }],
    });
    const customer_id = await createCustomer(engine, { name: 'Grace' });
    await create('subscriptions', {
      customer_id,
      plan_id: plan,
      coupon: 'ONCE',
      collection: 'send_invoice',
    });
    const path = `coupons/${coupon}/redemptions`;
    expect((await get(`${path}?expand=customer`)).data).toMatchObject([
      { customer: { id: customer_id, name: 'Grace', is_deleted: false } },
    ]);
    expect((await get(path)).data[0]).not.toHaveProperty('customer');
  });
});

describe('customers within the items of lists', () => {
  it('need the scope to read customers', async () => {
    const engine = await startTestApp({ environment: WITH_KEYS });
    const read = async (...scopes: readonly string[]) => {
      const { secret } = await createKey(engine, ...scopes);
      const answer = await engine.http.get('/v1/payments?expand=customer').set(bearing(secret));
      return answer.body as object;
    };
    expect(await read('payments:read', 'customers:read')).toMatchObject({ data: [] });
    expect(await read('payments:read')).toMatchObject({ status: 403, code: 'forbidden' });
    await engine.close();
  });

  it('are filtered by what they owe only with the scope to read invoices', async () => {
    const engine = await startTestApp({ environment: WITH_KEYS });
    for (const path of ['/v1/customers', '/v1/customers/summary']) {
      const read = async (...scopes: readonly string[]) => {
        const { secret } = await createKey(engine, ...scopes);
        return (await engine.http.get(`${path}?owing=true`).set(bearing(secret))).status;
      };
      expect(await read('customers:read', 'invoices:read')).toBe(200);
      expect(await read('customers:read')).toBe(403);
    }
    await engine.close();
  });
});
