import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { poolUseOf } from '../../src/platform/database/pool-use';
import { createCustomer, createPlan } from '../support/billing';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';

/** Gives starts three connections, on any number of cores. */
const POOL_SIZE = 10;
/** Two starts whose turn it is, and one that takes longer than its turn. */
const MAX_STARTS = 3;

describe('starts of subscriptions take turns', () => {
  let engine: TestApp;
  let planId = '';

  beforeAll(async () => {
    engine = await startTestApp({ environment: { DATABASE_POOL_SIZE: String(POOL_SIZE) } });
    await disableLockTimeout(engine);
    planId = await createPlan(engine);
  });

  afterAll(() => engine.close());

  const start = async (customerId: string, isKeyed: boolean, query = '') => {
    const answer = await engine.http
      .post(`/v1/subscriptions${query}`)
      .set(isKeyed ? { 'Idempotency-Key': randomUUID() } : {})
      .send({ customer_id: customerId, plan_id: planId, collection: 'send_invoice' });
    return answer.status;
  };

  const lockCustomer = (id: string) =>
    openTransaction(engine.database, () =>
      engine.database.query('SELECT FROM customer WHERE id = $1 FOR UPDATE', [id]),
    );

  it.each([true, false])(
    'and wait for them without a connection (with an idempotency key: %s)',
    async (isKeyed) => {
      const [busy, other] = [await createCustomer(engine), await createCustomer(engine)];
      const unlock = await lockCustomer(busy);
      const starts = Array.from({ length: 8 }, () => start(busy, isKeyed));
      await untilSessionsWait(engine.database, MAX_STARTS);
      // One connection holds the lock.
      expect(poolUseOf(engine.app.get(DataSource))).toMatchObject({
        busy: MAX_STARTS + 1,
        waiting: 0,
      });
      expect((await engine.http.get(`/v1/customers/${other}`)).status).toBe(200);
      expect(await start(other, isKeyed, '?preview=true')).toBe(200);
      await unlock();
      expect(await Promise.all(starts)).toEqual(Array.from({ length: 8 }, () => 201));
    },
  );

  it('but do not wait for starts that are blocked', async () => {
    const [busy, other] = [await createCustomer(engine), await createCustomer(engine)];
    const unlock = await lockCustomer(busy);
    const blocked = [start(busy, true), start(busy, true)];
    await untilSessionsWait(engine.database, blocked.length);
    const others = await Promise.all([1, 2, 3].map(() => start(other, true)));
    expect(others).toEqual([201, 201, 201]);
    await untilSessionsWait(engine.database, blocked.length);
    await unlock();
    expect(await Promise.all(blocked)).toEqual([201, 201]);
  });
});
