import { Client } from 'pg';
import type { AppendResultDto } from '../../src/modules/metering/dto/append-result.dto';
import { type ChangedWindow, UsageHooks } from '../../src/modules/metering';
import { newId } from '../../src/platform/ids';
import {
  bucketsOf,
  createCustomer,
  insertMeter,
  reportedOf,
  type SentEvent,
} from '../support/metering';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('reporting usage', () => {
  let engine: TestApp;
  let customer: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    await insertMeter(engine, { eventName: 'api_request' });
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

  it('counts a key once, and rejects it with other content', async () => {
    const meter = await insertMeter(engine, { eventName: 'repeated' });
    const one = event({ event_name: 'repeated' });
    const changed = { ...one, properties: { amount: 3 } };
    const first = await send({ events: [one, one, changed] });
    const reused = { index: 2, code: 'idempotency_key_reused', message: expect.any(String) };
    expect(first.body).toEqual({ accepted: 1, duplicates: 1, rejected: [reused] });
    expect((await send(one)).body).toEqual({ accepted: 0, duplicates: 1, rejected: [] });
    expect((await send({ events: [changed] })).body).toEqual({
      accepted: 0,
      duplicates: 0,
      rejected: [{ ...reused, index: 0 }],
    });
    expect(await bucketsOf(engine, meter)).toMatchObject([{ events: 1 }]);
  });

  it.each<[string, string, Partial<SentEvent>]>([
    ['customer_not_found', '/customer_id', { customer_id: 'cus_01h455vb4pex5vsknk084sn02q' }],
    ['usage_in_future', '/timestamp', { timestamp: '2026-03-02T09:30:00.001Z' }],
    ['idempotency_key_reused', '/idempotency_key', { idempotency_key: 'taken-by-another' }],
  ])('refuses a single event with 422 for %s', async (code, pointer, changes) => {
    await send({ events: [event({ idempotency_key: 'taken-by-another', event_name: 'taken' })] });
    const answer = await send(event(changes));
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { code: 'usage_event_rejected', errors: [{ pointer, code }] },
    ]);
  });

  it('stores events that no meter counts with a warning, and counts them in a metric', async () => {
    const name = 'misspelled';
    const counted = async () => {
      const { text } = await engine.http.get('/metrics');
      return Number(/^usage_events_uncounted_total (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
    };
    const before = await counted();
    const warning = { code: 'usage_not_counted', event_name: name };
    const single = await send(event({ event_name: name }));
    expect([single.status, single.body]).toMatchObject([
      200,
      { accepted: 1, warnings: [{ ...warning, events: 1 }] },
    ]);
    await insertMeter(engine, { eventName: 'spelled' });
    const events = [name, name, 'spelled'].map((event_name) => event({ event_name }));
    expect((await send({ events })).body).toMatchObject({
      accepted: 3,
      rejected: [],
      warnings: [{ ...warning, events: 2 }],
    });
    expect((await send(event({ event_name: 'spelled' }))).body).toEqual(accepted(1));
    expect(await counted()).toBe(before + 3);
  });

  it('stores the valid events of a list, and reports the others by their index', async () => {
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

  it('updates registered windows, and calls their hooks, in the same commit', async () => {
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
    const notified: ChangedWindow[] = [];
    let fails = false;
    engine.app.get(UsageHooks).register((windows) => {
      notified.push(...windows.filter(({ meterId }) => meterId === meter));
      return fails ? Promise.reject(new Error('A hook fails.')) : Promise.resolve();
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
    expect(notified).toEqual([
      { ...moved, usage: value(3n) },
      { ...moved, usage: value(9n, 2n) },
    ]);
    fails = true;
    const failed = at('08:40:00', 'eu');
    expect((await send(failed)).status).toBe(500);
    fails = false;
    expect((await send(failed)).body).toEqual(accepted(1));
  });

  describe('for a billed period', () => {
    async function bill(meter: string): Promise<string> {
      const id = newId('ub');
      await engine.database.query(
        `INSERT INTO usage_billed (id, stream_id, meter_id, item_id, period_start_at, period_end_at, counted_from_at, group_key,
           quantity, events, up_to_position, terms, is_late, created_at)
         SELECT $1, usage_stream.id, $2, 'si_x', '2026-02-01', '2026-03-01', '2026-02-01', '[]', 1, 1, last_position, '{}', false, now()
         FROM usage_stream WHERE customer_id = $3`,
        [id, meter, customer],
      );
      return id;
    }

    const inFebruary = (name: string, changes: Partial<SentEvent> = {}) =>
      event({ event_name: name, timestamp: '2026-02-28T23:59:59.999Z', ...changes });

    it('accepts a late event for the next invoice, and records an event in the same commit', async () => {
      const name = 'late-taken';
      const meter = await insertMeter(engine, { eventName: name, aggregation: 'sum' });
      await send(inFebruary(name));
      const billed = await bill(meter);
      const uncounted = inFebruary(name, { properties: {} });
      const march = event({ event_name: name, timestamp: '2026-03-01T00:00:00.000Z' });
      const late = [inFebruary(name), inFebruary(name)];
      expect((await send({ events: [...late, uncounted, march] })).body).toEqual(accepted(4));
      expect(await eventsOf(engine, billed)).toMatchObject([
        {
          type: 'usage.late',
          data: {
            object: {
              id: billed,
              customer_id: customer,
              meter_id: meter,
              period_start: '2026-02-01T00:00:00.000Z',
              period_end: '2026-03-01T00:00:00.000Z',
              events: 2,
            },
          },
        },
      ]);
    });

    it('records the late events of all its meters with one statement', async () => {
      const name = 'late-of-many';
      const meters: string[] = [];
      for (let number = 0; number < 12; number += 1) {
        meters.push(await insertMeter(engine, { eventName: name, aggregation: 'count' }));
      }
      await send(inFebruary(name));
      for (const meter of meters) await bill(meter);
      expect((await send({ events: [inFebruary(name)] })).body).toEqual(accepted(1));
      const [recorded] = await engine.database.query(
        `SELECT count(*)::int AS events, count(DISTINCT pack_id)::int AS packs, count(*) FILTER (WHERE pack_id IS NULL)::int AS alone
         FROM event WHERE type = 'usage.late' AND object_id IN (
           SELECT billed.id FROM usage_billed AS billed JOIN usage_stream AS stream ON stream.id = billed.stream_id
           WHERE stream.customer_id = $1)`,
        [customer],
      );
      expect(recorded).toEqual({ events: 12, packs: 1, alone: 0 });
    });

    it('rejects it if the meter says so, except for known keys', async () => {
      const name = 'late-refused';
      const meter = await insertMeter(engine, { eventName: name, lateEvents: 'reject' });
      const known = inFebruary(name);
      await send(known);
      await bill(meter);
      const answer = await send({ events: [known, inFebruary(name), event({ event_name: name })] });
      expect(answer.body).toEqual({
        accepted: 1,
        duplicates: 1,
        rejected: [{ index: 1, code: 'usage_late', message: expect.any(String) }],
      });
      expect(await reportedOf(engine, customer)).toEqual({
        accepted: 2,
        duplicates: 1,
        rejected: 1,
      });
    });
  });

  it('limits timestamps in the future by the clock of the customer', async () => {
    const clock = await engine.http
      .post('/v1/test-clocks')
      .send({ name: 'Later', now: '2027-01-01T00:00:00Z' });
    const { id } = clock.body as { id: string };
    const created = await engine.http
      .post('/v1/customers')
      .send({ name: 'Ada Lovelace', test_clock_id: id });
    const later = (created.body as { id: string }).id;
    const at = (timestamp: string) => event({ customer_id: later, timestamp });
    const answer = await send({
      events: [at('2027-01-02T00:00:00.000Z'), at('2027-01-02T00:00:00.001Z')],
    });
    expect(answer.body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 1, code: 'usage_in_future' }],
    });
  });

  it('for a deleted customer returns known events as duplicates, and rejects new ones', async () => {
    const known = event();
    await send(known);
    await engine.http.delete(`/v1/customers/${customer}`);
    expect((await send({ events: [known, event()] })).body).toMatchObject({
      accepted: 0,
      duplicates: 1,
      rejected: [{ index: 1, code: 'customer_not_found' }],
    });
  });

  it('accepts 1,000 events in a list, refuses one more, and accepts an empty list', async () => {
    const list = (count: number) => ({ events: Array.from({ length: count }, () => event()) });
    expect((await send(list(1_000))).body).toEqual(accepted(1_000));
    const refused = await send(list(1_001));
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'validation_failed', errors: [{ pointer: '/events', code: 'too_many_items' }] },
    ]);
    expect((await send(list(0))).body).toEqual(accepted(0));
  });

  it.each<[string, object]>([
    ['no key', { idempotency_key: '' }],
    ['a key that is too long', { idempotency_key: 'x'.repeat(256) }],
    ['a key with NUL', { idempotency_key: 'a\u0000b' }],
    ['a lone surrogate', { idempotency_key: '\ud800' }],
    ['a malformed customer id', { customer_id: 'ada' }],
    ['no name', { event_name: null }],
    ['a nonexistent date', { timestamp: '2026-02-30T00:00:00Z' }],
    ['a timestamp without a zone', { timestamp: '2026-02-20T00:00:00' }],
    ['a number as timestamp', { timestamp: 1_772_357_400 }],
    ['a list of properties', { properties: [] }],
    ['properties of more than 16 KiB', { properties: { text: 'x'.repeat(16_384) } }],
    ['a number beyond 2^53-1', { properties: { amount: 9_007_199_254_740_992 } }],
    ['NUL in a property', { properties: { 'a\u0000': 1 } }],
    ['an unknown field', { amount: 1 }],
  ])('refuses %s: alone with 400, in a list by its index', async (_, changes) => {
    const bad = { ...event(), ...changes };
    const alone = await send(bad);
    expect([alone.status, (alone.body as { code: string }).code]).toEqual([
      400,
      'validation_failed',
    ]);
    expect((await send({ events: [event(), bad] })).body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 1, code: 'validation_failed' }],
    });
  });

  it('names the fields that it cannot accept, or the whole event', async () => {
    const foreign = await send({ ...event(), 'user/id': 1 });
    expect([foreign.status, foreign.body]).toMatchObject([
      400,
      {
        detail: '/user~1id: is not a field of an event',
        errors: [{ pointer: '/user~1id', code: 'unknown_field' }],
      },
    ]);
    const inList = await send({ events: [{ ...event(), userId: 1 }] });
    expect(inList.body).toMatchObject({
      rejected: [{ index: 0, message: '/userId is not a field of an event' }],
    });
    expect((await send([event()])).body).toMatchObject({ detail: 'The body must be an object.' });
  });

  it('refuses numbers that JSON can write but that cannot be stored exactly', async () => {
    for (const number of ['1e309', '-0', '1e400', '-1e309']) {
      const body = JSON.stringify(event()).replace('"amount":2', `"amount":${number}`);
      const answer = await engine.http
        .post('/v1/usage-events')
        .set('Content-Type', 'application/json')
        .send(body);
      expect([number, answer.status]).toEqual([number, 400]);
      expect(answer.body).toMatchObject({
        errors: [
          { pointer: '/properties', message: expect.stringMatching('negative zero') as string },
        ],
      });
    }
  });

  it('keeps properties as they were sent, whatever their names', async () => {
    const properties = {
      constructor: 'x',
      toString: 1,
      'k\u00e9y \u{1F600}': ['\u0001', { deep: null }],
      text: 'x'.repeat(16_000),
      small: 5e-324,
    };
    const one = event({ properties });
    expect((await send(one)).body).toEqual(accepted(1));
    expect((await send(one)).body).toMatchObject({ duplicates: 1 });
    const [stored] = await engine.database.query(
      'SELECT properties FROM usage_event WHERE idempotency_key = $1',
      [one.idempotency_key],
    );
    expect(stored).toEqual({ properties });
  });

  it('stores many concurrent single events, and answers each', async () => {
    const meter = await insertMeter(engine, { eventName: 'at-once' });
    const others = await Promise.all([1, 2, 3].map(() => createCustomer(engine)));
    const events = Array.from({ length: 60 }, (_, place) =>
      event({ event_name: 'at-once', customer_id: others[place % 3] ?? '' }),
    );
    const unknown = event({ customer_id: 'cus_01h455vb4pex5vsknk084sn02q' });
    const sent = [...events, unknown, events[0] ?? unknown];
    const answers = await Promise.all(sent.map((one) => send(one)));
    expect(
      answers.filter(({ body }) => (body as AppendResultDto).accepted === 1).length,
    ).toBeGreaterThan(58);
    expect(answers[60]?.body).toMatchObject({
      code: 'usage_event_rejected',
      errors: [{ code: 'customer_not_found' }],
    });
    const counted = (await bucketsOf(engine, meter)).reduce(
      (sum, { events: count }) => sum + count,
      0,
    );
    expect(counted).toBe(60);
  });

  it('does not wait for a locked stream of other requests', async () => {
    const [held, free] = [event(), event({ customer_id: await createCustomer(engine) })];
    await send({ events: [event(), event({ customer_id: free.customer_id })] });
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
    const waiting = send(held).then(({ body }) => body as object);
    expect((await send(free)).body).toEqual(accepted(1));
    await holder.query('COMMIT');
    await holder.end();
    expect(await waiting).toEqual(accepted(1));
  });

  it('in lists continues while one list waits for a locked stream', async () => {
    const other = await createCustomer(engine);
    const free = () => event({ customer_id: other });
    await send({ events: [event(), free()] });
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
    const waiting = send({ events: [free(), event()] }).then(({ body }) => body as object);
    const passing = await send({ events: [{}, free(), free()] });
    expect(passing.body).toMatchObject({ accepted: 2, rejected: [{ index: 0 }] });
    await holder.query('COMMIT');
    await holder.end();
    expect(await waiting).toEqual(accepted(2));
  });

  it('answers each of many concurrent lists with the results of its own events', async () => {
    const known = event();
    await send(known);
    const lists = Array.from({ length: 8 }, () => [
      event(),
      { ...known, properties: {} },
      {},
      known,
    ]);
    const answers = await Promise.all(lists.map((events) => send({ events })));
    for (const { body } of answers) {
      expect(body).toMatchObject({
        accepted: 1,
        duplicates: 1,
        rejected: [
          { index: 1, code: 'idempotency_key_reused' },
          { index: 2, code: 'validation_failed' },
        ],
      });
    }
  });
});
