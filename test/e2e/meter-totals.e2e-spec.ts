import { add, formatExact, parseDecimal, type Rational, ZERO } from '../../src/core/decimal';
import { createCustomer, createMeter } from '../support/billing';
import { reportUsage, type SentUsage } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NOW = '2026-04-01T00:00:00.000Z';
/** Cuts an hour at both ends. */
const PERIOD = 'from=2026-03-01T00:30:00.000Z&to=2026-03-03T14:16:40.000Z';
const UNKNOWN_METER = 'met_01h455vb4pex5vsknk084sn02q';

interface Totals {
  readonly data: readonly {
    readonly window_start: string;
    readonly value: string;
    readonly group?: Readonly<Record<string, string | null>> | null;
  }[];
  readonly total: string;
}

const ADA: readonly SentUsage[] = [
  ['2026-03-01T00:29:59.999Z', 100, 'large'],
  ['2026-03-01T00:30:00.000Z', 7, 'small'],
  ['2026-03-01T00:59:59.999Z', 7, 'large'],
  ['2026-03-01T18:29:59.999Z', 3, 'large'],
  ['2026-03-01T18:30:00.000Z', 4, null],
  ['2026-03-02T10:00:00.000Z', -2, 'large'],
  ['2026-03-03T14:16:39.999Z', 1, 'small'],
  ['2026-03-03T14:16:40.000Z', 999, 'small'],
];
const BOB: readonly SentUsage[] = [
  ['2026-03-01T18:45:00.000Z', 40.5, 'small'],
  ['2026-03-02T10:30:00.000Z', 1, 'tiny'],
];

const SUM = { aggregation: 'sum', value_property: 'n' };

describe('the totals of a meter', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set(NOW);
  });

  afterAll(() => engine.close());

  async function read(meter: string, query: string): Promise<Totals> {
    const answer = await engine.http.get(`/v1/meters/${meter}/totals?${query}`);
    expect(answer.body).toHaveProperty('total');
    return answer.body as Totals;
  }

  /** A meter with the usage of two customers, of a deleted one, and of one on a test clock. */
  async function used(terms: object): Promise<{ meter: string; customers: readonly string[] }> {
    made += 1;
    const event = `event_${made}`;
    const meter = await createMeter(engine, { ...terms, event_name: event });
    const clock = await engine.http.post('/v1/test-clocks').send({ name: 'C', now: NOW });
    const { id: clockId } = clock.body as { id: string };
    const [ada, bob, onClock] = [
      await createCustomer(engine),
      await createCustomer(engine),
      await createCustomer(engine, { test_clock_id: clockId }),
    ];
    await reportUsage(engine, ada, event, ADA);
    await reportUsage(engine, bob, event, BOB);
    await reportUsage(engine, onClock, event, BOB);
    const last = await reportUsage(engine, bob, event, [
      ['2026-03-02T05:00:00.000Z', 70_000, 'large'],
    ]);
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: last }).expect(200);
    await engine.http.delete(`/v1/customers/${bob}`).expect(204);
    return { meter, customers: [ada, bob] };
  }

  it('are zero without usage, and have no groups', async () => {
    const meter = await createMeter(engine, { ...SUM, group_by: ['model'], event_name: 'never' });
    const all = await read(meter, `${PERIOD}&window=day`);
    expect(all.data.map(({ window_start, value }) => [window_start, value])).toEqual([
      ['2026-03-01T00:30:00.000Z', '0'],
      ['2026-03-02T00:00:00.000Z', '0'],
      ['2026-03-03T00:00:00.000Z', '0'],
    ]);
    expect(await read(meter, `${PERIOD}&window=day&group_by=model`)).toEqual({
      data: [],
      total: '0',
    });
  });

  it.each(['hour', 'day', 'month'])(
    'are the sums of what each customer used by %s',
    async (window) => {
      for (const terms of [
        { ...SUM, group_by: ['model'] },
        { aggregation: 'count', filters: [{ property: 'model', in: ['large'] }] },
      ]) {
        const { meter, customers } = await used(terms);
        const sums = new Map<string, Rational>();
        for (const customer of customers) {
          const path = `/v1/meters/${meter}/usage?customer_id=${customer}&${PERIOD}&window=${window}`;
          const { data } = (await engine.http.get(path)).body as Totals;
          for (const { window_start, value } of data) {
            sums.set(window_start, add(sums.get(window_start) ?? ZERO, parseDecimal(value)));
          }
        }
        const totals = await read(meter, `${PERIOD}&window=${window}`);
        expect(totals.data.map((row) => [row.window_start, row.value])).toEqual(
          [...sums].map(([at, value]) => [at, formatExact(value)]),
        );
        expect(totals.total).toBe(formatExact([...sums.values()].reduce(add)));
      }
    },
  );

  it('are the greatest value of any customer for a maximum', async () => {
    const { meter } = await used({ aggregation: 'max', value_property: 'n' });
    const { data, total } = await read(meter, `${PERIOD}&window=day`);
    expect([data.map(({ value }) => value), total]).toEqual([['40.5', '1', '1'], '40.5']);
  });

  it('follow the days of a time zone that is not whole hours away from UTC', async () => {
    const { meter } = await used(SUM);
    const query = `${PERIOD}&window=day&time_zone=Asia/Kolkata`;
    const { data } = await read(meter, query);
    expect(data.map(({ window_start, value }) => [window_start, value])).toEqual([
      ['2026-03-01T00:30:00.000Z', '17'],
      ['2026-03-01T18:30:00.000Z', '43.5'],
      ['2026-03-02T18:30:00.000Z', '1'],
    ]);
  });

  it('follow the hours of a time zone whose hours each overlap two hours of UTC', async () => {
    const { meter } = await used(SUM);
    const { data, total } = await read(meter, `${PERIOD}&window=hour&time_zone=Asia/Kolkata`);
    const known = data.filter(({ value }) => value !== '0');
    expect(known.map(({ window_start, value }) => [window_start, value])).toEqual([
      ['2026-03-01T00:30:00.000Z', '14'],
      ['2026-03-01T17:30:00.000Z', '3'],
      ['2026-03-01T18:30:00.000Z', '44.5'],
      ['2026-03-02T09:30:00.000Z', '-2'],
      ['2026-03-02T10:30:00.000Z', '1'],
      ['2026-03-03T13:30:00.000Z', '1'],
    ]);
    expect(total).toBe('61.5');
  });

  it('are read quickly by such hours for many customers with little usage', async () => {
    const meter = await createMeter(engine, { ...SUM, event_name: 'rare' });
    const customer = await createCustomer(engine);
    await reportUsage(engine, customer, 'rare', [['2026-03-01T10:15:00.000Z', 5, null]]);
    await engine.database.query(
      `WITH made AS (
         INSERT INTO customer SELECT (jsonb_populate_record(customer, jsonb_build_object('id', 'cus_many' || number))).*
         FROM customer, generate_series(1, 10000) AS number WHERE customer.id = $1 RETURNING id)
       INSERT INTO usage_stream (customer_id, event_name, last_position)
       SELECT id, 'rare', 0 FROM made`,
      [customer],
    );
    const query =
      'from=2026-01-01T00:00:00Z&to=2026-03-20T00:00:00Z&window=hour&time_zone=Asia/Kolkata';
    const startsAt = performance.now();
    expect(await read(meter, query)).toMatchObject({ total: '5' });
    expect(performance.now() - startsAt).toBeLessThan(10_000);
  });

  it('name the largest groups of the period, and add up the others', async () => {
    const { meter } = await used({ ...SUM, group_by: ['model'] });
    const query = `${PERIOD}&window=day&group_by=model`;
    const shown = ({ data }: Totals) =>
      data.map(({ window_start, group, value }) => [window_start.slice(8, 10), group, value]);
    expect(shown(await read(meter, query))).toEqual([
      ['01', { model: 'large' }, '10'],
      ['01', { model: 'small' }, '47.5'],
      ['01', { model: null }, '4'],
      ['02', { model: 'large' }, '-2'],
      ['02', { model: 'tiny' }, '1'],
      ['03', { model: 'small' }, '1'],
    ]);
    const two = await read(meter, `${query}&top=2`);
    expect(shown(two)).toEqual([
      ['01', { model: 'large' }, '10'],
      ['01', { model: 'small' }, '47.5'],
      ['01', null, '4'],
      ['02', { model: 'large' }, '-2'],
      ['02', null, '1'],
      ['03', { model: 'small' }, '1'],
    ]);
    expect(two.total).toBe('61.5');
  });

  it('are one value without windows, in a period within an hour', async () => {
    const { meter } = await used(SUM);
    const hour = 'from=2026-03-01T00:30:00Z&to=2026-03-01T00:59:59.999Z';
    expect(await read(meter, hour)).toEqual({
      data: [
        {
          window_start: '2026-03-01T00:30:00.000Z',
          window_end: '2026-03-01T00:59:59.999Z',
          value: '7',
        },
      ],
      total: '7',
    });
  });

  it.each(['unique', 'latest', 'weighted_sum'])('do not exist for %s', async (aggregation) => {
    const meter = await createMeter(engine, { aggregation, value_property: 'n' });
    const answer = await engine.http.get(`/v1/meters/${meter}/totals?${PERIOD}`);
    expect(answer.body).toMatchObject({ status: 422, code: 'meter_not_totalled' });
  });

  it.each([
    ['from=2026-03-01T00:00:00Z', 400, 'validation_failed'],
    [`${PERIOD}&top=21`, 400, 'validation_failed'],
    [`${PERIOD}&window=week`, 400, 'validation_failed'],
    [`${PERIOD}&time_zone=Nowhere`, 400, 'validation_failed'],
    [`${PERIOD}&group_by=model`, 422, 'unknown_group'],
    ['from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z', 422, 'usage_period_empty'],
    ['from=2026-01-01T00:00:00Z&to=2026-04-01T00:00:00Z&window=hour', 422, 'too_many_windows'],
  ])('are refused for %s', async (query, status, code) => {
    const meter = await createMeter(engine);
    const answer = await engine.http.get(`/v1/meters/${meter}/totals?${query}`);
    expect(answer.body).toMatchObject({ status, code });
  });

  it('are refused for more than 2,000,000 running totals', async () => {
    const { meter } = await used(SUM);
    for (let planted = 0; planted <= 2_000_000; planted += 500_000) {
      await engine.database.query(
        `INSERT INTO usage_bucket (stream_id, meter_id, start_at, end_at, group_key, events, total, held_ms, distinct_values)
         SELECT stream_id, meter_id, hour, hour + interval '1 hour', '[]', 1, 1, 0, 0
         FROM (SELECT stream_id, meter_id FROM usage_bucket WHERE meter_id = $1 ORDER BY 1 LIMIT 1) AS used,
           generate_series($2::integer, $2 + 499999) AS number,
           LATERAL (SELECT timestamptz '1700-01-01' + number * interval '1 hour' AS hour) AS hours`,
        [meter, planted],
      );
    }
    const path = `/v1/meters/${meter}/totals`;
    const all = await engine.http.get(`${path}?from=1700-01-01T00:00:00Z&to=2026-01-01T00:00:00Z`);
    expect(all.body).toMatchObject({ status: 422, code: 'too_much_usage_to_total' });
    const year = await engine.http.get(`${path}?from=1800-01-01T00:00:00Z&to=1801-01-01T00:00:00Z`);
    expect(year.body).toMatchObject({ total: String(365 * 24) });
  });

  it('are refused for an unknown meter', async () => {
    const answer = await engine.http.get(`/v1/meters/${UNKNOWN_METER}/totals?${PERIOD}`);
    expect(answer.body).toMatchObject({ status: 404, code: 'meter_not_found' });
  });
});
