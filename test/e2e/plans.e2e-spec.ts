import { CatalogService } from '../../src/modules/catalog';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { withoutTriggers } from '../support/without-triggers';

describe('plans', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  interface PlanBody {
    readonly id: string;
    readonly code: string;
    readonly version_id: string;
  }
  interface PageBody {
    readonly data: readonly { readonly id: string; readonly version: number }[];
    readonly next_cursor: string | null;
  }

  const ABSENT = 'ent_01h455vb4pex5vsknk084sn02q';
  const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 5_000 };
  const seat = { name: 'Seat', model: 'per_unit', timing: 'in_advance', unit_amount: '900' };
  const none = {
    amount: null,
    unit_amount: null,
    tiers: null,
    package_size: null,
    free_units: null,
    rate: null,
    fixed_amount: null,
    free_amount: null,
    event_minimum_amount: null,
    event_maximum_amount: null,
    by_group: false,
    meter_id: null,
    minimum_amount: null,
    maximum_amount: null,
    charge_flat_at_zero: null,
  };
  const priceId = expect.stringMatching(/^price_/) as string;
  let count = 0;

  function planWith(fields: object = {}): object {
    count += 1;
    const code = `plan-${count}`;
    return { code, name: 'Team', currency: 'EUR', interval: 'month', prices: [base], ...fields };
  }

  async function createPlan(fields: object = {}): Promise<PlanBody> {
    const answer = await engine.http.post('/v1/plans').send(planWith(fields));
    expect(answer.status).toBe(201);
    return answer.body as PlanBody;
  }

  async function createEntitlement(type: string): Promise<string> {
    count += 1;
    const sent = { key: `key-${count}`, name: 'Something', type };
    const answer = await engine.http.post('/v1/entitlements').send(sent);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  const newVersion = (id: string, body: object) =>
    engine.http.post(`/v1/plans/${id}/versions`).send(body);
  const read = async (id: string) => (await engine.http.get(`/v1/plans/${id}`)).body as PlanBody;

  it('are none at first', async () => {
    const answer = await engine.http.get('/v1/plans');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows', async () => {
    const calls = await createEntitlement('metered');
    const sso = await createEntitlement('boolean');
    const answer = await engine.http.post('/v1/plans').send({
      code: 'Team_quarterly-1',
      name: 'Team, by the quarter',
      currency: 'JPY',
      interval: 'month',
      interval_count: 3,
      trial_days: 14,
      proration: 'second',
      prices: [base, seat],
      entitlements: [
        { entitlement_id: sso },
        { entitlement_id: calls, value: '1000.5', is_hard_limit: false, reset: 'never' },
      ],
      metadata: { a: { b: null } },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^plan_/) as string,
      code: 'Team_quarterly-1',
      name: 'Team, by the quarter',
      currency: 'JPY',
      version_id: expect.stringMatching(/^planv_/) as string,
      version: 1,
      interval: 'month',
      interval_count: 3,
      trial_days: 14,
      proration: 'second',
      prices: [
        { ...none, id: priceId, ...base },
        { ...none, id: priceId, ...seat },
      ],
      entitlements: [
        { entitlement_id: sso, value: null, is_hard_limit: true, reset: 'period' },
        { entitlement_id: calls, value: '1000.5', is_hard_limit: false, reset: 'never' },
      ],
      metadata: { a: { b: null } },
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const plan = answer.body as PlanBody;
    const again = await engine.http.get(`/v1/plans/${plan.id}`);
    expect(again.body).toEqual(answer.body);
    expect(again.headers['etag']).toBe('"1"');
    expect(await eventsOf(engine, plan.id)).toEqual([
      { type: 'plan.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('need only a name, a currency, an interval and prices', async () => {
    expect(await createPlan({ prices: [] })).toMatchObject({
      interval_count: 1,
      trial_days: 0,
      proration: 'day',
      prices: [],
      entitlements: [],
      metadata: {},
    });
  });

  it('have unique codes, also with concurrent requests', async () => {
    const sent = planWith({ code: 'ONLY' });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => engine.http.post('/v1/plans').send(sent)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'plan_code_taken' });
  });

  it('sent twice with one key are created once', async () => {
    const sent = planWith();
    const send = () => engine.http.post('/v1/plans').set('Idempotency-Key', 'plan-1').send(sent);
    const answers = [await send(), await send()];
    expect(answers[1]?.headers['idempotent-replayed']).toBe('true');
    expect(answers[1]?.body).toEqual(answers[0]?.body);
  });

  it.each([
    [{ code: 'no spaces' }, '/code', 'matches'],
    [{ name: '' }, '/name', 'is_text'],
    [{ currency: 'XXX' }, '/currency', 'is_currency'],
    [{ interval: undefined }, '/interval', 'is_in'],
    [{ interval: 'fortnight' }, '/interval', 'is_in'],
    [{ interval: null }, '/interval', 'is_in'],
    [{ interval_count: 0 }, '/interval_count', 'min'],
    [{ interval_count: 366 }, '/interval_count', 'max'],
    [{ interval_count: 1.5 }, '/interval_count', 'is_int'],
    [{ trial_days: -1 }, '/trial_days', 'min'],
    [{ trial_days: 731 }, '/trial_days', 'max'],
    [{ proration: 'hour' }, '/proration', 'is_in'],
    [{ prices: undefined }, '/prices', 'is_array'],
    [{ prices: {} }, '/prices', 'is_array'],
    [{ prices: [null] }, '/prices', 'is_object'],
    [{ prices: [{ ...base, amount: -1 }] }, '/prices/0/amount', 'is_minor_units'],
    [{ entitlements: [{}] }, '/entitlements/0/entitlement_id', 'is_id'],
    [{ entitlements: [{ entitlement_id: ABSENT, value: 5 }] }, '/entitlements/0/value', 'matches'],
    [
      { entitlements: [{ entitlement_id: ABSENT, reset: 'hour' }] },
      '/entitlements/0/reset',
      'is_in',
    ],
    [{ metadata: [] }, '/metadata', 'is_metadata'],
    [{ version: 2 }, '/version', 'unknown_field'],
  ])('with %j are refused', async (fields, pointer, code) => {
    const answer = await engine.http.post('/v1/plans').send(planWith(fields));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'validation_failed' });
    const { errors } = answer.body as { errors: { pointer: string; code: string }[] };
    expect(errors).toContainEqual(expect.objectContaining({ pointer, code }));
  });

  it('with contradictory prices are refused, with every contradiction', async () => {
    const prices = [base, { ...seat, amount: 1 }, { ...base, tiers: [] }];
    const answer = await engine.http.post('/v1/plans').send(planWith({ prices }));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'price_terms_contradict',
      errors: [{ pointer: '/prices/1/amount' }, { pointer: '/prices/2/tiers' }, {}],
    });
  });

  it('with unknown entitlements are refused, and nothing is stored', async () => {
    const sso = await createEntitlement('boolean');
    const entitlements = [{ entitlement_id: sso }, { entitlement_id: ABSENT }];
    const answer = await engine.http
      .post('/v1/plans')
      .send(planWith({ code: 'GHOST', entitlements }));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'reference_not_found',
      errors: [{ pointer: '/entitlements/1/entitlement_id' }],
    });
    await createPlan({ code: 'GHOST' });
  });

  it('with values that contradict the entitlement type are refused', async () => {
    const sso = await createEntitlement('boolean');
    const seats = await createEntitlement('static');
    const entitlements = [
      { entitlement_id: sso, value: '1' },
      { entitlement_id: seats },
      { entitlement_id: sso },
    ];
    const answer = await engine.http.post('/v1/plans').send(planWith({ entitlements }));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'plan_entitlement_contradicts',
      errors: [
        { pointer: '/entitlements/0/value' },
        { pointer: '/entitlements/1/value' },
        { pointer: '/entitlements/2/entitlement_id' },
      ],
    });
  });

  it('block the deletion of their entitlements', async () => {
    const sso = await createEntitlement('boolean');
    await createPlan({ entitlements: [{ entitlement_id: sso }] });
    const answer = await engine.http.delete(`/v1/entitlements/${sso}`);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ code: 'entitlement_in_use' });
  });

  describe('get a new version', () => {
    it('that is active at once, copies omitted fields, and records the previous values', async () => {
      const calls = await createEntitlement('metered');
      const plan = await createPlan({
        interval_count: 2,
        trial_days: 7,
        proration: 'none',
        entitlements: [{ entitlement_id: calls, value: '5' }],
      });
      engine.clock.advanceMs(1_000);
      const answer = await newVersion(plan.id, { prices: [seat], trial_days: 0 });
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        id: expect.stringMatching(/^planv_/) as string,
        plan_id: plan.id,
        version: 2,
        interval: 'month',
        interval_count: 2,
        trial_days: 0,
        proration: 'none',
        prices: [{ ...none, id: priceId, ...seat }],
        entitlements: [{ entitlement_id: calls, value: '5', is_hard_limit: true, reset: 'period' }],
        created_at: engine.clock.now().toISOString(),
      });
      const version = answer.body as { id: string; prices: object[] };
      const now = await read(plan.id);
      expect(now).toMatchObject({ version_id: version.id, version: 2, prices: version.prices });
      expect((await eventsOf(engine, plan.id)).at(-1)).toEqual({
        type: 'plan.version_activated',
        sequence: 2,
        data: {
          object: now,
          previous: {
            version_id: plan.version_id,
            version: 1,
            trial_days: 7,
            prices: [{ ...none, id: priceId, ...base }],
          },
        },
      });
    });

    it('while earlier versions stay unchanged, newest first', async () => {
      const plan = await createPlan();
      const first = (await engine.http.get(`/v1/plans/${plan.id}/versions`)).body as PageBody;
      for (const trial_days of [1, 2]) await newVersion(plan.id, { prices: [], trial_days });
      const all = (await engine.http.get(`/v1/plans/${plan.id}/versions`)).body as PageBody;
      expect(all.data.map(({ version }) => version)).toEqual([3, 2, 1]);
      expect(all.data[2]).toEqual(first.data[0]);
      const half = await engine.http.get(`/v1/plans/${plan.id}/versions`).query({ limit: 2 });
      const { data, next_cursor } = half.body as PageBody;
      expect(data).toEqual(all.data.slice(0, 2));
      const rest = await engine.http
        .get(`/v1/plans/${plan.id}/versions`)
        .query({ cursor: next_cursor });
      expect(rest.body).toEqual({ data: all.data.slice(2), next_cursor: null });
    });

    it('listed by number, also if a process whose clock is behind made the last one', async () => {
      const plan = await createPlan();
      await newVersion(plan.id, { prices: [] });
      await engine.database.query(
        `INSERT INTO plan_version SELECT (jsonb_populate_record(one, jsonb_build_object(
           'id', 'planv_00000000000000000000000000', 'number', 3))).* FROM plan_version AS one WHERE id = $1`,
        [plan.version_id],
      );
      const list = async (query: object): Promise<PageBody> =>
        (await engine.http.get(`/v1/plans/${plan.id}/versions`).query(query)).body as PageBody;
      const all = await list({});
      expect(all.data.map(({ version }) => version)).toEqual([3, 2, 1]);
      const [first, ...others] = all.data;
      const cursor = Buffer.from(first?.id ?? '').toString('base64url');
      expect(await list({ limit: 1 })).toEqual({ data: [first], next_cursor: cursor });
      expect(await list({ cursor })).toEqual({ data: others, next_cursor: null });
      const unknown = Buffer.from('planv_01h455vb4pex5vsknk084sn02q').toString('base64url');
      expect(await list({ cursor: unknown })).toMatchObject({ code: 'invalid_cursor' });
    });

    it('once, when the same request is repeated with its key', async () => {
      const plan = await createPlan();
      const send = () =>
        newVersion(plan.id, { prices: [seat] }).set('Idempotency-Key', `${plan.id}-2`);
      const answers = await Promise.all([send(), send(), send()]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(new Set(answers.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
      expect(await read(plan.id)).toMatchObject({ version: 2 });
    });

    it('concurrently, each with its own number', async () => {
      const plan = await createPlan();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => newVersion(plan.id, { prices: [base] })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(201));
      const numbers = answers.map(({ body }) => (body as { version: number }).version);
      expect(numbers.sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(await read(plan.id)).toMatchObject({ version: 11 });
    });

    it.each([
      [{}, 400, 'validation_failed'],
      [{ prices: [base], currency: 'USD' }, 400, 'validation_failed'],
      [{ prices: [base], interval: null }, 400, 'validation_failed'],
      [{ prices: [{ ...base, tiers: [] }] }, 422, 'price_terms_contradict'],
      [{ prices: [], entitlements: [{ entitlement_id: ABSENT }] }, 422, 'reference_not_found'],
    ])('but not with %j', async (body, status, code) => {
      const plan = await createPlan();
      const answer = await newVersion(plan.id, body);
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ code });
      expect(await read(plan.id)).toEqual(plan);
    });
  });

  describe('updated', () => {
    it('get another name and metadata, with an event that contains the previous values', async () => {
      const plan = await createPlan({ metadata: { a: 1 } });
      engine.clock.advanceMs(1_000);
      const answer = await engine.http
        .patch(`/v1/plans/${plan.id}`)
        .send({ name: 'Group', metadata: { a: null, b: 2 } });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ name: 'Group', metadata: { b: 2 }, version: 1 });
      expect(answer.headers['etag']).toBe('"2"');
      expect((await eventsOf(engine, plan.id)).at(-1)).toEqual({
        type: 'plan.updated',
        sequence: 2,
        data: { object: answer.body, previous: { name: 'Team', metadata: { a: 1 } } },
      });
    });

    it.each([{}, { name: 'Team' }, { metadata: {} }, { metadata: { a: 1 } }])(
      'with %j stay as they were, without an event',
      async (change) => {
        const plan = await createPlan({ metadata: { a: 1 } });
        engine.clock.advanceMs(1_000);
        const answer = await engine.http.patch(`/v1/plans/${plan.id}`).send(change);
        expect(answer.body).toEqual(plan);
        expect(await eventsOf(engine, plan.id)).toHaveLength(1);
      },
    );

    it.each([
      [{ trial_days: 5 }, '/trial_days'],
      [{ prices: [] }, '/prices'],
      [{ name: null }, '/name'],
      [{ metadata: null }, '/metadata'],
    ])('with %j are refused: versions are immutable', async (change, pointer) => {
      const plan = await createPlan();
      const answer = await engine.http.patch(`/v1/plans/${plan.id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ errors: [{ pointer }] });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const plan = await createPlan({ metadata: half('a') });
      const answer = await engine.http.patch(`/v1/plans/${plan.id}`).send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('with If-Match only in the version the caller read; a new plan version is a change', async () => {
      const plan = await createPlan();
      await newVersion(plan.id, { prices: [] });
      const rename = (tag: string) =>
        engine.http.patch(`/v1/plans/${plan.id}`).set('If-Match', tag).send({ name: 'X' });
      expect((await rename('"1"')).status).toBe(412);
      expect((await rename('"2"')).status).toBe(200);
    });
  });

  it('archived are no longer returned, keep their code, and existing references continue', async () => {
    const plan = await createPlan({ code: 'GONE' });
    expect((await engine.http.delete(`/v1/plans/${plan.id}`).set('If-Match', '"7"')).status).toBe(
      412,
    );
    expect((await engine.http.delete(`/v1/plans/${plan.id}`)).status).toBe(204);
    expect((await engine.http.get(`/v1/plans/${plan.id}`)).status).toBe(404);
    expect((await engine.http.get(`/v1/plans/${plan.id}/versions`)).status).toBe(404);
    expect((await engine.http.delete(`/v1/plans/${plan.id}`)).status).toBe(404);
    const listed = (await engine.http.get('/v1/plans?limit=100')).body as PageBody;
    expect(listed.data.map(({ id }) => id)).not.toContain(plan.id);
    const again = await engine.http.post('/v1/plans').send(planWith({ code: 'GONE' }));
    expect(again.body).toMatchObject({ code: 'plan_code_taken' });
    expect((await eventsOf(engine, plan.id)).map(({ type }) => type)).toEqual([
      'plan.created',
      'plan.archived',
    ]);
    const version = await engine.app.get(CatalogService).getPlanVersion(plan.version_id);
    expect(version).toMatchObject({ planId: plan.id, prices: [{ amount: 5_000n }] });
  });

  it('are listed newest first, page by page', async () => {
    const made = [await createPlan(), await createPlan(), await createPlan()];
    const first = (await engine.http.get('/v1/plans?limit=2')).body as PageBody;
    const second = (await engine.http.get(`/v1/plans?limit=1&cursor=${first.next_cursor ?? ''}`))
      .body as PageBody;
    const seen = [...first.data, ...second.data].map(({ id }) => id);
    expect(seen).toEqual(made.map(({ id }) => id).reverse());
    expect((await engine.http.get('/v1/plans?cursor=nope')).status).toBe(400);
    const wrong = Buffer.from(made[0]?.id ?? '').toString('base64url');
    const path = `/v1/plans/${made[0]?.id ?? ''}/versions?cursor=${wrong}`;
    expect((await engine.http.get(path)).body).toMatchObject({ code: 'invalid_cursor' });
  });

  it.each(['plan_01h455vb4pex5vsknk084sn02q', 'nope', 'addon_01h455vb4pex5vsknk084sn02q', '%00'])(
    'unknown by the id %s are a 404',
    async (id) => {
      const body = { prices: [] };
      const answers = [
        await engine.http.get(`/v1/plans/${id}`),
        await engine.http.patch(`/v1/plans/${id}`).send({}),
        await engine.http.delete(`/v1/plans/${id}`),
        await engine.http.get(`/v1/plans/${id}/versions`),
        await engine.http.post(`/v1/plans/${id}/versions`).send(body),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(404);
        expect(answer.body).toMatchObject({ code: 'plan_not_found' });
      }
    },
  );

  describe('referenced', () => {
    const catalog = () => engine.app.get(CatalogService);

    it('are returned with their active version, and cannot be archived concurrently', async () => {
      const { id } = await createPlan();
      const commit = await openTransaction(engine.database, async () => {
        const plan = await catalog().requirePlanForReference(id, '/plan_id');
        expect(plan).toMatchObject({
          id,
          activeVersion: { number: 1, prices: [{ name: 'Base' }] },
        });
      });
      // A new version does not wait for references to the plan; archiving does.
      const answer = await newVersion(id, { prices: [] });
      expect(answer.status).toBe(201);
      const archived = engine.http.delete(`/v1/plans/${id}`).then(({ status }) => status);
      const waits = untilSessionsWait(engine.database).then(() => 'waits');
      expect(await Promise.race([archived, waits]).finally(commit)).toBe('waits');
      expect(await archived).toBe(204);
    });

    it('with an unknown id are an error of the referring field', async () => {
      const unknown = 'plan_01h455vb4pex5vsknk084sn02q';
      const referring = engine.database.transaction(() =>
        catalog().requirePlanForReference(unknown, '/plan_id'),
      );
      await expect(referring).rejects.toMatchObject({
        definition: { code: 'reference_not_found' },
        occurrence: { errors: [{ pointer: '/plan_id' }] },
      });
      await expect(catalog().getPlanVersion('planv_x')).rejects.toThrow('exists');
    });

    it('of several versions are read at once', async () => {
      const plan = await createPlan({ prices: [base, seat] });
      await newVersion(plan.id, { prices: [seat] });
      const { data } = (await engine.http.get(`/v1/plans/${plan.id}/versions`)).body as PageBody;
      const versions = await catalog().getPlanVersions(data.map(({ id }) => id));
      expect([...versions.values()].map(({ number }) => number).sort()).toEqual([1, 2]);
    });
  });

  it('have prices that belong to either a plan or an add-on, enforced by the database', async () => {
    await createPlan();
    for (const columns of ['addon_id = NULL, plan_version_id = NULL', `addon_id = 'addon_x'`]) {
      const statement = `UPDATE price SET ${columns} WHERE plan_version_id IS NOT NULL`;
      await expect(withoutTriggers(engine, [statement])).rejects.toThrow('price_owner_check');
    }
  });
});
