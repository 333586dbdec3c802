import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { post } from '../support/requests';
import { type Invoice, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const NOW = { when: 'now' };
const METERS = [
  { aggregation: 'sum' },
  { aggregation: 'weighted_sum' },
  { aggregation: 'weighted_sum', is_recurring: true },
];

/** Costs 100 a day in March: a minimum of 31.00 a month. */
const perUnit = {
  name: 'Use',
  model: 'per_unit',
  timing: 'in_arrears',
  unit_amount: '10',
  minimum_amount: 3_100,
};

const linesOf = (invoices: readonly Invoice[]) =>
  invoices.map(({ lines }) => lines.map(({ quantity, amount }) => [quantity, amount]));

describe.each(METERS)('usage of an item that lasts no time: %j', (meter) => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Subscribes at the start of March. The recurring meter holds 7 from February. */
  async function begin(proration: 'day' | 'second' = 'day', price: object = perUnit) {
    const story = await Story.begin(engine, on('03-01'));
    const { id: meter_id, event } = await story.meter(meter);
    await story.reportUsage(event, on('02-10'), { n: 7 });
    const { id: planId } = await story.planOf([{ ...price, meter_id }], { proration });
    const { id } = await story.subscribe(planId, { collection: 'send_invoice' });
    return { story, id, event, meterId: meter_id };
  }

  it('costs the minimum of the day of the end', async () => {
    const { story, id, event } = await begin();
    await story.reportUsage(event, on('03-01'), { n: 3 });
    const preview = await story.command(id, 'cancel?preview=true', NOW);
    expect(preview).toMatchObject({ total: 100 });
    await story.command(id, 'cancel', NOW);
    expect(linesOf(await story.invoices())).toEqual([[[null, 100]]]);
    await story.advance(on('05-02'));
    expect(await story.amounts()).toEqual([[100]]);
    await story.verify();
  });

  it('costs nothing if instants are counted', async () => {
    const { story, id } = await begin('second');
    const preview = await story.command(id, 'cancel?preview=true', NOW);
    expect(preview).toMatchObject({ total: 0 });
    await story.command(id, 'cancel', NOW);
    expect(await story.amounts()).toEqual([]);
    await story.verify();
  });

  it('costs the fee at zero usage of the day', async () => {
    const tiers = [{ up_to: null, unit_amount: '1', flat_amount: 6_200 }];
    const { story, id } = await begin('day', {
      ...perUnit,
      model: 'graduated',
      unit_amount: undefined,
      minimum_amount: undefined,
      tiers,
    });
    await story.command(id, 'cancel', NOW);
    const invoices = await story.invoices();
    expect(linesOf(invoices)).toEqual([[['0', 200]]]);
    const path = `/v1/invoices/${invoices[0]?.id}`;
    const { body } = await engine.http.get(`${path}/lines/${invoices[0]?.lines[0]?.id}/events`);
    const held = meter.is_recurring ? [{ timestamp: on('02-10') }] : [];
    expect(body).toMatchObject({ data: held });
    await engine.http.post(`${path}/void`).send({}).expect(200);
    await engine.http.post(`${path}/reissue`).send({}).expect(201);
    expect(linesOf(await story.invoices()).at(-1)).toEqual([['0', 200]]);
    await story.verify();
  });

  it('is billed if the subscription ends at the instant of a resume', async () => {
    const { story, id } = await begin();
    await story.command(id, 'pause');
    await story.advance(on('03-11'));
    await story.command(id, 'resume');
    await story.command(id, 'cancel', NOW);
    expect(linesOf(await story.invoices())).toEqual([
      [
        [null, 100],
        [null, 100],
      ],
    ]);
    await story.verify();
  });

  it.each(['03-01', '04-01'])(
    'is billed at the end of the period if a pause begins with it, on %s',
    async (date) => {
      const { story, id, event } = await begin();
      await story.advance(on(date));
      const before = await story.amounts();
      await story.command(id, 'pause');
      await story.reportUsage(event, on(date), { n: 3 });
      // 3,100 a month is 103.3 a day in April.
      const ofDay = date === '03-01' ? 100 : 103;
      expect(await story.usage()).toMatchObject([
        { period_start: on(date), period_end: on(date), is_late: false, amount: ofDay },
      ]);
      await story.advance(on('05-02'));
      expect((await story.amounts()).slice(before.length)).toEqual([[ofDay]]);
      expect(await story.subscription(id)).toMatchObject({ status: 'paused' });
      await story.verify();
    },
  );

  it('is billed once if a pause follows a resume at the same instant', async () => {
    const { story, id } = await begin();
    await story.advance(on('03-11'));
    await story.command(id, 'pause');
    await story.advance(on('03-16'));
    await story.command(id, 'resume');
    await story.command(id, 'pause');
    await story.command(id, 'resume');
    await story.command(id, 'pause');
    await story.advance(on('04-02'));
    const [lines, ...others] = await story.amounts();
    expect(others).toEqual([]);
    // 1 to 11 March, and 16 March. What the recurring meter holds costs less than the minimum.
    expect(lines?.reduce((sum, amount) => sum + amount, 0)).toBe(1_200);
    await story.verify();
  });

  it('is billed up to a change at its start to a version that counts seconds', async () => {
    const story = await Story.begin(engine, '2026-03-01T12:00:00.000Z');
    const { id: meter_id } = await story.meter(meter);
    const [byDay, bySecond] = [
      await story.planOf([{ ...perUnit, meter_id }], { proration: 'day' }),
      await story.planOf([{ ...perUnit, meter_id }], { proration: 'second' }),
    ];
    const { id } = await story.subscribe(byDay.id, {
      collection: 'send_invoice',
      billing_anchor: 'calendar',
    });
    await story.command(id, 'change', { plan_id: bySecond.id, when: 'now' });
    expect((await story.usage()).map(({ amount }) => amount)).toEqual([50, 3_050]);
    await story.advance(on('04-02'));
    expect(await story.amounts()).toEqual([[50, 3_050]]);
    await story.verify();
  });

  it('has no line by group without a minimum, unless the group holds a value', async () => {
    const story = await Story.begin(engine, on('03-01'));
    const { id: meter_id, event } = await story.meter({ ...meter, group_by: ['region'] });
    await story.reportUsage(event, on('02-10'), { n: 7, region: 'eu' });
    const tiers = [{ up_to: null, unit_amount: '1', flat_amount: 6_200 }];
    const graduated = { name: 'Use', model: 'graduated', timing: 'in_arrears', tiers };
    const plan = await story.planOf([
      { ...graduated, meter_id, by_group: true },
      { ...perUnit, meter_id, by_group: true },
    ]);
    const { id } = await story.subscribe(plan.id, { collection: 'send_invoice' });
    await story.command(id, 'cancel', NOW);
    const fee = meter.is_recurring ? [200] : [];
    expect(await story.amounts()).toEqual([[...fee, 100]]);
    await story.verify();
  });

  describe('after requests at one instant', () => {
    const send = (id: string, command: string) =>
      engine.http.post(`/v1/subscriptions/${id}/${command}`).send(command === 'cancel' ? NOW : {});

    /** Subscribes a customer without a test clock. */
    async function paused() {
      const { meterId: meter_id } = await begin();
      const customer_id = await createCustomer(engine);
      const plan = await post(engine, '/v1/plans', {
        code: meter_id,
        name: 'Plan',
        currency: 'USD',
        interval: 'month',
        prices: [{ ...perUnit, meter_id }],
      });
      const terms = { customer_id, plan_id: plan.id, collection: 'send_invoice' };
      const { id } = await post(engine, '/v1/subscriptions', terms);
      engine.clock.advanceMs(3 * 86_400_000);
      await send(id, 'pause').expect(200);
      engine.clock.advanceMs(3 * 86_400_000);
      return { id, customerId: customer_id };
    }

    it('ends with a cancellation', async () => {
      const { id } = await paused();
      await Promise.all([send(id, 'resume'), send(id, 'cancel').expect(200)]);
      const { body } = await engine.http.get(`/v1/subscriptions/${id}`).expect(200);
      expect(body).toMatchObject({ status: 'canceled' });
    });

    it('is billed by due work after the period, and can be resumed', async () => {
      const { id, customerId } = await paused();
      await send(id, 'resume').expect(200);
      await Promise.all([send(id, 'pause'), send(id, 'pause')]);
      await engine.http.get(`/v1/customers/${customerId}/usage`).expect(200);
      engine.clock.advanceMs(32 * 86_400_000);
      await engine.app.get(DueSubscriptions).runDue();
      const { body } = await engine.http.get(`/v1/subscriptions/${id}`).expect(200);
      expect(body).toMatchObject({ status: 'paused', next_billing_at: null });
      await send(id, 'resume').expect(200);
      await send(id, 'cancel').expect(200);
    });
  });
});
