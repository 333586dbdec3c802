import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { createCustomer, createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

const DAY_MS = 86_400_000;
const NEXT_DAY = '2026-03-02T00:00:00.000Z';
const AFTER_PERIOD = '2026-04-02T00:00:00.000Z';

describe('an entitlement of a deleted customer', () => {
  let engine: TestApp;
  let customerId: string;
  let allowances: Allowances;

  beforeEach(async () => {
    engine = await startTestApp();
    customerId = await createCustomer(engine);
    allowances = new Allowances(engine, customerId);
  });

  afterEach(() => engine.close());

  async function subscribe(entitlement_id: string, reset: string): Promise<void> {
    const plan = { code: 'plan', name: 'Plan', currency: 'USD', interval: 'month', prices: [] };
    const { body } = await engine.http
      .post('/v1/plans')
      .send({ ...plan, entitlements: [{ entitlement_id, value: '100', reset }] })
      .expect(201);
    const { id: plan_id } = body as { readonly id: string };
    await engine.http.post('/v1/subscriptions').send({ customer_id: customerId, plan_id });
  }

  const deleteCustomer = () => engine.http.delete(`/v1/customers/${customerId}`).expect(204);

  /** Sends a check, a consumption and a grant, and reads both lists. Returns the code of each answer. */
  async function answers(key: string): Promise<readonly unknown[]> {
    const path = allowances.path(key);
    const consumption = { quantity: '1', idempotency_key: 'after' };
    const sent = [
      await engine.http.get(path),
      await engine.http.post(`${path}/consume`).send(consumption),
      await engine.http.post(`${path}/grants`).send({ value: '1' }),
      await engine.http.get(`${path}/grants`),
      await engine.http.get(`/v1/customers/${customerId}/entitlements`),
    ];
    return sent.map(({ status, body }) => (body as { readonly code?: string }).code ?? status);
  }

  const NOT_FOUND = Array<string>(5).fill('customer_not_found');

  it('is not found after one of its grants expires', async () => {
    const { key } = await createEntitlement(engine);
    await allowances.grant(key, { value: '10', expires_at: NEXT_DAY });
    await allowances.grant(key, { value: '10' });
    await deleteCustomer();
    engine.clock.advanceMs(DAY_MS);
    await engine.app.get(EntitlementWindows).runDue();
    expect(await answers(key)).toEqual(NOT_FOUND);
  });

  it('is not found after its next day begins', async () => {
    const { id, key } = await createEntitlement(engine, { meter_id: await createMeter(engine) });
    await subscribe(id, 'day');
    await allowances.consume(key, '1');
    await deleteCustomer();
    engine.clock.advanceMs(DAY_MS);
    await engine.app.get(EntitlementWindows).runDue();
    expect(await answers(key)).toEqual(NOT_FOUND);
    expect(await engine.database.query('SELECT FROM usage_event')).toHaveLength(1);
  });

  it('is not found after its subscription ends', async () => {
    const { id, key } = await createEntitlement(engine);
    await subscribe(id, 'period');
    await allowances.grant(key, { value: '10', rollover: { max: '10' } });
    await deleteCustomer();
    engine.clock.set(AFTER_PERIOD);
    while (await engine.app.get(DueSubscriptions).runDue()) continue;
    expect(await answers(key)).toEqual(NOT_FOUND);
  });

  it('is not found if a process of the previous release recalculates it after the deletion', async () => {
    const { key } = await createEntitlement(engine);
    await allowances.grant(key, { value: '10' });
    await deleteCustomer();
    await engine.database.query(
      `UPDATE customer_entitlement SET access_version = access.version FROM customer_access AS access
      WHERE access.customer_id = customer_entitlement.customer_id`,
    );
    expect(await answers(key)).toEqual(NOT_FOUND);
  });

  it('is not found by the statement that consumes a balance that this process wrote last', async () => {
    const { key } = await createEntitlement(engine);
    await allowances.grant(key, { value: '10' });
    await allowances.consume(key, '1');
    await deleteCustomer();
    await engine.database.query('UPDATE customer_access SET version = version - 1');
    expect(await answers(key)).toEqual(NOT_FOUND);
  });
});
