import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { startTestApp, type TestApp } from '../support/test-app';

const MARCH = '2026-03-31T23:59:00.000Z';
const APRIL = '2026-04-01T00:00:00.000Z';

/** Clocks of processes may differ by 5 s (decision 36). The windows of the tests change at the start of April. */
describe('entitlement balances of two processes, of which one is 2 s behind', () => {
  let ahead: TestApp;
  let behind: TestApp;
  let made = 0;

  beforeAll(async () => {
    ahead = await startTestApp();
    behind = await startTestApp({ databaseUrl: ahead.databaseUrl });
  });

  afterAll(async () => {
    await behind.close();
    await ahead.close();
  });

  const setClocks = (instant: string): void => {
    ahead.clock.set(instant);
    behind.clock.set(instant);
    behind.clock.advanceMs(-2_000);
  };

  const send = async (path: string, body: object): Promise<string> => {
    const { status, body: answer } = await ahead.http.post(path).send(body);
    expect(status).toBe(201);
    return (answer as { id: string }).id;
  };

  /** Subscribes a customer on 1 March to a plan that allows 5 of an entitlement. */
  async function subscriber({ reset, isMetered }: Terms) {
    setClocks('2026-03-01T00:00:00.000Z');
    made += 1;
    const name = `skewed_${made}`;
    const meter_id = isMetered
      ? await send('/v1/meters', {
          key: name,
          name,
          event_name: name,
          aggregation: 'sum',
          value_property: 'amount',
        })
      : null;
    const { id: entitlement_id, key } = await createEntitlement(ahead, { meter_id });
    const plan_id = await send('/v1/plans', {
      code: name,
      name,
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 100 }],
      entitlements: [{ entitlement_id, value: '5', reset }],
    });
    const customer_id = await send('/v1/customers', { name: 'Ada Lovelace' });
    await send('/v1/subscriptions', {
      customer_id,
      plan_id,
      billing_anchor: 'calendar',
    });
    return {
      key,
      first: new Allowances(ahead, customer_id),
      second: new Allowances(behind, customer_id),
    };
  }

  /** Renews subscriptions and opens windows by the clock that is ahead. */
  async function enterApril(): Promise<void> {
    setClocks(APRIL);
    await ahead.app.get(DueSubscriptions).runDue();
    await ahead.app.get(EntitlementWindows).runDue();
  }

  interface Terms {
    readonly reset: 'period' | 'month';
    readonly isMetered: boolean;
  }

  describe.each<Terms>([
    { reset: 'period', isMetered: false },
    { reset: 'period', isMetered: true },
    { reset: 'month', isMetered: false },
    { reset: 'month', isMetered: true },
  ])('that reset by the $reset, with a meter: $isMetered,', (terms) => {
    it('stay in the window that the other process has entered', async () => {
      const { key, first, second } = await subscriber(terms);
      setClocks(MARCH);
      expect(await first.consume(key, '4')).toMatchObject({ allowed: true });
      await enterApril();
      expect(await first.figures(key)).toEqual(['5', '0', '5']);
      expect(await first.grant(key, { value: '3' })).toMatchObject({ remaining: '3' });

      // Each grant recalculates the balance.
      await second.grant(key, { value: '1', priority: 200 });
      expect(await second.figures(key)).toEqual(['9', '0', '9']);
      expect(await second.consume(key, '7')).toMatchObject({ allowed: true });
      expect(await second.consume(key, '3')).toMatchObject({ allowed: false });
      await second.grant(key, { value: '1', priority: 300 });
      expect(await second.figures(key)).toEqual(['10', '7', '3']);
      expect(await first.figures(key)).toEqual(['10', '7', '3']);

      setClocks('2026-04-01T00:00:10.000Z');
      await first.grant(key, { value: '1', priority: 400 });
      for (const one of [first, second]) {
        expect(await one.figures(key)).toEqual(['11', '7', '4']);
        expect(await one.grants(key)).toEqual([
          ['active', '1'],
          ['active', '1'],
          ['active', '1'],
          ['active', '1'],
        ]);
      }
    });

    it('never allow more than the limit, whichever process consumes', async () => {
      const { key, first, second } = await subscriber(terms);
      setClocks(MARCH);
      expect(await second.consume(key, '5')).toMatchObject({ allowed: true });
      expect(await first.consume(key, '1')).toMatchObject({ allowed: false });
      await enterApril();
      expect(await first.figures(key)).toEqual(['5', '0', '5']);
      expect(await second.consume(key, '3')).toMatchObject({ allowed: true });
      expect(await first.consume(key, '1')).toMatchObject({ allowed: true });
      expect(await second.consume(key, '2')).toMatchObject({ allowed: false });
      expect(await second.consume(key, '1')).toMatchObject({ allowed: true });
      for (const one of [first, second]) {
        expect(await one.consume(key, '1')).toMatchObject({ allowed: false });
        expect(await one.figures(key)).toEqual(['5', '5', '0']);
      }
      setClocks('2026-04-01T00:00:10.000Z');
      expect(await second.figures(key)).toEqual(['5', '5', '0']);
    });

    it('begin with the subscription, and are not given again when the other clock has reached its start', async () => {
      const { key, first, second } = await subscriber(terms);
      expect(await second.consume(key, '3')).toMatchObject({ allowed: true });
      setClocks('2026-03-01T00:00:04.000Z');
      for (const one of [first, second]) {
        expect(await one.figures(key)).toEqual(['5', '3', '2']);
        expect(await one.consume(key, '3')).toMatchObject({ allowed: false });
      }
    });
  });
});
