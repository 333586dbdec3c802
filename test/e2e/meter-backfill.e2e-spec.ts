import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'pg';
import { MeterBackfills } from '../../src/modules/metering/meter-backfills';
import { slotOf } from '../../src/modules/metering/store/meter-locks';
import { UsageTotalsWriter } from '../../src/modules/metering/store/usage-totals-writer';
import { untilSessionsWait } from '../support/lock-waits';
import { bucketsOf, createCustomer } from '../support/metering';
import { insertUsage } from '../support/stored-usage';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const SUPPORT = join(__dirname, '../support');
const AGGREGATIONS = ['count', 'sum', 'max', 'unique', 'latest', 'weighted_sum'] as const;

interface MeterBody {
  readonly id: string;
  readonly status: string;
  readonly backfill: { readonly counted_events: number; readonly total_events: number } | null;
}

describe('the backfill of a meter', () => {
  let engine: TestApp;
  let number = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const newName = (): string => `backfilled_${(number += 1)}`;
  const runStep = (): Promise<boolean> => engine.app.get(MeterBackfills).runDue();

  async function createMeter(eventName: string, fields: object = {}): Promise<MeterBody> {
    const answer = await engine.http.post('/v1/meters').send({
      key: `key_${(number += 1)}`,
      event_name: eventName,
      aggregation: 'count',
      ...fields,
    });
    expect(answer.status).toBe(201);
    return answer.body as MeterBody;
  }

  async function read(id: string): Promise<MeterBody> {
    return (await engine.http.get(`/v1/meters/${id}`)).body as MeterBody;
  }

  const eventOf = (customer: string, eventName: string) => ({
    idempotency_key: `key-${(number += 1)}`,
    customer_id: customer,
    event_name: eventName,
    timestamp: '2026-02-01T05:10:00Z',
    properties: { value: 9, model: 'model-1', user: 'new' },
  });

  async function send(customer: string, eventName: string): Promise<void> {
    const answer = await engine.http.post('/v1/usage-events').send(eventOf(customer, eventName));
    expect(answer.body).toMatchObject({ accepted: 1 });
  }

  const createCustomers = (length: number): Promise<readonly string[]> =>
    Promise.all(Array.from({ length }, () => createCustomer(engine)));

  /** Sends events of all customers, in turns, in one body. */
  async function sendList(
    customers: readonly string[],
    eventName: string,
    eventsOfEach: number,
  ): Promise<void> {
    const events = Array.from({ length: eventsOfEach }, () =>
      customers.map((customer) => JSON.stringify(eventOf(customer, eventName))),
    ).flat();
    const answer = await engine.http
      .post('/v1/usage-events')
      .set('Content-Type', 'application/x-ndjson')
      .send(events.join('\n'));
    expect(answer.body).toMatchObject({ accepted: events.length });
  }

  async function voidEvent(key: string): Promise<void> {
    const answer = await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key });
    expect(answer.status).toBe(200);
  }

  async function runAll(): Promise<void> {
    await until('the backfills are complete', async () => {
      while (await runStep());
      const left = await engine.database.query('SELECT FROM meter_backfill');
      return left.length === 0;
    });
  }

  /** Compares the totals of the meter with those of counting all its events again. */
  async function expectExact(meterId: string, eventName: string): Promise<void> {
    const counted = await totalsOf(meterId);
    const streams = await engine.database.query<{ id: string }>(
      'SELECT id FROM usage_stream WHERE event_name = $1',
      [eventName],
    );
    const all = { streams: streams.map(({ id }) => id), from: null, to: null };
    await engine.database.transaction(() =>
      engine.app.get(UsageTotalsWriter).recount(meterId, all),
    );
    expect(counted).toEqual(await totalsOf(meterId));
  }

  async function totalsOf(meterId: string): Promise<readonly unknown[]> {
    const buckets = await engine.database.query(
      `SELECT stream_id, start_at, end_at, group_key, events, trim_scale(total) AS total, trim_scale(greatest) AS greatest,
         trim_scale(latest) AS latest, latest_at, latest_position, trim_scale(held_ms) AS held, distinct_values
       FROM usage_bucket WHERE meter_id = $1 ORDER BY 1, 2, 3, 4`,
      [meterId],
    );
    const values = await engine.database.query(
      'SELECT * FROM usage_distinct_value WHERE meter_id = $1 ORDER BY 1, 2, 3, 4, 5, 6',
      [meterId],
    );
    return [...buckets, ...values];
  }

  it('runs in steps that show their progress, and nothing can refer to the meter before it ends', async () => {
    const [customer, eventName] = [await createCustomer(engine), newName()];
    await insertUsage(engine, { customerId: customer, eventName, events: 12_000, hours: 48 });
    const meter = await createMeter(eventName, { aggregation: 'sum', value_property: 'value' });
    expect(meter).toMatchObject({
      status: 'backfilling',
      backfill: { counted_events: 0, total_events: 0 },
    });
    const usage = () =>
      engine.http.get(`/v1/meters/${meter.id}/usage`).query({
        customer_id: customer,
        from: '2026-02-01T00:00:00Z',
        to: '2026-03-01T00:00:00Z',
      });
    const entitlement = { key: eventName, name: 'Calls', type: 'metered', meter_id: meter.id };
    const plan = {
      code: eventName,
      name: 'Plan',
      currency: 'EUR',
      interval: 'month',
      prices: [
        {
          name: 'Call',
          model: 'per_unit',
          timing: 'in_arrears',
          unit_amount: '1',
          meter_id: meter.id,
        },
      ],
    };
    const answers = [
      await usage(),
      await engine.http.post('/v1/entitlements').send(entitlement),
      await engine.http.post('/v1/plans').send(plan),
    ];
    expect(answers.map(({ body }) => (body as { code: string }).code)).toEqual(
      Array(3).fill('meter_backfilling'),
    );
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
    const progress: number[] = [];
    while (await runStep()) {
      const { backfill } = await read(meter.id);
      if (backfill === null) break;
      expect(backfill.total_events).toBe(12_000);
      progress.push(backfill.counted_events);
      const known = await engine.http.get(`/v1/meters/${meter.id}`).set('If-None-Match', '"1"');
      expect(known.status).toBe(200);
    }
    expect(progress.map((counted, at) => counted - (progress[at - 1] ?? 0) <= 5_000)).toEqual(
      progress.map(() => true),
    );
    expect(progress.at(-1)).toBe(12_000);
    expect(await read(meter.id)).toMatchObject({ status: 'active', backfill: null });
    const sum = Array.from({ length: 12_000 }, (_, n) => ((n + 1) % 7) + 1);
    expect((await usage()).body).toMatchObject({
      total: String(sum.reduce((total, value) => total + value, 0)),
    });
    const entitled = await engine.http.post('/v1/entitlements').send(entitlement);
    expect(entitled.body).toMatchObject({ meter_id: meter.id });
    expect((await eventsOf(engine, meter.id)).map(({ type }) => type)).toEqual([
      'meter.created',
      'meter.activated',
    ]);
  });

  it('counts few events at once, even if their positions have gaps', async () => {
    const eventName = newName();
    await sendList(await createCustomers(20), eventName, 20);
    await engine.database.query(
      'UPDATE usage_stream SET last_position = 100000 WHERE event_name = $1',
      [eventName],
    );
    expect(await createMeter(eventName)).toMatchObject({ status: 'active', backfill: null });
  });

  it('counts up to 5,000 events of several streams in a step, and shows how many a list had', async () => {
    const [eventName, customers] = [newName(), await createCustomers(120)];
    await sendList(customers, eventName, 100);
    const { id } = await createMeter(eventName);
    const progress: MeterBody['backfill'][] = [];
    while (await runStep()) {
      progress.push((await read(id)).backfill);
      if (progress.length === 1) await send(customers.at(-1) ?? '', eventName);
    }
    expect(progress).toEqual([
      { counted_events: 5_000, total_events: 12_000 },
      { counted_events: 10_000, total_events: 12_000 },
      { counted_events: 12_000, total_events: 12_000 },
      null,
    ]);
    await expectExact(id, eventName);
  });

  it('is exact for every aggregation with events and voids between and during its steps', async () => {
    const eventName = newName();
    const customers: string[] = [];
    for (const events of [9_000, 40, 2_000, 4_000]) {
      const customerId = await createCustomer(engine);
      await insertUsage(engine, { customerId, eventName, events, hours: 12 });
      customers.push(customerId);
    }
    for (const customer of customers) await send(customer, eventName);
    const meters: MeterBody[] = [];
    for (const aggregation of AGGREGATIONS) {
      const property = aggregation === 'unique' ? 'user' : 'value';
      const fields = aggregation === 'count' ? {} : { value_property: property };
      meters.push(await createMeter(eventName, { aggregation, group_by: ['model'], ...fields }));
    }
    expect(meters.map(({ status }) => status)).toEqual(AGGREGATIONS.map(() => 'backfilling'));
    let round = 0;
    let more = true;
    while (more) {
      round += 1;
      const writes = customers.flatMap((customer) => [
        send(customer, eventName),
        voidEvent(`${customer}-${eventName}-${round}`),
        voidEvent(`${customer}-${eventName}-${40 - round}`),
      ]);
      const step = runStep();
      await Promise.all(round > 8 ? [] : writes);
      more = await step;
    }
    await runAll();
    for (const { id } of meters) {
      expect(await read(id)).toMatchObject({ status: 'active' });
      await expectExact(id, eventName);
    }
  });

  it('counts events of a transaction that started to store them before the meter was created', async () => {
    const eventName = newName();
    const [early, other] = [await createCustomer(engine), await createCustomer(engine)];
    const client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock_shared(7301995, $1)', [slotOf(eventName)]);
    const storing = {
      query: async (sql: string, values: unknown[]) =>
        (await client.query<object>(sql, values)).rows,
    };
    await insertUsage(
      { database: storing as unknown as TestApp['database'] },
      { customerId: early, eventName, events: 3, hours: 2 },
    );
    const meter = await createMeter(eventName);
    expect(meter.status).toBe('backfilling');
    expect(await runStep()).toBe(false);
    await send(other, eventName);
    expect(await runStep()).toBe(false);
    expect(await read(meter.id)).toMatchObject({ status: 'backfilling' });
    await client.query('COMMIT');
    await client.end();
    await runAll();
    expect(await read(meter.id)).toMatchObject({ status: 'active' });
    const buckets = await bucketsOf(engine, meter.id);
    expect(buckets.reduce((sum, { events }) => sum + events, 0)).toBe(4);
  });

  it('does not delay events of other customers while it waits for a stream', async () => {
    const eventName = newName();
    const [held, other] = [await createCustomer(engine), await createCustomer(engine)];
    const stream = await insertUsage(engine, {
      customerId: held,
      eventName,
      events: 10,
      hours: 2,
    });
    await send(other, eventName);
    const client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM usage_stream WHERE id = $1 FOR UPDATE', [stream]);
    const created = createMeter(eventName);
    const step = created.then(runStep);
    // A step that begins while the next event is being stored would not wait for a stream, and could end first.
    await untilSessionsWait(engine.database);
    let isSent = false;
    const sent = send(other, eventName).then(() => (isSent = true));
    await Promise.race([sent, step]);
    expect(isSent).toBe(true);
    await client.query('COMMIT');
    await client.end();
    await step;
    await runAll();
    await expectExact((await created).id, eventName);
  });

  it('starts for a name in use also if the request has an idempotency key, and ends once', async () => {
    const [customer, eventName] = [await createCustomer(engine), newName()];
    await insertUsage(engine, { customerId: customer, eventName, events: 6_000, hours: 3 });
    const request = () =>
      engine.http
        .post('/v1/meters')
        .set('Idempotency-Key', `meter-${eventName}`)
        .send({ key: eventName, event_name: eventName, aggregation: 'count' });
    const [first, again] = [await request(), await request()];
    expect(first.body).toMatchObject({ status: 'backfilling' });
    expect(again.body).toEqual(first.body);
    await Promise.all([runAll(), runAll()]);
    const { id } = first.body as MeterBody;
    await expectExact(id, eventName);
    expect(await eventsOf(engine, id)).toHaveLength(2);
  });

  it('continues where a killed process left it', async () => {
    const [customer, eventName] = [await createCustomer(engine), newName()];
    await insertUsage(engine, { customerId: customer, eventName, events: 60_000, hours: 100 });
    const { id } = await createMeter(eventName, { group_by: ['model'] });
    const counted = async (): Promise<number> =>
      (await read(id)).backfill?.counted_events ?? 60_000;
    let before = 0;
    for (const isKilled of [true, true, false]) {
      const worker = await startWorker();
      await until('the backfill continues', async () => (await counted()) > before);
      if (isKilled) {
        worker.kill('SIGKILL');
        await once(worker, 'exit');
        const reached = await counted();
        expect(reached).toBeGreaterThan(before);
        before = reached;
      } else {
        await until('it is complete', async () => (await read(id)).status === 'active');
        worker.disconnect();
        await once(worker, 'exit');
      }
    }
    await expectExact(id, eventName);
  });

  async function startWorker(): Promise<ChildProcess> {
    const now = engine.clock.now().toISOString();
    const run = [join(SUPPORT, 'worker-process.ts'), engine.databaseUrl, now];
    const worker = fork(join(SUPPORT, 'run-ts.cjs'), run, { stdio: 'inherit' });
    await once(worker, 'message');
    return worker;
  }
});
