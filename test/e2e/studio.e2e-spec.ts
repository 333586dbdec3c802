import { scopesOfRole } from '../../src/core/access';
import { createAdmin as createAdminOf } from '../support/admins';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { captureLog, contentsOfTables } from '../support/leaks';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const ARGON2ID =
  '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21l$RdescudvJCsgt3ub+b+dWRWJTmaaJObGE2/+rK0NBwI';
const BCRYPT = '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW';

describe('studio admins', () => {
  let engine: TestApp;
  let count = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function createAdmin(fields: object = {}): Promise<{ id: string; email: string }> {
    count += 1;
    const answer = await engine.http.post('/v1/studio').send({
      email: `admin${count}@example.com`,
      name: 'Ada',
      passwordHash: ARGON2ID,
      ...fields,
    });
    expect(answer.status).toBe(201);
    return answer.body as { id: string; email: string };
  }

  async function stored(id: string): Promise<{ hash: string; sessions: string } | undefined> {
    const rows = await engine.database.query<{ hash: string; sessions: Date }>(
      'SELECT password_hash AS hash, sessions_valid_from AS sessions FROM studio_admin WHERE id = $1',
      [id],
    );
    return rows.map(({ hash, sessions }) => ({ hash, sessions: sessions.toISOString() }))[0];
  }

  it('are none at first', async () => {
    expect((await engine.http.get('/v1/studio')).body).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows', async () => {
    const answer = await engine.http.post('/v1/studio').send({
      email: 'Ada.Lovelace@Example.com',
      name: 'Ada Lovelace',
      passwordHash: ARGON2ID,
      role: 'viewer',
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^admin_/) as string,
      email: 'Ada.Lovelace@Example.com',
      name: 'Ada Lovelace',
      role: 'viewer',
      is_active: true,
      password_scheme: 'argon2id',
      password_changed_at: '2026-03-01T09:30:00.000Z',
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as { id: string };
    expect((await engine.http.get(`/v1/studio/${id}`)).body).toEqual(answer.body);
    expect(await stored(id)).toEqual({ hash: ARGON2ID, sessions: '2026-03-01T09:30:00.000Z' });
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'studio_admin.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('have the role admin by default, and keep a hash of any form', async () => {
    const { id } = await createAdmin({ passwordHash: 'plain' });
    expect((await engine.http.get(`/v1/studio/${id}`)).body).toMatchObject({
      role: 'admin',
      password_scheme: 'unrecognised',
    });
  });

  it('have unique emails regardless of case, also with concurrent requests', async () => {
    const emails = ['one@example.com', 'ONE@example.com', 'One@Example.COM', 'oNe@example.com'];
    const answers = await Promise.all(
      emails.map((email) =>
        engine.http.post('/v1/studio').send({ email, name: 'One', passwordHash: BCRYPT }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'studio_admin_email_taken',
    });
  });

  it('are created once for one idempotency key', async () => {
    const create = () =>
      engine.http
        .post('/v1/studio')
        .set('Idempotency-Key', 'studio-1')
        .send({ email: 'twice@example.com', name: 'Twice', passwordHash: BCRYPT });
    const [first, second] = [await create(), await create()];
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  it.each([
    [{ email: undefined }, '/email'],
    [{ email: null }, '/email'],
    [{ email: 'nobody' }, '/email'],
    [{ email: `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(126)}.com` }, '/email'],
    [{ name: undefined }, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(201) }, '/name'],
    [{ name: '☃\uFE0F'.repeat(150) }, '/name'],
    [{ name: 7 }, '/name'],
    [{ passwordHash: undefined }, '/passwordHash'],
    [{ passwordHash: '' }, '/passwordHash'],
    [{ passwordHash: 'x'.repeat(513) }, '/passwordHash'],
    [{ passwordHash: [BCRYPT] }, '/passwordHash'],
    [{ role: 'root' }, '/role'],
    [{ role: null }, '/role'],
    [{ is_active: false }, '/is_active'],
    [{ password_hash: BCRYPT }, '/password_hash'],
  ])('with %j are refused', async (fields, pointer) => {
    const answer = await engine.http
      .post('/v1/studio')
      .send({ email: 'new@example.com', name: 'New', passwordHash: BCRYPT, ...fields });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'validation_failed' });
    const { errors } = answer.body as { errors: { pointer: string }[] };
    expect(new Set(errors.map((error) => error.pointer))).toEqual(new Set([pointer]));
    expect(answer.text).not.toContain(BCRYPT);
  });

  describe('updated', () => {
    it('get another name, with an event that contains the previous one', async () => {
      const { id } = await createAdmin();
      const before = await stored(id);
      engine.clock.advanceMs(1_000);
      const answer = await engine.http.patch(`/v1/studio/${id}`).send({ name: 'Countess' });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        id,
        name: 'Countess',
        password_scheme: 'argon2id',
        updated_at: engine.clock.now().toISOString(),
      });
      expect(answer.headers['etag']).toBe('"2"');
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'studio_admin.updated',
        sequence: 2,
        data: { object: answer.body, previous: { name: 'Ada' } },
      });
      expect(await stored(id)).toEqual(before);
    });

    it.each([
      [BCRYPT, { password_scheme: 'argon2id' }],
      [ARGON2ID.replace('t=3', 't=4'), {}],
    ])('get another password, which ends their sessions: %s', async (passwordHash, previous) => {
      const { id } = await createAdmin();
      const password_changed_at = engine.clock.now().toISOString();
      engine.clock.advanceMs(1_000);
      const answer = await engine.http.patch(`/v1/studio/${id}`).send({ passwordHash });
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body as object).sort()).toEqual(
        [
          ...['created_at', 'email', 'id', 'is_active'],
          ...['name', 'password_changed_at', 'password_scheme', 'role', 'updated_at'],
        ].sort(),
      );
      expect(await stored(id)).toEqual({
        hash: passwordHash,
        sessions: engine.clock.now().toISOString(),
      });
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'studio_admin.updated',
        sequence: 2,
        data: { object: answer.body, previous: { ...previous, password_changed_at } },
      });
    });

    it('get both, and the audit log shows both', async () => {
      const { id } = await createAdmin();
      const before = engine.clock.now();
      const answer = await engine.http
        .patch(`/v1/studio/${id}`)
        .send({ name: 'Both', passwordHash: BCRYPT });
      expect(answer.body).toMatchObject({ name: 'Both', password_scheme: 'bcrypt' });
      expect((await eventsOf(engine, id)).at(-1)?.data.previous).toEqual({
        name: 'Ada',
        password_scheme: 'argon2id',
        password_changed_at: before.toISOString(),
      });
      const { body } = await engine.http.get(`/v1/audit-log?object_id=${id}&limit=1`);
      const { changes } = (body as { data: { changes: object[] }[] }).data[0] ?? {};
      expect(changes).toEqual([
        expect.objectContaining({
          changes: {
            name: { before: 'Ada', after: 'Both' },
            password_scheme: { before: 'argon2id', after: 'bcrypt' },
            // The clock stands still, but each change shows.
            password_changed_at: {
              before: before.toISOString(),
              after: new Date(before.getTime() + 1).toISOString(),
            },
          },
        }),
      ]);
    });

    it.each([{}, { name: 'Ada' }, { passwordHash: ARGON2ID }])(
      'with %j stay as they were, without an event',
      async (change) => {
        const { id } = await createAdmin();
        const before = await engine.http.get(`/v1/studio/${id}`);
        const row = await stored(id);
        engine.clock.advanceMs(1_000);
        const answer = await engine.http.patch(`/v1/studio/${id}`).send(change);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual(before.body);
        expect(await stored(id)).toEqual(row);
        expect(await eventsOf(engine, id)).toHaveLength(1);
      },
    );

    it('stay as they were without a body', async () => {
      const { id } = await createAdmin();
      expect((await engine.http.patch(`/v1/studio/${id}`)).status).toBe(200);
    });

    it.each([
      [{ name: '' }, '/name'],
      [{ name: null }, '/name'],
      [{ name: 'x'.repeat(201) }, '/name'],
      [{ passwordHash: '' }, '/passwordHash'],
      [{ passwordHash: null }, '/passwordHash'],
      [{ passwordHash: 'x'.repeat(513) }, '/passwordHash'],
      [{ email: 'other@example.com' }, '/email'],
      [{ role: 'owner' }, '/role'],
      [{ is_active: true }, '/is_active'],
      [{ password_hash: BCRYPT }, '/password_hash'],
    ])('with %j are refused', async (change, pointer) => {
      const { id } = await createAdmin();
      const answer = await engine.http.patch(`/v1/studio/${id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer }] });
      expect(await eventsOf(engine, id)).toHaveLength(1);
    });

    it('concurrently lose no change', async () => {
      const { id } = await createAdmin();
      const names = Array.from({ length: 10 }, (_, index) => `Name ${index}`);
      const answers = await Promise.all(
        names.map((name) => engine.http.patch(`/v1/studio/${id}`).send({ name })),
      );
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect((await eventsOf(engine, id)).map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 11 }, (_, index) => index + 1),
      );
    });

    it('with If-Match only in the version the caller read', async () => {
      const { id } = await createAdmin();
      const rename = (tag: string, name: string) =>
        engine.http.patch(`/v1/studio/${id}`).set('If-Match', tag).send({ name });
      expect((await rename('"1"', 'A')).status).toBe(200);
      const stale = await rename('"1"', 'B');
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
      expect((await rename('*', 'C')).status).toBe(200);
    });
  });

  describe('deleted', () => {
    it('are deactivated and signed out, once', async () => {
      const { id, email } = await createAdmin();
      engine.clock.advanceMs(1_000);
      expect((await engine.http.delete(`/v1/studio/${id}`).set('If-Match', '"7"')).status).toBe(
        412,
      );
      expect((await engine.http.delete(`/v1/studio/${id}`)).status).toBe(204);
      const after = await engine.http.get(`/v1/studio/${id}`);
      expect(after.body).toMatchObject({ is_active: false });
      expect((await stored(id))?.sessions).toBe(engine.clock.now().toISOString());
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'studio_admin.updated',
        sequence: 2,
        data: { object: after.body, previous: { is_active: true } },
      });

      expect((await engine.http.delete(`/v1/studio/${id}`)).status).toBe(204);
      expect(await eventsOf(engine, id)).toHaveLength(2);
      const again = await engine.http
        .post('/v1/studio')
        .send({ email, name: 'Again', passwordHash: BCRYPT });
      expect(again.body).toMatchObject({ code: 'studio_admin_email_taken' });
    });

    it('leave one owner, also when all are deleted concurrently', async () => {
      const owners: string[] = [];
      for (let made = 0; made < 6; made += 1)
        owners.push((await createAdmin({ role: 'owner' })).id);
      await createAdmin({ role: 'admin' });
      const answers = await Promise.all(
        // In any order.
        [...owners.slice(3), ...owners.slice(0, 3).reverse()].map((id) =>
          engine.http.delete(`/v1/studio/${id}`),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 204, 204, 204, 409]);
      expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
        code: 'last_owner',
      });
      const rows = await engine.database.query<{ id: string }>(
        `SELECT id FROM studio_admin WHERE role = 'owner' AND is_active`,
      );
      expect(rows).toHaveLength(1);
      await createAdmin({ role: 'owner' });
      expect((await engine.http.delete(`/v1/studio/${rows[0]?.id ?? ''}`)).status).toBe(204);
    });
  });

  it('are listed newest first, page by page', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) made.push((await createAdmin()).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await engine.http
        .get('/v1/studio')
        .query(cursor === null ? { limit: 2 } : { limit: 2, cursor });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('$argon2id$');
      const page = answer.body as { data: { id: string }[]; next_cursor: string | null };
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.slice(0, 5)).toEqual([...made].reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('listed with a cursor of another list are refused', async () => {
    const answer = await engine.http.get('/v1/studio?cursor=nope');
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_cursor' });
  });

  it.each(['admin_01h455vb4pex5vsknk084sn02q', 'nope', 'coup_01h455vb4pex5vsknk084sn02q', '%00'])(
    'with the unknown id %s give 404',
    async (id) => {
      for (const method of ['get', 'patch', 'delete'] as const) {
        const answer = await engine.http[method](`/v1/studio/${id}`);
        expect(answer.status).toBe(404);
        expect(answer.body).toMatchObject({ code: 'studio_admin_not_found' });
      }
    },
  );
});

describe('an API key with studio:write', () => {
  let engine: TestApp;
  let secret: string;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
    ({ secret } = await createKey(engine, 'studio:write', 'studio:read', 'keys:write'));
  });

  afterAll(() => engine.close());

  it.each(['owner', 'admin', 'support', 'viewer'] as const)(
    'cannot create an admin with the role %s, nor take one over',
    async (role) => {
      const admin = { email: `new-${role}@example.com`, name: 'N', passwordHash: BCRYPT, role };
      const { id } = await createAdminOf(engine, role);
      const attempts = [
        engine.http.post('/v1/studio').send(admin),
        engine.http.patch(`/v1/studio/${id}`).send({ passwordHash: BCRYPT }),
        engine.http.delete(`/v1/studio/${id}/second-factor`),
      ];
      for (const attempt of attempts) {
        const { status, body } = await attempt.set(bearing(secret));
        expect([status, body]).toEqual([403, expect.objectContaining({ code: 'scope_not_held' })]);
      }
      const { body } = await engine.http.get(`/v1/studio/${id}`).set(bearing(secret));
      expect(body).toMatchObject({ password_scheme: 'argon2id' });
    },
  );

  it('changes the refund limits of support only with refunds:write', async () => {
    const limits = { support_refund_limits: [{ currency: 'USD', amount: 5_000 }] };
    const change = (key: string, body: object) =>
      engine.http.patch('/v1/studio-settings').set(bearing(key)).send(body);
    const refused = await change(secret, limits);
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({ code: 'scope_not_held', required_scope: 'refunds:write' }),
    ]);
    const refunds = await createKey(engine, 'studio:write', 'refunds:write');
    await change(refunds.secret, limits).expect(200);
    // Neither the same limits nor another setting hand anything out.
    await change(secret, { ...limits, second_factor_required: true }).expect(200);
    // Owners would no longer need a second factor.
    const lifted = await change(secret, { second_factor_required: false });
    expect([lifted.status, lifted.body]).toEqual([
      403,
      expect.objectContaining({ code: 'scope_not_held', required_scope: '*' }),
    ]);
    await change(BOOTSTRAP_KEY, { second_factor_required: false }).expect(200);
  });

  it('deactivates any admin, and with all scopes of a role creates admins of that role', async () => {
    const { id } = await createAdminOf(engine, 'owner');
    await createAdminOf(engine, 'owner');
    await engine.http.delete(`/v1/studio/${id}`).set(bearing(secret)).expect(204);
    const viewer = await createKey(engine, 'studio:write', ...scopesOfRole('viewer'));
    const create = (role: string) =>
      engine.http
        .post('/v1/studio')
        .set(bearing(viewer.secret))
        .send({ email: `made-${role}@example.com`, name: 'N', passwordHash: BCRYPT, role });
    await create('viewer').expect(201);
    const refused = await create('support');
    expect(refused.body).toMatchObject({ required_scope: 'customers:write' });
    expect((await create('owner')).body).toMatchObject({ required_scope: '*' });
  });
});

describe('the password hash of a studio admin', () => {
  it('is stored only in its column: in no response, event, stored response, error or log', async () => {
    const log = captureLog();
    const engine = await startTestApp({ environment: { LOG_LEVEL: 'trace' } });
    try {
      const answers: string[] = [];
      const send = async (method: 'post' | 'patch', path: string, body: object) => {
        const answer = await engine.http[method](path)
          .set('Idempotency-Key', `leak-${answers.length}`)
          .send(body);
        answers.push(`${answer.text}${JSON.stringify(answer.headers)}`);
        return answer;
      };
      const admin = { email: 'leak@example.com', name: 'Leak', passwordHash: ARGON2ID };
      const { id } = (await send('post', '/v1/studio', admin)).body as { id: string };
      await send('patch', `/v1/studio/${id}`, { passwordHash: BCRYPT });
      await send('patch', `/v1/studio/${id}`, { passwordHash: ARGON2ID, other: BCRYPT });
      expect((await send('post', '/v1/studio', admin)).status).toBe(409);
      expect((await send('post', '/v1/studio', { ...admin, email: 'x', name: 1 })).status).toBe(
        400,
      );
      // A database error contains the values of its statement.
      await engine.database.query('ALTER TABLE studio_admin ADD CHECK (false) NOT VALID');
      const failed = await send('patch', `/v1/studio/${id}`, { passwordHash: ARGON2ID });
      expect(failed.status).toBe(500);
      answers.push((await engine.http.get('/v1/studio')).text);

      const elsewhere = await contentsOfTables(engine, 'studio_admin');
      expect(elsewhere).toContain('studio_admin.updated');
      expect(elsewhere).toContain('leak-0');
      expect(log.text()).toContain('request failed');
      for (const text of [...answers, elsewhere, log.text()]) {
        expect(text).not.toContain(ARGON2ID.slice(-20));
        expect(text).not.toContain(BCRYPT.slice(-20));
      }
    } finally {
      await engine.close();
      log.stop();
    }
  });
});
