import { OutcomeUnknownError } from '../../src/platform/database';
import { rateLimitAddress, RateLimits } from '../../src/platform/rate-limits';
import { startTestApp, type TestApp } from '../support/test-app';

const BOOTSTRAP = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const ENVIRONMENT = {
  AUTH: 'required',
  BOOTSTRAP_API_KEY: BOOTSTRAP,
  RATE_LIMIT_PER_MINUTE: '5',
  RATE_LIMIT_USAGE_PER_MINUTE: '3',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '4',
};

describe('rate limits', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: ENVIRONMENT });
  });

  beforeEach(() => engine.clock.advanceMs(60_000));

  afterAll(() => engine.close());

  function get(path = '/v1/customers', secret = BOOTSTRAP, app = engine) {
    return app.http.get(path).set('Authorization', `Bearer ${secret}`);
  }

  async function statuses(count: number, request: () => PromiseLike<{ status: number }>) {
    const all: number[] = [];
    for (let index = 0; index < count; index += 1) all.push((await request()).status);
    return all;
  }

  it('refuse a key that has used up its minute, until the next one', async () => {
    const first = await get();
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"default";q=5;w=60',
      ratelimit: expect.stringMatching(/^"default";r=4;t=\d+$/) as string,
    });
    expect(await statuses(4, () => get())).toEqual([200, 200, 200, 200]);
    const refused = await get();
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: 'rate_limited' });
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(refused.headers['ratelimit']).toBe(`"default";r=0;t=${seconds}`);
    engine.clock.advanceMs(seconds * 1_000);
    expect((await get()).status).toBe(200);
  });

  it('count usage apart', async () => {
    const report = () =>
      engine.http.post('/v1/usage-events').set('Authorization', `Bearer ${BOOTSTRAP}`).send({});
    expect(await statuses(4, report)).toEqual([400, 400, 400, 429]);
    expect((await get()).status).toBe(200);
  });

  it('of a key replace the default limits', async () => {
    const created = await engine.http
      .post('/v1/api-keys')
      .set('Authorization', `Bearer ${BOOTSTRAP}`)
      .send({
        name: 'Own limits',
        scopes: ['customers:read', 'usage:write'],
        requests_per_minute: 7,
        usage_requests_per_minute: 1,
      });
    const { id, secret } = created.body as { id: string; secret: string };
    expect(created.body).toMatchObject({ requests_per_minute: 7, usage_requests_per_minute: 1 });
    const mine = () => get('/v1/customers', secret);
    const report = () =>
      engine.http.post('/v1/usage-events').set('Authorization', `Bearer ${secret}`).send({});
    expect(await statuses(8, mine)).toEqual([...Array<number>(7).fill(200), 429]);
    expect(await statuses(2, report)).toEqual([400, 429]);
    const lower = await engine.http
      .patch(`/v1/api-keys/${id}`)
      .set('Authorization', `Bearer ${BOOTSTRAP}`)
      .send({ requests_per_minute: 2, usage_requests_per_minute: null });
    expect(lower.body).toMatchObject({ requests_per_minute: 2, usage_requests_per_minute: null });
    engine.clock.advanceMs(60_000);
    expect(await statuses(3, mine)).toEqual([200, 200, 429]);
    expect(await statuses(4, report)).toEqual([400, 400, 400, 429]);
    expect((await mine()).headers['ratelimit-policy']).toBe('"default";q=2;w=60');
  });

  it('of a key apply also if the default is no limit, and cannot exceed the ceiling', async () => {
    const { databaseUrl } = engine;
    const send = (app: TestApp, requests_per_minute: number) =>
      app.http
        .post('/v1/api-keys')
        .set('Authorization', `Bearer ${BOOTSTRAP}`)
        .send({ name: 'K', scopes: ['customers:read'], requests_per_minute });
    const environment = { AUTH: 'required', RATE_LIMIT_KEY_CEILING: '3' };
    const unlimited = await startTestApp({ databaseUrl, environment });
    const before = await send(engine, 100);
    try {
      const above = await send(unlimited, 4);
      expect([above.status, above.body]).toEqual([
        422,
        expect.objectContaining({ code: 'limit_above_ceiling', limit: 3 }),
      ]);
      const { secret } = (await send(unlimited, 2)).body as { secret: string };
      expect(await statuses(3, () => get('/v1/customers', secret, unlimited))).toEqual([
        200, 200, 429,
      ]);
      // A ceiling that was lowered holds for keys with greater limits too.
      const { id, secret: greater } = before.body as { id: string; secret: string };
      expect(await statuses(4, () => get('/v1/customers', greater, unlimited))).toEqual([
        200, 200, 200, 429,
      ]);
      const change = (body: object) =>
        unlimited.http
          .patch(`/v1/api-keys/${id}`)
          .set('Authorization', `Bearer ${BOOTSTRAP}`)
          .send(body);
      expect((await change({ name: 'Renamed' })).status).toBe(200);
      expect((await change({ name: 'Again', requests_per_minute: 100 })).status).toBe(200);
      expect((await change({ requests_per_minute: 99 })).status).toBe(422);
      const none = await send(unlimited, 0);
      expect(none.status).toBe(400);
    } finally {
      await unlimited.close();
    }
  });

  it("of a customer token are a tenth of its issuer's present limit, counted for each token", async () => {
    const send = (path: string, body: object, secret = BOOTSTRAP) =>
      engine.http.post(path).set('Authorization', `Bearer ${secret}`).send(body).expect(201);
    const customer = (await send('/v1/customers', { name: 'Ada' })).body as { id: string };
    const created = await send('/v1/api-keys', {
      name: 'Portal',
      scopes: ['customers:write', 'entitlements:read'],
      requests_per_minute: 12,
    });
    const key = created.body as { id: string; secret: string };
    const issue = async (secret: string) => {
      const path = `/v1/customers/${customer.id}/tokens`;
      const { body } = await send(path, { scopes: ['entitlements:read'] }, secret);
      return (body as { token: string }).token;
    };
    const read = (token: string) => get(`/v1/customers/${customer.id}/entitlements`, token);
    const token = await issue(key.secret);
    const other = await issue(key.secret);
    expect((await read(token)).headers['ratelimit-policy']).toBe('"default";q=2;w=60');
    expect(await statuses(2, () => read(token))).toEqual([200, 429]);
    expect(await statuses(3, () => read(other))).toEqual([200, 200, 429]);
    await engine.http
      .patch(`/v1/api-keys/${key.id}`)
      .set('Authorization', `Bearer ${BOOTSTRAP}`)
      .send({ requests_per_minute: 5 })
      .expect(200);
    engine.clock.advanceMs(60_000);
    expect(await statuses(2, () => read(token))).toEqual([200, 429]);
    const policy = (await read(await issue(BOOTSTRAP))).headers['ratelimit-policy'];
    expect(policy).toBe('"default";q=1;w=60');
  });

  it('count requests without a valid credential by address, and never refuse a valid one for it', async () => {
    const wrong = () => get('/v1/customers', 'wrong');
    expect(await statuses(5, wrong)).toEqual([401, 401, 401, 401, 429]);
    expect((await engine.http.get('/v1/customers')).status).toBe(429);
    expect((await get()).status).toBe(200);
    expect((await engine.http.get('/health/live')).status).toBe(200);
  });

  it('count refused requests with a session cookie by address', async () => {
    const forged = () =>
      engine.http.post('/v1/customers').set('Cookie', 'billing_session=x').send({});
    expect(await statuses(5, forged)).toEqual([403, 403, 403, 403, 429]);
  });

  it('apply across processes once these have shared their counts', async () => {
    const other = await startTestApp({
      environment: ENVIRONMENT,
      databaseUrl: engine.databaseUrl,
    });
    try {
      other.clock.set(engine.clock.now().toISOString());
      expect(await statuses(3, () => get())).toEqual([200, 200, 200]);
      expect(await statuses(2, () => get('/v1/customers', BOOTSTRAP, other))).toEqual([200, 200]);
      await engine.app.get(RateLimits).share();
      await other.app.get(RateLimits).share();
      expect((await get('/v1/customers', BOOTSTRAP, other)).status).toBe(429);
    } finally {
      await other.close();
    }
  });

  it('apply across processes beside one whose clock is ahead', async () => {
    const start = () => startTestApp({ environment: ENVIRONMENT, databaseUrl: engine.databaseUrl });
    const [other, ahead] = [await start(), await start()];
    try {
      const [row] = await engine.database.query<{ now: Date }>('SELECT now()');
      const now = row?.now ?? new Date(0);
      for (const { clock } of [engine, other]) clock.set(now.toISOString());
      ahead.clock.set(new Date(now.getTime() + 3_600_000).toISOString());
      const all: number[] = [];
      for (let second = 0; second < 5; second += 1) {
        for (const app of [engine, other]) {
          all.push(...(await statuses(1, () => get('/v1/customers', BOOTSTRAP, app))));
        }
        await get('/v1/customers', BOOTSTRAP, ahead);
        for (const { app } of [engine, other, ahead]) await app.get(RateLimits).share();
      }
      // One request more, because a process does not know at once what another one has admitted.
      expect([5, 6]).toContain(all.filter((status) => status === 200).length);
    } finally {
      await other.close();
      await ahead.close();
      await engine.database.query('DELETE FROM rate_limit_count');
    }
  });

  it('share a count once when two exchanges overlap', async () => {
    expect(await statuses(2, () => get())).toEqual([200, 200]);
    const limits = engine.app.get(RateLimits);
    await Promise.all([limits.share(), limits.share()]);
    const rows = await engine.database.query<{ count: string }>(
      `SELECT request_count AS count FROM rate_limit_count
       WHERE bucket LIKE 'default:%' ORDER BY window_start DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ count: '2' }]);
  });

  it('are counted without the database', async () => {
    await engine.database.query('ALTER TABLE rate_limit_count RENAME TO absent');
    try {
      expect((await get()).status).toBe(200);
      await engine.app.get(RateLimits).share();
      expect(await statuses(5, () => get())).toEqual([200, 200, 200, 200, 429]);
    } finally {
      await engine.database.query('ALTER TABLE absent RENAME TO rate_limit_count');
    }
  });

  describe('of strangers', () => {
    /** Sends a request of each address. Returns whether the last one is refused. */
    function isRefused(...addresses: readonly string[]): boolean {
      const limits = engine.app.get(RateLimits);
      const taken = addresses.map((address) =>
        limits.take(`address:${rateLimitAddress(address)}`, 4),
      );
      return taken.at(-1)?.isExceeded ?? false;
    }

    const networks = (count: number, addressOf: (group: string) => string) =>
      Array.from({ length: count }, (_, index) => addressOf(index.toString(16)));

    it('let addresses in although one host uses all networks of its /48', () => {
      expect(isRefused('2001:db8:2::1')).toBe(false);
      expect(isRefused(...networks(65_536, (group) => `2001:db8:1:${group}::1`))).toBe(true);
      expect(isRefused('203.0.113.7')).toBe(false);
      expect(isRefused('2001:db8:3::1')).toBe(false);
      expect(isRefused('2001:db8:2::1')).toBe(false);
    });

    it('let IPv4 addresses in although one host uses very many IPv6 networks', () => {
      expect(isRefused(...networks(65_536, (group) => `2001:db8:${group}::1`))).toBe(true);
      expect(isRefused('203.0.113.7')).toBe(false);
    });

    it('count an IPv6 address apart however many keys send requests', () => {
      const limits = engine.app.get(RateLimits);
      for (let key = 0; key < 26_000; key += 1) limits.take(`default:key_${key}`, 4);
      const neighbours = networks(5, (group) => `2001:db8:1:${group}::1`);
      expect(isRefused(...neighbours, '2001:db8:1:9::1')).toBe(false);
      expect(isRefused('203.0.113.7')).toBe(false);
    });

    it('count usage by address apart from keys, by the same rules', () => {
      const limits = engine.app.get(RateLimits);
      const take = (address: string) =>
        limits.take(`usage-address:${rateLimitAddress(address)}`, 4);
      for (const address of networks(65_536, (group) => `2001:db8:1:${group}::1`)) take(address);
      expect(take('2001:db8:1:ffff::1').isExceeded).toBe(true);
      expect(take('203.0.113.7').isExceeded).toBe(false);
      expect(take('2001:db8:3::1').isExceeded).toBe(false);
    });

    it('are shared by IPv4 addresses once too many are counted, but not with keys', async () => {
      const addresses = Array.from({ length: 26_000 }, (_, at) => `10.1.${at >> 8}.${at % 256}`);
      expect(isRefused(...addresses)).toBe(true);
      expect((await get()).status).toBe(200);
    });
  });

  it('count usage by address where no credential is required', async () => {
    const open = await startTestApp({ environment: { RATE_LIMIT_USAGE_PER_MINUTE: '3' } });
    try {
      const { headers } = await open.http.post('/v1/usage-events').send({});
      expect(headers['ratelimit-policy']).toBe('"usage";q=3;w=60');
      await open.app.get(RateLimits).share();
      const rows = await open.database.query<{ bucket: string }>(
        'SELECT bucket FROM rate_limit_count',
      );
      expect(rows).toEqual([{ bucket: 'usage-address:127.0.0.1' }]);
    } finally {
      await open.close();
    }
  });

  it('are off by default where no credential is required', async () => {
    const open = await startTestApp();
    try {
      const { status, headers } = await open.http.get('/v1/customers');
      expect([status, headers['ratelimit']]).toEqual([200, undefined]);
    } finally {
      await open.close();
    }
  });

  it('count requests once if the answer to an exchange is lost', async () => {
    const counts = engine.app.get(RateLimits);
    const { database } = engine;
    const query = database.query.bind(database);
    const exchange = jest.spyOn(database, 'query').mockImplementationOnce(async (...add) => {
      await query(...add);
      throw new OutcomeUnknownError(new Error('Connection terminated unexpectedly'));
    });
    for (let sent = 0; sent < 5; sent += 1) counts.take('default:lost', 10);
    await counts.share();
    exchange.mockRestore();
    await counts.share();
    expect(counts.take('default:lost', 10)).toMatchObject({ isExceeded: false, remaining: 4 });
  });
});
