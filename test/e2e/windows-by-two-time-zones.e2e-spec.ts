import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { createCustomer, insertMeter, reportUsage } from '../support/metering';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

/** The days of the older subscription, in Tokyo, apply until its end. Then the days of the other, in UTC, apply. */
describe('the days of two subscriptions in different time zones', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp();
  });

  afterEach(() => engine.close());

  it.each([[true], [false]])('count usage once (opened on time: %s)', async (isPunctual) => {
    const valueProperty = 'n';
    const meter_id = await insertMeter(engine, {
      eventName: 'call',
      aggregation: 'sum',
      valueProperty,
    });
    const { id, key } = await createEntitlement(engine, { meter_id });
    const customerId = await createCustomer(engine, { timezone: 'Asia/Tokyo' });
    const subscribe = async (code: string): Promise<string> => {
      const plan = await post(engine, '/v1/plans', {
        code,
        name: 'Daily',
        currency: 'USD',
        interval: 'month',
        prices: [],
        entitlements: [{ entitlement_id: id, value: '10', reset: 'day' }],
      });
      const body = { customer_id: customerId, plan_id: plan.id };
      return (await post(engine, '/v1/subscriptions', body)).id;
    };
    const older = await subscribe('tokyo');
    await engine.http.patch(`/v1/customers/${customerId}`).send({ timezone: 'UTC' }).expect(200);
    await subscribe('utc');
    const allowances = new Allowances(engine, customerId);
    await allowances.grant(key, { value: '100', rollover: { max: '100' } });
    expect(await allowances.of(key)).toMatchObject({ resets_at: '2026-03-01T15:00:00.000Z' });
    const openWindows = async (time: string): Promise<void> => {
      engine.clock.set(time);
      if (!isPunctual) return;
      while (await engine.app.get(EntitlementWindows).runDue()) continue;
    };
    // One day in Tokyo, two days in UTC: 20 of the 50 are covered, and 30 are taken from the grant.
    for (const time of ['2026-03-01T16:00:00.000Z', '2026-03-02T01:00:00.000Z']) {
      await openWindows(time);
      await reportUsage(engine, customerId, 'call', [[time, 25, null]]);
    }
    await openWindows('2026-03-02T15:00:00.000Z');
    await openWindows('2026-03-03T15:00:00.000Z');
    engine.clock.set('2026-03-03T18:00:00.000Z');
    await engine.http.post(`/v1/subscriptions/${older}/cancel`).send({ when: 'now' }).expect(200);
    await openWindows('2026-03-05T06:00:00.000Z');
    await allowances.of(key);
    expect(await allowances.grants(key)).toEqual([['active', '70']]);
  });
});
