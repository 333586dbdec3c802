import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DUE_SUBSCRIPTIONS, type DueSubscription } from '../../src/modules/subscriptions';
import { type DueQueue, DueQueues } from '../../src/modules/test-clocks';
import { createCustomer, createPlan } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

describe('due work in real time', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
  });

  afterEach(() => engine.close());

  /** Creates two subscriptions that are due on 1 May. Returns their ids. */
  async function subscribeTwo(plan_id: string): Promise<readonly [string, string]> {
    const subscribe = async () => {
      const customer_id = await createCustomer(engine);
      const body = { customer_id, plan_id, collection: 'send_invoice' };
      return (await post(engine, '/v1/subscriptions', body)).id;
    };
    const both = [await subscribe(), await subscribe()] as const;
    engine.clock.set('2026-05-01T00:00:00.000Z');
    return both;
  }

  const runDue = (
    queue: Pick<DueQueue<DueSubscription>, 'run' | 'batchesOf' | 'maxRows'>,
  ): Promise<boolean> =>
    engine.app.get(DueQueues).runDue({
      name: 'due-subscriptions',
      rows: DUE_SUBSCRIPTIONS,
      whenRefused: 'postpone',
      ...queue,
    });

  it('reads the clock for each attempt, because former ones may have waited for locks', async () => {
    await subscribeTwo(await createPlan(engine));
    const attempts: (readonly [number, string])[] = [];
    await runDue({
      run: (rows, now) => {
        attempts.push([rows.length, now.toISOString()]);
        engine.clock.advanceMs(5_000);
        return Promise.reject(new Error('A lock was not available.'));
      },
    });
    expect(attempts).toEqual([
      [2, '2026-05-01T00:00:00.000Z'],
      [1, '2026-05-01T00:00:05.000Z'],
      [1, '2026-05-01T00:00:10.000Z'],
    ]);
  });

  it('is done one by one if it cannot be divided, and is not divided if only one row or none is due', async () => {
    const ids = await subscribeTwo(await createPlan(engine));
    const divided: number[] = [];
    const done: (readonly string[])[] = [];
    const queue = {
      batchesOf: (rows: readonly DueSubscription[]) => {
        divided.push(rows.length);
        return Promise.reject(new Error('The connection was lost.'));
      },
      run: (rows: readonly DueSubscription[]) => {
        done.push(rows.map(({ id }) => id));
        return Promise.resolve();
      },
    };
    expect(await runDue(queue)).toBe(true);
    expect([divided, done]).toEqual([[2], ids.map((id) => [id])]);
    expect(await runDue(queue)).toBe(false);
    engine.clock.set('2026-05-01T00:01:00.000Z');
    expect(await runDue({ ...queue, maxRows: 1 })).toBe(true);
    expect([divided, done]).toEqual([[2], [...ids, ids[0]].map((id) => [id])]);
  });

  it('renews the other subscriptions if the scheduled change of one is damaged', async () => {
    const plan_id = await createPlan(engine);
    const [damaged] = await subscribeTwo(plan_id);
    const change = { plan_id: await createPlan(engine), when: 'period_end' };
    engine.clock.set('2026-03-02T00:00:00.000Z');
    await engine.http.post(`/v1/subscriptions/${damaged}/change`).send(change).expect(200);
    await engine.database.query(`UPDATE scheduled_change SET terms = '{"kind": "change"}'`);
    engine.clock.set('2026-04-02T00:00:00.000Z');
    expect(await engine.app.get(DueSubscriptions).runDue()).toBe(true);
    const due = await engine.database.query<{ id: string }>(
      'SELECT id FROM subscription WHERE next_billing_at <= $1',
      [engine.clock.now()],
    );
    expect(due).toEqual([{ id: damaged }]);
  });
});
