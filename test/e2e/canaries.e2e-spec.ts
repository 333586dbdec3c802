import { hash } from '@node-rs/argon2';
import { codeAt, type PageHeaders, pageOf } from '../support/admins';
import { captureLog, contentsOfTables, type CapturedLog } from '../support/leaks';
import { startTestApp, type TestApp } from '../support/test-app';

const BOOTSTRAP = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const PASSWORD_HASH =
  '$argon2id$v=19$m=65536,t=3,p=4$Y2FuYXJ5c2FsdA$Q2FuYXJ5SGFzaE9mUGFzc3dvcmRWYWx1ZQ';
const PASSWORD = 'canary passphrase 77c1e05b';
const COOKIE = 'canary-cookie-3f9a1b7c5d2e';
const PROVIDER_TOKEN = 'canary-provider-token-8d41c2';
const TOKEN = { scopes: ['invoices:read'] };
const WRONG_KEY = 'canary-wrong-key-5b7e9a3c1d';

/** Plants secrets wherever the service receives or makes one, and searches everything that it writes for them. */
describe('planted secrets', () => {
  let engine: TestApp;
  let log: CapturedLog;
  /** Everything that was answered, except the one answer that hands out each secret. */
  const answers: string[] = [];
  const secrets = new Map<string, string>([
    ['bootstrap key', BOOTSTRAP],
    ['password hash', PASSWORD_HASH],
    ['cookie', COOKIE],
    ['provider token', PROVIDER_TOKEN],
    ['wrong key', WRONG_KEY],
    ['encryption key', Buffer.alloc(32, 1).toString('base64')],
  ]);

  beforeAll(async () => {
    log = captureLog();
    engine = await startTestApp({
      environment: {
        AUTH: 'required',
        BOOTSTRAP_API_KEY: BOOTSTRAP,
        LOG_LEVEL: 'trace',
        PAYMENT_PROVIDERS: 'sandbox,manual',
      },
    });
    await plant();
  });

  afterAll(async () => {
    await engine.close();
    log.stop();
  });

  async function send(
    method: 'get' | 'post' | 'patch',
    path: string,
    body?: object | string,
    { key = BOOTSTRAP, isSecret = false } = {},
  ): Promise<Readonly<Record<string, string>>> {
    const answer = await engine.uncheckedHttp[method](path)
      .set('Authorization', `Bearer ${key}`)
      .set('Cookie', `session=${COOKIE}`)
      .set('Content-Type', 'application/json')
      .send(body);
    const [route = ''] = path.split('?', 1);
    const shown = `${method} ${route} ${answer.status} ${JSON.stringify(answer.headers)} ${answer.text}`;
    if (!isSecret) answers.push(shown);
    return answer.body as Readonly<Record<string, string>>;
  }

  async function issue(name: string, path: string, body?: object): Promise<string> {
    const method = path.endsWith('/secret') ? 'get' : 'post';
    const answer = await send(method, path, body, { isSecret: true });
    const secret = answer['secret'] ?? answer['token'] ?? '';
    if (secret.length <= 20)
      throw new Error(`${path} answered no secret: ${JSON.stringify(answer)}`);
    secrets.set(name, secret);
    return answer['id'] ?? '';
  }

  async function plant(): Promise<void> {
    const id = await issue('API key', '/v1/api-keys', { name: 'Canary', scopes: ['*'] });
    await issue('rolled API key', `/v1/api-keys/${id}/roll`, { overlap_seconds: 60 });
    const hook = { url: 'https://example.com/hook', events: ['*'] };
    const endpoint = (await send('post', '/v1/webhooks/endpoints', hook))['id'] ?? '';
    await issue('webhook secret', `/v1/webhooks/endpoints/${endpoint}/secret`);
    await issue('rotated webhook secret', `/v1/webhooks/endpoints/${endpoint}/rotate-secret`, {});
    const customer = (await send('post', '/v1/customers', { name: 'Ada' }))['id'] ?? '';
    await issue('customer token', `/v1/customers/${customer}/tokens`, TOKEN);
    const admin = { email: 'ada@example.com', name: 'Ada', passwordHash: PASSWORD_HASH };
    await send('post', '/v1/studio', admin);
    await send('post', '/v1/studio', admin);
    await send('post', '/v1/studio', { ...admin, email: 7 });
    await send('post', '/v1/studio', { ...admin, [PASSWORD_HASH]: PASSWORD_HASH }.name);
    await send('post', '/v1/studio', `{"passwordHash": "${PASSWORD_HASH}"`);
    await plantSession();
    await send('get', `/v1/customers/${customer}/entitlements`, undefined, {
      key: secrets.get('customer token') ?? '',
    });
    await send('get', '/v1/customers', undefined, { key: secrets.get('customer token') ?? '' });
    const method = { provider: 'sandbox', token: PROVIDER_TOKEN, is_default: true };
    await send('post', `/v1/customers/${customer}/payment-methods`, method);
    await send('get', '/v1/customers', undefined, { key: WRONG_KEY });
    await send('get', `/v1/customers?key=${secrets.get('API key') ?? ''}`);
    await send('get', '/v1/customers', undefined, { key: secrets.get('rolled API key') ?? '' });
    await failWith('studio_admin', () =>
      send('post', '/v1/studio', { ...admin, email: 'b@example.com' }),
    );
    await failWith('api_key', () => send('post', '/v1/api-keys', { name: 'X', scopes: ['*'] }));
    for (const path of [
      '/v1/api-keys',
      '/v1/studio',
      '/v1/events?limit=100',
      '/v1/audit-log?limit=100',
      '/v1/audit-log/export',
      '/v1/webhooks/endpoints',
      `/v1/customers/${customer}/payment-methods`,
      '/metrics',
      '/openapi.json',
    ]) {
      await send('get', path);
    }
  }

  /** Signs an admin in with a second factor, and uses the session. */
  async function plantSession(): Promise<void> {
    const email = 'grace@example.com';
    const passwordHash = await hash(PASSWORD);
    await send('post', '/v1/studio', { email, name: 'Grace', passwordHash });
    secrets.set('password', PASSWORD);
    secrets.set('hash of that password', passwordHash);
    const credentials = { email, password: PASSWORD };
    await signIn({ email, password: `${PASSWORD}!` });
    const page = pageOf(await signIn(credentials));
    secrets.set('session', page.Cookie.split('=')[1] ?? '');
    secrets.set('CSRF token', page['X-CSRF-Token']);
    const act = (path: string, body: object) => onPage(page, path, body);
    const { secret } = (await act('/v1/second-factor', {})).body as {
      secret: string;
    };
    secrets.set('secret of the second factor', secret);
    const code = codeAt(secret, engine.clock.now());
    const confirmed = await act('/v1/second-factor/confirm', { totp_code: code });
    const { recovery_codes: codes } = confirmed.body as { recovery_codes: readonly string[] };
    codes.forEach((recovery, index) => secrets.set(`recovery code ${index}`, recovery));
    await signIn({ ...credentials, recovery_code: codes[0] });
    const shown = await engine.uncheckedHttp.get('/v1/sessions').set(page);
    answers.push(`get /v1/sessions ${shown.status} ${shown.text}`);
    await send('get', '/v1/sessions', undefined, { key: secrets.get('session') ?? '' });
  }

  const signIn = (body: object) =>
    engine.uncheckedHttp.post('/v1/session').set('Sec-Fetch-Site', 'same-origin').send(body);

  const onPage = (page: PageHeaders, path: string, body: object) =>
    engine.uncheckedHttp.post(path).set(page).send(body);

  /** Makes a request fail in the database, whose errors carry the parameters of the statement. */
  async function failWith(table: string, request: () => Promise<object>): Promise<void> {
    await engine.database.query(`ALTER TABLE ${table} RENAME TO absent`);
    try {
      await request();
    } finally {
      await engine.database.query(`ALTER TABLE absent RENAME TO ${table}`);
    }
  }

  function found(text: string): readonly string[] {
    return [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);
  }

  it('are planted, and requests succeed, are refused and fail', () => {
    const statuses = new Set(answers.map((answer) => answer.split(' ')[2]));
    expect([...statuses]).toEqual(
      expect.arrayContaining(['200', '201', '400', '401', '409', '500']),
    );
    expect(secrets.size).toBe(26);
    expect([...secrets.values()].filter((secret) => secret.length < 8)).toEqual([]);
  });

  it('are in no log line', () => {
    expect(log.text().length).toBeGreaterThan(1_000);
    expect(found(log.text())).toEqual([]);
  });

  it('are in no answer but the one that hands them out: lists, events, audit log, metrics, errors', () => {
    expect(answers.filter((answer) => found(answer).length > 0)).toEqual([]);
  });

  it('are not in the database, except password hashes in their table', async () => {
    expect(found(await contentsOfTables(engine, 'studio_admin'))).toEqual([]);
    expect(found(await contentsOfTables(engine))).toEqual([
      'password hash',
      'hash of that password',
    ]);
  });
});
