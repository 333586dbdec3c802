import { CouponsService } from '../../src/modules/coupons/coupons.service';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { looksForWriters, openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const TERMS = {
  code: null,
  name: null,
  type: 'percent',
  percentOff: '10',
  amountOff: null,
  currency: null,
  duration: 'once',
  durationInMonths: null,
  maxRedemptions: null,
  redeemBy: null,
  planIds: [],
  metadata: {},
} as const;

describe('the registration of a webhook endpoint', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function register(): Promise<string> {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'https://example.com/hooks', events: ['coupon.*'] });
    expect(created.status).toBe(201);
    return (created.body as { id: string }).id;
  }

  async function couponIds(): Promise<readonly string[]> {
    const { body } = await engine.http.get('/v1/coupons?limit=100');
    return (body as { data: { id: string }[] }).data.map(({ id }) => id);
  }

  async function sentTo(endpoint: string): Promise<readonly string[]> {
    await engine.app.get(EventDispatcher).runDue();
    return engine.database.queryValues<string>(
      'SELECT object_id FROM webhook_delivery WHERE endpoint_id = $1',
      [endpoint],
    );
  }

  it('is answered when what was being written can be read, so that list and events are complete', async () => {
    let coupon = '';
    const commit = await openTransaction(engine.database, async () => {
      coupon = (await engine.app.get(CouponsService).create(TERMS)).id;
    });
    const answered: string[] = [];
    const looks = await looksForWriters(engine.databaseUrl);
    const registering = register().then(async (endpoint) => {
      answered.push(endpoint);
      return { endpoint, listed: await couponIds() };
    });
    try {
      await until(
        'the registration waits or was answered',
        async () => answered.length > 0 || (await looks()),
      );
      if (answered.length > 0) await registering;
    } finally {
      await commit();
    }
    const { endpoint, listed } = await registering;
    const sent = await sentTo(endpoint);
    expect([...listed, ...sent].filter((id) => id === coupon)).toEqual([coupon]);
  });
});
