import { Client } from 'pg';
import { CouponsService } from '../../src/modules/coupons/coupons.service';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { newId } from '../../src/platform/ids';
import { Outbox } from '../../src/platform/outbox';
import { createTestDatabase } from '../support/databases';
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

describe('what a webhook endpoint gets from a change of its settings on', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function register(headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .set(headers)
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

  async function change(endpoint: string, fields: object): Promise<string> {
    await engine.http.patch(`/v1/webhooks/endpoints/${endpoint}`).send(fields).expect(200);
    return endpoint;
  }

  const changes: readonly [string, () => Promise<() => Promise<string>>][] = [
    [
      'a registration',
      () => {
        const key = newId('key');
        return Promise.resolve(() => register({ 'Idempotency-Key': key }));
      },
    ],
    [
      'an activation',
      async () => {
        const endpoint = await change(await register(), { is_active: false });
        return () => change(endpoint, { is_active: true });
      },
    ],
    [
      'a subscription',
      async () => {
        const endpoint = await change(await register(), { events: ['invoice.*'] });
        return () => change(endpoint, { events: ['invoice.*', 'coupon.created'] });
      },
    ],
  ];

  it.each(changes)(
    'completes a list that is read after a repetition of %s, while the first request still waits',
    async (_, prepare) => {
      const begin = await prepare();
      let coupon = '';
      const commit = await openTransaction(engine.database, async () => {
        coupon = (await engine.app.get(CouponsService).create(TERMS)).id;
      });
      const waits = jest.spyOn(engine.app.get(Outbox), 'waitForUncommittedEvents');
      const before = waits.mock.calls.length;
      let first: Promise<string> | undefined;
      let second: Promise<{ endpoint: string; listed: readonly string[] }> | undefined;
      const answered: string[] = [];
      try {
        first = begin();
        await until('the first request waits', () => waits.mock.calls.length === before + 1);
        second = begin().then(async (endpoint) => {
          answered.push(endpoint);
          return { endpoint, listed: await couponIds() };
        });
        await until(
          'the second request waits or was answered',
          () => answered.length > 0 || waits.mock.calls.length === before + 2,
        );
        if (answered.length > 0) await second;
      } finally {
        await commit();
      }
      await first;
      waits.mockRestore();
      const { endpoint, listed } = await second;
      const sent = await sentTo(endpoint);
      expect([...listed, ...sent].filter((id) => id === coupon)).toEqual([coupon]);
    },
  );

  it.each(changes)(
    'completes a list that is read after %s, because the response waits for what is being written',
    async (_, prepare) => {
      const begin = await prepare();
      let coupon = '';
      const commit = await openTransaction(engine.database, async () => {
        coupon = (await engine.app.get(CouponsService).create(TERMS)).id;
      });
      const answered: string[] = [];
      const looks = await looksForWriters(engine.databaseUrl);
      const beginning = begin().then(async (endpoint) => {
        answered.push(endpoint);
        return { endpoint, listed: await couponIds() };
      });
      try {
        await until(
          'the request waits or was answered',
          async () => answered.length > 0 || (await looks()),
        );
        if (answered.length > 0) await beginning;
      } finally {
        await commit();
      }
      const { endpoint, listed } = await beginning;
      const sent = await sentTo(endpoint);
      expect([...listed, ...sent].filter((id) => id === coupon)).toEqual([coupon]);
    },
  );

  it('is answered as unknown if the database fails while the response waits', async () => {
    const database = await createTestDatabase();
    const other = await startTestApp({ databaseUrl: database.url });
    const server = new Client({ connectionString: engine.databaseUrl });
    await server.connect();
    try {
      const created = await other.http
        .post('/v1/webhooks/endpoints')
        .send({ url: 'https://example.com/hooks', events: ['coupon.*'] });
      const path = `/v1/webhooks/endpoints/${(created.body as { id: string }).id}`;
      const commit = await openTransaction(other.database, () =>
        other.app.get(CouponsService).create(TERMS),
      );
      const looks = await looksForWriters(database.url);
      const answered = other.http
        .patch(path)
        .set('If-Match', '"1"')
        .send({ events: ['customer.*'] })
        .then(({ status, body }) => ({ status, code: (body as { code: string }).code }));
      await until('the change waits', looks);
      await database.accept(false);
      await server.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
        [new URL(database.url).pathname.slice(1)],
      );
      const outcome = await answered;
      await database.accept(true);
      await commit().catch(() => undefined);
      expect(outcome).toEqual({ status: 503, code: 'outcome_unknown' });
      const read = async () => (await other.http.get(path)).body as object;
      await until('the database answers', async () => 'events' in (await read()));
      expect(await read()).toMatchObject({ events: ['customer.*'] });
    } finally {
      await server.end();
      await other.close();
      await database.drop();
    }
  });

  it('leaves out later events only: a transaction that began before a deactivation is sent', async () => {
    const endpoint = await register();
    let coupon = '';
    const commit = await openTransaction(engine.database, async () => {
      coupon = (await engine.app.get(CouponsService).create(TERMS)).id;
    });
    try {
      await change(endpoint, { is_active: false });
    } finally {
      await commit();
    }
    await engine.app.get(CouponsService).create(TERMS);
    expect(await sentTo(endpoint)).toEqual([coupon]);
  });
});
