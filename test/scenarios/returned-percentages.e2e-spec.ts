import { startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

/** Half of one invoice is off. Periods are months from 1 March on. */
describe('what returns of a percentage with duration once is used again in its period alone', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(amount: number) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    made += 1;
    const code = `RETURNED${made}`;
    const terms = { type: 'percent', percent_off: '50', duration: 'once' };
    await engine.http
      .post('/v1/coupons')
      .send({ code, ...terms })
      .expect(201);
    const plan = await story.plan(amount);
    const { id } = await story.subscribe(plan, { coupon: code });
    const change = (plan_id: string) => story.command(id, 'change', { plan_id, when: 'now' });
    const shown = async (): Promise<readonly (readonly number[])[]> =>
      (await story.invoices()).map(({ subtotal, discount }) => [subtotal, discount]);
    return { story, id, plan, change, shown };
  }

  it('no later period is discounted', async () => {
    const { story, change, shown } = await begin(10_000);
    await story.advance(on('03-16'));
    await change(await story.plan(1_000));
    await story.advance(on('09-01'));
    // 16 of 31 days at 10.00, less half of it; half of the price of the same days returns.
    expect((await shown())[0]).toEqual([10_000, 5_000]);
    expect((await shown())[1]).toEqual([516 - 2_581, 258]);
    expect((await shown()).slice(2)).toEqual(Array.from({ length: 6 }, () => [1_000, 0]));
    await story.verify();
  });

  it('another change in the same period is discounted from it', async () => {
    const { story, plan, change, shown } = await begin(3_100);
    const small = await story.plan(620);
    await story.advance(on('03-16'));
    await change(small);
    await story.advance(on('03-21'));
    await change(plan);
    await story.advance(on('05-01'));
    // 16 days return 800, of which 160 are used; 11 of these days return 110, and half of 11 days of 31.00 is off.
    expect(await shown()).toEqual([
      [3_100, 1_550],
      [320 - 800, 160],
      [1_100 - 110, 550],
      [3_100, 0],
      [3_100, 0],
    ]);
    await story.verify();
  });

  it('a change to another interval begins a period that is not discounted', async () => {
    const { story, change, shown } = await begin(3_100);
    await story.advance(on('03-16'));
    await change(await story.plan(700, { interval: 'week' }));
    await story.advance(on('03-23'));
    expect(await shown()).toEqual([
      [3_100, 1_550],
      [700 - 800, 0],
      [700, 0],
    ]);
    await story.verify();
  });

  it('usage that is taken back leaves the discount to usage that is added to the same bill', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const { id: meter_id, event } = await story.meter();
    const price = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' };
    const { id: plan } = await story.planOf([{ ...price, meter_id }]);
    const terms = { type: 'percent', percent_off: '50', duration: 'once' };
    await engine.http
      .post('/v1/coupons')
      .send({ code: 'TAKEN-BACK', ...terms })
      .expect(201);
    await story.subscribe(plan, { coupon: 'TAKEN-BACK' });
    const key = await story.reportUsage(event, on('03-02'), { n: 10 });
    await story.advance(on('04-05'));
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    await story.reportUsage(event, on('04-06'), { n: 4 });
    await story.advance(on('05-05'));
    await story.reportUsage(event, on('03-20'), { n: 12 });
    await story.advance(on('06-05'));
    const lines = (await story.invoices()).flatMap((one) => one.lines);
    expect(lines.map(({ amount, discount }) => [amount, discount])).toEqual([
      [10_000, 5_000],
      [4_000, 0],
      [-5_000, 0],
      [12_000, 6_000],
    ]);
    await story.verify();
  });
});
