import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { signedIn } from '../support/signed-in';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const OWNER = bearing(BOOTSTRAP_KEY);

describe('refunds by admins with the role support', () => {
  let engine: TestApp;
  let support: Readonly<Record<string, string>>;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { ...WITH_KEYS, PAYMENT_PROVIDERS: 'manual' } });
    support = await signedIn(engine, 'support');
  });

  afterAll(() => engine.close());

  async function createPayment(currency = 'USD'): Promise<string> {
    const customer = await engine.http.post('/v1/customers').set(OWNER).send({ name: 'Ada' });
    const { body } = await engine.http
      .post('/v1/payments')
      .set(OWNER)
      .send({
        customer_id: (customer.body as { id: string }).id,
        amount: 10_000,
        currency,
        provider: 'manual',
      })
      .expect(201);
    return (body as { id: string }).id;
  }

  const refund = (
    payment: string,
    body: object,
    headers: Readonly<Record<string, string>> = support,
  ) => engine.http.post(`/v1/refunds/payment/${payment}`).set(headers).send(body);

  const setLimits = (limits: readonly object[]) =>
    engine.http.patch('/v1/studio-settings').set(OWNER).send({ support_refund_limits: limits });

  const exceeded = (limit: number): readonly unknown[] => [
    403,
    expect.objectContaining({ code: 'refund_limit_exceeded', limit }),
  ];

  it('are refused until an owner sets a limit', async () => {
    const payment = await createPayment();
    const { status, body } = await refund(payment, { amount: 1 });
    expect([status, body]).toEqual(exceeded(0));
  });

  it('are made up to the limit of their payment in all, with the refunds of others', async () => {
    expect((await setLimits([{ currency: 'USD', amount: 5_000 }])).status).toBe(200);
    const payment = await createPayment();
    expect((await refund(payment, { amount: 3_000 })).status).toBe(201);
    expect((await refund(payment, { amount: 1_000 }, OWNER)).status).toBe(201);
    const over = await refund(payment, { amount: 1_001 });
    expect([over.status, over.body]).toEqual(exceeded(5_000));
    const rest = await refund(payment, {});
    expect([rest.status, rest.body]).toEqual(exceeded(5_000));
    const read = await engine.http.get(`/v1/payments/${payment}`).set(OWNER);
    expect(read.body).toMatchObject({ amount_refunded: 4_000, amount_refund_pending: 0 });
    expect((await refund(payment, { amount: 1_000 })).status).toBe(201);
    expect((await refund(payment, { amount: 5_000 }, OWNER)).status).toBe(201);
  });

  it('do not exceed the limit together when they are concurrent', async () => {
    const payment = await createPayment();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => refund(payment, { amount: 1_000 })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201, 201, 201, 201, 201, 403, 403, 403,
    ]);
  });

  it('are refused with an idempotency key, which can be used again when the limit allows it', async () => {
    const payment = await createPayment();
    const request = { amount: 5_001, idempotencyKey: `over-${payment}` };
    expect((await refund(payment, request)).status).toBe(403);
    await setLimits([{ currency: 'USD', amount: 6_000 }]);
    const made = await refund(payment, request);
    expect(made.status).toBe(201);
    await setLimits([]);
    expect((await refund(payment, request)).body).toEqual(made.body);
  });

  it('have limits that are read, changed once for the same value, and refused for a currency twice', async () => {
    const limits = [
      { currency: 'EUR', amount: 1 },
      { currency: 'USD', amount: 2 },
    ];
    const changed = await setLimits(limits);
    expect(changed.body).toMatchObject({ id: 'studio_settings', support_refund_limits: limits });
    const same = await setLimits([...limits].reverse());
    expect([same.body, same.headers['etag']]).toEqual([changed.body, changed.headers['etag']]);
    const read = await engine.http.get('/v1/studio-settings').set(OWNER);
    expect(read.body).toEqual(changed.body);
    const twice = await setLimits([...limits, { currency: 'EUR', amount: 3 }]);
    expect([twice.status, twice.body]).toEqual([
      400,
      expect.objectContaining({
        errors: [expect.objectContaining({ pointer: '/support_refund_limits/2/currency' })],
      }),
    ]);
    const stale = await engine.http
      .patch('/v1/studio-settings')
      .set(OWNER)
      .set('If-Match', '"1"')
      .send({ support_refund_limits: limits });
    expect(stale.status).toBe(412);
    const types = (await eventsOf(engine, 'studio_settings')).map(({ type }) => type);
    expect(new Set(types)).toEqual(new Set(['studio_settings.updated']));
    for (const method of ['get', 'patch'] as const) {
      expect((await engine.http[method]('/v1/studio-settings').set(support)).status).toBe(403);
    }
  });
});
