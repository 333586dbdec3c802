import { createPlan } from '../support/billing';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('coupons', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const percent = { type: 'percent', percent_off: '20', duration: 'once' };

  async function createCoupon(fields: object = {}): Promise<{ id: string; code: string }> {
    const answer = await engine.http.post('/v1/coupons').send({ ...percent, ...fields });
    expect(answer.status).toBe(201);
    return answer.body as { id: string; code: string };
  }

  it('are created with every field the API shows', async () => {
    const plan = await createPlan(engine);
    const answer = await engine.http.post('/v1/coupons').send({
      code: 'SUMMER',
      name: 'Summer',
      type: 'amount',
      amount_off: 500,
      currency: 'USD',
      duration: 'repeating',
      duration_in_months: 3,
      max_redemptions: 10,
      redeem_by: '2026-09-01T02:00:00+02:00',
      plan_ids: [plan],
      metadata: { campaign: 'summer', nested: { a: null } },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^coup_/) as string,
      code: 'SUMMER',
      name: 'Summer',
      type: 'amount',
      percent_off: null,
      amount_off: 500,
      currency: 'USD',
      duration: 'repeating',
      duration_in_months: 3,
      max_redemptions: 10,
      times_redeemed: 0,
      redeem_by: '2026-09-01T00:00:00.000Z',
      plan_ids: [plan],
      is_active: true,
      metadata: { campaign: 'summer', nested: { a: null } },
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as { id: string };
    expect((await engine.http.get(`/v1/coupons/${id}`)).body).toEqual(answer.body);
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'coupon.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('for plans that do not exist are refused, and possible for archived plans', async () => {
    const archived = await createPlan(engine);
    expect((await engine.http.delete(`/v1/plans/${archived}`)).status).toBe(204);
    const plan_ids = [archived, 'plan_01h455vb4pex5vsknk084sn02q'];
    const refused = await engine.http.post('/v1/coupons').send({ ...percent, plan_ids });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      code: 'reference_not_found',
      errors: [{ pointer: '/plan_ids/1' }],
    });
    await createCoupon({ plan_ids: [archived] });
  });

  it('get a code when none is sent', async () => {
    expect((await createCoupon()).code).toMatch(/^[A-HJ-NP-Z2-9]{12}$/);
  });

  it('have unique codes, also with concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        engine.http.post('/v1/coupons').send({ ...percent, code: 'ONLY1' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'coupon_code_taken', status: 409 });
  });

  it('with contradictory terms are refused, with every contradiction', async () => {
    const answer = await engine.http
      .post('/v1/coupons')
      .send({ type: 'percent', amount_off: 500, duration: 'repeating' });
    expect(answer.status).toBe(422);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({
      code: 'coupon_terms_contradict',
      errors: [
        { pointer: '/percent_off' },
        { pointer: '/amount_off' },
        { pointer: '/duration_in_months' },
      ],
    });
  });

  describe('updated', () => {
    it('are deactivated and activated, with an event that contains the previous value', async () => {
      const { id } = await createCoupon({ metadata: { a: 1, b: { c: 2 } } });
      engine.clock.advanceMs(1_000);
      const answer = await engine.http
        .patch(`/v1/coupons/${id}`)
        .send({ is_active: false, metadata: { a: null, d: [true] } });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ is_active: false, metadata: { b: { c: 2 }, d: [true] } });
      expect(answer.headers['etag']).toBe('"2"');
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'coupon.updated',
        sequence: 2,
        data: {
          object: answer.body,
          previous: { is_active: true, metadata: { a: 1, b: { c: 2 } } },
        },
      });
      expect(
        (await engine.http.patch(`/v1/coupons/${id}`).send({ is_active: true })).body,
      ).toMatchObject({
        is_active: true,
      });
    });

    it.each([
      {},
      { is_active: true },
      { metadata: {} },
      { metadata: { a: 1 } },
      { metadata: { x: null } },
    ])('with %j stay as they were, without an event', async (change) => {
      const { id } = await createCoupon({ metadata: { a: 1 } });
      const before = await engine.http.get(`/v1/coupons/${id}`);
      engine.clock.advanceMs(1_000);
      const answer = await engine.http.patch(`/v1/coupons/${id}`).send(change);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(before.body);
      expect(await eventsOf(engine, id)).toHaveLength(1);
    });

    it.each([
      [{ code: 'X' }, '/code', 'unknown_field'],
      [{ is_active: 'false' }, '/is_active', 'is_boolean'],
      [{ is_active: null }, '/is_active', 'is_boolean'],
      [{ metadata: [] }, '/metadata', 'is_metadata'],
      [{ metadata: null }, '/metadata', 'is_metadata'],
      [{ metadata: { big: 'x'.repeat(16_384) } }, '/metadata', 'is_metadata'],
    ])('with %j are refused', async (change, pointer, code) => {
      const { id } = await createCoupon();
      const answer = await engine.http.patch(`/v1/coupons/${id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const { id } = await createCoupon({ metadata: half('a') });
      const answer = await engine.http.patch(`/v1/coupons/${id}`).send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('concurrently lose no change', async () => {
      const { id } = await createCoupon();
      const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
      const answers = await Promise.all(
        keys.map((key) => engine.http.patch(`/v1/coupons/${id}`).send({ metadata: { [key]: 1 } })),
      );
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      const { body } = await engine.http.get(`/v1/coupons/${id}`);
      expect(Object.keys((body as { metadata: object }).metadata).sort()).toEqual([...keys].sort());
      expect((await eventsOf(engine, id)).map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 21 }, (_, index) => index + 1),
      );
    });

    it('with If-Match also in the last version that can be stored but one', async () => {
      const { id } = await createCoupon();
      await engine.database.query('UPDATE coupon SET version = 2147483646 WHERE id = $1', [id]);
      const path = `/v1/coupons/${id}`;
      const { etag = '' } = (await engine.http.get(path)).headers;
      const answer = await engine.http.patch(path).set('If-Match', etag).send({ is_active: false });
      expect([etag, answer.headers['etag']]).toEqual(['"2147483646"', '"2147483647"']);
    });

    it('with If-Match only in the version the caller read', async () => {
      const { id } = await createCoupon();
      const change = (tag: string, active: boolean) =>
        engine.http.patch(`/v1/coupons/${id}`).set('If-Match', tag).send({ is_active: active });
      expect((await change('"1"', false)).status).toBe(200);
      const stale = await change('"1"', true);
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
      expect((await change('*', true)).status).toBe(200);
      expect((await change('W/"2"', false)).status).toBe(412);
      expect((await change('"2-gzip", W/"3"', false)).status).toBe(200);
      expect((await change('3', false)).status).toBe(400);
    });

    it.each(['W/"1"', '"1-gzip"', '"1;gzip"', '"1-br"', '"1-zstd"', 'W/"1-gzip"'])(
      'with the tag as a proxy that compresses changes it (%s)',
      async (tag) => {
        const { id } = await createCoupon();
        const change = () =>
          engine.http.patch(`/v1/coupons/${id}`).set('If-Match', tag).send({ is_active: false });
        expect((await change()).status).toBe(200);
        expect((await change()).status).toBe(412);
      },
    );
  });

  it('are listed newest first, page by page', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.push((await createCoupon()).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await engine.http
        .get('/v1/coupons')
        .query(cursor === null ? { limit: 2 } : { limit: 2, cursor });
      expect(answer.status).toBe(200);
      const page = answer.body as { data: { id: string }[]; next_cursor: string | null };
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.slice(0, 5)).toEqual([...made].reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1&limit=2',
    'cursor=nope',
    'page=2',
    'cursor=',
  ])('listed with ?%s are refused', async (query) => {
    expect((await engine.http.get(`/v1/coupons?${query}`)).status).toBe(400);
  });

  it('without redemptions can be deleted', async () => {
    const { id } = await createCoupon();
    expect((await engine.http.delete(`/v1/coupons/${id}`).set('If-Match', '"7"')).status).toBe(412);
    const answer = await engine.http.delete(`/v1/coupons/${id}`);
    expect(answer.status).toBe(204);
    expect((await engine.http.get(`/v1/coupons/${id}`)).status).toBe(404);
    expect((await engine.http.delete(`/v1/coupons/${id}`)).status).toBe(404);
  });

  it('that are deleted record one event, and free their code', async () => {
    const { body: made } = await engine.http
      .post('/v1/coupons')
      .send({ code: 'AGAIN', type: 'percent', percent_off: '5', duration: 'once' });
    const { id } = made as { id: string };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => engine.http.delete(`/v1/coupons/${id}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404]);
    const [, ...after] = await eventsOf(engine, id);
    expect(after).toEqual([
      { type: 'coupon.deleted', sequence: 2, data: { object: made as object, previous: {} } },
    ]);
    const again = await engine.http
      .post('/v1/coupons')
      .send({ code: 'AGAIN', type: 'percent', percent_off: '5', duration: 'once' });
    expect(again.status).toBe(201);
  });

  it('that were redeemed stay', async () => {
    const { id } = await createCoupon();
    await engine.database.query('UPDATE coupon SET times_redeemed = 1 WHERE id = $1', [id]);
    const answer = await engine.http.delete(`/v1/coupons/${id}`);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ code: 'coupon_in_use' });
  });

  it.each([
    'coup_01h455vb4pex5vsknk084sn02q',
    'nope',
    'cus_01h455vb4pex5vsknk084sn02q',
    '%00',
    'coup_',
  ])('unknown by the id %s are a 404', async (id) => {
    for (const method of ['get', 'patch', 'delete'] as const) {
      const answer = await engine.http[method](`/v1/coupons/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'coupon_not_found' });
    }
  });
});
