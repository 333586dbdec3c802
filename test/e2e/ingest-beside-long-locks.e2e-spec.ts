import { Client } from 'pg';
import {
  disableLockTimeout,
  untilSessionsWait,
  untilSessionsWaitLong,
} from '../support/lock-waits';
import { createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';

const INSERT_STREAM = `
  INSERT INTO usage_stream (customer_id, event_name, last_position)
  SELECT customer_id, $2, 0 FROM unnest($1::text[]) AS customer_id`;

const INSERT_EVENTS = `
  INSERT INTO usage_event (key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties)
  SELECT encode(substring(sha256(convert_to(key, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid, id, last_position + n, now(), now(), key, '{}'
  FROM usage_stream, unnest($2::text[]) WITH ORDINALITY AS keys(key, n) WHERE customer_id = $1 AND event_name = 'import'`;

describe('events that share a commit with events that wait for another transaction', () => {
  let engine: TestApp;
  let holder: Client;
  let ada: string;
  let ben: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    // A lock timeout of the default length would end the waits on a slow machine.
    await disableLockTimeout(engine);
    await insertMeter(engine, { eventName: NAME, aggregation: 'count' });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    [ada, ben] = [await createCustomer(engine), await createCustomer(engine)];
    holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
  });

  afterEach(() => holder.end());

  const event = (customer: string, changes: Partial<SentEvent> = {}): SentEvent => ({
    idempotency_key: `beside-${(serial += 1)}`,
    customer_id: customer,
    event_name: NAME,
    timestamp: '2026-03-01T09:15:00.000Z',
    properties: {},
    ...changes,
  });

  const send = async (body: object): Promise<unknown> =>
    (await engine.http.post('/v1/usage-events').send(body)).body;

  const accepted = (count: number) => ({ accepted: count, duplicates: 0, rejected: [] });

  /** One event, or a list of two. */
  const FORMS: readonly [string, number][] = [
    ['single events', 1],
    ['lists', 2],
  ];

  const report = (customer: string, count: number, keys: readonly string[] = []) => {
    const events = Array.from({ length: count }, (_, at) =>
      event(customer, keys[at] === undefined ? {} : { idempotency_key: keys[at] }),
    );
    return send(count === 1 ? (events[0] ?? {}) : { events });
  };

  /** The first event of a stream takes the slow path, later ones the fast path. */
  async function useFastPath(customer: string): Promise<void> {
    for (let sent = 0; sent < 2; sent += 1) await send(event(customer));
  }

  /** Stores keys of Ada in the open transaction of `holder`, and returns them. */
  async function holdKeys(count: number): Promise<readonly string[]> {
    await send(event(ada, { event_name: 'import' }));
    const keys = Array.from({ length: count }, () => `import-${(serial += 1)}`);
    await holder.query(INSERT_EVENTS, [ada, keys]);
    return keys;
  }

  /** Locks Ben's stream, reports for Ben, and returns the answer, which comes once the stream is free. */
  async function reportToLockedStream(count: number, waits: number): Promise<unknown> {
    const locker = new Client({ connectionString: engine.databaseUrl });
    await locker.connect();
    try {
      await locker.query('BEGIN');
      await locker.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [ben]);
      const answer = report(ben, count);
      await untilSessionsWaitLong(engine, waits + 1);
      await locker.query('COMMIT');
      return await answer;
    } finally {
      await locker.end();
    }
  }

  /** Sends the events of `waiting`, and once they wait, those of others. Returns the answers of `waiting`. */
  async function sendBeside(
    waiting: readonly (() => Promise<unknown>)[],
    count: number,
  ): Promise<readonly unknown[]> {
    let answered = 0;
    const sent: Promise<unknown>[] = [];
    for (const one of waiting) {
      sent.push(one().finally(() => (answered += 1)));
      if (sent.length === 1) await untilSessionsWait(engine.database);
    }
    const eve = await createCustomer(engine);
    expect(await Promise.all([report(ben, count), report(eve, count)])).toEqual([
      accepted(count),
      accepted(count),
    ]);
    expect(answered).toBe(0);
    await holder.query('COMMIT');
    return Promise.all(sent);
  }

  it.each(FORMS)('are stored while a new stream is not committed, as %s', async (_, count) => {
    await holder.query(INSERT_STREAM, [[ada], NAME]);
    const waiting = Array.from({ length: 4 }, () => () => report(ada, count));
    expect(await sendBeside(waiting, count)).toEqual(waiting.map(() => accepted(count)));
  });

  it.each(FORMS)('are stored while a key is not committed, as %s', async (_, count) => {
    for (const customer of [ada, ben]) await useFastPath(customer);
    const keys = await holdKeys(4);
    const waiting = keys.map((key) => () => report(ada, count, [key]));
    const answers = await sendBeside(waiting, count);
    expect(answers).toHaveLength(4);
    const reused = { code: 'idempotency_key_reused' };
    for (const answer of answers) {
      expect(answer).toMatchObject(
        count === 1 ? { errors: [reused] } : { accepted: 1, rejected: [{ index: 0, ...reused }] },
      );
    }
  });

  it('are stored although streams of many customers are not committed', async () => {
    const many = await Promise.all(Array.from({ length: 6 }, () => createCustomer(engine)));
    await holder.query(INSERT_STREAM, [many, NAME]);
    const waiting = many.map((customer) => () => report(customer, 1));
    expect(await sendBeside(waiting, 1)).toEqual(many.map(() => accepted(1)));
  });

  it.each(FORMS)('do not wait for them if only their stream is locked, as %s', async (_, count) => {
    const many = await Promise.all(Array.from({ length: 4 }, () => createCustomer(engine)));
    for (const customer of [...many, ben]) await useFastPath(customer);
    const keys = await holdKeys(many.length);
    const waiting: Promise<unknown>[] = [];
    for (const [at, customer] of many.entries()) {
      waiting.push(report(customer, count, keys.slice(at, at + 1)));
      await untilSessionsWaitLong(engine, at + 1);
    }
    expect(await reportToLockedStream(count, many.length)).toEqual(accepted(count));
    await holder.query('COMMIT');
    await Promise.all(waiting);
  });
});
