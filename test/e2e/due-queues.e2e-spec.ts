import { DUE_SUBSCRIPTIONS } from '../../src/modules/subscriptions';
import { DueQueues } from '../../src/modules/test-clocks';
import { createCustomer, createPlan } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

describe('due work in real time', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
  });

  afterAll(() => engine.close());

  it('reads the clock for each attempt, because former ones may have waited for locks', async () => {
    const plan_id = await createPlan(engine);
    for (let made = 0; made < 2; made += 1) {
      const customer_id = await createCustomer(engine);
      await post(engine, '/v1/subscriptions', {
        customer_id,
        plan_id,
        collection: 'send_invoice',
      });
    }
    engine.clock.set('2026-05-01T00:00:00.000Z');
    const attempts: (readonly [number, string])[] = [];
    await engine.app.get(DueQueues).runDue({
      name: 'due-subscriptions',
      rows: DUE_SUBSCRIPTIONS,
      whenRefused: 'postpone',
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
});
