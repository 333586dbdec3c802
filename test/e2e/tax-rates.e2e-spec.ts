import { CustomersService } from '../../src/modules/customers';
import { createCustomer } from '../support/billing';
import { Story } from '../support/story';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('tax rates', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const vat = { name: 'VAT', percentage: '20' };
  const ABSENT = 'txr_01h455vb4pex5vsknk084sn02q';

  async function createRate(fields: object = {}): Promise<string> {
    const answer = await engine.http.post('/v1/tax-rates').send({ ...vat, ...fields });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  const read = async (path: string) => (await engine.http.get(path)).body as object;
  const change = (id: string, body: object) => engine.http.patch(`/v1/tax-rates/${id}`).send(body);

  it('are none at first', async () => {
    expect(await read('/v1/tax-rates')).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows', async () => {
    const sent = {
      name: 'MwSt',
      percentage: '19.25',
      inclusive: true,
      country: 'DE',
      metadata: { a: { b: null } },
    };
    const answer = await engine.http.post('/v1/tax-rates').send(sent);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^txr_/) as string,
      ...sent,
      is_active: true,
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as { id: string };
    expect(await read(`/v1/tax-rates/${id}`)).toEqual(answer.body);
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'tax_rate.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('need only a name and a percentage', async () => {
    expect(await read(`/v1/tax-rates/${await createRate()}`)).toMatchObject({
      inclusive: false,
      country: null,
      metadata: {},
    });
  });

  it('sent twice with one key are created once', async () => {
    const send = () => engine.http.post('/v1/tax-rates').set('Idempotency-Key', 'rate').send(vat);
    const first = await send();
    expect((await send()).body).toEqual(first.body);
  });

  it.each(['0', '0.0001', '7', '99.9999', '100', '100.0'])(
    'take %s percent',
    async (percentage) => {
      const id = await createRate({ percentage });
      expect(await read(`/v1/tax-rates/${id}`)).toMatchObject({ percentage });
    },
  );

  it.each([
    [{ percentage: 20 }, '/percentage'],
    [{ percentage: '-1' }, '/percentage'],
    [{ percentage: '100.0001' }, '/percentage'],
    [{ percentage: '101' }, '/percentage'],
    [{ percentage: '07' }, '/percentage'],
    [{ percentage: '1e1' }, '/percentage'],
    [{ percentage: '0.00001' }, '/percentage'],
    [{ percentage: undefined }, '/percentage'],
    [{ name: '' }, '/name'],
    [{ name: null }, '/name'],
    [{ inclusive: 'yes' }, '/inclusive'],
    [{ country: 'de' }, '/country'],
    [{ country: 'XX' }, '/country'],
    [{ is_active: false }, '/is_active'],
    [{ metadata: null }, '/metadata'],
  ])('with %j are refused', async (fields, pointer) => {
    const answer = await engine.http.post('/v1/tax-rates').send({ ...vat, ...fields });
    expect(answer.status).toBe(400);
    const { errors } = answer.body as { errors: { pointer: string }[] };
    expect(errors.map((error) => error.pointer)).toContain(pointer);
  });

  it('are deactivated, with an event that contains the previous value; an empty body changes nothing', async () => {
    const id = await createRate({ metadata: { a: 1 } });
    expect((await change(id, {})).headers['etag']).toBe('"1"');
    engine.clock.advanceMs(1_000);
    const answer = await change(id, { is_active: false, metadata: { a: null } });
    expect(answer.body).toMatchObject({ is_active: false, metadata: {} });
    expect(answer.headers['etag']).toBe('"2"');
    expect((await eventsOf(engine, id)).slice(1)).toEqual([
      {
        type: 'tax_rate.updated',
        sequence: 2,
        data: { object: answer.body, previous: { is_active: true, metadata: { a: 1 } } },
      },
    ]);
    const stale = await engine.http
      .patch(`/v1/tax-rates/${id}`)
      .set('If-Match', '"1"')
      .send({ is_active: true });
    expect(stale.status).toBe(412);
  });

  it.each([
    [{ percentage: '21' }, 400, 'validation_failed'],
    [{ name: 'X' }, 400, 'validation_failed'],
    [{ is_active: null }, 400, 'validation_failed'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`b${n}`, n])) },
      422,
      'metadata_too_large',
    ],
  ])('with %j are not changed', async (body, status, code) => {
    const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`a${n}`, n]));
    const answer = await change(await createRate({ metadata }), body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code });
  });

  it('archived are no longer returned', async () => {
    const id = await createRate();
    expect((await engine.http.delete(`/v1/tax-rates/${id}`).set('If-Match', '"2"')).status).toBe(
      412,
    );
    expect((await engine.http.delete(`/v1/tax-rates/${id}`)).status).toBe(204);
    expect((await engine.http.delete(`/v1/tax-rates/${id}`)).status).toBe(404);
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
      'tax_rate.created',
      'tax_rate.archived',
    ]);
    const { data } = (await read('/v1/tax-rates?limit=100')) as { data: { id: string }[] };
    expect(data.map((rate) => rate.id)).not.toContain(id);
  });

  it('are listed newest first, page by page', async () => {
    const made = [await createRate(), await createRate(), await createRate()];
    const first = (await read('/v1/tax-rates?limit=2')) as {
      data: { id: string }[];
      next_cursor: string;
    };
    const second = (await read(
      `/v1/tax-rates?limit=1&cursor=${first.next_cursor}`,
    )) as typeof first;
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made.reverse());
  });

  it.each([ABSENT, 'nope', 'cus_01h455vb4pex5vsknk084sn02q'])(
    'with the unknown id %s give 404',
    async (id) => {
      for (const method of ['get', 'patch', 'delete'] as const) {
        const answer = await engine.http[method](`/v1/tax-rates/${id}`);
        expect(answer.status).toBe(404);
        expect(answer.body).toMatchObject({ code: 'tax_rate_not_found' });
      }
    },
  );

  describe('of a customer', () => {
    const give = (id: string, rates: readonly string[]) =>
      engine.http.patch(`/v1/customers/${id}`).send({ tax_rate_ids: rates });

    it('are those assigned, in that order', async () => {
      const rates = [await createRate(), await createRate({ percentage: '5', inclusive: true })];
      const id = await createCustomer(engine, { tax_rate_ids: rates });
      expect(await read(`/v1/customers/${id}`)).toMatchObject({ tax_rate_ids: rates });
      const answer = await give(id, [...rates].reverse());
      expect(answer.body).toMatchObject({ tax_rate_ids: [...rates].reverse() });
      expect((await eventsOf(engine, id)).at(-1)).toMatchObject({
        type: 'customer.updated',
        data: { previous: { tax_rate_ids: rates } },
      });
      const customers = engine.app.get(CustomersService);
      const billed = (await customers.taxRatesOf([await customers.get(id)])).get(id) ?? [];
      expect(billed.map(({ percentage, inclusive }) => [percentage, inclusive])).toEqual([
        ['5', true],
        ['20', false],
      ]);
      expect((await give(id, [])).body).toMatchObject({ tax_rate_ids: [] });
      expect((await customers.taxRatesOf([await customers.get(id)])).get(id)).toEqual([]);
    });

    it.each(['unknown', 'inactive', 'archived'])('are never %s ones', async (kind) => {
      const good = await createRate();
      const bad = kind === 'unknown' ? ABSENT : await createRate();
      if (kind === 'inactive') await change(bad, { is_active: false });
      if (kind === 'archived') await engine.http.delete(`/v1/tax-rates/${bad}`);
      const body = { name: 'Ada', tax_rate_ids: [good, bad] };
      const id = await createCustomer(engine);
      for (const answer of [
        await engine.http.post('/v1/customers').send(body),
        await give(id, [good, bad]),
      ]) {
        expect(answer.status).toBe(422);
        expect(answer.body).toMatchObject({
          code: 'reference_not_found',
          errors: [{ pointer: '/tax_rate_ids/1' }],
        });
      }
      expect(await eventsOf(engine, id)).toHaveLength(1);
    });

    it('are archived first or assigned first, never assigned after archiving', async () => {
      for (let round = 0; round < 5; round += 1) {
        const rate = await createRate();
        const id = await createCustomer(engine);
        const [given, archived] = await Promise.all([
          give(id, [rate]),
          engine.http.delete(`/v1/tax-rates/${rate}`),
        ]);
        expect(archived.status).toBe(204);
        expect([200, 422]).toContain(given.status);
        expect(await read(`/v1/customers/${id}`)).toMatchObject({
          tax_rate_ids: given.status === 200 ? [rate] : [],
        });
      }
    });

    it('stay assigned when they are deactivated or archived', async () => {
      const off = await createRate();
      const gone = await createRate();
      const id = await createCustomer(engine, { tax_rate_ids: [off, gone] });
      await change(off, { is_active: false });
      await engine.http.delete(`/v1/tax-rates/${gone}`);
      const added = await createRate();
      const answer = await give(id, [added, off, gone]);
      expect(answer.status).toBe(200);
      const customers = engine.app.get(CustomersService);
      const billed = (await customers.taxRatesOf([await customers.get(id)])).get(id) ?? [];
      expect(billed.map((rate) => rate.id)).toEqual([added, off, gone]);
      // Once removed from the list, it cannot be added again.
      await give(id, []);
      expect((await give(id, [off])).status).toBe(422);
    });

    it.each([
      [null, '/tax_rate_ids'],
      ['txr', '/tax_rate_ids'],
      [['nope'], '/tax_rate_ids'],
      [[ABSENT, ABSENT], '/tax_rate_ids'],
      [Array.from({ length: 6 }, (_, n) => `txr_01h455vb4pex5vsknk084sn0${n}q`), '/tax_rate_ids'],
    ])('are at most five different ids, not %j', async (rates, pointer) => {
      const answer = await engine.http
        .post('/v1/customers')
        .send({ name: 'Ada', tax_rate_ids: rates });
      expect(answer.status).toBe(400);
      const { errors } = answer.body as { errors: { pointer: string }[] };
      expect(errors.map((error) => error.pointer)).toContain(pointer);
    });
  });

  it('are split over charges and credits by the largest remainder', async () => {
    const ids: string[] = [];
    for (const percentage of ['5', '9.975']) {
      const { body } = await engine.http.post('/v1/tax-rates').send({ name: 'Tax', percentage });
      ids.push((body as { id: string }).id);
    }
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', { tax_rate_ids: ids });
    const { id } = await story.subscribe(await story.seats('310'));
    await story.advance('2026-03-03T00:00:00.000Z');
    await story.command(id, 'change', { quantity: '2', when: 'now' });
    const changed = (await story.invoices()).find(({ lines }) => lines.length === 2);
    // At 5 %: 29 - 14.50 = 15. At 9.975 %: 57.855 - 28.9275 = 29.
    expect(changed).toMatchObject({ subtotal: 290, tax: 44, total: 334 });
    expect(changed?.lines.map(({ amount, tax }) => [amount, tax])).toEqual([
      [580, 87],
      [-290, -43],
    ]);
    await story.verify();
  });
});
