import { Allowances, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

let made = 0;

describe('an entitlement that is counted by a weighted sum', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function post<Body = { readonly id: string }>(path: string, body: object): Promise<Body> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect(answer.status).toBeLessThan(300);
    return answer.body as Body;
  }

  /** Subscribes a customer on a test clock to a plan for each reset, with a hard limit. */
  async function subscribed(
    now: string,
    resets: readonly (readonly [reset: string, value: string])[],
    isRecurring = false,
  ) {
    made += 1;
    const event = `held-${made}`;
    const meterId = await createMeter(engine, {
      key: event,
      event_name: event,
      aggregation: 'weighted_sum',
      value_property: 'gb',
      is_recurring: isRecurring,
    });
    const { id: entitlementId, key } = await createEntitlement(engine, { meter_id: meterId });
    const clock = await post('test-clocks', { name: 'Held', now });
    const customer = await post('customers', { name: 'Ada', test_clock_id: clock.id });
    for (const [reset, value] of resets) {
      made += 1;
      const plan = { code: `held-${made}`, name: 'Storage', currency: 'USD', interval: 'month' };
      const terms = { entitlement_id: entitlementId, value, is_hard_limit: true, reset };
      const { id } = await post('plans', { ...plan, prices: [], entitlements: [terms] });
      const subscription = { customer_id: customer.id, plan_id: id };
      await post('subscriptions', subscription);
    }
    const allowances = new Allowances(engine, customer.id);
    return {
      grant: (terms: object) => allowances.grant(key, { value: '5', ...terms }),
      figures: () => allowances.figures(key),
      advance: (to: string) => post(`test-clocks/${clock.id}/advance`, { to }),
      store: async (timestamp: string, gb: number) => {
        made += 1;
        const idempotency_key = `held-${made}`;
        const named = { idempotency_key, customer_id: customer.id, event_name: event };
        await post('usage-events', { ...named, timestamp, properties: { gb } });
        return idempotency_key;
      },
      /** Replaces the stored usage of the balance. */
      setUsed: (used: string) =>
        engine.database.query(
          'UPDATE customer_entitlement SET used = $1, covered = $1 WHERE customer_id = $2',
          [used, customer.id],
        ),
      notified: async () => {
        const path = `/v1/events?customer_id=${customer.id}&limit=100&type=entitlement.*`;
        const { data } = (await engine.http.get(path)).body as {
          readonly data: readonly { readonly type: string }[];
        };
        return data.map(({ type }) => type).sort();
      },
    };
  }

  it.each([false, true])(
    'reaches the limit of a window without an end, recurring %j',
    async (isRecurring) => {
      const resets = [['never', '20']] as const;
      const held = await subscribed('2026-01-01T00:00:00Z', resets, isRecurring);
      await held.store('2025-12-31T12:00:00Z', 1);
      await held.advance('2026-06-02T00:00:00Z');
      const key = await held.store('2026-06-01T00:00:00Z', isRecurring ? 18.5 : 19.5);
      await held.store('2026-06-02T00:00:00Z', 0.5);
      expect(await held.figures()).toEqual(['20', '20', '0']);
      expect(await held.notified()).toEqual([
        'entitlement.limit_reached',
        'entitlement.threshold_reached',
        'entitlement.threshold_reached',
      ]);
      await post('usage-events/void', { idempotency_key: key });
      expect(await held.figures()).toEqual(
        isRecurring ? ['20', '1.5', '18.5'] : ['20', '0.5', '19.5'],
      );
    },
  );

  it('corrects a stored usage of a window without an end, which a former version divided', async () => {
    const held = await subscribed('2026-01-01T00:00:00Z', [['never', '20']]);
    await held.advance('2026-06-02T00:00:00Z');
    await held.store('2026-06-01T00:00:00Z', 19);
    await held.setUsed('18.999');
    await held.store('2026-06-01T00:00:00Z', 1);
    expect(await held.figures()).toEqual(['20', '20', '0']);
    await held.setUsed('19.998963');
    await held.grant({});
    expect(await held.figures()).toEqual(['25', '20', '5']);
  });
});
