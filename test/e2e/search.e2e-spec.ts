import { SEARCH_TYPE_NAMES, SEARCH_TYPES } from '../../src/modules/search/domain/search-type';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { createCustomer, createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

interface Found {
  readonly type: string;
  readonly id: string;
  readonly title: string;
  readonly detail: string | null;
  readonly customer_id: string | null;
}

describe('a search', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function search(q: string, rest = ''): Promise<readonly Found[]> {
    const answer = await engine.http.get(`/v1/search?q=${encodeURIComponent(q)}${rest}`);
    expect(answer.status).toBe(200);
    return (answer.body as { data: readonly Found[] }).data;
  }

  async function titles(q: string, rest = ''): Promise<readonly string[]> {
    return (await search(q, rest)).map(({ title }) => title);
  }

  it('of an empty engine finds nothing', async () => {
    expect(await search('ada')).toEqual([]);
    expect(await search('cus_01')).toEqual([]);
  });

  it('finds customers by words of name, e-mail address and external id, in any order and case', async () => {
    const id = await createCustomer(engine, {
      name: 'Lovelace Engines',
      email: 'ada@search.example',
      external_id: 'crm-77',
    });
    const found = {
      type: 'customer',
      id,
      title: 'Lovelace Engines',
      detail: 'ada@search.example',
      customer_id: id,
    };
    for (const q of ['LOVELACE', 'engines lov', 'velac', 'ada@search.example', 'CRM-77', 'lo en']) {
      expect(await search(q)).toEqual([found]);
    }
    expect(await search('lovelace babbage')).toEqual([]);
  });

  it('matches a word of two characters at the beginning of words, and finds nothing for one character', async () => {
    await createCustomer(engine, { name: 'Zuse Rechner' });
    expect(await titles('re')).toEqual(['Zuse Rechner']);
    expect(await titles('ec')).toEqual([]);
    expect(await titles('z')).toEqual([]);
    expect(await titles('')).toEqual([]);
    expect(await titles('   ')).toEqual([]);
  });

  it('takes wildcards, backslashes and quotes as they are', async () => {
    await createCustomer(engine, { name: String.raw`50%_off \o/ 'quoted'` });
    for (const q of ['50%', '%_off', String.raw`\o/`, "'quoted'"]) {
      expect(await titles(q)).toHaveLength(1);
    }
    for (const q of ['%%%', '__', '5_%', String.raw`\%`]) expect(await titles(q)).toEqual([]);
  });

  it('finds names in other scripts, without regard to case', async () => {
    for (const name of ['Иван Петров', '東京電力', 'Ünal Özgür', '🦊 Foxes']) {
      await createCustomer(engine, { name });
    }
    expect(await titles('иван')).toEqual(['Иван Петров']);
    expect(await titles('東京')).toEqual(['東京電力']);
    expect(await titles('ünal ÖZG')).toEqual(['Ünal Özgür']);
    expect(await titles('🦊')).toEqual(['🦊 Foxes']);
    expect(await titles('電力')).toEqual([]);
    expect(await titles('東京電')).toEqual(['東京電力']);
    expect(await titles('303')).toEqual([]);
  });

  it('finds codes of the catalogue and numbers of invoices', async () => {
    await createMeter(engine, { key: 'quokka_calls', name: 'Quokka calls' });
    const plan = { name: 'Quokka plan', currency: 'USD', interval: 'month', prices: [] };
    await engine.http
      .post('/v1/plans')
      .send({ code: 'quokka-monthly', ...plan })
      .expect(201);
    const addon = { code: 'quokka-extra', name: 'More', currency: 'USD', prices: [] };
    await engine.http.post('/v1/addons').send(addon).expect(201);
    const coupon = { code: 'QUOKKA20', type: 'percent', percent_off: '20', duration: 'once' };
    await engine.http.post('/v1/coupons').send(coupon).expect(201);
    const found = await search('quokka');
    expect(found.map(({ type }) => type).sort()).toEqual(['addon', 'coupon', 'meter', 'plan']);
    expect(await titles('quokka20')).toEqual(['QUOKKA20']);

    const customer = await createCustomer(engine, { name: 'Numbers', currency: 'USD' });
    const lines = [{ description: 'Work', amount: 100 }];
    const draft = await engine.http.post('/v1/invoices').send({ customer_id: customer, lines });
    const { id } = draft.body as { id: string };
    const open = await engine.http.post(`/v1/invoices/${id}/finalize`);
    const { number } = open.body as { number: string };
    expect(await search(number.toLowerCase())).toEqual([
      { type: 'invoice', id, title: number, detail: 'Numbers', customer_id: customer },
    ]);
    expect(await titles(number.slice(-4))).toContain(number);
  });

  it('finds ids by their beginning', async () => {
    const id = await createCustomer(engine, { name: 'By id' });
    expect(await titles(id)).toEqual(['By id']);
    expect(await titles(id.slice(0, -2))).toContain('By id');
    expect((await search('cus_', '&limit=2')).map(({ type }) => type)).toEqual([
      'customer',
      'customer',
    ]);
    for (const prefix of [
      'sub',
      'pay',
      'ref',
      'cn',
      'ent',
      'txr',
      'evt',
      'whe',
      'whd',
      'clock',
      'ltx',
    ]) {
      await search(`${prefix}_`);
    }
    expect((await search('evt_', '&limit=1'))[0]?.type).toBe('event');
  });

  it('searches each type alone, and each pair of types', async () => {
    for (const [index, type] of SEARCH_TYPE_NAMES.entries()) {
      for (const other of SEARCH_TYPE_NAMES.slice(index)) {
        const types = type === other ? type : `${type},${other}`;
        for (const q of ['nothing like it', `${SEARCH_TYPES[type].prefix}_zzz`]) {
          expect([types, await search(q, `&types=${types}`)]).toEqual([types, []]);
        }
      }
    }
  });

  it('begins with what equals the query, then with what begins with it', async () => {
    for (const name of ['Big Gauss', 'Gauss Ltd', 'Gauss']) await createCustomer(engine, { name });
    expect(await titles('gauss')).toEqual(['Gauss', 'Gauss Ltd', 'Big Gauss']);
    expect(await titles('gauss', '&limit=1')).toEqual(['Gauss']);
  });

  it('always finds what equals the query, however much contains it', async () => {
    const others = await createCustomer(engine, { name: 'Wexford 0' });
    await engine.database.query(
      `INSERT INTO customer SELECT (jsonb_populate_record(one, jsonb_build_object(
         'id', left(one.id, -4) || to_char(n, 'FM0000'), 'name', 'Wexford ' || n, 'email', n || 'box-7@wexford.example',
         'external_id', 'wexford-7' || n))).*
       FROM customer AS one, generate_series(1, 1100) AS n WHERE one.id = $1`,
      [others],
    );
    const create = (fields: object): Promise<string> => createCustomer(engine, fields);
    const [name, email, external] = [
      await create({ name: 'wexford', email: 'other@wexford.example' }),
      await create({ name: 'Z Wexford', email: 'box-7@wexford.example' }),
      await create({ name: 'Z Wexford', email: 'z@wexford.example', external_id: 'Wexford-7' }),
    ];
    const first = async (q: string): Promise<unknown> => (await search(q, '&limit=1'))[0]?.id;
    expect(await first('Wexford')).toBe(name);
    expect(await first('BOX-7@wexford.example')).toBe(email);
    expect(await first('Wexford-7')).toBe(external);
    expect(new Set((await search('wexford', '&limit=50')).map(({ id }) => id)).size).toBe(50);
  });

  it('begins with what equals the query with its spaces, or with single plain spaces', async () => {
    const names = ['Noether  & Co', 'Noether\u00a0& Co', ' Noether & Co', 'Noether & Co'];
    for (const name of [...names, 'A Noether & Co', 'Noether & Co Ltd']) {
      await createCustomer(engine, { name, external_id: `of ${name}` });
    }
    for (const name of names) {
      expect((await titles(name.toUpperCase(), '&types=customer'))[0]).toBe(name);
      expect(await titles(`of ${name}`, '&limit=1')).toEqual([name]);
    }
    expect(await titles('Noether   & Co', '&limit=1')).toEqual(['Noether & Co']);
    expect(await titles('Noether  & C', '&limit=1')).toEqual(['Noether  & Co']);
  });

  it('begins with what equals the query with its spaces, however many have single plain spaces', async () => {
    const name = 'Zassenhaus\u00a0& Co';
    for (let plain = 0; plain < 25; plain += 1)
      await createCustomer(engine, { name: 'Zassenhaus & Co' });
    const id = await createCustomer(engine, { name });
    expect((await search(name))[0]?.id).toBe(id);
    expect((await search(name, '&limit=50')).length).toBe(26);
  });

  it('finds external ids and codes that begin like an id, before ids', async () => {
    const id = await createCustomer(engine, { name: 'Imported', external_id: 'cus_7' });
    const meter = await createMeter(engine, { key: 'cus_7', name: 'A key' });
    expect((await search('cus_7')).map((one) => one.id)).toEqual([meter, id]);
    expect((await search('cus_7', '&types=meter')).map((one) => one.id)).toEqual([meter]);
  });

  it('finds external ids and codes by a beginning that looks like that of an id, after ids', async () => {
    const older = await createCustomer(engine, { name: 'Older', external_id: 'cus_2024-7' });
    const body = { name: 'Team', currency: 'USD', interval: 'month', prices: [] };
    for (const code of ['plan_team', 'plan_2024']) {
      await engine.http
        .post('/v1/plans')
        .send({ ...body, code, name: code })
        .expect(201);
    }
    expect(await titles('plan_t')).toEqual(['plan_team']);
    expect(await titles('plan_20')).toEqual(['plan_2024']);
    expect((await search('cus_2024')).map(({ id }) => id)).toEqual([older]);
    expect(await search('cus_2024', '&types=plan')).toEqual([]);
    const copy = await createCustomer(engine, { name: 'Copy', external_id: `${older}-copy` });
    expect((await search(older)).map(({ id }) => id)).toEqual([older, copy]);
    expect((await search(older, '&limit=1')).map(({ id }) => id)).toEqual([older]);
  });

  it('finds a customer once whose external id is its own id', async () => {
    const id = await createCustomer(engine, { name: 'Mirrored' });
    await engine.http.patch(`/v1/customers/${id}`).send({ external_id: id }).expect(200);
    expect((await search(id)).map((one) => one.id)).toEqual([id]);
  });

  it.each([
    ['tax-rates', { name: 'Old VAT', percentage: '19' }],
    ['test-clocks', { name: 'Old clock', now: '2026-01-01T00:00:00Z' }],
  ])('leaves out deleted %s, which cannot be read either', async (path, body) => {
    const made = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    const { id } = made.body as { id: string };
    expect(await titles(id)).toEqual([body.name]);
    await engine.http.delete(`/v1/${path}/${id}`).expect(204);
    expect(await titles(id)).toEqual([]);
  });

  it('leaves out deleted customers and types that were not asked for', async () => {
    const id = await createCustomer(engine, { name: 'Vanished' });
    expect(await titles('vanished', '&types=invoice,plan')).toEqual([]);
    expect(await titles('vanished', '&types=invoice,customer')).toEqual(['Vanished']);
    expect(await titles(id, '&types=invoice')).toEqual([]);
    await engine.http.delete(`/v1/customers/${id}`).expect(204);
    expect(await titles('vanished')).toEqual([]);
    expect(await titles(id)).toEqual([]);
  });

  it.each([
    ['', 'q'],
    [`q=${'a'.repeat(201)}`, 'q'],
    ['q=ada&types=nothing', 'types'],
    ['q=ada&types=', 'types'],
    ['q=ada&types=plan,plan', 'types'],
    ['q=ada&limit=0', 'limit'],
    ['q=ada&limit=51', 'limit'],
  ])('is refused: "%s"', async (query, pointer) => {
    const answer = await engine.http.get(`/v1/search?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: expect.stringContaining(pointer) as string }],
    });
    const long = encodeURIComponent('é '.repeat(100));
    expect((await engine.http.get(`/v1/search?q=${long}`)).status).toBe(200);
  });
});

describe('a search with scopes', () => {
  it('finds only types that the caller may read', async () => {
    const engine = await startTestApp({ environment: WITH_KEYS });
    try {
      const owner = bearing(BOOTSTRAP_KEY);
      await engine.http.post('/v1/customers').set(owner).send({ name: 'Hidden' }).expect(201);
      const types = async (scopes: readonly string[]): Promise<readonly string[]> => {
        const { secret } = await createKey(engine, ...scopes);
        const answer = await engine.http.get('/v1/search?q=hidden').set(bearing(secret));
        expect(answer.status).toBe(200);
        return (answer.body as { data: readonly Found[] }).data.map(({ type }) => type);
      };
      const eventTypes = async (...scopes: readonly string[]) => {
        const { secret } = await createKey(engine, 'search:read', 'events:read', ...scopes);
        const { body } = await engine.http.get('/v1/search?q=evt_').set(bearing(secret));
        return [...new Set((body as { data: readonly Found[] }).data.map(({ title }) => title))];
      };
      expect(await eventTypes()).toEqual(['customer.created']);
      expect(await eventTypes('keys:read')).toEqual(['api_key.created', 'customer.created']);
      expect(await types(['search:read', 'invoices:read'])).toEqual([]);
      expect(await types(['search:read', 'customers:read'])).toEqual(['customer']);
      const customer = await engine.http.get('/v1/customers').set(owner);
      const [{ id: customer_id } = { id: '' }] = (customer.body as { data: { id: string }[] }).data;
      const lines = [{ description: 'Set-up', amount: 1_000 }];
      const invoice = await engine.http
        .post('/v1/invoices')
        .set(owner)
        .send({ customer_id, currency: 'EUR', lines });
      const found = async (...scopes: readonly string[]) => {
        const { secret } = await createKey(engine, 'search:read', 'invoices:read', ...scopes);
        const path = `/v1/search?q=${(invoice.body as { id: string }).id}`;
        const { body } = await engine.http.get(path).set(bearing(secret));
        return (body as { data: readonly Found[] }).data.map(({ detail }) => detail);
      };
      expect(await found()).toEqual([null]);
      expect(await found('customers:read')).toEqual(['Hidden']);
    } finally {
      await engine.close();
    }
  });
});
