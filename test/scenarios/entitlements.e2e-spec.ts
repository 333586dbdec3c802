import { Allowances, createAddonWith, createEntitlement } from '../support/allowances';
import { startTestApp, Story, type TestApp } from '../support/story';

describe('entitlements of a customer over time', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { PAST_DUE_GRACE_HOURS: '48' } });
  });

  afterAll(() => engine.close());

  async function begin(now: string, customer: Readonly<Record<string, unknown>> = {}) {
    const story = await Story.begin(engine, now, customer);
    return { story, allowances: new Allowances(engine, story.customerId) };
  }

  /** Creates a monthly plan with the given allowance of an entitlement. */
  function plan(
    story: Story,
    entitlementId: string,
    value: string | null,
    fields: Readonly<Record<string, unknown>> = {},
    terms: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const entitlements = [{ entitlement_id: entitlementId, value, ...fields }];
    return story.plan(1_000, { entitlements, ...terms });
  }

  test('change with trial, upgrade, add-on, downgrade, pause, resume and end', async () => {
    const { story, allowances } = await begin('2026-01-10T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    const small = await plan(story, id, '100', {}, { trial_days: 14 });
    const large = await plan(story, id, '500');
    const { addonId } = await createAddonWith(engine, id, { value: '50' });
    const subscription = await story.subscribe(small);

    expect(await allowances.of(key)).toMatchObject({
      limit: '100',
      resets_at: '2026-01-24T00:00:00.000Z',
    });
    await allowances.consume(key, '60');
    await story.advance('2026-01-24T00:00:00Z');
    expect(await allowances.of(key)).toMatchObject({
      used: '0',
      resets_at: '2026-02-24T00:00:00.000Z',
    });

    await allowances.consume(key, '100');
    expect(await allowances.of(key)).toMatchObject({ has_access: false });
    await story.command(subscription.id, 'change', { plan_id: large, when: 'now' });
    expect(await allowances.figures(key)).toEqual(['500', '100', '400']);
    await story.command(subscription.id, 'change', {
      addons: [{ addon_id: addonId, quantity: '2' }],
      when: 'now',
    });
    expect(await allowances.figures(key)).toEqual(['600', '100', '500']);

    await story.command(subscription.id, 'change', {
      plan_id: small,
      addons: [],
      when: 'period_end',
    });
    expect(await allowances.figures(key)).toEqual(['600', '100', '500']);
    await allowances.consume(key, '500');
    await story.advance('2026-02-23T23:59:59.999Z');
    expect(await allowances.figures(key)).toEqual(['600', '600', '0']);
    await story.advance('2026-02-24T00:00:00Z');
    expect(await allowances.figures(key)).toEqual(['100', '0', '100']);

    await allowances.consume(key, '30');
    await story.command(subscription.id, 'pause');
    expect(await allowances.of(key)).toMatchObject({ has_access: false, limit: '0', sources: [] });
    expect(await allowances.consume(key, '1')).toMatchObject({ allowed: false });
    await story.advance('2026-03-01T00:00:00Z');
    await story.command(subscription.id, 'resume');
    expect(await allowances.figures(key)).toEqual(['100', '30', '70']);
    await story.command(subscription.id, 'pause');
    await story.advance('2026-05-05T00:00:00Z');
    await story.command(subscription.id, 'resume');
    expect(await allowances.of(key)).toMatchObject({
      used: '0',
      remaining: '100',
      resets_at: '2026-06-05T00:00:00.000Z',
    });

    await story.command(subscription.id, 'cancel', { when: 'period_end' });
    await story.advance('2026-06-04T23:59:59.999Z');
    expect(await allowances.of(key)).toMatchObject({ has_access: true });
    await story.advance('2026-06-05T00:00:00Z');
    expect(await allowances.of(key)).toMatchObject({ has_access: false, resets_at: null });
    await story.verify();
  });

  test('start with the subscription, not before', async () => {
    const { story, allowances } = await begin('2026-01-10T00:00:00Z');
    const { id, key } = await createEntitlement(engine, { type: 'boolean' });
    await story.subscribe(await plan(story, id, null), { start_at: '2026-01-12T00:00:00Z' });
    expect(await allowances.of(key)).toMatchObject({ has_access: false });
    await story.advance('2026-01-12T00:00:00Z');
    expect(await allowances.of(key)).toMatchObject({ has_access: true });
  });

  test.each<[string, string, Record<string, unknown>, string, string[]]>([
    [
      'the period, from the 31st',
      'UTC',
      {},
      '2026-01-31T10:00:00Z',
      ['2026-02-28T10:00:00.000Z', '2026-03-31T10:00:00.000Z', '2026-04-30T10:00:00.000Z'],
    ],
    [
      'the calendar month',
      'America/New_York',
      { reset: 'month' },
      '2026-01-31T10:00:00Z',
      ['2026-02-01T05:00:00.000Z', '2026-03-01T05:00:00.000Z', '2026-04-01T04:00:00.000Z'],
    ],
    [
      'the day, across a change of summer time',
      'Europe/Paris',
      { reset: 'day' },
      '2026-03-28T10:00:00Z',
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', '2026-03-30T22:00:00.000Z'],
    ],
    [
      'the week',
      'UTC',
      { reset: 'week' },
      '2026-01-31T10:00:00Z',
      ['2026-02-02T00:00:00.000Z', '2026-02-09T00:00:00.000Z', '2026-02-16T00:00:00.000Z'],
    ],
  ])('usage resets with %s in %s', async (_, timezone, fields, now, resets) => {
    const { story, allowances } = await begin(now, { timezone });
    const { id, key } = await createEntitlement(engine);
    await story.subscribe(await plan(story, id, '10', fields));
    for (const reset of resets) {
      expect(await allowances.consume(key, '10')).toMatchObject({
        allowed: true,
        resets_at: reset,
      });
      await story.advance(new Date(Date.parse(reset) - 1).toISOString());
      expect(await allowances.consume(key, '1')).toMatchObject({ allowed: false });
      await story.advance(reset);
    }
  });

  test('usage that never resets is counted over all periods', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    await story.subscribe(await plan(story, id, '10', { reset: 'never' }));
    await allowances.consume(key, '6');
    await story.advance('2026-04-01T00:00:00Z');
    expect(await allowances.of(key)).toMatchObject({ remaining: '4', resets_at: null });
  });

  test('a past due subscription gives access for the grace period, and again after the payment', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const addCard = async (token: string): Promise<void> => {
      const answer = await engine.http
        .post(`/v1/customers/${story.customerId}/payment-methods`)
        .send({ provider: 'sandbox', token, is_default: true });
      expect(answer.status).toBe(201);
    };
    const { id, key } = await createEntitlement(engine);
    await addCard('pm_sandbox_declined');
    const { id: subscriptionId } = await story.subscribe(await plan(story, id, '10'));
    await story.advance('2026-01-01T00:00:00Z');
    expect((await story.subscription(subscriptionId)).status).toBe('past_due');
    expect(await allowances.consume(key, '4')).toMatchObject({ allowed: true });
    await story.advance('2026-01-02T23:59:59.999Z');
    expect(await allowances.of(key)).toMatchObject({ has_access: true });
    await story.advance('2026-01-03T00:00:00Z');
    expect(await allowances.of(key)).toMatchObject({ has_access: false });
    expect(await allowances.consume(key, '1')).toMatchObject({ allowed: false });
    await addCard('pm_sandbox_ok');
    await story.advance('2026-01-06T00:00:00Z');
    expect((await story.subscription(subscriptionId)).status).toBe('active');
    expect(await allowances.figures(key)).toEqual(['10', '4', '6']);
  });

  test('a grace period starts when the subscription becomes past due, also when another payment method is tried', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    const addCard = (token: string) =>
      engine.http
        .post(`/v1/customers/${story.customerId}/payment-methods`)
        .send({ provider: 'sandbox', token, is_default: true });
    await addCard('pm_sandbox_declined');
    const { id: subscriptionId } = await story.subscribe(await plan(story, id, '10'));
    const standing = async () => [
      (await story.subscription(subscriptionId)).status,
      (await allowances.of(key)).has_access,
    ];
    await story.advance('2026-01-02T23:59:59Z');
    expect(await standing()).toEqual(['past_due', true]);
    await story.advance('2026-01-31T00:00:00Z');
    expect(await standing()).toEqual(['unpaid', false]);
    await addCard('pm_sandbox_declined');
    expect(await standing()).toEqual(['past_due', false]);

    // The next overdue payment has its own grace period.
    await addCard('pm_sandbox_ok');
    await story.advance('2026-02-09T00:00:00Z');
    expect(await standing()).toEqual(['active', true]);
    await addCard('pm_sandbox_declined');
    await story.advance('2026-03-01T02:00:00Z');
    expect(await standing()).toEqual(['past_due', true]);
  });

  test('a grace period also starts when the subscription becomes unpaid at once', async () => {
    const environment = { PAST_DUE_GRACE_HOURS: '48', PAYMENT_RETRY_DAYS: '' };
    const other = await startTestApp({ databaseUrl: engine.databaseUrl, environment });
    const story = await Story.begin(other, '2026-01-01T00:00:00Z');
    const allowances = new Allowances(other, story.customerId);
    const { id, key } = await createEntitlement(other);
    const addCard = () =>
      other.http
        .post(`/v1/customers/${story.customerId}/payment-methods`)
        .send({ provider: 'sandbox', token: 'pm_sandbox_declined', is_default: true })
        .expect(201);
    await addCard();
    const { id: subscriptionId } = await story.subscribe(await plan(story, id, '10'));
    const standing = async () => [
      (await story.subscription(subscriptionId)).status,
      (await allowances.of(key)).has_access,
    ];
    await story.advance('2026-01-02T00:00:00Z');
    expect(await standing()).toEqual(['unpaid', false]);
    await addCard();
    expect(await standing()).toEqual(['past_due', true]);
    await story.advance('2026-01-03T00:00:00Z');
    await addCard();
    expect(await standing()).toEqual(['past_due', false]);
    await other.close();
  });

  test('grants roll over by their rules, reset by reset, with or without checks', async () => {
    const { story, allowances } = await begin('2026-01-31T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    await story.subscribe(await plan(story, id, '100'));
    await allowances.grant(key, { value: '1000', rollover: { max: '1000' }, priority: 1 });
    await allowances.grant(key, { value: '1000', rollover: { max: '100' }, priority: 2 });
    await allowances.grant(key, { value: '5', rollover: { min: '50', max: '80' }, priority: 3 });
    await allowances.grant(key, { value: '7', priority: 4 });
    await allowances.consume(key, '700');
    expect(await allowances.figures(key)).toEqual(['2112', '700', '1412']);
    await story.advance('2026-02-28T00:00:00Z');
    // 400, 100, 50, and nothing from the grant without a rollover.
    expect(await allowances.figures(key)).toEqual(['650', '0', '650']);
    expect(await allowances.grants(key)).toEqual([
      ['active', '400'],
      ['active', '100'],
      ['active', '50'],
      ['lapsed', null],
    ]);
    await allowances.consume(key, '600');
    // No check for three months.
    await story.advance('2026-05-31T00:00:00Z');
    expect(await allowances.grants(key)).toEqual([
      ['lapsed', null],
      ['lapsed', null],
      ['active', '50'],
      ['lapsed', null],
    ]);
    expect(await allowances.figures(key)).toEqual(['150', '0', '150']);
  });

  test('the rest of a grant is computed with the allowance from before a downgrade', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    const large = await plan(story, id, '1000');
    const small = await plan(story, id, '10');
    const subscription = await story.subscribe(large);
    await allowances.grant(key, { value: '100', rollover: { max: '100' } });
    await allowances.consume(key, '900');
    await story.command(subscription.id, 'change', { plan_id: small, when: 'period_end' });
    await story.advance('2026-02-01T00:00:00Z');
    expect(await allowances.figures(key)).toEqual(['110', '0', '110']);
  });

  test('a grant expires at expires_at, and usage taken from it stays covered', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    await story.subscribe(await plan(story, id, '10'));
    await allowances.grant(key, { value: '10', expires_at: '2026-01-10T00:00:00Z' });
    await allowances.consume(key, '14');
    await story.advance('2026-01-09T23:59:59.999Z');
    expect(await allowances.figures(key)).toEqual(['20', '14', '6']);
    await story.advance('2026-01-10T00:00:00Z');
    expect(await allowances.figures(key)).toEqual(['14', '14', '0']);
    expect(await allowances.grants(key)).toEqual([['expired', null]]);
    await story.advance('2026-02-01T00:00:00Z');
    expect(await allowances.figures(key)).toEqual(['10', '0', '10']);
  });

  test('a pause with a grant keeps what was used; grants alone never reset', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    const subscription = await story.subscribe(await plan(story, id, '10'));
    await allowances.grant(key, { value: '10', rollover: { max: '10' } });
    await allowances.consume(key, '13');
    await story.command(subscription.id, 'pause');
    // Plan usage is not taken from the grant during the pause.
    expect(await allowances.figures(key)).toEqual(['20', '13', '7']);
    await story.command(subscription.id, 'resume');
    expect(await allowances.figures(key)).toEqual(['20', '13', '7']);
    await story.command(subscription.id, 'cancel', { when: 'now' });

    const alone = await begin('2026-01-01T00:00:00Z');
    await alone.allowances.grant(key, { value: '10' });
    await alone.allowances.consume(key, '4');
    await alone.story.advance('2026-06-01T00:00:00Z');
    expect(await alone.allowances.figures(key)).toEqual(['10', '4', '6']);
    // What is left of it rolls over into the first period of a subscription.
    await alone.story.subscribe(await plan(alone.story, id, '100'));
    expect(await alone.allowances.figures(key)).toEqual(['106', '0', '106']);
  });

  test.each([false, true])(
    'a grant after the last window ended starts a new window, with a meter: %s',
    async (isCounted) => {
      const { story, allowances } = await begin('2026-01-01T00:00:00Z');
      const meter = await story.meter();
      const { id, key } = await createEntitlement(engine, isCounted ? { meter_id: meter.id } : {});
      const subscription = await story.subscribe(await plan(story, id, '10'));
      await allowances.consume(key, '6');
      await story.command(subscription.id, 'cancel', { when: 'now' });
      expect(await allowances.figures(key)).toEqual(['0', '6', '0']);
      await story.advance('2026-03-01T00:00:00Z');
      if (isCounted) await story.reportUsage(meter.event, '2026-02-20T00:00:00Z', { n: 3 });
      expect(await allowances.figures(key)).toEqual(['0', '0', '0']);
      const grant = await allowances.grant(key, { value: '5' });
      expect(grant).toMatchObject({ status: 'active', remaining: '5' });
      expect(await allowances.figures(key)).toEqual(['5', '0', '5']);
      await allowances.consume(key, '2');
      await story.advance('2026-06-01T00:00:00Z');
      expect(await allowances.figures(key)).toEqual(['5', '2', '3']);
      expect(await allowances.grants(key)).toEqual([['active', '3']]);
      const windows = await engine.database.query(
        `SELECT FROM usage_window w JOIN usage_stream s ON s.id = w.stream_id WHERE s.customer_id = $1`,
        [story.customerId],
      );
      expect(windows).toHaveLength(isCounted ? 1 : 0);
    },
  );

  test('a grant covers usage beyond the limit from before the grant at once', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    await story.subscribe(await plan(story, id, '10', { is_hard_limit: false }));
    await allowances.consume(key, '13');
    expect(await allowances.grant(key, { value: '5' })).toMatchObject({ remaining: '2' });
    expect(await allowances.grants(key)).toEqual([['active', '2']]);
    expect(await allowances.figures(key)).toEqual(['15', '13', '2']);
  });

  test('a grant after the end of an unused period starts a new window, with or without a check before', async () => {
    for (const isAsked of [false, true]) {
      const { story, allowances } = await begin('2026-01-01T00:00:00Z');
      const { id, key } = await createEntitlement(engine);
      const subscription = await story.subscribe(await plan(story, id, '10'));
      if (isAsked) await allowances.of(key);
      await story.command(subscription.id, 'cancel', { when: 'now' });
      if (isAsked) await allowances.of(key);
      await allowances.grant(key, { value: '5' });
      expect(await allowances.of(key)).toMatchObject({ remaining: '5', resets_at: null });
    }
  });

  test.each([
    ['an end', 'cancel', { when: 'now' }],
    ['a pause', 'pause', {}],
  ])('plan usage before %s is not taken from grants', async (_, command, body) => {
    for (const isCounted of [false, true]) {
      const { story, allowances } = await begin('2026-01-01T00:00:00Z');
      const meter = await story.meter();
      const { id, key } = await createEntitlement(engine, isCounted ? { meter_id: meter.id } : {});
      const subscription = await story.subscribe(await plan(story, id, '100'));
      await allowances.grant(key, { value: '50', rollover: { max: '50' } });
      await allowances.consume(key, '60');
      await story.command(subscription.id, command, body);
      expect(await allowances.figures(key)).toEqual(['110', '60', '50']);
      await allowances.grant(key, { value: '5', priority: 500 });
      expect(await allowances.consume(key, '56')).toMatchObject({ allowed: false });
      expect(await allowances.consume(key, '20')).toMatchObject({ allowed: true });
      expect(await allowances.grants(key)).toEqual([
        ['active', '30'],
        ['active', '5'],
      ]);
      await story.advance('2026-02-01T00:00:00Z');
      expect(await allowances.figures(key)).toEqual(['30', '0', '30']);
    }
  });

  test('a downgrade takes nothing from grants, and a later upgrade gives nothing twice', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const meter = await story.meter();
    const { id, key } = await createEntitlement(engine, { meter_id: meter.id });
    const large = await plan(story, id, '100');
    const small = await plan(story, id, '10');
    const subscription = await story.subscribe(large);
    await story.reportUsage(meter.event, '2026-01-01T00:00:00Z', { n: 90 });
    await story.command(subscription.id, 'change', { plan_id: small, when: 'now' });
    expect(await allowances.figures(key)).toEqual(['90', '90', '0']);
    await allowances.grant(key, { value: '20' });
    expect(await allowances.figures(key)).toEqual(['110', '90', '20']);
    await allowances.consume(key, '15');
    await story.command(subscription.id, 'change', { plan_id: large, when: 'now' });
    expect(await allowances.figures(key)).toEqual(['120', '105', '15']);
    await story.command(subscription.id, 'change', { plan_id: small, when: 'now' });
    // What the larger plan covered instead of the grant stays covered.
    expect(await allowances.figures(key)).toEqual(['120', '105', '15']);
  });

  test('usage that a larger plan takes over from a grant stays plan usage, without usage in between', async () => {
    for (const isCounted of [false, true]) {
      const { story, allowances } = await begin('2026-01-01T00:00:00Z');
      const meter = await story.meter();
      const { id, key } = await createEntitlement(engine, isCounted ? { meter_id: meter.id } : {});
      const plans: string[] = [];
      for (const value of ['2', '10', '5', '0']) plans.push(await plan(story, id, value));
      const subscription = await story.subscribe(plans[0] ?? '');
      await allowances.grant(key, { value: '5' });
      await allowances.consume(key, '5');
      expect(await allowances.grants(key)).toEqual([['active', '2']]);
      const seen: unknown[] = [];
      for (const planId of plans.slice(1)) {
        await story.command(subscription.id, 'change', { plan_id: planId, when: 'now' });
        seen.push([await allowances.figures(key), await allowances.grants(key)]);
      }
      expect(seen).toEqual([
        [['15', '5', '10'], [['active', '5']]],
        [['10', '5', '5'], [['active', '5']]],
        [['10', '5', '5'], [['active', '5']]],
      ]);
    }
  });

  test('a link that changes after a window does not change what the window took from grants', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    const { addonId, linkId } = await createAddonWith(engine, id, { value: '1' });
    await story.subscribe(await plan(story, id, '100', { reset: 'day' }), {
      addons: [{ addon_id: addonId }],
    });
    await allowances.grant(key, { value: '100', rollover: { max: '100' } });
    await allowances.consume(key, '141');
    await story.advance('2026-01-02T12:00:00Z');
    await engine.http.patch(`/v1/addon-entitlements/${linkId}`).send({ value: '51' });
    expect(await allowances.figures(key)).toEqual(['211', '0', '211']);
  });

  test('a lapsed grant is not listed, also at the first check', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    const subscription = await story.subscribe(await plan(story, id, '10', { reset: 'day' }));
    await allowances.grant(key, { value: '5' });
    await story.command(subscription.id, 'cancel', { when: 'now' });
    await story.advance('2026-01-03T00:00:00Z');
    const { body } = await engine.http.get(`/v1/customers/${story.customerId}/entitlements`);
    expect(body).toEqual({ data: [], next_cursor: null });
  });

  test('thresholds are notified once in each period', async () => {
    const { story, allowances } = await begin('2026-01-01T00:00:00Z');
    const { id, key } = await createEntitlement(engine);
    await story.subscribe(await plan(story, id, '10'));
    for (const month of ['02', '03']) {
      await allowances.consume(key, '9');
      await allowances.consume(key, '1');
      await story.advance(`2026-${month}-01T00:00:00Z`);
    }
    const rows = await engine.database.query<{ type: string }>(
      `SELECT type FROM event WHERE type LIKE 'entitlement.%reached' AND data->'object'->>'customer_id' = $1`,
      [story.customerId],
    );
    expect(rows).toHaveLength(6);
  });
});
