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
});
