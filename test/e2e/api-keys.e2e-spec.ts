import { runCommand } from '../support/command';
import { startTestApp, eventsOf, type TestApp } from '../support/test-app';

const SECRET_FORM = /^sk_live_[0-9A-Za-z]{49}$/;
const BOOTSTRAP = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

interface Key {
  readonly id: string;
  readonly secret: string;
  readonly scopes: readonly string[];
}

/** Waits until the cached credentials of the process are read again. */
const CACHE_MS = 1_000;

describe('API keys', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { AUTH: 'required', BOOTSTRAP_API_KEY: BOOTSTRAP },
    });
  });

  afterAll(() => engine.close());

  function call(method: 'get' | 'post' | 'patch' | 'delete', path: string, secret = BOOTSTRAP) {
    return engine.http[method](path).set('Authorization', `Bearer ${secret}`);
  }

  async function createKey(scopes: readonly string[], secret = BOOTSTRAP): Promise<Key> {
    const { status, body } = await call('post', '/v1/api-keys', secret).send({ name: 'K', scopes });
    expect(status).toBe(201);
    return body as Key;
  }

  it('are created with a secret that one answer alone contains', async () => {
    const { status, body, headers } = await call('post', '/v1/api-keys').send({
      name: 'Checkout',
      scopes: ['usage:write', 'customers:read'],
      expires_at: '2040-01-01T00:00:00Z',
    });
    expect(status).toBe(201);
    expect(headers['etag']).toBe('"1"');
    const { secret, ...shown } = body as Key;
    expect(secret).toMatch(SECRET_FORM);
    expect(shown).toMatchObject({
      prefix: 'sk_live_',
      last_four: secret.slice(-4),
      scopes: ['usage:write', 'customers:read'],
      expires_at: '2040-01-01T00:00:00.000Z',
      revoked_at: null,
    });
    const read = await call('get', `/v1/api-keys/${shown.id}`);
    expect(read.body).toEqual(shown);
    const dump = await engine.database.query('SELECT k::text FROM api_key k');
    const events = await eventsOf(engine, shown.id);
    expect(events.map(({ type }) => type)).toEqual(['api_key.created']);
    expect(JSON.stringify([dump, events])).not.toContain(secret.slice(8));
  });

  it('let their holder do what their scopes allow, and nothing else', async () => {
    const { secret } = await createKey(['customers:read']);
    expect((await call('get', '/v1/customers', secret)).status).toBe(200);
    const refused = await call('post', '/v1/customers', secret).send({ name: 'Ada' });
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({ code: 'forbidden', required_scope: 'customers:write' }),
    ]);
    const rows = await engine.database.query('SELECT 1 FROM customer');
    expect(rows).toEqual([]);
  });

  it('are read from HTTP basic authentication as the user name', async () => {
    const { secret } = await createKey(['customers:read']);
    const answer = await engine.http.get('/v1/customers').auth(secret, 'ignored');
    expect(answer.status).toBe(200);
    const foreign = await engine.http
      .get('/v1/customers')
      .auth(secret, '')
      .set('Sec-Fetch-Site', 'cross-site');
    expect([foreign.status, foreign.body]).toEqual([
      403,
      expect.objectContaining({
        code: 'cross_site_request',
        detail: expect.stringContaining('HTTP basic authentication') as string,
      }),
    ]);
  });

  it.each([
    ['no credential', undefined, 'missing'],
    ['an empty one', 'Bearer ', 'malformed'],
    ['another scheme', 'Digest abc', 'malformed'],
    ['a short one', 'Bearer sk_live_abc', 'malformed'],
    ['a mistyped one', `Bearer sk_live_${'0'.repeat(49)}`, 'malformed'],
    ['basic without a name', `Basic ${Buffer.from(':x').toString('base64')}`, 'malformed'],
    ['an unknown one', `Bearer ${BOOTSTRAP.replace('9', '8')}`, 'unknown'],
    ['two', `Bearer ${BOOTSTRAP} ${BOOTSTRAP}`, 'malformed'],
  ])('are needed: %s is 401', async (_, authorization, reason) => {
    const request = engine.http.get('/v1/customers');
    const answer = await (authorization === undefined
      ? request
      : request.set('Authorization', authorization));
    expect([answer.status, answer.body]).toEqual([
      401,
      expect.objectContaining({ code: 'unauthenticated', reason }),
    ]);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="billing"/);
  });

  it('are needed for unknown paths too, before a body is read', async () => {
    const unknown = await engine.uncheckedHttp.get('/v1/nothing');
    expect(unknown.status).toBe(401);
    const unread = await engine.uncheckedHttp
      .post('/v1/customers')
      .set('Content-Type', 'application/json')
      .send('{ not json');
    expect(unread.status).toBe(401);
  });

  it('are not needed for health, the documentation and its document', async () => {
    for (const path of ['/health/live', '/health/ready', '/docs', '/openapi.json']) {
      expect((await engine.uncheckedHttp.get(path)).status).toBe(200);
    }
    expect((await engine.uncheckedHttp.get('/metrics')).status).toBe(401);
    expect((await call('get', '/metrics')).status).toBe(200);
  });

  it('stop at their expiry', async () => {
    const expiresAt = new Date(engine.clock.now().getTime() + 60_000);
    const created = await call('post', '/v1/api-keys').send({
      name: 'Short',
      scopes: ['customers:read'],
      expires_at: expiresAt.toISOString(),
    });
    const { secret } = created.body as Key;
    expect((await call('get', '/v1/customers', secret)).status).toBe(200);
    engine.clock.advanceMs(60_000);
    const late = await call('get', '/v1/customers', secret);
    expect([late.status, late.body]).toEqual([401, expect.objectContaining({ reason: 'expired' })]);
    // An expiry that does not change need not be in the future.
    const { id } = created.body as Key;
    const change = { name: 'Old', expires_at: expiresAt.toISOString() };
    const renamed = await call('patch', `/v1/api-keys/${id}`).send(change);
    expect([renamed.status, renamed.body]).toEqual([200, expect.objectContaining(change)]);
  });

  it.each([
    ['in the past', { expires_at: '2020-01-01T00:00:00Z' }, 422, 'expiry_not_in_future'],
    ['without scopes', { scopes: [] }, 400, 'validation_failed'],
    ['with an unknown scope', { scopes: ['money:print'] }, 400, 'validation_failed'],
    ['with a scope twice', { scopes: ['usage:read', 'usage:read'] }, 400, 'validation_failed'],
    ['without a name', { name: '' }, 400, 'validation_failed'],
  ])('cannot be created %s', async (_, fields, status, code) => {
    const answer = await call('post', '/v1/api-keys').send({
      name: 'K',
      scopes: ['usage:read'],
      ...fields,
    });
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ code: code })]);
  });

  it('cannot hand out, take over or lose scopes that their holder lacks', async () => {
    const { secret } = await createKey(['keys:write', 'keys:read', 'usage:write']);
    const strong = await createKey(['refunds:write']);
    const attempts = [
      call('post', '/v1/api-keys', secret).send({ name: 'K', scopes: ['refunds:write'] }),
      call('post', '/v1/api-keys', secret).send({ name: 'K', scopes: ['*'] }),
      call('post', `/v1/api-keys/${strong.id}/roll`, secret).send({}),
      call('patch', `/v1/api-keys/${strong.id}`, secret).send({ scopes: ['usage:write'] }),
    ];
    for (const attempt of attempts) {
      const { status, body } = await attempt;
      expect([status, body]).toEqual([403, expect.objectContaining({ code: 'scope_not_held' })]);
    }
    await createKey(['usage:write'], secret);
    expect((await call('delete', `/v1/api-keys/${strong.id}`, secret)).status).toBe(204);
  });

  it('are changed at once in this process', async () => {
    const { id, secret } = await createKey(['customers:read']);
    expect((await call('get', '/v1/customers', secret)).status).toBe(200);
    const changed = await call('patch', `/v1/api-keys/${id}`).send({ scopes: ['plans:read'] });
    expect(changed.status).toBe(400);
    const second = await call('patch', `/v1/api-keys/${id}`).send({ scopes: ['usage:read'] });
    expect([second.status, second.headers['etag']]).toEqual([200, '"2"']);
    expect((await call('get', '/v1/customers', secret)).status).toBe(403);
    const same = await call('patch', `/v1/api-keys/${id}`).send({ scopes: ['usage:read'] });
    expect(same.headers['etag']).toBe('"2"');
    const stale = await call('patch', `/v1/api-keys/${id}`).set('If-Match', '"1"').send({});
    expect(stale.status).toBe(412);
    const types = (await eventsOf(engine, id)).map(({ type }) => type);
    expect(types).toEqual(['api_key.created', 'api_key.updated']);
  });

  it('are rolled: the former secret works until the overlap ends', async () => {
    const { id, secret } = await createKey(['customers:read']);
    const rolled = await call('post', `/v1/api-keys/${id}/roll`).send({ overlap_seconds: 600 });
    expect(rolled.status).toBe(200);
    const { secret: next } = rolled.body as Key;
    expect(next).toMatch(SECRET_FORM);
    expect(next).not.toBe(secret);
    for (const one of [secret, next]) {
      expect((await call('get', '/v1/customers', one)).status).toBe(200);
    }
    const again = await call('post', `/v1/api-keys/${id}/roll`).send({});
    expect([again.status, again.body]).toEqual([
      409,
      expect.objectContaining({ code: 'api_key_rolling' }),
    ]);
    engine.clock.advanceMs(600_000);
    expect((await call('get', '/v1/customers', secret)).body).toMatchObject({ reason: 'expired' });
    expect((await call('get', '/v1/customers', next)).status).toBe(200);

    const atOnce = await call('post', `/v1/api-keys/${id}/roll`).send({ overlap_seconds: 0 });
    expect((await call('get', '/v1/customers', next)).body).toMatchObject({ reason: 'unknown' });
    const { secret: last } = atOnce.body as Key;
    expect((await call('get', '/v1/customers', last)).status).toBe(200);
    const types = (await eventsOf(engine, id)).map(({ type }) => type);
    expect(types).toEqual(['api_key.created', 'api_key.rolled', 'api_key.rolled']);
  });

  it('are revoked for good; a second revocation changes nothing', async () => {
    const { id, secret } = await createKey(['customers:read']);
    expect((await call('get', '/v1/customers', secret)).status).toBe(200);
    expect((await call('delete', `/v1/api-keys/${id}`)).status).toBe(204);
    const refused = await call('get', '/v1/customers', secret);
    expect([refused.status, refused.body]).toEqual([
      401,
      expect.objectContaining({ reason: 'revoked' }),
    ]);
    expect((await call('delete', `/v1/api-keys/${id}`)).status).toBe(204);
    for (const attempt of [
      call('patch', `/v1/api-keys/${id}`).send({ name: 'Back' }),
      call('post', `/v1/api-keys/${id}/roll`).send({}),
    ]) {
      const { status, body } = await attempt;
      expect([status, body]).toEqual([409, expect.objectContaining({ code: 'api_key_revoked' })]);
    }
    const types = (await eventsOf(engine, id)).map(({ type }) => type);
    expect(types).toEqual(['api_key.created', 'api_key.revoked']);
    const { body } = await call('get', `/v1/api-keys/${id}`);
    expect(body).toMatchObject({ revoked_at: expect.any(String) });
  });

  it('are created once by two requests with one idempotency key, which both get the secret', async () => {
    const request = () =>
      call('post', '/v1/api-keys')
        .set('Idempotency-Key', 'one-key')
        .send({ name: 'Once', scopes: ['usage:read'] });
    const answers = await Promise.all([request(), request()]);
    const secrets = answers.map(({ body }) => (body as Key).secret);
    expect(secrets[0]).toMatch(SECRET_FORM);
    expect(secrets[1]).toBe(secrets[0]);
    const kept = await engine.database.query('SELECT answer_body FROM idempotency_key');
    expect(JSON.stringify(kept)).not.toContain(secrets[0]);
  });

  it('repeat a secret only to a caller that still has the scopes of the key', async () => {
    const { id, secret } = await createKey(['*']);
    const child = await createKey(['refunds:write'], secret);
    const send = (path: string, body: object) =>
      call('post', path, secret).set('Idempotency-Key', path).send(body);
    const create = () => send('/v1/api-keys', { name: 'K', scopes: ['*'] });
    const roll = () => send(`/v1/api-keys/${child.id}/roll`, {});
    for (const request of [create, roll]) {
      const { body } = await request();
      expect((body as Key).secret).toMatch(SECRET_FORM);
      expect((await request()).body).toEqual(body);
    }
    const change = (scopes: readonly string[]) =>
      call('patch', `/v1/api-keys/${id}`).send({ scopes }).expect(200);
    await change(['keys:write']);
    for (const [request, scope] of [
      [create, '*'],
      [roll, 'refunds:write'],
    ] as const) {
      const { status, body } = await request();
      const refusal = { code: 'scope_not_held', required_scope: scope };
      expect([status, body]).toEqual([403, expect.objectContaining(refusal)]);
      expect(body).not.toHaveProperty('secret');
    }
    await change(['*']);
    expect((await create()).headers['idempotent-replayed']).toBe('true');
  });

  it('record their last use once a minute in each process', async () => {
    const { databaseUrl } = engine;
    const other = await startTestApp({ databaseUrl, environment: { AUTH: 'required' } });
    const { id, secret } = await createKey(['customers:read']);
    const lastUsed = async () =>
      ((await call('get', `/v1/api-keys/${id}`)).body as { last_used_at: string | null })
        .last_used_at;
    const used = async (expected: string) => {
      const until = performance.now() + 5_000;
      while ((await lastUsed()) !== expected && performance.now() < until);
      expect(await lastUsed()).toBe(expected);
    };
    const first = engine.clock.now().toISOString();
    await call('get', '/v1/customers', secret);
    await used(first);
    engine.clock.advanceMs(59_000);
    await call('get', '/v1/customers', secret);
    const second = engine.clock.now().toISOString();
    other.clock.set(second);
    await other.http.get('/v1/customers').set('Authorization', `Bearer ${secret}`).expect(200);
    await used(second);
    engine.clock.advanceMs(1_000);
    const third = engine.clock.now().toISOString();
    await call('get', '/v1/customers', secret);
    await used(third);
    await other.close();
  });

  it('are never answered with 304, because their last use changes within a version', async () => {
    const { id, secret } = await createKey(['customers:read']);
    const path = `/v1/api-keys/${id}`;
    const { etag = '' } = (await call('get', path)).headers;
    await call('get', '/v1/customers', secret);
    const again = await call('get', path).set('If-None-Match', etag);
    expect([again.status, again.headers['etag'], again.body]).toMatchObject([200, etag, { id }]);
    const renamed = call('patch', path).set('If-Match', etag).send({ name: 'Renamed' });
    expect((await renamed).status).toBe(200);
  });

  it('are listed newest first, without secrets', async () => {
    const { id } = await createKey(['usage:read']);
    const { body } = await call('get', '/v1/api-keys?limit=1');
    expect(body).toMatchObject({ data: [{ id }] });
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it('have each scope that a command names once', async () => {
    const words = ['create', '--name', 'K', '--scopes', 'usage:write, usage:read, usage:write'];
    const { stdout } = await runCommand('keys', words, { databaseUrl: engine.databaseUrl });
    const { body } = await call('get', `/v1/api-keys/${stdout.split(' ', 1)[0] ?? ''}`);
    expect(body).toMatchObject({ scopes: ['usage:write', 'usage:read'] });
  });

  it('include the bootstrap key, which is stored once and stays revoked', async () => {
    const { databaseUrl } = engine;
    const environment = { AUTH: 'required', BOOTSTRAP_API_KEY: `${BOOTSTRAP.slice(0, -1)}7` };
    const count = () =>
      engine.database.query(`SELECT revoked_at FROM api_key WHERE created_by = 'bootstrap'`);
    const before = (await count()).length;
    const second = await startTestApp({ databaseUrl, environment });
    expect(await count()).toHaveLength(before + 1);
    const third = await startTestApp({ databaseUrl, environment });
    expect(await count()).toHaveLength(before + 1);
    await Promise.all([second.close(), third.close()]);
  });

  describe('of the setting BOOTSTRAP_API_KEY', () => {
    const startWithKey = () =>
      startTestApp({ environment: { AUTH: 'required', BOOTSTRAP_API_KEY: BOOTSTRAP } });

    /** Rolls the only key for each overlap. Returns its last secret. */
    async function roll(app: TestApp, ...overlaps: readonly number[]): Promise<string> {
      let secret = BOOTSTRAP;
      for (const overlap of overlaps) {
        const authorized = { Authorization: `Bearer ${secret}` };
        const { body } = await app.http.get('/v1/api-keys').set(authorized).expect(200);
        const [key] = (body as { data: readonly Key[] }).data;
        const rolled = await app.http
          .post(`/v1/api-keys/${key?.id ?? ''}/roll`)
          .set(authorized)
          .send({ overlap_seconds: overlap })
          .expect(200);
        ({ secret } = rolled.body as Key);
      }
      return secret;
    }

    const forgetFirstSecret = ({ database }: TestApp) =>
      database.query('UPDATE api_key SET bootstrap_hash = NULL');

    /** Starts another process with the setting. Returns the status of requests with each secret. */
    async function restart(
      { databaseUrl }: TestApp,
      setting: string,
      secrets: readonly string[],
    ): Promise<readonly number[]> {
      const environment = { AUTH: 'required', BOOTSTRAP_API_KEY: setting };
      const restarted = await startTestApp({ databaseUrl, environment });
      const statuses: number[] = [];
      for (const secret of secrets) {
        const authorized = { Authorization: `Bearer ${secret}` };
        statuses.push((await restarted.http.get('/v1/customers').set(authorized)).status);
      }
      await restarted.close();
      return statuses;
    }

    const OTHER = `${BOOTSTRAP.slice(0, -1)}6`;
    const THIRD = `${BOOTSTRAP.slice(0, -1)}5`;

    it.each([
      ['without an overlap', [0]],
      ['twice, the second time with an overlap', [0, 600]],
    ])('are not stored again after they were rolled %s', async (_, overlaps) => {
      const first = await startWithKey();
      const secret = await roll(first, ...overlaps);
      expect(await restart(first, BOOTSTRAP, [BOOTSTRAP, secret])).toEqual([401, 200]);
      expect(await restart(first, OTHER, [BOOTSTRAP, secret, OTHER])).toEqual([401, 200, 200]);
      await first.close();
    });

    it('are not stored if an earlier release may have rolled a key with this secret', async () => {
      const first = await startWithKey();
      const secret = await roll(first, 0);
      await forgetFirstSecret(first);
      expect(await restart(first, BOOTSTRAP, [BOOTSTRAP, secret])).toEqual([401, 200]);
      expect(await restart(first, OTHER, [OTHER, secret])).toEqual([401, 200]);
      await first.close();
    });

    it('are stored beside a key that the previous release stored and did not roll', async () => {
      const first = await startWithKey();
      await forgetFirstSecret(first);
      expect(await restart(first, OTHER, [BOOTSTRAP, OTHER])).toEqual([200, 200]);
      const changed = `UPDATE api_key SET bootstrap_hash = NULL, version = 2 WHERE prefix = ''`;
      await first.database.query(changed);
      expect(await restart(first, THIRD, [BOOTSTRAP, OTHER, THIRD])).toEqual([200, 200, 200]);
      await first.close();
    });

    it.each([
      ['without an overlap', [0]],
      ['twice', [600, 0]],
    ])(
      'are not stored if they were secrets of another key that was rolled %s',
      async (_, overlaps) => {
        const first = await startWithKey();
        const send = async (path: string, body: object): Promise<Key> => {
          const authorized = { Authorization: `Bearer ${BOOTSTRAP}` };
          return (await first.http.post(path).set(authorized).send(body)).body as Key;
        };
        const { id, secret } = await send('/v1/api-keys', {
          name: 'K',
          scopes: ['customers:read'],
        });
        expect(await restart(first, secret, [secret])).toEqual([200]);
        const former: string[] = [];
        let current = secret;
        for (const overlap_seconds of overlaps) {
          former.push(current);
          current = (await send(`/v1/api-keys/${id}/roll`, { overlap_seconds })).secret;
        }
        for (const setting of former) {
          expect(await restart(first, setting, [...former, current])).toEqual([
            ...former.map(() => 401),
            200,
          ]);
        }
        await first.close();
      },
    );

    it('are remembered when a key that the previous release stored is rolled', async () => {
      const first = await startWithKey();
      await forgetFirstSecret(first);
      const secret = await roll(first, 0, 0);
      expect(await restart(first, BOOTSTRAP, [BOOTSTRAP, secret])).toEqual([401, 200]);
      expect(await restart(first, OTHER, [OTHER, secret])).toEqual([200, 200]);
      await first.close();
    });
  });

  it('that are revoked in one process are refused by another within a second', async () => {
    const { databaseUrl } = engine;
    const other = await startTestApp({ databaseUrl, environment: { AUTH: 'required' } });
    const { id, secret } = await createKey(['customers:read']);
    const ask = () => other.http.get('/v1/customers').set('Authorization', `Bearer ${secret}`);
    expect((await ask()).status).toBe(200);
    await call('delete', `/v1/api-keys/${id}`);
    const revokedAt = performance.now();
    for (;;) {
      // A busy machine may answer late what it has decided in time.
      const askedAt = performance.now();
      if ((await ask()).status !== 200) break;
      expect(askedAt).toBeLessThan(revokedAt + CACHE_MS);
    }
    await other.close();
  });
});
