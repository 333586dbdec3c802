import type { ServerResponse } from 'node:http';
import { Client } from 'pg';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { answer, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;
const PLANT_FAILURE = `
  INSERT INTO webhook_failure (endpoint_id, since, last_at) VALUES ($1, $2, $2::timestamptz + interval '119 hours')`;

describe('an endpoint that changes', () => {
  let engine: TestApp;
  let old: Receiver;
  let next: Receiver;

  beforeEach(async () => {
    engine = await startTestApp();
    await disableLockTimeout(engine);
    [old, next] = [await startReceiver(), await startReceiver()];
  });

  afterEach(async () => {
    await Promise.all([old.close(), next.close()]);
    await engine.close();
  });

  const path = (id: string) => `/v1/webhooks/endpoints/${id}`;

  async function work(): Promise<void> {
    await engine.app.get(EventDispatcher).runDue();
    await engine.app.get(DeliveryWorker).runDue();
  }

  async function createCoupon(): Promise<string> {
    const coupon = { type: 'percent', percent_off: '10', duration: 'once' };
    const created = await engine.http.post('/v1/coupons').send(coupon).expect(201);
    return (created.body as { id: string }).id;
  }

  async function register(): Promise<string> {
    const body = { url: old.url, events: ['coupon.*'] };
    const created = await engine.http.post('/v1/webhooks/endpoints').send(body).expect(201);
    return (created.body as { id: string }).id;
  }

  it('stays active and gets its pending events if the receiver of its former URL is gone', async () => {
    const waiting: ServerResponse[] = [];
    old.behave((_received, response) => waiting.push(response));
    const id = await register();
    await createCoupon();
    await work();
    await until('the old receiver is asked', () => waiting.length === 1);

    await engine.http.patch(path(id)).send({ url: next.url }).expect(200);
    waiting.forEach((response) => response.writeHead(410).end());
    await engine.app.get(DeliveryWorker).idle();

    const { body: endpoint } = await engine.http.get(path(id)).expect(200);
    expect(endpoint).toMatchObject({ is_active: true, disabled_reason: null });
    engine.clock.advanceMs(7_000);
    await work();
    await engine.app.get(DeliveryWorker).idle();
    expect(next.received).toHaveLength(1);
    expect(next.received[0]?.id).toBe(old.received[0]?.id);
  });

  /** Locks rows in another session. Returns a function that ends the lock. */
  async function lockRows(sql: string, id: string): Promise<() => Promise<void>> {
    const other = new Client({ connectionString: engine.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query(sql, [id]);
    return () => other.end();
  }

  /** Records events, and returns the responses to their deliveries, which are in flight. */
  async function inFlight(events: number): Promise<readonly ServerResponse[]> {
    const waiting: ServerResponse[] = [];
    old.behave((_received, response) => waiting.push(response));
    for (let count = 0; count < events; count += 1) await createCoupon();
    await work();
    await until('the requests are sent', () => waiting.length === events);
    return waiting;
  }

  const statusesOf = (id: string) =>
    engine.database.queryValues<string>(
      'SELECT status FROM webhook_delivery WHERE endpoint_id = $1 ORDER BY id',
      [id],
    );

  it('gets an event at its new URL if that is set while a 410 of the former one waits to be stored', async () => {
    const id = await register();
    const [response] = await inFlight(1);
    const release = await lockRows(
      'SELECT FROM webhook_delivery WHERE endpoint_id = $1 FOR UPDATE',
      id,
    );
    response?.writeHead(410).end();
    await untilSessionsWait(engine.database);
    await engine.http.patch(path(id)).send({ url: next.url }).expect(200);
    await release();
    await engine.app.get(DeliveryWorker).idle();
    const { body: endpoint } = await engine.http.get(path(id)).expect(200);
    expect(endpoint).toMatchObject({ is_active: true, disabled_reason: null });
    engine.clock.advanceMs(7_000);
    await work();
    await engine.app.get(DeliveryWorker).idle();
    expect(next.received).toHaveLength(1);
    expect(await statusesOf(id)).toEqual(['succeeded']);
  });

  it('is disabled by a 410 to the last attempt of a delivery, which is then failed', async () => {
    const id = await register();
    old.behave(answer(410));
    await createCoupon();
    await engine.app.get(EventDispatcher).runDue();
    await engine.database.query('UPDATE webhook_delivery SET attempts = 9, fence = 9');
    await createCoupon();
    await work();
    await engine.app.get(DeliveryWorker).idle();
    const { body: endpoint } = await engine.http.get(path(id)).expect(200);
    expect(endpoint).toMatchObject({ is_active: false, disabled_reason: 'gone' });
    expect(await statusesOf(id)).toEqual(['failed', 'discarded']);
  });

  describe('and failed for 120 hours', () => {
    /** Returns an endpoint with two deliveries in flight, and their responses. */
    async function failing() {
      const id = await register();
      const since = new Date(engine.clock.now().getTime() - 121 * HOUR_MS);
      await engine.database.query(PLANT_FAILURE, [id, since]);
      return { id, responses: await inFlight(2) };
    }

    it.each([
      ['a delivery succeeds', (_id: string, other?: ServerResponse) => other?.writeHead(204).end()],
      [
        'it is deactivated and activated',
        async (id: string) => {
          await engine.http.patch(path(id)).send({ is_active: false }).expect(200);
          await engine.http.patch(path(id)).send({ is_active: true }).expect(200);
        },
      ],
    ])('stays active if %s while the engine is about to disable it', async (_, recover) => {
      const { id, responses } = await failing();
      const release = await lockRows(
        'SELECT FROM webhook_endpoint WHERE id = $1 FOR KEY SHARE',
        id,
      );
      responses[0]?.writeHead(500).end();
      await untilSessionsWait(engine.database);
      await recover(id, responses[1]);
      await until('the failures are forgotten', async () => {
        return (await engine.database.query('SELECT FROM webhook_failure')).length === 0;
      });
      await release();
      if (responses[1]?.headersSent === false) responses[1].writeHead(500).end();
      await engine.app.get(DeliveryWorker).idle();
      const { body: endpoint } = await engine.http.get(path(id)).expect(200);
      expect(endpoint).toMatchObject({ is_active: true, disabled_reason: null });
    });
  });

  describe('while a claim of its deliveries waits', () => {
    /** Records three events of one object, and changes the endpoint while their claim waits for a lock. */
    async function changeDuringClaim(before: object, change: object): Promise<void> {
      const id = await register();
      await engine.http.patch(path(id)).send(before).expect(200);
      const coupon = await createCoupon();
      for (const step of ['1', '2']) {
        const metadata = { step };
        await engine.http.patch(`/v1/coupons/${coupon}`).send({ metadata }).expect(200);
      }
      await engine.app.get(EventDispatcher).runDue();
      const release = await openTransaction(engine.database, () =>
        engine.database.query('LOCK TABLE webhook_delivery IN SHARE MODE'),
      );
      const claim = engine.app.get(DeliveryWorker).runDue();
      await untilSessionsWait(engine.database);
      await engine.http.patch(path(id)).send(change).expect(200);
      await release();
      await claim;
      await engine.app.get(DeliveryWorker).idle();
    }

    it.each([false, true])('gets its events at the new URL only (ordered: %s)', async (ordered) => {
      await changeDuringClaim({ ordered }, { url: next.url });
      expect(old.received).toHaveLength(0);
      expect(next.received).toHaveLength(ordered ? 1 : 3);
    });

    it.each([false, true])('gets nothing if it is inactive (ordered: %s)', async (ordered) => {
      await changeDuringClaim({ ordered }, { is_active: false });
      expect(old.received).toHaveLength(0);
    });

    it('gets one event of each object at a time if it is ordered', async () => {
      await changeDuringClaim({}, { ordered: true });
      const waiting: ServerResponse[] = [];
      old.behave((_received, response) => waiting.push(response));
      await engine.app.get(DeliveryWorker).runDue();
      await until('the receiver is asked', () => waiting.length > 0);
      await engine.app.get(DeliveryWorker).runDue();
      expect(old.received).toHaveLength(1);
      waiting.forEach((response) => response.writeHead(500).end());
      await engine.app.get(DeliveryWorker).idle();
    });
  });
});
