import { Client } from 'pg';
import { IngestBatcher } from '../../src/modules/metering/ingest/ingest-batcher';
import { StreamCache } from '../../src/modules/metering/ingest/stream-cache';
import { whileFrozen } from '../support/frozen-work';
import { disableLockTimeout, untilStatementWaits } from '../support/lock-waits';
import { createCustomer, insertMeter, reportedOf, type SentEvent } from '../support/metering';
import { loseNumber } from '../support/process-sessions';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';
const AT = '2026-03-01T09:15:00.000Z';

/** A standby that lacks the last commits becomes the primary, and gives the id of a stream to another customer. */
describe('events after a standby without the last commits took over', () => {
  let engine: TestApp;
  let holder: Client;
  let customer: string;
  let next: string;
  let unused: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    await disableLockTimeout(engine);
    await insertMeter(engine, { eventName: NAME });
  });

  afterAll(() => engine.close());

  /** Creates two customers who have reported one event each. */
  beforeEach(async () => {
    customer = await createCustomer(engine);
    next = await createCustomer(engine);
    unused = await createCustomer(engine);
    await send(event());
    await send(event(next));
    holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
  });

  afterEach(() => holder.end());

  const event = (customerId = customer): SentEvent => ({
    idempotency_key: `failover-${(serial += 1)}`,
    customer_id: customerId,
    event_name: NAME,
    timestamp: AT,
    properties: {},
  });

  const send = async (body: object): Promise<unknown> =>
    (await engine.http.post('/v1/usage-events').send(body)).body;

  const accepted = { accepted: 1, duplicates: 0, rejected: [] };

  const isCached = (customerId: string): boolean =>
    engine.app.get(StreamCache).get({ customerId, eventName: NAME }) !== undefined;

  /** Exchanges the streams of the two customers, and gives the process a session on the new primary. */
  async function failOver(): Promise<void> {
    const name = (from: string, to: string) =>
      holder.query(
        `UPDATE usage_stream SET customer_id = $2, version = (SELECT max(version) FROM usage_stream WHERE customer_id = ANY ($3))
         WHERE customer_id = $1`,
        [from, to, [customer, next]],
      );
    await name(next, unused);
    await name(customer, next);
    await name(unused, customer);
    await loseNumber(engine);
    await holder.query('COMMIT');
  }

  async function expectEventsOfBoth(own: number, others: number): Promise<void> {
    expect(await reportedOf(engine, customer)).toMatchObject({ accepted: own });
    expect(await reportedOf(engine, next)).toMatchObject({ accepted: others });
  }

  it('are stored in the stream of their customer', async () => {
    await send(event());
    expect(isCached(customer)).toBe(true);
    await failOver();
    expect(await send(event())).toEqual(accepted);
    await expectEventsOfBoth(2, 2);
  });

  it('are stored there if the state of the stream was being read meanwhile', async () => {
    expect(isCached(customer)).toBe(false);
    await holder.query('LOCK TABLE customer IN ACCESS EXCLUSIVE MODE');
    const sent = send(event());
    await untilStatementWaits(engine, 'FROM customer');
    await failOver();
    expect(await sent).toEqual(accepted);
    expect(await send(event())).toEqual(accepted);
    await expectEventsOfBoth(3, 1);
  });

  it('are stored there if they waited for a commit meanwhile', async () => {
    const third = await createCustomer(engine);
    for (const customerId of [customer, third, third]) await send(event(customerId));
    expect([isCached(customer), isCached(third)]).toEqual([true, true]);
    let queued: Promise<unknown> = Promise.resolve();
    const first = async () => {
      expect(await send(event(third))).toEqual(accepted);
    };
    await whileFrozen(engine, 'INSERT ON usage_event', first, async () => {
      queued = engine.app.get(IngestBatcher).write([
        {
          index: 0,
          idempotencyKey: event().idempotency_key,
          customerId: customer,
          eventName: NAME,
          timestamp: new Date(AT),
          properties: {},
        },
      ]);
      await failOver();
    });
    expect(await queued).toEqual({ accepted: 1, notStored: [] });
    await expectEventsOfBoth(2, 2);
  });
});
