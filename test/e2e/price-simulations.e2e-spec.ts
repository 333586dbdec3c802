import { post, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-01-01T00:00:00.000Z';
const RANGE = { from: START, to: '2027-01-01T00:00:00.000Z' };

const calls = {
  name: 'Calls',
  model: 'graduated',
  timing: 'in_arrears',
  tiers: [
    { up_to: '100', unit_amount: '10', flat_amount: 500 },
    { up_to: null, unit_amount: '5' },
  ],
  minimum_amount: 1_200,
};
const fees = { name: 'Fees', model: 'percentage', timing: 'in_arrears', rate: '0.1' };
const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_100 };
const seats = {
  name: 'Seats',
  model: 'per_unit',
  timing: 'in_advance',
  unit_amount: '310',
  maximum_amount: 700,
};

interface Step {
  readonly type: 'customer' | 'progress' | 'totals' | 'problem';
  readonly customer_id?: string;
  readonly old_amount?: number;
  readonly new_amount?: number;
  readonly detail?: string;
}

describe('a simulation of prices', () => {
  let engine: TestApp;
  let plan: string;
  let prices: readonly object[];
  const stories: Story[] = [];

  /** Simulates the customers of the stories, unless the body says otherwise. */
  async function simulate(body: object): Promise<readonly Step[]> {
    const customer_ids = stories.map(({ customerId }) => customerId);
    const answer = await engine.http
      .post('/v1/prices/simulations')
      .send({ plan_id: plan, ...RANGE, customer_ids, ...body });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('application/x-ndjson');
    return answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Step);
  }

  const amountsOf = async (story: Story): Promise<number> =>
    (await story.invoices()).reduce((total, { subtotal }) => total + subtotal, 0);

  beforeAll(async () => {
    engine = await startTestApp();
    const first = await Story.begin(engine, START);
    const { id: meter_id, event } = await first.meter();
    prices = [base, seats, { ...calls, meter_id }, { ...fees, meter_id }];
    plan = (await first.planOf(prices)).id;
    for (const quantity of ['1', '4']) {
      const story = quantity === '1' ? first : await Story.begin(engine, START);
      stories.push(story);
      const { id } = await story.subscribe(plan, { quantity });
      await story.reportUsage(event, START, { n: Number(quantity) * 60 });
      await story.advance('2026-02-11T00:00:00.000Z');
      await story.reportUsage(event, '2026-01-20T00:00:00.000Z', { n: 15 });
      await story.command(id, 'change', { quantity: '2', when: 'now' });
      await story.advance('2026-03-17T00:00:00.000Z');
      await story.reportUsage(event, '2026-03-16T00:00:00.000Z', { n: '12.5' });
      await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    }
  });

  afterAll(() => engine.close());

  it('with the same prices gives exactly what was invoiced', async () => {
    const steps = await simulate({ prices });
    const [one, other] = stories;
    if (one === undefined || other === undefined) throw new Error('two histories expected');
    const [first, second] = [await amountsOf(one), await amountsOf(other)];
    expect(steps).toEqual([
      {
        type: 'customer',
        customer_id: one.customerId,
        old_amount: first,
        new_amount: first,
        difference: 0,
      },
      {
        type: 'customer',
        customer_id: other.customerId,
        old_amount: second,
        new_amount: second,
        difference: 0,
      },
      { type: 'progress', customers: 2, of: 2 },
      {
        type: 'totals',
        currency: 'USD',
        customers: 2,
        winners: 0,
        losers: 0,
        old_amount: first + second,
        new_amount: first + second,
        difference: 0,
      },
    ]);
    await one.verify();
  });

  it('with other prices gives what customers with those prices were invoiced', async () => {
    const [sold] = stories;
    if (sold === undefined) throw new Error('a history expected');
    const meters = prices.flatMap((price) => ('meter_id' in price ? [price.meter_id] : []));
    const dearer = [
      { ...base, amount: 6_200 },
      { ...seats, unit_amount: '155', maximum_amount: null },
      {
        ...calls,
        model: 'volume',
        minimum_amount: null,
        maximum_amount: 1_300,
        meter_id: meters[0],
      },
      { ...fees, rate: '0.2', fixed_amount: 7, free_units: '1', meter_id: meters[1] },
    ];
    const steps = await simulate({ prices: dearer, customer_ids: [sold.customerId] });
    const other = await Story.begin(engine, START);
    const { id: planId } = await other.planOf(dearer);
    const { id } = await other.subscribe(planId, { quantity: '1' });
    const { body } = await engine.http.get(`/v1/meters/${String(meters[0])}`);
    const { event_name: event } = body as { event_name: string };
    await other.reportUsage(event, START, { n: 60 });
    await other.advance('2026-02-11T00:00:00.000Z');
    await other.reportUsage(event, '2026-01-20T00:00:00.000Z', { n: 15 });
    await other.command(id, 'change', { quantity: '2', when: 'now' });
    await other.advance('2026-03-17T00:00:00.000Z');
    await other.reportUsage(event, '2026-03-16T00:00:00.000Z', { n: '12.5' });
    await other.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect(steps[0]).toMatchObject({
      customer_id: sold.customerId,
      old_amount: await amountsOf(sold),
      new_amount: await amountsOf(other),
    });
    expect(steps.at(-1)).toMatchObject({ type: 'totals', customers: 1, winners: 0, losers: 1 });
  });

  it('of all customers leaves out those on test clocks, unless they are named', async () => {
    const { id } = await post(engine, '/v1/customers', { name: 'In real time' });
    await post(engine, '/v1/subscriptions', { customer_id: id, plan_id: plan, quantity: '1' });
    expect(await simulate({ prices, customer_ids: null })).toMatchObject([
      { type: 'customer', customer_id: id, old_amount: 3_410, new_amount: 3_410 },
      { type: 'progress', customers: 1, of: 1 },
      { type: 'totals', customers: 1 },
    ]);
  });

  it('omits prices that it does not list, and includes periods that start within its range', async () => {
    const [{ amount }] = [base];
    const steps = await simulate({ prices: [base], to: '2026-02-01T00:00:00.000Z' });
    expect(steps.filter(({ type }) => type === 'customer')).toMatchObject([
      { new_amount: amount },
      { new_amount: amount },
    ]);
    expect(steps.at(-1)).toMatchObject({ winners: 2, losers: 0 });
  });

  it('of a plan that sold a price with another timing needs the timing of what was billed', async () => {
    const [before, after] = [await Story.begin(engine, START), await Story.begin(engine, START)];
    const { id: plan_id } = await before.planOf([{ ...base, timing: 'in_arrears' }]);
    await before.subscribe(plan_id);
    await post(engine, `/v1/plans/${plan_id}/versions`, { prices: [base] });
    await after.subscribe(plan_id);
    await before.advance('2026-03-15T00:00:00.000Z');
    await after.advance('2026-03-15T00:00:00.000Z');
    const simulated = async (timing: string, ...of: readonly Story[]) => {
      const customer_ids = of.map(({ customerId }) => customerId);
      const offered = [{ ...base, amount: 4_000, timing }];
      const steps = await simulate({ plan_id, customer_ids, prices: offered });
      return steps.filter(({ type }) => type !== 'progress');
    };
    expect(await simulated('in_advance', after)).toMatchObject([
      { type: 'customer', old_amount: 9_300, new_amount: 12_000 },
      { type: 'totals' },
    ]);
    expect(await simulated('in_arrears', before)).toMatchObject([
      { type: 'customer', old_amount: 6_200, new_amount: 8_000 },
      { type: 'totals' },
    ]);
    for (const timing of ['in_advance', 'in_arrears']) {
      expect(await simulated(timing, before, after)).toMatchObject([
        { type: 'problem', code: 'simulated_price_unmatched' },
      ]);
    }
  });

  it('of all customers names those who were billed at a price that it cannot replace', async () => {
    const { id: plan_id } = await (await Story.begin(engine, START)).planOf([base]);
    const subscribe = async () => {
      const { id } = await post(engine, '/v1/customers', { name: 'In real time' });
      await post(engine, '/v1/subscriptions', { customer_id: id, plan_id });
      return id;
    };
    const billed = [await subscribe(), await subscribe()];
    const later = { ...base, timing: 'in_arrears' };
    await post(engine, `/v1/plans/${plan_id}/versions`, { prices: [later] });
    await subscribe();
    const [problem, ...others] = await simulate({ plan_id, customer_ids: null, prices: [later] });
    expect(problem).toMatchObject({ type: 'problem', code: 'simulated_price_unmatched' });
    expect(problem?.detail).toMatch(
      new RegExp(`^/prices/0 has another .*: price_[0-9a-z]+ was billed to ${billed.join(', ')}$`),
    );
    expect(others).toEqual([]);
  });

  it('needs no matching price for a period without usage that it leaves out', async () => {
    const story = await Story.begin(engine, START);
    const [{ id: sold }, { id: other }] = [await story.meter(), await story.meter()];
    const { id: plan_id } = await story.planOf([{ ...fees, meter_id: sold }]);
    await story.subscribe(plan_id);
    const prices = [{ ...fees, meter_id: other }];
    await post(engine, `/v1/plans/${plan_id}/versions`, { prices });
    await story.advance('2026-02-11T00:00:00.000Z');
    const body = { plan_id, prices, customer_ids: [story.customerId] };
    expect(await simulate(body)).toMatchObject([
      { type: 'problem', code: 'simulated_price_unmatched' },
    ]);
    await engine.database.query(
      `UPDATE usage_billed SET terms = terms - 'billTerms' WHERE terms #>> '{price,priceId}' IN
         (SELECT price.id FROM price JOIN plan_version ON plan_version.id = plan_version_id WHERE plan_id = $1)`,
      [plan_id],
    );
    expect(await simulate(body)).toMatchObject([
      { type: 'progress' },
      { type: 'totals', customers: 0 },
    ]);
  });

  it('is refused if the amounts exceed the range of JSON numbers', async () => {
    const [first, ...others] = prices;
    const expensive = [{ ...first, amount: Number.MAX_SAFE_INTEGER }, ...others];
    expect(await simulate({ prices: expensive })).toMatchObject([
      { type: 'problem', code: 'invoice_too_large' },
    ]);
  });

  it('writes nothing', async () => {
    const count = `SELECT (SELECT count(*) FROM event)::int AS events, (SELECT count(*) FROM invoice)::int AS invoices`;
    const before = await engine.database.query(count);
    await simulate({ prices });
    expect(await engine.database.query(count)).toEqual(before);
  });

  it.each([
    [{ plan_id: 'plan_01h455vb4pex5vsknk084sn02q' }, 422, 'reference_not_found'],
    [{ prices: [{ ...base, name: 'Other' }] }, 422, 'simulated_price_unmatched'],
    [{ prices: [base, base] }, 422, 'simulated_price_unmatched'],
    [{ prices: [calls] }, 422, 'simulated_price_unmatched'],
    [{ prices: [{ ...seats, name: 'Base' }] }, 422, 'simulated_price_unmatched'],
    [{ prices: [{ ...base, timing: 'in_arrears' }] }, 422, 'simulated_price_unmatched'],
    [{ from: RANGE.to, to: RANGE.from }, 422, 'usage_period_empty'],
    [{ to: RANGE.from }, 422, 'usage_period_empty'],
    [{ prices: [{ ...base, unit_amount: '1' }] }, 422, 'price_terms_contradict'],
    [{ prices: [] }, 400, 'validation_failed'],
  ] as const)('refuses %j: %d %s', async (body, status, code) => {
    const answer = await engine.http
      .post('/v1/prices/simulations')
      .send({ plan_id: plan, prices, ...RANGE, ...body });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code });
  });
});
