import type { ServerResponse } from 'node:http';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

describe('an endpoint whose URL changes while its old receiver answers', () => {
  let engine: TestApp;
  let old: Receiver;
  let next: Receiver;

  beforeAll(async () => {
    engine = await startTestApp();
    [old, next] = [await startReceiver(), await startReceiver()];
  });

  afterAll(async () => {
    await Promise.all([old.close(), next.close()]);
    await engine.close();
  });

  const path = (id: string) => `/v1/webhooks/endpoints/${id}`;

  async function work(): Promise<void> {
    await engine.app.get(EventDispatcher).runDue();
    await engine.app.get(DeliveryWorker).runDue();
  }

  async function createCoupon(): Promise<void> {
    const coupon = { type: 'percent', percent_off: '10', duration: 'once' };
    await engine.http.post('/v1/coupons').send(coupon).expect(201);
  }

  it('stays active and gets its pending events if the old receiver is gone', async () => {
    const waiting: ServerResponse[] = [];
    old.behave((_received, response) => waiting.push(response));
    const body = { url: old.url, events: ['coupon.*'] };
    const created = await engine.http.post('/v1/webhooks/endpoints').send(body).expect(201);
    const { id } = created.body as { id: string };
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
});
