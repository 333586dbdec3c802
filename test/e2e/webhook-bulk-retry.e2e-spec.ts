import { Client } from 'pg';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';
import { accept, answer, type Receiver, startReceiver } from '../support/receiver';

const RETRY = '/v1/webhooks/deliveries/retry';

interface Delivery {
  readonly id: string;
  readonly event_id: string;
  readonly kind: string;
  readonly status: string;
}

describe('many webhook deliveries are retried together', () => {
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

  async function register(events: readonly string[]): Promise<string> {
    const { body } = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: receiver.url, events });
    return (body as { id: string }).id;
  }

  async function createCoupon(): Promise<string> {
    const coupon = { type: 'percent', percent_off: '10', duration: 'once' };
    const { body } = await engine.http.post('/v1/coupons').send(coupon);
    return (body as { id: string }).id;
  }

  async function deliver(): Promise<void> {
    await engine.app.get(EventDispatcher).runDue();
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await worker.idle();
  }

  async function list(query = ''): Promise<readonly Delivery[]> {
    const { body } = await engine.http.get(`/v1/webhooks/deliveries?limit=100${query}`);
    return (body as { data: Delivery[] }).data;
  }

  /** Makes every pending delivery use up its attempts. */
  const fail = (): Promise<unknown> =>
    engine.database.query(`UPDATE webhook_delivery SET status = 'failed', due_at = NULL`);

  /** Two coupons whose events could not be delivered. */
  async function failTwo(): Promise<string> {
    receiver.behave(answer(500));
    const endpoint = await register(['coupon.*']);
    await createCoupon();
    await createCoupon();
    await deliver();
    await fail();
    receiver.behave(accept);
    return endpoint;
  }

  const retry = (filter: object = {}) =>
    engine.http.post(RETRY).send({ status: ['failed'], ...filter });

  it('except those whose event is deleted meanwhile, which are also refused singly', async () => {
    await failTwo();
    const [gone, kept] = await list();
    const deleting = new Client({ connectionString: engine.databaseUrl });
    await deleting.connect();
    await deleting.query('BEGIN');
    await deleting.query('DELETE FROM event WHERE id = $1', [gone?.event_id]);
    const single = engine.http.post(`/v1/webhooks/deliveries/${gone?.id}/retry`).send({});
    const answers = Promise.all([single, retry({ status: ['failed'] })]);
    await untilSessionsWait(engine.database, 2);
    await deleting.query('COMMIT');
    await deleting.end();
    const [one, many] = await answers;
    expect(one.body).toMatchObject({ status: 404, code: 'webhook_delivery_not_found' });
    expect([many.status, many.body]).toEqual([200, { retried: 1, has_more: false }]);
    const retried = (await list()).filter(({ kind }) => kind === 'retry');
    expect(retried.map(({ event_id }) => event_id)).toEqual([kept?.event_id]);
  });

  it('sends each failed event once more, and a second request nothing', async () => {
    await failTwo();
    const events = (await list()).map((delivery) => delivery.event_id);
    const first = await retry();
    expect([first.status, first.body]).toEqual([200, { retried: 2, has_more: false }]);
    expect((await retry()).body).toEqual({ retried: 0, has_more: false });
    const sentBefore = receiver.received.length;
    await deliver();
    expect(
      receiver.received
        .slice(sentBefore)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...events].sort());
    expect((await retry()).body).toEqual({ retried: 0, has_more: false });
    expect((await list('&status=succeeded')).map(({ kind }) => kind)).toEqual(['retry', 'retry']);
  });

  it('retries a retry that failed too', async () => {
    await failTwo();
    await retry();
    await fail();
    expect((await retry()).body).toEqual({ retried: 2, has_more: false });
  });

  it('creates nothing twice for two requests at once', async () => {
    await failTwo();
    const answers = await Promise.all([retry(), retry(), retry()]);
    const retried = answers.map(({ body }) => (body as { retried: number }).retried);
    expect(retried.sort()).toEqual([0, 0, 2]);
    expect(await list('&status=pending')).toHaveLength(2);
  });

  it('gives the same answer to the same key', async () => {
    await failTwo();
    const twice = [1, 2].map(() => retry().set('Idempotency-Key', 'once'));
    const [one, other] = await Promise.all(twice);
    expect(one?.body).toEqual({ retried: 2, has_more: false });
    expect(other?.body).toEqual(one?.body);
  });

  it('follows the filters of the list', async () => {
    const endpoint = await failTwo();
    const now = engine.clock.now().toISOString();
    for (const body of [
      { status: ['discarded'] },
      { event_type: 'coupon.updated' },
      { to: '2020-01-01T00:00:00Z' },
      { from: new Date(engine.clock.now().getTime() + 1).toISOString() },
    ]) {
      expect((await retry(body)).body).toEqual({ retried: 0, has_more: false });
    }
    const body = {
      status: ['failed', 'discarded'],
      endpoint_id: endpoint,
      event_type: 'coupon.created',
      from: '2020-01-01T00:00:00Z',
      to: new Date(Date.parse(now) + 1).toISOString(),
    };
    expect((await retry(body)).body).toEqual({ retried: 2, has_more: false });
  });

  it('leaves out inactive endpoints, and refuses one that is named', async () => {
    const endpoint = await failTwo();
    await engine.http.patch(`/v1/webhooks/endpoints/${endpoint}`).send({ is_active: false });
    expect((await retry()).body).toEqual({ retried: 0, has_more: false });
    const refused = await retry({ endpoint_id: endpoint });
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'webhook_endpoint_inactive' },
    ]);
    const unknown = await retry({ endpoint_id: 'whe_01h455vb4pex5vsknk084sn02q' });
    expect([unknown.status, unknown.body]).toMatchObject([422, { code: 'reference_not_found' }]);
  });

  it.each([
    [{}],
    [{ status: [] }],
    [{ status: ['pending'] }],
    [{ status: ['failed', 'failed'] }],
    [{ status: 'failed' }],
    [{ status: ['failed'], from: 'yesterday' }],
    [{ status: ['failed'], other: 1 }],
  ])('refuses %j', async (body) => {
    expect((await engine.http.post(RETRY).send(body)).status).toBe(400);
  });

  it('retries at most 1,000, the oldest first, and says that there are more', async () => {
    await failTwo();
    await engine.database.query(`
      WITH made AS (
        INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
        SELECT 'evt_01000000000000000000' || to_char(number, 'FM000000'), type, object_id, sequence + number, data,
          occurred_at
        FROM generate_series(1, 1000) AS number, (SELECT * FROM event WHERE type = 'coupon.created' LIMIT 1) AS event
        RETURNING *)
      INSERT INTO webhook_delivery (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, created_at, updated_at)
      SELECT replace(made.id, 'evt_', 'whd_'), endpoint.id, made.id, made.type, made.object_id, made.sequence, 'event',
        'failed', made.occurred_at, made.occurred_at
      FROM made, webhook_endpoint AS endpoint`);
    expect((await retry()).body).toEqual({ retried: 1_000, has_more: true });
    expect((await retry()).body).toEqual({ retried: 2, has_more: false });
  });

  it('is in the audit log of each endpoint', async () => {
    const endpoint = await failTwo();
    await retry({ event_type: 'coupon.created' });
    const { body } = await engine.http.get(`/v1/audit-log?object_id=${endpoint}`);
    expect((body as { data: readonly object[] }).data[0]).toMatchObject({
      changes: [
        {
          action: 'webhook_endpoint.deliveries_retried',
          object_id: endpoint,
          changes: { retried: { after: 2 }, event_type: { after: 'coupon.created' } },
        },
      ],
    });
  });
});
