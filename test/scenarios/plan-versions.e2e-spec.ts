import { Story, startTestApp, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

const seats = (unit_amount: string) => [
  { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount },
];

describe('versions of a plan under a running subscription', () => {
  let engine: TestApp;
  let codes = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const send = async (path: string, body: object) => {
    const { status, body: answer } = await engine.http.post(path).send(body);
    return { status, body: answer as Record<string, unknown> };
  };

  const addon = async (unit_amount: string): Promise<string> => {
    codes += 1;
    const terms = { code: `extra-${codes}`, name: 'Extra', currency: 'USD' };
    const { body } = await send('/v1/addons', { ...terms, prices: seats(unit_amount) });
    return String(body['id']);
  };

  const archive = async (path: string): Promise<void> => {
    expect((await engine.http.delete(path)).status).toBe(204);
  };

  const eventTypes = async (id: string) => (await eventsOf(engine, id)).map(({ type }) => type);

  /** Subscribes to one seat at 10.00 a month on 1 March, and creates a second version of the plan; it is 16 March. */
  async function onVersionOne(second: object = { prices: seats('5000') }) {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const planId = await story.seats('1000');
    const { id } = await story.subscribe(planId);
    const versionOne = (await story.subscription(id)).plan_version_id;
    const { status, body } = await send(`/v1/plans/${planId}/versions`, second);
    expect(status).toBe(201);
    await story.advance('2026-03-16T00:00:00.000Z');
    return { story, planId, id, versionOne, versionTwo: String(body['id']) };
  }

  it('a change of only the quantity keeps the version', async () => {
    const { story, id, versionOne } = await onVersionOne();
    const changed = await story.command(id, 'change', { quantity: '2', when: 'now' });
    expect(changed).toMatchObject({ quantity: '2', plan_version_id: versionOne });
    // 16 of 31 days of one more seat.
    expect((await story.invoices()).map(({ total }) => total)).toEqual([1_000, 516]);
    await story.advance('2026-04-01T00:00:00.000Z');
    expect((await story.invoices()).at(-1)?.total).toBe(2_000);
    await story.verify();
  });

  it.each([
    ['the same quantity', { quantity: '1' }],
    ['the same quantity in another notation', { quantity: '1.00' }],
    ['the same add-ons', { addons: [] }],
    ['nothing', {}],
    ['the current version', { plan_version: 'current' }],
  ])('%s is a no-op: no lines, no event, nothing written', async (_, change) => {
    const { story, id } = await onVersionOne();
    const before = await story.subscription(id);
    const recorded = await eventTypes(id);
    expect(await story.command(id, 'change', { ...change, when: 'now' })).toEqual(before);
    expect(await story.command(id, 'change', { ...change, when: 'period_end' })).toEqual(before);
    expect(await story.subscription(id)).toEqual(before);
    expect(await eventTypes(id)).toEqual(recorded);
    expect((await story.invoices()).map(({ total }) => total)).toEqual([1_000]);
    const { body } = await engine.http.get(`/v1/subscriptions/${id}/scheduled-changes`);
    expect(body).toMatchObject({ data: [] });
  });

  it('a new add-on bills only the add-on', async () => {
    const { story, id, versionOne } = await onVersionOne();
    const addons = [{ addon_id: await addon('100') }];
    const changed = await story.command(id, 'change', { addons, when: 'now' });
    expect(changed.plan_version_id).toBe(versionOne);
    expect(await story.amounts()).toEqual([[1_000], [52]]);
    await story.verify();
  });

  it('a second version with another interval does not move the anchor', async () => {
    const { story, id } = await onVersionOne({ interval: 'year', prices: seats('9000') });
    const changed = await story.command(id, 'change', { quantity: '2', when: 'now' });
    expect(changed).toMatchObject({
      current_period_start: '2026-03-01T00:00:00.000Z',
      current_period_end: '2026-04-01T00:00:00.000Z',
    });
    expect((await story.invoices()).map(({ total }) => total)).toEqual([1_000, 516]);
  });

  it.each([
    ['`plan_version: latest`', () => ({ plan_version: 'latest' })],
    ['its id', ({ versionTwo }: { versionTwo: string }) => ({ plan_version: versionTwo })],
    ['the plan itself', ({ planId }: { planId: string }) => ({ plan_id: planId })],
  ])('%s changes the subscription to the second version', async (_, change) => {
    const begun = await onVersionOne();
    const { story, id, versionTwo } = begun;
    const changed = await story.command(id, 'change', { ...change(begun), when: 'now' });
    expect(changed.plan_version_id).toBe(versionTwo);
    expect(await story.amounts()).toEqual([[1_000], [2_581, -516]]);
    await story.verify();
  });

  describe('with a price that has the same terms', () => {
    const flat = (amount: number) => [
      { name: 'Support', model: 'flat', timing: 'in_advance', amount },
    ];

    /** Returns the amounts of the newest invoice, the lowest first. */
    const newest = async (story: Story): Promise<readonly number[]> =>
      [...((await story.amounts()).at(-1) ?? [])].sort((one, other) => one - other);

    it.each([
      ['alone', seats('1000'), [[1_000]], [1_000]],
      ['written differently', seats('1000.00'), [[1_000]], [1_000]],
      ['beside a new one', [...flat(3_100), ...seats('1000')], [[1_000], [1_600]], [1_000, 3_100]],
    ])('%s bills nothing for it at the change', async (_, prices, amounts, renewal) => {
      const { story, id, versionTwo } = await onVersionOne({ prices });
      const latest = { plan_version: 'latest', when: 'now' };
      const changed = await story.command(id, 'change', latest);
      expect(changed.plan_version_id).toBe(versionTwo);
      expect(await story.amounts()).toEqual(amounts);
      expect(await story.command(id, 'change', latest)).toEqual(changed);
      await story.advance('2026-04-01T00:00:00.000Z');
      expect(await newest(story)).toEqual(renewal);
      await story.command(id, 'change', { quantity: '2', when: 'now' });
      expect(await newest(story)).toEqual([-1_000, 2_000]);
      await story.command(id, 'cancel', { when: 'now', credit_unused: true });
      await story.verify();
    });

    it('and a name of digits, bills nothing for it at the change or the renewal', async () => {
      const named = (name: string) => seats('1000').map((price) => ({ ...price, name }));
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const plan = await story.planOf(named('0815'));
      const { id } = await story.subscribe(plan.id);
      const latest = { plan_version: 'latest', when: 'now' };
      await send(`/v1/plans/${plan.id}/versions`, { prices: [...flat(3_100), ...named('0815')] });
      await story.command(id, 'change', { ...latest, when: 'period_end' });
      await story.advance('2026-04-01T00:00:00.000Z');
      expect(await newest(story)).toEqual([1_000, 3_100]);
      await send(`/v1/plans/${plan.id}/versions`, { prices: named('0815') });
      await story.command(id, 'change', latest);
      expect(await newest(story)).toEqual([-3_100]);
      await story.verify();
    });

    it('counts its usage as one quantity over the change, and corrects late usage of it', async () => {
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const { id: meter_id, event } = await story.meter();
      const tiers = [
        { up_to: '10', unit_amount: '0' },
        { up_to: null, unit_amount: '100' },
      ];
      const usage = { name: 'Calls', model: 'graduated', timing: 'in_arrears', tiers, meter_id };
      const plan = await story.planOf([usage]);
      const { id } = await story.subscribe(plan.id);
      await story.advance('2026-03-10T00:00:00.000Z');
      await story.reportUsage(event, '2026-03-09T00:00:00.000Z', { n: 9 });
      await send(`/v1/plans/${plan.id}/versions`, { prices: [...flat(3_100), usage] });
      await story.command(id, 'change', { plan_version: 'latest', when: 'now' });
      await story.advance('2026-04-02T00:00:00.000Z');
      await story.reportUsage(event, '2026-03-20T00:00:00.000Z', { n: 9 });
      await story.advance('2026-05-01T00:00:00.000Z');
      const usageLines = (await story.lines()).flat().filter(([type]) => type === 'usage');
      expect(usageLines.map(([, quantity, amount]) => [quantity, amount])).toEqual([
        ['9', 0],
        ['9', 800],
      ]);
      await story.verify();
    });

    it('keeps the discounts of coupons for the plan', async () => {
      const { story, planId, id } = await onVersionOne({ prices: [...seats('1000'), ...flat(10)] });
      codes += 1;
      const half = { type: 'percent', percent_off: '50', duration: 'forever', plan_ids: [planId] };
      await send('/v1/coupons', { code: `HALF${codes}`, name: 'Half', ...half });
      await story.command(id, 'change', { plan_version: 'latest', when: 'now' });
      const { status } = await send(`/v1/subscriptions/${id}/coupons`, { code: `HALF${codes}` });
      expect(status).toBe(200);
      await story.advance('2026-04-01T00:00:00.000Z');
      expect((await story.invoices()).at(-1)).toMatchObject({ subtotal: 1_010, discount: 505 });
    });

    it.each([
      ['another name', { prices: seats('1000').map((price) => ({ ...price, name: 'Users' })) }],
      ['another proration', { proration: 'second', prices: seats('1000') }],
    ])('but %s is another price', async (_, second) => {
      const { story, id } = await onVersionOne(second);
      await story.command(id, 'change', { plan_version: 'latest', when: 'now' });
      expect(await story.amounts()).toEqual([[1_000], [516, -516]]);
    });

    it('in another plan is another price, to which other coupons apply', async () => {
      const { story, id } = await onVersionOne();
      const plan_id = await story.seats('1000');
      await story.command(id, 'change', { plan_id, when: 'now' });
      expect(await story.amounts()).toEqual([[1_000], [516, -516]]);
    });
  });

  it('an older version of another plan can be named by its id', async () => {
    const { story, planId, versionOne } = await onVersionOne();
    const { id } = await story.subscribe(await story.plan(3_100));
    const change = { plan_id: planId, plan_version: versionOne, when: 'now' };
    expect((await story.command(id, 'change', change)).plan_version_id).toBe(versionOne);
  });

  it('a version that belongs to another plan is refused', async () => {
    const { story, planId, id, versionOne } = await onVersionOne();
    const other = await story.plan(100);
    const path = `/v1/subscriptions/${id}/change`;
    const refusals = [
      [{ plan_id: other, plan_version: versionOne }, 422, 'reference_not_found'],
      [{ plan_version: 'planv_01h455vb4pex5vsknk084sn02q' }, 422, 'reference_not_found'],
      [{ plan_id: other, plan_version: 'current' }, 422, 'subscription_terms_contradict'],
      [{ plan_id: planId, plan_version: 'newest' }, 400, 'validation_failed'],
    ] as const;
    for (const [change, status, code] of refusals) {
      const answer = await send(path, { ...change, when: 'now' });
      expect(answer).toMatchObject({ status, body: { code } });
    }
    expect((await story.invoices()).length).toBe(1);
  });

  describe('after the plan and the add-on were archived', () => {
    async function onArchived() {
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const planId = await story.seats('1000');
      const addonId = await addon('100');
      const { id } = await story.subscribe(planId, { addons: [{ addon_id: addonId }] });
      await archive(`/v1/plans/${planId}`);
      await archive(`/v1/addons/${addonId}`);
      await story.advance('2026-03-16T00:00:00.000Z');
      return { story, planId, addonId, id };
    }

    it('a subscriber can change quantities, pause, resume, renew and end', async () => {
      const { story, planId, addonId, id } = await onArchived();
      await story.command(id, 'change', { quantity: '2', when: 'now' });
      await story.command(id, 'change', {
        plan_id: planId,
        addons: [{ addon_id: addonId, quantity: '3' }],
        when: 'now',
      });
      await story.command(id, 'pause');
      await story.command(id, 'resume');
      await story.advance('2026-04-01T00:00:00.000Z');
      expect(await story.amounts()).toEqual([
        [1_000, 100],
        [1_032, -516],
        [155, -52],
        [2_000, 300],
      ]);
      await story.command(id, 'change', { quantity: '1', when: 'period_end' });
      await story.advance('2026-05-01T00:00:00.000Z');
      expect((await story.amounts()).at(-1)).toEqual([300, 1_000]);
      expect((await story.command(id, 'cancel', { when: 'now' })).status).toBe('canceled');
      await story.verify();
    });

    it('other customers cannot buy them', async () => {
      const { story, planId, addonId } = await onArchived();
      const { id } = await story.subscribe(await story.plan(3_100));
      const path = `/v1/subscriptions/${id}/change`;
      for (const change of [{ plan_id: planId }, { addons: [{ addon_id: addonId }] }]) {
        const answer = await send(path, { ...change, when: 'now' });
        expect(answer).toMatchObject({ status: 422, body: { code: 'reference_not_found' } });
      }
    });

    it('a subscriber of an older version cannot change to the last one', async () => {
      const { story, planId, id } = await onVersionOne();
      await archive(`/v1/plans/${planId}`);
      const path = `/v1/subscriptions/${id}/change`;
      for (const change of [{ plan_version: 'latest' }, { plan_id: planId }]) {
        const answer = await send(path, { ...change, when: 'now' });
        expect(answer).toMatchObject({ status: 422, body: { code: 'reference_not_found' } });
      }
      const kept = await story.command(id, 'change', { quantity: '2', when: 'now' });
      expect(kept.quantity).toBe('2');
    });
  });

  it.each([
    ['second', 'day'],
    ['day', 'second'],
    ['none', 'day'],
  ])(
    'an add-on continues unchanged from a plan with proration %s to one with %s',
    async (from, to) => {
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const addons = [{ addon_id: await addon('310000') }];
      const { id } = await story.subscribe(await story.plan(0, { proration: from }), { addons });
      await story.advance('2026-03-16T18:00:00.000Z');
      const plan_id = await story.plan(0, { proration: to });
      await story.command(id, 'change', { plan_id, when: 'now' });
      const billed = (await story.invoices()).reduce((sum, { total }) => sum + total, 0);
      expect(billed).toBe(310_000);
      // The version that the change leads to counts it: 15 days and 6 hours of 31 days, or 16 dates.
      await story.command(id, 'change', { addons: [], when: 'now', proration: 'prorate' });
      const left = (await story.invoices()).reduce((sum, { total }) => sum + total, 0);
      expect(left).toBe(310_000 - (to === 'second' ? 152_500 : 160_000));
      await story.verify();
    },
  );
});
