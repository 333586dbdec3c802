import { SecretBox } from '../../src/platform/secrets';
import { WebhookSecretsService } from '../../src/modules/webhooks/webhook-secrets.service';
import { captureLog, contentsOfTables } from '../support/leaks';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

const PATH = '/v1/webhooks/endpoints';
const URL_SENT = 'https://example.com/hooks?token=1';
const HOUR_MS = 3_600_000;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

interface SecretRow {
  readonly id: string;
  readonly sealed: string;
  readonly expires_at: Date | null;
}

describe('webhook endpoints', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  afterEach(async () => {
    await engine.database.query('DELETE FROM webhook_secret');
    await engine.database.query('DELETE FROM webhook_endpoint');
  });

  async function createEndpoint(fields: object = {}): Promise<string> {
    const answer = await engine.http
      .post(PATH)
      .send({ url: URL_SENT, events: ['coupon.created'], ...fields });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  function secretRows(endpointId: string): Promise<readonly SecretRow[]> {
    return engine.database.query<SecretRow>(
      'SELECT id, sealed, expires_at FROM webhook_secret WHERE endpoint_id = $1 ORDER BY id',
      [endpointId],
    );
  }

  async function secretOf(id: string): Promise<string> {
    const answer = await engine.http.get(`${PATH}/${id}/secret`);
    expect(answer.status).toBe(200);
    return (answer.body as { secret: string }).secret;
  }

  async function rotate(id: string): Promise<{ secret: string; expiresAt: string }> {
    const answer = await engine.http.post(`${PATH}/${id}/rotate-secret`);
    expect(answer.status).toBe(200);
    const body = answer.body as { secret: string; previous_secret_expires_at: string };
    return { secret: body.secret, expiresAt: body.previous_secret_expires_at };
  }

  async function validSecrets(id: string): Promise<readonly string[]> {
    const service = engine.app.get(WebhookSecretsService);
    return (await service.validSecretsByEndpoint([id], engine.clock.now())).get(id) ?? [];
  }

  it('are none at first', async () => {
    expect((await engine.http.get(PATH)).body).toEqual({ data: [], next_cursor: null });
  });

  it('are registered with a URL and event names, and return only id and success', async () => {
    const answer = await engine.http
      .post(PATH)
      .send({ url: URL_SENT, events: ['coupon.created', 'coupon.*', '*'] });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^whe_/) as string,
      success: true,
    });
    expect(answer.headers['etag']).toBe('"1"');
  });

  it('are shown with every field', async () => {
    const now = engine.clock.now().toISOString();
    const id = await createEndpoint({
      description: 'Accounting',
      metadata: { team: 'billing', nested: { a: null } },
    });
    const shown = await engine.http.get(`${PATH}/${id}`);
    expect(shown.status).toBe(200);
    expect(shown.headers['etag']).toBe('"1"');
    expect(shown.body).toEqual({
      id,
      url: URL_SENT,
      events: ['coupon.created'],
      description: 'Accounting',
      is_active: true,
      ordered: false,
      disabled_reason: null,
      metadata: { team: 'billing', nested: { a: null } },
      created_at: now,
      updated_at: now,
    });
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'webhook_endpoint.created', sequence: 1, data: { object: shown.body, previous: {} } },
    ]);
  });

  it('keep unknown event names and return them', async () => {
    const events = ['coupon.created', 'invoice.payed', 'cupon.*', 'coupon.*'];
    const answer = await engine.http.post(PATH).send({ url: URL_SENT, events });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ unknown_events: ['invoice.payed', 'cupon.*'] });
    const { id } = answer.body as { id: string };
    const path = `${PATH}/${id}`;
    expect((await engine.http.get(path)).body).toMatchObject({ events });

    const updated = await engine.http.patch(path).send({ events: ['a.b', 'coupon.updated'] });
    expect(updated.body).toMatchObject({ unknown_events: ['a.b'] });
    const renamed = await engine.http.patch(path).send({ description: 'x' });
    expect(renamed.body).not.toHaveProperty('unknown_events');
    expect((await eventsOf(engine, id)).at(-1)?.data.object).toEqual(renamed.body);
  });

  it('are registered once for one idempotency key', async () => {
    const create = (events: readonly string[]) =>
      engine.http.post(PATH).set('Idempotency-Key', 'whe-1').send({ url: URL_SENT, events });
    const [first, second] = [await create(['a.b']), await create(['a.b'])];
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    const other = await create(['a.c']);
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ code: 'idempotency_key_reused' });
  });

  const names = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `coupon.e${index}`);

  it('take 100 names', async () => {
    await createEndpoint({ events: names(100) });
  });

  it.each([
    [{ url: undefined }, '/url', 'is_endpoint_url'],
    [{ url: null }, '/url', 'is_endpoint_url'],
    [{ url: [URL_SENT] }, '/url', 'is_endpoint_url'],
    [{ url: 'example.com' }, '/url', 'is_endpoint_url'],
    [{ url: 'ftp://example.com' }, '/url', 'is_endpoint_url'],
    [{ url: 'https://ada:whisper@example.com' }, '/url', 'is_endpoint_url'],
    [{ url: 'https://example.com/#part' }, '/url', 'is_endpoint_url'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, '/url', 'is_endpoint_url'],
    [{ events: [] }, '/events', 'array_min_size'],
    [{ events: names(101) }, '/events', 'array_max_size'],
    [{ events: ['a.b', 'a.b'] }, '/events', 'array_unique'],
    [{ events: ['a.b', 'invoice paid'] }, '/events', 'is_event_name'],
    [{ events: ['*.paid'] }, '/events', 'is_event_name'],
    [{ events: [null] }, '/events', 'is_event_name'],
    [{ description: '' }, '/description', 'is_text'],
    [{ description: 'x'.repeat(501) }, '/description', 'is_text'],
    [{ metadata: [] }, '/metadata', 'is_metadata'],
    [{ secret: 'whsec_x' }, '/secret', 'unknown_field'],
  ])('with %j are refused, created and updated', async (fields, pointer, code) => {
    const expected = { code: 'validation_failed', errors: [{ pointer, code }] };
    const created = await engine.http
      .post(PATH)
      .send({ url: URL_SENT, events: ['a.b'], ...fields });
    expect(created.status).toBe(400);
    expect(created.body).toMatchObject(expected);
    expect(created.text).not.toContain('whisper');
    if (Object.values(fields).includes(undefined)) return;
    const updated = await engine.http.patch(`${PATH}/${await createEndpoint()}`).send(fields);
    expect(updated.status).toBe(400);
    expect(updated.body).toMatchObject(expected);
  });

  it.each([{ events: undefined }, { events: null }, { events: 'coupon.created' }])(
    'with %j are refused',
    async (fields) => {
      const answer = await engine.http.post(PATH).send({ url: URL_SENT, ...fields });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed' });
    },
  );

  it('are limited to 100, also with concurrent registrations, and deleting one makes room', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 98; count += 1) ids.push(await createEndpoint());
    const create = () => engine.http.post(PATH).send({ url: URL_SENT, events: ['*'] });
    const answers = await Promise.all(Array.from({ length: 5 }, create));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body).toMatchObject({
      code: 'too_many_webhook_endpoints',
    });
    expect((await engine.http.delete(`${PATH}/${ids[0] ?? ''}`)).status).toBe(204);
    expect((await create()).status).toBe(201);
  });

  describe('updated', () => {
    it('change in every field, with an event that contains the previous values', async () => {
      const id = await createEndpoint({ description: 'Old', metadata: { a: 1, b: 2 } });
      engine.clock.advanceMs(1_000);
      const answer = await engine.http.patch(`${PATH}/${id}`).send({
        url: 'http://example.org:8080/',
        events: ['coupon.*'],
        description: null,
        is_active: false,
        ordered: true,
        metadata: { a: null, c: 3 },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers['etag']).toBe('"2"');
      expect(answer.body).toMatchObject({
        url: 'http://example.org:8080/',
        events: ['coupon.*'],
        description: null,
        is_active: false,
        ordered: true,
        disabled_reason: null,
        metadata: { b: 2, c: 3 },
        updated_at: engine.clock.now().toISOString(),
      });
      expect((await engine.http.get(`${PATH}/${id}`)).body).toEqual(answer.body);
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'webhook_endpoint.updated',
        sequence: 2,
        data: {
          object: answer.body,
          previous: {
            url: URL_SENT,
            events: ['coupon.created'],
            description: 'Old',
            is_active: true,
            ordered: false,
            metadata: { a: 1, b: 2 },
          },
        },
      });
    });

    it.each([
      {},
      { url: URL_SENT },
      { events: ['coupon.created'] },
      { description: 'Same' },
      { is_active: true, ordered: false },
      { metadata: {} },
      { metadata: { x: null } },
    ])('with %j stay as they were, without an event', async (change) => {
      const id = await createEndpoint({ description: 'Same', metadata: { a: 1 } });
      const before = await engine.http.get(`${PATH}/${id}`);
      engine.clock.advanceMs(1_000);
      const answer = await engine.http.patch(`${PATH}/${id}`).send(change);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(before.body);
      expect(await eventsOf(engine, id)).toHaveLength(1);
    });

    it.each([
      { is_active: 'true' },
      { is_active: null },
      { ordered: 1 },
      { disabled_reason: null },
    ])('with %j are refused', async (change) => {
      const answer = await engine.http.patch(`${PATH}/${await createEndpoint()}`).send(change);
      expect(answer.status).toBe(400);
    });

    it('lose their disabled_reason when they are enabled again', async () => {
      const id = await createEndpoint();
      await engine.database.query(
        `UPDATE webhook_endpoint SET is_active = false, disabled_reason = 'gone' WHERE id = $1`,
        [id],
      );
      const path = `${PATH}/${id}`;
      expect((await engine.http.patch(path).send({ is_active: false })).body).toMatchObject({
        is_active: false,
        disabled_reason: 'gone',
      });
      expect((await engine.http.patch(path).send({ is_active: true })).body).toMatchObject({
        is_active: true,
        disabled_reason: null,
      });
      expect((await eventsOf(engine, id)).at(-1)?.data.previous).toEqual({
        is_active: false,
        disabled_reason: 'gone',
      });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const id = await createEndpoint({ metadata: half('a') });
      const answer = await engine.http.patch(`${PATH}/${id}`).send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('concurrently lose no change', async () => {
      const id = await createEndpoint();
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
      await Promise.all(
        keys.map((key) => engine.http.patch(`${PATH}/${id}`).send({ metadata: { [key]: 1 } })),
      );
      const { body } = await engine.http.get(`${PATH}/${id}`);
      expect(Object.keys((body as { metadata: object }).metadata).sort()).toEqual(keys);
      expect(await eventsOf(engine, id)).toHaveLength(11);
    });

    it('with If-Match only in the version the caller read', async () => {
      const id = await createEndpoint();
      const change = (tag: string, ordered: boolean) =>
        engine.http.patch(`${PATH}/${id}`).set('If-Match', tag).send({ ordered });
      expect((await change('"1"', true)).status).toBe(200);
      const stale = await change('"1"', false);
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
    });
  });

  it('deleted lose their secrets and keep their row', async () => {
    const id = await createEndpoint();
    const shown = await engine.http.get(`${PATH}/${id}`);
    expect((await engine.http.delete(`${PATH}/${id}`).set('If-Match', '"7"')).status).toBe(412);
    const both = await Promise.all([
      engine.http.delete(`${PATH}/${id}`),
      engine.http.delete(`${PATH}/${id}`),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
    const { http } = engine;
    for (const gone of [
      await http.get(`${PATH}/${id}`),
      await http.patch(`${PATH}/${id}`),
      await http.delete(`${PATH}/${id}`),
      await http.get(`${PATH}/${id}/secret`),
      await http.post(`${PATH}/${id}/rotate-secret`),
    ]) {
      expect(gone.status).toBe(404);
      expect(gone.body).toMatchObject({ code: 'webhook_endpoint_not_found' });
    }
    expect((await http.get(PATH)).body).toEqual({ data: [], next_cursor: null });
    expect(await secretRows(id)).toEqual([]);
    expect(
      await engine.database.query('SELECT id FROM webhook_endpoint WHERE deleted_at IS NOT NULL'),
    ).toEqual([{ id }]);
    expect((await eventsOf(engine, id)).at(-1)).toEqual({
      type: 'webhook_endpoint.deleted',
      sequence: 2,
      data: { object: shown.body, previous: {} },
    });
  });

  it('are listed newest first, page by page', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.push(await createEndpoint());
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await engine.http
        .get(PATH)
        .query(cursor === null ? { limit: 2 } : { limit: 2, cursor });
      expect(answer.status).toBe(200);
      const page = answer.body as { data: { id: string }[]; next_cursor: string | null };
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual([...made].reverse());
  });

  it('listed with a cursor of another list are refused', async () => {
    const answer = await engine.http.get(`${PATH}?cursor=nope`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_cursor' });
  });

  it.each(['whe_01h455vb4pex5vsknk084sn02q', 'nope', 'coup_01h455vb4pex5vsknk084sn02q', '%00'])(
    'with the unknown id %s give 404',
    async (id) => {
      const { http } = engine;
      for (const answer of [
        await http.get(`${PATH}/${id}`),
        await http.patch(`${PATH}/${id}`),
        await http.delete(`${PATH}/${id}`),
        await http.get(`${PATH}/${id}/secret`),
        await http.post(`${PATH}/${id}/rotate-secret`),
      ]) {
        expect(answer.status).toBe(404);
        expect(answer.body).toMatchObject({ code: 'webhook_endpoint_not_found' });
      }
    },
  );

  describe('the secret', () => {
    const spoil = (secretId: string | undefined) =>
      engine.database.query(
        `UPDATE webhook_secret SET sealed = 'v1:lost:' || substring(sealed FROM 9) WHERE id = $1`,
        [secretId],
      );

    it('is 32 random bytes, unique per endpoint, and encrypted for its row', async () => {
      const [one, other] = [await createEndpoint(), await createEndpoint()];
      const secrets = [await secretOf(one), await secretOf(other)];
      for (const secret of secrets) expect(secret).toMatch(SECRET);
      expect(secrets[0]).not.toBe(secrets[1]);
      const [row] = await secretRows(one);
      const box = engine.app.get(SecretBox);
      expect(box.open(row?.sealed ?? '', row?.id ?? '')).toBe(secrets[0]);
      expect(() => box.open(row?.sealed ?? '', other)).toThrow('was changed');
    });

    it('is not cached', async () => {
      const id = await createEndpoint();
      const read = await engine.http.get(`${PATH}/${id}/secret`);
      const rotated = await engine.http.post(`${PATH}/${id}/rotate-secret`);
      for (const answer of [read, rotated])
        expect(answer.headers['cache-control']).toBe('no-store');
    });

    it('stays valid for 24 hours after a rotation', async () => {
      const id = await createEndpoint();
      const old = await secretOf(id);
      const { secret, expiresAt } = await rotate(id);
      expect(secret).toMatch(SECRET);
      expect(expiresAt).toBe(new Date(engine.clock.now().getTime() + 24 * HOUR_MS).toISOString());
      expect(await secretOf(id)).toBe(secret);
      expect(await validSecrets(id)).toEqual([secret, old]);
      engine.clock.advanceMs(24 * HOUR_MS - 1);
      expect(await validSecrets(id)).toEqual([secret, old]);
      engine.clock.advanceMs(1);
      expect(await validSecrets(id)).toEqual([secret]);
      const shown = await engine.http.get(`${PATH}/${id}`);
      expect(shown.headers['etag']).toBe('"2"');
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'webhook_endpoint.updated',
        sequence: 2,
        data: { object: shown.body, previous: {} },
      });
    });

    it('rotated again within 24 hours: each replaced secret stays valid for its own 24 hours', async () => {
      const id = await createEndpoint();
      const first = await secretOf(id);
      const second = (await rotate(id)).secret;
      engine.clock.advanceMs(20 * HOUR_MS);
      const third = (await rotate(id)).secret;
      expect(await validSecrets(id)).toEqual([third, second, first]);
      engine.clock.advanceMs(4 * HOUR_MS);
      expect(await validSecrets(id)).toEqual([third, second]);
      const fourth = (await rotate(id)).secret;
      expect(await validSecrets(id)).toEqual([fourth, third, second]);
      expect(await secretRows(id)).toHaveLength(3);
    });

    it('rotated concurrently: one is current, none is lost', async () => {
      const id = await createEndpoint();
      const first = await secretOf(id);
      const rotated = await Promise.all(Array.from({ length: 5 }, () => rotate(id)));
      const all = await validSecrets(id);
      expect([...all].sort()).toEqual([first, ...rotated.map(({ secret }) => secret)].sort());
      const rows = await secretRows(id);
      expect(rows.filter(({ expires_at: expiresAt }) => expiresAt === null)).toHaveLength(1);
    });

    it('is rotated at most 10 times within a day', async () => {
      const id = await createEndpoint();
      for (let count = 0; count < 10; count += 1) await rotate(id);
      const refused = await engine.http.post(`${PATH}/${id}/rotate-secret`);
      expect(refused.status).toBe(409);
      expect(refused.body).toMatchObject({ code: 'too_many_webhook_secrets' });
      engine.clock.advanceMs(24 * HOUR_MS);
      await rotate(id);
      expect(await validSecrets(id)).toHaveLength(2);
    });

    it('that cannot be decrypted is replaced by a rotation, and no longer stops deliveries', async () => {
      const id = await createEndpoint();
      const [row] = await secretRows(id);
      await spoil(row?.id);
      expect(await validSecrets(id)).toEqual([]);
      const { secret } = await rotate(id);
      expect(await secretOf(id)).toBe(secret);
      expect(await validSecrets(id)).toEqual([secret]);
    });

    it('signs alone if a replaced one cannot be decrypted, also after the next rotation', async () => {
      const id = await createEndpoint();
      const [row] = await secretRows(id);
      const { secret } = await rotate(id);
      await spoil(row?.id);
      expect(await secretOf(id)).toBe(secret);
      expect(await validSecrets(id)).toEqual([secret]);
      const next = await rotate(id);
      expect(await validSecrets(id)).toEqual([next.secret, secret]);
    });

    it('cannot be current twice for one endpoint, enforced by the database', async () => {
      const id = await createEndpoint();
      await expect(
        engine.database.query(
          `INSERT INTO webhook_secret (id, endpoint_id, sealed, created_at)
           VALUES ('whs_second', $1, 'x', now())`,
          [id],
        ),
      ).rejects.toThrow('webhook_secret_current_unique');
    });

    it('is rotated without a body or with an empty one only', async () => {
      const path = `${PATH}/${await createEndpoint()}/rotate-secret`;
      expect((await engine.http.post(path).send({})).status).toBe(200);
      const answer = await engine.http.post(path).send({ secret: 'whsec_mine' });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '/secret', code: 'unknown_field' }],
      });
    });

    it('rotated with an idempotency key: rotated once, same response bytes, stored encrypted', async () => {
      const id = await createEndpoint();
      const send = () =>
        engine.http.post(`${PATH}/${id}/rotate-secret`).set('Idempotency-Key', 'rotate-1');
      const [first, second] = [await send(), await send()];
      expect(first.status).toBe(200);
      expect(first.headers['idempotent-replayed']).toBeUndefined();
      expect(second.status).toBe(200);
      expect(second.headers['idempotent-replayed']).toBe('true');
      expect(second.headers['cache-control']).toBe('no-store');
      expect(second.headers['content-type']).toBe(first.headers['content-type']);
      expect(second.text).toBe(first.text);
      const { secret } = first.body as { secret: string };
      expect(await secretOf(id)).toBe(secret);
      expect(await secretRows(id)).toHaveLength(2);
      const stored = await engine.database.query<{ answer_body: string }>(
        `SELECT answer_body FROM idempotency_key WHERE key = 'rotate-1'`,
      );
      expect(stored[0]?.answer_body).toMatch(/^v1:test:[A-Za-z0-9_-]+$/);
    });

    it('not rotated with an idempotency key: the refusal is stored as well', async () => {
      const send = () =>
        engine.http
          .post(`${PATH}/whe_01h455vb4pex5vsknk084sn02q/rotate-secret`)
          .set('Idempotency-Key', 'rotate-2');
      const [first, second] = [await send(), await send()];
      expect(first.status).toBe(404);
      expect(first.body).toMatchObject({ code: 'webhook_endpoint_not_found' });
      expect(second.status).toBe(404);
      expect(second.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(second.headers['idempotent-replayed']).toBe('true');
      expect(second.body).toEqual({ ...first.body, request_id: second.headers['x-request-id'] });
    });
  });
});

describe('the secrets of webhook endpoints', () => {
  it('are in plain text in no table, event, stored response or log', async () => {
    const log = captureLog();
    const engine = await startTestApp({ environment: { LOG_LEVEL: 'trace' } });
    try {
      const created = await engine.http
        .post(PATH)
        .set('Idempotency-Key', 'leak-1')
        .send({ url: URL_SENT, events: ['*'] });
      const { id } = created.body as { id: string };
      const path = `${PATH}/${id}`;
      const secrets: string[] = [];
      const keep = ({ body }: { body: unknown }): void => {
        secrets.push((body as { secret: string }).secret);
      };
      keep(await engine.http.get(`${path}/secret`));
      keep(await engine.http.post(`${path}/rotate-secret`).set('Idempotency-Key', 'leak-2'));
      keep(await engine.http.post(`${path}/rotate-secret`));
      await engine.http.patch(path).send({ ordered: true });
      // A secret that cannot be decrypted is logged without its value.
      await engine.database.query(`UPDATE webhook_secret SET sealed = sealed || 'A'`);
      expect((await engine.http.get(`${path}/secret`)).status).toBe(500);
      expect(log.text()).toContain('SealedTextError');

      const shown = [
        created.text,
        (await engine.http.get(path)).text,
        (await engine.http.get(PATH)).text,
        await contentsOfTables(engine),
        log.text(),
      ];
      expect(secrets).toHaveLength(3);
      for (const secret of secrets) {
        expect(secret).toMatch(SECRET);
        for (const text of shown) expect(text).not.toContain(secret.slice('whsec_'.length, -1));
      }
    } finally {
      await engine.close();
      log.stop();
    }
  });
});
