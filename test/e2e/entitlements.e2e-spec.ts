import { DeleteEntitlementService } from '../../src/modules/entitlements/delete-entitlement.service';
import { createCustomer, createMeter, createPlan } from '../support/billing';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { post } from '../support/requests';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('entitlements', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
    await disableLockTimeout(engine);
  });

  afterAll(() => engine.close());

  interface EntitlementBody {
    readonly id: string;
    readonly key: string;
  }

  const METER = 'meter_01h455vb4pex5vsknk084sn02q';
  let count = 0;

  function entitlementWith(fields: object = {}): object {
    count += 1;
    return { key: `feature.${count}`, name: 'Seats', type: 'static', ...fields };
  }

  async function createEntitlement(fields: object = {}): Promise<EntitlementBody> {
    const answer = await engine.http.post('/v1/entitlements').send(entitlementWith(fields));
    expect(answer.status).toBe(201);
    return answer.body as EntitlementBody;
  }

  it('are none at first', async () => {
    const answer = await engine.http.get('/v1/entitlements');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows', async () => {
    const sent = {
      key: 'api_calls.v2-beta',
      name: 'API calls',
      type: 'metered',
      unit: 'calls',
      meter_id: await createMeter(engine),
      metadata: { a: { b: null } },
    };
    const answer = await engine.http.post('/v1/entitlements').send(sent);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^ent_/) as string,
      ...sent,
      thresholds: [80, 100],
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as EntitlementBody;
    expect((await engine.http.get(`/v1/entitlements/${id}`)).body).toEqual(answer.body);
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'entitlement.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it.each([
    ['boolean', []],
    ['static', []],
    ['metered', [80, 100]],
  ])(
    'of type %s need no unit and no meter, and have the thresholds %j',
    async (type, thresholds) => {
      expect(await createEntitlement({ type })).toMatchObject({
        type,
        unit: null,
        meter_id: null,
        thresholds,
        metadata: {},
      });
    },
  );

  it('sent twice with one key are created once', async () => {
    const body = entitlementWith();
    const send = () =>
      engine.http.post('/v1/entitlements').set('Idempotency-Key', 'entitlement-once').send(body);
    const first = await send();
    const second = await send();
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  it('have unique keys, also with concurrent requests', async () => {
    const body = entitlementWith();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => engine.http.post('/v1/entitlements').send(body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'entitlement_key_taken', status: 409 });
  });

  it.each(['boolean', 'static'])('of type %s accept no meter and no thresholds', async (type) => {
    const answer = await engine.http
      .post('/v1/entitlements')
      .send(entitlementWith({ type, meter_id: METER, thresholds: [50] }));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'entitlement_terms_contradict',
      errors: [{ pointer: '/meter_id' }, { pointer: '/thresholds' }],
    });
  });

  it.each(['boolean', 'static'])(
    'of type %s show no thresholds that earlier releases stored, and are given none by updates',
    async (type) => {
      const { id } = await createEntitlement({ type, thresholds: [] });
      await engine.database.query(`UPDATE entitlement SET thresholds = '{80,100}' WHERE id = $1`, [
        id,
      ]);
      const path = `/v1/entitlements/${id}`;
      expect((await engine.http.get(path)).body).toMatchObject({ thresholds: [] });
      const refused = await engine.http.patch(path).send({ thresholds: [50] });
      expect(refused.status).toBe(422);
      expect(refused.body).toMatchObject({
        code: 'entitlement_terms_contradict',
        errors: [{ pointer: '/thresholds' }],
      });
      const renamed = await engine.http.patch(path).send({ name: 'Places', thresholds: [] });
      expect(renamed.body).toMatchObject({ name: 'Places', thresholds: [] });
      const [, updated] = await eventsOf(engine, id);
      expect(updated?.data).toMatchObject({ previous: { name: 'Seats' } });
    },
  );

  it.each([
    [{ key: undefined }, '/key', 'matches'],
    [{ key: 'Seats' }, '/key', 'matches'],
    [{ key: '1seat' }, '/key', 'matches'],
    [{ key: 'x'.repeat(65) }, '/key', 'matches'],
    [{ name: '' }, '/name', 'is_text'],
    [{ name: 'x'.repeat(201) }, '/name', 'is_text'],
    [{ type: 'other' }, '/type', 'is_in'],
    [{ type: undefined }, '/type', 'is_in'],
    [{ unit: '' }, '/unit', 'is_text'],
    [{ unit: 'x'.repeat(41) }, '/unit', 'is_text'],
    [{ type: 'metered', meter_id: 'meter_x' }, '/meter_id', 'is_id'],
    [{ thresholds: [0] }, '/thresholds', 'min'],
    [{ thresholds: [1001] }, '/thresholds', 'max'],
    [{ thresholds: [80.5] }, '/thresholds', 'is_int'],
    [{ thresholds: [80, 80] }, '/thresholds', 'array_unique'],
    [
      { thresholds: Array.from({ length: 11 }, (_, at) => at + 1) },
      '/thresholds',
      'array_max_size',
    ],
    [{ value: '1' }, '/value', 'unknown_field'],
    [{ metadata: [] }, '/metadata', 'is_metadata'],
  ])('with %j are refused', async (fields, pointer, code) => {
    const answer = await engine.http.post('/v1/entitlements').send(entitlementWith(fields));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
  });

  describe('updated', () => {
    it('change name, unit and metadata, with an event that contains the previous values', async () => {
      const { id } = await createEntitlement({ unit: 'seats', metadata: { a: 1 } });
      engine.clock.advanceMs(1_000);
      const answer = await engine.http
        .patch(`/v1/entitlements/${id}`)
        .send({ name: 'Desks', unit: null, metadata: { b: 2 } });
      expect(answer.status).toBe(200);
      expect(answer.headers['etag']).toBe('"2"');
      expect(answer.body).toMatchObject({ name: 'Desks', unit: null, metadata: { a: 1, b: 2 } });
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'entitlement.updated',
        sequence: 2,
        data: {
          object: answer.body,
          previous: { name: 'Seats', unit: 'seats', metadata: { a: 1 } },
        },
      });
    });

    it.each([{}, { name: 'Seats' }, { unit: 'seats' }, { metadata: { a: 1, x: null } }])(
      'with %j stay unchanged, without an event',
      async (change) => {
        const { id } = await createEntitlement({ unit: 'seats', metadata: { a: 1 } });
        const before = await engine.http.get(`/v1/entitlements/${id}`);
        engine.clock.advanceMs(1_000);
        const answer = await engine.http.patch(`/v1/entitlements/${id}`).send(change);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual(before.body);
        expect(await eventsOf(engine, id)).toHaveLength(1);
      },
    );

    it.each([
      [{ type: 'boolean' }, '/type', 'unknown_field'],
      [{ key: 'x' }, '/key', 'unknown_field'],
      [{ meter_id: null }, '/meter_id', 'unknown_field'],
      [{ name: null }, '/name', 'is_text'],
      [{ unit: 5 }, '/unit', 'is_text'],
    ])('with %j are refused', async (change, pointer, code) => {
      const { id } = await createEntitlement();
      const answer = await engine.http.patch(`/v1/entitlements/${id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const { id } = await createEntitlement({ metadata: half('a') });
      const answer = await engine.http
        .patch(`/v1/entitlements/${id}`)
        .send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('concurrently lose no change', async () => {
      const { id } = await createEntitlement();
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
      await Promise.all(
        keys.map((key) =>
          engine.http.patch(`/v1/entitlements/${id}`).send({ metadata: { [key]: 1 } }),
        ),
      );
      const { body } = await engine.http.get(`/v1/entitlements/${id}`);
      expect(Object.keys((body as { metadata: object }).metadata).sort()).toEqual([...keys].sort());
    });

    it('with If-Match only in the version the caller read', async () => {
      const { id } = await createEntitlement();
      const change = (tag: string, name: string) =>
        engine.http.patch(`/v1/entitlements/${id}`).set('If-Match', tag).send({ name });
      expect((await change('"1"', 'B')).status).toBe(200);
      const stale = await change('"1"', 'C');
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
    });
  });

  it('are listed newest first, page by page', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) made.push((await createEntitlement()).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await engine.http
        .get('/v1/entitlements')
        .query(cursor === null ? { limit: 2 } : { limit: 2, cursor });
      expect(answer.status).toBe(200);
      const page = answer.body as { data: { id: string }[]; next_cursor: string | null };
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.slice(0, 5)).toEqual([...made].reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each(['limit=0', 'cursor=nope', 'key=x'])('listed with ?%s are refused', async (query) => {
    expect((await engine.http.get(`/v1/entitlements?${query}`)).status).toBe(400);
  });

  it('that are not used can be deleted: an event is recorded, and their key is free again', async () => {
    const created = await createEntitlement();
    const path = `/v1/entitlements/${created.id}`;
    expect((await engine.http.delete(path).set('If-Match', '"7"')).status).toBe(412);
    expect((await engine.http.delete(path)).status).toBe(204);
    expect((await engine.http.get(path)).status).toBe(404);
    expect((await engine.http.delete(path)).status).toBe(404);
    expect((await eventsOf(engine, created.id)).at(-1)).toEqual({
      type: 'entitlement.deleted',
      sequence: 2,
      data: { object: created, previous: {} },
    });
    await createEntitlement({ key: created.key });
  });

  it('that are linked cannot be deleted until the link is deleted', async () => {
    const { id } = await createEntitlement();
    const addon = await engine.http
      .post('/v1/addons')
      .send({ code: 'linked', name: 'Linked', currency: 'EUR', prices: [] });
    const link = await engine.http.post('/v1/addon-entitlements').send({
      addon_id: (addon.body as { id: string }).id,
      entitlement_id: id,
      value: '5',
    });
    expect(link.status).toBe(201);
    const refused = await engine.http.delete(`/v1/entitlements/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'entitlement_in_use' });
    expect(await eventsOf(engine, id)).toHaveLength(1);
    const unlinked = await engine.http.delete(
      `/v1/addon-entitlements/${(link.body as { id: string }).id}`,
    );
    expect(unlinked.status).toBe(204);
    expect((await engine.http.delete(`/v1/entitlements/${id}`)).status).toBe(204);
  });

  it('that were only checked can be deleted, also during checks', async () => {
    const customer = await createCustomer(engine);
    for (let round = 0; round < 8; round += 1) {
      const { id, key } = await createEntitlement({ type: 'metered' });
      const path = `/v1/customers/${customer}/entitlements/${key}`;
      expect((await engine.http.get(path)).body).toMatchObject({ has_access: false });
      if (round === 0) {
        expect((await engine.http.delete(`/v1/entitlements/${id}`)).status).toBe(204);
        continue;
      }
      const asked =
        round % 2 === 0
          ? engine.http.get(path)
          : engine.http.post(`${path}/consume`).send({ quantity: '1', idempotency_key: key });
      const [one, deleted] = await Promise.all([
        asked,
        engine.http.delete(`/v1/entitlements/${id}`),
      ]);
      // A stored refusal keeps the entitlement.
      expect(['200 204', '404 204', '200 409']).toContain(`${one.status} ${deleted.status}`);
    }
  });

  interface Subscribed {
    readonly clockId: string;
    readonly terms: object;
    readonly subscriptionId: string;
  }

  it.each<[string, (made: Subscribed) => readonly [path: string, body: object]]>([
    ['a new subscription', ({ terms }) => ['subscriptions', terms]],
    [
      'a cancellation',
      ({ subscriptionId }) => [`subscriptions/${subscriptionId}/cancel`, { when: 'now' }],
    ],
    [
      'the advance of a test clock',
      ({ clockId }) => [`test-clocks/${clockId}/advance`, { to: '2026-06-01T00:00:00Z' }],
    ],
  ])('with a meter, that were only checked, can be deleted during %s', async (_, commandOf) => {
    const { id, key } = await createEntitlement({
      type: 'metered',
      meter_id: await createMeter(engine),
    });
    const clock = { name: 'March', now: '2026-03-01T00:00:00Z' };
    const { id: clockId } = await post(engine, '/v1/test-clocks', clock);
    const customer_id = await createCustomer(engine, { test_clock_id: clockId });
    const terms = { customer_id, plan_id: await createPlan(engine), collection: 'send_invoice' };
    const { id: subscriptionId } = await post(engine, '/v1/subscriptions', terms);
    await engine.http.get(`/v1/customers/${customer_id}/entitlements/${key}`).expect(200);
    const commit = await openTransaction(engine.database, () =>
      engine.app.get(DeleteEntitlementService).delete(id, 'any'),
    );
    const [path, body] = commandOf({ clockId, terms, subscriptionId });
    const answered = post(engine, `/v1/${path}`, body);
    await untilSessionsWait(engine.database);
    await commit();
    await answered;
    expect((await engine.http.get(`/v1/entitlements/${id}`)).status).toBe(404);
  });

  it.each([
    'ent_01h455vb4pex5vsknk084sn02q',
    'nope',
    'aent_01h455vb4pex5vsknk084sn02q',
    '%00',
    'ent_',
  ])('with the unknown id %s give 404', async (id) => {
    for (const method of ['get', 'patch', 'delete'] as const) {
      const answer = await engine.http[method](`/v1/entitlements/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'entitlement_not_found' });
    }
  });
});
