import { createCoupon } from '../support/coupons';
import { post, startTestApp, Story, type TestApp } from '../support/story';

describe('changes of a subscription', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('upgrades and downgrades in one period, and twice on one day, credit and charge the days that are left', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const small = await story.plan(3_100);
    const large = await story.plan(6_200);
    const { id } = await story.subscribe(small);
    // 11 March: 21 of 31 days are left.
    await story.advance('2026-03-11T09:00:00.000Z');
    await story.command(id, 'change', { plan_id: large, when: 'now' });
    // 21 March: 11 of 31 days.
    await story.advance('2026-03-21T09:00:00.000Z');
    await story.command(id, 'change', { plan_id: small, when: 'now' });
    await story.advance('2026-03-21T18:00:00.000Z');
    await story.command(id, 'change', { plan_id: large, when: 'now' });
    expect(await story.amounts()).toEqual([
      [3_100],
      [4_200, -2_100],
      [1_100, -2_200],
      [2_200, -1_100],
    ]);
    const [first, , down, again] = await story.invoices();
    // The credit of the downgrade lowers the open invoices of the subscription, oldest first.
    expect(first).toMatchObject({ total: 3_100, amount_remaining: 2_000, status: 'open' });
    expect(down).toMatchObject({ total: -1_100, status: 'paid' });
    expect(again).toMatchObject({
      total: 1_100,
      credit_applied: 0,
      amount_due: 1_100,
      status: 'open',
    });
    await story.advance('2026-04-01T00:00:00.000Z');
    expect((await story.amounts()).at(-1)).toEqual([6_200]);
    // 10 days small, 10 large, and from the 21st on large again: the changes on one day cost nothing.
    const march = (await story.invoices()).slice(0, 4).reduce((sum, { total }) => sum + total, 0);
    expect(march).toBe(1_000 + 2_000 + 2_200);
    await story.verify();
  });

  // Half of 16 April belongs to the old plan by the second, and none of it by the day.
  it.each([
    ['day', 'day', [3_000, -1_500], [1_500, 3_000]],
    ['second', 'day', [3_000, -1_500], [1_500, 3_000]],
    ['none', 'day', [3_000, -1_500], [1_500, 3_000]],
    ['second', 'second', [2_900, -1_450], [1_550, 2_900]],
    ['day', 'second', [2_900, -1_450], [1_550, 2_900]],
    ['none', 'second', [2_900, -1_450], [1_550, 2_900]],
  ])(
    'from proration %s to %s count both sides as the new version says',
    async (from, to, change, arrears) => {
      const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
      const planOf = (amount: number, proration: string) =>
        story.planOf(
          (['in_advance', 'in_arrears'] as const).map((timing) => ({
            ...{ name: timing, model: 'flat', timing, amount },
          })),
          { proration },
        );
      const { id } = await story.subscribe((await planOf(3_000, from)).id);
      const plan_id = (await planOf(6_000, to)).id;
      await story.advance('2026-04-16T12:00:00.000Z');
      await story.command(id, 'change', { plan_id, when: 'now' });
      await story.advance('2026-05-01T00:00:00.000Z');
      expect(await story.amounts()).toEqual([[3_000], change, [6_000, ...arrears]]);
      await story.verify();
    },
  );

  it('by day and by second in turn bill each part up to where the next one begins', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const planOf = async (proration: string): Promise<string> => {
      const timings = ['in_advance', 'in_arrears'];
      const prices = timings.map((timing) => ({
        name: timing,
        model: 'flat',
        timing,
        amount: 3_000,
      }));
      return (await story.planOf(prices, { proration })).id;
    };
    const { id } = await story.subscribe(await planOf('second'));
    for (const [at, proration] of [
      ['2026-04-11T12:00:00.000Z', 'day'],
      ['2026-04-16T12:00:00.000Z', 'second'],
      ['2026-04-16T18:00:00.000Z', 'second'],
      ['2026-04-21T12:00:00.000Z', 'day'],
    ] as const) {
      await story.advance(at);
      await story.command(id, 'change', { plan_id: await planOf(proration), when: 'now' });
    }
    await story.advance('2026-05-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([
      [3_000],
      [2_000, -2_000],
      [1_450, -1_450],
      [1_425, -1_425],
      [1_000, -1_000],
      // 10, 5.5, 0.25, 4.25 and 10 days.
      [3_000, 1_000, 550, 25, 425, 1_000],
    ]);
    await story.verify();
  });

  it('to another interval count the old period as the new version says', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const prices = [
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 },
      { name: 'Support', model: 'flat', timing: 'in_arrears', amount: 3_000 },
    ];
    const monthly = await story.planOf(prices, { proration: 'day' });
    const weekly = await story.planOf(prices, { proration: 'second', interval: 'week' });
    const { id } = await story.subscribe(monthly.id);
    await story.advance('2026-04-16T12:00:00.000Z');
    await story.command(id, 'change', { plan_id: weekly.id, when: 'now' });
    expect(await story.amounts()).toEqual([[3_000], [3_000, 1_550, -1_450]]);
    await story.verify();
  });

  it('of quantities in arrears are billed with a line for each part', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const plan = await story.planOf([
      { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '300' },
    ]);
    const { id } = await story.subscribe(plan.id, { quantity: '2' });
    await story.advance('2026-04-11T12:00:00.000Z');
    await story.command(id, 'change', { quantity: '5', when: 'now' });
    await story.advance('2026-05-01T00:00:00.000Z');
    // 10 of 30 days for 2 seats, 20 of 30 for 5.
    expect(await story.amounts()).toEqual([[200, 1_000]]);
    await story.verify();
  });

  it('without proration take effect on the price at the next period', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.seats('1000'), { quantity: '2' });
    await story.advance('2026-03-10T00:00:00.000Z');
    const changed = await story.command(id, 'change', {
      quantity: '7',
      when: 'now',
      proration: 'none',
    });
    expect(changed.quantity).toBe('7');
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[2_000], [7_000]]);
    await story.verify();
  });

  it('of the interval end the period, credit the unused part and start new periods', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-11T12:00:00.000Z');
    const yearly = await story.plan(30_000, { interval: 'year' });
    const changed = await story.command(id, 'change', { plan_id: yearly, when: 'now' });
    expect(changed).toMatchObject({
      current_period_start: '2026-03-11T12:00:00.000Z',
      current_period_end: '2027-03-11T12:00:00.000Z',
    });
    expect(await story.amounts()).toEqual([[3_100], [30_000, -2_100]]);
    await story.advance('2027-03-11T12:00:00.000Z');
    expect((await story.amounts()).at(-1)).toEqual([30_000]);
    await story.verify();
  });

  it.each([
    ['', {}],
    [', with a true-up to the minimum', { minimum_amount: 100_000 }],
  ])(
    'of the interval leave nothing deferred of what was billed on the same day%s',
    async (_, limit) => {
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const seats = {
        name: 'Seats',
        model: 'per_unit',
        timing: 'in_advance',
        unit_amount: '36500',
      };
      const yearly = await story.planOf([{ ...seats, ...limit }], { interval: 'year' });
      const { id } = await story.subscribe(yearly.id);
      await story.advance('2026-03-11T00:00:00.000Z');
      await story.command(id, 'change', { quantity: '2', when: 'now' });
      await story.command(id, 'change', { plan_id: await story.plan(1_000), when: 'now' });
      const path = `/v1/ledger/accounts?customer_id=${story.customerId}`;
      const { body } = await engine.http.get(path);
      const { data } = body as { data: { account: string; balance: string }[] };
      const deferred = data.filter(({ account }) => account === 'deferred_revenue');
      expect(deferred).toMatchObject([{ balance: '-1000' }]);
      await story.verify();
    },
  );

  it.each(['in_advance', 'in_arrears'])(
    'that credit and charge nothing bill no late usage either, with seats %s',
    async (timing) => {
      const story = await Story.begin(engine, '2026-01-16T13:30:00.000Z');
      const meter = await story.meter();
      const plan = await story.planOf([
        { name: 'Seats', model: 'per_unit', timing, unit_amount: '1000' },
        {
          name: 'Calls',
          model: 'per_unit',
          timing: 'in_arrears',
          meter_id: meter.id,
          unit_amount: '10',
        },
      ]);
      const { id } = await story.subscribe(plan.id, { collection: 'send_invoice' });
      await story.advance('2026-02-20T00:00:00.000Z');
      await story.reportUsage(meter.event, '2026-02-01T00:00:00.000Z', { n: 7 });
      // None of the dates of the period is left.
      await story.advance('2026-03-16T10:00:00.000Z');
      const before = await story.invoices();
      await story.command(id, 'change', { quantity: '2', when: 'now' });
      expect(await story.invoices()).toHaveLength(before.length);

      await story.advance('2026-03-16T13:30:00.000Z');
      const renewal = (await story.invoices()).at(-1);
      expect(renewal?.lines.map(({ description, amount }) => [description, amount])).toContainEqual(
        ['Calls (late usage)', 70],
      );
      await story.verify();
    },
  );

  it.each(['with', 'without'])(
    'of the interval bill late usage, even if they credit and charge nothing, %s usage in the new plans',
    async (usage) => {
      const story = await Story.begin(engine, '2026-01-16T13:30:00.000Z');
      const meter = await story.meter();
      const seats = { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' };
      const calls = { ...seats, name: 'Calls', meter_id: meter.id, unit_amount: '10' };
      const later = usage === 'with' ? [seats, calls] : [seats];
      const { id: former } = await story.planOf([seats, calls]);
      const { id: monthly } = await story.planOf(later);
      const { id: yearly } = await story.planOf(later, { interval: 'year' });
      const { id } = await story.subscribe(former, { collection: 'send_invoice' });
      await story.advance('2026-02-20T00:00:00.000Z');
      await story.command(id, 'change', { plan_id: monthly, when: 'period_end' });
      // The period begins on this date, so the change leaves none of its dates to bill.
      await story.advance('2026-03-16T14:00:00.000Z');
      await story.reportUsage(meter.event, '2026-02-01T00:00:00.000Z', { n: 7 });
      await story.command(id, 'change', { plan_id: yearly, when: 'now' });
      const change = (await story.invoices()).at(-1);
      expect(change).toMatchObject({
        reason: 'change',
        lines: [{ description: 'Calls (late usage)', amount: 70 }],
      });
      await story.verify();
    },
  );

  it('for the end of the period wait, can be listed and undone, and take effect at the renewal', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(1_000));
    const large = await story.plan(4_000);
    const path = `/v1/subscriptions/${id}/scheduled-changes`;
    await story.command(id, 'change', { plan_id: large, when: 'period_end' });
    const { body } = await engine.http.get(path);
    expect(body).toMatchObject({
      data: [
        {
          type: 'change',
          status: 'pending',
          effective_at: '2026-04-01T00:00:00.000Z',
          plan_id: large,
        },
      ],
    });
    const refused = await engine.http
      .post(`/v1/subscriptions/${id}/change`)
      .send({ quantity: '2', when: 'now' });
    expect(refused.body).toMatchObject({ status: 409, code: 'subscription_change_pending' });
    const { id: changeId } = (body as { data: { id: string }[] }).data[0] ?? { id: '' };
    expect((await engine.http.delete(`${path}/${changeId}`)).status).toBe(204);
    await story.advance('2026-04-01T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: large, when: 'period_end' });
    await story.advance('2026-05-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[1_000], [1_000], [4_000]]);
    expect((await engine.http.get(path)).body).toMatchObject({
      data: [{ status: 'applied' }, { status: 'undone' }],
    });
    await story.verify();
  });

  it('in a preview show the invoice and change nothing', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const small = await story.plan(3_100);
    const create = await engine.http
      .post('/v1/subscriptions?preview=true')
      .send({ customer_id: story.customerId, plan_id: small });
    expect(create.status).toBe(200);
    expect(create.body).toMatchObject({ total: 3_100, status: 'draft', number: null });
    expect(create.body).not.toHaveProperty('id');
    expect(await story.invoices()).toEqual([]);
    const { id } = await story.subscribe(small);
    await story.advance('2026-03-11T00:00:00.000Z');
    const before = await story.subscription(id);
    const preview = async (command: string, body: object = {}) =>
      (await engine.http.post(`/v1/subscriptions/${id}/${command}?preview=true`).send(body))
        .body as object;
    const large = await story.plan(6_200);
    expect(await preview('change', { plan_id: large, when: 'now' })).toMatchObject({
      lines: [{ amount: 4_200 }, { amount: -2_100 }],
    });
    // The 11th is billed: 20 days are left.
    expect(await preview('cancel', { when: 'now', credit_unused: true })).toMatchObject({
      lines: [{ amount: -2_000 }],
    });
    expect(await preview('cancel', { when: 'now' })).toMatchObject({ lines: [], total: 0 });
    expect(await preview('pause')).toMatchObject({ lines: [] });
    expect(await story.subscription(id)).toEqual(before);
    expect(await story.amounts()).toEqual([[3_100]]);
    await story.verify();
  });

  it('in a preview show the invoice at the end of the period, if the command itself bills nothing', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const seats = { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '310' };
    const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };
    const { id: planId } = await story.planOf([base, seats]);
    const { id, plan_version_id } = await story.subscribe(planId, { quantity: '2' });
    await story.advance('2026-03-11T00:00:00.000Z');
    const large = await story.plan(6_200);
    const bills_at = '2026-04-01T00:00:00.000Z';
    const preview = async (command: string, body: object = {}) =>
      (await engine.http.post(`/v1/subscriptions/${id}/${command}?preview=true`).send(body))
        .body as {
        readonly lines: readonly { readonly amount: number }[];
        readonly plan_version_id: string;
      };
    const amountsOf = ({ lines }: Awaited<ReturnType<typeof preview>>) =>
      lines.map(({ amount }) => amount).sort((one, other) => one - other);
    const changed = await preview('change', { plan_id: large, when: 'period_end' });
    expect(changed).toMatchObject({ bills_at, reason: 'renewal' });
    expect(changed.plan_version_id).not.toBe(plan_version_id);
    expect(amountsOf(changed)).toEqual([620, 6_200]);
    const ended = await preview('cancel', { when: 'period_end' });
    expect(ended).toMatchObject({ bills_at, reason: 'end', plan_version_id });
    expect(amountsOf(ended)).toEqual([620]);
    // 11 of 31 days for two seats, the day of the pause included.
    const paused = await preview('pause');
    expect(paused).toMatchObject({ bills_at, plan_version_id });
    expect(amountsOf(paused)).toEqual([220]);
    await story.command(id, 'pause');
    await story.advance(bills_at);
    expect(await story.amounts()).toEqual([[1_000], [220]]);
    await story.verify();
  });

  describe('that only replace a price in arrears, after another plan was replaced,', () => {
    const perSeat = (name: string) => ({
      name,
      model: 'per_unit',
      timing: 'in_arrears',
      unit_amount: '10',
    });
    const calls = {
      name: 'Calls',
      model: 'per_unit',
      timing: 'in_arrears',
      unit_amount: '100',
    };

    /** Advances to 10 May. In April the customer made five calls, and the plan is replaced on the given day. */
    async function replacedOn(day: 'period_end' | '2026-05-05T00:00:00.000Z') {
      const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
      const { id: meter_id, event } = await story.meter();
      const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 };
      const { id: first } = await story.planOf([base, perSeat('Seats'), { ...calls, meter_id }]);
      const { id: second } = await story.planOf([base, perSeat('Seats'), { ...calls, meter_id }]);
      const { id } = await story.subscribe(first, { quantity: '4' });
      const key = await story.reportUsage(event, '2026-04-01T00:00:00.000Z', { n: 1 });
      await story.reportUsage(event, '2026-04-01T00:00:00.000Z', { n: 4 });
      if (day === 'period_end') {
        await story.command(id, 'change', { plan_id: second, when: day });
      } else {
        await story.advance(day);
        await story.command(id, 'change', { plan_id: second, when: 'now' });
      }
      await story.advance('2026-05-10T00:00:00.000Z');
      return { story, id, key, made: (await story.invoices()).length };
    }

    it.each(['period_end', '2026-05-05T00:00:00.000Z'] as const)(
      '%s, leave late usage to the next invoice that has other lines',
      async (day) => {
        const { story, id, key, made } = await replacedOn(day);
        await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
        await story.command(id, 'change', { quantity: '6', when: 'now' });
        expect(await story.invoices()).toHaveLength(made);
        await story.advance('2026-06-01T00:00:00.000Z');
        const lines = (await story.invoices()).slice(made).flatMap((invoice) => invoice.lines);
        expect(lines).toHaveLength(day === 'period_end' ? 4 : 5);
        expect(lines.filter(({ description }) => description.includes('late'))).toMatchObject([
          { description: 'Calls (late usage)', amount: -100 },
        ]);
        await story.verify();
      },
    );

    it.each(['period_end', '2026-05-05T00:00:00.000Z'] as const)(
      '%s, show the next renewal in a preview',
      async (day) => {
        const { story, id, made } = await replacedOn(day);
        const { body } = await engine.http
          .post(`/v1/subscriptions/${id}/change?preview=true`)
          .send({ quantity: '6', when: 'now' });
        expect(body).toMatchObject({ bills_at: '2026-06-01T00:00:00.000Z', reason: 'renewal' });
        const shown = (body as { readonly total: number }).total;
        await story.command(id, 'change', { quantity: '6', when: 'now' });
        await story.advance('2026-06-01T00:00:00.000Z');
        expect((await story.invoices()).slice(made)).toMatchObject([{ total: shown }]);
      },
    );
  });

  it.each([
    [{}, '2026-04-01T00:00:00.000Z'],
    [{ trial_days: 10 }, '2026-04-11T00:00:00.000Z'],
    [{ start_at: '2026-03-05T00:00:00.000Z', trial_days: 10 }, '2026-04-15T00:00:00.000Z'],
  ])(
    'in a preview of a start %j with nothing in advance show the first invoice',
    async (terms, at) => {
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const base = { name: 'Base', model: 'flat', timing: 'in_arrears', amount: 3_100 };
      const { id: plan_id } = await story.planOf([base]);
      const { body } = await engine.http
        .post('/v1/subscriptions?preview=true')
        .send({ customer_id: story.customerId, plan_id, ...terms });
      expect(body).toMatchObject({ bills_at: at, reason: 'renewal', total: 3_100 });
      await story.subscribe(plan_id, terms);
      await story.advance(at);
      expect(await story.amounts()).toEqual([[3_100]]);
      await story.verify();
    },
  );

  it('in a preview of a coupon before the first payment show the renewal', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const terms = { payment_behavior: 'default_incomplete' };
    const { id } = await story.subscribe(await story.plan(3_100), terms);
    const off = { type: 'percent', percent_off: '50', duration: 'once' };
    const { code } = await createCoupon(engine, off);
    const path = `/v1/subscriptions/${id}/coupons?preview=true`;
    const renewal = { reason: 'renewal', total: 1_550, bills_at: '2026-04-01T00:00:00.000Z' };
    expect((await engine.http.post(path).send({ code })).body).toMatchObject(renewal);
    expect(await story.subscription(id)).toMatchObject({ status: 'incomplete' });
    await story.command(id, 'coupons', { code });
    const [first] = await story.invoices();
    await post(engine, '/v1/payments', {
      customer_id: story.customerId,
      invoice_id: first?.id,
      amount: 3_100,
      currency: 'USD',
      provider: 'manual',
    });
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await story.invoices()).toMatchObject([{ total: 3_100 }, { total: 1_550 }]);
    await story.verify();
  });

  it('of a plan without proration, and its end, credit nothing', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_100, { proration: 'none' }));
    await story.advance('2026-03-16T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect(await story.amounts()).toEqual([[3_100]]);
    await story.verify();
  });

  it.each([
    ['for no time', '2026-04-29T00:00:00.000Z', [2_800, 200]],
    ['for a week', '2026-05-06T00:00:00.000Z', [2_900]],
  ])(
    'a pause of a plan without proration %s bills prices in arrears by the day',
    async (_, resumedAt, parts) => {
      const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
      const fee = { name: 'Fee', model: 'flat', timing: 'in_arrears', amount: 3_000 };
      const plan = await story.planOf([fee], { proration: 'none' });
      const { id } = await story.subscribe(plan.id);
      await story.advance('2026-04-29T00:00:00.000Z');
      await story.command(id, 'pause');
      await story.advance(resumedAt);
      await story.command(id, 'resume');
      await story.advance('2026-05-07T00:00:00.000Z');
      expect(await story.amounts()).toEqual([parts]);
      await story.verify();
    },
  );

  it('to another interval bill prices in arrears of a plan without proration by the day', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const fee = { name: 'Fee', model: 'flat', timing: 'in_arrears', amount: 3_000 };
    const plan = await story.planOf([fee], { proration: 'none' });
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-04-11T12:00:00.000Z');
    const yearly = await story.plan(100, { interval: 'year' });
    await story.command(id, 'change', { plan_id: yearly, when: 'now' });
    expect((await story.amounts()).flat().sort()).toEqual([100, 1_000]);
    await story.verify();
  });

  it('prorated by seconds use the instant as the boundary', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_000, { proration: 'second' }));
    await story.advance('2026-04-16T00:00:00.000Z');
    const large = await story.plan(6_000, { proration: 'second' });
    await story.command(id, 'change', { plan_id: large, when: 'now' });
    expect(await story.amounts()).toEqual([[3_000], [3_000, -1_500]]);
    expect((await story.invoices())[1]?.lines[1]?.proration).toMatchObject({
      numerator: 15 * 86_400,
      denominator: 30 * 86_400,
    });
    await story.verify();
  });
});
