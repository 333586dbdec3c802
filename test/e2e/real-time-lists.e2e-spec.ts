import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

describe('lists without customers on test clocks', () => {
  let engine: TestApp;
  let plan: string;

  async function post(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect([path, answer.status]).toEqual([path, 201]);
    return (answer.body as { id: string }).id;
  }

  /** A customer with a subscription, its invoice and a payment. */
  async function buy(fields: object): Promise<void> {
    const customer = await createCustomer(engine, { currency: 'USD', ...fields });
    await post('subscriptions', {
      customer_id: customer,
      plan_id: plan,
      collection: 'send_invoice',
    });
    await post('payments', {
      customer_id: customer,
      amount: 500,
      currency: 'USD',
      provider: 'manual',
    });
  }

  beforeAll(async () => {
    engine = await startTestApp();
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }];
    plan = await post('plans', {
      code: 'pro',
      name: 'Pro',
      currency: 'USD',
      interval: 'month',
      prices,
    });
    const now = engine.clock.now().toISOString();
    await buy({});
    await buy({ test_clock_id: await post('test-clocks', { name: 'C', now }) });
  });

  afterAll(() => engine.close());

  it.each(['subscriptions', 'invoices', 'payments'])(
    'are offered for %s and their sums',
    async (list) => {
      const count = async (query: string): Promise<readonly [number, number]> => {
        const rows = await engine.http.get(`/v1/${list}?${query}`);
        const sums = await engine.http.get(`/v1/${list}/summary?${query}`);
        expect([rows.status, sums.status]).toEqual([200, 200]);
        return [
          (rows.body as { data: object[] }).data.length,
          (sums.body as { count: number }).count,
        ];
      };
      expect(await count('')).toEqual([2, 2]);
      expect(await count('test_clock_id=none')).toEqual([1, 1]);
      const refused = await engine.http.get(
        `/v1/${list}?test_clock_id=clock_01h455vb4pex5vsknk084sn02q`,
      );
      expect(refused.status).toBe(400);
    },
  );
});
