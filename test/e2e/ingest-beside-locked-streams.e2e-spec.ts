import { Client } from 'pg';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';

describe.each([6, 9])('events of locked streams, with %d connections', (connections) => {
  let engine: TestApp;
  let holders: Client[];
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { DATABASE_POOL_SIZE: String(connections) } });
    await insertMeter(engine, { eventName: NAME, aggregation: 'count' });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    await disableLockTimeout(engine);
    holders = [];
  });

  afterEach(() => Promise.all(holders.map((holder) => holder.end())));

  const event = (customer: string): SentEvent => ({
    idempotency_key: `locked-${(serial += 1)}`,
    customer_id: customer,
    event_name: NAME,
    timestamp: '2026-03-01T09:15:00.000Z',
    properties: {},
  });

  /** Reports one event, or a list. */
  async function report(customer: string, count: number): Promise<unknown> {
    const events = Array.from({ length: count }, () => event(customer));
    const [first] = events;
    const sent = count === 1 ? first : { events };
    return (await engine.http.post('/v1/usage-events').send(sent)).body;
  }

  const accepted = (count: number) => ({ accepted: count, duplicates: 0, rejected: [] });

  /** Creates a customer whose events take the fast path. */
  async function knownCustomer(): Promise<string> {
    const customer = await createCustomer(engine);
    for (let sent = 0; sent < 2; sent += 1) await report(customer, 1);
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

  it.each([
    ['single events', 1],
    ['lists', 2],
  ])('are stored while another stream stays locked, as %s', async (_, count) => {
    const [ada, ben] = [await knownCustomer(), await knownCustomer()];
    const [releaseAda, releaseBen] = [await lock(ada), await lock(ben)];
    let isDone = false;
    const waiting = report(ada, count).finally(() => (isDone = true));
    await untilSessionsWait(engine.database, 1);
    const sent = report(ben, count);
    await untilSessionsWait(engine.database, 2);
    await releaseBen();
    expect(await sent).toEqual(accepted(count));
    expect(isDone).toBe(false);
    await releaseAda();
    expect(await waiting).toEqual(accepted(count));
  });
});
