import { Client } from 'pg';
import { Idempotency } from '../../src/platform/idempotency';
import { whileFrozen } from '../support/frozen-work';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, Story, type TestApp } from '../support/story';
import { until } from '../support/until';

const START = '2026-03-01T00:00:00.000Z';
const TARGET = '2026-05-01T00:00:00.000Z';

/** Answer of a request, with whether it was replayed. */
type Seen = readonly [status: number, text: string, replayed: string | undefined];

describe('an advance of a test clock with an idempotency key', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function subscribed(): Promise<Story> {
    const story = await Story.begin(engine, START);
    await story.subscribe(await story.plan(1_000));
    return story;
  }

  async function advance({ clockId }: Story, key: string, to = TARGET): Promise<Seen> {
    const { status, text, headers } = await engine.http
      .post(`/v1/test-clocks/${clockId}/advance`)
      .set('Idempotency-Key', key)
      .send({ to });
    return [status, text, headers['idempotent-replayed']];
  }

  const statusOf = async ({ clockId }: Story): Promise<unknown> =>
    ((await engine.http.get(`/v1/test-clocks/${clockId}`)).body as { status: string }).status;

  /** Runs `act` while an advance is running, and returns the answer to the advance. */
  async function duringAdvance(story: Story, key: string, act: () => Promise<void>): Promise<Seen> {
    const blocker = new Client({ connectionString: engine.databaseUrl });
    await blocker.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM customer WHERE id = $1 FOR UPDATE', [story.customerId]);
      const first = advance(story, key);
      await untilSessionsWait(engine.database);
      await act();
      await blocker.query('ROLLBACK');
      return await first;
    } finally {
      await blocker.end();
    }
  }

  /** Runs `act` while every job fails with this error of the database. */
  async function withFailingJobs<Result>(
    code: string,
    act: () => Promise<Result>,
  ): Promise<Result> {
    await engine.database.query(`CREATE FUNCTION fail_job() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''${code}''; END'`);
    await engine.database.query(
      // Triggers run in the order of their names: after `stand_still`.
      'CREATE TRIGGER stop_job BEFORE INSERT ON invoice FOR EACH STATEMENT EXECUTE FUNCTION fail_job()',
    );
    try {
      return await act();
    } finally {
      await engine.database.query('DROP FUNCTION fail_job CASCADE');
    }
  }

  it('that is repeated while it runs gives both requests the answer of the first', async () => {
    const story = await subscribed();
    const repeated: Promise<Seen>[] = [];
    const first = await duringAdvance(story, 'both', () => {
      repeated.push(advance(story, 'both'));
      return Promise.resolve();
    });
    const [status, text] = first;
    expect(first).toEqual([200, text, undefined]);
    expect(JSON.parse(text)).toMatchObject({ status: 'ready', now: TARGET });
    expect(await Promise.all(repeated)).toEqual([[status, text, 'true']]);
    expect(await advance(story, 'both')).toEqual([status, text, 'true']);
    expect(await story.invoices()).toHaveLength(3);
  });

  it('tells a repeated request that waited in vain that its key is in use', async () => {
    const story = await subscribed();
    const idempotency = engine.app.get(Idempotency);
    const usualMs = idempotency.maxWaitForFirstRequestMs;
    idempotency.maxWaitForFirstRequestMs = 100;
    const [status, text] = await duringAdvance(story, 'in vain', async () => {
      const [refused, problem] = await advance(story, 'in vain');
      expect([refused, JSON.parse(problem)]).toMatchObject([
        409,
        { code: 'idempotency_key_in_use', resource_id: story.clockId },
      ]);
      const [other, busy] = await advance(story, 'another');
      expect([other, JSON.parse(busy)]).toMatchObject([409, { code: 'test_clock_advancing' }]);
    });
    idempotency.maxWaitForFirstRequestMs = usualMs;
    expect(status).toBe(200);
    expect(await advance(story, 'in vain')).toEqual([200, text, 'true']);
  });

  it('that was refused while another one ran can be sent again with its key', async () => {
    const story = await subscribed();
    const created = await engine.http
      .post('/v1/customers')
      .send({ name: 'Grace Hopper', test_clock_id: story.clockId });
    const { id } = created.body as { id: string };
    const subscribe = async () => {
      const { body, headers } = await engine.http
        .post('/v1/subscriptions')
        .set('Idempotency-Key', `subscribe ${id}`)
        .send({ customer_id: id, plan_id: planId });
      return { ...(body as object), replayed: headers['idempotent-replayed'] };
    };
    const planId = await story.plan(500);
    await duringAdvance(story, 'running', async () => {
      const [status, text] = await advance(story, 'refused');
      expect([status, JSON.parse(text)]).toMatchObject([409, { code: 'test_clock_advancing' }]);
      expect(await subscribe()).toMatchObject({ code: 'test_clock_advancing' });
    });
    expect(await advance(story, 'refused')).toEqual([200, expect.anything(), undefined]);
    expect(await subscribe()).toMatchObject({ status: 'active', replayed: undefined });
    expect(await subscribe()).toMatchObject({ status: 'active', replayed: 'true' });
  });

  it('continues with the same key after a failure of the database', async () => {
    const story = await subscribed();
    const [failed] = await withFailingJobs('55P03', () => advance(story, 'outage'));
    expect(failed).toBe(503);
    const [status, text, replayed] = await advance(story, 'outage');
    expect([status, replayed]).toEqual([200, undefined]);
    expect(await advance(story, 'outage')).toEqual([200, text, 'true']);
    expect(await story.invoices()).toHaveLength(3);
  });

  /** Runs an advance that also cannot end when its job fails. Returns its answer; then the advance can end. */
  async function advanceWithoutEnd(story: Story, key: string): Promise<Seen> {
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    let first: Promise<Seen> = Promise.resolve([0, '', undefined]);
    await whileFrozen(
      engine,
      'INSERT ON invoice',
      () => (first = advance(story, key)),
      async () => {
        await holder.query('BEGIN');
        await holder.query('SELECT FROM test_clock WHERE id = $1 FOR SHARE', [story.clockId]);
      },
    );
    const answer = await first;
    await holder.end();
    return answer;
  }

  const untilReturned = ({ clockId }: Story) =>
    until('the lease is given back', async () => {
      const leaseOf = 'SELECT leased_by FROM test_clock WHERE id = $1';
      return (await engine.database.queryValue(leaseOf, [clockId])) === null;
    });

  it('continues with the same key after a failure that also kept it from ending', async () => {
    const story = await subscribed();
    expect((await advanceWithoutEnd(story, 'held'))[0]).toBe(503);
    await untilReturned(story);
    expect(await advance(story, 'held')).toEqual([200, expect.anything(), undefined]);
    expect(await story.invoices()).toHaveLength(3);
  });

  it('continues with the same key after a crash', async () => {
    const story = await subscribed();
    await advance(story, 'crash');
    // State left by a process killed at the end of the advance.
    await engine.database.query(
      `UPDATE test_clock SET status = 'advancing', target_at = $2, lease_ends_at = $3 WHERE id = $1`,
      [story.clockId, TARGET, engine.clock.now()],
    );
    await engine.database.query(
      `UPDATE idempotency_key SET answer_status = NULL, answer_headers = NULL, answer_body = NULL
       WHERE key = 'crash' AND resource_id = $1`,
      [story.clockId],
    );
    const [status, text, replayed] = await advance(story, 'crash');
    expect([status, replayed]).toEqual([200, undefined]);
    expect(await advance(story, 'crash')).toEqual([200, text, 'true']);
  });

  it('stores that the clock failed', async () => {
    const story = await subscribed();
    const [status, text] = await withFailingJobs('P0001', () => advance(story, 'failed'));
    expect([status, JSON.parse(text)]).toMatchObject([409, { code: 'test_clock_failed' }]);
    expect(await statusOf(story)).toBe('failed');
    const [again, , replayed] = await advance(story, 'failed');
    expect([again, replayed]).toEqual([409, 'true']);
  });

  it('is answered with 503 until it is stored that the clock failed', async () => {
    const story = await subscribed();
    const [status] = await withFailingJobs('P0001', () => advanceWithoutEnd(story, 'defect'));
    expect(status).toBe(503);
    await untilReturned(story);
    expect(await statusOf(story)).toBe('failed');
    const [again, text] = await advance(story, 'defect');
    expect([again, JSON.parse(text)]).toMatchObject([409, { code: 'test_clock_failed' }]);
  });

  it('is answered with 404 once an interrupted advance cannot continue, because its clock was deleted', async () => {
    const story = await subscribed();
    const gone = [404, expect.stringContaining('test_clock_not_found') as unknown];
    const deletions: Promise<unknown>[] = [];
    const first = await duringAdvance(story, 'deleted', async () => {
      // The end of the lease, as if the process had died.
      await engine.database.query('UPDATE test_clock SET lease_ends_at = NULL, leased_by = NULL');
      const deleted = engine.http.delete(`/v1/test-clocks/${story.clockId}`);
      deletions.push(deleted.then(({ status }) => expect(status).toBe(204)));
      await untilSessionsWait(engine.database, 2);
      expect(await advance(story, 'deleted')).toEqual([...gone, undefined]);
    });
    await Promise.all(deletions);
    expect(first).toEqual([...gone, 'true']);
    expect(await advance(story, 'deleted')).toEqual([...gone, 'true']);
  });
});

describe('a payment with an idempotency key', () => {
  it('whose test clock was deleted before it had an answer is refused, because its customer is gone', async () => {
    const engine = await startTestApp();
    const { customerId, clockId } = await Story.begin(engine, START);
    const pay = () =>
      engine.http
        .post('/v1/payments')
        .set('Idempotency-Key', 'unanswered')
        .send({ customer_id: customerId, amount: 100, currency: 'USD' });
    await pay().expect(201);
    // State left by a process killed while it waited for the payment provider.
    await engine.database.query(
      'UPDATE idempotency_key SET answer_status = NULL, answer_headers = NULL, answer_body = NULL',
    );
    await engine.http.delete(`/v1/test-clocks/${clockId}`).expect(204);
    const { status, body } = await pay();
    await engine.close();
    expect({ status, body: body as unknown }).toMatchObject({
      status: 422,
      body: { code: 'reference_not_found' },
    });
  });
});
