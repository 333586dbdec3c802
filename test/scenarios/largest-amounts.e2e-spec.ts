import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, Story, type TestApp } from '../support/story';

const LARGEST = Number.MAX_SAFE_INTEGER;

describe('an invoice beyond the largest amount', () => {
  let engine: TestApp;
  let taxRateId: string;
  let smallTaxRateId: string;
  let coupons = 0;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
    taxRateId = await createTaxRate('19');
    smallTaxRateId = await createTaxRate('0.0001');
  });

  afterAll(() => engine.close());

  const createTaxRate = async (percentage: string): Promise<string> => {
    const rate = { name: 'VAT', percentage };
    const { body } = await engine.http.post('/v1/tax-rates').send(rate).expect(201);
    return (body as { id: string }).id;
  };

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

  it('is refused at the start, where a price exceeds it before its maximum', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const { id: plan_id } = await story.planOf([
      {
        name: 'Seats',
        model: 'per_unit',
        timing: 'in_advance',
        unit_amount: String(LARGEST),
        maximum_amount: 5_000,
      },
    ]);
    const start = (quantity: string) =>
      engine.http
        .post('/v1/subscriptions')
        .send({ customer_id: story.customerId, plan_id, quantity, trial_days: 14 });
    expect((await start('2')).body).toMatchObject({ status: 422, code: 'subscription_too_large' });
    await start('1').expect(201);
    await story.advance('2026-01-20T00:00:00.000Z');
    expect((await story.invoices()).map(({ total }) => total)).toContain(5_000);
  });

  /**
   * Begins a plan that bills the largest amount in advance and again for usage, and uses it. The change bills that usage, and
   * credits most of the advance.
   */
  const beginChange = async (story: Story) => {
    const meter = await story.meter();
    const used = { name: 'Usage', model: 'per_unit', timing: 'in_arrears', meter_id: meter.id };
    const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: LARGEST };
    const plan = await story.planOf([base, { ...used, unit_amount: String(LARGEST) }]);
    const { id } = await story.subscribe(plan.id);
    await story.reportUsage(meter.event, '2026-01-01T00:00:00.000Z', { n: 1 });
    await story.advance('2026-01-02T00:00:00.000Z');
    const plan_id = await story.plan((LARGEST + 1) / 2, { interval: 'year' });
    const path = `/v1/subscriptions/${id}/change`;
    const change = async () =>
      (await engine.http.post(path).send({ plan_id, when: 'now' })).body as object;
    return { id, change };
  };

  const coupon = async (): Promise<{ id: string; code: string }> => {
    const terms = { type: 'percent', percent_off: '100', duration: 'forever' };
    const code = `FREE-${(coupons += 1)}`;
    const { body } = await engine.http.post('/v1/coupons').send({ code, ...terms });
    return body as { id: string; code: string };
  };

  it.each(['a discount', 'a taxable amount'])(
    'is refused because of %s, although its total is smaller',
    async (excess) => {
      const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
      const { id, change } = await beginChange(story);
      if (excess === 'a discount') {
        await story.command(id, 'coupons', { code: (await coupon()).code });
      } else await setTaxRates(story.customerId, [smallTaxRateId]);
      expect(await change()).toMatchObject({ status: 422, code: 'invoice_too_large' });
      await story.verify();
    },
  );

  it('is refused because of a sum that the ledger would post, although its total is smaller', async () => {
    const amount = 8_000_000_000_000_000;
    const story = await Story.begin(engine, '2026-01-31T00:00:00.000Z');
    const meters = [await story.meter(), await story.meter()];
    const plan = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount },
      ...meters.map(({ id: meter_id }) => ({
        name: 'Usage',
        model: 'per_unit',
        timing: 'in_arrears',
        unit_amount: String(amount),
        meter_id,
      })),
    ]);
    const { id } = await story.subscribe(plan.id, { collection: 'send_invoice' });
    await story.advance('2026-01-31T00:01:00.000Z');
    for (const { event } of meters) {
      await story.reportUsage(event, '2026-01-31T00:00:30.000Z', { n: 1 });
    }
    const canceled = await engine.http
      .post(`/v1/subscriptions/${id}/cancel`)
      .send({ when: 'now', credit_unused: true });
    // The credit for the base fee is deferred revenue, so it does not lower the revenue of the usage.
    expect(canceled.body).toMatchObject({ status: 422, code: 'invoice_too_large' });
    expect(await story.invoices()).toHaveLength(1);
    await story.verify();
  });

  it('is refused when it is regenerated with a tax that was added since', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    await story.subscribe(await story.plan(LARGEST), { collection: 'send_invoice' });
    const [bill] = await story.invoices();
    await post(engine, `/v1/invoices/${bill?.id ?? ''}/void`);
    await setTaxRates(story.customerId, [smallTaxRateId]);
    const { body } = await engine.http.post(`/v1/invoices/${bill?.id ?? ''}/reissue`).send({});
    expect(body).toMatchObject({ status: 422, code: 'invoice_too_large' });
    await setTaxRates(story.customerId, []);
    const again = await post(engine, `/v1/invoices/${bill?.id ?? ''}/reissue`);
    expect(again).toMatchObject({ status: 'open', total: LARGEST });
    await story.verify();
  });

  it('is refused because of all that its coupon took off, which stays readable', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const { id: couponId, code } = await coupon();
    const { id } = await story.subscribe(await story.plan(LARGEST), { coupon: code });
    await story.advance('2026-02-01T00:00:00.000Z');
    expect(await story.subscription(id)).toMatchObject({
      current_period_start: '2026-01-01T00:00:00.000Z',
      renewal_failure_code: 'invoice_too_large',
    });
    const { body } = await engine.http.get(`/v1/coupons/${couponId}/redemptions`).expect(200);
    expect(body).toMatchObject({ data: [{ applied_amount: LARGEST }] });
    await story.verify();
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
