import { Client } from 'pg';
import { IngestBatcher } from '../../src/modules/metering/ingest/ingest-batcher';
import { createCustomer, insertMeter, reportedOf, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';
const HOUR = '2026-03-01T09:15:00.000Z';
const LATER = '2026-03-01T11:15:00.000Z';

describe('repeated events that cannot be classified', () => {
  let engine: TestApp;
  let customer: string;
  let holder: Client;
  let serial = 0;

  const event = (timestamp: string): SentEvent => ({
    idempotency_key: `repeat-${(serial += 1)}`,
    customer_id: customer,
    event_name: NAME,
    timestamp,
    properties: {},
  });

  const send = async (body: object): Promise<unknown> =>
    (await engine.http.post('/v1/usage-events').send(body)).body;

  beforeAll(async () => {
    engine = await startTestApp();
    await insertMeter(engine, { eventName: NAME });
  });

  afterAll(async () => {
    await engine.close();
  });

  beforeEach(async () => {
    customer = await createCustomer(engine);
    await send(event(HOUR));
    await send(event(LATER));
    holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
  });

  afterEach(async () => {
    await holder.end();
  });

  /** Stores and repeats an event, and locks the row that counts its repeats. New events do not need the row. */
  const repeatedAndLocked = async (): Promise<SentEvent> => {
    const repeated = event(HOUR);
    await send(repeated);
    await send(repeated);
    await holder.query('BEGIN');
    const { rowCount } = await holder.query(
      `SELECT FROM usage_tally
       WHERE stream_id = (SELECT id FROM usage_stream WHERE customer_id = $1) FOR UPDATE`,
      [customer],
    );
    expect(rowCount).toBe(1);
    return repeated;
  };

  it('give the outcome of their request as unknown if others of it were stored', async () => {
    const list = { events: [await repeatedAndLocked(), event(LATER)] };
    expect(await send(list)).toMatchObject({ status: 503, code: 'outcome_unknown' });
    await holder.query('COMMIT');
    expect(await send(list)).toEqual({ accepted: 0, duplicates: 2, rejected: [] });
    expect(await reportedOf(engine, customer)).toEqual({ accepted: 4, duplicates: 3, rejected: 0 });
  });

  it('leave the outcomes of other requests of their commit as they are', async () => {
    const repeated = await repeatedAndLocked();
    const toWrite = ({ idempotency_key, timestamp }: SentEvent) => ({
      idempotencyKey: idempotency_key,
      customerId: customer,
      eventName: NAME,
      timestamp: new Date(timestamp),
      properties: {},
      index: 0,
    });
    const requests = [event(LATER), repeated, event(LATER)].map((sent) => [toWrite(sent)]);
    const batcher = engine.app.get(IngestBatcher);
    const outcomes = await Promise.allSettled(requests.map((events) => batcher.write(events)));
    const stored = { status: 'fulfilled', value: { accepted: 1, notStored: [] } };
    const refused = { status: 'rejected', reason: expect.objectContaining({ code: '55P03' }) };
    expect(outcomes).toEqual([stored, refused, stored]);
    await holder.query('COMMIT');
    expect(await send(repeated)).toEqual({ accepted: 0, duplicates: 1, rejected: [] });
    expect(await reportedOf(engine, customer)).toEqual({ accepted: 5, duplicates: 2, rejected: 0 });
  });
});
