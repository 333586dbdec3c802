import type { ServerResponse } from 'node:http';
import { Client } from 'pg';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { DeliveriesRepository } from '../../src/modules/webhooks/delivery/deliveries.repository';
import { EventDispatcher, newDelivery } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { PAUSES_MS } from '../../src/modules/webhooks/delivery/domain/retry-schedule';
import { WebhookEndpointsService } from '../../src/modules/webhooks/webhook-endpoints.service';
import { EventLog } from '../../src/platform/outbox';
import { accept, answer, isVerified, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe('webhook deliveries', () => {
  let engine: TestApp;
  let receiver: Receiver;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    receiver = await startReceiver();
    engine.clock.advanceMs(SECOND);
  });

  /** Leaves no endpoint and no event for the next test. */
  afterEach(async () => {
    const listed = await engine.http.get('/v1/webhooks/endpoints?limit=100');
    for (const { id } of (listed.body as { data: { id: string }[] }).data) {
      expect((await engine.http.delete(`/v1/webhooks/endpoints/${id}`)).status).toBe(204);
    }
    await deliver();
    await receiver.close();
  });

  const dispatch = () => engine.app.get(EventDispatcher).runDue();

  /** Sends due deliveries and waits for the results. */
  async function deliver(app: TestApp = engine): Promise<void> {
    await dispatch();
    const worker = app.app.get(DeliveryWorker);
    await worker.runDue();
    await worker.idle();
  }

  async function register(events: readonly string[] = ['coupon.*'], fields: object = {}) {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: receiver.url, events });
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    if (Object.keys(fields).length > 0) {
      const changed = await engine.http.patch(`/v1/webhooks/endpoints/${id}`).send(fields);
      expect(changed.status).toBe(200);
    }
    return id;
  }

  async function createCoupon(): Promise<string> {
    const created = await engine.http
      .post('/v1/coupons')
      .send({ type: 'percent', percent_off: '10', duration: 'once' });
    return (created.body as { id: string }).id;
  }

  const setActive = (coupon: string, active: boolean) =>
    engine.http.patch(`/v1/coupons/${coupon}`).send({ is_active: active });

  interface Delivery {
    readonly id: string;
    readonly event_id: string;
    readonly event_type: string;
    readonly kind: string;
    readonly status: string;
    readonly attempt_count: number;
    readonly next_attempt_at: string | null;
    readonly attempts: readonly {
      readonly number: number;
      readonly status_code: number | null;
      readonly error: string | null;
      readonly response_start: string | null;
      readonly duration_ms: number;
      readonly started_at: string;
    }[];
  }

  async function deliveriesTo(endpoint: string): Promise<readonly Delivery[]> {
    const listed = await engine.http.get(`/v1/webhooks/endpoints/${endpoint}/deliveries?limit=100`);
    expect(listed.status).toBe(200);
    return (listed.body as { data: Delivery[] }).data;
  }

  async function onlyDelivery(endpoint: string): Promise<Delivery> {
    const [delivery, ...others] = await deliveriesTo(endpoint);
    expect(others).toEqual([]);
    if (delivery === undefined) throw new Error('There is no delivery.');
    const read = await engine.http.get(`/v1/webhooks/deliveries/${delivery.id}`);
    expect(read.status).toBe(200);
    return read.body as Delivery;
  }

  const endpointOf = async (id: string) =>
    (await engine.http.get(`/v1/webhooks/endpoints/${id}`)).body as {
      is_active: boolean;
      disabled_reason: string | null;
    };

  it('send the subscribed events, signed, with the same body as the API', async () => {
    const endpoint = await register(['coupon.created', 'customer.*']);
    const secret = await engine.http.get(`/v1/webhooks/endpoints/${endpoint}/secret`);
    const coupon = await createCoupon();
    await setActive(coupon, false);
    await deliver();
    expect(receiver.received).toHaveLength(1);
    const [received] = receiver.received;
    if (received === undefined) throw new Error('Nothing arrived.');
    const events = await engine.http.get('/v1/events').query({ object_id: coupon });
    const [, created] = (events.body as { data: { id: string }[] }).data;
    expect(JSON.parse(received.body)).toEqual(created);
    expect(received.id).toBe(created?.id);
    expect(received.headers['content-type']).toBe('application/json');
    expect(
      isVerified(received, (secret.body as { secret: string }).secret, engine.clock.now()),
    ).toBe(true);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      event_type: 'coupon.created',
      kind: 'event',
      status: 'succeeded',
      attempt_count: 1,
      next_attempt_at: null,
      attempts: [{ number: 1, status_code: 204, error: null, response_start: '' }],
    });
  });

  it('are created once per event by concurrent dispatchers, and not for events before the registration', async () => {
    await createCoupon();
    engine.clock.advanceMs(SECOND);
    const endpoint = await register();
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    try {
      for (let count = 0; count < 10; count += 1) await createCoupon();
      const dispatchers = [engine, other, engine, other].map(({ app }) => app.get(EventDispatcher));
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.runDue()));
      await dispatch();
      expect(await deliveriesTo(endpoint)).toHaveLength(10);
    } finally {
      await other.close();
    }
  });

  it('are retried after 5 s, 5 min and so on, with the same id and a new timestamp', async () => {
    receiver.behave(answer(500, {}, 'broken'));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    const first = await onlyDelivery(endpoint);
    expect(first).toMatchObject({ status: 'pending', attempt_count: 1 });
    const pause = Date.parse(first.next_attempt_at ?? '') - engine.clock.now().getTime();
    expect(pause).toBeGreaterThanOrEqual(4 * SECOND);
    expect(pause).toBeLessThanOrEqual(6 * SECOND);

    await deliver();
    expect(receiver.received).toHaveLength(1);
    engine.clock.advanceMs(6 * SECOND);
    receiver.behave(accept);
    await deliver();
    const [attempt, again] = receiver.received;
    expect(again?.id).toBe(attempt?.id);
    expect(again?.body).toBe(attempt?.body);
    expect(again?.headers['webhook-timestamp']).not.toBe(attempt?.headers['webhook-timestamp']);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'succeeded',
      attempts: [
        { number: 1, status_code: 500, response_start: 'broken' },
        { number: 2, status_code: 204 },
      ],
    });
  });

  it('fail after ten attempts', async () => {
    receiver.behave(answer(503));
    const endpoint = await register();
    await createCoupon();
    const start = engine.clock.now();
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await deliver();
      const { next_attempt_at: next } = await onlyDelivery(endpoint);
      if (next !== null) engine.clock.set(next);
    }
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempt_count: 10 });
    const hours = (engine.clock.now().getTime() - start.getTime()) / HOUR;
    expect(hours).toBeGreaterThan(0.8 * 75.6);
    expect(hours).toBeLessThan(1.2 * 75.6);
  });

  it.each([301, 302, 307, 308])('do not follow redirects: %i is a failure', async (status) => {
    receiver.behave(answer(status, { location: receiver.url }));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    expect(receiver.received).toHaveLength(1);
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'pending',
      attempts: [{ status_code: status }],
    });
  });

  it('honour Retry-After up to twice the pause', async () => {
    receiver.behave(answer(429, { 'retry-after': '3600' }));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    const { next_attempt_at: next } = await onlyDelivery(endpoint);
    expect(next).toBe(new Date(engine.clock.now().getTime() + 10 * SECOND).toISOString());
  });

  it('to an endpoint that answers 410 are discarded, and the endpoint is disabled', async () => {
    receiver.behave(answer(410));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    expect(await endpointOf(endpoint)).toMatchObject({ is_active: false, disabled_reason: 'gone' });
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'discarded' });
    const events = await engine.http
      .get('/v1/events')
      .query({ type: 'webhook_endpoint.disabled', object_id: endpoint });
    expect(events.body).toMatchObject({
      data: [
        {
          data: {
            object: { id: endpoint, is_active: false, disabled_reason: 'gone' },
            previous: { is_active: true, disabled_reason: null },
          },
        },
      ],
    });
    await createCoupon();
    await deliver();
    expect(receiver.received).toHaveLength(1);
  });

  it('disable an endpoint that fails for 120 hours; one success restarts the time', async () => {
    receiver.behave(answer(500));
    const endpoint = await register();
    const failOnce = async () => {
      await createCoupon();
      await deliver();
    };
    const failFor119Hours = async () => {
      await failOnce();
      for (const hours of [48, 48, 23]) {
        engine.clock.advanceMs(hours * HOUR);
        await failOnce();
      }
    };
    await failFor119Hours();
    expect(await endpointOf(endpoint)).toMatchObject({ is_active: true });
    receiver.behave(accept);
    await failOnce();
    receiver.behave(answer(500));
    await failFor119Hours();
    expect(await endpointOf(endpoint)).toMatchObject({ is_active: true });
    engine.clock.advanceMs(HOUR);
    await failOnce();
    expect(await endpointOf(endpoint)).toMatchObject({
      is_active: false,
      disabled_reason: 'failing',
    });
  });

  it('do not disable an endpoint that fails once, long after its last failure', async () => {
    receiver.behave(answer(500));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    for (const pauseMs of PAUSES_MS.slice(1)) {
      engine.clock.advanceMs(1.25 * pauseMs);
      await deliver();
    }
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'failed', attempt_count: 10 });
    engine.clock.advanceMs(30 * 24 * HOUR);
    await createCoupon();
    await deliver();
    expect(await endpointOf(endpoint)).toMatchObject({ is_active: true });
  });

  it('to a deleted endpoint are discarded', async () => {
    receiver.behave(answer(500));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    const { id } = await onlyDelivery(endpoint);
    expect((await engine.http.delete(`/v1/webhooks/endpoints/${endpoint}`)).status).toBe(204);
    engine.clock.advanceMs(6 * SECOND);
    await deliver();
    expect(receiver.received).toHaveLength(1);
    const read = await engine.http.get(`/v1/webhooks/deliveries/${id}`);
    expect(read.body).toMatchObject({ status: 'discarded', next_attempt_at: null });
  });

  it('wait while an endpoint is inactive', async () => {
    receiver.behave(answer(500));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    await engine.http.patch(`/v1/webhooks/endpoints/${endpoint}`).send({ is_active: false });
    engine.clock.advanceMs(HOUR);
    await deliver();
    expect(receiver.received).toHaveLength(1);
    receiver.behave(accept);
    await engine.http.patch(`/v1/webhooks/endpoints/${endpoint}`).send({ is_active: true });
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });

  it('of a crashed worker are claimed again when the lease ends, and its late result is ignored', async () => {
    const endpoint = await register();
    await createCoupon();
    await dispatch();
    const deliveries = engine.app.get(DeliveriesRepository);
    const now = engine.clock.now();
    const capacity = [{ endpointId: endpoint, free: 10, ordered: false }];
    const leaseEndsAt = new Date(now.getTime() + 60 * SECOND);
    const [frozen] = await deliveries.claim(now, leaseEndsAt, capacity);
    if (frozen === undefined) throw new Error('Nothing was claimed.');

    engine.clock.advanceMs(59 * SECOND);
    await deliver();
    expect(receiver.received).toHaveLength(0);
    engine.clock.advanceMs(SECOND);
    await deliver();
    expect(receiver.received).toHaveLength(1);

    const late = {
      delivery: frozen,
      attempt: {
        startedAt: now,
        durationMs: 1,
        statusCode: 500,
        error: null,
        responseStart: 'late',
      },
      isSent: true,
      status: 'failed' as const,
      dueAt: null,
    };
    expect(await deliveries.record([late], engine.clock.now())).toEqual(new Set());
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'succeeded',
      attempts: [{ number: 1, status_code: 204 }],
    });
  });

  it('to an endpoint that does not respond do not delay those to others', async () => {
    const slow = await startReceiver();
    try {
      const hanging = new Set<ServerResponse>();
      let mostHanging = 0;
      slow.behave((_received, response) => {
        hanging.add(response);
        // On a slow machine, the first ones reach their deadline meanwhile.
        response.once('close', () => hanging.delete(response));
        mostHanging = Math.max(mostHanging, hanging.size);
      });
      await engine.http
        .post('/v1/webhooks/endpoints')
        .send({ url: slow.url, events: ['coupon.*'] });
      const fast = await register();
      for (let count = 0; count < 60; count += 1) await createCoupon();
      await dispatch();
      const worker = engine.app.get(DeliveryWorker);
      const fastIsDone = async () =>
        (await deliveriesTo(fast)).every(({ status }) => status === 'succeeded');
      while (!(await fastIsDone())) await worker.runDue();
      expect(receiver.received).toHaveLength(60);
      expect(mostHanging).toBeLessThanOrEqual(32);
      for (const response of hanging) response.writeHead(204).end();
      slow.behave(accept);
      await worker.idle();
    } finally {
      await slow.close();
    }
  });

  it('to an ordered endpoint send the next event of an object only after the previous one has ended', async () => {
    receiver.behave(answer(500));
    await register(['coupon.*'], { ordered: true });
    const coupon = await createCoupon();
    await setActive(coupon, false);
    await setActive(coupon, true);
    const other = await createCoupon();
    const receivedTypes = () =>
      receiver.received.map(({ body }) => {
        const { sequence, data } = JSON.parse(body) as {
          sequence: number;
          data: { object: { id: string } };
        };
        return `${data.object.id === coupon ? 'coupon' : 'other'} ${sequence}`;
      });
    await deliver();
    expect(receivedTypes().sort()).toEqual(['coupon 1', 'other 1']);
    receiver.behave(accept);
    engine.clock.advanceMs(6 * SECOND);
    await deliver();
    await deliver();
    await deliver();
    expect(receivedTypes().filter((line) => line.startsWith('coupon'))).toEqual([
      'coupon 1',
      'coupon 1',
      'coupon 2',
      'coupon 3',
    ]);
    expect(other).toMatch(/^coup_/);
  });

  it('whose secrets cannot be read at the moment are not failed attempts', async () => {
    const endpoint = await register();
    await createCoupon();
    const other = new Client({ connectionString: engine.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('LOCK TABLE webhook_secret');
    await deliver();
    await other.end();
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'pending', attempts: [] });
    engine.clock.advanceMs(61 * SECOND);
    await deliver();
    expect(await onlyDelivery(endpoint)).toMatchObject({ status: 'succeeded' });
  });

  it('after a rotation are signed with both secrets for 24 hours', async () => {
    const endpoint = await register();
    const before = await engine.http.get(`/v1/webhooks/endpoints/${endpoint}/secret`);
    const rotated = await engine.http.post(`/v1/webhooks/endpoints/${endpoint}/rotate-secret`);
    const secrets = [before, rotated].map(({ body }) => (body as { secret: string }).secret);
    await createCoupon();
    await deliver();
    engine.clock.advanceMs(24 * HOUR);
    await createCoupon();
    await deliver();
    const [first, second] = receiver.received;
    if (first === undefined || second === undefined) throw new Error('Too little arrived.');
    const start = new Date(engine.clock.now().getTime() - 24 * HOUR);
    expect(secrets.map((secret) => isVerified(first, secret, start))).toEqual([true, true]);
    expect(secrets.map((secret) => isVerified(second, secret, engine.clock.now()))).toEqual([
      false,
      true,
    ]);
  });

  it('can be retried, with the same event id', async () => {
    const endpoint = await register();
    await createCoupon();
    await deliver();
    const { id } = await onlyDelivery(endpoint);
    const retried = await engine.http.post(`/v1/webhooks/deliveries/${id}/retry`);
    expect(retried.status).toBe(201);
    expect(retried.body).toMatchObject({ kind: 'retry', status: 'pending', attempt_count: 0 });
    const pending = (retried.body as { id: string }).id;
    const tooEarly = await engine.http.post(`/v1/webhooks/deliveries/${pending}/retry`);
    expect(tooEarly.status).toBe(409);
    expect(tooEarly.body).toMatchObject({ code: 'webhook_delivery_pending' });
    await deliver();
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map((received) => received.id)).size).toBe(1);
  });

  it('of a period are replayed, only for the requested event types', async () => {
    const from = engine.clock.now().toISOString();
    const endpoint = await register(['*']);
    const coupon = await createCoupon();
    engine.clock.advanceMs(SECOND);
    await setActive(coupon, false);
    const to = engine.clock.now();
    engine.clock.advanceMs(SECOND);
    await setActive(coupon, true);
    await deliver();
    const before = receiver.received.length;
    const replay = (body: object) =>
      engine.http.post(`/v1/webhooks/endpoints/${endpoint}/replay`).send(body);
    const all = await replay({ from, to: new Date(to.getTime() + 1).toISOString() });
    expect(all.status).toBe(200);
    expect(all.body).toMatchObject({ status: 'completed', replayed: 3, events_read: 3 });
    expect((await replay({ from, to: to.toISOString(), events: ['coupon.*'] })).body).toMatchObject(
      { status: 'completed', replayed: 1 },
    );
    await deliver();
    expect(receiver.received).toHaveLength(before + 4);
    const ids = new Set(receiver.received.slice(0, before).map(({ id }) => id));
    expect(receiver.received.slice(before).every(({ id }) => ids.has(id))).toBe(true);
    expect((await replay({ from, to: 'tomorrow' })).status).toBe(400);
    expect((await replay({ from })).status).toBe(400);
  });

  it('of a test event go only to the tested endpoint, regardless of its subscribed events', async () => {
    const elsewhere = await startReceiver();
    try {
      await engine.http
        .post('/v1/webhooks/endpoints')
        .send({ url: elsewhere.url, events: ['webhook_endpoint.tested'] });
      const endpoint = await register(['invoice.paid']);
      const tested = await engine.http.post(`/v1/webhooks/endpoints/${endpoint}/test`);
      expect(tested.status).toBe(201);
      expect(tested.body).toMatchObject({ kind: 'test', event_type: 'webhook_endpoint.tested' });
      await deliver();
      expect(receiver.received).toHaveLength(1);
      expect(elsewhere.received).toHaveLength(0);
      await engine.http.patch(`/v1/webhooks/endpoints/${endpoint}`).send({ is_active: false });
      const refused = await engine.http.post(`/v1/webhooks/endpoints/${endpoint}/test`);
      expect(refused.status).toBe(409);
      expect(refused.body).toMatchObject({ code: 'webhook_endpoint_inactive' });
    } finally {
      await elsewhere.close();
    }
  });

  it('reach every endpoint, also with many endpoints', async () => {
    for (let count = 0; count < 40; count += 1) await register();
    await createCoupon();
    await deliver();
    await deliver();
    expect(receiver.received).toHaveLength(40);
  });

  it('to an endpoint whose secret cannot be decrypted wait without an attempt, and others are sent', async () => {
    const broken = await register();
    await register();
    const rename = (from: string, to: string) =>
      engine.database.query(
        'UPDATE webhook_secret SET sealed = replace(sealed, $2, $3) WHERE endpoint_id = $1',
        [broken, `:${from}:`, `:${to}:`],
      );
    await rename('test', 'gone');
    await createCoupon();
    for (let round = 0; round < 20; round += 1) {
      await deliver();
      engine.clock.advanceMs(3_600 * SECOND);
    }
    expect(receiver.received).toHaveLength(1);
    expect(await onlyDelivery(broken)).toMatchObject({ status: 'pending', attempts: [] });
    await rename('gone', 'test');
    await deliver();
    expect(await onlyDelivery(broken)).toMatchObject({ status: 'succeeded', attempt_count: 1 });
  });

  it('are not created for an endpoint deleted concurrently', async () => {
    const endpoint = await register();
    await createCoupon();
    const now = engine.clock.now();
    const [event] = await engine.app
      .get(EventLog)
      .headsAfter(now, new Date(now.getTime() + 1), '', 1);
    if (event === undefined) throw new Error('There is no event.');
    await engine.http.delete(`/v1/webhooks/endpoints/${endpoint}`);
    const made = newDelivery(event, endpoint, 'event', now);
    await engine.app.get(DeliveriesRepository).insert([made]);
    const sql = 'SELECT id FROM webhook_delivery WHERE endpoint_id = $1';
    expect(await engine.database.query(sql, [endpoint])).toEqual([]);
  });

  it('that succeed while others fail end the time of failures', async () => {
    const endpoint = await register();
    let let500 = true;
    receiver.behave((received, response, request) => {
      const status = let500 ? 500 : 204;
      let500 = false;
      answer(status)(received, response, request);
    });
    await createCoupon();
    await createCoupon();
    await deliver();
    const sql = 'SELECT endpoint_id FROM webhook_failure WHERE endpoint_id = $1';
    expect(await engine.database.query(sql, [endpoint])).toEqual([]);
    receiver.behave(answer(500));
    engine.clock.advanceMs(121 * HOUR);
    await deliver();
    expect(await endpointOf(endpoint)).toMatchObject({ is_active: true });
  });

  it('continue while events of another period are replayed', async () => {
    const endpoint = await register();
    await createCoupon();
    await engine.database.transaction(async () => {
      await engine.app.get(WebhookEndpointsService).lock(endpoint);
      const other = await startTestApp({ databaseUrl: engine.databaseUrl });
      try {
        await other.app.get(EventDispatcher).runDue();
      } finally {
        await other.close();
      }
    });
    expect(await deliveriesTo(endpoint)).toHaveLength(1);
  });

  it('with a broken connection fail with a reason', async () => {
    receiver.behave((_received, _response, request) => {
      request.socket.destroy();
    });
    const endpoint = await register();
    await createCoupon();
    await deliver();
    expect(await onlyDelivery(endpoint)).toMatchObject({
      status: 'pending',
      attempts: [{ status_code: null, error: expect.any(String) as string, response_start: null }],
    });
  });

  it('keep the first 20 kB of a response', async () => {
    receiver.behave(answer(200, {}, 'x'.repeat(100_000)));
    const endpoint = await register();
    await createCoupon();
    await deliver();
    const { attempts } = await onlyDelivery(endpoint);
    expect(attempts[0]?.response_start).toHaveLength(20_000);
  });

  it('and endpoints with unknown ids give 404', async () => {
    for (const id of ['whd_01h455vb4pex5vsknk084sn02q', 'nope']) {
      const read = await engine.http.get(`/v1/webhooks/deliveries/${id}`);
      expect(read.body).toMatchObject({ code: 'webhook_delivery_not_found', status: 404 });
      const retried = await engine.http.post(`/v1/webhooks/deliveries/${id}/retry`);
      expect(retried.body).toMatchObject({ code: 'webhook_delivery_not_found', status: 404 });
    }
    const at = '/v1/webhooks/endpoints/whe_01h455vb4pex5vsknk084sn02q';
    for (const answered of [
      await engine.http.get(`${at}/deliveries`),
      await engine.http.post(`${at}/test`),
      await engine.http
        .post(`${at}/replay`)
        .send({ from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }),
    ]) {
      expect(answered.body).toMatchObject({ code: 'webhook_endpoint_not_found', status: 404 });
    }
  });
});
