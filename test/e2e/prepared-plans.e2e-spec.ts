import { Allowances, createEntitlement } from '../support/allowances';
import { createCustomer, insertMeter } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

/** PostgreSQL uses the plan for any parameters from the sixth execution on, if it expects no better one for each. */
const EXECUTIONS = 16;
const MOST_PLANS = 5;

describe('the plans of prepared statements', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('are kept, although plans for one customer at a time are expected to be cheaper', async () => {
    const metered = await insertMeter(engine, { eventName: 'metered' });
    await insertMeter(engine, { eventName: 'plain' });
    const { key } = await createEntitlement(engine, { meter_id: metered });
    const customer = await createCustomer(engine);
    const allowances = new Allowances(engine, customer);
    await allowances.grant(key, { value: '1000' });
    for (let index = 0; index < EXECUTIONS; index += 1) {
      await allowances.consume(key, '1', `consumption-${index}`);
    }
    for (let index = 0; index < EXECUTIONS; index += 1) {
      for (const name of ['metered', 'plain']) {
        const { body } = await engine.http.post('/v1/usage-events').send({
          idempotency_key: `${name}-${index}`,
          customer_id: customer,
          event_name: name,
          timestamp: engine.clock.now().toISOString(),
          properties: { amount: 1 },
        });
        expect(body).toMatchObject({ accepted: 1 });
      }
    }
    const plans = await engine.database.query<{ name: string; custom: number; generic: number }>(
      `SELECT name, custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements`,
    );
    expect(plans.filter(({ custom }) => custom > MOST_PLANS)).toEqual([]);
    const kept = plans.flatMap(({ name, generic }) => (generic > 0 ? name : []));
    expect(kept).toEqual(
      expect.arrayContaining([
        'consumptions-known-plain',
        'usage-fast-path-skip',
        'usage-record',
        'usage-windows',
        'usage-streams-find',
        'usage-streams-skip',
        'balances-write-usage',
        'customers-test-clocks',
      ]),
    );
  });
});
