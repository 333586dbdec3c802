import { Client } from 'pg';
import { StreamCache } from '../../src/modules/metering/ingest/stream-cache';
import { UsageWindows } from '../../src/modules/metering/store/usage-windows';
import { MetersService } from '../../src/modules/meters';
import { untilSessionsWait } from '../support/lock-waits';
import { createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';

describe('events in registered windows', () => {
  let engine: TestApp;
  /** A second process on the same database. */
  let other: TestApp;
  let customer: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    other = await startTestApp({ databaseUrl: engine.databaseUrl });
    customer = await createCustomer(engine);
  });

  afterAll(async () => {
    await other.close();
    await engine.close();
  });

  const event = (changes: Partial<SentEvent> = {}): SentEvent => ({
    idempotency_key: `known-${(serial += 1)}`,
    customer_id: customer,
    event_name: NAME,
    timestamp: '2026-03-01T09:15:00.000Z',
    properties: { amount: 2 },
    ...changes,
  });

  const send = async (body: object, through = engine): Promise<unknown> =>
    (await through.http.post('/v1/usage-events').send(body)).body;

  const accepted = (count: number) => ({ accepted: count, duplicates: 0, rejected: [] });

  const windowsOf = (meter: string) =>
    engine.database.query<{ total: string | null; isOpen: boolean }>(
      `SELECT total::int, usage_window.stream_id IS NOT NULL AS "isOpen"
       FROM usage_bucket LEFT JOIN usage_window USING (stream_id, meter_id, start_at, end_at)
       WHERE meter_id = $1 AND end_at - start_at <> interval '1 hour'`,
      [meter],
    );

  it('do not count in a window that is closed while they wait for their stream', async () => {
    const meter = await insertMeter(engine, { eventName: NAME, aggregation: 'sum' });
    await send(event());
    await engine.database.query(
      `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
       SELECT id, $1, '2026-03-01T08:30:00Z', '2026-03-01T09:40:00Z' FROM usage_stream WHERE customer_id = $2`,
      [meter, customer],
    );
    for (let times = 0; times < 2; times += 1) await send({ events: [event(), event()] });
    expect(await windowsOf(meter)).toEqual([{ total: 8, isOpen: true }]);
    expect(
      engine.app.get(StreamCache).get({ customerId: customer, eventName: NAME }),
    ).toMatchObject({ windowsEndMs: Date.parse('2026-03-01T09:40:00Z') });
    const closer = new Client({ connectionString: engine.databaseUrl });
    await closer.connect();
    await closer.query('BEGIN');
    await closer.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
    await closer.query('DELETE FROM usage_window WHERE meter_id = $1', [meter]);
    await closer.query(
      `DELETE FROM usage_bucket WHERE meter_id = $1 AND end_at - start_at <> interval '1 hour'`,
      [meter],
    );
    const sent = send({ events: [event(), event()] });
    await untilSessionsWait(engine.database);
    await closer.query('COMMIT');
    await closer.end();
    expect(await sent).toEqual(accepted(2));
    expect(await windowsOf(meter)).toEqual([]);
  });

  it('are counted exactly once while two processes report, and windows open and close', async () => {
    const name = 'framed';
    const meter = await engine.app
      .get(MetersService)
      .get(await insertMeter(engine, { eventName: name, aggregation: 'sum' }));
    const customers = await Promise.all(Array.from({ length: 4 }, () => createCustomer(engine)));
    const windowOf = (customerId: string, round: number) => ({
      customerId,
      meter,
      period: {
        startAt: new Date(Date.parse('2026-03-01T09:00:00Z') + round * 1_000),
        endAt: new Date('2026-03-01T10:30:00Z'),
      },
    });
    const windows = other.app.get(UsageWindows);
    const roll = async (customerId: string): Promise<void> => {
      for (let round = 0; round < 12; round += 1) {
        await other.database.transaction(async () => {
          await windows.open(windowOf(customerId, round));
          if (round > 0) await windows.close(windowOf(customerId, round - 1));
        });
      }
    };
    const sent = Array.from({ length: 240 }, (_, at) =>
      event({ event_name: name, customer_id: customers[at % 4] ?? '' }),
    );
    const report = async (through: TestApp, from: number): Promise<void> => {
      for (let at = from; at < sent.length; at += 12) {
        await send(at % 3 === 0 ? { events: sent.slice(at, at + 12) } : (sent[at] ?? {}), through);
      }
    };
    const reporters = [engine, other].flatMap((through) =>
      Array.from({ length: 12 }, (_, from) => report(through, from)),
    );
    await Promise.all([...reporters, ...customers.map(roll)]);
    expect(await windowsOf(meter.id)).toEqual(customers.map(() => ({ total: 120, isOpen: true })));
  });
});
