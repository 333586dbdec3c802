import { Allowances, createAddonWith, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { createCustomer, reportUsage } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { post } from '../support/requests';

const HOUR_MS = 3_600_000;
const ROLLOVER = { max: '100' };

describe('a window that one with an earlier start replaces, before the background work that is due', () => {
  let engine: TestApp;
  let customerId: string;
  let allowances: Allowances;
  let made = 0;

  beforeEach(async () => {
    engine = await startTestApp();
    customerId = await createCustomer(engine);
    allowances = new Allowances(engine, customerId);
  });

  afterEach(() => engine.close());

  const plan = async (entitlements: readonly object[]): Promise<string> => {
    made += 1;
    const fields = { code: `plan-${made}`, name: 'P', currency: 'USD', interval: 'month' };
    return (await post(engine, '/v1/plans', { ...fields, prices: [], entitlements })).id;
  };
  const subscribe = (planId: string, fields: object = {}) =>
    post(engine, '/v1/subscriptions', { customer_id: customerId, plan_id: planId, ...fields });
  const report = (timestamp: string, n: number) =>
    reportUsage(engine, customerId, 'api_call', [[timestamp, n, null]]);

  /** Subscribes the customer to 10 a day, and uses them on 1 March. `toMonth` changes the plan to 12 a month. */
  async function subscribed() {
    const meterId = await createMeter(engine, { aggregation: 'sum', value_property: 'n' });
    const { id, key } = await createEntitlement(engine, { meter_id: meterId });
    const allowed = { entitlement_id: id, is_hard_limit: true };
    const day = await plan([{ ...allowed, value: '10', reset: 'day' }]);
    const month = await plan([{ ...allowed, value: '12', reset: 'month' }]);
    const subscription = await subscribe(day);
    const first = await report('2026-03-01T09:00:00Z', 10);
    const change = { plan_id: month, when: 'now' };
    return {
      key,
      first,
      toMonth: () => post(engine, `/v1/subscriptions/${subscription.id}/change`, change),
    };
  }

  it.each([true, false])(
    'keeps usage that was reported ahead for its next day (checked on that day: %s)',
    async (isChecked) => {
      const { key, toMonth } = await subscribed();
      await allowances.grant(key, { value: '30', rollover: ROLLOVER });
      engine.clock.advanceMs(10 * HOUR_MS);
      await report('2026-03-02T03:00:00Z', 14);
      engine.clock.advanceMs(10 * HOUR_MS);
      if (isChecked) expect(await allowances.figures(key)).toEqual(['40', '14', '26']);
      await toMonth();
      expect(await allowances.figures(key)).toEqual(['50', '24', '26']);
      expect(await allowances.grants(key)).toEqual([['active', '26']]);
    },
  );

  it.each([true, false])(
    'keeps usage after the expiry of a grant (checked after the expiry: %s)',
    async (isChecked) => {
      const { key, toMonth } = await subscribed();
      engine.clock.advanceMs(24 * HOUR_MS);
      const expiry = { expires_at: '2026-03-02T10:00:00.000Z', priority: 1 };
      await allowances.grant(key, { value: '10', rollover: ROLLOVER, ...expiry });
      await allowances.grant(key, { value: '50', rollover: ROLLOVER });
      await report('2026-03-02T09:00:00Z', 4);
      await report('2026-03-02T11:00:00Z', 8);
      engine.clock.advanceMs(3 * HOUR_MS);
      if (isChecked) expect(await allowances.figures(key)).toEqual(['60', '12', '48']);
      await toMonth();
      expect(await allowances.figures(key)).toEqual(['70', '22', '48']);
      expect(await allowances.grants(key)).toEqual([
        ['expired', null],
        ['active', '48'],
      ]);
    },
  );

  it.each([
    ['10', ['45', '36', '9'], '9'],
    ['100', ['120', '36', '84'], '12'],
  ])(
    'counts usage that causes the recalculation in the new window, with an allowance of %s',
    async (value, figures, remaining) => {
      const meterId = await createMeter(engine, { aggregation: 'sum', value_property: 'n' });
      const { id, key } = await createEntitlement(engine, { meter_id: meterId });
      const other = await createEntitlement(engine);
      const { addonId } = await createAddonWith(engine, other.id, { mode: 'set', value: '1' });
      await subscribe(await plan([]), { addons: [{ addon_id: addonId }] });
      engine.clock.advanceMs(2 * HOUR_MS);
      await report('2026-03-01T10:00:00Z', 25);
      engine.clock.advanceMs(24 * HOUR_MS);
      await allowances.grant(key, { value: '20' });
      await report('2026-03-02T11:30:00Z', 8);
      expect(await allowances.figures(key)).toEqual(['20', '8', '12']);
      // The billing period of the add-on began before the window of the grant.
      const link = { addon_id: addonId, entitlement_id: id, mode: 'increment', value };
      await post(engine, '/v1/addon-entitlements', link);
      await report('2026-03-02T11:31:00Z', 3);
      expect(await allowances.figures(key)).toEqual(figures);
      expect(await allowances.grants(key)).toEqual([['active', remaining]]);
    },
  );

  it('gives voided usage back to active grants first, and covers no later usage instead', async () => {
    const { key, first, toMonth } = await subscribed();
    await allowances.grant(key, { value: '30', rollover: ROLLOVER });
    engine.clock.advanceMs(24 * HOUR_MS);
    await report('2026-03-02T09:00:00Z', 10);
    await toMonth();
    await allowances.consume(key, '5');
    expect(await allowances.figures(key)).toEqual(['50', '25', '25']);
    await post(engine, '/v1/usage-events/void', { idempotency_key: first });
    expect(await allowances.figures(key)).toEqual(['45', '15', '30']);
    await report('2026-03-02T09:10:00Z', 10);
    expect(await allowances.figures(key)).toEqual(['45', '25', '20']);
  });
});
