import { DeliverySender } from '../../src/modules/webhooks/delivery/delivery-sender';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { isVerified, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

const LARGE = 1_000_000;

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
  let receivers: readonly Receiver[];

  beforeEach(async () => {
    engine = await startTestApp({ plantsEvents: true });
    receivers = await Promise.all([startReceiver(), startReceiver()]);
  });

  afterEach(async () => {
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await engine.close();
  });

  it('leave the event loop to other work between them, and are the same at all endpoints', async () => {
    const secrets = await Promise.all(
      receivers.map(async ({ url }) => {
        const body = { url, events: ['plan.*'] };
        const { id } = (await engine.http.post('/v1/webhooks/endpoints').send(body).expect(201))
          .body as { id: string };
        const shown = await engine.http.get(`/v1/webhooks/endpoints/${id}/secret`).expect(200);
        return (shown.body as { secret: string }).secret;
      }),
    );
    await engine.database.query(RECORD_EVENTS, ['plan', 3, LARGE, engine.clock.now()]);
    while (await engine.app.get(EventDispatcher).runDue()) continue;

    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    const startedIn: number[] = [];
    const sender = engine.app.get(DeliverySender);
    const deliver = sender.deliver.bind(sender);
    const started = jest.spyOn(sender, 'deliver').mockImplementation((...delivery) => {
      startedIn.push(turn);
      return deliver(...delivery);
    });
    try {
      count();
      const worker = engine.app.get(DeliveryWorker);
      await worker.runDue();
      await worker.idle();
    } finally {
      isOver = true;
      started.mockRestore();
    }
    expect(startedIn).toHaveLength(6);
    expect(new Set(startedIn).size).toBe(6);
    const bodiesAt = receivers.map(({ received }) => received.map(({ body }) => body).sort());
    expect(bodiesAt[0]).toEqual(bodiesAt[1]);
    for (const [index, { received }] of receivers.entries()) {
      expect(received).toHaveLength(3);
      for (const one of received) {
        expect(one.body.length).toBeGreaterThan(LARGE);
        expect(isVerified(one, secrets[index] ?? '', engine.clock.now())).toBe(true);
      }
    }
  });
});
