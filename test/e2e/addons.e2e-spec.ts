import { CatalogService } from '../../src/modules/catalog';
import { createMeter } from '../support/billing';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('add-ons', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  interface AddonBody {
    readonly id: string;
    readonly code: string;
  }

  const METER = 'meter_01h455vb4pex5vsknk084sn02q';
  let count = 0;

  function addonWith(fields: object = {}): object {
    count += 1;
    return { code: `addon-${count}`, name: 'Seats', currency: 'EUR', prices: [], ...fields };
  }

  async function createAddon(fields: object = {}): Promise<AddonBody> {
    const answer = await engine.http.post('/v1/addons').send(addonWith(fields));
    expect(answer.status).toBe(201);
    return answer.body as AddonBody;
  }

  const flat = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 500 };
  const perUnit = { name: 'Seat', model: 'per_unit', timing: 'in_arrears', unit_amount: '0.0125' };
  const tiers = [
    { up_to: '10', unit_amount: '5.50', flat_amount: 9007199254740991 },
    { up_to: '10.5', unit_amount: '0' },
    { up_to: null, unit_amount: '1', flat_amount: null },
  ];
  const shownTiers = [
    { up_to: '10', unit_amount: '5.50', flat_amount: 9007199254740991 },
    { up_to: '10.5', unit_amount: '0', flat_amount: 0 },
    { up_to: null, unit_amount: '1', flat_amount: 0 },
  ];
  const graduated = { name: 'Graduated', model: 'graduated', timing: 'in_arrears', tiers };
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

  it('are none at first', async () => {
    const answer = await engine.http.get('/v1/addons');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows, and prices of every model in order', async () => {
    const meter = await createMeter(engine, { aggregation: 'sum', value_property: 'amount' });
    const package_ = {
      name: 'Package',
      model: 'package',
      timing: 'in_arrears',
      unit_amount: '900',
      package_size: '100',
      free_units: '50',
      meter_id: meter,
    };
    const percentage = {
      name: 'Fee',
      model: 'percentage',
      timing: 'in_arrears',
      rate: '0.029',
      fixed_amount: 30,
      free_units: '3',
      event_maximum_amount: 200,
      meter_id: meter,
      minimum_amount: 100,
      maximum_amount: 100,
    };
    const volume = { ...graduated, name: 'V', model: 'volume', charge_flat_at_zero: false };
    const answer = await engine.http.post('/v1/addons').send({
      code: 'Extra_seats-1',
      name: 'Extra seats',
      currency: 'JPY',
      prices: [flat, perUnit, graduated, volume, package_, percentage],
      metadata: { a: { b: null } },
    });
    expect(answer.status).toBe(201);
    const id = expect.stringMatching(/^price_/) as string;
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^addon_/) as string,
      code: 'Extra_seats-1',
      name: 'Extra seats',
      currency: 'JPY',
      prices: [
        { ...none, id, ...flat },
        { ...none, id, ...perUnit },
        { ...none, id, ...graduated, tiers: shownTiers, charge_flat_at_zero: true },
        { ...none, id, ...volume, tiers: shownTiers },
        { ...none, id, ...package_ },
        { ...none, id, free_amount: 0, ...percentage },
      ],
      metadata: { a: { b: null } },
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const addon = answer.body as AddonBody;
    const read = await engine.http.get(`/v1/addons/${addon.id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers['etag']).toBe('"1"');
    expect(await eventsOf(engine, addon.id)).toEqual([
      { type: 'addon.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('sent twice with one key are created once', async () => {
    const body = addonWith({ prices: [flat] });
    const send = () =>
      engine.http.post('/v1/addons').set('Idempotency-Key', 'addon-once').send(body);
    const first = await send();
    const second = await send();
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  it('have unique codes, also with concurrent requests', async () => {
    const body = addonWith();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => engine.http.post('/v1/addons').send(body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'addon_code_taken', status: 409 });
  });

  it('with contradictory prices are refused, with every contradiction', async () => {
    const answer = await engine.http.post('/v1/addons').send(
      addonWith({
        prices: [
          { ...flat, unit_amount: '5' },
          perUnit,
          {
            ...graduated,
            tiers: [
              { up_to: '5', unit_amount: '1' },
              { up_to: '5.0', unit_amount: '1' },
            ],
          },
          { ...perUnit, timing: 'in_advance', meter_id: METER },
          { ...flat, minimum_amount: 2, maximum_amount: 1 },
        ],
      }),
    );
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'price_terms_contradict',
      errors: [
        { pointer: '/prices/0/unit_amount', code: 'contradiction' },
        { pointer: '/prices/2/tiers/1/up_to' },
        { pointer: '/prices/3/timing' },
        { pointer: '/prices/4/maximum_amount' },
      ],
    });
    expect((answer.body as { errors: object[] }).errors).toHaveLength(4);
  });

  it.each([
    [{ code: undefined }, '/code', 'matches'],
    [{ code: 'a b' }, '/code', 'matches'],
    [{ code: 'x'.repeat(65) }, '/code', 'matches'],
    [{ name: '' }, '/name', 'is_text'],
    [{ currency: undefined }, '/currency', 'is_currency'],
    [{ currency: 'XAU' }, '/currency', 'is_currency'],
    [{ prices: undefined }, '/prices', 'is_array'],
    [{ prices: {} }, '/prices', 'is_array'],
    [{ prices: [null] }, '/prices', 'is_object'],
    [{ prices: [[flat]] }, '/prices', 'is_object'],
    [{ prices: Array(21).fill(flat) }, '/prices', 'array_max_size'],
    [{ prices: [{ ...flat, name: undefined }] }, '/prices/0/name', 'is_text'],
    [{ prices: [{ ...flat, model: 'free' }] }, '/prices/0/model', 'is_in'],
    [{ prices: [{ ...flat, timing: 'never' }] }, '/prices/0/timing', 'is_in'],
    [{ prices: [{ ...flat, amount: 1.5 }] }, '/prices/0/amount', 'is_minor_units'],
    [{ prices: [{ ...flat, amount: -1 }] }, '/prices/0/amount', 'is_minor_units'],
    [{ prices: [flat, { ...perUnit, unit_amount: 5 }] }, '/prices/1/unit_amount', 'matches'],
    [{ prices: [{ ...perUnit, unit_amount: '-5' }] }, '/prices/0/unit_amount', 'matches'],
    [{ prices: [{ ...perUnit, unit_amount: '1e3' }] }, '/prices/0/unit_amount', 'matches'],
    [{ prices: [{ ...graduated, tiers: [[]] }] }, '/prices/0/tiers', 'is_object'],
    [
      { prices: [{ ...graduated, tiers: [{ unit_amount: '5' }] }] },
      '/prices/0/tiers/0/up_to',
      'matches',
    ],
    [
      { prices: [{ ...graduated, tiers: [{ up_to: null }] }] },
      '/prices/0/tiers/0/unit_amount',
      'matches',
    ],
    [
      { prices: [{ ...graduated, tiers: Array(101).fill(tiers[0]) }] },
      '/prices/0/tiers',
      'array_max_size',
    ],
    [{ prices: [{ ...perUnit, meter_id: 'meter_1' }] }, '/prices/0/meter_id', 'is_id'],
    [
      { prices: [{ ...graduated, charge_flat_at_zero: 1 }] },
      '/prices/0/charge_flat_at_zero',
      'is_boolean',
    ],
    [{ prices: [{ ...flat, currency: 'EUR' }] }, '/prices/0/currency', 'unknown_field'],
    [{ archived_at: null }, '/archived_at', 'unknown_field'],
    [{ metadata: null }, '/metadata', 'is_metadata'],
  ])('with %j are refused', async (fields, pointer, code) => {
    const answer = await engine.http.post('/v1/addons').send(addonWith(fields));
    expect(answer.status).toBe(400);
    expect((answer.body as { errors: object[] }).errors).toContainEqual(
      expect.objectContaining({ pointer, code }),
    );
  });

  describe('updated', () => {
    it('are renamed, with an event that contains the previous name', async () => {
      const { id } = await createAddon({ prices: [flat, graduated], metadata: { a: 1 } });
      engine.clock.advanceMs(1_000);
      const answer = await engine.http
        .patch(`/v1/addons/${id}`)
        .send({ name: 'More seats', metadata: { a: null, b: 2 } });
      expect(answer.status).toBe(200);
      expect(answer.headers['etag']).toBe('"2"');
      expect(answer.body).toMatchObject({
        name: 'More seats',
        prices: [flat, { ...graduated, tiers: shownTiers }],
        metadata: { b: 2 },
      });
      expect((await engine.http.get(`/v1/addons/${id}`)).body).toEqual(answer.body);
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'addon.updated',
        sequence: 2,
        data: { object: answer.body, previous: { name: 'Seats', metadata: { a: 1 } } },
      });
    });

    it.each([{}, { name: 'Seats' }, { metadata: { a: 1 } }, { metadata: { x: null } }])(
      'with %j stay as they were, without an event',
      async (change) => {
        const { id } = await createAddon({ metadata: { a: 1 } });
        const before = await engine.http.get(`/v1/addons/${id}`);
        engine.clock.advanceMs(1_000);
        const answer = await engine.http.patch(`/v1/addons/${id}`).send(change);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual(before.body);
        expect(await eventsOf(engine, id)).toHaveLength(1);
      },
    );

    it.each([
      [{ prices: [] }, '/prices', 'unknown_field'],
      [{ code: 'x' }, '/code', 'unknown_field'],
      [{ currency: 'USD' }, '/currency', 'unknown_field'],
      [{ name: null }, '/name', 'is_text'],
    ])('with %j are refused', async (change, pointer, code) => {
      const { id } = await createAddon();
      const answer = await engine.http.patch(`/v1/addons/${id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const { id } = await createAddon({ metadata: half('a') });
      const answer = await engine.http.patch(`/v1/addons/${id}`).send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('concurrently lose no change', async () => {
      const { id } = await createAddon();
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
      await Promise.all(
        keys.map((key) => engine.http.patch(`/v1/addons/${id}`).send({ metadata: { [key]: 1 } })),
      );
      const { body } = await engine.http.get(`/v1/addons/${id}`);
      expect(Object.keys((body as { metadata: object }).metadata).sort()).toEqual([...keys].sort());
    });

    it('with If-Match only in the version the caller read', async () => {
      const { id } = await createAddon();
      const change = (tag: string, name: string) =>
        engine.http.patch(`/v1/addons/${id}`).set('If-Match', tag).send({ name });
      expect((await change('"1"', 'B')).status).toBe(200);
      const stale = await change('"1"', 'C');
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
    });
  });

  it('are listed newest first, page by page, with their prices', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.push((await createAddon({ prices: [{ ...flat, amount: index }, perUnit] })).id);
    }
    const seen: { id: string; prices: { amount: number | null }[] }[] = [];
    let cursor: string | null = null;
    do {
      const answer = await engine.http
        .get('/v1/addons')
        .query(cursor === null ? { limit: 2 } : { limit: 2, cursor });
      expect(answer.status).toBe(200);
      const page = answer.body as { data: typeof seen; next_cursor: string | null };
      seen.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.slice(0, 5).map(({ id }) => id)).toEqual([...made].reverse());
    expect(seen.slice(0, 5).map(({ prices }) => prices.map(({ amount }) => amount))).toEqual(
      [4, 3, 2, 1, 0].map((amount) => [amount, null]),
    );
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  });

  it.each(['limit=0', 'cursor=nope', 'code=x'])('listed with ?%s are refused', async (query) => {
    expect((await engine.http.get(`/v1/addons?${query}`)).status).toBe(400);
  });

  describe('archived', () => {
    it('are no longer returned; their rows and codes stay', async () => {
      const created = await createAddon({ prices: [flat] });
      const { id, code } = created;
      const path = `/v1/addons/${id}`;
      expect((await engine.http.delete(path).set('If-Match', '"7"')).status).toBe(412);
      expect((await engine.http.delete(path)).status).toBe(204);
      expect((await engine.http.get(path)).status).toBe(404);
      expect((await engine.http.patch(path).send({ name: 'B' })).status).toBe(404);
      expect((await engine.http.delete(path)).status).toBe(404);
      const { body } = await engine.http.get('/v1/addons').query({ limit: 100 });
      expect((body as { data: AddonBody[] }).data.map((addon) => addon.id)).not.toContain(id);
      const again = await engine.http.post('/v1/addons').send(addonWith({ code }));
      expect(again.body).toMatchObject({ code: 'addon_code_taken' });
      expect(
        await engine.database.query('SELECT count(*)::int FROM price WHERE addon_id = $1', [id]),
      ).toEqual([{ count: 1 }]);
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'addon.archived',
        sequence: 2,
        data: {
          object: { ...created, updated_at: engine.clock.now().toISOString() },
          previous: {},
        },
      });
    });

    it('can no longer be referred to', async () => {
      const { id } = await createAddon({ prices: [flat] });
      const catalog = engine.app.get(CatalogService);
      const refer = () =>
        engine.database.transaction(() => catalog.requireAddonForReference(id, '/addon_id'));
      expect(await refer()).toMatchObject({ id, prices: [{ model: 'flat', amount: 500n }] });
      await engine.http.delete(`/v1/addons/${id}`);
      await expect(refer()).rejects.toMatchObject({
        definition: { code: 'reference_not_found' },
        occurrence: { errors: [{ pointer: '/addon_id' }] },
      });
    });
  });

  it.each([
    'addon_01h455vb4pex5vsknk084sn02q',
    'nope',
    'cus_01h455vb4pex5vsknk084sn02q',
    '%00',
    'addon_',
  ])('with the unknown id %s give 404', async (id) => {
    for (const method of ['get', 'patch', 'delete'] as const) {
      const answer = await engine.http[method](`/v1/addons/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'addon_not_found' });
    }
  });
});
