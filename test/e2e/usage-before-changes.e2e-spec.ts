import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createAddonWith, createEntitlement } from '../support/allowances';
import { createCustomer } from '../support/metering';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

/** Usage covered by the former allowance of 100: nothing is taken from the grant of 30. */
const KEPT = { rollover: { max: '30' } };
const COVERED = ['110', '80', '30'];

interface Terms {
  /** Rollover of the grant; undefined: the customer gets no grant. */
  readonly rollover?: object | null;
  readonly billing_anchor?: string;
}

describe('usage in a window that is opened after a subscription changed', () => {
  let engine: TestApp;
  let allowances: Allowances;
  let customerId: string;
  let entitlement: { readonly id: string; readonly key: string };
  let subscriptionId: string;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Creates a customer and a metered entitlement at noon on 10 March. */
  async function begin(): Promise<void> {
    made += 1;
    engine.clock.set('2026-03-10T12:00:00Z');
    const { id: meter_id } = await post(engine, '/v1/meters', {
      key: `calls_${made}`,
      name: 'Calls',
      event_name: `call.${made}`,
      aggregation: 'sum',
      value_property: 'n',
    });
    entitlement = await createEntitlement(engine, { meter_id });
    customerId = await createCustomer(engine);
    allowances = new Allowances(engine, customerId);
  }

  /** Subscribes a customer at noon on 10 March to a plan that allows 100, and makes a grant of 30. */
  async function subscribe(reset: string, { rollover, ...fields }: Terms = KEPT): Promise<void> {
    await begin();
    const { id } = await post(engine, '/v1/subscriptions', {
      customer_id: customerId,
      plan_id: await plan('100', reset),
      collection: 'send_invoice',
      ...fields,
    });
    subscriptionId = id;
    if (rollover === undefined) return;
    await grant(rollover);
    expect(await figures()).toEqual(['130', '0', '130']);
  }

  /** Makes a grant of 30. */
  const grant = (rollover: object | null = null, expires_at: string | null = null) =>
    allowances.grant(entitlement.key, { value: '30', rollover, expires_at });

  /** Subscribes the customer to a second plan. Returns the id of the subscription. */
  async function subscribeAlso(value: string, reset: string, fields: object = {}): Promise<string> {
    const { id } = await post(engine, '/v1/subscriptions', {
      customer_id: customerId,
      plan_id: await plan(value, reset),
      collection: 'send_invoice',
      ...fields,
    });
    return id;
  }

  async function plan(value: string, reset: string): Promise<string> {
    const { id } = await post(engine, '/v1/plans', {
      code: `plan-${(made += 1)}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Plan', model: 'flat', amount: 100, timing: 'in_advance' }],
      entitlements: [{ entitlement_id: entitlement.id, value, reset }],
    });
    return id;
  }

  const command = (name: string, body: object) =>
    engine.http.post(`/v1/subscriptions/${subscriptionId}/${name}`).send(body).expect(200);

  const figures = () => allowances.figures(entitlement.key);

  /** Reports usage of 80, or `n`, now. */
  async function use(n = 80): Promise<void> {
    const { body } = await engine.http.get(`/v1/entitlements/${entitlement.id}`).expect(200);
    const meter = await engine.http.get(`/v1/meters/${(body as { meter_id: string }).meter_id}`);
    await engine.http
      .post('/v1/usage-events')
      .send({
        idempotency_key: `event-${(made += 1)}`,
        customer_id: customerId,
        event_name: (meter.body as { event_name: string }).event_name,
        timestamp: engine.clock.now().toISOString(),
        properties: { n },
      })
      .expect(200);
  }

  async function runDue(): Promise<void> {
    while (await engine.app.get(DueSubscriptions).runDue()) continue;
    while (await engine.app.get(EntitlementWindows).runDue()) continue;
  }

  it.each([
    ['a downgrade', 'change', 'day', true],
    ['a downgrade', 'change', 'day', false],
    ['a downgrade to another reset', 'change', 'month', false],
    ['an end', 'cancel', 'day', false],
    ['a pause', 'pause', 'day', false],
  ])('stays covered by the former allowance after %s', async (_, name, reset, isOpened) => {
    await subscribe('day');
    engine.clock.set('2026-03-11T00:00:03Z');
    await use();
    if (isOpened) await runDue();
    engine.clock.advanceMs(3_000);
    const bodies: Readonly<Record<string, object>> = {
      change: { plan_id: await plan('50', reset), when: 'now' },
      cancel: { when: 'now' },
    };
    await command(name, bodies[name] ?? {});
    expect(await figures()).toEqual(COVERED);
  });

  it.each([[true], [false]])(
    'stays covered after a scheduled end (opened before: %s)',
    async (isOpened) => {
      await subscribe('day');
      await command('cancel', { when: 'period_end' });
      engine.clock.set('2026-04-09T12:00:00Z');
      await runDue();
      engine.clock.set('2026-04-10T00:00:01Z');
      if (isOpened) await runDue();
      engine.clock.set('2026-04-10T09:00:00Z');
      await use();
      engine.clock.set('2026-04-10T12:05:00Z');
      await runDue();
      expect(await figures()).toEqual(COVERED);
    },
  );

  it.each(['change', 'cancel', 'pause'])(
    'stays covered if a grant expired before the command %s',
    async (name) => {
      await subscribe('day', {});
      const expiring = { ...KEPT, value: '30', expires_at: '2026-03-11T00:00:04Z' };
      await allowances.grant(entitlement.key, expiring);
      if (name === 'change') await allowances.grant(entitlement.key, { ...KEPT, value: '30' });
      engine.clock.set('2026-03-11T00:00:03Z');
      await use();
      engine.clock.set('2026-03-11T00:00:06Z');
      await command(name, {
        ...(name === 'change' && { plan_id: await plan('50', 'day') }),
        ...(name !== 'pause' && { when: 'now' }),
      });
      if (name !== 'change') await allowances.grant(entitlement.key, { value: '30' });
      expect(await figures()).toEqual(COVERED);
    },
  );

  it('stays covered if a renewal is due before the downgrade', async () => {
    await subscribe('day', { ...KEPT, billing_anchor: 'calendar' });
    engine.clock.set('2026-03-31T12:00:00Z');
    await runDue();
    engine.clock.set('2026-04-01T00:00:03Z');
    await use();
    engine.clock.set('2026-04-01T00:00:06Z');
    await command('change', { plan_id: await plan('50', 'day'), when: 'now' });
    expect(await figures()).toEqual(COVERED);
  });

  it('stays covered by one subscription after the end of another', async () => {
    await subscribe('day');
    engine.clock.set('2026-03-10T12:00:01Z');
    const other = await subscribeAlso('50', 'day', { billing_anchor: 'calendar' });
    const cancel = `/v1/subscriptions/${other}/cancel`;
    await engine.http.post(cancel).send({ when: 'period_end' }).expect(200);
    engine.clock.set('2026-03-31T12:00:00Z');
    await runDue();
    engine.clock.set('2026-04-01T00:00:03Z');
    await use();
    engine.clock.set('2026-04-01T00:00:06Z');
    await command('change', { plan_id: await plan('50', 'day'), when: 'now' });
    expect(await figures()).toEqual(COVERED);
  });

  it('stays covered for grants that follow, if the former grant lapsed when the window began', async () => {
    await subscribe('day', { rollover: null });
    engine.clock.set('2026-03-11T00:00:03Z');
    await use();
    engine.clock.advanceMs(3_000);
    await command('cancel', { when: 'now' });
    await post(engine, '/v1/subscriptions', {
      customer_id: customerId,
      plan_id: await plan('20', 'day'),
      collection: 'send_invoice',
    });
    await allowances.grant(entitlement.key, { value: '30' });
    expect(await figures()).toEqual(COVERED);
  });

  it('uses the new allowance, if the link of an add-on was lowered before it', async () => {
    await subscribe('period');
    const { addonId, linkId } = await createAddonWith(engine, entitlement.id, {
      mode: 'set',
      value: '200',
    });
    await command('change', { addons: [{ addon_id: addonId }], when: 'now' });
    expect(await figures()).toEqual(['230', '0', '230']);
    const path = `/v1/addon-entitlements/${linkId}`;
    await engine.http.patch(path).send({ mode: 'set', value: '50' }).expect(200);
    await use();
    expect(await figures()).toEqual(['80', '80', '0']);
  });

  it('uses the new allowance from the start of the period that a late renewal begins', async () => {
    await subscribe('period');
    await command('change', { plan_id: await plan('50', 'period'), when: 'period_end' });
    engine.clock.set('2026-04-10T12:03:00Z');
    await use();
    engine.clock.set('2026-04-10T12:05:00Z');
    await runDue();
    expect(await figures()).toEqual(['80', '80', '0']);
  });

  it.each(['period', 'day'])(
    'is taken from grants after a scheduled end that is processed late, with the reset %s',
    async (reset) => {
      await subscribe(reset, { ...KEPT, billing_anchor: 'calendar' });
      await command('cancel', { when: 'period_end' });
      engine.clock.set('2026-03-31T12:00:00Z');
      await runDue();
      engine.clock.set('2026-04-01T00:03:00Z');
      await use();
      engine.clock.set('2026-04-01T00:05:00Z');
      await runDue();
      expect(await figures()).toEqual(['30', '80', '0']);
    },
  );

  it.each(['period', 'month', 'day'])(
    'is not taken from a grant made after a late end with the reset %s, if the former grant lapsed then',
    async (reset) => {
      await subscribe(reset, { billing_anchor: 'calendar' });
      await command('cancel', { when: 'period_end' });
      engine.clock.set('2026-03-31T12:00:00Z');
      await runDue();
      await allowances.grant(entitlement.key, { value: '30' });
      engine.clock.set('2026-04-01T00:00:01Z');
      await use();
      engine.clock.set('2026-04-01T00:00:03Z');
      await runDue();
      engine.clock.set('2026-06-10T12:00:00Z');
      await allowances.grant(entitlement.key, { value: '30' });
      expect(await figures()).toEqual(['30', '0', '30']);
    },
  );

  it.each([
    ['end', 30, ['60', '30', '30']],
    ['renewal', 80, ['110', '80', '30']],
    ['end of one of two subscriptions', 80, ['110', '80', '30']],
  ])(
    'is taken from a grant that expires between a late %s and its processing',
    async (name, used, expected) => {
      await subscribe('day', { ...KEPT, billing_anchor: 'calendar' });
      const expiring = { ...KEPT, value: '30', expires_at: '2026-04-01T00:04:00Z' };
      await allowances.grant(entitlement.key, expiring);
      if (name === 'renewal')
        await command('change', { plan_id: await plan('50', 'day'), when: 'period_end' });
      else await command('cancel', { when: 'period_end' });
      if (name.endsWith('subscriptions')) await subscribeAlso('50', 'day');
      engine.clock.set('2026-03-31T12:00:00Z');
      await runDue();
      engine.clock.set('2026-04-01T00:03:00Z');
      await use(used);
      engine.clock.set('2026-04-01T00:05:00Z');
      await runDue();
      expect(await figures()).toEqual(expected);
    },
  );

  it.each([
    ['a grant without a subscription', null, '2026-04-01T00:00:00Z', '2026-04-01T00:00:01Z'],
    ['a grant after an end', 'period', '2026-04-01T00:04:00Z', '2026-04-01T00:04:30Z'],
    ['a grant after another lapsed', 'day', '2026-04-01T00:00:01Z', '2026-04-01T00:00:02Z'],
  ])(
    'is not taken from a grant made later, after the expiry of %s',
    async (_, reset, at, usedAt) => {
      for (const isLate of [true, false]) {
        if (reset === null) await begin();
        else {
          await subscribe(reset, { billing_anchor: 'calendar' });
          await command('cancel', { when: 'period_end' });
        }
        engine.clock.set('2026-03-31T12:00:00Z');
        await runDue();
        if (reset === 'day') await grant();
        await grant(KEPT.rollover, at);
        engine.clock.set(usedAt);
        if (!isLate) await runDue();
        await use();
        engine.clock.advanceMs(1_000);
        await runDue();
        engine.clock.set('2026-06-10T12:00:00Z');
        await grant();
        expect(await figures()).toEqual(['30', '0', '30']);
      }
    },
  );

  it('is not taken from a grant made after a late end within a month without other usage', async () => {
    for (const isLate of [true, false]) {
      await subscribe('month', {});
      await grant(KEPT.rollover, '2026-04-10T12:00:01Z');
      await command('cancel', { when: 'period_end' });
      engine.clock.set('2026-04-01T12:00:00Z');
      await runDue();
      engine.clock.set('2026-04-10T12:00:02Z');
      if (!isLate) await runDue();
      await use();
      engine.clock.advanceMs(1_000);
      await runDue();
      await grant();
      expect(await figures()).toEqual(['30', '0', '30']);
    }
  });

  it('continues a window without an end for a grant made later', async () => {
    await begin();
    await grant(null, '2026-03-20T00:00:00Z');
    await use(20);
    engine.clock.set('2026-03-21T12:00:00Z');
    await grant();
    expect(await figures()).toEqual(['50', '20', '30']);
    await subscribeAlso('100', 'month');
    expect(await figures()).toEqual(['150', '20', '130']);
  });

  it('is taken from an expired grant, not from others, before a subscription is made', async () => {
    for (const isLate of [true, false]) {
      await subscribe('month', { billing_anchor: 'calendar' });
      await grant(KEPT.rollover, '2026-04-01T00:04:00Z');
      await grant(KEPT.rollover);
      await command('cancel', { when: 'period_end' });
      engine.clock.set('2026-03-31T12:00:00Z');
      await runDue();
      engine.clock.set('2026-04-01T00:03:00Z');
      if (!isLate) await runDue();
      await use(60);
      engine.clock.set('2026-04-01T00:05:00Z');
      if (!isLate) await runDue();
      await subscribeAlso('50', 'month');
      expect(await figures()).toEqual(['110', '60', '50']);
    }
  });

  it('stays covered by a renewed subscription and by another that ended after it', async () => {
    for (const isLate of [true, false]) {
      await subscribe('day', { ...KEPT, billing_anchor: 'calendar' });
      await command('change', { plan_id: await plan('50', 'day'), when: 'period_end' });
      const other = await subscribeAlso('100', 'day', { start_at: '2026-03-01T00:02:00Z' });
      const cancel = `/v1/subscriptions/${other}/cancel`;
      await engine.http.post(cancel).send({ when: 'period_end' }).expect(200);
      engine.clock.set('2026-03-31T12:00:00Z');
      await runDue();
      engine.clock.set('2026-04-01T00:01:00Z');
      if (!isLate) await runDue();
      await use(130);
      engine.clock.set('2026-04-01T00:05:00Z');
      await runDue();
      expect(await figures()).toEqual(['160', '130', '30']);
    }
  });

  it.each([
    ['period', 'week'],
    ['day', 'week'],
    ['day', 'never'],
  ])(
    'uses the new allowance after a late renewal from the reset %s to %s',
    async (former, reset) => {
      for (const terms of [KEPT, {}]) {
        await subscribe(former, { ...terms, billing_anchor: 'calendar' });
        await command('change', { plan_id: await plan('50', reset), when: 'period_end' });
        engine.clock.set('2026-03-31T12:00:00Z');
        await runDue();
        engine.clock.set('2026-04-01T00:03:00Z');
        await use();
        engine.clock.set('2026-04-01T00:05:00Z');
        await runDue();
        if (terms === KEPT) expect(await figures()).toEqual(['80', '80', '0']);
        else expect(await figures()).toEqual(['50', '80', '0']);
      }
    },
  );

  it.each([[null], ['2026-12-01T00:00:00Z']])(
    'uses the new allowance from the start of a period within the former day (date by a wrong clock before it: %s)',
    async (misdated) => {
      await subscribe('day');
      await command('change', { plan_id: await plan('50', 'day'), when: 'period_end' });
      await engine.database.query(
        'UPDATE customer_entitlement SET updated_at = coalesce($2, updated_at) WHERE customer_id = $1',
        [customerId, misdated],
      );
      engine.clock.set('2026-04-10T00:00:01Z');
      await runDue();
      engine.clock.set('2026-04-11T00:03:00Z');
      await use();
      engine.clock.set('2026-04-11T00:05:00Z');
      await runDue();
      expect(await figures()).toEqual(['80', '80', '0']);
    },
  );

  it('is not covered after the end of a grace period', async () => {
    await subscribe('day');
    const setStatus = (status: string) =>
      engine.database.query('UPDATE subscription SET status = $2 WHERE id = $1', [
        subscriptionId,
        status,
      ]);
    await setStatus('past_due');
    await engine.database.query(
      'INSERT INTO entitlement_grace (subscription_id, customer_id, started_at) VALUES ($1, $2, $3)',
      [subscriptionId, customerId, '2026-03-08T00:00:00Z'],
    );
    engine.clock.set('2026-03-11T00:03:00Z');
    await use();
    engine.clock.set('2026-03-11T00:05:00Z');
    while (await engine.app.get(EntitlementWindows).runDue()) continue;
    expect(await figures()).toEqual(['30', '80', '0']);
    await setStatus('active');
  });

  it('is not covered after the end in a window that was not open', async () => {
    await subscribe('day');
    await command('cancel', { when: 'period_end' });
    engine.clock.set('2026-04-09T12:00:00Z');
    await runDue();
    engine.clock.set('2026-04-10T12:02:00Z');
    await use();
    engine.clock.set('2026-04-10T12:05:00Z');
    await runDue();
    expect(await figures()).toEqual(['30', '80', '0']);
  });

  it('counts by the plan that follows an end that is processed late', async () => {
    await subscribe('day', { billing_anchor: 'calendar' });
    await command('cancel', { when: 'period_end' });
    engine.clock.set('2026-03-31T12:00:00Z');
    await runDue();
    engine.clock.set('2026-04-01T08:00:00Z');
    await use();
    engine.clock.set('2026-04-01T09:00:00Z');
    await runDue();
    engine.clock.set('2026-04-01T09:10:00Z');
    await subscribeAlso('20', 'day');
    await allowances.grant(entitlement.key, { value: '30' });
    expect(await figures()).toEqual(['50', '80', '0']);
  });
});
