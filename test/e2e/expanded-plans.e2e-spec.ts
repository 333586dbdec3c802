import { createCustomer } from '../support/billing';
import { bearing, createKey, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';

interface Listed {
  readonly data: readonly object[];
}

describe('subscriptions with the plan within each item', () => {
  let engine: TestApp;
  let customer: string;

  beforeAll(async () => {
    engine = await startTestApp();
    customer = await createCustomer(engine, { name: 'Ada' });
  });

  afterAll(() => engine.close());

  const list = async (query: string): Promise<readonly object[]> =>
    ((await engine.http.get(`/v1/subscriptions${query}`).expect(200)).body as Listed).data;

  async function subscribe(code: string, name: string): Promise<string> {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 100 }];
    const plan = await engine.http
      .post('/v1/plans')
      .send({ code, name, currency: 'USD', interval: 'month', prices })
      .expect(201);
    const { id } = plan.body as { id: string };
    await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: customer, plan_id: id, collection: 'send_invoice' })
      .expect(201);
    return id;
  }

  it('show it on request only, also where it is archived', async () => {
    const basic = await subscribe('basic', 'Basic');
    const pro = await subscribe('pro', 'Pro');
    await engine.http.delete(`/v1/plans/${basic}`).expect(204);
    const plans = [
      { plan: { id: pro, code: 'pro', name: 'Pro', is_archived: false } },
      { plan: { id: basic, code: 'basic', name: 'Basic', is_archived: true } },
    ];
    const withPlans = await list('?expand=plan');
    expect(withPlans).toMatchObject(plans);
    for (const one of withPlans) expect(one).not.toHaveProperty('customer');
    for (const query of ['?expand=customer,plan', '?expand=plan,customer']) {
      expect(await list(query)).toMatchObject(
        plans.map((one) => ({ ...one, customer: { id: customer, name: 'Ada' } })),
      );
    }
    for (const query of ['', '?expand=customer']) {
      for (const one of await list(query)) expect(one).not.toHaveProperty('plan');
    }
  });

  it('are the same as CSV', async () => {
    const read = async (query: string) =>
      (await engine.uncheckedHttp.get(`/v1/subscriptions${query}`).set('Accept', 'text/csv')).text;
    expect(await read('?expand=customer,plan')).toBe(await read(''));
  });
});

describe('plans within the items of lists', () => {
  it('need the scope catalog:read; customers in addition need customers:read', async () => {
    const engine = await startTestApp({ environment: WITH_KEYS });
    const read = async (expand: string, ...scopes: readonly string[]) => {
      const { secret } = await createKey(engine, ...scopes);
      const path = `/v1/subscriptions?expand=${expand}`;
      return (await engine.http.get(path).set(bearing(secret))).body as object;
    };
    const refused = { status: 403, code: 'forbidden' };
    expect(await read('plan', 'subscriptions:read', 'catalog:read')).toMatchObject({ data: [] });
    expect(await read('plan', 'subscriptions:read')).toMatchObject(refused);
    expect(await read('plan,customer', 'subscriptions:read', 'catalog:read')).toMatchObject(
      refused,
    );
    expect(await read('customer,plan', 'subscriptions:read', 'customers:read')).toMatchObject(
      refused,
    );
    await engine.close();
  });
});
