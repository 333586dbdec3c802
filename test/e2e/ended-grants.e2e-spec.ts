import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { createCustomer, reportUsage } from '../support/metering';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const EXPIRES_AT = '2026-03-02T00:00:00.000Z';
const DAY_MS = 86_400_000;

describe('a grant that ends by itself', () => {
  let engine: TestApp;
  let allowances: Allowances;

  beforeEach(async () => {
    engine = await startTestApp();
    allowances = new Allowances(engine, await createCustomer(engine));
  });

  afterEach(async () => {
    await engine.close();
  });

  const post = async (path: string, body: object): Promise<{ readonly id: string }> =>
    (await engine.http.post(`/v1/${path}`).send(body)).body as { readonly id: string };

  const endingsOf = async (id: string) => (await eventsOf(engine, id)).slice(1);

  it.each(['boolean', 'static', 'metered'])(
    'records its expiry once, when it is due, for a %s entitlement',
    async (type) => {
      const { key } = await createEntitlement(engine, { type });
      const value = type === 'boolean' ? {} : { value: '5' };
      const { id } = await allowances.grant(key, { ...value, expires_at: EXPIRES_AT });
      const lasting = await allowances.grant(key, value);
      if (type === 'metered') await allowances.consume(key, '2');
      await engine.app.get(EntitlementWindows).runDue();
      expect(await endingsOf(id)).toEqual([]);
      engine.clock.advanceMs(DAY_MS);
      await engine.app.get(EntitlementWindows).runDue();
      expect(await endingsOf(id)).toMatchObject([
        {
          type: 'entitlement.grant_expired',
          sequence: 2,
          data: {
            object: { id, key, status: 'expired', remaining: null, ended_at: EXPIRES_AT },
            previous: {
              status: 'active',
              ended_at: null,
              ...(type === 'metered' && { remaining: '3' }),
            },
          },
        },
      ]);
      await allowances.of(key);
      await engine.app.get(EntitlementWindows).runDue();
      expect([await endingsOf(id), await endingsOf(lasting.id)]).toMatchObject([[{}], []]);
    },
  );

  it('records its expiry in the commit of a check that comes before the work that is due', async () => {
    const { key } = await createEntitlement(engine);
    const { id } = await allowances.grant(key, { value: '5', expires_at: EXPIRES_AT });
    engine.clock.advanceMs(DAY_MS);
    expect(await allowances.of(key)).toMatchObject({ has_access: false });
    expect(await endingsOf(id)).toMatchObject([{ type: 'entitlement.grant_expired' }]);
  });

  it('gives nothing to usage that is reported after its expiry and before the work that is due', async () => {
    const meterId = await createMeter(engine, { aggregation: 'sum', value_property: 'n' });
    const { key } = await createEntitlement(engine, { meter_id: meterId });
    const customerId = await createCustomer(engine);
    const ofCustomer = new Allowances(engine, customerId);
    await ofCustomer.grant(key, { value: '10' });
    await ofCustomer.grant(key, { value: '100', expires_at: EXPIRES_AT });
    engine.clock.advanceMs(DAY_MS);
    await reportUsage(engine, customerId, 'api_call', [['2026-03-02T00:00:00Z', 9, null]]);
    const { body } = await engine.http.get(`/v1/events?customer_id=${customerId}&limit=100`);
    const types = (body as { readonly data: readonly { readonly type: string }[] }).data.map(
      ({ type }) => type,
    );
    expect(types).toContain('entitlement.grant_expired');
    expect(types).toContain('entitlement.threshold_reached');
    expect(await ofCustomer.figures(key)).toEqual(['10', '9', '1']);
  });

  it('records that it lapsed when a window ends, and not while it rolls over', async () => {
    const { id: entitlementId, key } = await createEntitlement(engine);
    const { id: planId } = await post('plans', {
      code: 'daily',
      name: 'Daily',
      currency: 'USD',
      interval: 'month',
      prices: [],
      entitlements: [{ entitlement_id: entitlementId, value: '10', reset: 'day' }],
    });
    const customerId = await createCustomer(engine);
    await post('subscriptions', { customer_id: customerId, plan_id: planId });
    const ofSubscriber = new Allowances(engine, customerId);
    const { id } = await ofSubscriber.grant(key, { value: '5' });
    const kept = await ofSubscriber.grant(key, { value: '5', rollover: { max: '5' } });
    engine.clock.advanceMs(DAY_MS);
    await engine.app.get(EntitlementWindows).runDue();
    expect(await endingsOf(id)).toMatchObject([
      {
        type: 'entitlement.grant_lapsed',
        data: {
          object: { status: 'lapsed', remaining: null, ended_at: EXPIRES_AT },
          previous: { status: 'active', remaining: '5', ended_at: null },
        },
      },
    ]);
    expect(await endingsOf(kept.id)).toEqual([]);
  });
});
