import { createHash } from 'node:crypto';
import { UsageHooks } from '../../src/modules/metering/usage-hooks';
import { UsageWindows } from '../../src/modules/metering/store/usage-windows';
import { MetersService } from '../../src/modules/meters';
import { createCustomer, createMeter } from '../support/billing';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const UNKNOWN_CUSTOMER = 'cus_01h455vb4pex5vsknk084sn02q';

describe('stored usage events', () => {
  let engine: TestApp;
  let count = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-06-01T00:00:00.000Z');
  });

  afterAll(() => engine.close());

  interface Sent {
    readonly at: string;
    readonly value?: unknown;
    readonly key?: string;
    readonly event?: string;
    readonly model?: string;
  }

  interface EventBody {
    readonly id: string;
    readonly idempotency_key: string;
    readonly voided_at: string | null;
  }

  async function report(customer: string, events: readonly Sent[]): Promise<string[]> {
    const sent = events.map(({ at, value, key, event, model }) => {
      count += 1;
      return {
        idempotency_key: key ?? `key/${count}`,
        customer_id: customer,
        event_name: event ?? 'call',
        timestamp: at,
        properties: { value, model },
      };
    });
    const answer = await engine.http.post('/v1/usage-events').send({ events: sent });
    expect(answer.body).toMatchObject({ rejected: [] });
    return sent.map((one) => one.idempotency_key);
  }

  async function meterOf(fields: object = {}): Promise<string> {
    count += 1;
    return createMeter(engine, { key: `history_${count}`, event_name: 'call', ...fields });
  }

  const sum = { aggregation: 'sum', value_property: 'value' };

  const voidEvent = (key: string) =>
    engine.http.post('/v1/usage-events/void').send({ idempotency_key: key });

  const usageOf = (meter: string, query: object) =>
    engine.http.get(`/v1/meters/${meter}/usage`).query(query);

  function refused(answer: { status: number; body: unknown }, status: number, code: string) {
    expect(answer.body).toMatchObject({ status, code });
  }

  async function bill(customer: string, meter: string, [start, end]: readonly [string, string]) {
    const [stream] = await engine.database.query<{ id: string; position: string }>(
      `SELECT id, last_position AS position FROM usage_stream WHERE customer_id = $1 AND event_name = 'call'`,
      [customer],
    );
    count += 1;
    await engine.database.query(
      `INSERT INTO usage_billed (id, stream_id, meter_id, item_id, period_start_at, period_end_at, counted_from_at, group_key,
         quantity, events, up_to_position, terms, is_late, created_at)
       VALUES ($1, $2, $3, 'si_1', $4, $5, $4, '[]', 1, 1, $6, '{}', false, now())`,
      [`ub_${count}`, stream?.id, meter, start, end, stream?.position],
    );
    return `ub_${count}`;
  }

  describe('are listed', () => {
    it('newest first, page by page, over all names, and by name and time', async () => {
      const customer = await createCustomer(engine);
      await report(await createCustomer(engine), [{ at: '2026-03-01T00:00:00Z' }]);
      const keys = await report(customer, [
        { at: '2026-03-01T00:00:00Z' },
        { at: '2026-03-03T00:00:00Z', event: 'other' },
        { at: '2026-03-02T00:00:00Z' },
        { at: '2026-03-02T00:00:00Z' },
        { at: '2026-03-02T00:00:00Z', event: 'other' },
        { at: '1999-12-31T23:59:59.999Z' },
      ]);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const answer = await engine.http
          .get('/v1/usage-events')
          .query({ customer_id: customer, limit: 2, ...(cursor === null ? {} : { cursor }) });
        expect(answer.status).toBe(200);
        const body = answer.body as { data: EventBody[]; next_cursor: string | null };
        seen.push(...body.data.map((event) => event.idempotency_key));
        cursor = body.next_cursor;
      } while (cursor !== null);
      expect(seen[0]).toBe(keys[1]);
      expect(new Set(seen.slice(1, 4))).toEqual(new Set([keys[2], keys[3], keys[4]]));
      expect(seen.slice(4)).toEqual([keys[0], keys[5]]);
      const some = await engine.http.get('/v1/usage-events').query({
        customer_id: customer,
        event_name: 'call',
        from: '2026-03-01T00:00:00Z',
        to: '2026-03-02T00:00:00Z',
      });
      const { data } = some.body as { data: EventBody[] };
      expect(data.map((event) => event.idempotency_key)).toEqual([keys[0]]);
    });

    it.each([
      ['no customer', {}],
      ['a malformed customer id', { customer_id: 'x' }],
      ['an invalid time', { customer_id: UNKNOWN_CUSTOMER, from: 'yesterday' }],
    ])('not with %s', async (_, query) => {
      refused(await engine.http.get('/v1/usage-events').query(query), 400, 'validation_failed');
    });

    it.each([
      'x',
      '1.1',
      '9999999999999999.1.1',
      '999999999999999.1.1',
      '1.99999999999999999999.1',
    ])('not with a cursor of another list (%s)', async (text) => {
      const cursor = Buffer.from(text).toString('base64url');
      const answer = await engine.http
        .get('/v1/usage-events')
        .query({ customer_id: UNKNOWN_CUSTOMER, cursor });
      refused(answer, 400, 'invalid_cursor');
    });
  });

  it('are found by their key, whatever characters it contains', async () => {
    const customer = await createCustomer(engine);
    const key = 'a/b?c=%20 "ü"';
    await report(customer, [{ at: '2026-03-01T00:00:00.5Z', value: 1.5, key }]);
    const answer = await engine.http.get(`/v1/usage-events/${encodeURIComponent(key)}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^uev_[0-7][0-9a-z]{25}$/) as string,
      idempotency_key: key,
      customer_id: customer,
      event_name: 'call',
      timestamp: '2026-03-01T00:00:00.500Z',
      properties: { value: 1.5 },
      received_at: '2026-06-01T00:00:00.000Z',
      voided_at: null,
    });
    refused(await engine.http.get('/v1/usage-events/none'), 404, 'usage_event_not_found');
  });

  describe('are voided', () => {
    it('once, also by concurrent requests, and are kept', async () => {
      const customer = await createCustomer(engine);
      const meter = await meterOf(sum);
      const [key = ''] = await report(customer, [
        { at: '2026-03-01T10:10:00Z', value: 5 },
        { at: '2026-03-01T10:20:00Z', value: 2 },
      ]);
      engine.clock.advanceMs(1_000);
      const now = engine.clock.now().toISOString();
      const answers = await Promise.all([1, 2, 3, 4].map(() => voidEvent(key)));
      for (const answer of answers) {
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual(answers[0]?.body);
        expect(answer.body).toMatchObject({ idempotency_key: key, voided_at: now });
      }
      const body = answers[0]?.body as EventBody;
      expect(await eventsOf(engine, body.id)).toEqual([
        {
          type: 'usage.voided',
          sequence: 1,
          data: { object: body, previous: { voided_at: null } },
        },
      ]);
      const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
      const usage = await usageOf(meter, { customer_id: customer, ...period });
      expect(usage.body).toMatchObject({ total: '2' });
      const again = await engine.http.post('/v1/usage-events').send({
        idempotency_key: key,
        customer_id: customer,
        event_name: 'call',
        timestamp: '2026-03-01T10:10:00Z',
        properties: { value: 5 },
      });
      expect(again.body).toMatchObject({ accepted: 0, duplicates: 1 });
    });

    it('and their windows are updated and reported to hooks in the same commit', async () => {
      const customerId = await createCustomer(engine);
      const meter = await engine.app.get(MetersService).get(await meterOf(sum));
      const period = {
        startAt: new Date('2026-03-01T10:15:00Z'),
        endAt: new Date('2026-03-31T10:15:00Z'),
      };
      const window = { customerId, meter, period };
      const windows = engine.app.get(UsageWindows);
      await engine.database.transaction(() => windows.open(window));
      const notified: unknown[] = [];
      engine.app.get(UsageHooks).register((moved) => {
        notified.push(...moved.filter((one) => one.meterId === meter.id));
        return Promise.resolve();
      });
      const [key = ''] = await report(customerId, [{ at: '2026-03-02T00:00:00Z', value: 7 }]);
      await voidEvent(key);
      const [seven, zero] = [7n, 0n].map((numerator) => ({ numerator, denominator: 1n }));
      const about = { customerId, meterId: meter.id, period };
      expect(notified).toEqual([
        { ...about, usage: seven },
        { ...about, usage: zero },
      ]);
      expect(await windows.read([window])).toEqual([zero]);
      await engine.database.transaction(() => windows.close(window));
      expect(await windows.read([window])).toEqual([null]);
    });

    it('as late usage, if their period is billed and the meter accepts late events', async () => {
      const customer = await createCustomer(engine);
      const meter = await meterOf(sum);
      const [key = ''] = await report(customer, [{ at: '2026-03-01T10:10:00Z', value: 5 }]);
      const billed = await bill(customer, meter, ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z']);
      expect((await voidEvent(key)).status).toBe(200);
      expect((await eventsOf(engine, billed)).map(({ type }) => type)).toEqual(['usage.late']);
      const audited = await engine.http.get('/v1/audit-log').query({ object_id: billed });
      expect(audited.body).toHaveProperty(
        ['data', 0, 'changes'],
        expect.arrayContaining([
          expect.objectContaining({
            action: 'usage.late',
            changes: expect.objectContaining({
              customer_id: { after: customer },
              meter_id: { after: meter },
            }) as object,
          }),
        ]),
      );
      const late = await engine.database.query('SELECT id FROM usage_billed WHERE is_late');
      expect(late).toEqual([{ id: billed }]);
    });

    it('not if their period is billed and the meter rejects late events', async () => {
      const customer = await createCustomer(engine);
      const meter = await meterOf({ ...sum, late_events: 'reject' });
      const [key = ''] = await report(customer, [{ at: '2026-03-01T10:10:00Z', value: 5 }]);
      await bill(customer, meter, ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z']);
      refused(await voidEvent(key), 409, 'usage_late');
      const answer = await engine.http.get(`/v1/usage-events/${encodeURIComponent(key)}`);
      expect(answer.body).toMatchObject({ voided_at: null });
    });

    it('not with an unknown key', async () => {
      refused(await voidEvent('nothing'), 404, 'usage_event_not_found');
      refused(await voidEvent(''), 400, 'validation_failed');
    });
  });

  describe('are summed by a meter', () => {
    it('by local hours, days and months of the customer, cut at the ends of the period', async () => {
      const customer = await createCustomer(engine, { timezone: 'Asia/Kathmandu' });
      const meter = await meterOf(sum);
      await report(customer, [
        { at: '2026-03-01T18:14:59.999Z', value: '0.5' },
        { at: '2026-03-01T18:15:00Z', value: 2 },
      ]);
      const period = { from: '2026-03-01T18:00:00Z', to: '2026-03-01T19:00:00Z' };
      const query = { customer_id: customer, ...period };
      for (const window of ['hour', 'day']) {
        const answer = await usageOf(meter, { ...query, window });
        expect(answer.body).toEqual({
          data: [
            {
              window_start: '2026-03-01T18:00:00.000Z',
              window_end: '2026-03-01T18:15:00.000Z',
              value: '0.5',
            },
            {
              window_start: '2026-03-01T18:15:00.000Z',
              window_end: '2026-03-01T19:00:00.000Z',
              value: '2',
            },
          ],
          total: '2.5',
        });
      }
      const month = await usageOf(meter, { ...query, window: 'month' });
      expect(month.body).toMatchObject({ data: [{ value: '2.5' }], total: '2.5' });
    });

    it('by the days of another time zone, if the query names one', async () => {
      const customer = await createCustomer(engine, { timezone: 'Asia/Kathmandu' });
      const meter = await meterOf({ aggregation: 'max', value_property: 'value' });
      await report(customer, [
        { at: '2026-03-01T18:00:00Z', value: 10 },
        { at: '2026-03-01T19:00:00Z', value: 12 },
      ]);
      const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
      const query = { customer_id: customer, ...period, window: 'day' };
      const valuesIn = async (changed: object): Promise<(readonly string[])[]> => {
        const { data } = (await usageOf(meter, { ...query, ...changed })).body as {
          data: { window_start: string; value: string }[];
        };
        return data.map(({ window_start, value }) => [window_start, value]);
      };
      const cut = [
        ['2026-03-01T00:00:00.000Z', '10'],
        ['2026-03-01T18:15:00.000Z', '12'],
      ];
      expect(await valuesIn({})).toEqual(cut);
      expect(await valuesIn({ time_zone: 'Asia/Kathmandu' })).toEqual(cut);
      expect(await valuesIn({ time_zone: 'UTC' })).toEqual([['2026-03-01T00:00:00.000Z', '12']]);
      // So many cut hours are read as a report.
      const hours = await valuesIn({ window: 'hour', to: '2026-03-08T00:00:00Z' });
      expect(hours.filter(([, value]) => value !== '0')).toEqual([
        ['2026-03-01T17:15:00.000Z', '10'],
        ['2026-03-01T18:15:00.000Z', '12'],
      ]);
      refused(await usageOf(meter, { ...query, time_zone: 'Mars' }), 400, 'validation_failed');
    });

    it('by group, with a total over all groups', async () => {
      const customer = await createCustomer(engine);
      const meter = await meterOf({
        aggregation: 'unique',
        value_property: 'value',
        group_by: ['region', 'model'],
      });
      await report(customer, [
        { at: '2026-03-01T18:00:00Z', value: 'a', model: 'large' },
        { at: '2026-03-01T18:00:00Z', value: 'a', model: 'small' },
        { at: '2026-03-01T18:00:00Z', value: 'b' },
      ]);
      const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
      const answer = await usageOf(meter, { customer_id: customer, ...period, group_by: 'model' });
      const { data, total } = answer.body as {
        data: { group: object; value: string }[];
        total: string;
      };
      expect(data.map(({ group, value }) => [group, value])).toEqual([
        [{ model: 'large' }, '1'],
        [{ model: 'small' }, '1'],
        [{ model: null }, '1'],
      ]);
      expect(total).toBe('2');
    });

    it.each<[string, object, number, string]>([
      ['no customer', { customer_id: undefined }, 400, 'validation_failed'],
      ['an unknown customer', { customer_id: UNKNOWN_CUSTOMER }, 404, 'customer_not_found'],
      ['an empty period', { to: '2026-03-01T00:00:00Z' }, 422, 'usage_period_empty'],
      ['too many hours', { to: '2027-03-01T00:00:00Z', window: 'hour' }, 422, 'too_many_windows'],
      ['an unknown window', { window: 'week' }, 400, 'validation_failed'],
      ['an unknown group', { group_by: 'model,constructor' }, 422, 'unknown_group'],
      [
        'a time beyond the calendar',
        { to: '9999-12-31T23:59:59Z', window: 'day' },
        422,
        'too_many_windows',
      ],
    ])('not for %s', async (_, fields, status, code) => {
      const meter = await meterOf({ group_by: ['model'] });
      const customer = await createCustomer(engine);
      const period = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
      const answer = await usageOf(meter, { customer_id: customer, ...period, ...fields });
      refused(answer, status, code);
    });

    it('not as more than 100,000 values, one per window and group', async () => {
      const [customer, other] = [await createCustomer(engine), await createCustomer(engine)];
      const held = { ...sum, aggregation: 'weighted_sum', is_recurring: true, group_by: ['model'] };
      const meter = await meterOf(held);
      // The value of each model is in all later windows. A model without a value is in none.
      const valuesOf = (models: number): Sent[] =>
        Array.from({ length: models }, (_, place) => ({
          at: '2026-01-01T00:00:00Z',
          value: 1,
          model: `model-${place}`,
        }));
      await report(customer, [
        ...valuesOf(51),
        { at: '2026-01-01T00:00:00Z', value: -1, model: 'model-0' },
      ]);
      await report(other, valuesOf(51));
      const hours = { from: '2026-02-01T00:00:00Z', to: '2026-04-25T08:00:00Z', window: 'hour' };
      const query = { ...hours, group_by: 'model' };
      const answer = await engine.uncheckedHttp
        .get(`/v1/meters/${meter}/usage`)
        .query({ ...query, customer_id: customer });
      expect((answer.body as { data: unknown[] }).data).toHaveLength(100_000);
      const tooMany = await usageOf(meter, { ...query, customer_id: other });
      refused(tooMany, 422, 'too_many_windows');
      expect((tooMany.body as { detail: string }).detail).toContain(
        'longer windows or fewer groups',
      );
      const byDay = await usageOf(meter, { ...query, customer_id: other, window: 'day' });
      expect((byDay.body as { data: unknown[] }).data).toHaveLength(51 * 84);
      await usageOf(meter, { ...hours, customer_id: other }).expect(200);
    });

    it.each([undefined, 'hour', 'day', 'month'])(
      'at both ends of the calendar (%s)',
      async (window) => {
        const meter = await meterOf();
        for (const timezone of ['Pacific/Kiritimati', 'America/Los_Angeles']) {
          const customer = await createCustomer(engine, { timezone });
          for (const [from, to] of [
            ['0001-01-01T00:00:00Z', '0001-01-03T00:00:00Z'],
            ['9999-12-30T00:00:00Z', '9999-12-31T23:59:59.999Z'],
            ['9999-10-31T00:00:00Z', '9999-11-05T00:00:00Z'],
          ]) {
            const answer = await usageOf(meter, { customer_id: customer, from, to, window });
            expect(answer.status).toBe(200);
            expect(answer.body).toMatchObject({ total: '0' });
          }
        }
        const customer = await createCustomer(engine);
        const always = { from: '0001-01-01T00:00:00Z', to: '9999-12-31T23:59:59.999Z' };
        const answer = await usageOf(meter, { customer_id: customer, ...always, window });
        expect(answer.status).toBe(window === undefined ? 200 : 422);
      },
    );
  });

  describe('are accounted for by a proof', () => {
    it('with counts that add up, and the digest that a client computes from its log', async () => {
      const customer = await createCustomer(engine);
      const meter = await meterOf({ filters: [{ property: 'model', in: ['large'] }] });
      const log = Array.from({ length: 60 }, (_, place) => ({
        at: `2026-03-0${(place % 5) + 1}T10:00:00.00${place % 3}Z`,
        model: place % 4 === 0 ? 'small' : 'large',
        key: `proof-${['ü', 'z', 'A', 'a'][place % 4]}-${place}`,
      }));
      await report(customer, log);
      await report(customer, log.slice(0, 7));
      const clash = { ...log[0], at: '2026-03-01T10:00:00.000Z', model: 'none' };
      const rejected = await engine.http.post('/v1/usage-events').send({
        events: [
          {
            idempotency_key: clash.key,
            customer_id: customer,
            event_name: 'call',
            timestamp: clash.at,
          },
        ],
      });
      expect(rejected.body).toMatchObject({ rejected: [{ code: 'idempotency_key_reused' }] });
      await bill(customer, meter, ['2026-03-01T00:00:00Z', '2026-03-03T00:00:00Z']);
      await voidEvent(log[1]?.key ?? '');
      await voidEvent(log[4]?.key ?? '');

      const period = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
      const answer = await engine.http
        .get(`/v1/meters/${meter}/proof`)
        .query({ customer_id: customer, ...period });
      expect(answer.status).toBe(200);
      const digest = createHash('sha256');
      const ordered = [...log].sort(
        (a, b) =>
          Date.parse(a.at) - Date.parse(b.at) ||
          Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)),
      );
      for (const { key } of ordered) digest.update(`${key}\n`);
      const counted = log.filter(({ model }, place) => model === 'large' && place !== 1);
      const billed = counted.filter(({ at }) => at < '2026-03-03');
      expect(answer.body).toEqual({
        accepted: 60,
        archived: [],
        duplicates: 7,
        rejected: 1,
        voided: 2,
        counted: counted.length,
        billed: billed.length,
        pending: counted.length - billed.length,
        unbillable: 0,
        digest: digest.digest('hex'),
      });
    });

    it('also without any events', async () => {
      const period = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
      const answer = await engine.http
        .get(`/v1/meters/${await meterOf()}/proof`)
        .query({ customer_id: await createCustomer(engine), ...period });
      expect(answer.body).toMatchObject({
        accepted: 0,
        digest: createHash('sha256').digest('hex'),
      });
    });
  });
});
