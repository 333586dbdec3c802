import { bucketsOf, createCustomer, insertMeter, reportUsage } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const AT = '2026-03-01T09:15:00.000Z';
const HELD_MS = 45 * 60_000;

/**
 * Totals are planted as if the hour had 10 more events, with a total of 100. They stay if the void reads no other event of
 * the hour.
 */
describe('the void of an event', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Reports events with these values, plants totals, voids the last event, and returns the totals of its hour. */
  async function totalsAfterVoid(aggregation: string, values: readonly number[]) {
    const eventName = `voided_${(made += 1)}`;
    const valueProperty = aggregation === 'count' ? null : 'n';
    const meter = await insertMeter(engine, { eventName, aggregation, valueProperty });
    const customer = await createCustomer(engine);
    const usage = values.map((n) => [AT, n, null] as const);
    const last = await reportUsage(engine, customer, eventName, usage);
    await engine.database.query(
      `UPDATE usage_bucket SET events = events + 10, total = total + 100, held_ms = held_ms + 100, distinct_values = distinct_values + 10
       WHERE meter_id = $1`,
      [meter],
    );
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: last }).expect(200);
    return bucketsOf(engine, meter);
  }

  it.each([
    ['count', [1, 2], { events: 11 }],
    ['sum', [1, 2.5], { events: 11, total: '101' }],
    ['weighted_sum', [1, 2.5], { events: 11, total: '101', held: String(HELD_MS + 100) }],
    ['max', [3, 2], { events: 11, greatest: '3' }],
    ['unique', [2, 2], { events: 11, distinct: 11 }],
    ['unique', [1, 2], { events: 11, distinct: 11 }],
  ])('of a %s meter changes the totals by the event alone', async (aggregation, values, after) => {
    expect(await totalsAfterVoid(aggregation, values)).toMatchObject([after]);
  });

  it.each([
    ['max', [2, 3], { events: 1, greatest: '2' }],
    ['latest', [2, 3], { events: 1, latest: '2' }],
  ])('with the %s value counts its hour again', async (aggregation, values, after) => {
    expect(await totalsAfterVoid(aggregation, values)).toMatchObject([after]);
  });

  it('in an hour without other events leaves no totals', async () => {
    const eventName = 'alone';
    const meters = await Promise.all(
      ['sum', 'max', 'latest', 'unique'].map((aggregation) =>
        insertMeter(engine, { eventName, aggregation, valueProperty: 'n' }),
      ),
    );
    const customer = await createCustomer(engine);
    const idempotency_key = await reportUsage(engine, customer, eventName, [[AT, 5, null]]);
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
    for (const meter of meters) expect(await bucketsOf(engine, meter)).toEqual([]);
    const values = 'SELECT FROM usage_distinct_value WHERE meter_id = ANY ($1)';
    expect(await engine.database.query(values, [meters])).toEqual([]);
  });
});
