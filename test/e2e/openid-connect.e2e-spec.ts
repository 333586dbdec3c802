import type { Response } from 'supertest';
import { checkedClient } from '../support/checked-client';
import { createAdmin, pageOf } from '../support/admins';
import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { captureLog, contentsOfTables } from '../support/leaks';
import { CLIENT, type OpenIdAnswer, OpenIdServer, type Person } from '../support/openid-server';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const PUBLIC_URL = 'https://billing.example.com';
const BEGIN = '/v1/session/oidc';
const CALLBACK = '/v1/session/oidc/callback';

const ADA: Person = { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };

describe('signing in with OpenID Connect', () => {
  let provider: OpenIdServer;
  let engine: TestApp;
  let creating: TestApp;
  const urls = new Map<TestApp, string>();

  const settings = (environment: Readonly<Record<string, string>> = {}) => ({
    ...WITH_KEYS,
    PUBLIC_URL,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_ALLOWED_DOMAINS: 'example.com, example.org',
    OIDC_ALLOW_PRIVATE_NETWORKS: 'true',
    ...environment,
  });

  async function start(options: Parameters<typeof startTestApp>[0]): Promise<TestApp> {
    const app = await startTestApp(options);
    urls.set(app, await app.app.getUrl());
    return app;
  }

  beforeAll(async () => {
    // The provider warns that it is not set up for production.
    for (const method of ['warn', 'info'] as const) {
      jest.spyOn(console, method).mockImplementation(() => undefined);
    }
    provider = await OpenIdServer.start(`${PUBLIC_URL}${CALLBACK}`);
    engine = await start({ environment: settings() });
    creating = await start({
      databaseUrl: engine.databaseUrl,
      environment: settings({
        OIDC_UNKNOWN_ADMINS: 'create',
        OIDC_ROLE_CLAIM: 'groups',
        OIDC_ROLES: 'owners=owner, staff=admin, guests=viewer',
      }),
    });
  });

  afterAll(async () => {
    jest.restoreAllMocks();
    await creating.close();
    await engine.close();
    await provider.close();
  });

  beforeEach(() => {
    provider.forged = null;
    provider.signsWithOtherKey = false;
    provider.hasNewKey = false;
    provider.publishesBothKeys = false;
    provider.omitsKid = false;
    provider.changes = {};
    provider.held = null;
    provider.person = ADA;
  });

  const owner = bearing(BOOTSTRAP_KEY);
  const http = (app: TestApp) => checkedClient(urls.get(app) ?? '');

  function cookieOf({ headers }: Response, name: string): string | undefined {
    const cookies = (headers['set-cookie'] ?? []) as unknown as readonly string[];
    return cookies.find((cookie) => cookie.replace('__Secure-', '').startsWith(`${name}=`));
  }

  interface Begun {
    readonly location: string;
    readonly cookie: string;
  }

  async function begin(app = engine, query = ''): Promise<Begun> {
    const answer = await http(app).get(`${BEGIN}${query}`).redirects(0);
    expect(answer.status).toBe(303);
    const cookie = cookieOf(answer, 'billing_openid')?.split(';', 1)[0] ?? '';
    return { location: answer.headers['location'] ?? '', cookie };
  }

  function finish(query: string, cookie: string, app = engine) {
    return http(app).get(`${CALLBACK}?${query}`).set('Cookie', cookie).redirects(0);
  }

  /** Signs the person in, and returns the answer to its browser. */
  async function signIn(person: Person, app = engine, query = ''): Promise<Response> {
    provider.person = person;
    const { location, cookie } = await begin(app, query);
    return finish(await provider.authorize(location), cookie, app);
  }

  function problem({ status, body }: Response): readonly unknown[] {
    const { code, reason } = body as { readonly code?: string; readonly reason?: string };
    return reason === undefined ? [status, code] : [status, code, reason];
  }

  /** Expects that a browser is redirected to the console with the reason why a sign-in failed. */
  async function expectShown(app: TestApp, path: string, reason: string): Promise<void> {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const answer = await http(app).get(path).set('Accept', accept).redirects(0);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(`/studio/?sign_in_error=${reason}`);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(cookieOf(answer, 'billing_session')).toBeUndefined();
  }

  async function countOf(table: string): Promise<number> {
    const [row] = await engine.database.query<{ count: string }>(`SELECT count(*) FROM ${table}`);
    return Number(row?.count);
  }

  it('leads to the provider with state, nonce and a PKCE challenge, which a sealed cookie keeps', async () => {
    const answer = await http(engine).get(BEGIN).redirects(0);
    const url = new URL(answer.headers['location'] ?? '');
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT.id,
      redirect_uri: `${PUBLIC_URL}${CALLBACK}`,
      response_type: 'code',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const cookie = cookieOf(answer, 'billing_openid') ?? '';
    expect(cookie).toMatch(
      /^__Secure-billing_openid=v1:test:[\w-]+; Max-Age=600; Path=\/v1\/session\/oidc; /,
    );
    expect(cookie).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toContain(url.searchParams.get('state'));
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('begins a session of the admin with the verified email', async () => {
    const { id } = await createAdmin(engine, 'support', 'Grace@example.com');
    const person = { email: 'grace@EXAMPLE.com', email_verified: true, name: 'Other' };
    const answer = await signIn(person, engine, '?return_to=/docs%3Fa=b');
    expect([answer.status, answer.headers['location']]).toEqual([303, '/docs?a=b']);
    expect(cookieOf(answer, 'billing_session')).toMatch(/; HttpOnly; Secure; SameSite=Strict$/);
    expect(cookieOf(answer, 'billing_openid')).toContain('Expires=Thu, 01 Jan 1970');
    const { body } = await http(engine).get('/v1/session').set('Cookie', pageOf(answer).Cookie);
    const { id: sessionId } = body as { readonly id: string };
    // The name and the role are those of the account.
    expect(body).toMatchObject({ admin: { id, role: 'support', name: 'support' } });
    const [event] = await eventsOf(engine, sessionId);
    expect(event?.data.object).toMatchObject({ admin_id: id, method: 'openid_connect' });
    const audit = await http(engine).get('/v1/audit-log?operation=finishOpenIdSignIn').set(owner);
    expect((audit.body as { data: readonly object[] }).data).toEqual([
      expect.objectContaining({ actor: { id, type: 'admin' } }),
    ]);
  });

  it('sets secure cookies, also behind a proxy that sends a Host of loopback', async () => {
    await createAdmin(engine, 'admin', 'proxied@example.com');
    const signedIn = pageOf(await signIn({ ...ADA, email: 'proxied@example.com' }));
    expect(signedIn.Cookie).toMatch(/^__Secure-billing_session=/);
    const session = await http(engine).get('/v1/session').set('Cookie', signedIn.Cookie);
    const { csrf_token: csrf } = session.body as { readonly csrf_token: string };
    const page = { ...signedIn, 'X-CSRF-Token': csrf, Origin: PUBLIC_URL };
    const created = await http(engine).post('/v1/customers').set(page).send({ name: 'Grace' });
    expect(created.status).toBe(201);
    // Somebody in the network can plant a cookie without the prefix.
    const planted = { Cookie: signedIn.Cookie.replace('__Secure-', '') };
    expect(problem(await http(engine).get('/v1/customers').set(planted))).toEqual([
      401,
      'unauthenticated',
      'missing',
    ]);
  });

  it('sets cookies without TLS if browsers reach the service on loopback', async () => {
    const local = await start({
      databaseUrl: engine.databaseUrl,
      environment: settings({ PUBLIC_URL: 'http://localhost:3000' }),
    });
    const { cookie } = await begin(local);
    expect(cookie).toMatch(/^billing_openid=/);
    await local.close();
  });

  it('needs no second factor of this service, also where one is required', async () => {
    await createAdmin(engine, 'viewer', 'eve@example.com');
    const require = (second_factor_required: boolean) =>
      http(engine).patch('/v1/studio-settings').set(owner).send({ second_factor_required });
    await require(true).expect(200);
    const answer = await signIn({ ...ADA, email: 'eve@example.com' });
    const customers = await http(engine).get('/v1/customers').set('Cookie', pageOf(answer).Cookie);
    expect(customers.status).toBe(200);
    await createAdmin(engine, 'support', 'sue@example.com');
    const support = pageOf(await signIn({ ...ADA, email: 'sue@example.com' }));
    const session = await http(engine).get('/v1/session').set('Cookie', support.Cookie);
    const { csrf_token: csrf } = session.body as { readonly csrf_token: string };
    const page = { ...support, 'X-CSRF-Token': csrf };
    const created = await http(engine).post('/v1/customers').set(page).send({ name: 'Grace' });
    const { id } = created.body as { readonly id: string };
    const issued = await http(engine).post(`/v1/customers/${id}/tokens`).set(page).send({});
    const { token } = issued.body as { readonly token: string };
    const read = await http(engine).get(`/v1/customers/${id}/entitlements`).set(bearing(token));
    expect(read.status).toBe(200);
    await require(false).expect(200);
  });

  describe('of unknown people', () => {
    it('is refused by default', async () => {
      const before = await countOf('studio_admin');
      const answer = await signIn({ ...ADA, email: 'new@example.com' });
      expect(problem(answer)).toEqual([403, 'openid_admin_refused', 'unknown_admin']);
      expect(cookieOf(answer, 'billing_session')).toBeUndefined();
      expect(await countOf('studio_admin')).toBe(before);
    });

    it('creates an account without a password, with the role of the claim, once', async () => {
      const person = { ...ADA, email: 'created@example.com', groups: ['guests', 'staff'] };
      provider.person = person;
      const begun = [await begin(creating), await begin(creating)];
      const queries: string[] = [];
      for (const { location } of begun) queries.push(await provider.authorize(location));
      const answers = await Promise.all(
        begun.map(({ cookie }, index) => finish(queries[index] ?? '', cookie, creating)),
      );
      expect(answers.map(({ status }) => status)).toEqual([303, 303]);
      const { body } = await http(engine).get('/v1/studio?limit=100').set(owner);
      const made = (body as { data: { email: string }[] }).data.filter(
        ({ email }) => email === 'created@example.com',
      );
      expect(made).toEqual([
        expect.objectContaining({
          role: 'admin',
          name: 'Ada Lovelace',
          password_scheme: 'none',
          password_changed_at: null,
        }),
      ]);
      const { id = '' } = made[0] as { id?: string };
      const events = await http(engine).get(`/v1/events?object_id=${id}`).set(owner);
      expect(events.body).toMatchObject({ data: [{ actor: id }] });
      for (const password of ['', 'x']) {
        const refused = await http(engine)
          .post('/v1/session')
          .send({ email: 'created@example.com', password: password || 'none' });
        expect(problem(refused)).toEqual([401, 'sign_in_failed']);
      }
    });
  });

  it.each([
    ['a long name that ends in an emoji', `${'x'.repeat(199)}😀y`, `${'x'.repeat(199)}😀`],
    ['a NUL character', 'Ada\u0000 Lovelace', 'Ada Lovelace'],
    ['half a surrogate pair', 'Ada \ud83d', 'Ada \ufffd'],
  ])('accepts a name with %s', async (what, name, expected) => {
    const email = `${what.replaceAll(' ', '-')}@example.com`;
    const answer = await signIn({ ...ADA, email, name, groups: ['staff'] }, creating);
    expect(answer.status).toBe(303);
    const { Cookie } = pageOf(answer);
    const { body } = await http(engine).get('/v1/session').set({ Cookie });
    expect(body).toMatchObject({ admin: { name: expected } });
  });

  it('changes the role to that of the claim, but leaves an owner', async () => {
    const { id } = await createAdmin(engine, 'owner', 'boss@example.com');
    const person = { ...ADA, email: 'boss@example.com', groups: ['guests'] };
    const roleNow = async () =>
      ((await http(engine).get(`/v1/studio/${id}`).set(owner)).body as { role: string }).role;
    expect((await signIn(person, creating)).status).toBe(303);
    expect(await roleNow()).toBe('owner');
    await createAdmin(engine, 'owner');
    const demoted = await signIn(person, creating);
    expect(await roleNow()).toBe('viewer');
    const refused = await http(engine).get('/v1/studio').set('Cookie', pageOf(demoted).Cookie);
    expect(problem(refused)).toEqual([403, 'forbidden']);
    expect((await eventsOf(engine, id)).at(-1)?.data.previous).toEqual({ role: 'owner' });
    const without = await signIn({ ...person, groups: ['unknown'] }, creating);
    expect(problem(without)).toEqual([403, 'openid_admin_refused', 'no_role']);
  });

  it.each([
    ['an email that is not verified', { email_verified: false }, 'email_not_verified'],
    ['an email that is verified in words', { email_verified: 'true' }, 'email_not_verified'],
    ['no email', { email: undefined }, 'no_email'],
    ['an email with a NUL character', { email: 'a\u0000da@example.com' }, 'no_email'],
    ['an email with half a surrogate pair', { email: 'ada\ud83d@example.com' }, 'no_email'],
    ['a foreign domain', { email: 'ada@example.net' }, 'foreign_domain'],
    ['a subdomain', { email: 'ada@x.example.com' }, 'foreign_domain'],
  ])('is refused for %s', async (_, claims, reason) => {
    const answer = await signIn({ ...ADA, ...claims });
    expect(problem(answer)).toEqual([403, 'openid_admin_refused', reason]);
    expect(cookieOf(answer, 'billing_session')).toBeUndefined();
  });

  it('is refused for an inactive admin', async () => {
    const { id } = await createAdmin(engine, 'admin', 'left@example.com');
    await http(engine).delete(`/v1/studio/${id}`).set(owner).expect(204);
    for (const app of [engine, creating]) {
      const answer = await signIn({ ...ADA, email: 'left@example.com', groups: ['staff'] }, app);
      expect(problem(answer)).toEqual([403, 'openid_admin_refused', 'inactive_admin']);
    }
  });

  it('is accepted with an ID token that is signed again unchanged, as the forged ones are', async () => {
    provider.forged = (claims) => claims;
    const answer = await signIn(
      { ...ADA, email: 'again@example.com', groups: ['staff'] },
      creating,
    );
    expect(answer.status).toBe(303);
  });

  it.each<[string, () => void]>([
    [
      'another issuer',
      () => (provider.forged = (claims) => ({ ...claims, iss: 'https://evil.example' })),
    ],
    ['another audience', () => (provider.forged = (claims) => ({ ...claims, aud: 'other' }))],
    ['another nonce', () => (provider.forged = (claims) => ({ ...claims, nonce: 'x' }))],
    ['no nonce', () => (provider.forged = ({ nonce: _, ...claims }) => claims)],
    ['an expired time', () => (provider.forged = (claims) => ({ ...claims, exp: 1_000 }))],
    ['another subject', () => (provider.forged = (claims) => ({ ...claims, sub: 'other' }))],
    ['the signature of another key', () => (provider.signsWithOtherKey = true)],
  ])('is refused for an ID token with %s', async (_, forge) => {
    forge();
    const before = await countOf('admin_session');
    const answer = await signIn(ADA);
    expect(problem(answer)).toEqual([401, 'openid_refused']);
    expect(cookieOf(answer, 'billing_session')).toBeUndefined();
    expect(await countOf('admin_session')).toBe(before);
  });

  describe('when the keys of the provider', () => {
    const person = { ...ADA, email: 'keys@example.com' };
    let app: TestApp;

    beforeAll(() => createAdmin(engine, 'viewer', person.email));
    beforeEach(async () => {
      app = await start({ databaseUrl: engine.databaseUrl, environment: settings() });
    });
    afterEach(() => app.close());

    it.each<[string, boolean, readonly unknown[]]>([
      ['with', false, [503, 'openid_unavailable']],
      ['without', true, [401, 'openid_refused']],
    ])('change, works again after one ID token %s a key id', async (_, omitsKid, expected) => {
      provider.omitsKid = omitsKid;
      expect((await signIn(person, app)).status).toBe(303);
      provider.hasNewKey = true;
      app.clock.advanceMs(10_000);
      expect(problem(await signIn(person, app))).toEqual(expected);
      expect((await signIn(person, app)).status).toBe(303);
    });

    it('are several, refuses an ID token without a key id, and keeps the keys', async () => {
      provider.publishesBothKeys = true;
      expect((await signIn(person, app)).status).toBe(303);
      const { discoveries } = provider;
      provider.omitsKid = true;
      for (let times = 0; times < 2; times += 1) {
        expect(problem(await signIn(person, app))).toEqual([401, 'openid_refused']);
      }
      expect(provider.discoveries).toBe(discoveries);
    });

    it('change during several sign-ins, reads the new keys once', async () => {
      expect((await signIn(person, app)).status).toBe(303);
      app.clock.advanceMs(10_000);
      provider.hasNewKey = true;
      const [one, other] = [await begin(app), await begin(app)];
      const query = await provider.authorize(one.location);
      const otherQuery = await provider.authorize(other.location);
      let release = (): void => undefined;
      provider.held = new Promise((resolve) => (release = resolve));
      const { tokenRequests } = provider;
      const held = finish(otherQuery, other.cookie, app).then(problem);
      await until('a held token request', () => provider.tokenRequests > tokenRequests);
      provider.held = null;
      expect(problem(await finish(query, one.cookie, app))).toEqual([503, 'openid_unavailable']);
      await begin(app);
      const { discoveries } = provider;
      release();
      expect(await held).toEqual([503, 'openid_unavailable']);
      app.clock.advanceMs(10_000);
      await begin(app);
      expect(provider.discoveries).toBe(discoveries);
    });
  });

  describe('when an answer of the provider', () => {
    const METADATA = '/.well-known/openid-configuration';
    const person = { ...ADA, email: 'answers@example.com' };
    let app: TestApp;

    beforeAll(() => createAdmin(engine, 'viewer', person.email));
    beforeEach(async () => {
      app = await start({ databaseUrl: engine.databaseUrl, environment: settings() });
    });
    afterEach(() => app.close());

    const having = (fields: object) => (answer: OpenIdAnswer) => {
      answer.body = { ...(answer.body as object), ...fields };
    };
    const status = (code: number) => (answer: OpenIdAnswer) => {
      answer.status = code;
    };
    const fails = (error: string) => (answer: OpenIdAnswer) => {
      answer.status = 400;
      answer.body = { error };
    };
    const text = (answer: OpenIdAnswer) => {
      answer.body = 'Welcome';
    };

    it.each<[string, object]>([
      ['authorization_endpoint', { authorization_endpoint: undefined }],
      ['authorization_endpoint', { authorization_endpoint: 'not a url' }],
      ['authorization_endpoint', { authorization_endpoint: 'javascript:alert(1)' }],
      ['token_endpoint', { token_endpoint: undefined }],
      ['token_endpoint', { token_endpoint: 'ftp://provider.example/token' }],
      ['jwks_uri', { jwks_uri: {} }],
      ['userinfo_endpoint', { userinfo_endpoint: 5 }],
    ])('names an unusable %s, is unavailable until it is right: %j', async (_, fields) => {
      provider.changes = { [METADATA]: having(fields) };
      const answer = await http(app).get(BEGIN).redirects(0);
      expect(problem(answer)).toEqual([503, 'openid_unavailable']);
      provider.changes = {};
      expect((await signIn(person, app)).status).toBe(303);
    });

    const unavailable = [503, 'openid_unavailable'];
    const refused = [401, 'openid_refused'];
    const unusableKeys = (answer: OpenIdAnswer) => {
      const { keys } = answer.body as { readonly keys: readonly object[] };
      answer.body = { keys: keys.map((key) => ({ ...key, n: '!!' })) };
    };

    const moved = (answer: OpenIdAnswer) => {
      having({ token_endpoint: `${provider.issuer}/moved` })(answer);
    };

    it.each<[string, string, (answer: OpenIdAnswer) => void, readonly unknown[], number?]>([
      ['with keys that cannot be read', '/jwks', unusableKeys, unavailable],
      ['with keys fails', '/jwks', status(500), unavailable],
      ['with keys has none', '/jwks', having({ keys: null }), unavailable],
      ['with tokens fails', '/token', status(500), unavailable],
      ['with tokens is empty', '/token', status(204), unavailable],
      ['with tokens refuses the client', '/token', fails('invalid_client'), refused],
      ['with tokens refuses its use', '/token', fails('unauthorized_client'), refused],
      ['with tokens knows no codes', '/token', fails('unsupported_grant_type'), refused],
      ['with tokens refuses the code', '/token', fails('invalid_grant'), refused, 0],
      ['with tokens is a rate limit', '/token', status(429), unavailable, 0],
      ['with claims is a rate limit', '/me', status(429), unavailable, 0],
      ['with tokens is not JSON', '/token', text, unavailable],
      ['with tokens has no ID token', '/token', having({ id_token: 5 }), unavailable],
      ['with claims fails', '/me', status(500), unavailable],
      ['with claims is about another person', '/me', having({ sub: 'other' }), refused],
      ['with metadata names a wrong address', METADATA, moved, unavailable],
    ])('%s, reads doubtful metadata again', async (_, path, change, expected, reads = 1) => {
      provider.changes = { [path]: change };
      expect(problem(await signIn(person, app))).toEqual(expected);
      const { discoveries } = provider;
      await begin(app);
      expect(provider.discoveries).toBe(discoveries);
      provider.changes = {};
      app.clock.advanceMs(10_000);
      expect((await signIn(person, app)).status).toBe(303);
      expect(provider.discoveries).toBe(discoveries + reads);
    });
  });

  it.each([
    [
      'an error of the provider',
      (query: URLSearchParams) => {
        query.delete('code');
        query.set('error', 'access_denied');
      },
    ],
    ['another code', (query: URLSearchParams) => query.set('code', 'x')],
    ['no code', (query: URLSearchParams) => query.delete('code')],
    [
      'an ID token instead of a code',
      (query: URLSearchParams) => {
        query.delete('code');
        query.set('id_token', 'x');
      },
    ],
    ['another issuer', (query: URLSearchParams) => query.set('iss', 'https://evil.example')],
  ])('is refused for a redirect back with %s, and keeps the metadata', async (_, change) => {
    const { location, cookie } = await begin();
    const { discoveries } = provider;
    const query = new URLSearchParams(await provider.authorize(location));
    change(query);
    expect(problem(await finish(query.toString(), cookie))).toEqual([401, 'openid_refused']);
    await begin();
    expect(provider.discoveries).toBe(discoveries);
  });

  it('is finished once, by the browser that began it, in ten minutes', async () => {
    await createAdmin(engine, 'viewer', 'ada@example.com');
    const expired = [401, 'openid_expired'];
    const mine = await begin();
    const query = await provider.authorize(mine.location);
    const requests = provider.tokenRequests;
    const other = await begin();
    expect(problem(await finish(query, ''))).toEqual(expired);
    expect(problem(await finish(query, other.cookie))).toEqual(expired);
    expect(problem(await finish(query, '__Secure-billing_openid=v1:test:AAAA'))).toEqual(expired);
    expect(problem(await finish('', mine.cookie))).toEqual(expired);
    expect(provider.tokenRequests).toBe(requests);
    const answers = await Promise.all(
      [engine, creating, engine].map((app) => finish(query, mine.cookie, app)),
    );
    const finished = answers.filter(({ status }) => status === 303);
    const refused = answers.filter(({ status }) => status !== 303);
    expect(finished.length + refused.filter(({ status }) => status === 403).length).toBe(1);
    expect(refused.filter(({ status }) => status === 401).map(problem)).toEqual([expired, expired]);
    expect(problem(await finish(query, mine.cookie))).toEqual(expired);
    expect(provider.tokenRequests).toBe(requests + 1);

    const late = await begin();
    const lateQuery = await provider.authorize(late.location);
    engine.clock.advanceMs(600_000);
    expect(problem(await finish(lateQuery, late.cookie))).toEqual(expired);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'docs', '/a b', ''])(
    'does not return to %j',
    async (path) => {
      const answer = await http(engine).get(BEGIN).query({ return_to: path }).redirects(0);
      expect(problem(answer)).toEqual([400, 'validation_failed']);
    },
  );

  it('is not offered without the settings, and unavailable without the provider', async () => {
    const off = await start({ databaseUrl: engine.databaseUrl, environment: WITH_KEYS });
    const unreachable = await start({
      databaseUrl: engine.databaseUrl,
      environment: settings({ OIDC_ISSUER: 'http://127.0.0.1:9' }),
    });
    const misnamed = await start({
      databaseUrl: engine.databaseUrl,
      environment: settings({ OIDC_ISSUER: provider.issuer.replace('127.0.0.1', 'localhost') }),
    });
    for (const path of [BEGIN, `${CALLBACK}?code=x&state=y`]) {
      const answer = await http(off).get(path).redirects(0);
      expect(problem(answer)).toEqual([404, 'openid_disabled']);
    }
    for (const app of [unreachable, misnamed]) {
      const answer = await http(app).get(BEGIN).redirects(0);
      expect(problem(answer)).toEqual([503, 'openid_unavailable']);
      await expectShown(app, BEGIN, 'openid_unavailable');
    }
    await expectShown(off, BEGIN, 'openid_disabled');
    await expectShown(engine, `${CALLBACK}?code=x&state=y`, 'openid_expired');
    for (const app of [off, unreachable, misnamed]) await app.close();
  });

  it('calls no provider in a private network unless it is allowed', async () => {
    const app = await start({
      databaseUrl: engine.databaseUrl,
      environment: settings({
        OIDC_ISSUER: provider.issuer.replace('http:', 'https:'),
        OIDC_ALLOW_PRIVATE_NETWORKS: 'false',
      }),
    });
    const log = captureLog();
    const answer = await http(app).get(BEGIN).redirects(0);
    log.stop();
    expect(problem(answer)).toEqual([503, 'openid_unavailable']);
    await app.close();
  });

  it('leaves no secret in the database, the answers or the log', async () => {
    const log = captureLog();
    const begun = await begin();
    const query = new URLSearchParams(await provider.authorize(begun.location));
    provider.forged = (claims) => ({ ...claims, aud: 'other' });
    const answer = await finish(query.toString(), begun.cookie);
    const contents = await contentsOfTables(engine);
    const hidden = [CLIENT.secret, query.get('code') ?? '', begun.cookie.split(':').at(-1) ?? ''];
    for (const text of [contents, log.text(), answer.text]) {
      for (const secret of hidden) {
        expect(secret.length).toBeGreaterThan(20);
        expect(text).not.toContain(secret);
      }
    }
    log.stop();
  });
});
