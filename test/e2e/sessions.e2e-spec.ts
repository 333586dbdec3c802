import type { Response } from 'supertest';
import { ExpiredSessions } from '../../src/modules/sessions/expired-sessions';
import { SessionsService } from '../../src/modules/sessions/sessions.service';
import { SignInAttemptsRepository } from '../../src/modules/sessions/sign-in-attempts.repository';
import { AdminAccounts, Passwords } from '../../src/modules/studio';
import { SystemClock } from '../../src/platform/clock/clock';
import type { ConcurrencyLimiter } from '../../src/platform/concurrency';
import { ClockCheck } from '../../src/platform/processes';
import { captureLog, contentsOfTables } from '../support/leaks';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const KEY = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const PASSWORD = 'correct horse battery staple';
/** Floor of OWASP. */
const HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$YmlsbGluZy1leGFtcGxlMQ$R8pB2ZXruHAl61vV5cDeGAOywi9y2ggJpckbuEcK6kY';
const COST_BOMB = HASH.replace('m=19456', 'm=1048576');
const HOUR_MS = 3_600_000;

type Role = 'owner' | 'admin' | 'support' | 'viewer';

interface Session {
  readonly cookie: string;
  readonly csrf: string;
  readonly id: string;
}

describe('sessions', () => {
  let engine: TestApp;
  let count = 0;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { AUTH: 'required', BOOTSTRAP_API_KEY: KEY } });
  });

  afterAll(() => engine.close());

  beforeEach(() => engine.database.query('DELETE FROM sign_in_attempt'));

  const withKey = (method: 'get' | 'post' | 'patch' | 'delete', path: string) =>
    engine.uncheckedHttp[method](path).set('Authorization', `Bearer ${KEY}`);

  async function createAdmin(role: Role = 'owner', passwordHash = HASH) {
    count += 1;
    const email = `admin${count}@example.com`;
    const admin = { email, name: 'Ada', role, passwordHash };
    const { status, body } = await withKey('post', '/v1/studio').send(admin);
    expect(status).toBe(201);
    return { email, id: (body as { id: string }).id };
  }

  /** Without a cookie jar, so that each request says which session it belongs to. */
  function trySignIn(email: string, password = PASSWORD, app = engine) {
    return app.uncheckedHttp.post('/v1/session').send({ email, password });
  }

  function cookieOf({ headers }: Response): string {
    const [cookie = ''] = headers['set-cookie'] as unknown as readonly string[];
    return cookie.split(';', 1)[0] ?? '';
  }

  async function signIn(email: string, app = engine): Promise<Session> {
    const answer = await trySignIn(email, PASSWORD, app);
    expect(answer.status).toBe(201);
    const { id, csrf_token: csrf } = answer.body as { id: string; csrf_token: string };
    return { id, csrf, cookie: cookieOf(answer) };
  }

  function as(session: Session, method: 'get' | 'post' | 'patch' | 'delete', path: string) {
    const request = engine.uncheckedHttp[method](path)
      .set('Cookie', session.cookie)
      .set('Sec-Fetch-Site', 'same-origin');
    return method === 'get' ? request : request.set('X-CSRF-Token', session.csrf);
  }

  it('begin with email and password, and are the credential of later requests', async () => {
    const { email, id } = await createAdmin('viewer');
    const answer = await engine.http
      .post('/v1/session')
      .send({ email: email.toUpperCase(), password: PASSWORD });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^sess_/),
      admin: { id, email, name: 'Ada', role: 'viewer' },
      scopes: expect.arrayContaining(['customers:read']),
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      created_at: '2026-03-01T09:30:00.000Z',
      ends_at: '2026-03-01T21:30:00.000Z',
      expires_at: '2026-03-08T09:30:00.000Z',
    });
    const [setCookie = ''] = answer.headers['set-cookie'] as unknown as readonly string[];
    expect(setCookie).toMatch(/^billing_session=ss_live_[0-9A-Za-z]{49}; /);
    expect(
      setCookie
        .split('; ')
        .slice(1)
        .map((part) => part.replace(/^Expires=.*/, 'Expires'))
        .sort(),
    ).toEqual(['Expires', 'HttpOnly', 'Max-Age=604800', 'Path=/v1', 'SameSite=Strict']);
    const cookie = cookieOf(answer);
    const read = await engine.http.get('/v1/session').set('Cookie', cookie);
    expect([read.status, read.body]).toEqual([200, answer.body]);
    const customers = await engine.http.get('/v1/customers').set('Cookie', cookie);
    expect(customers.status).toBe(200);
    const [{ type, data }] = (await eventsOf(engine, (answer.body as { id: string }).id)) as [
      never,
    ];
    expect([type, data]).toEqual([
      'session.created',
      { object: expect.objectContaining({ admin_id: id, is_active: true }), previous: {} },
    ]);
  });

  it('have a secure cookie for pages with TLS', async () => {
    const { email } = await createAdmin();
    const answer = await trySignIn(email).set('Origin', 'https://billing.example.com');
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^__Secure-billing_session=ss_live_.*; Secure/,
    );
    const page = { Cookie: cookieOf(answer), Host: 'billing.example.com' };
    await engine.uncheckedHttp.get('/v1/session').set(page).expect(200);
    const planted = page.Cookie.replace('__Secure-', '');
    await engine.uncheckedHttp
      .get('/v1/session')
      .set({ ...page, Cookie: planted })
      .expect(401);
  });

  it('do not begin for an unknown email, a wrong password, an inactive admin or a hash that cannot be checked, all alike', async () => {
    const { email } = await createAdmin();
    const inactive = await createAdmin('admin');
    await withKey('delete', `/v1/studio/${inactive.id}`);
    const bomb = await createAdmin('admin', COST_BOMB);
    const plain = await createAdmin('admin', PASSWORD);
    const answers = [
      await trySignIn('nobody@example.com'),
      await trySignIn(email, 'wrong'),
      await trySignIn(inactive.email),
      await trySignIn(bomb.email),
      await trySignIn(plain.email),
    ].map(({ status, headers, body }) => {
      const { request_id: _, ...shown } = body as Record<string, unknown>;
      const { date: __, 'x-request-id': ___, ...sent } = headers as Record<string, unknown>;
      return { status, sent, shown };
    });
    expect(answers[0]).toMatchObject({ status: 401, shown: { code: 'sign_in_failed' } });
    expect(answers[0]?.sent).not.toHaveProperty('set-cookie');
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it.each([
    [
      'argon2id of the reference implementation',
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
      'password',
    ],
    ['bcrypt 2a', '$2a$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW', 'abc123xyz'],
    ['bcrypt 2b', '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW', 'abc123xyz'],
    ['bcrypt 2y', '$2y$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW', 'abc123xyz'],
    [
      'scrypt of passlib',
      '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
      'password',
    ],
    [
      'PBKDF2 of passlib',
      '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk',
      'toomanysecrets',
    ],
  ])('begin with a hash of %s', async (_, hash, password) => {
    const { email } = await createAdmin('admin', hash);
    expect((await trySignIn(email, `${password}x`)).status).toBe(401);
    expect((await trySignIn(email, password)).status).toBe(201);
  });

  it.each([
    [{ email: 'ada@example.com' }, '/password'],
    [{ password: PASSWORD }, '/email'],
    [{ email: 1, password: PASSWORD }, '/email'],
    [{ email: 'a', password: 'x'.repeat(1_001) }, '/password'],
    [{ email: 'a', password: 'x', remember: true }, '/remember'],
  ])('do not begin with %j', async (body, pointer) => {
    const answer = await engine.http.post('/v1/session').send(body);
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ pointer })] }),
    ]);
  });

  it('do not begin for a page of another site', async () => {
    const { email } = await createAdmin();
    for (const site of ['cross-site', 'same-site']) {
      const answer = await trySignIn(email).set('Sec-Fetch-Site', site);
      expect([answer.status, answer.body]).toEqual([
        403,
        expect.objectContaining({ code: 'cross_site_request' }),
      ]);
    }
  });

  it('let an admin change what its role allows, from a page of this origin with the CSRF token only', async () => {
    const session = await signIn((await createAdmin('support')).email);
    const created = await as(session, 'post', '/v1/customers').send({ name: 'Grace' });
    expect(created.status).toBe(201);
    const before = await engine.database.query('SELECT id FROM customer');
    const refusals = [
      as(session, 'post', '/v1/customers').set('Sec-Fetch-Site', 'same-site'),
      as(session, 'post', '/v1/customers').set('X-CSRF-Token', 'x'),
      engine.uncheckedHttp.post('/v1/customers').set('Cookie', session.cookie),
      engine.uncheckedHttp
        .post('/v1/customers')
        .set('Cookie', session.cookie)
        .set('X-CSRF-Token', session.csrf),
      engine.uncheckedHttp
        .get('/v1/customers')
        .set('Cookie', session.cookie)
        .set('Sec-Fetch-Site', 'cross-site'),
      as(session, 'get', '/v1/session').set('Sec-Fetch-Site', 'same-site'),
      as(session, 'delete', '/v1/session').set('X-CSRF-Token', ''),
    ];
    for (const refusal of refusals) {
      const { status, body } = await refusal;
      expect([status, body]).toEqual([
        403,
        expect.objectContaining({ code: 'cross_site_request' }),
      ]);
    }
    const forbidden = await as(session, 'post', '/v1/coupons').send({});
    expect([forbidden.status, forbidden.body]).toEqual([
      403,
      expect.objectContaining({ code: 'forbidden', required_scope: 'coupons:write' }),
    ]);
    expect(await engine.database.query('SELECT id FROM customer')).toEqual(before);
  });

  it('are ignored if the request has an API key', async () => {
    const session = await signIn((await createAdmin('viewer')).email);
    const answer = await withKey('get', '/v1/api-keys').set('Cookie', session.cookie);
    expect(answer.status).toBe(200);
  });

  const ended = [
    401,
    expect.objectContaining({ code: 'unauthenticated', reason: 'session_ended' }),
  ];

  async function isRefused(session: Session): Promise<void> {
    for (const path of ['/v1/session', '/v1/customers']) {
      const { status, body } = await as(session, 'get', path);
      expect([status, body]).toEqual(ended);
    }
  }

  it('are neither used nor refused as ended (401) by a clock that is wrong', async () => {
    const session = await signIn((await createAdmin('viewer')).email);
    const wrong = jest
      .spyOn(SystemClock.prototype, 'now')
      .mockImplementation(() => new Date(Date.now() + 12 * HOUR_MS));
    for (const status of [200, 503]) {
      engine.clock.advanceMs(6 * HOUR_MS);
      expect((await as(session, 'get', '/v1/customers')).status).toBe(status);
    }
    wrong.mockRestore();
    await engine.app.get(ClockCheck).check();
  });

  async function actorsOf(objectId: string): Promise<readonly unknown[]> {
    const events = await withKey('get', `/v1/events?object_id=${objectId}`);
    const audit = await withKey('get', `/v1/audit-log?object_id=${objectId}`);
    const { data: ofEvents } = events.body as { data: { actor: string }[] };
    const { data: ofEntries } = audit.body as { data: { actor: { id: string } }[] };
    return [ofEvents.map(({ actor }) => actor), ofEntries.map(({ actor }) => actor.id)];
  }

  it('begin and end in the name of their admin', async () => {
    const { email, id } = await createAdmin();
    const former = await signIn(email);
    const next = await createAdmin();
    const answer = await trySignIn(next.email).set('Cookie', former.cookie).expect(201);
    const { id: sessionId, csrf_token: csrf } = answer.body as { id: string; csrf_token: string };
    const session = { id: sessionId, csrf, cookie: cookieOf(answer) };
    await as(session, 'delete', '/v1/session').expect(204);
    const own = [next.id, next.id];
    expect(await actorsOf(session.id)).toEqual([own, own]);
    // Who signs in with the browser ends its former session.
    const both = [next.id, id];
    expect(await actorsOf(former.id)).toEqual([both, both]);
  });

  it('end by signing out, which takes the cookie away, once', async () => {
    const session = await signIn((await createAdmin()).email);
    for (let time = 0; time < 2; time += 1) {
      const answer = await as(session, 'delete', '/v1/session');
      expect(answer.status).toBe(204);
      expect(answer.headers['set-cookie']?.[0]).toMatch(
        /^billing_session=; Path=\/v1; Expires=Thu, 01 Jan 1970/,
      );
    }
    await isRefused(session);
    expect((await engine.uncheckedHttp.delete('/v1/session')).status).toBe(204);
    const types = (await eventsOf(engine, session.id)).map(({ type }) => type);
    expect(types).toEqual(['session.created', 'session.ended']);
  });

  it('end when their browser signs in again', async () => {
    const former = await signIn((await createAdmin()).email);
    const next = await createAdmin();
    await trySignIn(next.email, 'wrong').set('Cookie', former.cookie).expect(401);
    expect((await as(former, 'get', '/v1/session')).status).toBe(200);
    await trySignIn(next.email).set('Cookie', former.cookie).expect(201);
    await isRefused(former);
  });

  it('end after 12 hours without use, and after 7 days', async () => {
    const { email } = await createAdmin();
    const idle = await signIn(email);
    engine.clock.advanceMs(12 * HOUR_MS - 1);
    const { body } = await as(idle, 'get', '/v1/session');
    engine.clock.advanceMs(12 * HOUR_MS);
    expect(body).toMatchObject({ ends_at: engine.clock.now().toISOString() });
    await isRefused(idle);

    const used = await signIn(email);
    for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
      expect((await as(used, 'get', '/v1/session')).status).toBe(200);
      engine.clock.advanceMs(11 * HOUR_MS);
    }
    engine.clock.advanceMs(3 * HOUR_MS);
    await isRefused(used);
  });

  it.each(['expiry', 'deactivation'])('are not ended again after their %s', async (reason) => {
    const { email, id } = await createAdmin('viewer');
    const session = await signIn(email);
    engine.clock.advanceMs(reason === 'expiry' ? 12 * HOUR_MS : 1_000);
    if (reason === 'deactivation') await withKey('delete', `/v1/studio/${id}`).expect(204);
    await isRefused(session);
    await as(session, 'delete', '/v1/session').expect(204);
    await trySignIn((await createAdmin()).email)
      .set('Cookie', session.cookie)
      .expect(201);
    await withKey('delete', `/v1/sessions/${session.id}`).expect(204);
    expect(await actorsOf(session.id)).toEqual([[id], [id]]);
  });

  it('end by signing out during a change that keeps them valid', async () => {
    const { email, id } = await createAdmin('admin');
    const session = await signIn(email);
    engine.clock.advanceMs(1_000);
    const commit = await openTransaction(engine.database, async () => {
      await engine.app.get(AdminAccounts, { strict: false }).endSessions(id, engine.clock.now());
      await engine.app.get(SessionsService).keepValid(session.id);
    });
    const signedOut = as(session, 'delete', '/v1/session').then(({ status }) => status);
    await untilSessionsWait(engine.database).finally(commit);
    expect(await signedOut).toBe(204);
    await isRefused(session);
  });

  it.each(['a new password', 'deactivation', 'revocation'])(
    'end with %s at once, in another process too',
    async (reason) => {
      const { email, id } = await createAdmin('admin');
      const session = await signIn(email);
      const other = await startTestApp({
        databaseUrl: engine.databaseUrl,
        environment: { AUTH: 'required' },
      });
      const ask = () =>
        other.uncheckedHttp
          .get('/v1/customers')
          .set('Cookie', session.cookie)
          .then(({ status }) => status);
      expect(await ask()).toBe(200);
      engine.clock.advanceMs(1_000);
      const rename = withKey('patch', `/v1/studio/${id}`).send({ name: 'Grace' });
      expect((await rename).status).toBe(200);
      expect(await ask()).toBe(200);
      const change = {
        'a new password': () =>
          withKey('patch', `/v1/studio/${id}`).send({ passwordHash: 'other' }),
        deactivation: () => withKey('delete', `/v1/studio/${id}`),
        revocation: () => withKey('delete', `/v1/sessions/${session.id}`),
      }[reason];
      expect((await change?.())?.status).toBeLessThan(300);
      expect(await ask()).toBe(401);
      await isRefused(session);
      await other.close();
    },
  );

  it('are listed and revoked: all by owners, their own by others', async () => {
    const owner = await signIn((await createAdmin('owner')).email);
    const admin = await signIn((await createAdmin('admin')).email);
    const supporter = await createAdmin('support');
    const support = await signIn(supporter.email);
    const second = await signIn(supporter.email);
    const listed = async (session: Session) => {
      const { status, body } = await as(session, 'get', '/v1/sessions?limit=4');
      expect(status).toBe(200);
      return (body as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const all = [second.id, support.id, admin.id, owner.id];
    expect(await listed(owner)).toEqual(all);
    expect(await listed(admin)).toEqual(all);
    expect(await listed(support)).toEqual([second.id, support.id]);

    const revoke = async (session: Session, id: string) => {
      const { status, body } = await as(session, 'delete', `/v1/sessions/${id}`);
      return [status, (body as { code?: string }).code];
    };
    expect(await revoke(support, owner.id)).toEqual([404, 'session_not_found']);
    expect(await revoke(admin, support.id)).toEqual([403, 'forbidden']);
    expect(await revoke(support, second.id)).toEqual([204, undefined]);
    expect(await revoke(owner, second.id)).toEqual([204, undefined]);
    expect(await revoke(owner, support.id)).toEqual([204, undefined]);
    expect(await revoke(owner, 'sess_01h455vb4pex5vsknk084sn02q')).toEqual([
      404,
      'session_not_found',
    ]);
    await isRefused(support);
    const { body } = await as(owner, 'get', '/v1/sessions?limit=3');
    expect(body).toMatchObject({
      data: [{ is_active: false }, { is_active: false }, { is_active: true }],
    });
    const types = (await eventsOf(engine, second.id)).map(({ type }) => type);
    expect(types).toEqual(['session.created', 'session.ended']);
  });

  describe('attempts', () => {
    const outcomes = async (attempts: readonly PromiseLike<Response>[]) =>
      (await Promise.all(attempts)).map(({ status }) => status).sort();

    it('are five in any 15 minutes for an account, also concurrent ones in two processes', async () => {
      const { email } = await createAdmin();
      const other = await startTestApp({
        databaseUrl: engine.databaseUrl,
        environment: { AUTH: 'required' },
      });
      other.clock.set(engine.clock.now().toISOString());
      const attempts = Array.from({ length: 10 }, (_, index) =>
        trySignIn(email, 'wrong', index % 2 === 0 ? engine : other),
      );
      expect(await outcomes(attempts)).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429, 429]);
      await other.close();
      const refused = await engine.http.post('/v1/session').send({ email, password: PASSWORD });
      expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
        429,
        '900',
        expect.objectContaining({ code: 'too_many_sign_ins' }),
      ]);
      engine.clock.advanceMs(15 * 60_000 - 1);
      expect((await trySignIn(email)).headers['retry-after']).toBe('1');
      engine.clock.advanceMs(1);
      expect((await trySignIn(email)).status).toBe(201);
    });

    it('are five for an address, whatever the account', async () => {
      const emails = Array.from({ length: 6 }, (_, index) => `nobody${index}@example.com`);
      const statuses: number[] = [];
      for (const email of emails) statuses.push((await trySignIn(email)).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
      const keys = await engine.database.query<{ key: string }>('SELECT key FROM sign_in_attempt');
      expect(keys).toHaveLength(6);
      expect(JSON.stringify(keys)).not.toContain('nobody');
    });

    it('are not counted if the password is not checked, because too many checks wait', async () => {
      const { email } = await createAdmin();
      const passwords = engine.app.get(Passwords, { strict: false });
      const checks = Reflect.get(passwords, 'checks') as ConcurrencyLimiter;
      const turns: Promise<() => void>[] = [];
      while (!checks.isFull) turns.push(checks.enter());
      const busy = await trySignIn(email);
      for (const turn of turns) (await turn)();
      expect([busy.status, busy.headers['retry-after']]).toEqual([429, '2']);
      const counted = 'SELECT key FROM sign_in_attempt WHERE cardinality(tried_at) > 0';
      expect(await engine.database.query(counted)).toEqual([]);
    });

    it('of an account without attempts left are not counted for the address', async () => {
      const locked = await createAdmin();
      for (let attempt = 0; attempt < 5; attempt += 1) await trySignIn(locked.email, 'wrong');
      await engine.database.query(`DELETE FROM sign_in_attempt WHERE key LIKE 'address:%'`);
      for (let attempt = 0; attempt < 5; attempt += 1) {
        expect((await trySignIn(locked.email)).status).toBe(429);
      }
      const { email } = await createAdmin();
      expect((await trySignIn(email)).status).toBe(201);
    });

    it('that succeed are not counted', async () => {
      const { email } = await createAdmin();
      for (let attempt = 0; attempt < 7; attempt += 1) {
        expect((await trySignIn(email)).status).toBe(201);
      }
      for (let attempt = 0; attempt < 4; attempt += 1) await trySignIn(email, 'wrong');
      expect((await trySignIn(email)).status).toBe(201);
    });
  });

  it('and counts of attempts are deleted when they are old', async () => {
    const { email } = await createAdmin();
    const session = await signIn(email);
    await trySignIn(email, 'wrong');
    engine.clock.advanceMs(37 * 24 * HOUR_MS + 1);
    await engine.app.get(ExpiredSessions).deleteExpired();
    const rows = await engine.database.query(
      'SELECT id AS key FROM admin_session WHERE id = $1 UNION ALL SELECT key FROM sign_in_attempt',
      [session.id],
    );
    expect(rows).toEqual([]);
  });

  it('do not lose an attempt that is counted while old ones are deleted', async () => {
    const attempts = engine.app.get(SignInAttemptsRepository);
    await attempts.add('account', engine.clock.now());
    engine.clock.advanceMs(15 * 60_000 + 1);
    const add = () => attempts.add('account', engine.clock.now());
    const commit = await openTransaction(engine.database, add);
    const deletion = engine.app.get(ExpiredSessions).deleteExpired();
    await untilSessionsWait(engine.database).finally(commit);
    await deletion;
    expect(await engine.database.query('SELECT key FROM sign_in_attempt')).toHaveLength(1);
  });

  it('take as long to refuse for an unknown email as for a wrong password', async () => {
    const known = await createAdmin();
    const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    const attempt = async (kind: 'known' | 'unknown', email: string) => {
      await engine.database.query('DELETE FROM sign_in_attempt');
      // CPU time, which other processes of the machine do not change.
      const { user, system } = process.cpuUsage();
      expect((await trySignIn(email, 'wrong')).status).toBe(401);
      const spent = process.cpuUsage({ user, system });
      times[kind].push((spent.user + spent.system) / 1_000);
    };
    await engine.database.query(`UPDATE studio_admin SET password_hash = $1`, [HASH]);
    for (let index = 0; index < 200; index += 1) {
      await attempt('known', known.email);
      await attempt('unknown', `unknown${index}@example.com`);
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[100] ?? NaN;
    const medians = [median(times.known), median(times.unknown)] as const;
    expect(Math.abs(medians[0] - medians[1])).toBeLessThan(5);
    // 400 passwords are checked, each for longer than usual on a busy machine.
  }, 300_000);
});

describe('with AUTH=open', () => {
  it('sessions work, and do not limit what callers may do', async () => {
    const engine = await startTestApp();
    const admin = { email: 'ada@example.com', name: 'Ada', passwordHash: HASH, role: 'viewer' };
    await engine.http.post('/v1/studio').send(admin).expect(201);
    await engine.http
      .post('/v1/session')
      .send({ email: admin.email, password: PASSWORD })
      .expect(201);
    // The client keeps the cookie.
    await engine.http.get('/v1/session').expect(200);
    await engine.http.post('/v1/customers').send({ name: 'Grace' }).expect(201);
    await engine.close();
  });
});

describe('a password and a session secret', () => {
  it('are stored nowhere, and in no event or log', async () => {
    const log = captureLog();
    const engine = await startTestApp({ environment: { LOG_LEVEL: 'trace' } });
    try {
      const admin = { email: 'ada@example.com', name: 'Ada', passwordHash: HASH, role: 'owner' };
      await engine.uncheckedHttp.post('/v1/studio').send(admin);
      const answer = await engine.uncheckedHttp
        .post('/v1/session')
        .set('Idempotency-Key', 'leak')
        .send({ email: admin.email, password: PASSWORD });
      await engine.uncheckedHttp
        .post('/v1/session')
        .send({ email: admin.email, password: PASSWORD, x: 1 });
      const secret =
        /billing_session=([^;]+)/.exec(String(answer.headers['set-cookie']))?.[1] ?? '';
      expect(secret).toMatch(/^ss_live_/);
      const elsewhere = [await contentsOfTables(engine, 'studio_admin'), log.text(), answer.text];
      expect(elsewhere[0]).toContain('session.created');
      for (const text of elsewhere) {
        expect(text).not.toContain(secret.slice(8));
        expect(text).not.toContain(PASSWORD);
        expect(text).not.toContain(HASH.slice(-20));
      }
    } finally {
      await engine.close();
      log.stop();
    }
  });
});
