import { post, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-04-01T00:00:00.000Z';
/** The first change, without proration, which postpones its prices to 1 May. */
const POSTPONED = '2026-04-11T00:00:00.000Z';
/** The second change, with 15 of 30 days left. */
const CHANGE = '2026-04-16T00:00:00.000Z';
const MAY = '2026-05-01T00:00:00.000Z';

describe('a change with proration after one without', () => {
  let engine: TestApp;
  let addons = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const base = (amount: number) => ({ name: 'Base', model: 'flat', timing: 'in_advance', amount });
  const seat = { name: 'Seat', model: 'per_unit', timing: 'in_advance', unit_amount: '100' };

  async function addon(): Promise<string> {
    const prices = [{ ...base(600), name: 'Support' }];
    const terms = { code: `support-${(addons += 1)}`, name: 'Support', currency: 'USD', prices };
    const { body } = await engine.http.post('/v1/addons').send(terms).expect(201);
    return (body as { id: string }).id;
  }

  /** Subscribes to a plan with a base fee and seats, and changes to another base fee without proration. */
  async function begin(from: number, to: number, couponOf?: (planId: string) => Promise<string>) {
    const story = await Story.begin(engine, START);
    const [former, next] = [
      await story.planOf([base(from), seat]),
      await story.planOf([base(to), seat]),
    ];
    const terms = couponOf === undefined ? {} : { coupon: await couponOf(former.id) };
    const { id } = await story.subscribe(former.id, terms);
    await story.advance(POSTPONED);
    await story.command(id, 'change', { plan_id: next.id, when: 'now', proration: 'none' });
    await story.advance(CHANGE);
    const change = (body: object) => story.command(id, 'change', { when: 'now', ...body });
    return { story, id, former: former.id, next: next.id, change };
  }

  /** Amounts of the invoices after the first, without those of seats for May. */
  const since = async (story: Story) => (await story.amounts()).slice(1);

  it.each([
    [3_000, 9_000],
    [9_000, 3_000],
  ])('from %d to %d that names nothing changes nothing', async (from, to) => {
    const { story, id, next, change } = await begin(from, to);
    const before = await story.subscription(id);
    await change({});
    await change({ plan_id: next, quantity: '1.0' });
    expect(await story.subscription(id)).toEqual(before);
    await story.advance(MAY);
    expect(await since(story)).toEqual([[to, 100]]);
    await story.verify();
  });

  it.each([
    [3_000, 9_000],
    [9_000, 3_000],
  ])('from %d to %d bills another quantity alone', async (from, to) => {
    const { story, change } = await begin(from, to);
    await change({ quantity: '3' });
    expect(await since(story)).toEqual([[150, -50]]);
    await story.advance(MAY);
    expect(await since(story)).toEqual([
      [150, -50],
      [to, 300],
    ]);
    await story.verify();
  });

  it('bills an add-on alone', async () => {
    const { story, change } = await begin(3_000, 9_000);
    await change({ addons: [{ addon_id: await addon() }] });
    await story.advance(MAY);
    expect(await since(story)).toEqual([[300], [9_000, 100, 600]]);
    await story.verify();
  });

  it('leaves an add-on that was removed to the end of the period', async () => {
    const story = await Story.begin(engine, START);
    const plan = await story.planOf([base(3_000), seat]);
    const { id } = await story.subscribe(plan.id, { addons: [{ addon_id: await addon() }] });
    await story.advance(POSTPONED);
    await story.command(id, 'change', { addons: [], when: 'now', proration: 'none' });
    await story.advance(CHANGE);
    await story.command(id, 'change', { quantity: '2', when: 'now' });
    await story.advance(MAY);
    expect(await since(story)).toEqual([
      [100, -50],
      [3_000, 200],
    ]);
    await story.verify();
  });

  it('back to the former plan undoes it, with one quantity for all usage of the period', async () => {
    const story = await Story.begin(engine, START);
    const { id: meterId, event } = await story.meter({ aggregation: 'count' });
    const reportNine = async (timestamp: string): Promise<void> => {
      for (let count = 0; count < 9; count += 1) await story.reportUsage(event, timestamp);
    };
    const calls = {
      name: 'Calls',
      model: 'package',
      timing: 'in_arrears',
      meter_id: meterId,
      package_size: '1',
      unit_amount: '100',
      free_units: '10',
    };
    const former = await story.planOf([base(3_000), calls]);
    const next = await story.planOf([base(6_000), calls]);
    const { id } = await story.subscribe(former.id);
    await story.advance(POSTPONED);
    await reportNine('2026-04-05T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: next.id, when: 'now', proration: 'none' });
    await story.advance(CHANGE);
    await story.command(id, 'change', { plan_id: former.id, when: 'now' });
    await reportNine(CHANGE);
    await story.advance(MAY);
    // 18 calls, 10 of them free.
    expect(await since(story)).toEqual([[3_000, 800]]);
    await story.verify();
  });

  it.each(['another plan', 'another version'])(
    'to a quantity that was postponed before still bills %s from the next period on',
    async (target) => {
      const dear = [{ ...seat, unit_amount: '120' }];
      const story = await Story.begin(engine, START);
      const plan = await story.planOf([seat]);
      const { id } = await story.subscribe(plan.id, { quantity: '10' });
      await story.advance(POSTPONED);
      if (target === 'another version') {
        await post(engine, `/v1/plans/${plan.id}/versions`, { prices: dear });
      }
      const terms =
        target === 'another version'
          ? { plan_version: 'latest' }
          : { plan_id: (await story.planOf(dear)).id };
      const change = (body: object) => story.command(id, 'change', { when: 'now', ...body });
      await change({ ...terms, proration: 'none' });
      await change({ quantity: '12', proration: 'none' });
      await story.advance(CHANGE);
      await change({ quantity: '10' });
      await story.advance('2026-06-01T00:00:00.000Z');
      expect(await story.amounts()).toEqual([[1_000], [1_200], [1_200]]);
      await story.verify();
    },
  );

  it('to a quantity of an add-on that was postponed before bills it from the next period on', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe((await story.planOf([seat])).id);
    const terms = { code: 'extra', name: 'Extra', currency: 'USD', prices: [seat] };
    const { id: addon_id } = await post(engine, '/v1/addons', terms);
    const change = (quantity: string, fields: object = {}) =>
      story.command(id, 'change', { addons: [{ addon_id, quantity }], when: 'now', ...fields });
    await change('2', { proration: 'none' });
    await change('3', { proration: 'none' });
    await story.advance(CHANGE);
    await change('2');
    await story.advance('2026-06-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[100], [100, 200], [100, 200]]);
    await story.verify();
  });

  describe('with coupons for certain plans', () => {
    let codes = 0;

    async function halfOf(planId: string): Promise<string> {
      const code = `HALF${(codes += 1)}`;
      const terms = { type: 'percent', percent_off: '50', duration: 'forever' };
      await post(engine, '/v1/coupons', { code, ...terms, plan_ids: [planId] });
      return code;
    }

    /** Returns the amount and the discount of each line of the last invoice. */
    const lastOf = async (story: Story) =>
      (await story.invoices())
        .at(-1)
        ?.lines.map(({ amount, discount }) => [amount, discount] as const)
        .sort(([one], [other]) => other - one);

    it.each([
      ['the new', 4_500, 50],
      ['the former', 0, 0],
    ])('bills a new version of the new plan with those of %s plan', async (of, ...discounts) => {
      const isNew = of === 'the new';
      const { story, id, next, change } = await begin(3_000, 6_000, isNew ? undefined : halfOf);
      if (isNew) await story.command(id, 'coupons', { code: await halfOf(next) });
      await post(engine, `/v1/plans/${next}/versions`, { prices: [base(9_000), seat] });
      await change({ plan_version: 'latest' });
      await story.advance(MAY);
      expect(await lastOf(story)).toEqual([
        [9_000, discounts[0]],
        [100, discounts[1]],
      ]);
      await story.verify();
    });

    it('bills another quantity at the prices of the new plan from the next period on', async () => {
      const { story, id, next, change } = await begin(3_000, 3_000);
      await story.command(id, 'coupons', { code: await halfOf(next) });
      await change({ quantity: '3' });
      await story.advance(MAY);
      expect(await lastOf(story)).toEqual([
        [3_000, 1_500],
        [300, 150],
      ]);
      await story.verify();
    });
  });

  it('back to a newer version of the former plan continues the prices that did not change', async () => {
    const { story, former, change } = await begin(3_000, 6_000);
    await post(engine, `/v1/plans/${former}/versions`, { prices: [base(9_000), seat] });
    await change({ plan_id: former });
    await story.advance(MAY);
    expect(await since(story)).toEqual([
      [4_500, -1_500],
      [100, 9_000],
    ]);
    await story.verify();
  });

  it('to a third plan replaces both', async () => {
    const { story, change } = await begin(3_000, 9_000);
    await change({ plan_id: await story.plan(6_000) });
    await story.advance(MAY);
    expect(await since(story)).toEqual([[3_000, -1_500, -50], [6_000]]);
    await story.verify();
  });

  describe('of the quantity', () => {
    /** 1 seat up to the change at noon, and 3 seats after it, at 100 a day. */
    async function begin(former: string, next: string, timing: string) {
      const story = await Story.begin(engine, START);
      const seats = (unit_amount: string) => [{ ...seat, timing, unit_amount }];
      const plan = await story.planOf(seats('3000'), { proration: former });
      const { id, plan_version_id: first } = await story.subscribe(plan.id);
      const activate = (unit_amount: string, proration: string) =>
        post(engine, `/v1/plans/${plan.id}/versions`, { prices: seats(unit_amount), proration });
      const change = (body: object) =>
        story.command(id, 'change', { when: 'now', proration: 'prorate', ...body });
      await story.advance(POSTPONED);
      await activate('6000', next);
      await change({ plan_version: 'latest', proration: 'none' });
      await story.advance('2026-04-16T12:00:00.000Z');
      await change({ quantity: '3' });
      const cancelAt = async (at: string): Promise<void> => {
        await story.advance(at);
        await story.command(id, 'cancel', { when: 'now', credit_unused: true });
      };
      return { story, first, activate, change, cancelAt };
    }

    const sumOf = async (story: Story, isCounted: (start: string) => boolean): Promise<number> =>
      (await story.invoices())
        .flatMap(({ lines }) => lines)
        .filter(({ period_start }) => isCounted(period_start ?? ''))
        .reduce((total, { amount }) => total + amount, 0);

    it.each([
      ['day', 'second', 'in_advance', 1_500 + 3 * 1_500],
      ['second', 'day', 'in_advance', 1_550 + 3 * 1_450],
      ['second', 'day', 'in_arrears', 1_550 + 3 * 1_450],
      ['day', 'none', 'in_advance', 1_500 + 3 * 1_500],
    ])(
      'counts both sides as the former version, by %s, if the postponed one is by %s (%s)',
      async (former, next, timing, expected) => {
        const { story } = await begin(former, next, timing);
        await story.advance(MAY);
        expect(await sumOf(story, (start) => start < MAY)).toBe(expected);
        await story.verify();
      },
    );

    it.each([
      ['day', 'none', 'in_advance', 1_500 + 3 * 500],
      ['day', 'second', 'in_advance', 1_500 + 3 * 500],
      ['second', 'day', 'in_advance', 1_550 + 3 * 400],
      // In advance, an end is not credited.
      ['none', 'second', 'in_advance', 1_500 + 3 * 1_500],
      ['none', 'second', 'in_arrears', 1_500 + 3 * 500],
    ])(
      'ends as the former version says, by %s, if the postponed one is by %s (%s)',
      async (former, next, timing, expected) => {
        const { story, cancelAt } = await begin(former, next, timing);
        await cancelAt('2026-04-20T12:00:00.000Z');
        expect(await sumOf(story, () => true)).toBe(expected);
        await story.verify();
      },
    );

    // 9,000 for the 31 days of May. With `none`, an end is billed in full.
    describe.each(['the former version', 'a newer version with its terms'])('and then %s', (to) => {
      it.each([
        ['day', 'none', 'in_advance', 9_000 - 4_355],
        ['day', 'second', 'in_arrears', 4_645],
        ['second', 'none', 'in_advance', 9_000 - 4_500],
        ['none', 'second', 'in_arrears', 9_000],
      ])(
        'bills nothing, and ends later by %s, if the postponed one is by %s (%s)',
        async (former, next, timing, expected) => {
          const { story, first, activate, change, cancelAt } = await begin(former, next, timing);
          const before = await story.amounts();
          await story.advance('2026-04-20T00:00:00.000Z');
          const isFormer = to === 'the former version';
          if (!isFormer) await activate('3000', former);
          await change({ plan_version: isFormer ? first : 'latest' });
          expect(await story.amounts()).toEqual(before);
          await cancelAt('2026-05-16T12:00:00.000Z');
          expect(await sumOf(story, (start) => start >= MAY)).toBe(expected);
          await story.verify();
        },
      );
    });
  });
});

it('a change credits a short first calendar period that was billed in full by its days', async () => {
  const engine = await startTestApp();
  const story = await Story.begin(engine, '2026-04-10T00:00:00.000Z');
  const none = await story.plan(3_000, { proration: 'none' });
  const { id } = await story.subscribe(none, { billing_anchor: 'calendar' });
  await story.advance(CHANGE);
  await story.command(id, 'change', { plan_id: await story.plan(6_000), when: 'now' });
  // 15 of the 21 days that were billed are left. A whole month has 30.
  expect(await story.amounts()).toEqual([[3_000], [3_000, -2_143]]);
  await story.verify();
  await engine.close();
});
