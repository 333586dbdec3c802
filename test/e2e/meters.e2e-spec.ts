import { MeterBackfills } from '../../src/modules/metering/meter-backfills';
import { UsageTotalsWriter } from '../../src/modules/metering/store/usage-totals-writer';
import { createCustomer } from '../support/billing';
import { bucketsOf, insertMeter } from '../support/metering';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

describe('meters', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  interface MeterBody {
    readonly id: string;
    readonly key: string;
  }

  const UNKNOWN = 'meter_01h455vb4pex5vsknk084sn02q';
  let count = 0;

  function meterWith(fields: object = {}): object {
    count += 1;
    return { key: `meter.${count}`, event_name: `event_${count}`, aggregation: 'count', ...fields };
  }

  async function createMeter(fields: object = {}): Promise<MeterBody> {
    const answer = await engine.http.post('/v1/meters').send(meterWith(fields));
    expect(answer.status).toBe(201);
    return answer.body as MeterBody;
  }

  function refused(answer: { status: number; body: unknown }, status: number, code: string) {
    expect(answer.body).toMatchObject({ status, code });
    expect(answer.status).toBe(status);
  }

  it('are none at first', async () => {
    const answer = await engine.http.get('/v1/meters');
    expect(answer.body).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows', async () => {
    const sent = {
      key: 'tokens.v2-beta',
      name: 'Tokens',
      event_name: 'Completion',
      aggregation: 'weighted_sum',
      value_property: 'tokens',
      filters: [{ property: 'region', in: ['eu', ''] }],
      group_by: ['model', 'region'],
      late_events: 'reject',
      is_recurring: true,
      metadata: { a: { b: null } },
    };
    const answer = await engine.http.post('/v1/meters').send(sent);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^meter_/) as string,
      ...sent,
      status: 'active',
      backfill: null,
      counted_from: null,
      archived_at: null,
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as MeterBody;
    expect((await engine.http.get(`/v1/meters/${id}`)).body).toEqual(answer.body);
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'meter.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('have defaults for omitted fields', async () => {
    const answer = await engine.http
      .post('/v1/meters')
      .send({ key: 'calls', event_name: 'call', aggregation: 'count' });
    expect(answer.body).toMatchObject({
      name: 'calls',
      value_property: null,
      filters: [],
      group_by: [],
      late_events: 'next_invoice',
      is_recurring: false,
      metadata: {},
    });
  });

  it.each<[string, object, string]>([
    ['a key in upper case', { key: 'Calls' }, '/key'],
    ['no event name', { event_name: '' }, '/event_name'],
    ['an unknown aggregation', { aggregation: 'median' }, '/aggregation'],
    ['a filter without values', { filters: [{ property: 'a', in: [] }] }, '/filters/0/in'],
    ['a filter on a number', { filters: [{ property: 'a', in: [1] }] }, '/filters/0/in'],
    ['six group properties', { group_by: [...'abcdef'] }, '/group_by'],
    ['the same property twice', { group_by: ['a', 'a'] }, '/group_by'],
    ['a group property with a comma', { group_by: ['a', 'b,c'] }, '/group_by'],
    ['a property that is not a string', { group_by: [1] }, '/group_by'],
    // Events cannot have this property, so that such a meter would count nothing.
    [
      'the value of __proto__',
      { aggregation: 'sum', value_property: '__proto__' },
      '/value_property',
    ],
    [
      'a filter on __proto__',
      { filters: [{ property: '__proto__', in: ['a'] }] },
      '/filters/0/property',
    ],
    ['groups by __proto__', { group_by: ['a', '__proto__'] }, '/group_by'],
    ['another policy for late events', { late_events: 'drop' }, '/late_events'],
    ['an unknown field', { unit: 'calls' }, '/unit'],
  ])('refuse %s', async (_, fields, pointer) => {
    const answer = await engine.http.post('/v1/meters').send(meterWith(fields));
    refused(answer, 400, 'validation_failed');
    const { errors } = answer.body as { errors: readonly { pointer: string }[] };
    expect(errors.map((error) => error.pointer)).toContain(pointer);
  });

  it.each<[string, object, string]>([
    ['a sum without a property', { aggregation: 'sum' }, '/value_property'],
    ['a count with a property', { value_property: 'a' }, '/value_property'],
    [
      'a recurring sum',
      { aggregation: 'sum', value_property: 'a', is_recurring: true },
      '/is_recurring',
    ],
  ])('refuse %s', async (_, fields, pointer) => {
    const answer = await engine.http.post('/v1/meters').send(meterWith(fields));
    refused(answer, 422, 'meter_terms_contradict');
    const { errors } = answer.body as { errors: readonly { pointer: string }[] };
    expect(errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  it('have unique keys, also with concurrent requests', async () => {
    const both = await Promise.all(
      [1, 2].map(() => engine.http.post('/v1/meters').send(meterWith({ key: 'twice' }))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    refused(
      await engine.http.post('/v1/meters').send(meterWith({ key: 'twice' })),
      409,
      'meter_key_taken',
    );
  });

  it('are limited to 50 per event name', async () => {
    for (let made = 0; made < 50; made += 1) await createMeter({ event_name: 'crowded' });
    const answer = await engine.http.post('/v1/meters').send(meterWith({ event_name: 'crowded' }));
    refused(answer, 422, 'too_many_meters');
  });

  it('can be renamed, and change what happens to late events', async () => {
    const { id } = await createMeter({ metadata: { a: 1 } });
    engine.clock.advanceMs(1_000);
    const answer = await engine.http
      .patch(`/v1/meters/${id}`)
      .set('If-Match', '"1"')
      .send({ name: 'Calls', late_events: 'reject', metadata: { b: 2 } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      name: 'Calls',
      late_events: 'reject',
      metadata: { a: 1, b: 2 },
    });
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
      'meter.created',
      'meter.updated',
    ]);
    const same = await engine.http.patch(`/v1/meters/${id}`).send({ name: 'Calls' });
    expect(same.body).toEqual(answer.body);
    expect(await eventsOf(engine, id)).toHaveLength(2);
    refused(
      await engine.http.patch(`/v1/meters/${id}`).set('If-Match', '"1"').send({}),
      412,
      'precondition_failed',
    );
    const large = { metadata: Object.fromEntries(Array.from({ length: 49 }, (_, n) => [n, n])) };
    refused(await engine.http.patch(`/v1/meters/${id}`).send(large), 422, 'metadata_too_large');
  });

  it('never change what they count', async () => {
    const { id } = await createMeter();
    const answer = await engine.http.patch(`/v1/meters/${id}`).send({ event_name: 'other' });
    refused(answer, 400, 'validation_failed');
  });

  it('that are archived can be read, are not listed, and keep their key', async () => {
    const { id, key } = await createMeter();
    const archive = await engine.http.delete(`/v1/meters/${id}`);
    expect(archive.status).toBe(204);
    const read = await engine.http.get(`/v1/meters/${id}`);
    expect(read.body).toMatchObject({ id, archived_at: engine.clock.now().toISOString() });
    const { data } = (await engine.http.get('/v1/meters?limit=100')).body as { data: MeterBody[] };
    expect(data.map((meter) => meter.id)).not.toContain(id);
    refused(await engine.http.post('/v1/meters').send(meterWith({ key })), 409, 'meter_key_taken');
    expect((await engine.http.delete(`/v1/meters/${id}`)).status).toBe(204);
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
      'meter.created',
      'meter.archived',
    ]);
  });

  it.each(['get', 'patch', 'delete'] as const)(
    'with the unknown id %s give 404',
    async (method) => {
      for (const id of [UNKNOWN, 'meter_nonsense']) {
        refused(await engine.http[method](`/v1/meters/${id}`), 404, 'meter_not_found');
      }
    },
  );

  describe('are referenced', () => {
    const price = { name: 'Call', model: 'per_unit', timing: 'in_arrears', unit_amount: '1' };
    const plan = { name: 'Plan', currency: 'EUR', interval: 'month' };

    function referTo(meterId: string) {
      count += 1;
      const prices = [{ ...price }, { ...price, meter_id: meterId }];
      const code = `code-${count}`;
      return [
        ['/v1/plans', { ...plan, code, prices }, '/prices/1/meter_id'],
        ['/v1/addons', { code, name: 'Addon', currency: 'EUR', prices }, '/prices/1/meter_id'],
        [
          '/v1/entitlements',
          { key: `key.${count}`, name: 'Calls', type: 'metered', meter_id: meterId },
          '/meter_id',
        ],
      ] as const;
    }

    it('by prices and entitlements, and continue to count after archiving', async () => {
      const { id } = await createMeter();
      for (const [path, body] of referTo(id)) {
        expect((await engine.http.post(path).send(body)).status).toBe(201);
      }
      expect((await engine.http.delete(`/v1/meters/${id}`)).status).toBe(204);
      for (const [path, body, pointer] of referTo(id)) {
        const answer = await engine.http.post(path).send(body);
        refused(answer, 422, 'reference_not_found');
        expect(answer.body).toMatchObject({ errors: [{ pointer }] });
      }
    });

    it('only if they exist', async () => {
      for (const [path, body] of referTo(UNKNOWN)) {
        refused(await engine.http.post(path).send(body), 422, 'reference_not_found');
      }
    });

    it('by a new version of a plan only if they are not archived', async () => {
      const { id } = await createMeter();
      const [[path, body]] = referTo(id);
      const { id: planId } = (await engine.http.post(path).send(body)).body as { id: string };
      await engine.http.delete(`/v1/meters/${id}`);
      const versions = `/v1/plans/${planId}/versions`;
      const answer = await engine.http.post(versions).send({ prices: body.prices });
      refused(answer, 422, 'reference_not_found');
    });
  });

  it('count events that were stored before them, once', async () => {
    const customer = await createCustomer(engine);
    const events = [1, 2, 3].map((value) => ({
      idempotency_key: `early-${value}`,
      customer_id: customer,
      event_name: 'early',
      timestamp: `2026-03-01T0${value + 5}:10:00Z`,
      properties: { value },
    }));
    await engine.http.post('/v1/usage-events').send({ events });
    const { id } = await createMeter({
      event_name: 'early',
      aggregation: 'sum',
      value_property: 'value',
    });
    const again = await engine.http.post('/v1/usage-events').send({ events });
    expect(again.body).toMatchObject({ accepted: 0, duplicates: 3 });
    const buckets = await bucketsOf(engine, id);
    expect(buckets.map(({ start, total }) => [start, total])).toEqual([
      ['2026-03-01 06:00', '1'],
      ['2026-03-01 07:00', '2'],
      ['2026-03-01 08:00', '3'],
    ]);
  });

  it('read events that were stored before them once, with windows of other customers open', async () => {
    const customer = await createCustomer(engine);
    const events = Array.from({ length: 1_000 }, (_, n) => ({
      idempotency_key: `read-${n}`,
      customer_id: customer,
      event_name: 'read',
      timestamp: '2026-03-01T08:10:00Z',
    }));
    await engine.http.post('/v1/usage-events').send({ events });
    const other = await createMeter({ event_name: 'read' });
    await engine.database.query(
      `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
       SELECT id, $1, '2026-03-01T08:00:00Z', '2026-03-02T00:00:00Z' FROM usage_stream WHERE event_name = 'read'`,
      [other.id],
    );
    const meter = await insertMeter(engine, { eventName: 'read' });
    const read = async (): Promise<number> => {
      const [row] = await engine.database.query<{ events: number }>(
        `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS events
         FROM pg_stat_xact_user_tables WHERE relname LIKE 'usage\\_event\\_%'`,
      );
      return row?.events ?? 0;
    };
    const [row] = await engine.database.query<{ events: number }>(
      'SELECT count(*)::int AS events FROM usage_event',
    );
    const totals = engine.app.get(UsageTotalsWriter);
    await engine.database.transaction(async () => {
      const [stream] = await engine.database.query<{ id: string }>(
        "SELECT id FROM usage_stream WHERE event_name = 'read' FOR UPDATE",
      );
      const before = await read();
      await totals.recount(meter, { streams: [stream?.id ?? ''], from: null, to: null });
      const events = (await read()) - before;
      expect(events).toBeGreaterThanOrEqual(1_000);
      expect(events).toBeLessThanOrEqual(row?.events ?? 0);
    });
    expect((await bucketsOf(engine, meter)).map(({ events }) => events)).toEqual([1_000]);
  });

  it('count every event that is stored while they are created', async () => {
    const customer = await createCustomer(engine);
    const report = (n: number) =>
      engine.http.post('/v1/usage-events').send({
        idempotency_key: `race-${n}`,
        customer_id: customer,
        event_name: 'race',
        timestamp: '2026-03-01T08:10:00Z',
      });
    const made: Promise<MeterBody>[] = [];
    const reports: Promise<unknown>[] = [];
    for (let n = 0; n < 40; n += 1) {
      reports.push(report(n).then(({ body }) => expect(body).toMatchObject({ accepted: 1 })));
      if (n % 10 === 5) made.push(createMeter({ event_name: 'race' }));
    }
    await Promise.all(reports);
    const meters = await Promise.all(made);
    await until('the meters are active', async () => {
      while (await engine.app.get(MeterBackfills).runDue());
      return (await engine.database.query('SELECT FROM meter_backfill')).length === 0;
    });
    for (const { id } of meters) {
      const buckets = await bucketsOf(engine, id);
      expect(buckets.map(({ events }) => events)).toEqual([40]);
    }
  });
});
