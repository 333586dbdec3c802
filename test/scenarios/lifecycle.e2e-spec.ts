import { eventsOf } from '../support/test-app';
import { startTestApp, Story, type TestApp } from '../support/story';

describe('the lifecycle of a subscription', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type);

  it('a trial with a change bills the new plan from its end', async () => {
    const story = await Story.begin(engine, '2026-01-20T08:00:00.000Z');
    const { id, status } = await story.subscribe(await story.plan(1_000), { trial_days: 14 });
    expect(status).toBe('trialing');
    await story.advance('2026-01-25T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(2_500), when: 'now' });
    expect(await story.invoices()).toEqual([]);
    await story.advance('2026-03-03T08:00:00.000Z');
    expect(await story.amounts()).toEqual([[2_500], [2_500]]);
    expect(await story.starts()).toEqual(['2026-02-03T08:00:00.000Z', '2026-03-03T08:00:00.000Z']);
    expect(await typesOf(id)).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.updated',
      'subscription.trial_ending',
      'subscription.activated',
      'subscription.renewed',
    ]);
    await story.verify();
  });

  it('the end of a trial is announced once, three days before', async () => {
    const story = await Story.begin(engine, '2026-01-20T08:00:00.000Z');
    const { id, next_billing_at } = await story.subscribe(await story.plan(1_000), {
      trial_days: 14,
    });
    expect(next_billing_at).toBe('2026-02-03T08:00:00.000Z');
    await story.advance('2026-01-31T07:59:59.000Z');
    expect(await typesOf(id)).toEqual(['subscription.created', 'subscription.updated']);
    await story.advance('2026-01-31T08:00:00.000Z');
    expect((await typesOf(id)).at(-1)).toBe('subscription.trial_ending');
    const updated = await story.subscription(id);
    expect(updated).toMatchObject({
      status: 'trialing',
      next_billing_at: '2026-02-03T08:00:00.000Z',
    });
    await story.command(id, 'change', { quantity: '2', when: 'now' });
    await story.advance('2026-02-03T08:00:00.000Z');
    expect((await typesOf(id)).slice(2)).toEqual([
      'subscription.trial_ending',
      'subscription.updated',
      'subscription.activated',
    ]);
    await story.verify();
  });

  it('the end of a trial of two days is announced at its start', async () => {
    const story = await Story.begin(engine, '2026-01-20T08:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(1_000), { trial_days: 2 });
    expect(await typesOf(id)).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.trial_ending',
    ]);
  });

  it('a scheduled end can be taken back, and bills nothing further otherwise', async () => {
    const story = await Story.begin(engine, '2026-01-31T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(1_000));
    const canceling = await story.command(id, 'cancel', { when: 'period_end' });
    expect(canceling).toMatchObject({ status: 'active', cancel_at: '2026-02-28T00:00:00.000Z' });
    expect(await story.command(id, 'uncancel')).toMatchObject({ cancel_at: null });
    await story.advance('2026-02-28T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance('2026-06-01T00:00:00.000Z');
    expect(await story.subscription(id)).toMatchObject({
      status: 'canceled',
      next_billing_at: null,
    });
    expect(await story.amounts()).toEqual([[1_000], [1_000]]);
    await story.verify();
  });

  it('an end at an instant credits the unused part, after the day of the end', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_000));
    await story.command(id, 'cancel', {
      when: 'at',
      at: '2026-04-10T15:00:00.000Z',
      credit_unused: true,
    });
    await story.advance('2026-05-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[3_000], [-2_000]]);
    expect((await story.invoices())[1]).toMatchObject({
      credited_to_balance: 2_000,
      reason: 'end',
    });
    await story.verify();
  });

  it('an end now bills arrears up to its day', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const plan = await story.planOf([
      { name: 'Seats', model: 'per_unit', timing: 'in_arrears', unit_amount: '300' },
    ]);
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-04-10T15:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now' });
    expect(await story.amounts()).toEqual([[100]]);
    const again = await engine.http.post(`/v1/subscriptions/${id}/cancel`).send({ when: 'now' });
    expect(again.body).toMatchObject({ status: 409, code: 'invalid_transition' });
    await story.verify();
  });

  it('an end at the instant of the start recognizes what was billed', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_000));
    await story.command(id, 'cancel', { when: 'now' });
    const { body } = await engine.http.get(`/v1/ledger/accounts?customer_id=${story.customerId}`);
    const { data } = body as { data: { account: string; balance: string }[] };
    const deferred = data.filter(({ account }) => account === 'deferred_revenue');
    expect(deferred).toMatchObject([{ balance: '0' }]);
    await story.verify();
  });

  it('a pause over the end of a period bills no further period, and resuming starts one', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const plan = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_100 },
      { name: 'Support', model: 'flat', timing: 'in_arrears', amount: 310 },
    ]);
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-03-11T00:00:00.000Z');
    expect(await story.command(id, 'pause')).toMatchObject({ status: 'paused' });
    await story.advance('2026-05-20T00:00:00.000Z');
    // Ten days of support before the pause, and the day on which it began.
    expect(await story.amounts()).toEqual([[3_100], [110]]);
    const event = (await eventsOf(engine, id)).at(-1);
    expect(event).toMatchObject({
      type: 'subscription.updated',
      data: { previous: { next_billing_at: '2026-04-01T00:00:00.000Z' } },
    });
    expect(event?.data.object).toEqual(await story.subscription(id));
    expect(await story.command(id, 'resume')).toMatchObject({
      status: 'active',
      current_period_start: '2026-05-20T00:00:00.000Z',
      current_period_end: '2026-06-20T00:00:00.000Z',
    });
    await story.advance('2026-06-20T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[3_100], [110], [3_100], [3_100, 310]]);
    await story.verify();
  });

  it('a resume after the end of the period bills late usage, even if it charges nothing', async () => {
    const story = await Story.begin(engine, '2026-01-16T13:30:00.000Z');
    const { id: meter_id, event } = await story.meter();
    const calls = { model: 'per_unit', timing: 'in_arrears', meter_id, unit_amount: '10' };
    const plan = await story.planOf([{ name: 'Calls', ...calls }], { interval: 'year' });
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-12-20T00:00:00.000Z');
    await story.command(id, 'pause');
    await story.advance('2027-03-20T00:00:00.000Z');
    await story.reportUsage(event, '2026-02-01T00:00:00.000Z', { n: 7 });
    await story.command(id, 'resume');
    expect(await story.invoices()).toMatchObject([
      {
        reason: 'renewal',
        created_at: '2027-03-20T00:00:00.000Z',
        lines: [{ description: 'Calls (late usage)', amount: 70 }],
      },
    ]);
    await story.verify();
  });

  it('a pause within a period keeps what was paid, and the days after its first are not billed in arrears', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const plan = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_100 },
      { name: 'Support', model: 'flat', timing: 'in_arrears', amount: 310 },
    ]);
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'pause');
    await story.advance('2026-03-21T00:00:00.000Z');
    await story.command(id, 'resume');
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[3_100], [3_100, 110, 110]]);
    await story.verify();
  });

  it.each(['day', 'none'])(
    'with proration %s, pauses over each midnight leave no day unbilled',
    async (proration) => {
      const story = await Story.begin(engine, '2026-04-06T00:00:00.000Z');
      const arrears = [{ name: 'Support', model: 'flat', timing: 'in_arrears', amount: 7_000 }];
      const plan = await story.planOf(arrears, { interval: 'week', proration });
      const { id } = await story.subscribe(plan.id);
      for (const day of ['06', '07', '08', '09', '10', '11', '12']) {
        if (day !== '06') {
          await story.advance(`2026-04-${day}T00:01:00.000Z`);
          await story.command(id, 'resume');
        }
        await story.advance(`2026-04-${day}T23:59:00.000Z`);
        await story.command(id, 'pause');
      }
      await story.advance('2026-04-13T00:00:00.000Z');
      expect(await story.amounts()).toEqual([Array.from({ length: 7 }, () => 1_000)]);
      await story.verify();
    },
  );

  it('a day with several pauses is billed once, and a subscription that ends in a pause to the day it began', async () => {
    const story = await Story.begin(engine, '2026-04-06T00:00:00.000Z', {
      timezone: 'America/New_York',
    });
    const arrears = [
      {
        name: 'Seats',
        model: 'per_unit',
        timing: 'in_arrears',
        unit_amount: '10',
        minimum_amount: 7_000,
      },
    ];
    const plan = await story.planOf(arrears, { interval: 'week' });
    const { id } = await story.subscribe(plan.id);
    // 8 April in New York, which ends at 04:00 UTC.
    await story.advance('2026-04-08T12:00:00.000Z');
    await story.command(id, 'pause');
    await story.advance('2026-04-08T20:00:00.000Z');
    await story.command(id, 'resume');
    await story.command(id, 'pause');
    await story.advance('2026-04-09T03:59:59.000Z');
    await story.command(id, 'resume');
    await story.advance('2026-04-11T12:00:00.000Z');
    await story.command(id, 'pause');
    await story.advance('2026-04-11T12:00:01.000Z');
    await story.command(id, 'cancel', { when: 'now' });
    // The week began on 5 April in New York: three days, and then four, of 10 and up to the minimum of 7,000 a week.
    expect(await story.amounts()).toEqual([[4, 6, 2_996, 3_994]]);
    await story.verify();
  });

  it('limits and fees at zero usage count the day on which a pause begins', async () => {
    const story = await Story.begin(engine, '2026-04-06T00:00:00.000Z');
    const { id: meter_id, event } = await story.meter();
    const usage = { model: 'per_unit', timing: 'in_arrears', meter_id, unit_amount: '1' };
    const tiers = [{ up_to: null, unit_amount: '1', flat_amount: 700 }];
    const plan = await story.planOf(
      [
        { name: 'Calls', ...usage, minimum_amount: 7_000 },
        { name: 'Fee', ...usage, model: 'graduated', unit_amount: undefined, tiers },
      ],
      { interval: 'week' },
    );
    const { id } = await story.subscribe(plan.id);
    await story.reportUsage(event, '2026-04-06T12:00:00.000Z', { n: 100 });
    await story.advance('2026-04-08T23:59:00.000Z');
    await story.command(id, 'pause');
    await story.advance('2026-04-11T00:01:00.000Z');
    await story.command(id, 'resume');
    await story.advance('2026-04-13T00:00:00.000Z');
    const [invoice] = await story.invoices();
    const shown = invoice?.lines.map(({ description, amount }) => `${description}: ${amount}`);
    // 6 to 8 April are three of seven days, 11 and 12 April two.
    expect(shown).toEqual([
      'Calls: 100',
      'Fee: 800',
      'Fee: 200',
      'Calls (minimum): 2900',
      'Calls (minimum): 2000',
    ]);
    await story.verify();
  });

  it('a start in the future waits, and a back-dated start bills the periods since', async () => {
    const story = await Story.begin(engine, '2026-03-15T00:00:00.000Z');
    const plan = await story.plan(1_000);
    const later = await story.subscribe(plan, { start_at: '2026-04-01T00:00:00.000Z' });
    expect(later).toMatchObject({
      status: 'incomplete',
      next_billing_at: '2026-04-01T00:00:00.000Z',
    });
    await story.subscribe(plan, { start_at: '2026-01-10T00:00:00.000Z' });
    expect(await story.starts()).toEqual([
      '2026-01-10T00:00:00.000Z',
      '2026-02-10T00:00:00.000Z',
      '2026-03-10T00:00:00.000Z',
    ]);
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await story.subscription(later.id)).toMatchObject({ status: 'active' });
    expect(await story.amounts()).toHaveLength(4);
    await story.verify();
  });

  it('a calendar anchor bills a short first period', async () => {
    const story = await Story.begin(engine, '2026-03-22T13:00:00.000Z');
    await story.subscribe(await story.plan(3_100), { billing_anchor: 'calendar' });
    await story.advance('2026-04-01T00:00:00.000Z');
    // The 22nd to the 31st: 10 of 31 days.
    expect(await story.amounts()).toEqual([[1_000], [3_100]]);
    await story.verify();
  });

  it('add-ons have quantities, can be changed and removed', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const { body } = await engine.http.post('/v1/addons').send({
      code: `addon-${story.clockId.slice(-8)}`,
      name: 'Seats',
      currency: 'USD',
      prices: [{ name: 'Seat', model: 'per_unit', timing: 'in_advance', unit_amount: '300' }],
    });
    const addonId = (body as { id: string }).id;
    const { id } = await story.subscribe(await story.plan(1_000), {
      addons: [{ addon_id: addonId, quantity: '2' }],
    });
    await story.advance('2026-04-16T00:00:00.000Z');
    await story.command(id, 'change', {
      addons: [{ addon_id: addonId, quantity: '4' }],
      when: 'now',
    });
    await story.command(id, 'change', { addons: [], when: 'now' });
    expect(await story.amounts()).toEqual([[1_000, 600], [600, -300], [-600]]);
    await story.advance('2026-05-01T00:00:00.000Z');
    expect((await story.amounts()).at(-1)).toEqual([1_000]);
    await story.verify();
  });
});
