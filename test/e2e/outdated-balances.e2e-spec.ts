import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createAddonWith, createEntitlement } from '../support/allowances';
import { createCustomer } from '../support/metering';
import { post } from '../support/requests';
import { EVENTS } from '../support/stored-events';
import { startTestApp, type TestApp } from '../support/test-app';

/** Five more than are recalculated in a commit of usage. */
const CUSTOMERS = 25;

interface Granted {
  readonly entitlementId: string;
  readonly key: string;
  readonly eventName: string;
  readonly customers: readonly Allowances[];
  readonly ids: readonly string[];
}

describe('usage of many outdated balances in one list', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Grants customers 10 each, with a threshold of 50 %. */
  async function granted(fields: object = {}): Promise<Granted> {
    const eventName = `call.${(made += 1)}`;
    const { id: meter_id } = await post(engine, '/v1/meters', {
      key: `calls_${made}`,
      name: 'Calls',
      event_name: eventName,
      aggregation: 'sum',
      value_property: 'n',
    });
    const { id, key } = await createEntitlement(engine, { meter_id, thresholds: [50] });
    const ids: string[] = [];
    for (let n = 0; n < CUSTOMERS; n += 1) ids.push(await createCustomer(engine));
    const customers = ids.map((one) => new Allowances(engine, one));
    for (const one of customers) {
      await one.grant(key, { value: '10', ...fields });
      await one.of(key);
    }
    return { entitlementId: id, key, eventName, customers, ids };
  }

  async function send({ ids, eventName }: Granted, n: string, timestamp: Date): Promise<void> {
    const events = ids.map((customer_id) => ({
      idempotency_key: `event-${(made += 1)}`,
      customer_id,
      event_name: eventName,
      timestamp: timestamp.toISOString(),
      properties: { n },
    }));
    expect(await post(engine, '/v1/usage-events', { events })).toMatchObject({
      accepted: CUSTOMERS,
    });
  }

  /** Returns the indexes of the customers whose balance was left to a check or to background work. */
  async function postponed({ ids, entitlementId }: Granted): Promise<readonly number[]> {
    const rows = await engine.database.query<{ id: string }>(
      `SELECT customer_id AS id FROM customer_entitlement WHERE entitlement_id = $1 AND access_version = 0`,
      [entitlementId],
    );
    return rows.map(({ id }) => ids.indexOf(id)).sort((one, other) => one - other);
  }

  async function notified({ key }: Granted): Promise<readonly unknown[]> {
    return engine.database.query(
      `SELECT type, count(*)::int AS events, count(DISTINCT data->'object'->>'customer_id')::int AS customers
       FROM ${EVENTS} WHERE type LIKE 'entitlement.%reached' AND data->'object'->>'key' = $1 GROUP BY type ORDER BY type`,
      [key],
    );
  }

  const threshold = (count: number) => ({
    type: 'entitlement.threshold_reached',
    events: count,
    customers: count,
  });

  const recalculateDue = async (): Promise<void> => {
    while (await engine.app.get(EntitlementWindows).runDue()) continue;
  };

  async function createPlan(
    { entitlementId }: Granted,
    value: string,
    reset: string,
  ): Promise<string> {
    const { id } = await post(engine, '/v1/plans', {
      code: `outdated-${(made += 1)}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Plan', model: 'flat', amount: 100, timing: 'in_advance' }],
      entitlements: [{ entitlement_id: entitlementId, value, reset }],
    });
    return id;
  }

  /** Subscribes all customers. Returns the ids of the subscriptions. */
  async function subscribeAll({ ids }: Granted, plan_id: string): Promise<readonly string[]> {
    const subscriptions: string[] = [];
    for (const customer_id of ids) {
      const body = { customer_id, plan_id, collection: 'send_invoice' };
      subscriptions.push((await post(engine, '/v1/subscriptions', body)).id);
    }
    return subscriptions;
  }

  it('recalculates 20 in the commit and the others in the background, and records each threshold once', async () => {
    const many = await granted();
    await createAddonWith(engine, many.entitlementId, { value: '10' });
    const now = engine.clock.now();
    await send(many, '6', now);
    expect(await postponed(many)).toHaveLength(5);
    expect(await notified(many)).toEqual([threshold(20)]);
    await recalculateDue();
    expect(await postponed(many)).toEqual([]);
    expect(await notified(many)).toEqual([threshold(25)]);
    await send(many, '1', now);
    expect(await notified(many)).toEqual([threshold(25)]);
    for (const one of many.customers) expect(await one.figures(many.key)).toEqual(['10', '7', '3']);
  });

  it('is in the next check and consumption of a balance that waits', async () => {
    const many = await granted();
    await createAddonWith(engine, many.entitlementId, { value: '10' });
    await send(many, '6', engine.clock.now());
    const waiting = (await postponed(many)).flatMap((index) => many.customers[index] ?? []);
    const [checked, consuming] = waiting;
    expect(await checked?.figures(many.key)).toEqual(['10', '6', '4']);
    expect(await consuming?.consume(many.key, '5')).toMatchObject({ allowed: false, used: '6' });
    expect(await consuming?.consume(many.key, '4')).toMatchObject({ allowed: true, used: '10' });
    await recalculateDue();
    expect(await notified(many)).toEqual([
      { ...threshold(1), type: 'entitlement.limit_reached' },
      threshold(25),
    ]);
  });

  it('counts for processes whose clocks have not reached the end of the balances', async () => {
    const start = engine.clock.now();
    const end = new Date(start.getTime() + 3_600_000);
    const many = await granted({ expires_at: end.toISOString() });
    for (const one of many.customers) await one.grant(many.key, { value: '1' });
    engine.clock.set(new Date(end.getTime() + 1_000).toISOString());
    await send(many, '6', start);
    engine.clock.set(new Date(end.getTime() - 1_000).toISOString());
    for (const one of many.customers) {
      expect(await one.consume(many.key, '6')).toMatchObject({ allowed: false, used: '6' });
    }
  });

  it('stays covered by the former allowance, if a subscription changes before the recalculation', async () => {
    const many = await granted({ value: '30', rollover: { max: '30' } });
    const subscriptions = await subscribeAll(many, await createPlan(many, '100', 'month'));
    await createAddonWith(engine, many.entitlementId, { value: '10' });
    await send(many, '80', engine.clock.now());
    const commands: readonly (readonly [string, object])[] = [
      ['change', { plan_id: await createPlan(many, '50', 'month'), when: 'now' }],
      ['change', { plan_id: await createPlan(many, '50', 'week'), when: 'now' }],
      ['change', { plan_id: await createPlan(many, '50', 'never'), when: 'now' }],
      ['cancel', { when: 'now' }],
      ['pause', {}],
    ];
    const waiting = await postponed(many);
    expect(waiting).toHaveLength(commands.length);
    for (const [place, [command, body]] of commands.entries()) {
      const index = waiting[place] ?? 0;
      const path = `/v1/subscriptions/${subscriptions[index] ?? ''}/${command}`;
      await engine.http.post(path).send(body).expect(200);
      const figures = await many.customers[index]?.figures(many.key);
      expect([command, figures]).toEqual([command, ['110', '80', '30']]);
    }
  });

  it('is not covered after the end of a subscription, if the recalculation is postponed', async () => {
    const many = await granted({ value: '30', rollover: { max: '30' } });
    const subscriptions = await subscribeAll(many, await createPlan(many, '100', 'month'));
    const cancel = { when: 'period_end' };
    for (const id of subscriptions) {
      await engine.http.post(`/v1/subscriptions/${id}/cancel`).send(cancel).expect(200);
    }
    const { body } = await engine.http.get(`/v1/subscriptions/${subscriptions[0] ?? ''}`);
    const endAt = new Date((body as { current_period_end: string }).current_period_end);
    // The window of the month in which the subscriptions end is open.
    engine.clock.set(new Date(endAt.getTime() - 1_000).toISOString());
    const expires_at = new Date(endAt.getTime() + 2_000).toISOString();
    for (const one of many.customers) {
      await one.grant(many.key, { value: '30', expires_at });
      await one.of(many.key);
    }
    engine.clock.advanceMs(2_000);
    await send(many, '80', engine.clock.now());
    expect(await postponed(many)).toHaveLength(5);
    engine.clock.advanceMs(2_000);
    for (const one of many.customers) {
      expect(await one.figures(many.key)).toEqual(['60', '80', '0']);
    }
  });
});
