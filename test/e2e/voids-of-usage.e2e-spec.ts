import { UsageTotalsWriter } from '../../src/modules/metering/store/usage-totals-writer';
import { MetersService } from '../../src/modules/meters';
import { Database } from '../../src/platform/database';
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

  /** From the earliest to the latest. The first and the last are in hours of the window, but outside of it. */
  const AROUND_WINDOW = [
    ['09:10', 20],
    ['09:40', 5],
    ['09:50', 8],
    ['10:20', 3],
    ['10:40', 10],
    ['11:15', 8],
    ['11:30', 8],
    ['11:45', 2],
    ['12:05', 3],
    ['13:10', 7],
    ['13:20', 5],
    ['13:50', 20],
  ] as const;
  const LATEST_FIRST = [...AROUND_WINDOW.entries()].toReversed();
  const GREATEST_FIRST = LATEST_FIRST.toSorted(([, [, one]], [, [, other]]) => other - one);

  it.each([
    ['max', LATEST_FIRST],
    ['max', GREATEST_FIRST],
    ['latest', LATEST_FIRST],
    ['unique', LATEST_FIRST],
    ['unique', GREATEST_FIRST],
    ['weighted_sum', LATEST_FIRST],
  ])(
    'of a %s meter leaves totals of hours and of a window that equal a full count',
    async (aggregation, order) => {
      const eventName = `windowed_${(made += 1)}`;
      const id = await insertMeter(engine, { eventName, aggregation, valueProperty: 'n' });
      const customer = await createCustomer(engine);
      const window = {
        startAt: new Date('2026-03-01T09:30:00Z'),
        endAt: new Date('2026-03-01T13:30:00Z'),
      };
      const keys: string[] = [];
      for (const [time, n] of AROUND_WINDOW) {
        keys.push(
          await reportUsage(engine, customer, eventName, [[`2026-03-01T${time}:00Z`, n, null]]),
        );
        if (keys.length > 1) continue;
        await engine.database.query(
          `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
         SELECT id, $1, $2, $3 FROM usage_stream WHERE event_name = $4`,
          [id, window.startAt, window.endAt, eventName],
        );
      }
      const meter = await engine.app.get(MetersService).get(id);
      const [stream = ''] = await engine.database.queryValues<string>(
        'SELECT id FROM usage_stream WHERE event_name = $1',
        [eventName],
      );
      const totals = engine.app.get(UsageTotalsWriter);
      const stored = async () => [
        await bucketsOf(engine, id),
        await engine.database.query(
          'SELECT start_at, end_at, value_digest FROM usage_distinct_value WHERE meter_id = $1 ORDER BY 1, 2, 3',
          [id],
        ),
      ];
      for (const [index, [time]] of order) {
        const idempotency_key = keys[index];
        await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
        const afterVoid = await stored();
        await engine.app.get(Database).transaction(async () => {
          await totals.recount(id, { streams: [stream], from: null, to: null });
          await totals.countPeriod(stream, meter, window);
        });
        expect([time, afterVoid]).toEqual([time, await stored()]);
      }
      expect(await bucketsOf(engine, id)).toEqual([]);
    },
  );
});
