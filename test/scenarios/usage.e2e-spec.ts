import { type Invoice, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-01-01T00:00:00.000Z';
const graduated = {
  name: 'Calls',
  model: 'graduated',
  timing: 'in_arrears',
  tiers: [
    { up_to: '100', unit_amount: '10', flat_amount: 500 },
    { up_to: null, unit_amount: '5' },
  ],
};
const perUnit = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };

describe('usage', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('is billed after its period, beside what is paid in advance', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([base, { ...graduated, meter_id }]);
    await story.subscribe(id, { quantity: '7' });
    await story.reportUsage(event, '2026-01-01T00:00:00.000Z', { n: 30 });
    await story.advance('2026-01-20T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-19T23:59:59.999Z', { n: '100.5' });
    await story.advance('2026-02-01T00:00:00.000Z');
    await story.reportUsage(event, '2026-02-01T00:00:00.000Z', { n: 1 });
    await story.advance('2026-03-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([
      [['recurring', '1', 1_000]],
      [
        ['recurring', '1', 1_000],
        ['usage', '130.5', 1_653],
      ],
      [
        ['recurring', '1', 1_000],
        ['usage', '1', 510],
      ],
    ]);
    await story.verify();
  });

  it('follows prices in advance and prices in arrears on an invoice', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const seats = { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '300' };
    const { id } = await story.planOf([{ ...perUnit, meter_id }, seats, base]);
    await story.subscribe(id, { quantity: '2' });
    await story.reportUsage(event, START, { n: 5 });
    await story.advance('2026-02-01T00:00:00.000Z');
    const [, renewal] = await story.invoices();
    const lines = renewal?.lines.map(({ type, period_start, amount }) => [
      type,
      period_start,
      amount,
    ]);
    expect(lines).toEqual([
      ['recurring', '2026-02-01T00:00:00.000Z', 1_000],
      ['recurring', START, 600],
      ['usage', START, 50],
    ]);
    await story.verify();
  });

  it('of zero costs the flat fee at zero usage, prorated to the time of its price', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id } = await story.meter();
    const { id: planId } = await story.planOf([{ ...graduated, meter_id }]);
    const { id } = await story.subscribe(planId);
    await story.advance('2026-01-01T00:00:00.001Z');
    await story.command(id, 'pause');
    await story.advance('2026-01-11T00:00:00.000Z');
    await story.command(id, 'resume');
    expect(await story.usage()).toMatchObject([
      { groups: [{ quantity: '0', amount: 16 }], amount: 16 },
      { groups: [{ quantity: '0', amount: 339 }], amount: 339 },
    ]);
    await story.advance('2026-02-01T00:00:00.000Z');
    // The day of the pause, and 21 of 31 days.
    expect(await story.lines()).toEqual([
      [
        ['usage', '0', 16],
        ['usage', '0', 339],
      ],
    ]);
    await story.verify();
  });

  it('costs so far what the invoice then shows', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter({ group_by: ['region'] });
    const prices = [
      { ...graduated, meter_id, by_group: true },
      { ...perUnit, name: 'All', meter_id, minimum_amount: 2_000 },
    ];
    const { id } = await story.planOf(prices);
    await story.subscribe(id);
    await story.reportUsage(event, START, { n: 120, region: 'eu' });
    await story.reportUsage(event, START, { n: 10 });
    expect(await story.usage()).toMatchObject([
      {
        is_late: false,
        period_start: START,
        period_end: '2026-02-01T00:00:00.000Z',
        groups: [
          { group: ['eu'], quantity: '120', events: 1, amount: 1_600 },
          { group: [null], quantity: '10', events: 1, amount: 600 },
        ],
        amount: 2_200,
      },
      { groups: [{ group: null, quantity: '130', events: 2, amount: 1_300 }], amount: 2_000 },
    ]);
    await story.advance('2026-02-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([
      [
        ['usage', '120', 1_600],
        ['usage', '10', 600],
        ['usage', '130', 1_300],
        ['minimum', null, 700],
      ],
    ]);
    await story.verify();
  });

  it('so far is shown as on the invoice where no decimal is exact', async () => {
    const story = await Story.begin(engine, '2026-02-01T00:00:00.000Z');
    const { id: meter_id, event } = await story.meter({ aggregation: 'weighted_sum' });
    const { id } = await story.planOf([{ ...perUnit, meter_id }]);
    await story.subscribe(id);
    await story.reportUsage(event, '2026-02-02T00:00:00.000Z', { n: 100 });
    expect(await story.usage()).toMatchObject([
      { groups: [{ quantity: '96.428571428571428571', amount: 964 }] },
    ]);
    await story.advance('2026-03-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([[['usage', '96.428571428571428571', 964]]]);
  });

  it('so far is an error while it exceeds the largest amount, until it is voided', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([{ ...perUnit, meter_id, maximum_amount: 5_000 }]);
    await story.subscribe(id);
    const idempotency_key = await story.reportUsage(event, START, { n: '9'.repeat(20) });
    const answer = await engine.http.get(`/v1/customers/${story.customerId}/usage`);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'invoice_too_large' });
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
    expect(await story.usage()).toMatchObject([{ amount: 0 }]);
  });

  it('that arrives late is billed as a difference with the next invoice, once', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([base, { ...graduated, meter_id }]);
    await story.subscribe(id);
    await story.reportUsage(event, START, { n: 90 });
    await story.advance('2026-02-10T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-31T23:59:59.999Z', { n: 20 });
    await story.reportUsage(event, '2026-01-15T00:00:00.000Z', { n: 5 });
    expect((await story.usage()).filter(({ is_late }) => is_late)).toMatchObject([
      { period_start: START, amount: 175, groups: [{ quantity: '115', events: 3 }] },
    ]);
    await story.advance('2026-03-10T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-15T00:00:00.000Z', { n: 5 });
    await story.advance('2026-05-10T00:00:00.000Z');
    const lines = (await story.invoices()).flatMap(({ lines }) => lines);
    const january = lines.filter(
      ({ type, period_start }) => type === 'usage' && period_start === START,
    );
    expect(january.map(({ quantity, amount }) => [quantity, amount])).toEqual([
      ['90', 1_400],
      ['25', 175],
      ['5', 25],
    ]);
    expect(january[1]?.description).toBe('Calls (late usage)');
    await story.verify();
  });

  it('that a later invoice gave back prevents the void of the invoice that billed it', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const meter = await story.meter();
    const { id } = await story.planOf([base, { ...perUnit, meter_id: meter.id }]);
    await story.subscribe(id);
    await story.reportUsage(meter.event, '2026-03-01T06:00:00.000Z', { n: 6 });
    const key = await story.reportUsage(meter.event, '2026-03-01T12:00:00.000Z', { n: 4 });
    await story.advance('2026-04-01T00:00:00.000Z');
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    await story.advance('2026-05-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[1_000], [1_000, 100], [1_000, -40]]);
    const [, billed, gaveBack] = await story.invoices();
    const voidIt = (invoice: Invoice | undefined) =>
      engine.http.post(`/v1/invoices/${invoice?.id ?? ''}/void`).send({});
    expect((await voidIt(billed)).body).toMatchObject({ status: 409, code: 'invoice_credited' });
    await voidIt(gaveBack).expect(200);
    await voidIt(billed).expect(200);
    await story.verify();
  });

  it('of a year is billed in one advance, and of past periods when a subscription starts in the past', async () => {
    const story = await Story.begin(engine, '2026-12-31T00:00:00.000Z');
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([{ ...graduated, meter_id }]);
    for (let month = 1; month <= 12; month += 1) {
      const day = `2026-${String(month).padStart(2, '0')}-15T12:00:00.000Z`;
      await story.reportUsage(event, day, { n: month * 10 });
    }
    await story.subscribe(id, { start_at: START });
    await story.advance('2027-02-01T00:00:00.000Z');
    const amountOf = (n: number) => (n <= 100 ? 500 + n * 10 : 1_500 + (n - 100) * 5);
    expect((await story.amounts()).flat()).toEqual([
      ...[10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120].map(amountOf),
      500,
    ]);
    await story.verify();
  });

  it('of a weighted sum over a year is billed in each period, by the time it was held', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter({
      aggregation: 'weighted_sum',
      is_recurring: true,
    });
    const { id } = await story.planOf([{ ...perUnit, unit_amount: '3100', meter_id }]);
    await story.subscribe(id);
    await story.reportUsage(event, START, { n: 2 });
    await story.advance('2026-01-11T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-11T00:00:00.000Z', { n: 1 });
    await story.advance('2027-01-01T00:00:00.000Z');
    expect((await story.amounts()).flat()).toEqual([8_300, ...Array<number>(11).fill(9_300)]);
    await story.reportUsage(event, '2026-12-31T00:00:00.000Z', { n: 31 });
    await story.advance('2027-02-01T00:00:00.000Z');
    expect((await story.amounts()).at(-1)).toEqual([3_100 * 34, 3_100]);
    await story.verify();
  });

  describe('of a weighted sum within a period', () => {
    /** A value held for a day costs a hundredth of its price. */
    const held = { ...perUnit, unit_amount: '3100' };

    async function subscribed(meter: object = {}, price: object = {}) {
      const story = await Story.begin(engine, START);
      const { id: meter_id, event } = await story.meter({ aggregation: 'weighted_sum', ...meter });
      const [first, second] = [
        await story.planOf([{ ...held, ...price, meter_id }]),
        await story.planOf([{ ...held, ...price, meter_id }]),
      ];
      const { id } = await story.subscribe(first.id);
      const change = () => story.command(id, 'change', { plan_id: second.id, when: 'now' });
      return { story, event, id, change };
    }

    const linesOf = async (story: Story) =>
      (await story.invoices()).flatMap(({ lines }) =>
        lines.map(({ period_start, quantity, amount }) => [
          period_start?.slice(0, 10),
          quantity,
          amount,
        ]),
      );

    it('is held across a change of the plan, so that the parts add up to the whole, and not in the next period', async () => {
      const { story, event, change } = await subscribed();
      await story.reportUsage(event, START, { n: 160 });
      await story.advance('2026-01-16T00:00:00.000Z');
      await change();
      const parts = [
        ['2026-01-01', '77.419354838709677419', 240_000],
        ['2026-01-16', '82.580645161290322581', 256_000],
      ];
      const soFar = await story.usage();
      expect(soFar.map(({ amount }) => amount)).toEqual([240_000, 256_000]);
      expect(soFar[1]?.groups).toMatchObject([{ events: 0, amount: 256_000 }]);
      await story.advance('2026-04-10T00:00:00.000Z');
      expect(await linesOf(story)).toEqual(parts);
      await story.verify();
    });

    it('is held group by group across a pause, in which it changes and is not billed', async () => {
      const { story, event, id, change } = await subscribed(
        { group_by: ['region'] },
        { by_group: true },
      );
      await story.reportUsage(event, START, { n: 2, region: 'eu' });
      await story.advance('2026-01-11T00:00:00.000Z');
      await change();
      await story.reportUsage(event, '2026-01-06T00:00:00.000Z', { n: 1, region: 'us' });
      await story.advance('2026-01-16T00:00:00.000Z');
      await story.command(id, 'pause');
      await story.reportUsage(event, '2026-01-16T00:00:00.000Z', { n: -2, region: 'eu' });
      await story.reportUsage(event, '2026-01-16T00:00:00.000Z', { n: 3, region: 'us' });
      await story.advance('2026-01-21T00:00:00.000Z');
      await story.command(id, 'resume');
      await story.advance('2026-03-10T00:00:00.000Z');
      expect((await linesOf(story)).map(([day, , amount]) => [day, amount])).toEqual([
        ['2026-01-01', 2_000],
        ['2026-01-01', 500],
        ['2026-01-11', 1_000],
        ['2026-01-11', 500],
        ['2026-01-21', 4_400],
      ]);
      await story.verify();
    });

    it('is corrected once in every later part that was billed, and given back when it is voided', async () => {
      const { story, event, id, change } = await subscribed();
      await story.reportUsage(event, START, { n: 1 });
      await story.advance('2026-01-11T00:00:00.000Z');
      await change();
      await story.advance('2026-01-16T00:00:00.000Z');
      await story.command(id, 'pause');
      await story.advance('2026-01-21T00:00:00.000Z');
      await story.command(id, 'resume');
      await story.advance('2026-02-10T00:00:00.000Z');
      const amounts = async () => (await linesOf(story)).map(([day, , amount]) => [day, amount]);
      const billed = [
        ['2026-01-01', 1_000],
        ['2026-01-11', 500],
        ['2026-01-21', 1_100],
      ];
      expect(await amounts()).toEqual(billed);
      const early = await story.reportUsage(event, '2026-01-06T00:00:00.000Z', { n: 10 });
      await story.reportUsage(event, '2026-01-18T00:00:00.000Z', { n: 1 });
      await story.reportUsage(event, '2026-02-05T00:00:00.000Z', { n: 1 });
      const late = [
        ['2026-01-01', 5_000],
        ['2026-01-11', 5_000],
        ['2026-01-21', 12_100],
      ];
      const soFar = (await story.usage()).filter(({ is_late }) => is_late);
      expect(soFar.map(({ amount }) => amount)).toEqual([5_000, 5_000, 12_100]);
      await story.advance('2026-03-10T00:00:00.000Z');
      const march = (await linesOf(story)).slice(billed.length);
      expect(march.map(([day, , amount]) => [day, amount])).toEqual(
        expect.arrayContaining([...late, ['2026-02-01', 2_657]]),
      );
      expect(march).toHaveLength(4);
      const path = '/v1/usage-events/void';
      await engine.http.post(path).send({ idempotency_key: early }).expect(200);
      await story.advance('2026-04-10T00:00:00.000Z');
      expect((await amounts()).slice(billed.length + march.length)).toEqual([
        ['2026-01-01', -5_000],
        ['2026-01-11', -5_000],
        ['2026-01-21', -11_000],
      ]);
      await story.verify();
    });

    it('starts at zero in a short first period', async () => {
      const story = await Story.begin(engine, START);
      const { id: meter_id, event } = await story.meter({ aggregation: 'weighted_sum' });
      const { id } = await story.planOf([{ ...held, meter_id }]);
      await story.advance('2026-01-11T00:00:00.000Z');
      await story.reportUsage(event, '2026-01-05T00:00:00.000Z', { n: 7 });
      await story.subscribe(id, { billing_anchor: 'calendar' });
      await story.advance('2026-01-22T00:00:00.000Z');
      await story.reportUsage(event, '2026-01-22T00:00:00.000Z', { n: 1 });
      await story.advance('2026-02-10T00:00:00.000Z');
      expect((await linesOf(story)).map(([day, , amount]) => [day, amount])).toEqual([
        ['2026-01-11', 1_000],
      ]);
      await story.verify();
    });
  });

  it('is billed at each price for the time it was valid, when the plan changes', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const first = await story.planOf([{ ...perUnit, meter_id, minimum_amount: 3_100 }]);
    const second = await story.planOf([{ ...perUnit, unit_amount: '3', meter_id }]);
    const { id } = await story.subscribe(first.id);
    await story.advance('2026-01-11T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-05T00:00:00.000Z', { n: 10 });
    await story.reportUsage(event, '2026-01-11T00:00:00.000Z', { n: 100 });
    await story.reportUsage(event, '2026-01-10T23:59:59.999Z', { n: 1 });
    await story.command(id, 'change', { plan_id: second.id, when: 'now' });
    await story.advance('2026-02-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([
      [
        ['usage', '11', 110],
        ['usage', '100', 300],
        ['minimum', null, 890],
      ],
    ]);
    await story.verify();
  });

  it('in a trial and in a pause is not billed, and a change of the quantity does not affect its price', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id: plan } = await story.planOf([{ ...graduated, meter_id }]);
    const { id } = await story.subscribe(plan, { trial_days: 14 });
    await story.reportUsage(event, START, { n: 1_000 });
    await story.advance('2026-01-20T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-20T00:00:00.000Z', { n: 60 });
    await story.command(id, 'change', { quantity: '5', when: 'now' });
    await story.advance('2026-01-25T00:00:00.000Z');
    await story.reportUsage(event, '2026-01-24T00:00:00.000Z', { n: 60 });
    await story.command(id, 'pause');
    await story.reportUsage(event, '2026-01-26T00:00:00.000Z', { n: 5_000 });
    await story.advance('2026-02-01T00:00:00.000Z');
    await story.command(id, 'resume');
    await story.reportUsage(event, '2026-02-01T00:00:00.000Z', { n: 1 });
    await story.advance('2026-02-15T00:00:00.000Z');
    expect(await story.lines()).toEqual([
      [
        ['usage', '120', 1_600],
        ['usage', '1', 510],
      ],
    ]);
    await story.verify();
  });

  it('is billed when a subscription ends, as its preview shows; later usage is billed by an invoice of its own', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const { id: plan } = await story.planOf([{ ...perUnit, meter_id, minimum_amount: 3_100 }]);
    const { id } = await story.subscribe(plan);
    await story.advance('2026-01-10T12:00:00.000Z');
    await story.reportUsage(event, '2026-01-10T11:00:00.000Z', { n: 7 });
    await story.reportUsage(event, '2026-01-10T12:00:00.000Z', { n: 900 });
    const path = `/v1/subscriptions/${id}/cancel?preview=true`;
    const { body } = await engine.http.post(path).send({ when: 'now' });
    await story.command(id, 'cancel', { when: 'now' });
    await story.reportUsage(event, '2026-01-09T00:00:00.000Z', { n: 500 });
    const [invoice] = await story.invoices();
    expect(await story.lines()).toEqual([
      [
        ['usage', '7', 70],
        ['minimum', null, 930],
      ],
    ]);
    expect((body as { total: number }).total).toBe(invoice?.total);
    await story.advance('2026-06-01T00:00:00.000Z');
    expect(await story.invoices()).toEqual([
      expect.objectContaining({ reason: 'end', total: 1_000 }),
      expect.objectContaining({ reason: 'late_usage', total: 4_070 }),
    ]);
    await story.verify();
  });

  it('is discounted and taxed like any line, and what is taken back gives back what was paid', async () => {
    const story = await Story.begin(engine, START);
    const rate = await engine.http.post('/v1/tax-rates').send({ name: 'VAT', percentage: '20' });
    const { id: taxRate } = rate.body as { id: string };
    await engine.http.patch(`/v1/customers/${story.customerId}`).send({ tax_rate_ids: [taxRate] });
    const coupon = { code: 'HALF-OFF', type: 'percent', percent_off: '50', duration: 'once' };
    await engine.http.post('/v1/coupons').send(coupon);
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([{ ...perUnit, meter_id, maximum_amount: 900 }]);
    await story.subscribe(id, { coupon: 'HALF-OFF' });
    await story.reportUsage(event, START, { n: 100 });
    await story.advance('2026-02-05T00:00:00.000Z');
    await story.reportUsage(event, START, { n: -70 });
    await story.advance('2026-03-01T00:00:00.000Z');
    expect(
      (await story.invoices()).map(({ subtotal, discount, tax, total }) => [
        subtotal,
        discount,
        tax,
        total,
      ]),
    ).toEqual([
      [900, 450, 90, 540],
      // 300 of 900 are left: two thirds of what was paid.
      [-300, 0, -60, -360],
    ]);
    await story.verify();
  });

  it('belongs to the local period that contains its instant, also when summer time starts', async () => {
    const story = await Story.begin(engine, '2026-03-01T12:00:00.000Z', {
      timezone: 'America/New_York',
    });
    const { id: meter_id, event } = await story.meter({ aggregation: 'count' });
    const { id } = await story.planOf([{ ...perUnit, meter_id }], { interval: 'week' });
    await story.subscribe(id, { billing_anchor: 'calendar' });
    await story.advance('2026-03-20T00:00:00.000Z');
    // Local midnights of Mondays: 05:00 UTC before 8 March, 04:00 after.
    for (const at of [
      '2026-03-02T04:59:59.999Z',
      '2026-03-02T05:00:00.000Z',
      '2026-03-09T03:59:59.999Z',
      '2026-03-09T04:00:00.000Z',
      '2026-03-16T03:30:00.000Z',
    ]) {
      await story.reportUsage(event, at);
    }
    await story.advance('2026-03-23T04:00:00.000Z');
    const late = (await story.invoices()).at(-1)?.lines ?? [];
    expect(late.map(({ quantity, period_start }) => [period_start, quantity])).toEqual([
      ['2026-03-01T12:00:00.000Z', '1'],
      ['2026-03-02T05:00:00.000Z', '2'],
      ['2026-03-09T04:00:00.000Z', '2'],
    ]);
    await story.verify();
  });

  it('with a percentage price is charged per event, in the order in which the events happened', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter();
    const percentage = {
      name: 'Fees',
      model: 'percentage',
      timing: 'in_arrears',
      rate: '0.012',
      fixed_amount: 10,
      free_units: '2',
      free_amount: 1_000,
      event_maximum_amount: 60,
      meter_id,
    };
    const { id } = await story.planOf([percentage]);
    await story.subscribe(id);
    // By time: 400 is free, of 900 the 300 beyond 1000 are charged, 5000 costs 70, at most 60.
    await story.reportUsage(event, '2026-01-01T00:00:00.003Z', { n: '5000' });
    await story.reportUsage(event, '2026-01-01T00:00:00.001Z', { n: 400 });
    await story.reportUsage(event, '2026-01-01T00:00:00.002Z', { n: 900 });
    await story.advance('2026-02-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([[['usage', '6300', 74]]]);
    await story.verify();
  });

  it('cannot have a price that its meter does not support', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id } = await story.meter({ aggregation: 'max' });
    const timing = 'in_arrears';
    const prices = [
      { name: 'Fees', model: 'percentage', timing, rate: '0.1', meter_id },
      { ...perUnit, meter_id, by_group: true },
    ];
    const answer = await engine.http
      .post('/v1/plans')
      .send({ code: 'refused', name: 'Plan', currency: 'USD', interval: 'month', prices });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'price_terms_contradict',
      errors: [{ pointer: '/prices/0/meter_id' }, { pointer: '/prices/1/by_group' }],
    });
  });

  it('is explained by exactly its events, forever', async () => {
    const story = await Story.begin(engine, START);
    const { id: meter_id, event } = await story.meter({ group_by: ['region'] });
    const { id } = await story.planOf([base, { ...perUnit, meter_id, by_group: true }]);
    await story.subscribe(id);
    for (const n of [1, 2, 4]) await story.reportUsage(event, START, { n, region: 'eu' });
    const key = await story.reportUsage(event, START, { n: 8, region: 'us' });
    await story.advance('2026-02-02T00:00:00.000Z');
    await story.reportUsage(event, START, { n: 16, region: 'eu' });
    const answer = await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key });
    expect(answer.status).toBe(200);
    await story.advance('2026-03-02T00:00:00.000Z');
    const countedBy = async (invoice: string, line: string): Promise<readonly unknown[]> => {
      const path = `/v1/invoices/${invoice}/lines/${line}/events?limit=2`;
      const counted: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const url: string = cursor === '' ? path : `${path}&cursor=${cursor}`;
        const { body } = await engine.http.get(url);
        const page = body as {
          data: { properties: { n: number } }[];
          next_cursor: string | null;
        };
        counted.push(...page.data.map(({ properties }) => properties.n));
        cursor = page.next_cursor;
      }
      return counted;
    };
    const invoices = await story.invoices();
    const found: unknown[] = [];
    for (const invoice of invoices) {
      for (const line of invoice.lines.filter(({ type }) => type === 'usage')) {
        found.push([
          line.description,
          line.quantity,
          line.amount,
          await countedBy(invoice.id, line.id),
        ]);
      }
    }
    expect(found).toEqual([
      ['Calls (eu)', '7', 70, [1, 2, 4]],
      ['Calls (us)', '8', 80, [8]],
      ['Calls (late usage)', '8', 80, [1, 2, 4, 16]],
    ]);
    const [first] = invoices;
    const recurring = `/v1/invoices/${first?.id}/lines/${first?.lines[0]?.id}/events`;
    expect((await engine.http.get(recurring)).body).toMatchObject({
      code: 'invoice_line_without_usage',
    });
    await story.verify();
  });

  it('that arrives while its period is billed is billed once, on that invoice or as late usage', async () => {
    const story = await Story.begin(engine, '2026-01-31T12:00:00.000Z');
    const { id: meter_id, event } = await story.meter();
    const { id } = await story.planOf([{ ...perUnit, meter_id }]);
    await story.subscribe(id, { start_at: START });
    const report = async (): Promise<void> => {
      for (let sent = 0; sent < 40; sent += 1) {
        await story.reportUsage(event, '2026-01-31T12:00:00.000Z', { n: 1 });
      }
    };
    await Promise.all([report(), report(), story.advance('2026-02-01T00:00:00.000Z'), report()]);
    await story.advance('2026-03-01T00:00:00.000Z');
    const lines = (await story.invoices()).flatMap((invoice) => invoice.lines);
    const total = (of: (line: (typeof lines)[number]) => number): number =>
      lines.reduce((sum, line) => sum + of(line), 0);
    expect([total(({ quantity }) => Number(quantity)), total(({ amount }) => amount)]).toEqual([
      120, 1_200,
    ]);
    expect((await story.usage()).filter(({ is_late }) => is_late)).toEqual([]);
    await story.verify();
  });
});
