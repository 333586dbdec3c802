import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { startTestApp, Story, type TestApp } from '../support/story';

const LARGEST = Number.MAX_SAFE_INTEGER;

describe('an invoice beyond the largest amount', () => {
  let engine: TestApp;
  let taxRateId: string;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
    const rate = { name: 'VAT', percentage: '19' };
    const { body } = await engine.http.post('/v1/tax-rates').send(rate).expect(201);
    taxRateId = (body as { id: string }).id;
  });

  afterAll(() => engine.close());

  const setTaxRates = async (
    customerId: string,
    tax_rate_ids: readonly string[],
  ): Promise<void> => {
    await engine.http.patch(`/v1/customers/${customerId}`).send({ tax_rate_ids }).expect(200);
  };

  const planOf = async (amount: number): Promise<string> => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount }];
    const plan = {
      code: `base-${amount}`,
      name: 'Base',
      currency: 'USD',
      interval: 'month',
      prices,
    };
    const { body } = await engine.http.post('/v1/plans').send(plan).expect(201);
    return (body as { id: string }).id;
  };

  const failures = async (): Promise<number> => {
    const { text } = await engine.http.get('/metrics');
    const line =
      /^due_work_failures_total\{work="due-subscriptions",reason="invoice_too_large"\} (\d+)$/m;
    return Number(line.exec(text)?.[1] ?? 0);
  };

  const statusOfClock = async ({ clockId }: Story): Promise<unknown> => {
    const { body } = await engine.http.get(`/v1/test-clocks/${clockId}`).expect(200);
    return (body as { status: string }).status;
  };

  const anotherCustomer = async ({ clockId }: Story): Promise<string> => {
    const customer = { name: 'Grace Hopper', test_clock_id: clockId };
    const { body } = await engine.http.post('/v1/customers').send(customer).expect(201);
    return (body as { id: string }).id;
  };

  it.each([
    ['a renewal', {}],
    ['a renewal draft', { invoice_grace_hours: 1 }],
  ])(
    '%s is retried a day later; neither the test clock nor other customers are blocked',
    async (_, terms) => {
      const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z', terms);
      const { id } = await story.subscribe(await story.plan(LARGEST));
      await setTaxRates(story.customerId, [taxRateId]);
      const other = await anotherCustomer(story);
      const plan_id = await story.plan(1_000);
      await engine.http.post('/v1/subscriptions').send({ customer_id: other, plan_id }).expect(201);

      await story.advance('2026-03-05T00:00:00.000Z');
      expect(await statusOfClock(story)).toBe('ready');
      const finalized = `/v1/invoices?status=open&customer_id=`;
      const { body } = await engine.http.get(`${finalized}${other}`).expect(200);
      expect((body as { data: unknown[] }).data).toHaveLength(3);
      const before = await engine.http.get(`${finalized}${story.customerId}`).expect(200);
      expect((before.body as { data: unknown[] }).data).toHaveLength(1);

      // After the cause is removed, the invoice is created, at most one day after the last attempt.
      await setTaxRates(story.customerId, []);
      await story.advance('2026-03-06T12:00:00.000Z');
      expect((await story.subscription(id)).current_period_start).toBe('2026-03-01T00:00:00.000Z');
      expect((await story.invoices()).map(({ total }) => total)).toEqual([
        LARGEST,
        LARGEST,
        LARGEST,
      ]);
      await story.verify();
    },
  );

  it('is refused at the start and at a change, where the prices alone exceed it', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const half = { model: 'per_unit', unit_amount: String((LARGEST + 1) / 2) };
    const planId = await story
      .planOf([
        { ...half, name: 'One', timing: 'in_advance' },
        { ...half, name: 'Other', timing: 'in_arrears', maximum_amount: (LARGEST + 1) / 2 - 1 },
      ])
      .then(({ id }) => id);
    const start = (fields: object) =>
      engine.http
        .post('/v1/subscriptions')
        .send({ customer_id: story.customerId, plan_id: planId, ...fields });
    const refused = { status: 422, code: 'subscription_too_large' };
    for (const later of [{ trial_days: 14 }, { start_at: '2026-02-01T00:00:00.000Z' }]) {
      expect((await start({ ...later, quantity: '2' })).body).toMatchObject(refused);
    }
    const { id } = (await start({ trial_days: 14 }).expect(201)).body as { id: string };
    for (const when of ['now', 'period_end']) {
      const { body } = await engine.http
        .post(`/v1/subscriptions/${id}/change`)
        .send({ quantity: '2', when });
      expect(body).toMatchObject(refused);
    }
    await story.advance('2026-03-20T00:00:00.000Z');
    expect((await story.invoices()).map(({ total }) => total)).toContain(LARGEST);
  });

  it('stays visible in a metric with its reason, while other subscriptions renew', async () => {
    const plans = await Promise.all([LARGEST, 1_000].map((amount) => planOf(amount)));
    const customers: string[] = [];
    for (const plan_id of plans) {
      const customer_id = await createCustomer(engine);
      await engine.http.post('/v1/subscriptions').send({ customer_id, plan_id }).expect(201);
      customers.push(customer_id);
    }
    const [refused = '', other = ''] = customers;
    await setTaxRates(refused, [taxRateId]);
    const before = await failures();
    engine.clock.advanceMs(32 * 86_400_000);
    while (await engine.app.get(DueSubscriptions).runDue());
    const counted = async (customer: string): Promise<number> => {
      const { body } = await engine.http.get(`/v1/invoices?customer_id=${customer}`).expect(200);
      return (body as { data: unknown[] }).data.length;
    };
    expect([await counted(refused), await counted(other)]).toEqual([1, 2]);
    expect((await failures()) - before).toBe(1);
  });
});
