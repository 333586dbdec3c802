import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { Allowances, createEntitlement } from '../support/allowances';
import { createCustomer, insertMeter } from '../support/metering';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

const CUSTOMERS = 5;
const ENTITLEMENTS = 6;

/** Each customer has 6 metered balances. A commit recalculates at most 20, so it can renew 3 of the 5 subscriptions. */
describe('the due subscriptions of customers with metered entitlements', () => {
  let engine: TestApp;
  let made = 0;

  beforeEach(async () => {
    engine = await startTestApp();
  });

  afterEach(() => engine.close());

  async function createPlan(entitlements: readonly object[] = []): Promise<string> {
    const { id } = await post(engine, '/v1/plans', {
      code: `renewed-${(made += 1)}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Plan', model: 'flat', amount: 100, timing: 'in_advance' }],
      entitlements,
    });
    return id;
  }

  async function createMeteredPlan(
    count = ENTITLEMENTS,
  ): Promise<{ readonly planId: string; readonly key: string }> {
    const entitlements: object[] = [];
    let last = '';
    for (let index = 0; index < count; index += 1) {
      const meter_id = await insertMeter(engine, { eventName: `call.${index}` });
      const { id, key } = await createEntitlement(engine, { meter_id });
      entitlements.push({ entitlement_id: id, value: '10', reset: 'period' });
      last = key;
    }
    return { planId: await createPlan(entitlements), key: last };
  }

  async function subscribe(plan_id: string, fields: object = {}, count = CUSTOMERS) {
    const subscribed: { readonly id: string; readonly customerId: string }[] = [];
    for (let index = 0; index < count; index += 1) {
      const customerId = await createCustomer(engine);
      const body = { customer_id: customerId, plan_id, collection: 'send_invoice', ...fields };
      subscribed.push({ id: (await post(engine, '/v1/subscriptions', body)).id, customerId });
    }
    return subscribed;
  }

  /** Does all due work of subscriptions at a time. */
  async function runDueAt(time: string): Promise<void> {
    engine.clock.set(time);
    const due = engine.app.get(DueSubscriptions);
    while (await due.runDue()) continue;
  }

  /** Returns how many rows each commit wrote, in the order of the commits. */
  async function writtenByCommit(table: string): Promise<readonly number[]> {
    const commits = await engine.database.query<{ rows: number }>(
      `SELECT count(*)::int AS rows FROM ${table} GROUP BY xmin ORDER BY min(xmin::text::bigint)`,
    );
    return commits.map(({ rows }) => rows);
  }

  it('are renewed by commits that recalculate at most 20 balances', async () => {
    const { planId, key } = await createMeteredPlan();
    const subscribed = await subscribe(planId);
    await runDueAt('2026-04-02T00:00:00.000Z');
    expect(await writtenByCommit('subscription')).toEqual([3, 2]);
    expect(await writtenByCommit('customer_entitlement')).toEqual([18, 12]);
    for (const { customerId } of subscribed) {
      expect(await new Allowances(engine, customerId).of(key)).toMatchObject({
        limit: '10',
        used: '0',
        resets_at: '2026-05-01T09:30:00.000Z',
      });
    }
    // The checks found each balance in its new window.
    expect(await writtenByCommit('customer_entitlement')).toEqual([18, 12]);
  });

  it('start by such commits', async () => {
    const { planId } = await createMeteredPlan();
    await subscribe(planId, { start_at: '2026-03-20T00:00:00.000Z' });
    await runDueAt('2026-03-20T00:00:00.000Z');
    expect(await writtenByCommit('customer_entitlement')).toEqual([18, 12]);
  });

  it('change to another plan by such commits', async () => {
    const { planId } = await createMeteredPlan();
    for (const { id } of await subscribe(await createPlan())) {
      const change = { plan_id: planId, when: 'period_end' };
      await engine.http.post(`/v1/subscriptions/${id}/change`).send(change).expect(200);
    }
    await runDueAt('2026-04-02T00:00:00.000Z');
    expect(await writtenByCommit('customer_entitlement')).toEqual([18, 12]);
  });

  it('are renewed with less than 19 statements for each balance', async () => {
    const statements: number[] = [];
    for (const [count, month] of [
      [2, '04'],
      [ENTITLEMENTS, '05'],
    ] as const) {
      const { planId } = await createMeteredPlan(count);
      const [subscription] = await subscribe(planId, {}, 1);
      const spies = [
        jest.spyOn(engine.database, 'query'),
        jest.spyOn(engine.database, 'queryPrepared'),
      ];
      await runDueAt(`2026-${month}-02T00:00:00.000Z`);
      statements.push(spies.reduce((total, { mock }) => total + mock.calls.length, 0));
      jest.restoreAllMocks();
      const cancel = { when: 'now' };
      await engine.http
        .post(`/v1/subscriptions/${subscription?.id ?? ''}/cancel`)
        .send(cancel)
        .expect(200);
    }
    const [few = 0, many = 0] = statements;
    expect((many - few) / (ENTITLEMENTS - 2)).toBeLessThan(19);
  });

  it('are renewed by one commit without metered entitlements', async () => {
    const { id } = await createEntitlement(engine, { type: 'static' });
    await subscribe(await createPlan([{ entitlement_id: id, value: '5' }]));
    await runDueAt('2026-04-02T00:00:00.000Z');
    expect(await writtenByCommit('subscription')).toEqual([5]);
  });
});
