import { Allowances, createEntitlement } from '../support/allowances';
import { createCustomer } from '../support/billing';
import { insertMeter } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** PostgreSQL uses the plan for any parameters from the sixth execution on, if it expects no better one for each. */
const EXECUTIONS = 16;
const MAX_PLANS = 5;
/** At least as many as the pool has. */
const CONNECTIONS = 20;

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
    const clock = await engine.http
      .post('/v1/test-clocks')
      .send({ name: 'Slow path', now: engine.clock.now().toISOString() });
    const { id: clockId } = clock.body as { readonly id: string };
    const onClock = await createCustomer(engine, { test_clock_id: clockId });
    for (let index = 0; index < EXECUTIONS; index += 1) {
      for (const [name, customerId] of [
        ['metered', customer],
        ['plain', customer],
        ['plain', onClock],
      ] as const) {
        const { body } = await engine.http.post('/v1/usage-events').send({
          idempotency_key: `${name}-${index}-${customerId}`,
          customer_id: customerId,
          event_name: name,
          timestamp: engine.clock.now().toISOString(),
          properties: { amount: 1 },
        });
        expect(body).toMatchObject({ accepted: 1 });
      }
    }
    // Each connection has statements of its own, so all of the pool are asked at once.
    const ofConnections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () =>
        engine.database.query<{ name: string; custom: number; generic: number }>(
          `SELECT name, custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements`,
        ),
      ),
    );
    const plans = ofConnections.flat();
    expect(plans.filter(({ custom }) => custom > MAX_PLANS)).toEqual([]);
    const kept = plans.flatMap(({ name, generic }) => (generic > 0 ? name : []));
    expect(kept).toEqual(
      expect.arrayContaining([
        'consumptions-unchanged-plain',
        'usage-fast-path-skip',
        'usage-fast-path-skip-windows',
        'usage-record',
        'usage-windows',
        'balances-counted',
        'usage-streams-find',
        'usage-streams-skip',
        'balances-write-usage',
        'customers-test-clocks',
      ]),
    );
  });

  it.each(['alone', 'in a transaction'])(
    'fail only for a while after the type of a column has changed: %s',
    async (how) => {
      const { database } = engine;
      const select = () => database.queryPrepared(`read ${how}`, 'SELECT value FROM changed', []);
      const read = () => (how === 'alone' ? select() : database.transaction(select));
      const countFailures = async (): Promise<number> => {
        const reads = await Promise.allSettled(Array.from({ length: CONNECTIONS }, read));
        return reads.filter(({ status }) => status === 'rejected').length;
      };
      await database.query('DROP TABLE IF EXISTS changed');
      await database.query('CREATE TABLE changed (value varchar(10))');
      expect(await countFailures()).toBe(0);
      await database.query('ALTER TABLE changed ALTER COLUMN value TYPE text');
      expect(await countFailures()).toBeGreaterThan(0);
      await until('no connection fails', async () => (await countFailures()) === 0);
    },
  );
});
