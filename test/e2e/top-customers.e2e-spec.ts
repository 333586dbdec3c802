import { add, formatExact, parseDecimal, type Rational, ZERO } from '../../src/core/decimal';
import { createCustomer, createMeter } from '../support/billing';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { reportUsage, type SentUsage } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

/** A million seconds, so that weighted sums are finite decimals, with a part of an hour at both ends. */
const PERIOD = 'from=2026-03-01T00:30:00.000Z&to=2026-03-12T14:16:40.000Z';
const NOW = '2026-04-01T00:00:00.000Z';

interface TopCustomers {
  readonly data: readonly { readonly customer_id: string; readonly value: string }[];
  readonly customers: number;
  readonly total: string;
}

const ADA: readonly SentUsage[] = [
  ['2026-02-20T00:00:00.000Z', 5, 'large'],
  ['2026-03-01T00:29:59.999Z', 100, 'large'],
  ['2026-03-01T00:30:00.000Z', 7, 'small'],
  ['2026-03-01T00:59:59.999Z', 7, 'large'],
  ['2026-03-02T10:00:00.000Z', -2, 'large'],
  ['2026-03-12T14:16:39.999Z', 1, 'small'],
  ['2026-03-12T14:16:40.000Z', 999, 'small'],
];
const BOB: readonly SentUsage[] = [
  ['2026-03-03T00:00:00.000Z', 40, 'small'],
  ['2026-03-04T12:34:56.789Z', 0, 'large'],
];
const ONLY_BEFORE: readonly SentUsage[] = [['2026-02-21T00:00:00.000Z', 3, 'small']];

describe('the customers who used most', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set(NOW);
  });

  afterAll(() => engine.close());

  async function read(meter: string, query = PERIOD): Promise<TopCustomers> {
    const answer = await engine.http.get(`/v1/meters/${meter}/customers?${query}`);
    expect(answer.status).toBe(200);
    return answer.body as TopCustomers;
  }

  async function usageOf(meter: string, customer: string): Promise<string> {
    const path = `/v1/meters/${meter}/usage?customer_id=${customer}&${PERIOD}`;
    return ((await engine.http.get(path)).body as { total: string }).total;
  }

  it('are none without usage', async () => {
    expect(await read(await createMeter(engine, { event_name: 'never' }))).toEqual({
      data: [],
      customers: 0,
      total: '0',
    });
  });

  it.each([
    { aggregation: 'count', first: 'Ada' },
    { aggregation: 'sum', value_property: 'n', first: 'Bob' },
    { aggregation: 'sum', value_property: 'n', group_by: ['model'], first: 'Bob' },
    { aggregation: 'max', value_property: 'n', first: 'Bob' },
    { aggregation: 'latest', value_property: 'n', group_by: ['model'], first: 'Ada' },
    { aggregation: 'unique', value_property: 'n', group_by: ['model'], first: 'Ada' },
    { aggregation: 'weighted_sum', value_property: 'n', first: 'Bob' },
    { aggregation: 'weighted_sum', value_property: 'n', is_recurring: true, first: 'Ada' },
    {
      aggregation: 'count',
      filters: [{ property: 'model', in: ['large'] }],
      first: 'Ada',
    },
  ])('have the values that each of them has alone: %o', async ({ first, ...terms }) => {
    made += 1;
    const event = `event_${made}`;
    const meter = await createMeter(engine, { ...terms, event_name: event });
    const clock = await engine.http.post('/v1/test-clocks').send({ name: 'C', now: NOW });
    const { id: clockId } = clock.body as { id: string };
    const ada = await createCustomer(engine, { name: 'Ada' });
    const bob = await createCustomer(engine, { name: 'Bob' });
    const before = await createCustomer(engine, { name: 'Only before' });
    const voided = await createCustomer(engine, { name: 'Voided' });
    const onClock = await createCustomer(engine, { name: 'Test', test_clock_id: clockId });
    await createCustomer(engine, { name: 'Without usage' });
    await reportUsage(engine, ada, event, ADA);
    await reportUsage(engine, bob, event, BOB);
    await reportUsage(engine, before, event, ONLY_BEFORE);
    await reportUsage(engine, onClock, event, BOB);
    const last = await reportUsage(engine, voided, event, [
      ['2026-03-05T00:00:00.000Z', 70_000, 'large'],
    ]);
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: last }).expect(200);
    await engine.http.delete(`/v1/customers/${bob}`).expect(204);

    const isHeld = 'is_recurring' in terms;
    const values = new Map<string, string>();
    for (const customer of [ada, bob, ...(isHeld ? [before] : [])]) {
      values.set(customer, await usageOf(meter, customer));
    }
    const total = [...values.values()].reduce<Rational>(
      (sum, value) => add(sum, parseDecimal(value)),
      ZERO,
    );
    const top = await read(meter);
    expect(Object.fromEntries(top.data.map((row) => [row.customer_id, row.value]))).toEqual(
      Object.fromEntries(values),
    );
    expect(top.data.map(({ value }) => Number(value))).toEqual(
      [...values.values()].map(Number).sort((a, b) => b - a),
    );
    expect(top.data[0]).toMatchObject({ customer_name: first, is_deleted: first === 'Bob' });
    expect(top).toMatchObject({ customers: values.size, total: formatExact(total) });
    expect(await read(meter, `${PERIOD}&limit=1`)).toEqual({ ...top, data: [top.data[0]] });
  });

  it.each([
    ['from=2026-03-01T00:00:00Z', 400, 'validation_failed'],
    [`${PERIOD}&limit=0`, 400, 'validation_failed'],
    [`${PERIOD}&limit=101`, 400, 'validation_failed'],
    [`${PERIOD}&customer_id=cus_01h455vb4pex5vsknk084sn02q`, 400, 'validation_failed'],
    ['from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z', 422, 'usage_period_empty'],
  ])('are refused for %s', async (query, status, code) => {
    const meter = await createMeter(engine);
    const answer = await engine.http.get(`/v1/meters/${meter}/customers?${query}`);
    expect(answer.body).toMatchObject({ status, code });
  });

  it('are refused for an unknown meter', async () => {
    const path = '/v1/meters/met_01h455vb4pex5vsknk084sn02q/customers';
    const answer = await engine.http.get(`${path}?${PERIOD}`);
    expect(answer.body).toMatchObject({ status: 404, code: 'meter_not_found' });
  });
});

describe('the names of the customers who used most', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
    engine.clock.set(NOW);
  });

  afterAll(() => engine.close());

  it('are shown only to callers that may read customers', async () => {
    const create = async (path: string, body: object): Promise<string> => {
      const answer = await engine.http.post(path).set(bearing(BOOTSTRAP_KEY)).send(body);
      return (answer.body as { id: string }).id;
    };
    const customer = await create('/v1/customers', { name: 'Ada' });
    const meter = await create('/v1/meters', {
      key: 'calls',
      event_name: 'call',
      aggregation: 'count',
    });
    await create('/v1/usage-events', {
      idempotency_key: 'first',
      customer_id: customer,
      event_name: 'call',
      timestamp: '2026-03-05T00:00:00.000Z',
    });
    const readers = [
      [['usage:read'], null],
      [['usage:read', 'customers:read'], 'Ada'],
    ] as const;
    for (const [scopes, name] of readers) {
      const { secret } = await createKey(engine, ...scopes);
      const { body } = await engine.http
        .get(`/v1/meters/${meter}/customers?${PERIOD}`)
        .set(bearing(secret));
      expect((body as TopCustomers).data).toEqual([
        { customer_id: customer, customer_name: name, is_deleted: false, value: '1' },
      ]);
    }
  });
});
