import type { Test } from 'supertest';
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

const PATH = '/v1/webhooks/endpoints';
const ENDPOINT = { url: 'https://example.com/hooks', events: ['coupon.*'] };

/** Ends the sessions of a database, except those that wait in an open transaction. */
const END_SESSIONS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = $1 AND state IS DISTINCT FROM 'idle in transaction'`;

describe('what a webhook endpoint gets from a change of its settings on', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function register(events = ['coupon.*'], headers = {}): Promise<string> {
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .set(headers)
      .send({ url: 'https://example.com/hooks', events });
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

  /** As {@link change}, of version 1. A repetition is refused, because the first request has created version 2. */
  async function changeFirstVersion(endpoint: string, fields: object): Promise<string> {
    const path = `/v1/webhooks/endpoints/${endpoint}`;
    const changed = await engine.http.patch(path).set('If-Match', '"1"').send(fields);
    expect([200, 412]).toContain(changed.status);
    return endpoint;
  }

  const changes: readonly [string, () => Promise<() => Promise<string>>][] = [
    [
      'a registration',
      () => {
        const key = newId('key');
        return Promise.resolve(() => register(['coupon.*'], { 'Idempotency-Key': key }));
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
    [
      'a subscription with If-Match',
      async () => {
        const endpoint = await register(['invoice.*']);
        return () => changeFirstVersion(endpoint, { events: ['coupon.created'] });
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

  async function prepareChange({ http }: TestApp): Promise<() => Test> {
    const { body } = await http.post(PATH).send(ENDPOINT);
    const path = `${PATH}/${(body as { id: string }).id}`;
    return () =>
      http
        .patch(path)
        .set('If-Match', '"1"')
        .send({ events: ['customer.*'] });
  }

  const waiting: readonly [string, string, (app: TestApp) => Promise<() => Test>][] = [
    ['a change', 'customer.*', prepareChange],
    [
      'a repeated change with If-Match',
      'customer.*',
      async (app) => {
        const send = await prepareChange(app);
        await send().expect(200);
        return send;
      },
    ],
    [
      'a repeated registration',
      'coupon.*',
      async ({ http }) => {
        const send = () => http.post(PATH).set('Idempotency-Key', 'repeated').send(ENDPOINT);
        await send().expect(201);
        return send;
      },
    ],
  ];

  it.each(waiting)(
    'is answered as unknown if the database fails while the response to %s waits',
    async (_, events, prepare) => {
      const database = await createTestDatabase();
      const other = await startTestApp({ databaseUrl: database.url });
      try {
        const send = await prepare(other);
        const commit = await openTransaction(other.database, () =>
          other.app.get(CouponsService).create(TERMS),
        );
        try {
          const looks = await looksForWriters(database.url);
          const answered = send().then(({ status, body }) => ({ status, body: body as object }));
          await until('the request waits', looks);
          await database.accept(false);
          await engine.database.query(END_SESSIONS, [new URL(database.url).pathname.slice(1)]);
          expect(await answered).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } });
        } finally {
          await database.accept(true);
          await commit();
        }
        const list = async () => (await other.http.get(PATH)).body as object;
        await until('the database answers', async () => 'data' in (await list()));
        expect(await list()).toMatchObject({ data: [{ events: [events] }] });
      } finally {
        await other.close();
        await database.drop();
      }
    },
  );

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
