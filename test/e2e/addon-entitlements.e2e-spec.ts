import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('links between add-ons and entitlements', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  interface LinkBody {
    readonly id: string;
    readonly addon_id: string;
    readonly entitlement_id: string;
  }

  const LINKS = '/v1/addon-entitlements';
  let count = 0;

  async function create(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(path).send(body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  function createAddon(): Promise<string> {
    count += 1;
    const body = { code: `addon-${count}`, name: 'Add-on', currency: 'EUR', prices: [] };
    return create('/v1/addons', body);
  }

  function createEntitlement(type = 'static'): Promise<string> {
    count += 1;
    return create('/v1/entitlements', { key: `feature-${count}`, name: 'Feature', type });
  }

  async function pair(type = 'static'): Promise<{ addon_id: string; entitlement_id: string }> {
    return { addon_id: await createAddon(), entitlement_id: await createEntitlement(type) };
  }

  async function createLink(fields: object = {}): Promise<LinkBody> {
    const answer = await engine.http.post(LINKS).send({ ...(await pair()), value: '5', ...fields });
    expect(answer.status).toBe(201);
    return answer.body as LinkBody;
  }

  const listOf = (addonId: string) => engine.http.get(LINKS).query({ addon_id: addonId });

  it('are created with every field the API shows', async () => {
    const sent = {
      ...(await pair('metered')),
      mode: 'set',
      value: '1000.5',
      metadata: { a: { b: null } },
    };
    const answer = await engine.http.post(LINKS).send(sent);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^aent_/) as string,
      ...sent,
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as LinkBody;
    const read = await engine.http.get(`${LINKS}/${id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers['etag']).toBe('"1"');
    expect(await eventsOf(engine, id)).toEqual([
      {
        type: 'addon_entitlement.created',
        sequence: 1,
        data: { object: answer.body, previous: {} },
      },
    ]);
  });

  it.each([
    ['static', { value: '5' }, { mode: 'increment', value: '5' }],
    ['static', { value: '0' }, { mode: 'increment', value: '0' }],
    ['metered', { value: '0.5', mode: 'set' }, { mode: 'set', value: '0.5' }],
    ['boolean', {}, { mode: 'set', value: null }],
    ['boolean', { mode: 'set', value: null }, { mode: 'set', value: null }],
  ])('to a %s entitlement, sent as %j, are stored as %j', async (type, sent, shown) => {
    const answer = await engine.http.post(LINKS).send({ ...(await pair(type)), ...sent });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ ...shown, metadata: {} });
  });

  it.each([
    ['static', {}, ['/value']],
    ['metered', { mode: 'set', value: null }, ['/value']],
    ['boolean', { value: '1' }, ['/value']],
    ['boolean', { mode: 'increment' }, ['/mode']],
  ])('to a %s entitlement, sent as %j, are refused', async (type, sent, pointers) => {
    const answer = await engine.http.post(LINKS).send({ ...(await pair(type)), ...sent });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'addon_entitlement_value_contradicts',
      errors: pointers.map((pointer) => ({ pointer })),
    });
  });

  it.each([
    [{ addon_id: undefined }, '/addon_id', 'is_text'],
    [{ addon_id: '' }, '/addon_id', 'is_text'],
    [{ addon_id: 5 }, '/addon_id', 'is_text'],
    [{ entitlement_id: undefined }, '/entitlement_id', 'is_text'],
    [{ mode: 'add' }, '/mode', 'is_in'],
    [{ mode: null }, '/mode', 'is_in'],
    [{ value: 5 }, '/value', 'matches'],
    [{ value: '-5' }, '/value', 'matches'],
    [{ value: '05' }, '/value', 'matches'],
    [{ metadata: null }, '/metadata', 'is_metadata'],
    [{ quantity: 1 }, '/quantity', 'unknown_field'],
  ])('with %j are refused', async (fields, pointer, code) => {
    const body = { addon_id: 'addon_1', entitlement_id: 'ent_1', value: '5', ...fields };
    const answer = await engine.http.post(LINKS).send(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
  });

  it.each([
    ['/addon_id', { addon_id: 'addon_01h455vb4pex5vsknk084sn02q' }],
    ['/addon_id', { addon_id: 'nope' }],
    ['/entitlement_id', { entitlement_id: 'ent_01h455vb4pex5vsknk084sn02q' }],
  ])('to a missing object at %s are refused: %j', async (pointer, fields) => {
    const answer = await engine.http.post(LINKS).send({ ...(await pair()), value: '5', ...fields });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'reference_not_found', errors: [{ pointer }] });
  });

  it('cannot be created for an archived add-on; existing ones stay listed', async () => {
    const link = await createLink();
    expect((await engine.http.delete(`/v1/addons/${link.addon_id}`)).status).toBe(204);
    const answer = await engine.http
      .post(LINKS)
      .send({ ...(await pair()), addon_id: link.addon_id, value: '5' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'reference_not_found' });
    expect((await listOf(link.addon_id)).body).toEqual([link]);
  });

  it('of one pair, created concurrently, are created once', async () => {
    const body = { ...(await pair()), value: '5' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => engine.http.post(LINKS).send(body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'addon_entitlement_exists', status: 409 });
    expect((await listOf(body.addon_id)).body).toHaveLength(1);
  });

  it('sent twice with one key are created once', async () => {
    const body = { ...(await pair()), value: '5' };
    const send = () => engine.http.post(LINKS).set('Idempotency-Key', 'link-once').send(body);
    const first = await send();
    const second = await send();
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await listOf(body.addon_id)).body).toHaveLength(1);
  });

  it('are limited to 100 per add-on, also with concurrent requests', async () => {
    const addonId = await createAddon();
    await engine.database.query(
      `INSERT INTO entitlement (id, version, key, name, type, metadata, created_at, updated_at)
       SELECT 'ent_filler' || n, 1, 'filler' || n, 'Filler', 'boolean', '{}', now(), now()
       FROM generate_series(1, 98) n`,
    );
    await engine.database.query(
      `INSERT INTO addon_entitlement
         (id, version, addon_id, entitlement_id, mode, metadata, created_at, updated_at)
       SELECT 'aent_filler' || n, 1, $1, 'ent_filler' || n, 'set', '{}', now(), now()
       FROM generate_series(1, 98) n`,
      [addonId],
    );
    const entitlements: string[] = [];
    for (let index = 0; index < 6; index += 1) entitlements.push(await createEntitlement());
    const answers = await Promise.all(
      entitlements.map((id) =>
        engine.http.post(LINKS).send({ addon_id: addonId, entitlement_id: id, value: '5' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      201,
      ...Array<number>(4).fill(422),
    ]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.body).toMatchObject({ code: 'too_many_addon_entitlements', limit: 100 });
    expect((await listOf(addonId)).body).toHaveLength(100);
  });

  describe('listed', () => {
    it('are an array of all links of the add-on, oldest first', async () => {
      const { addon_id: addonId, ...first } = await createLink({ metadata: { a: 1 } });
      const made: LinkBody[] = [{ addon_id: addonId, ...first }];
      for (let index = 0; index < 3; index += 1) {
        made.push(await createLink({ addon_id: addonId }));
      }
      await createLink();
      const answer = await listOf(addonId);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.body).toEqual(made);
    });

    it.each(['addon_01h455vb4pex5vsknk084sn02q', 'nope', 'x'.repeat(500), "' OR true --"])(
      'of the unknown add-on %s are an empty array',
      async (addonId) => {
        const answer = await listOf(addonId);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual([]);
      },
    );

    it('of an add-on without links are an empty array', async () => {
      expect((await listOf(await createAddon())).body).toEqual([]);
    });

    it.each([
      ['', '?addon_id is missing'],
      ['addon_id=', 'it is empty'],
      ['addon_id=a&addon_id=b', 'it is repeated'],
      ['addon_id=a&addon_id=a', 'it is repeated with the same value'],
      ['addon_id[]=a', 'it is an array'],
      ['addon_id=a&limit=5', 'there is another parameter'],
      ['entitlement_id=a', 'it is another parameter'],
      ['addon_id=%00', 'it holds a NUL byte'],
    ])('with ?%s are refused: %s', async (query) => {
      const answer = await engine.http.get(`${LINKS}?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    });
  });

  describe('updated', () => {
    it('change mode, value and metadata, with an event that contains the previous values', async () => {
      const { id } = await createLink({ metadata: { a: 1 } });
      engine.clock.advanceMs(1_000);
      const answer = await engine.http
        .patch(`${LINKS}/${id}`)
        .send({ mode: 'set', value: '7.5', metadata: { a: null, b: 2 } });
      expect(answer.status).toBe(200);
      expect(answer.headers['etag']).toBe('"2"');
      expect(answer.body).toMatchObject({ mode: 'set', value: '7.5', metadata: { b: 2 } });
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'addon_entitlement.updated',
        sequence: 2,
        data: {
          object: answer.body,
          previous: { mode: 'increment', value: '5', metadata: { a: 1 } },
        },
      });
    });

    it.each([{}, { mode: 'increment' }, { value: '5' }, { metadata: { a: 1, x: null } }])(
      'with %j stay unchanged, without an event',
      async (change) => {
        const { id } = await createLink({ metadata: { a: 1 } });
        const before = await engine.http.get(`${LINKS}/${id}`);
        engine.clock.advanceMs(1_000);
        const answer = await engine.http.patch(`${LINKS}/${id}`).send(change);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual(before.body);
        expect(await eventsOf(engine, id)).toHaveLength(1);
      },
    );

    it.each([
      ['static', { value: '5' }, { value: null }, '/value'],
      ['boolean', {}, { value: '5' }, '/value'],
      ['boolean', {}, { mode: 'increment' }, '/mode'],
    ])(
      'to a %s entitlement, with %j, then %j, are refused',
      async (type, sent, change, pointer) => {
        const id = await create(LINKS, { ...(await pair(type)), ...sent });
        const answer = await engine.http.patch(`${LINKS}/${id}`).send(change);
        expect(answer.status).toBe(422);
        expect(answer.body).toMatchObject({
          code: 'addon_entitlement_value_contradicts',
          errors: [{ pointer }],
        });
      },
    );

    it.each([
      [{ addon_id: 'x' }, '/addon_id', 'unknown_field'],
      [{ entitlement_id: 'x' }, '/entitlement_id', 'unknown_field'],
      [{ mode: null }, '/mode', 'is_in'],
      [{ value: 'many' }, '/value', 'matches'],
      [{ metadata: [] }, '/metadata', 'is_metadata'],
    ])('with %j are refused', async (change, pointer, code) => {
      const { id } = await createLink();
      const answer = await engine.http.patch(`${LINKS}/${id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const { id } = await createLink({ metadata: half('a') });
      const answer = await engine.http.patch(`${LINKS}/${id}`).send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('concurrently lose no change', async () => {
      const { id } = await createLink();
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
      await Promise.all(
        keys.map((key) => engine.http.patch(`${LINKS}/${id}`).send({ metadata: { [key]: 1 } })),
      );
      const { body } = await engine.http.get(`${LINKS}/${id}`);
      expect(Object.keys((body as { metadata: object }).metadata).sort()).toEqual([...keys].sort());
    });

    it('with If-Match only in the version the caller read', async () => {
      const { id } = await createLink();
      const change = (tag: string, value: string) =>
        engine.http.patch(`${LINKS}/${id}`).set('If-Match', tag).send({ value });
      expect((await change('"1"', '6')).status).toBe(200);
      const stale = await change('"1"', '7');
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
    });
  });

  it('are deleted with an event, and can be created again', async () => {
    const link = await createLink();
    const path = `${LINKS}/${link.id}`;
    expect((await engine.http.delete(path).set('If-Match', '"7"')).status).toBe(412);
    expect((await engine.http.delete(path)).status).toBe(204);
    expect((await engine.http.get(path)).status).toBe(404);
    expect((await engine.http.delete(path)).status).toBe(404);
    expect((await listOf(link.addon_id)).body).toEqual([]);
    expect((await eventsOf(engine, link.id)).at(-1)).toEqual({
      type: 'addon_entitlement.deleted',
      sequence: 2,
      data: { object: link, previous: {} },
    });
    await createLink({ addon_id: link.addon_id, entitlement_id: link.entitlement_id });
  });

  it('created while the entitlement is deleted leave no dangling reference', async () => {
    for (let round = 0; round < 5; round += 1) {
      const body = { ...(await pair()), value: '5' };
      const [created, deleted] = await Promise.all([
        engine.http.post(LINKS).send(body),
        engine.http.delete(`/v1/entitlements/${body.entitlement_id}`),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([created.status, deleted.status]);
    }
  });

  it.each([
    ['changed', (path: string) => engine.http.patch(path).send({ value: '6' }), 200],
    ['deleted', (path: string) => engine.http.delete(path), 204],
  ])('%s while the entitlement is deleted cause no deadlock', async (_, change, status) => {
    const { id, entitlement_id: entitlementId } = await createLink();
    const release = await openTransaction(engine.database, () =>
      engine.database.query('SELECT FROM entitlement WHERE id = $1 FOR NO KEY UPDATE', [
        entitlementId,
      ]),
    );
    const deleted = engine.http
      .delete(`/v1/entitlements/${entitlementId}`)
      .then((answer) => answer);
    await untilSessionsWait(engine.database, 1);
    const changed = change(`${LINKS}/${id}`).then((answer) => answer);
    await untilSessionsWait(engine.database, 2);
    await release();
    expect((await deleted).status).toBe(409);
    expect((await changed).status).toBe(status);
  });

  it.each([
    'aent_01h455vb4pex5vsknk084sn02q',
    'nope',
    'ent_01h455vb4pex5vsknk084sn02q',
    '%00',
    'aent_',
  ])('with the unknown id %s give 404', async (id) => {
    for (const method of ['get', 'patch', 'delete'] as const) {
      const answer = await engine.http[method](`${LINKS}/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'addon_entitlement_not_found' });
    }
  });
});
