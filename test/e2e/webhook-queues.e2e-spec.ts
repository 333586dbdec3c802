import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { QueueMarkedEvents1795480000001 } from '../../migrations/1795480000001-QueueMarkedEvents';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import {
  type AttemptResult,
  DeliveriesRepository,
} from '../../src/modules/webhooks/delivery/deliveries.repository';
import type { ClaimedDelivery } from '../../src/modules/webhooks/delivery/domain/delivery';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { WebhookEndpointsService } from '../../src/modules/webhooks/webhook-endpoints.service';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { accept, answer, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const SECOND = 1_000;

/** Inserts events of new objects, each with the given sequences. */
const RECORD_EVENTS = `
  WITH recorded AS (
    INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
    SELECT 'evt_' || $1::text || lpad(object::text, 8, '0') || lpad(sequence::text, 6, '0'),
      'coupon.updated', object_id, sequence,
      json_build_object('object', json_build_object('id', object_id), 'previous', '{}'::json), $4
    FROM generate_series(1, $2::integer) AS object, generate_series($5::integer, $3::integer) AS sequence,
      LATERAL (SELECT 'coup_' || $1::text || lpad(object::text, 8, '0') AS object_id) AS named
    RETURNING id, type, object_id, sequence, occurred_at)
  INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at) SELECT * FROM recorded`;

/** Returns how many rows of the claimed tables the connection has read since its statistics were last sent. */
const ROWS_READ = `
  SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
  WHERE relname LIKE 'webhook%' OR relname LIKE 'event%'`;

describe('the queues of ordered webhook endpoints', () => {
  let engine: TestApp;
  let receiver: Receiver;

  beforeEach(async () => {
    engine = await startTestApp();
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await receiver.close();
    await engine.close();
  });

  async function register(ordered: boolean, url = receiver.url): Promise<string> {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url, events: ['coupon.*'] });
    const { id } = created.body as { id: string };
    if (ordered) await setOrdered(id, true);
    return id;
  }

  async function setOrdered(id: string, ordered: boolean): Promise<void> {
    const changed = await engine.http.patch(`/v1/webhooks/endpoints/${id}`).send({ ordered });
    expect(changed.status).toBe(200);
  }

  const dispatchAll = async () => {
    while (await engine.app.get(EventDispatcher).runDue()) continue;
  };

  async function record(name: string, objects: number, eventsOfEach: number): Promise<void> {
    const now = engine.clock.now();
    await engine.database.query(RECORD_EVENTS, [name, objects, eventsOfEach, now, 1]);
    await dispatchAll();
    await engine.database.query('VACUUM ANALYZE');
  }

  async function work(): Promise<void> {
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await worker.idle();
  }

  const claim = (endpointId: string, free: number, ordered = true) => {
    const now = engine.clock.now();
    const leaseEndsAt = new Date(now.getTime() + 60 * SECOND);
    return engine.app
      .get(DeliveriesRepository)
      .claim(now, leaseEndsAt, [{ endpointId, free, ordered }]);
  };

  function recordSuccess(claimed: readonly ClaimedDelivery[]): Promise<ReadonlySet<AttemptResult>> {
    const now = engine.clock.now();
    const attempt = {
      startedAt: now,
      durationMs: 1,
      statusCode: 200,
      error: null,
      responseStart: '',
    };
    return engine.app.get(DeliveriesRepository).record(
      claimed.map((delivery) => ({
        delivery,
        attempt,
        isSent: true,
        status: 'succeeded',
        dueAt: null,
      })),
      now,
    );
  }

  const rowsReadByClaim = (endpointId: string, claimable = 5): Promise<number> =>
    engine.database.transaction(async () => {
      // Without this, tables as small as these would be read as a whole.
      await engine.database.query('SET LOCAL enable_seqscan = off');
      const before = await rowsRead();
      expect(await claim(endpointId, 5)).toHaveLength(claimable);
      return (await rowsRead()) - before;
    });

  async function rowsRead(): Promise<number> {
    const [read] = await engine.database.query<{ rows: number }>(ROWS_READ);
    return read?.rows ?? 0;
  }

  /** Returns how often the connection has scanned a whole table since its statistics were last sent. */
  async function scansOf(table: string): Promise<number> {
    const [row] = await engine.database.query<{ scans: number }>(
      'SELECT pg_stat_get_xact_numscans($1::text::regclass)::int AS scans',
      [table],
    );
    return row?.scans ?? 0;
  }

  interface Notification {
    readonly sequence: number;
    readonly data: { readonly object: { readonly id: string } };
  }

  const sequencesOf = (prefix: string): readonly number[] =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as Notification)
      .filter((received) => received.data.object.id.startsWith(prefix))
      .map(({ sequence }) => sequence);

  it('take events that a former release recorded without the queue, before later ones of the object', async () => {
    await register(true);
    await engine.database.query(RECORD_EVENTS, ['both', 3, 2, engine.clock.now(), 1]);
    await engine.database.query(`
      WITH taken AS (DELETE FROM event_dispatch WHERE sequence = 1 RETURNING event_id)
      UPDATE event SET dispatched_at = NULL FROM taken WHERE id = event_id`);
    const runner = engine.app.get(DataSource).createQueryRunner();
    await new QueueMarkedEvents1795480000001().up(runner);
    await runner.release();
    await dispatchAll();
    await work();
    await work();
    expect(sequencesOf('coup_both')).toEqual([1, 1, 1, 2, 2, 2]);
    expect(await engine.database.query('SELECT FROM event_dispatch')).toEqual([]);
  });

  it('are claimed from at constant cost, independent of the number of pending objects', async () => {
    const endpoint = await register(true);
    await record('few', 30, 2);
    const few = await rowsReadByClaim(endpoint);
    await record('many', 3_000, 2);
    const many = await rowsReadByClaim(endpoint);
    expect(many).toBeLessThanOrEqual(2 * few);
    expect(many).toBeLessThanOrEqual(50);
  });

  it('look up earlier events by object, also with statistics from before a burst of events', async () => {
    const endpoint = await register(true);
    await record('before', 150, 1);
    await engine.database.query(RECORD_EVENTS, ['burst', 3_000, 2, engine.clock.now(), 1]);
    await dispatchAll();
    const scans = await engine.database.transaction(async () => {
      const before = await scansOf('event_dispatch');
      expect(await claim(endpoint, 5)).toHaveLength(5);
      return (await scansOf('event_dispatch')) - before;
    });
    expect(scans).toBe(0);
  });

  it('claim and record deliveries by key, also with statistics from before a burst of events', async () => {
    const endpoint = await register(true);
    await record('before', 3_000, 1);
    await engine.database.query(
      `UPDATE webhook_delivery SET status = 'succeeded', due_at = NULL, attempts = 1, fence = 1`,
    );
    await engine.database.query('DELETE FROM webhook_head');
    await engine.database.query('VACUUM ANALYZE');
    await engine.database.query(RECORD_EVENTS, ['burst', 3_000, 2, engine.clock.now(), 1]);
    await dispatchAll();
    const rows = await engine.database.transaction(async () => {
      const before = await rowsRead();
      const claimed = await claim(endpoint, 5);
      const recorded = await recordSuccess(claimed);
      expect(recorded.size).toBe(5);
      return (await rowsRead()) - before;
    });
    expect(rows).toBeLessThanOrEqual(150);
  });

  it('cost no more to poll when nothing is due, independent of the number of pending objects', async () => {
    const endpoint = await register(true);
    engine.clock.advanceMs(60 * SECOND);
    await record('later', 3_000, 2);
    engine.clock.advanceMs(-SECOND);
    expect(await rowsReadByClaim(endpoint, 0)).toBeLessThanOrEqual(50);
  });

  it('are claimed from at constant cost, independent of the number of earlier events of the object', async () => {
    const endpoint = await register(true);
    await record('old', 5, 600);
    await engine.database.query(
      `UPDATE webhook_delivery SET status = 'succeeded', due_at = NULL WHERE sequence < 600`,
    );
    await setOrdered(endpoint, false);
    await setOrdered(endpoint, true);
    await engine.database.query('VACUUM ANALYZE');
    expect(await rowsReadByClaim(endpoint)).toBeLessThanOrEqual(100);
  });

  it('do not block other endpoints when one of them cannot be claimed from', async () => {
    const [ordered, other] = [await register(true), await register(false)];
    await record('one', 3, 1);
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE webhook_head');
      const worker = engine.app.get(DeliveryWorker);
      const statuses = async (id: string) =>
        (
          await engine.database.query<{ status: string }>(
            'SELECT DISTINCT status FROM webhook_delivery WHERE endpoint_id = $1',
            [id],
          )
        ).map(({ status }) => status);
      await worker.runDue();
      await until('the other endpoint has its events', () => receiver.received.length === 3);
      expect(await statuses(ordered)).toEqual(['pending']);
      await holder.query('COMMIT');
      await worker.idle();
      await work();
      expect(await statuses(ordered)).toEqual(['succeeded']);
      expect(await statuses(other)).toEqual(['succeeded']);
    } finally {
      await holder.end();
    }
  });

  it('stay in order when an endpoint with pending deliveries becomes ordered, and unordered again', async () => {
    const endpoint = await register(false);
    receiver.behave(answer(500));
    await record('turn', 4, 3);
    await work();
    await setOrdered(endpoint, true);
    receiver.behave(accept);
    engine.clock.advanceMs(10 * SECOND);
    for (let round = 1; round <= 3; round += 1) {
      await work();
      expect(sequencesOf('coup_turn').slice(-4)).toEqual([round, round, round, round]);
    }
    expect(sequencesOf('coup_turn')).toHaveLength(12 + 12);
    await record('more', 2, 2);
    await setOrdered(endpoint, false);
    await work();
    expect([...sequencesOf('coup_more')].sort()).toEqual([1, 1, 2, 2]);
  });

  it('have no head of a delivery that was in flight when its endpoint became ordered', async () => {
    const endpoint = await register(false);
    const waiting: (() => void)[] = [];
    receiver.behave((_received, response) => waiting.push(() => response.writeHead(200).end()));
    await record('held', 2, 1);
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await until('both attempts are in flight', () => waiting.length === 2);
    await setOrdered(endpoint, true);
    expect(await engine.database.query('SELECT FROM webhook_head')).toHaveLength(2);
    for (const reply of waiting) reply();
    await worker.idle();
    expect(await engine.database.query('SELECT FROM webhook_head')).toEqual([]);
  });

  it.each(['result', 'switch'])(
    'have the second event as head if a result and the switch to ordered are written at once, and the %s is first',
    async (first) => {
      const endpoint = await register(false);
      await record('both', 1, 2);
      const claimed = await claim(endpoint, 1, false);
      const steps = {
        result: () => recordSuccess(claimed),
        switch: () =>
          engine.app.get(WebhookEndpointsService).update(endpoint, { ordered: true }, 'any'),
      };
      const [one, two] =
        first === 'result' ? [steps.result, steps.switch] : [steps.switch, steps.result];
      const commit = await openTransaction(engine.database, one);
      const second = two();
      await Promise.race([second, untilSessionsWait(engine.database)]);
      await commit();
      await second;
      expect(
        await engine.database.query(
          'SELECT sequence, due_at <= $1 AS "isDue" FROM webhook_head WHERE endpoint_id = $2',
          [engine.clock.now(), endpoint],
        ),
      ).toEqual([{ sequence: 2, isDue: true }]);
    },
  );

  async function retry(endpoint: string, sequence: number): Promise<void> {
    const [id] = await engine.database.queryValues<string>(
      `SELECT id FROM webhook_delivery WHERE endpoint_id = $1 AND sequence = $2`,
      [endpoint, sequence],
    );
    const retried = await engine.http.post(`/v1/webhooks/deliveries/${id}/retry`);
    expect(retried.status).toBe(201);
  }

  it('send retries of earlier events only when the attempt in flight has ended', async () => {
    const endpoint = await register(true);
    await record('again', 1, 3);
    await work();
    await work();
    const waiting: (() => void)[] = [];
    receiver.behave((_received, response) => waiting.push(() => response.writeHead(500).end()));
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await until('the attempt at the third event is in flight', () => waiting.length === 1);
    await retry(endpoint, 2);
    await retry(endpoint, 1);
    expect(await claim(endpoint, 5)).toEqual([]);
    receiver.behave(accept);
    for (const reply of waiting) reply();
    await worker.idle();
    await work();
    await work();
    expect(sequencesOf('coup_again')).toEqual([1, 2, 3, 1, 2]);
    engine.clock.advanceMs(10 * SECOND);
    await work();
    expect(sequencesOf('coup_again')).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('send a retry of an earlier event at once while a later one waits for its next attempt', async () => {
    const endpoint = await register(true);
    await record('pause', 1, 2);
    await work();
    receiver.behave(answer(500));
    await work();
    engine.clock.advanceMs(10 * SECOND);
    await work();
    // The next pause is longer than a lease.
    receiver.behave(accept);
    await retry(endpoint, 1);
    await work();
    expect(sequencesOf('coup_pause')).toEqual([1, 2, 2, 1]);
  });

  it('send a retry of an earlier event after a lease if the result of the later one is lost', async () => {
    const endpoint = await register(true);
    await record('lost', 1, 2);
    await work();
    expect(await claim(endpoint, 5)).toHaveLength(1);
    engine.clock.advanceMs(20 * SECOND);
    await retry(endpoint, 1);
    engine.clock.advanceMs(39 * SECOND);
    await work();
    expect(sequencesOf('coup_lost')).toEqual([1]);
    engine.clock.advanceMs(SECOND);
    await work();
    expect(sequencesOf('coup_lost')).toEqual([1, 1]);
  });

  it('have the next event as head if results of two deliveries of an object are written at once', async () => {
    const endpoint = await register(true);
    await record('twice', 1, 3);
    await work();
    const late = await claim(endpoint, 5);
    await retry(endpoint, 1);
    engine.clock.advanceMs(60 * SECOND);
    const retried = await claim(endpoint, 5);
    expect([late.length, retried.length]).toEqual([1, 1]);
    const commit = await openTransaction(engine.database, () => recordSuccess(late));
    const second = recordSuccess(retried);
    await Promise.race([second, untilSessionsWait(engine.database)]);
    await commit();
    await second;
    expect(await engine.database.query('SELECT sequence FROM webhook_head')).toEqual([
      { sequence: 3 },
    ]);
  });

  it('keep a retry waiting for the attempt in flight when an ignored result of the object arrives', async () => {
    const endpoint = await register(true);
    await record('ignored', 1, 2);
    await work();
    const late = await claim(endpoint, 5);
    engine.clock.advanceMs(60 * SECOND);
    expect(await claim(endpoint, 5)).toHaveLength(1);
    await retry(endpoint, 1);
    expect((await recordSuccess(late)).size).toBe(0);
    expect(await claim(endpoint, 5)).toEqual([]);
  });

  it('store only the result of the newest claim if two results of a delivery are written together', async () => {
    const endpoint = await register(true);
    await record('both', 1, 1);
    const late = await claim(endpoint, 5);
    engine.clock.advanceMs(60 * SECOND);
    const newest = await claim(endpoint, 5);
    const written = await recordSuccess([...late, ...newest]);
    expect([...written].map(({ delivery }) => delivery)).toEqual(newest);
    expect(await engine.database.query('SELECT number FROM webhook_attempt')).toEqual([
      { number: 1 },
    ]);
  });

  it('continue when a head does not match its delivery', async () => {
    await register(true);
    await record('bent', 2, 2);
    await engine.database.query(
      `UPDATE webhook_delivery SET status = 'succeeded', due_at = NULL WHERE sequence = 1`,
    );
    await work();
    await work();
    expect(sequencesOf('coup_bent')).toEqual([2, 2]);
    expect(await engine.database.query('SELECT FROM webhook_head')).toEqual([]);
  });

  it('keep a head for each object with pending deliveries under concurrent writes', async () => {
    const endpoint = await register(true);
    await record('race', 10, 1);
    for (let sequence = 2; sequence <= 12; sequence += 1) {
      const now = engine.clock.now();
      await engine.database.query(RECORD_EVENTS, ['race', 10, sequence, now, sequence]);
      await Promise.all([work(), dispatchAll()]);
    }
    const [missing] = await engine.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM (
         SELECT DISTINCT ON (object_id) id FROM webhook_delivery
         WHERE endpoint_id = $1 AND status = 'pending' ORDER BY object_id, sequence, id
       ) AS first FULL JOIN webhook_head ON delivery_id = first.id
       WHERE first.id IS NULL OR delivery_id IS NULL`,
      [endpoint],
    );
    expect(missing).toEqual({ count: 0 });
    for (let round = 0; round < 12; round += 1) await work();
    for (let object = 1; object <= 10; object += 1) {
      expect(sequencesOf(`coup_race${String(object).padStart(8, '0')}`)).toEqual(
        Array.from({ length: 12 }, (_, index) => index + 1),
      );
    }
  });
});
