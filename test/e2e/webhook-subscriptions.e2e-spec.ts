import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { WebhookEndpointsService } from '../../src/modules/webhooks/webhook-endpoints.service';
import { firstIdAt } from '../../src/platform/ids';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';

const URL_SENT = 'https://example.com/hooks';
const DAY_MS = 86_400_000;

describe('the events that an endpoint gets', () => {
  let engine: TestApp;
  let endpoint: string;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: URL_SENT, events: ['customer.*'] });
    endpoint = (created.body as { id: string }).id;
  });

  async function change(fields: object): Promise<void> {
    await engine.http.patch(`/v1/webhooks/endpoints/${endpoint}`).send(fields).expect(200);
  }

  async function create(path: 'customers' | 'coupons' = 'customers'): Promise<string> {
    const body =
      path === 'customers'
        ? { name: 'Ada' }
        : { type: 'percent', percent_off: '10', duration: 'once' };
    const created = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (created.body as { id: string }).id;
  }

  async function dispatch(): Promise<void> {
    while (await engine.app.get(EventDispatcher).runDue()) continue;
  }

  /** Ids of the objects whose events are sent, or wait to be sent, in the order of the events. */
  function sent(status = 'pending'): Promise<readonly string[]> {
    return engine.database.queryValues<string>(
      'SELECT object_id FROM webhook_delivery WHERE endpoint_id = $1 AND status = $2 ORDER BY event_id',
      [endpoint, status],
    );
  }

  async function disable(reason: 'gone' | 'failing'): Promise<void> {
    const since = new Date(engine.clock.now().getTime() - 5 * DAY_MS);
    await engine.database.query(
      'INSERT INTO webhook_failure (endpoint_id, since) VALUES ($1, $2)',
      [endpoint, since],
    );
    await engine.app
      .get(WebhookEndpointsService)
      .disable({ id: 'whd_0', endpointId: endpoint, url: URL_SENT }, reason);
  }

  it('are those recorded while it was active, whenever they are dispatched', async () => {
    const first = await create();
    await change({ is_active: false });
    await create();
    await change({ is_active: true });
    const third = await create();
    await change({ is_active: false });
    await create();
    await dispatch();
    expect(await sent()).toEqual([first, third]);
    await change({ is_active: true });
    await dispatch();
    expect(await sent()).toEqual([first, third]);
  });

  it('are those that it subscribed to when they were recorded', async () => {
    const customer = await create();
    await create('coupons');
    await change({ events: ['coupon.*'] });
    await create();
    const coupon = await create('coupons');
    await change({ events: ['coupon.*', 'customer.*'], is_active: true });
    const last = await create();
    await dispatch();
    expect(await sent()).toEqual([customer, coupon, last]);
  });

  it.each([4_000, 3_600_000])(
    'are those recorded before and after two changes, the first by a clock %d ms ahead',
    async (aheadMs) => {
      const first = await create();
      await change({ is_active: false });
      await engine.database.query(
        'UPDATE webhook_former_subscription SET until_event_id = $2 WHERE endpoint_id = $1',
        [endpoint, firstIdAt('evt', new Date(Date.now() + aheadMs))],
      );
      await change({ is_active: true });
      const second = await create();
      await change({ is_active: false });
      await create();
      await change({ is_active: true });
      await dispatch();
      expect(await sent()).toEqual([first, second]);
    },
  );

  it('change also between a name that contains a comma and two names', async () => {
    await change({ events: ['customer.created,coupon.created'] });
    await create();
    await change({ events: ['customer.created', 'coupon.created'] });
    const last = await create();
    await dispatch();
    expect(await sent()).toEqual([last]);
  });

  it('include those recorded before the engine disabled it, except after a 410', async () => {
    const first = await create();
    await disable('failing');
    await create();
    await dispatch();
    expect(await sent()).toEqual([first]);
    await change({ is_active: true });
    await create();
    await disable('gone');
    await change({ is_active: true });
    await dispatch();
    expect(await sent()).toEqual([]);
    expect(await sent('discarded')).toEqual([first]);
  });

  it.each([
    ['failing', true],
    ['gone', false],
  ] as const)(
    'are the same if it is disabled as %s while they are dispatched',
    async (reason, isSent) => {
      const first = await create();
      const commit = await openTransaction(engine.database, () => disable(reason));
      const dispatching = dispatch();
      try {
        await untilSessionsWait(engine.database);
      } finally {
        await commit();
      }
      await dispatching;
      expect(await sent()).toEqual(isSent ? [first] : []);
    },
  );

  it('are decided by former settings that are kept for as long as an event may need them', async () => {
    const kept = async () =>
      engine.database.queryValue<number>(
        'SELECT count(*)::int FROM webhook_former_subscription WHERE endpoint_id = $1',
        [endpoint],
      );
    await change({ is_active: false });
    await change({ is_active: true });
    await dispatch();
    await change({ is_active: false });
    expect(await kept()).toBe(3);
    engine.clock.set(new Date(Date.now() + DAY_MS + 60_000).toISOString());
    await change({ is_active: true });
    expect(await kept()).toBe(2);
    await dispatch();
    await change({ is_active: false });
    expect(await kept()).toBe(1);
  });
});
