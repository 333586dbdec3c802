import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { accept, isVerified, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** Two bodies of this size exceed the share of one of two endpoints in the 64 MB that may be in flight. */
const LARGE = 20_000_000;

const RECORD_EVENTS = `
  WITH recorded AS (
    INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
    SELECT 'evt_' || $1::text || number, $1::text || '.updated', $1::text || '_' || number, 1,
      json_build_object('object', json_build_object('id', $1::text || '_' || number, 'name', repeat('x', $3::integer)),
        'previous', '{}'::json), $4
    FROM generate_series(1, $2::integer) AS number
    RETURNING id, type, object_id, sequence, occurred_at)
  INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at) SELECT * FROM recorded`;

describe('large webhook notifications', () => {
  let engine: TestApp;
  let large: Receiver;
  let small: Receiver;

  beforeEach(async () => {
    engine = await startTestApp({ plantsEvents: true });
    [large, small] = await Promise.all([startReceiver(), startReceiver()]);
  });

  afterEach(async () => {
    await Promise.all([large.close(), small.close()]);
    await engine.close();
  });

  async function register({ url }: Receiver, events: string): Promise<{ id: string }> {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url, events: [events] })
      .expect(201);
    return created.body as { id: string };
  }

  async function record(resource: string, count: number, length: number): Promise<void> {
    const parameters = [resource, count, length, engine.clock.now()];
    await engine.database.query(RECORD_EVENTS, parameters);
    while (await engine.app.get(EventDispatcher).runDue()) continue;
    await engine.app.get(DeliveryWorker).runDue();
  }

  it('wait for their share of the bytes in flight, while those to other endpoints are sent', async () => {
    const { id } = await register(large, 'plan.*');
    await register(small, 'coupon.*');
    const held: (() => void)[] = [];
    large.behave((received, response, request) => {
      held.push(() => accept(received, response, request));
    });
    await record('plan', 3, LARGE);
    await until('the first large one arrives', () => held.length > 0);
    await record('coupon', 20, 10);
    await until('the small ones arrive', () => small.received.length === 20);
    expect(held).toHaveLength(1);
    for (let number = 1; number <= 3; number += 1) {
      await until('another large one arrives', () => held.length === number);
      held.at(-1)?.();
    }
    await engine.app.get(DeliveryWorker).idle();
    expect(held).toHaveLength(3);
    const { body } = await engine.http.get(`/v1/webhooks/endpoints/${id}/secret`).expect(200);
    const { secret } = body as { secret: string };
    for (const received of large.received) {
      expect(received.body.length).toBeGreaterThan(LARGE);
      expect(isVerified(received, secret, engine.clock.now())).toBe(true);
    }
    const { data } = (await engine.http.get('/v1/webhooks/deliveries').expect(200)).body as {
      data: readonly { status: string }[];
    };
    expect(data.map(({ status }) => status)).not.toContain('pending');
  });
});
