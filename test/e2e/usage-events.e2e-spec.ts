import { type MovedWindow, UsageWatchers } from '../../src/modules/metering';
import { bucketsOf, createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

describe('reporting usage', () => {
  let engine: TestApp;
  let customer: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    customer = await createCustomer(engine);
  });

  const event = (changes: Partial<SentEvent> = {}): SentEvent => ({
    idempotency_key: `key-${(serial += 1)}`,
    customer_id: customer,
    event_name: 'api_request',
    timestamp: '2026-03-01T09:15:00.000Z',
    properties: { amount: 2 },
    ...changes,
  });

  const send = (body: object) => engine.http.post('/v1/usage-events').send(body);

  const accepted = (count: number) => ({ accepted: count, duplicates: 0, rejected: [] });

  it('stores one event and counts it in the same commit', async () => {
    const name = 'one';
    const meter = await insertMeter(engine, { eventName: name, aggregation: 'sum' });
    const answer = await send(event({ event_name: name }));
    expect([answer.status, answer.body]).toEqual([200, accepted(1)]);
    expect(await bucketsOf(engine, meter)).toMatchObject([
      { start: '2026-03-01 09:00', events: 1, total: '2' },
    ]);
  });

  it('keeps the totals of every aggregation, by hour and group', async () => {
    const name = 'all';
    const of = (aggregation: string) =>
      insertMeter(engine, { eventName: name, aggregation, groupBy: ['region'] });
    const meters = {
      count: await of('count'),
      sum: await of('sum'),
      max: await of('max'),
      latest: await of('latest'),
      unique: await of('unique'),
      weighted_sum: await of('weighted_sum'),
    };
    const at = (minute: string, amount: unknown, region: string) =>
      event({
        event_name: name,
        timestamp: `2026-03-01T${minute}:00Z`,
        properties: { amount, region },
      });
    const events = [
      at('08:30', '1.25', 'eu'),
      at('08:30', -3, 'eu'),
      at('08:15', 7, 'eu'),
      at('08:45', 'seven', 'eu'),
      at('08:45', 4, 'us'),
      at('09:00', 7, 'eu'),
    ];
    for (const half of [events.slice(0, 2), events.slice(2)]) {
      expect((await send({ events: half })).body).toEqual(accepted(half.length));
    }
    const eu = await bucketsOf(engine, meters.count);
    expect(eu).toMatchObject([
      { start: '2026-03-01 08:00', group: '["eu"]', events: 4 },
      { start: '2026-03-01 08:00', group: '["us"]', events: 1 },
      { start: '2026-03-01 09:00', group: '["eu"]', events: 1 },
    ]);
    const first = async (meter: string) => (await bucketsOf(engine, meter))[0];
    expect(await first(meters.sum)).toMatchObject({ events: 3, total: '5.25' });
    expect(await first(meters.max)).toMatchObject({ events: 3, greatest: '7' });
    expect(await first(meters.latest)).toMatchObject({ events: 3, latest: '-3' });
    expect(await first(meters.unique)).toMatchObject({ events: 4, distinct: 4 });
    expect(await first(meters.weighted_sum)).toMatchObject({
      total: '5.25',
      held: String((1.25 - 3) * 1_800_000 + 7 * 2_700_000),
    });
  });

  it('counts a key once, and refuses it with other content', async () => {
    const meter = await insertMeter(engine, { eventName: 'repeated' });
    const one = event({ event_name: 'repeated' });
    const changed = { ...one, properties: { amount: 3 } };
    const first = await send({ events: [one, one, changed] });
    const reused = { index: 2, code: 'idempotency_key_reused', message: expect.any(String) };
    expect(first.body).toEqual({ accepted: 1, duplicates: 1, rejected: [reused] });
    expect((await send(one)).body).toEqual({ accepted: 0, duplicates: 1, rejected: [] });
    expect((await send(changed)).body).toEqual({
      accepted: 0,
      duplicates: 0,
      rejected: [{ ...reused, index: 0 }],
    });
    expect(await bucketsOf(engine, meter)).toMatchObject([{ events: 1 }]);
  });

  it('stores what it can of a list, and tells of the rest by its place', async () => {
    const answer = await send({
      events: [
        event({ customer_id: 'cus_01h455vb4pex5vsknk084sn02q' }),
        event(),
        { ...event(), timestamp: 'yesterday' },
        event({ timestamp: '2026-03-02T09:30:00.001Z' }),
        event({ timestamp: '2026-03-02T09:30:00.000Z' }),
        'event',
      ],
    });
    expect(answer.body).toMatchObject({
      accepted: 2,
      duplicates: 0,
      rejected: [
        { index: 0, code: 'customer_not_found' },
        { index: 2, code: 'validation_failed' },
        { index: 3, code: 'usage_in_future' },
        { index: 5, code: 'validation_failed' },
      ],
    });
  });

  it('moves the windows that are registered, and tells who watches, in the same commit', async () => {
    const name = 'watched';
    const meter = await insertMeter(engine, {
      eventName: name,
      aggregation: 'sum',
      groupBy: ['region'],
    });
    await send(event({ event_name: name, timestamp: '2026-03-01T07:00:00Z' }));
    const window = { startAt: '2026-03-01T08:10:00Z', endAt: '2026-03-01T09:20:00Z' };
    await engine.database.query(
      `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
       SELECT id, $1, $3, $4 FROM usage_stream WHERE customer_id = $2`,
      [meter, customer, window.startAt, window.endAt],
    );
    const told: MovedWindow[] = [];
    let fails = false;
    engine.app.get(UsageWatchers).register((windows) => {
      told.push(...windows.filter(({ meterId }) => meterId === meter));
      return fails ? Promise.reject(new Error('A watcher fails.')) : Promise.resolve();
    });
    const at = (time: string, region: string) =>
      event({
        event_name: name,
        timestamp: `2026-03-01T${time}Z`,
        properties: { amount: '1.5', region },
      });
    await send({ events: [at('08:10:00', 'eu'), at('09:20:00', 'eu'), at('09:19:59', 'us')] });
    await send(at('08:30:00', 'eu'));
    const value = (numerator: bigint, denominator = 1n) => ({ numerator, denominator });
    const moved = {
      customerId: customer,
      meterId: meter,
      period: { startAt: new Date(window.startAt), endAt: new Date(window.endAt) },
    };
    expect(told).toEqual([
      { ...moved, before: value(0n), after: value(3n) },
      { ...moved, before: value(3n), after: value(9n, 2n) },
    ]);
    fails = true;
    const failed = at('08:40:00', 'eu');
    expect((await send(failed)).status).toBe(500);
    fails = false;
    expect((await send(failed)).body).toEqual(accepted(1));
  });
});
