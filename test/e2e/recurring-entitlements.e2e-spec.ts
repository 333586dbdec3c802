import { Allowances, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

let made = 0;

describe('an entitlement that is counted by a recurring weighted sum', () => {
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

  /** Subscribes a customer on a test clock to 10 GB, and stores 6 GB at the start of April, which has 30 days. */
  async function storing(isRecurring: boolean, reset = 'period', isOnTestClock = true) {
    made += 1;
    const event = `stored-${made}`;
    const meterId = await createMeter(engine, {
      event_name: event,
      aggregation: 'weighted_sum',
      value_property: 'gb',
      is_recurring: isRecurring,
    });
    const entitlement = await createEntitlement(engine, { meter_id: meterId });
    const plan = await post('plans', {
      code: `stored-${made}`,
      name: 'Storage',
      currency: 'USD',
      interval: 'month',
      prices: [],
      entitlements: [{ entitlement_id: entitlement.id, value: '10', is_hard_limit: true, reset }],
    });
    const clock = await post('test-clocks', { name: 'April', now: '2026-04-01T00:00:00.000Z' });
    engine.clock.set('2026-05-11T00:00:00.000Z');
    const customer = await post('customers', {
      name: 'Ada Lovelace',
      ...(isOnTestClock ? { test_clock_id: clock.id } : {}),
    });
    const allowances = new Allowances(engine, customer.id);
    const store = async (timestamp: string, gb: number) => {
      made += 1;
      const idempotency_key = `stored-${made}`;
      const named = { idempotency_key, customer_id: customer.id, event_name: event };
      await post('usage-events', { ...named, timestamp, properties: { gb } });
      return idempotency_key;
    };
    const first = await store('2026-04-01T00:00:00.000Z', 6);
    await post('subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      ...(isOnTestClock ? {} : { start_at: '2026-05-10T23:30:00.000Z' }),
    });
    return {
      store,
      first,
      figures: () => allowances.figures(entitlement.key),
      advance: (to: string) => post(`test-clocks/${clock.id}/advance`, { to }),
      usage: async (from: string, to: string) => {
        const query = { customer_id: customer.id, from, to };
        const { body } = await engine.http.get(`/v1/meters/${meterId}/usage`).query(query);
        return (body as { readonly total: string }).total;
      },
    };
  }

  it('counts what is held at the start of the window, as the meter does', async () => {
    const { store, first, figures, advance, usage } = await storing(true);
    expect(await figures()).toEqual(['10', '6', '4']);
    await advance('2026-05-01T00:00:00.000Z');
    expect(await figures()).toEqual(['10', '6', '4']);
    await store('2026-05-01T00:00:00.000Z', 1);
    expect(await figures()).toEqual(['10', '7', '3']);
    await store('2026-04-30T23:59:59.999Z', 2);
    expect(await figures()).toEqual(['10', '9', '1']);
    expect(await usage('2026-05-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z')).toBe('9');
    await post('usage-events/void', { idempotency_key: first });
    expect(await figures()).toEqual(['10', '3', '7']);
    await store('2026-04-05T12:00:00.000Z', 8);
    expect(await figures()).toEqual(['10', '11', '0']);
  });

  it('counts it in calendar windows', async () => {
    const { store, figures, advance } = await storing(true, 'day');
    await advance('2026-04-11T00:00:00.000Z');
    expect(await figures()).toEqual(['10', '6', '4']);
    await store('2026-04-11T00:00:00.000Z', -2);
    expect(await figures()).toEqual(['10', '4', '6']);
  });

  it('counts it without a test clock, within the hour of the start', async () => {
    const { store, figures } = await storing(true, 'period', false);
    expect(await figures()).toEqual(['10', '6', '4']);
    await store('2026-05-10T23:15:00.000Z', 2);
    expect(await figures()).toEqual(['10', '8', '2']);
    await store('2026-05-10T23:30:00.000Z', 1);
    expect(await figures()).toEqual(['10', '9', '1']);
  });

  it('starts each window at zero if the meter is not recurring', async () => {
    const { store, figures, advance } = await storing(false);
    await advance('2026-05-01T00:00:00.000Z');
    expect(await figures()).toEqual(['10', '0', '10']);
    await store('2026-04-30T00:00:00.000Z', 5);
    expect(await figures()).toEqual(['10', '0', '10']);
  });
});
