import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';

let made = 0;

/** Clocks of processes may differ by 5 s (decision 36). */
describe('a reset window that a process began whose clock is ahead', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
    await disableLockTimeout(engine);
  });

  afterAll(() => engine.close());

  async function post(path: string, body: object): Promise<{ readonly id: string }> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect([answer.status, answer.body]).toEqual([201, answer.body]);
    return answer.body as { readonly id: string };
  }

  /** Subscribes a customer to a daily plan with a hard limit of 10. By default, the first window ends with 2 March. */
  async function subscribed(
    reset: string,
    meterId: string | null,
    startAt = '2026-03-02T00:00:00.000Z',
  ) {
    made += 1;
    const entitlement = await createEntitlement(engine, { meter_id: meterId });
    const plan = await post('plans', {
      code: `two-clocks-${made}`,
      name: 'Daily',
      currency: 'USD',
      interval: 'day',
      prices: [],
      entitlements: [{ entitlement_id: entitlement.id, value: '10', is_hard_limit: true, reset }],
    });
    engine.clock.set(startAt);
    const customer = await post('customers', { name: 'Ada Lovelace' });
    await post('subscriptions', { customer_id: customer.id, plan_id: plan.id });
    const allowances = new Allowances(engine, customer.id);
    const { key } = entitlement;
    return {
      key,
      allowances,
      customerId: customer.id,
      /** Consumes by a clock that differs by so many seconds from the end of the first window. */
      consumeAt: async (seconds: number, quantity: string) => {
        engine.clock.set('2026-03-03T00:00:00.000Z');
        engine.clock.advanceMs(seconds * 1_000);
        const { allowed, used, resets_at: resetsAt } = await allowances.consume(key, quantity);
        return [allowed, used, resetsAt];
      },
    };
  }

  async function renewAt(seconds: number): Promise<void> {
    engine.clock.set('2026-03-03T00:00:00.000Z');
    engine.clock.advanceMs(seconds * 1_000);
    while (await engine.app.get(DueSubscriptions).runDue());
    while (await engine.app.get(EntitlementWindows).runDue());
  }

  const NEXT = '2026-03-04T00:00:00.000Z';

  const meters: readonly (readonly [string, object | null])[] = [
    ['no meter', null],
    ['a meter', { aggregation: 'sum', value_property: 'n' }],
  ];
  describe.each(meters)('with %s', (_, fields) => {
    const meterId = () =>
      fields === null ? null : createMeter(engine, { ...fields, event_name: `used-${made}` });

    it.each(['period', 'day'])('counts all consumptions once, by the %s', async (reset) => {
      const { allowances, key, consumeAt } = await subscribed(reset, await meterId());
      expect(await consumeAt(-60, '10')).toEqual([true, '10', '2026-03-03T00:00:00.000Z']);
      await renewAt(3);
      // Without a meter, a check begins the window of a day.
      if (reset === 'day') expect(await allowances.figures(key)).toEqual(['10', '0', '10']);
      expect(await consumeAt(-1, '4')).toEqual([true, '4', NEXT]);
      expect(await consumeAt(3, '3')).toEqual([true, '7', NEXT]);
      expect(await consumeAt(-1, '4')).toEqual([false, '7', NEXT]);
      expect(await consumeAt(-1, '3')).toEqual([true, '10', NEXT]);
      expect(await consumeAt(3, '1')).toEqual([false, '10', NEXT]);
      expect(await consumeAt(7_200, '1')).toEqual([false, '10', NEXT]);
    });

    it('stays the window of a renewal that read the clock before it waited for a lock', async () => {
      const { allowances, key, customerId, consumeAt } = await subscribed(
        'day',
        await meterId(),
        '2026-03-01T23:59:45.000Z',
      );
      const release = await openTransaction(engine.database, () =>
        engine.database.query('SELECT FROM customer_access WHERE customer_id = $1 FOR UPDATE', [
          customerId,
        ]),
      );
      const renewed = renewAt(-12);
      await untilSessionsWait(engine.database);
      expect(await consumeAt(1, '7')).toEqual([true, '7', NEXT]);
      await allowances.grant(key, { value: '5' });
      await release();
      await renewed;
      expect(await allowances.figures(key)).toEqual(['15', '7', '8']);
      expect(await allowances.grants(key)).toEqual([['active', '5']]);
      expect(await consumeAt(1, '9')).toEqual([false, '7', NEXT]);
    });
  });

  it('refills grants once', async () => {
    const { allowances, key, consumeAt } = await subscribed('period', null);
    await allowances.grant(key, { value: '5', rollover: { min: '2', max: '5' } });
    expect(await consumeAt(-60, '15')).toEqual([true, '15', '2026-03-03T00:00:00.000Z']);
    await renewAt(3);
    expect(await consumeAt(-1, '12')).toEqual([true, '12', NEXT]);
    expect(await consumeAt(3, '1')).toEqual([false, '12', NEXT]);
    expect(await allowances.grants(key)).toEqual([['active', '0']]);
  });

  it('stays the window of grants that are made by a clock that is behind', async () => {
    const { allowances, key, consumeAt, customerId } = await subscribed('period', null);
    await renewAt(3);
    expect(await consumeAt(3, '6')).toEqual([true, '6', NEXT]);
    engine.clock.advanceMs(-4_000);
    await post(`customers/${customerId}/entitlements/${key}/grants`, { value: '1' });
    expect(await allowances.figures(key)).toEqual(['11', '6', '5']);
    expect(await consumeAt(3, '5')).toEqual([true, '11', NEXT]);
  });
});
