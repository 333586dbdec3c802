import { Client } from 'pg';
import { IngestBatcher } from '../../src/modules/metering/ingest/ingest-batcher';
import { countLockWaits, disableLockTimeout, untilUsageWaits } from '../support/lock-waits';
import { createCustomer, insertMeter, reportedOf, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';

describe.each([3, 9])('events that wait for locks, with %d connections', (connections) => {
  let engine: TestApp;
  let holders: Client[];
  let ada: string;
  let ben: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { DATABASE_POOL_SIZE: String(connections) } });
    await insertMeter(engine, { eventName: NAME, aggregation: 'count' });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    await disableLockTimeout(engine);
    holders = [];
    [ada, ben] = [await knownCustomer(), await knownCustomer()];
  });

  afterEach(() => Promise.all(holders.map((holder) => holder.end())));

  const event = (customer: string): SentEvent => ({
    idempotency_key: `locked-${(serial += 1)}`,
    customer_id: customer,
    event_name: NAME,
    timestamp: '2026-03-01T09:15:00.000Z',
    properties: {},
  });

  const send = async (body: object): Promise<unknown> =>
    (await engine.http.post('/v1/usage-events').send(body)).body;

  /** Reports one event, or a list. */
  const report = (customer: string, count: number) =>
    send(
      count === 1
        ? event(customer)
        : { events: Array.from({ length: count }, () => event(customer)) },
    );

  const accepted = (count: number) => ({ accepted: count, duplicates: 0, rejected: [] });

  /** Creates a customer whose events take the fast path. */
  async function knownCustomer(): Promise<string> {
    const customer = await createCustomer(engine);
    for (let sent = 0; sent < 2; sent += 1) await send(event(customer));
    return customer;
  }

  /** Locks the stream of a customer until the returned function is called. */
  async function lock(customer: string): Promise<() => Promise<unknown>> {
    const holder = new Client({ connectionString: engine.databaseUrl });
    holders.push(holder);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
    return () => holder.query('COMMIT');
  }

  const FORMS: readonly [string, number][] = [
    ['single events', 1],
    ['lists', 2],
  ];

  it.each(FORMS)('are stored while another stream stays locked, as %s', async (_, count) => {
    const releases = [await lock(ada), await lock(ben)];
    let isDone = false;
    const waiting = report(ada, count).finally(() => (isDone = true));
    await untilUsageWaits(engine, 1);
    const sent = report(ben, count);
    await untilUsageWaits(engine, 2);
    await releases[1]?.();
    expect(await sent).toEqual(accepted(count));
    expect(isDone).toBe(false);
    await releases[0]?.();
    expect(await waiting).toEqual(accepted(count));
  });

  it('use one connection, however many streams are locked', async () => {
    const customers = await Promise.all(Array.from({ length: 6 }, knownCustomer));
    const releases = await Promise.all(customers.map(lock));
    const waiting = customers.flatMap((customer) =>
      [1, 2, 2].map((count) => report(customer, count)),
    );
    await untilUsageWaits(engine, waiting.length);
    let most = 0;
    for (let times = 0; times < 20; times += 1) {
      most = Math.max(most, await countLockWaits(engine.database));
      expect((await engine.http.get(`/v1/customers/${ada}`)).status).toBe(200);
      expect(await report(ben, 1)).toEqual(accepted(1));
    }
    expect(most).toBeLessThanOrEqual(1);
    for (const release of releases) await release();
    expect(await Promise.all(waiting)).toEqual(
      customers.flatMap(() => [accepted(1), accepted(2), accepted(2)]),
    );
  });

  it('are refused together if their stream stays locked, and are not stored afterwards', async () => {
    const { streamQueues } = engine.app.get(IngestBatcher);
    streamQueues.maxWaitMs = 1_000;
    const release = await lock(ada);
    const startedAt = performance.now();
    const sent = Array.from({ length: 16 }, () => report(ada, 2));
    const refused = sent.map(() => ({ code: 'service_unavailable' }));
    expect(await Promise.all(sent)).toMatchObject(refused);
    // Once for all, not once for each list.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    await release();
    expect(await report(ada, 1)).toEqual(accepted(1));
    expect(await reportedOf(engine, ada)).toMatchObject({ accepted: 3 });
  });
});
