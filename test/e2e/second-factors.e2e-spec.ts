import type { Response } from 'supertest';
import { type AdminRole, scopesOfRole } from '../../src/core/access';
import { ProvidedAdmins } from '../../src/modules/studio';
import type TestAgent from 'supertest/lib/agent';
import {
  codeAt,
  createAdmin,
  type PageHeaders,
  pageOf,
  PASSWORD,
  PASSWORD_HASH,
} from '../support/admins';
import { checkedClient } from '../support/checked-client';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { captureLog, contentsOfTables } from '../support/leaks';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const STEP_MS = 30_000;
const QUARTER_MS = 15 * 60_000;

interface Enrolled {
  readonly id: string;
  readonly email: string;
  readonly factorId: string;
  readonly secret: string;
  readonly codes: readonly string[];
  readonly page: PageHeaders;
}

describe('second factors', () => {
  let engine: TestApp;
  let other: TestApp;
  const urls = new Map<TestApp, string>();

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
    other = await startTestApp({ databaseUrl: engine.databaseUrl, environment: WITH_KEYS });
    for (const app of [engine, other]) urls.set(app, await app.app.getUrl());
  });

  afterAll(async () => {
    await other.close();
    await engine.close();
  });

  beforeEach(async () => {
    await engine.database.query('DELETE FROM sign_in_attempt');
    // A code is accepted once, and the clock of tests stands still.
    advance(3 * STEP_MS);
  });

  function advance(ms: number): void {
    engine.clock.advanceMs(ms);
    other.clock.set(engine.clock.now().toISOString());
  }

  /** Without the cookies of former requests, so that each one says which session it belongs to. */
  const http = (app = engine): TestAgent => checkedClient(urls.get(app) ?? '');

  const owner = bearing(BOOTSTRAP_KEY);
  const codeNow = (secret: string) => codeAt(secret, engine.clock.now());

  function signIn(email: string, code: object = {}, app = engine) {
    return http(app)
      .post('/v1/session')
      .send({ email, password: PASSWORD, ...code });
  }

  async function signedIn(email: string, code: object = {}): Promise<PageHeaders> {
    return pageOf(await signIn(email, code).expect(201));
  }

  const post = (page: PageHeaders, path: string, body: object = {}) =>
    http().post(`/v1/second-factor${path}`).set(page).send(body);

  async function enrol(role: AdminRole = 'admin'): Promise<Enrolled> {
    const { id, email } = await createAdmin(engine, role);
    const page = await signedIn(email);
    const { body } = await post(page, '').expect(201);
    const { id: factorId, secret } = body as { id: string; secret: string };
    const confirmed = await post(page, '/confirm', { totp_code: codeNow(secret) }).expect(200);
    const { recovery_codes: codes } = confirmed.body as { recovery_codes: string[] };
    advance(STEP_MS);
    return { id, email, factorId, secret, codes, page };
  }

  function problem({ status, body }: Response): readonly unknown[] {
    return [status, (body as { readonly code?: string }).code];
  }

  const isActive = async (page: PageHeaders) =>
    (await http().get('/v1/session').set(page)).status === 200;

  it('are enrolled with a secret, confirmed with a code, and then needed to sign in', async () => {
    const { id, email } = await createAdmin(engine, 'viewer');
    const page = await signedIn(email);
    const elsewhere = await signedIn(email);
    advance(1_000);

    const begun = await post(page, '');
    expect([begun.status, begun.body]).toEqual([
      201,
      expect.objectContaining({
        id: expect.stringMatching(/^sf_/),
        admin_id: id,
        is_enabled: false,
        codes_left: 0,
        secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
        otpauth_uri: expect.stringContaining('otpauth://totp/Billing%20engine'),
      }),
    ]);
    const { id: factorId, secret } = begun.body as { id: string; secret: string };
    // Until then, nothing has changed.
    await signedIn(email);
    expect(problem(await http().get('/v1/second-factor').set(page))).toEqual([
      404,
      'second_factor_not_found',
    ]);
    expect(problem(await post(page, '/confirm', { totp_code: '000000' }))).toEqual([
      401,
      'second_factor_failed',
    ]);

    const confirmed = await post(page, '/confirm', { totp_code: codeNow(secret) });
    expect([confirmed.status, confirmed.body]).toEqual([
      200,
      expect.objectContaining({ is_enabled: true, codes_left: 10, id: factorId }),
    ]);
    const { recovery_codes: codes, ...shown } = confirmed.body as { recovery_codes: string[] };
    expect(new Set(codes).size).toBe(10);
    expect((await http().get('/v1/second-factor').set(page)).body).toEqual(shown);
    expect([await isActive(page), await isActive(elsewhere)]).toEqual([true, false]);
    expect(problem(await post(page, ''))).toEqual([409, 'second_factor_enabled']);
    expect(problem(await post(page, '/confirm', { totp_code: codeNow(secret) }))).toEqual([
      409,
      'second_factor_enabled',
    ]);

    expect(problem(await signIn(email))).toEqual([401, 'second_factor_required']);
    // The code that confirmed is used up.
    expect(problem(await signIn(email, { totp_code: codeNow(secret) }))).toEqual([
      401,
      'second_factor_failed',
    ]);
    advance(STEP_MS);
    const code = codeNow(secret);
    await signedIn(email, { totp_code: `${code.slice(0, 3)} ${code.slice(3)}` });
    const types = (await eventsOf(engine, factorId)).map(({ type }) => type);
    expect(types).toEqual(['second_factor.enabled']);
  });

  it('are enrolled again when an enrolment was not confirmed', async () => {
    const { email } = await createAdmin(engine, 'viewer');
    const page = await signedIn(email);
    const secretOf = async () => ((await post(page, '')).body as { secret: string }).secret;
    const [first, second] = [await secretOf(), await secretOf()];
    expect(problem(await post(page, '/confirm', { totp_code: codeNow(first) }))).toEqual([
      401,
      'second_factor_failed',
    ]);
    expect((await post(page, '/confirm', { totp_code: codeNow(second) })).status).toBe(200);
  });

  it('are not asked for with a wrong password or of an unknown account', async () => {
    const { email } = await enrol();
    const answers = [
      await http().post('/v1/session').send({ email, password: 'wrong' }),
      await http().post('/v1/session').send({ email, password: 'wrong', totp_code: '123456' }),
      await signIn('nobody@example.com'),
      await signIn('nobody@example.com', { totp_code: '123456' }),
    ];
    for (const answer of answers) expect(problem(answer)).toEqual([401, 'sign_in_failed']);
  });

  it('accept a code once, also in two processes at once', async () => {
    const { email, secret } = await enrol();
    const code = { totp_code: codeNow(secret) };
    const answers = await Promise.all(
      [engine, other, engine, other].map((app) => signIn(email, code, app)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
    expect(problem(await signIn(email, code))).toEqual([401, 'second_factor_failed']);
  });

  it('accept the codes of one step before and after, and none before the last accepted one', async () => {
    const { email, secret } = await enrol();
    const at = (steps: number) =>
      codeAt(secret, new Date(engine.clock.now().getTime() + steps * STEP_MS));
    advance(5 * STEP_MS);
    expect((await signIn(email, { totp_code: at(2) })).status).toBe(401);
    expect((await signIn(email, { totp_code: at(-2) })).status).toBe(401);
    await engine.database.query('DELETE FROM sign_in_attempt');
    expect((await signIn(email, { totp_code: at(-1) })).status).toBe(201);
    expect((await signIn(email, { totp_code: at(1) })).status).toBe(201);
    expect((await signIn(email, { totp_code: at(0) })).status).toBe(401);
  });

  it('accept each recovery code once, also in two processes at once', async () => {
    const { id, email, factorId, codes, page } = await enrol();
    const [first = '', second = ''] = codes;
    const answers = await Promise.all(
      [engine, other, engine].map((app) => signIn(email, { recovery_code: first }, app)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    await engine.database.query('DELETE FROM sign_in_attempt');
    const typed = second.toUpperCase().replaceAll('-', ' ');
    expect((await signIn(email, { recovery_code: typed })).status).toBe(201);
    expect((await signIn(email, { recovery_code: '0000-0000-0000-0000' })).status).toBe(401);
    expect((await http().get('/v1/second-factor').set(page)).body).toMatchObject({
      codes_left: 8,
    });
    const [, used] = await eventsOf(engine, factorId);
    expect([used?.type, used?.data.previous]).toEqual([
      'second_factor.updated',
      { codes_left: 10 },
    ]);
    const events = await http().get(`/v1/events?object_id=${factorId}&limit=1`).set(owner);
    expect(events.body).toMatchObject({ data: [{ actor: id }] });
  });

  it('get new recovery codes with a code', async () => {
    const { email, secret, codes, page } = await enrol();
    expect(problem(await post(page, '/recovery-codes', { totp_code: '000000' }))).toEqual([
      401,
      'second_factor_failed',
    ]);
    const { body } = await post(page, '/recovery-codes', { totp_code: codeNow(secret) });
    const { recovery_codes: replaced } = body as { recovery_codes: string[] };
    expect((await signIn(email, { recovery_code: codes[0] })).status).toBe(401);
    expect((await signIn(email, { recovery_code: replaced[0] })).status).toBe(201);
  });

  it.each([
    ['a code', ({ secret }: Enrolled) => ({ totp_code: codeNow(secret) })],
    ['a recovery code', ({ codes }: Enrolled) => ({ recovery_code: codes[0] })],
  ])('are disabled with %s, which ends the other sessions', async (_, codeOf) => {
    const enrolled = await enrol();
    const { email, page, factorId } = enrolled;
    const elsewhere = await signedIn(email, { recovery_code: enrolled.codes[9] });
    for (const wrong of [{}, { totp_code: '000000' }]) {
      expect(problem(await post(page, '/disable', wrong))).toEqual([401, 'second_factor_failed']);
    }
    advance(1_000);
    expect((await post(page, '/disable', codeOf(enrolled))).status).toBe(204);
    expect(problem(await post(page, '/disable', codeOf(enrolled)))).toEqual([
      404,
      'second_factor_not_found',
    ]);
    expect([await isActive(page), await isActive(elsewhere)]).toEqual([true, false]);
    await signedIn(email);
    expect((await eventsOf(engine, factorId)).at(-1)).toMatchObject({
      type: 'second_factor.disabled',
      data: { object: { is_enabled: false, codes_left: 0 } },
    });
  });

  it('are enabled and removed once by requests at once, without an end of the session', async () => {
    const { email } = await createAdmin(engine, 'viewer');
    const page = await signedIn(email);
    let { secret } = (await post(page, '')).body as { secret: string };
    advance(1_000);
    /** Sends a change four times, and reads the session until all are answered. */
    async function sendAtOnce(path: string): Promise<readonly string[]> {
      const code = { totp_code: codeNow(secret) };
      let isSending = true;
      const sent = Promise.all([1, 2, 3, 4].map(() => post(page, path, code)));
      const reader = async (): Promise<void> => {
        while (isSending) expect(await isActive(page)).toBe(true);
      };
      const readers = Promise.all(Array.from({ length: 8 }, reader));
      const answers = await sent;
      isSending = false;
      await readers;
      return answers.map((answer) => problem(answer).join(' ')).sort();
    }
    // More than five attempts: only refused codes count.
    for (let time = 0; time < 3; time += 1) {
      expect(await sendAtOnce('/confirm')).toEqual([
        '200 ',
        ...Array<string>(3).fill('409 second_factor_enabled'),
      ]);
      advance(STEP_MS);
      expect(await sendAtOnce('/disable')).toEqual([
        '204 ',
        ...Array<string>(3).fill('404 second_factor_not_found'),
      ]);
      ({ secret } = (await post(page, '')).body as { secret: string });
      advance(STEP_MS);
    }
  });

  it('are removed by an owner, which ends all sessions of the admin, in every process', async () => {
    const { id, email, page } = await enrol();
    const path = `/v1/studio/${id}/second-factor`;
    expect((await http().get(path).set(owner)).body).toMatchObject({ is_enabled: true });
    const admin = pageOf(await signIn((await createAdmin(engine, 'admin')).email));
    expect(problem(await http().delete(path).set(admin))).toEqual([403, 'forbidden']);
    advance(1_000);
    expect((await http().delete(path).set(owner)).status).toBe(204);
    expect((await http(other).get('/v1/customers').set(page)).status).toBe(401);
    await signedIn(email);
    for (const method of ['get', 'delete'] as const) {
      expect(problem(await http()[method](path).set(owner))).toEqual([
        404,
        'second_factor_not_found',
      ]);
      const unknown = '/v1/studio/admin_01h455vb4pex5vsknk084sn02q/second-factor';
      expect(problem(await http()[method](unknown).set(owner))).toEqual([
        404,
        'studio_admin_not_found',
      ]);
    }
  });

  it('end sessions also at the instant at which the account was created, and let a new password do so', async () => {
    const { id, email } = await createAdmin(engine, 'admin');
    const elsewhere = await signedIn(email);
    const page = await signedIn(email);
    const { secret } = (await post(page, '')).body as { secret: string };
    await post(page, '/confirm', { totp_code: codeNow(secret) }).expect(200);
    expect([await isActive(elsewhere), await isActive(page)]).toEqual([false, true]);
    const change = { passwordHash: PASSWORD_HASH.replace('t=2', 't=3') };
    await http().patch(`/v1/studio/${id}`).set(owner).send(change).expect(200);
    expect(await isActive(page)).toBe(false);
  });

  it('are not removed before their last change, which a clock that is ahead dated', async () => {
    const { id, factorId } = await enrol('support');
    advance(-STEP_MS);
    const changedAt = engine.clock.now().toISOString();
    advance(-3_000);
    await http().delete(`/v1/studio/${id}/second-factor`).set(owner).expect(204);
    const { body } = await http().get('/v1/events').query({ object_id: factorId }).set(owner);
    const object = { updated_at: changedAt };
    expect((body as { data: unknown[] }).data[0]).toMatchObject({
      type: 'second_factor.disabled',
      timestamp: changedAt,
      data: { object },
    });
  });

  it('are not removed by a caller without all scopes of a role that the admin gets meanwhile', async () => {
    const { id, email, page } = await enrol('viewer');
    const scopes = new Set([...scopesOfRole('viewer'), 'studio:read', 'studio:write']);
    const { secret } = await createKey(engine, ...scopes);
    const person = { email, name: 'viewer', role: 'owner' } as const;
    const admins = engine.app.get(ProvidedAdmins, { strict: false });
    const commit = await openTransaction(engine.database, () => admins.accountOf(person, false));
    const answer = http()
      .delete(`/v1/studio/${id}/second-factor`)
      .set(bearing(secret))
      .then((one) => one);
    await untilSessionsWait(engine.database);
    await commit();
    expect(problem(await answer)).toEqual([403, 'scope_not_held']);
    expect(await isActive(page)).toBe(true);
  });

  it('belong to signed-in admins only', async () => {
    const requests = [
      http().get('/v1/second-factor'),
      http().post('/v1/second-factor'),
      http().post('/v1/second-factor/confirm').send({ totp_code: '123456' }),
      http().post('/v1/second-factor/recovery-codes').send({ totp_code: '123456' }),
      http().post('/v1/second-factor/disable').send({}),
    ];
    for (const request of requests) {
      expect(problem(await request.set(owner))).toEqual([403, 'admin_session_required']);
    }
  });

  it.each([
    [{ totp_code: '12345' }, '/totp_code'],
    [{ totp_code: 123456 }, '/totp_code'],
    [{ totp_code: '١٢٣٤٥٦' }, '/totp_code'],
    [{ recovery_code: '' }, '/recovery_code'],
    [{ recovery_code: 'x'.repeat(101) }, '/recovery_code'],
    [{ totp_code: '123456', recovery_code: 'x' }, '/recovery_code'],
  ])('are not proved with %j', async (code, pointer) => {
    const answer = await signIn('ada@example.com', code);
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ pointer })] }),
    ]);
  });

  describe('attempts with wrong codes', () => {
    const wrong = { totp_code: '000000' };

    it('are counted with those of wrong passwords, and not forgiven by the password alone', async () => {
      const { email, secret } = await enrol();
      for (let tried = 0; tried < 4; tried += 1) {
        expect(problem(await signIn(email, wrong))).toEqual([401, 'second_factor_failed']);
        expect(problem(await signIn(email))).toEqual([401, 'second_factor_required']);
      }
      await http().post('/v1/session').send({ email, password: 'wrong' }).expect(401);
      expect(problem(await signIn(email, { totp_code: codeNow(secret) }))).toEqual([
        429,
        'too_many_sign_ins',
      ]);
      advance(QUARTER_MS);
      await signedIn(email, { totp_code: codeNow(secret) });
    });

    it('are counted in a session too', async () => {
      const { secret, page } = await enrol();
      for (let tried = 0; tried < 5; tried += 1) {
        expect((await post(page, '/disable', wrong)).status).toBe(401);
      }
      const right = { totp_code: codeNow(secret) };
      for (const path of ['/disable', '/recovery-codes']) {
        expect(problem(await post(page, path, right))).toEqual([429, 'too_many_sign_ins']);
      }
    });

    it('are five of ten concurrent ones in two processes', async () => {
      const { email } = await enrol();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          signIn(email, wrong, index % 2 === 0 ? engine : other),
        ),
      );
      const limited = answers.filter(({ status }) => status === 429);
      expect(limited).toHaveLength(5);
    });
  });

  describe('required by the studio', () => {
    const require = (second_factor_required: boolean) =>
      http().patch('/v1/studio-settings').set(owner).send({ second_factor_required });

    beforeAll(async () => {
      const { body } = await require(true).expect(200);
      expect(body).toMatchObject({ second_factor_required: true, support_refund_limits: [] });
    });

    afterAll(() => require(false).expect(200));

    it('leave admins without one nothing but to enrol', async () => {
      const { email } = await createAdmin(engine, 'owner');
      const page = await signedIn(email);
      expect((await http().get('/v1/session').set(page)).body).toMatchObject({
        must_enrol: true,
        scopes: ['sessions:read', 'sessions:write'],
      });
      for (const app of [engine, other]) {
        for (const path of ['/v1/customers', '/v1/studio', '/v1/audit-log']) {
          const refused = await http(app).get(path).set(page);
          expect(problem(refused)).toEqual([403, 'forbidden']);
          expect(refused.body).toMatchObject({ detail: expect.stringContaining('second factor') });
        }
      }
      const { secret } = (await post(page, '')).body as { secret: string };
      await post(page, '/confirm', { totp_code: codeNow(secret) }).expect(200);
      expect((await http(other).get('/v1/studio').set(page)).status).toBe(200);
      expect((await http().get('/v1/session').set(page)).body).toMatchObject({
        must_enrol: false,
        scopes: ['*'],
      });
      advance(STEP_MS);
      // Without it again, the same session may only enrol.
      await post(page, '/disable', { totp_code: codeNow(secret) }).expect(204);
      expect(problem(await http().get('/v1/studio').set(page))).toEqual([403, 'forbidden']);
    });

    it('do not concern API keys, and end with the setting', async () => {
      const page = await signedIn((await createAdmin(engine, 'viewer')).email);
      expect((await http().get('/v1/customers').set(owner)).status).toBe(200);
      expect((await http().get('/v1/customers').set(page)).status).toBe(403);
      await require(false).expect(200);
      expect((await http().get('/v1/customers').set(page)).status).toBe(200);
      await require(true).expect(200);
      expect((await http().get('/v1/customers').set(page)).status).toBe(403);
    });
  });

  it('are audited: each change has one entry with its admin', async () => {
    const { id, secret, page } = await enrol();
    await post(page, '/disable', { totp_code: codeNow(secret) }).expect(204);
    const { body } = await http().get(`/v1/audit-log?actor_id=${id}&limit=10`).set(owner);
    const operations = (body as { data: { operation: string }[] }).data.map(
      ({ operation }) => operation,
    );
    expect(operations).toEqual([
      'disableSecondFactor',
      'confirmSecondFactor',
      'beginSecondFactor',
      'createSession',
    ]);
  });

  it('leave no secret and no recovery code in the database, events or the log', async () => {
    const log = captureLog();
    const { email, secret, codes } = await enrol();
    const [used = '', unused = ''] = codes;
    await signIn(email, { recovery_code: used });
    const contents = await contentsOfTables(engine);
    const normal = (code: string) => code.replaceAll('-', '');
    for (const text of [contents, log.text()]) {
      for (const hidden of [secret, used, unused, normal(used), normal(unused)]) {
        expect(text).not.toContain(hidden);
      }
    }
    log.stop();
  });
});
