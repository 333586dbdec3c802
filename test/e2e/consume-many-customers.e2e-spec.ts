import { fork } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'pg';
import { Allowances, createEntitlement } from '../support/allowances';
import { checkedClient } from '../support/checked-client';
import { untilSessionsWait } from '../support/lock-waits';
import { type Bucket, bucketsOf, createCustomer } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';
import { EVENTS } from '../support/stored-events';

/** Channel of Node on which an HTTP server tells that it has received a request. */
const REQUEST_START = 'http.server.request.start';
const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const API = join(__dirname, '../support/api-process.ts');

/** A customer with a grant of 10, and the key of the entitlement. */
interface Consumer {
  readonly id: string;
  readonly key: string;
  readonly allowances: Allowances;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly allowed?: boolean; readonly used?: string; readonly code?: string };
}

describe('entitlements of many customers, consumed at once', () => {
  let engine: TestApp;
  let metered: string;
  let counted: string;
  let unmetered: string;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    unmetered = (await createEntitlement(engine)).key;
    metered = await meteredBy({ aggregation: 'sum', value_property: 'amount' });
    counted = await meteredBy({ aggregation: 'count' });
  });

  afterAll(() => engine.close());

  async function meteredBy(fields: Readonly<Record<string, unknown>>): Promise<string> {
    const name = `calls_${(made += 1)}`;
    const meter = await engine.http
      .post('/v1/meters')
      .send({ key: name, name, event_name: name, ...fields });
    const { id } = meter.body as { readonly id: string };
    return (await createEntitlement(engine, { meter_id: id })).key;
  }

  async function consumer(key: string): Promise<Consumer> {
    const id = await createCustomer(engine);
    const allowances = new Allowances(engine, id);
    await allowances.grant(key, { value: '10' });
    await allowances.of(key);
    return { id, key, allowances };
  }

  /** Returns customers of whom every second one is counted by a meter. */
  async function consumers(count: number): Promise<readonly Consumer[]> {
    const found: Consumer[] = [];
    for (let index = 0; index < count; index += 1) {
      found.push(await consumer(index % 2 === 0 ? unmetered : metered));
    }
    return found;
  }

  async function consume(
    { allowances, key }: Consumer,
    idempotencyKey: string,
    quantity = '1',
    through = engine.http,
  ): Promise<Answer> {
    const { status, body } = await through
      .post(`${allowances.path(key)}/consume`)
      .send({ quantity, idempotency_key: idempotencyKey });
    return { status, body: body as Answer['body'] };
  }

  const allowedOf = (answers: readonly Answer[]): number =>
    answers.filter(({ body }) => body.allowed === true).length;

  it('are allowed exactly up to each limit, by two processes', async () => {
    const all = await consumers(8);
    const child = fork(RUN_TS, [API, engine.databaseUrl], { execArgv: [] });
    try {
      const [url] = (await once(child, 'message')) as [string];
      const agents = [engine.http, checkedClient(url)];
      const answers = await Promise.all(
        Array.from({ length: 20 * all.length }, async (_, caller) => {
          const one = all[caller % all.length];
          if (one === undefined) throw new Error('There is a customer.');
          const through = agents[Math.floor(caller / all.length) % 2];
          return { one, ...(await consume(one, `caller-${caller}`, '1', through)) };
        }),
      );
      expect([...new Set(answers.map(({ status }) => status))]).toEqual([200]);
      for (const one of all) {
        expect(allowedOf(answers.filter((answer) => answer.one === one))).toBe(10);
        expect(await one.allowances.figures(one.key)).toEqual(['10', '10', '0']);
      }
    } finally {
      child.kill('SIGKILL');
    }
    const [stored] = await engine.database.query(
      `SELECT count(*)::int AS events FROM usage_event JOIN usage_stream s ON s.id = stream_id
       WHERE s.customer_id = ANY ($1)`,
      [all.map(({ id }) => id)],
    );
    expect(stored).toEqual({ events: 40 });
  });

  it('share commits', async () => {
    const all = await consumers(20);
    for (const one of all) await consume(one, 'first');
    const client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    let received = 0;
    const count = (): void => {
      received += 1;
    };
    subscribe(REQUEST_START, count);
    try {
      await client.query('BEGIN');
      await client.query('LOCK TABLE entitlement_consumption IN SHARE MODE');
      const answers = Promise.all(all.map((one) => consume(one, 'second')));
      await until('all requests wait for the first commit', async () => {
        const active = await engine.database.query<{ waits: boolean }>(
          `SELECT wait_event_type = 'Lock' AS waits FROM pg_stat_activity
           WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
        );
        return received >= 20 && active.length > 0 && active.every(({ waits }) => waits);
      });
      await client.query('COMMIT');
      expect(allowedOf(await answers)).toBe(20);
    } finally {
      unsubscribe(REQUEST_START, count);
      await client.end();
    }
    const [{ commits } = { commits: 0 }] = await engine.database.query<{ commits: number }>(
      `SELECT count(DISTINCT xmin::text)::int AS commits FROM entitlement_consumption
       WHERE customer_id = ANY ($1) AND idempotency_key = 'second'`,
      [all.map(({ id }) => id)],
    );
    expect(commits).toBeLessThanOrEqual(4);
  });

  it('are stored with one statement, unless another process has changed them or a threshold is reached', async () => {
    const all = await consumers(4);
    for (const key of ['first', 'second']) await Promise.all(all.map((one) => consume(one, key)));
    const [one] = all;
    if (one === undefined) throw new Error('There is a customer.');
    await one.allowances.grant(one.key, { value: '10' });
    for (const key of ['third', 'fourth']) await Promise.all(all.map((each) => consume(each, key)));
    await Promise.all(all.map((each) => consume(each, 'threshold', '6')));
    const commandsOf = (customers: readonly Consumer[]) =>
      engine.database.query<{ key: string; command: string }>(
        `SELECT DISTINCT idempotency_key AS key, cmin::text AS command FROM entitlement_consumption
         WHERE customer_id = ANY ($1) AND idempotency_key <> 'first' ORDER BY key`,
        [customers.map(({ id }) => id)],
      );
    const [inOne, inTwo] = ['0', '1'];
    expect(await commandsOf(all.slice(1))).toEqual([
      { key: 'fourth', command: inOne },
      { key: 'second', command: inOne },
      { key: 'third', command: inOne },
      { key: 'threshold', command: inTwo },
    ]);
    expect((await commandsOf([one])).map(({ command }) => command)).toEqual([
      expect.stringMatching(/[^0]/),
      inOne,
      expect.stringMatching(/[^0]/),
      inOne,
    ]);
    for (const each of all) expect((await each.allowances.of(each.key)).used).toBe('10');
  });

  it('are counted by a meter that was created in between', async () => {
    const all = await Promise.all([consumer(metered), consumer(metered)]);
    for (const key of ['first', 'second']) await Promise.all(all.map((one) => consume(one, key)));
    const [{ name } = { name: '' }] = await engine.database.query<{ name: string }>(
      'SELECT event_name AS name FROM usage_stream WHERE customer_id = $1',
      [all[0].id],
    );
    const answer = await engine.http
      .post('/v1/meters')
      .send({ key: 'later', name: 'Later', event_name: name, aggregation: 'count' });
    const { id } = answer.body as { readonly id: string };
    const before = await bucketsOf(engine, id);
    for (const key of ['third', 'fourth']) await Promise.all(all.map((one) => consume(one, key)));
    const countedIn = (buckets: readonly Bucket[]): number =>
      buckets.reduce((sum, { events }) => sum + events, 0);
    expect(countedIn(await bucketsOf(engine, id)) - countedIn(before)).toBe(4);
    for (const one of all) expect(await one.allowances.figures(one.key)).toEqual(['10', '4', '6']);
  });

  it('record thresholds that have changed in between', async () => {
    const entitlement = await createEntitlement(engine, { thresholds: [90] });
    const one = await consumer(entitlement.key);
    await consume(one, 'first');
    await consume(one, 'second');
    const { status } = await engine.http
      .patch(`/v1/entitlements/${entitlement.id}`)
      .send({ thresholds: [30] });
    expect(status).toBe(200);
    await consume(one, 'third');
    const events = await engine.database.query(
      `SELECT data->'object'->'percent' AS percent FROM ${EVENTS}
       WHERE type = 'entitlement.threshold_reached' AND data->'object'->>'customer_id' = $1`,
      [one.id],
    );
    expect(events).toEqual([{ percent: 30 }]);
  });

  it('do not wait for a customer whose balance another transaction has locked', async () => {
    const all = await consumers(6);
    for (const one of all) await consume(one, 'first');
    const client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        'SELECT FROM customer_entitlement WHERE customer_id = ANY ($1) FOR UPDATE',
        [all.slice(0, 2).map(({ id }) => id)],
      );
      const locked = all.slice(0, 2).map((one) => consume(one, 'second'));
      const others = await Promise.all(all.slice(2).map((one) => consume(one, 'second')));
      expect(allowedOf(others)).toBe(4);
      await untilSessionsWait(engine.database, 2);
      await client.query('COMMIT');
      expect(allowedOf(await Promise.all(locked))).toBe(2);
    } finally {
      await client.end();
    }
    expect(await all[1]?.allowances.figures(metered)).toEqual(['10', '2', '8']);
  });

  it('get the first answer for a repeated key, and only their own errors', async () => {
    const all = await consumers(4);
    const [one, other, third] = all;
    if (one === undefined || other === undefined || third === undefined) throw new Error('Four.');
    for (const each of all) await consume(each, 'known', '2');
    const whole = await consumer(counted);
    const answers = await Promise.all([
      consume(one, 'known', '2'),
      consume(other, 'known', '3'),
      consume(third, 'new', '3'),
      consume(third, 'new', '3'),
      consume(whole, 'half', '0.5'),
      consume(whole, 'whole', '1'),
      consume({ ...one, key: 'no.such' }, 'a', '1'),
      consume(other, 'too-much', '9'),
      consume(other, 'rest', '8'),
    ]);
    expect(
      answers.map(({ status, body }) => [status, body.code ?? body.allowed, body.used]),
    ).toEqual([
      [200, true, '2'],
      [409, 'idempotency_key_reused', undefined],
      [200, true, '5'],
      [200, true, '5'],
      [422, 'entitlement_not_consumable', undefined],
      [200, true, '1'],
      [404, 'entitlement_key_not_found', undefined],
      [200, false, '2'],
      [200, true, '10'],
    ]);
  });

  it('use the limit of a grant that was added meanwhile', async () => {
    const all = await consumers(4);
    for (const one of all) await consume(one, 'first', '10');
    for (const one of all) await one.allowances.grant(one.key, { value: '5' });
    const answers = await Promise.all(
      all.flatMap((one) => [consume(one, 'more', '5'), consume(one, 'too-much', '1')]),
    );
    expect(answers.map(({ body }) => body.used)).toEqual(Array.from({ length: 8 }, () => '15'));
    expect(allowedOf(answers)).toBe(4);
  });

  it('count in every entitlement of the same meter', async () => {
    const meter = await engine.http
      .post('/v1/meters')
      .send({ key: 'twice', name: 'Twice', event_name: 'twice', aggregation: 'count' });
    const { id } = meter.body as { readonly id: string };
    const { key } = await createEntitlement(engine, { meter_id: id });
    const { key: other } = await createEntitlement(engine, { meter_id: id });
    const one = await consumer(key);
    await consume(one, 'first');
    await one.allowances.grant(other, { value: '10' });
    const { used } = await one.allowances.of(other);
    const answers = await Promise.all([
      ...['a', 'b', 'c'].map((name) => consume(one, name)),
      ...['a', 'b'].map((name) => consume({ ...one, key: other }, name)),
    ]);
    expect(allowedOf(answers)).toBe(5);
    expect((await one.allowances.of(key)).used).toBe('6');
    expect((await one.allowances.of(other)).used).toBe(String(Number(used) + 5));
  });

  it('record the limits that they reach', async () => {
    const all = await consumers(4);
    await Promise.all(all.map((one) => consume(one, 'all', '10')));
    const events = await engine.database.query<{ customer: string }>(
      `SELECT data->'object'->>'customer_id' AS customer FROM ${EVENTS}
       WHERE type = 'entitlement.limit_reached' AND data->'object'->>'customer_id' = ANY ($1)`,
      [all.map(({ id }) => id)],
    );
    expect(events.map(({ customer }) => customer).sort()).toEqual(all.map(({ id }) => id).sort());
  });
});
