import { Client } from 'pg';
import { CustomersService } from '../../src/modules/customers';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('customers', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  interface CustomerBody {
    readonly id: string;
  }

  async function createCustomer(fields: object = {}): Promise<CustomerBody> {
    const answer = await engine.http.post('/v1/customers').send({ name: 'Ada', ...fields });
    expect(answer.status).toBe(201);
    return answer.body as CustomerBody;
  }

  const address = {
    line1: '12 Rue de la Paix',
    line2: '3rd floor',
    city: 'Paris',
    state: 'Île-de-France',
    postal_code: '75002',
    country: 'FR',
  };
  const nowhere = {
    line1: null,
    line2: null,
    city: null,
    state: null,
    postal_code: null,
    country: null,
  };

  it('are none at first', async () => {
    const answer = await engine.http.get('/v1/customers');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: [], next_cursor: null });
  });

  it('are created with every field the API shows', async () => {
    const sent = {
      name: 'Analytical Engines Ltd',
      email: 'ada@example.com',
      external_id: 'crm-1042',
      currency: 'EUR',
      timezone: 'Europe/Paris',
      address,
      tax_exempt: 'reverse',
      invoice_grace_hours: 720,
      metadata: { tier: 1, nested: { a: null } },
    };
    const answer = await engine.http.post('/v1/customers').send(sent);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^cus_/) as string,
      ...sent,
      currency_locked: false,
      tax_rate_ids: [],
      test_clock_id: null,
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(answer.headers['etag']).toBe('"1"');
    const { id } = answer.body as CustomerBody;
    const read = await engine.http.get(`/v1/customers/${id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers['etag']).toBe('"1"');
    expect(await eventsOf(engine, id)).toEqual([
      { type: 'customer.created', sequence: 1, data: { object: answer.body, previous: {} } },
    ]);
  });

  it('need only a name', async () => {
    expect(await createCustomer()).toMatchObject({
      name: 'Ada',
      email: null,
      external_id: null,
      currency: null,
      currency_locked: false,
      timezone: 'UTC',
      address: null,
      tax_exempt: 'none',
      invoice_grace_hours: null,
      metadata: {},
    });
    expect(await createCustomer({ address: { country: 'DE', line2: null } })).toMatchObject({
      address: { ...nowhere, country: 'DE' },
    });
  });

  it('sent twice with one key are created once', async () => {
    const send = () =>
      engine.http
        .post('/v1/customers')
        .set('Idempotency-Key', 'customer-once')
        .send({ name: 'Once', external_id: 'once' });
    const first = await send();
    const second = await send();
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers['etag']).toBe('"1"');
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await send().send({ name: 'Twice' })).body).toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('have unique external ids, also with concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        engine.http.post('/v1/customers').send({ name: 'Ada', external_id: 'only-1' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'customer_external_id_taken', status: 409 });
    const { id } = await createCustomer();
    const change = await engine.http.patch(`/v1/customers/${id}`).send({ external_id: 'only-1' });
    expect(change.status).toBe(409);
    expect(change.body).toMatchObject({ code: 'customer_external_id_taken' });
  });

  it.each(['ü@example.com', 'ada@exämple.de', '"a b"@example.com'])(
    'with the e-mail address %s are answered as documented',
    async (email) => {
      const { id } = await createCustomer({ email });
      const answer = await engine.http.get(`/v1/customers/${id}`);
      expect(answer.body).toMatchObject({ email });
    },
  );

  it.each([
    [{ name: undefined }, '/name', 'is_text'],
    [{ name: '' }, '/name', 'is_text'],
    [{ name: 'x'.repeat(201) }, '/name', 'is_text'],
    [{ name: '\u2601\ufe0f'.repeat(101) }, '/name', 'is_text'],
    [{ name: 5 }, '/name', 'is_text'],
    [{ name: null }, '/name', 'is_text'],
    [{ email: 'ada' }, '/email', 'is_email'],
    [{ email: 'Ada <ada@example.com>' }, '/email', 'is_email'],
    [{ email: 'ada@example.c' }, '/email', 'is_email'],
    [{ external_id: '' }, '/external_id', 'is_text'],
    [{ external_id: 'x'.repeat(256) }, '/external_id', 'is_text'],
    [{ currency: 'usd' }, '/currency', 'is_currency'],
    [{ currency: 'XXX' }, '/currency', 'is_currency'],
    [{ timezone: 'Mars/Olympus' }, '/timezone', 'is_time_zone'],
    // Known to `Intl`, but not to `Temporal`, which calculates the periods.
    [{ timezone: 'IST' }, '/timezone', 'is_time_zone'],
    [{ timezone: null }, '/timezone', 'is_time_zone'],
    [{ address: 'Paris' }, '/address', 'is_object'],
    [{ address: [address] }, '/address', 'is_object'],
    [{ address: { street: 'x' } }, '/address/street', 'unknown_field'],
    [{ address: { country: 'fr' } }, '/address/country', 'is_country'],
    [{ address: { country: 'ZZ' } }, '/address/country', 'is_country'],
    [{ address: { city: 5 } }, '/address/city', 'is_text'],
    [{ address: { postal_code: 'x'.repeat(41) } }, '/address/postal_code', 'is_text'],
    [{ tax_exempt: 'maybe' }, '/tax_exempt', 'is_in'],
    [{ tax_exempt: null }, '/tax_exempt', 'is_in'],
    [{ invoice_grace_hours: -1 }, '/invoice_grace_hours', 'min'],
    [{ invoice_grace_hours: 721 }, '/invoice_grace_hours', 'max'],
    [{ invoice_grace_hours: 1.5 }, '/invoice_grace_hours', 'is_int'],
    [{ metadata: [] }, '/metadata', 'is_metadata'],
    [{ currency_locked: true }, '/currency_locked', 'unknown_field'],
    [{ deleted_at: null }, '/deleted_at', 'unknown_field'],
  ])('with %j are refused', async (fields, pointer, code) => {
    const answer = await engine.http.post('/v1/customers').send({ name: 'Ada', ...fields });
    expect(answer.status).toBe(400);
    expect((answer.body as { errors: object[] }).errors).toContainEqual(
      expect.objectContaining({ pointer, code }),
    );
  });

  it.each([
    { name: '\u{1f4a1}'.repeat(200) },
    { external_id: '\u2601\ufe0f'.repeat(127) },
    { address: { line1: '\u{1f4a1}'.repeat(500) } },
  ])('have names with any characters, up to the maximum length', async (fields) => {
    await createCustomer(fields);
  });

  describe('updated', () => {
    const full = {
      email: 'ada@example.com',
      currency: 'EUR',
      timezone: 'Europe/Paris',
      address,
      tax_exempt: 'exempt',
      invoice_grace_hours: 24,
      metadata: { a: 1, b: { c: 2 } },
    };

    it('take every field, with an event that contains the previous values', async () => {
      const { id } = await createCustomer({ ...full, external_id: 'before' });
      engine.clock.advanceMs(1_000);
      const change = {
        name: 'Grace',
        email: 'grace@example.com',
        external_id: 'after',
        currency: 'USD',
        timezone: 'America/New_York',
        address: { city: 'New York' },
        tax_exempt: 'none',
        invoice_grace_hours: 0,
        metadata: { a: null, d: [true] },
      };
      const answer = await engine.http.patch(`/v1/customers/${id}`).send(change);
      expect(answer.status).toBe(200);
      expect(answer.headers['etag']).toBe('"2"');
      expect(answer.body).toMatchObject({
        ...change,
        address: { ...nowhere, city: 'New York' },
        metadata: { b: { c: 2 }, d: [true] },
      });
      expect((await engine.http.get(`/v1/customers/${id}`)).body).toEqual(answer.body);
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'customer.updated',
        sequence: 2,
        data: {
          object: answer.body,
          previous: { ...full, name: 'Ada', external_id: 'before' },
        },
      });
    });

    it('lose the fields that are set to null', async () => {
      const { id } = await createCustomer({ ...full, external_id: 'gone' });
      const cleared = {
        email: null,
        external_id: null,
        currency: null,
        address: null,
        invoice_grace_hours: null,
      };
      const answer = await engine.http.patch(`/v1/customers/${id}`).send(cleared);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ ...cleared, name: 'Ada', timezone: 'Europe/Paris' });
    });

    it.each([
      {},
      { name: 'Ada' },
      { ...full },
      { address: { ...address } },
      { external_id: null },
      { metadata: { x: null } },
    ])('with %j stay as they were, without an event', async (change) => {
      const { id } = await createCustomer(full);
      const before = await engine.http.get(`/v1/customers/${id}`);
      engine.clock.advanceMs(1_000);
      const answer = await engine.http.patch(`/v1/customers/${id}`).send(change);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(before.body);
      expect(await eventsOf(engine, id)).toHaveLength(1);
    });

    it.each([
      [{ name: null }, '/name', 'is_text'],
      [{ timezone: null }, '/timezone', 'is_time_zone'],
      [{ tax_exempt: null }, '/tax_exempt', 'is_in'],
      [{ invoice_grace_hours: -1 }, '/invoice_grace_hours', 'min'],
      [{ invoice_grace_hours: 721 }, '/invoice_grace_hours', 'max'],
      [{ invoice_grace_hours: 1.5 }, '/invoice_grace_hours', 'is_int'],
      [{ address: [] }, '/address', 'is_object'],
      [{ address: { country: 'France' } }, '/address/country', 'is_country'],
      [{ id: 'cus_1' }, '/id', 'unknown_field'],
      [{ metadata: null }, '/metadata', 'is_metadata'],
    ])('with %j are refused', async (change, pointer, code) => {
      const { id } = await createCustomer();
      const answer = await engine.http.patch(`/v1/customers/${id}`).send(change);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    });

    it('past the limits of merged metadata are refused', async () => {
      const half = (prefix: string): object =>
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${prefix}${index}`, index]));
      const { id } = await createCustomer({ metadata: half('a') });
      const answer = await engine.http.patch(`/v1/customers/${id}`).send({ metadata: half('b') });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'metadata_too_large' });
    });

    it('concurrently lose no change', async () => {
      const { id } = await createCustomer();
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
      const answers = await Promise.all(
        keys.map((key) =>
          engine.http.patch(`/v1/customers/${id}`).send({ metadata: { [key]: 1 } }),
        ),
      );
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      const { body } = await engine.http.get(`/v1/customers/${id}`);
      expect(Object.keys((body as { metadata: object }).metadata).sort()).toEqual([...keys].sort());
      expect((await eventsOf(engine, id)).map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 11 }, (_, index) => index + 1),
      );
    });

    it('with If-Match only in the version the caller read', async () => {
      const { id } = await createCustomer();
      const change = (tag: string, name: string) =>
        engine.http.patch(`/v1/customers/${id}`).set('If-Match', tag).send({ name });
      expect((await change('"1"', 'B')).status).toBe(200);
      const stale = await change('"1"', 'C');
      expect(stale.status).toBe(412);
      expect(stale.body).toMatchObject({ code: 'precondition_failed' });
      expect((await change('*', 'D')).status).toBe(200);
    });
  });

  describe('listed', () => {
    it('are ordered newest first, page by page', async () => {
      const made: string[] = [];
      for (let count = 0; count < 5; count += 1) made.push((await createCustomer()).id);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const answer = await engine.http
          .get('/v1/customers')
          .query(cursor === null ? { limit: 2 } : { limit: 2, cursor });
        expect(answer.status).toBe(200);
        const page = answer.body as { data: { id: string }[]; next_cursor: string | null };
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(seen.slice(0, 5)).toEqual([...made].reverse());
      expect(new Set(seen).size).toBe(seen.length);
    });

    it('are filtered by external id or e-mail address', async () => {
      const email = 'shared@example.com';
      const first = await createCustomer({ email, external_id: 'a b&c' });
      const second = await createCustomer({ email });
      const idsOf = async (query: object): Promise<readonly string[]> => {
        const { body } = await engine.http.get('/v1/customers').query(query);
        return (body as { data: CustomerBody[] }).data.map(({ id }) => id);
      };
      expect(await idsOf({ external_id: 'a b&c' })).toEqual([first.id]);
      expect(await idsOf({ email })).toEqual([second.id, first.id]);
      expect(await idsOf({ email, external_id: 'a b&c' })).toEqual([first.id]);
      expect(await idsOf({ email: 'nobody@example.com' })).toEqual([]);
      const page = await engine.http.get('/v1/customers').query({ email, limit: 1 });
      const { next_cursor: cursor } = page.body as { next_cursor: string };
      expect(await idsOf({ email, limit: 1, cursor })).toEqual([first.id]);
    });

    it.each([
      'limit=0',
      'limit=101',
      'cursor=nope',
      'page=2',
      'external_id=',
      'email=',
      'email=a&email=b',
    ])('with ?%s are refused', async (query) => {
      expect((await engine.http.get(`/v1/customers?${query}`)).status).toBe(400);
    });
  });

  describe('deleted', () => {
    it('are no longer returned, and free their external id; their row stays', async () => {
      const created = await createCustomer({ external_id: 'reused' });
      const { id } = created;
      const path = `/v1/customers/${id}`;
      expect((await engine.http.delete(path).set('If-Match', '"7"')).status).toBe(412);
      const answer = await engine.http.delete(path);
      expect(answer.status).toBe(204);
      expect(answer.text).toBe('');
      expect((await engine.http.get(path)).status).toBe(404);
      expect((await engine.http.patch(path).send({ name: 'B' })).status).toBe(404);
      expect((await engine.http.delete(path)).status).toBe(404);
      const { body } = await engine.http.get('/v1/customers').query({ external_id: 'reused' });
      expect(body).toEqual({ data: [], next_cursor: null });
      await createCustomer({ external_id: 'reused' });
      expect(
        await engine.database.query('SELECT deleted_at FROM customer WHERE id = $1', [id]),
      ).toEqual([{ deleted_at: engine.clock.now() }]);
      expect((await eventsOf(engine, id)).at(-1)).toEqual({
        type: 'customer.deleted',
        sequence: 2,
        data: {
          object: { ...created, updated_at: engine.clock.now().toISOString() },
          previous: {},
        },
      });
    });

    it('concurrently are deleted once', async () => {
      const { id } = await createCustomer();
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => engine.http.delete(`/v1/customers/${id}`)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        204,
        ...Array<number>(5).fill(404),
      ]);
      expect(await eventsOf(engine, id)).toHaveLength(2);
    });
  });

  describe('referenced by other modules', () => {
    const customers = (): CustomersService => engine.app.get(CustomersService);
    const refer = (id: string) =>
      engine.database.transaction(() => customers().requireForReference(id, '/customer_id'));
    const fix = (id: string, currency: string) => customers().fixCurrency(id, currency);

    it('must exist', async () => {
      const { id } = await createCustomer();
      expect(await refer(id)).toMatchObject({ id });
      await engine.http.delete(`/v1/customers/${id}`);
      const gone = {
        definition: { code: 'reference_not_found' },
        occurrence: { errors: [{ pointer: '/customer_id' }] },
      };
      await expect(refer(id)).rejects.toMatchObject(gone);
      await expect(refer('nope')).rejects.toMatchObject(gone);
    });

    it('cannot be deleted until the reference is committed, but can be changed and referenced', async () => {
      const { id } = await createCustomer();
      const other = new Client({ connectionString: engine.databaseUrl });
      await other.connect();
      try {
        const lock = (strength: string) =>
          other.query(`SELECT 1 FROM customer WHERE id = $1 FOR ${strength} NOWAIT`, [id]);
        await engine.database.transaction(async () => {
          await customers().requireForReference(id, '/customer_id');
          await expect(lock('UPDATE')).rejects.toMatchObject({ code: '55P03' });
          await expect(lock('NO KEY UPDATE')).resolves.toMatchObject({ rowCount: 1 });
          await expect(lock('KEY SHARE')).resolves.toMatchObject({ rowCount: 1 });
        });
        await expect(lock('UPDATE')).resolves.toMatchObject({ rowCount: 1 });
      } finally {
        await other.end();
      }
    });

    it('only inside a transaction', async () => {
      const { id } = await createCustomer();
      await expect(customers().requireForReference(id, '/customer_id')).rejects.toThrow(
        'inside a transaction',
      );
    });

    it('get the currency of their first amount, once, with an event', async () => {
      const { id } = await createCustomer();
      const fixed = await Promise.all(Array.from({ length: 6 }, () => fix(id, 'JPY')));
      expect(fixed).toEqual(
        Array(6).fill(expect.objectContaining({ currency: 'JPY', currencyLocked: true })),
      );
      const { body } = await engine.http.get(`/v1/customers/${id}`);
      expect(body).toMatchObject({ currency: 'JPY', currency_locked: true });
      expect(await eventsOf(engine, id)).toEqual([
        expect.objectContaining({ type: 'customer.created' }),
        {
          type: 'customer.updated',
          sequence: 2,
          data: { object: body, previous: { currency: null, currency_locked: false } },
        },
      ]);
    });

    it('get one of two currencies from concurrent first amounts', async () => {
      const { id } = await createCustomer();
      const outcomes = await Promise.allSettled([fix(id, 'USD'), fix(id, 'EUR')]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    it('refuse an amount in another currency than their own', async () => {
      const { id } = await createCustomer({ currency: 'EUR' });
      const refusal = {
        definition: { code: 'customer_currency_mismatch', kind: 'rule_broken' },
        occurrence: { extensions: { customer_currency: 'EUR' } },
      };
      await expect(fix(id, 'USD')).rejects.toMatchObject(refusal);
      await fix(id, 'EUR');
      await expect(fix(id, 'USD')).rejects.toMatchObject(refusal);
      await expect(fix('cus_01h455vb4pex5vsknk084sn02q', 'USD')).rejects.toMatchObject({
        definition: { code: 'customer_not_found' },
      });
    });

    it('get no currency from an amount whose transaction is rolled back', async () => {
      const { id } = await createCustomer();
      const rolledBack = engine.database.transaction(async () => {
        await fix(id, 'USD');
        throw new Error('not written');
      });
      await expect(rolledBack).rejects.toThrow('not written');
      expect((await engine.http.get(`/v1/customers/${id}`)).body).toMatchObject({
        currency: null,
        currency_locked: false,
      });
    });

    it.each([{ currency: 'USD' }, { currency: null }])(
      'keep their locked currency, with %j',
      async (change) => {
        const { id } = await createCustomer({ currency: 'EUR' });
        await fix(id, 'EUR');
        const answer = await engine.http.patch(`/v1/customers/${id}`).send(change);
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({ code: 'customer_currency_locked' });
        const same = await engine.http
          .patch(`/v1/customers/${id}`)
          .send({ currency: 'EUR', name: 'Grace' });
        expect(same.status).toBe(200);
      },
    );
  });

  it.each([
    'cus_01h455vb4pex5vsknk084sn02q',
    'nope',
    'coup_01h455vb4pex5vsknk084sn02q',
    '%00',
    'cus_',
  ])('with the unknown id %s give 404', async (id) => {
    for (const method of ['get', 'patch', 'delete'] as const) {
      const answer = await engine.http[method](`/v1/customers/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'customer_not_found' });
    }
  });
});
