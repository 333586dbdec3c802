import { connect } from 'node:net';
import { startTestApp, type TestApp } from '../support/test-app';

/** Limits of a request: within them it is served, beyond them it is refused at low cost. */
describe('the limits of a request', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  interface Refusal {
    readonly code: string;
    readonly detail: string;
    readonly errors: readonly { readonly pointer: string; readonly code: string }[];
  }

  const refusalOf = (answer: { readonly body: unknown }): Refusal => answer.body as Refusal;
  const codesOf = (answer: { readonly body: unknown }): readonly string[] =>
    refusalOf(answer).errors.map(({ code }) => code);
  const list = <Item>(length: number, item: (index: number) => Item): readonly Item[] =>
    Array.from({ length }, (_, index) => item(index));
  const fields = (count: number): Record<string, number> =>
    Object.fromEntries(list(count, (index) => [`k${index}`, 0]));

  const coupon = { type: 'percent', percent_off: '5', duration: 'once' };
  const addon = { code: 'c', name: 'n', currency: 'USD' };
  const endpoint = { url: 'http://127.0.0.1:9/' };

  describe('for size', () => {
    it.each([
      ['plan_ids', '/v1/coupons', { ...coupon, plan_ids: list(140_000, (i) => i) }],
      ['events', '/v1/webhooks/endpoints', { ...endpoint, events: list(140_000, (i) => i) }],
      ['metadata', '/v1/customers', { name: 'x', metadata: { a: list(400_000, () => 0) } }],
      ['prices', '/v1/addons', { ...addon, prices: list(300_000, () => ({})) }],
      ['1,001 prices', '/v1/addons', { ...addon, prices: list(1_001, () => ({})) }],
    ])('a list of more than 1,000 items is one error: %s', async (_, path, body) => {
      const answer = await engine.http.post(path).send(body);
      expect(answer.status).toBe(400);
      expect(codesOf(answer)).toEqual(['too_many_items']);
      expect(answer.text.length).toBeLessThan(1_000);
    });

    it.each([1_001, 60_000])('an object of %i keys is one error', async (count) => {
      const answer = await engine.http.post('/v1/customers').send({ name: 'x', ...fields(count) });
      expect(answer.status).toBe(400);
      expect(codesOf(answer)).toEqual(['too_many_keys']);
      expect(answer.text.length).toBeLessThan(1_000);
    });

    it('nested lists that are short enough each are one error together', async () => {
      const prices = list(300, () => ({ tiers: list(1_000, () => ({})) }));
      const answer = await engine.http.post('/v1/addons').send({ ...addon, prices });
      expect(answer.status).toBe(400);
      expect(codesOf(answer)).toEqual(['too_many_values']);
      expect(answer.text.length).toBeLessThan(1_000);
    });

    it('a list of 1,000 items is read, and at most 100 of its errors are reported', async () => {
      const prices = list(1_000, () => ({}));
      const answer = await engine.http.post('/v1/addons').send({ ...addon, prices });
      expect(answer.status).toBe(400);
      expect(refusalOf(answer)).toMatchObject({
        code: 'validation_failed',
        detail: expect.stringContaining('More than 100 values') as string,
      });
      expect(codesOf(answer)).toHaveLength(100);
      expect(codesOf(answer)).not.toContain('too_many_items');
      expect(answer.text.length).toBeLessThan(30_000);
    });

    it.each(['/v1/customers', '/v1/invoices/inv_01h455vb4pex5vsknk084sn02q/finalize'])(
      'of 900 unknown fields 100 are reported: %s',
      async (path) => {
        const answer = await engine.http.post(path).send(fields(900));
        expect(answer.status).toBe(400);
        expect(codesOf(answer)).toHaveLength(100);
        expect(refusalOf(answer).detail).toContain('More than 100 values');
      },
    );

    it('fewer errors are all reported, and the detail counts them', async () => {
      const answer = await engine.http.post('/v1/customers').send({ name: 'x', ...fields(99) });
      expect(codesOf(answer)).toHaveLength(99);
      expect(refusalOf(answer).detail).toContain('99 values');
    });
  });

  it('a list with a duplicate item is refused', async () => {
    const answer = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ ...endpoint, events: ['invoice.paid', 'invoice.paid'] });
    expect(answer.status).toBe(400);
    expect(codesOf(answer)).toEqual(['array_unique']);
  });

  it('a missing field is one error, however many rules its field has', async () => {
    const { body } = await engine.uncheckedHttp.get('/openapi.json');
    const { paths } = body as { paths: Record<string, Record<string, unknown>> };
    const creating = Object.keys(paths).filter(
      (path) => paths[path]?.['post'] && !path.includes('{'),
    );
    for (const path of creating) {
      const answer = await engine.http.post(path).send({});
      const pointers =
        answer.status === 400 ? refusalOf(answer).errors.map(({ pointer }) => pointer) : [];
      expect({ path, pointers }).toEqual({ path, pointers: [...new Set(pointers)] });
    }
    expect(creating.length).toBeGreaterThan(20);
  });

  it('a field of an operation without fields is unknown', async () => {
    const { body } = await engine.uncheckedHttp.get('/openapi.json');
    const { paths } = body as { paths: Record<string, Record<string, object>> };
    const withoutFields = Object.keys(paths).filter((path) => {
      const operation = paths[path]?.['post'];
      return operation !== undefined && !('requestBody' in operation) && !path.includes('/stripe/');
    });
    expect(withoutFields).toEqual(
      expect.arrayContaining([
        '/v1/customers/{id}/entitlements/{key}/grants/{grantId}/void',
        '/v1/second-factor',
      ]),
    );
    for (const path of withoutFields) {
      const answer = await engine.uncheckedHttp.post(path).send({ value: '1' });
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
      expect(refusalOf(answer).errors).toMatchObject([
        { pointer: '/value', code: 'unknown_field' },
      ]);
    }
  });

  describe('for names', () => {
    const INHERITED = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'];

    it.each(INHERITED)('a field named %s is unknown, at any depth', async (name) => {
      for (const body of [
        { name: 'x', [name]: 1 },
        { name: 'x', [name]: null },
        { name: 'x', address: { country: 'FR', [name]: null } },
      ]) {
        const answer = await engine.http.post('/v1/customers').send(body);
        expect(answer.status).toBe(400);
        expect(codesOf(answer)).toEqual(['unknown_field']);
      }
    });

    it.each([...INHERITED, '__proto__'])('a query parameter named %s is unknown', async (name) => {
      for (const path of ['/v1/coupons', '/v1/webhooks/event-types']) {
        const answer = await engine.http.get(`${path}?${name}=1`);
        expect(answer.status).toBe(400);
        expect(refusalOf(answer).errors).toMatchObject([
          { pointer: `/${name}`, code: 'unknown_field' },
        ]);
      }
    });

    it('metadata may contain such names, as keys and in values', async () => {
      const metadata = {
        constructor: 1,
        prototype: null,
        toString: 'x',
        deep: [{ valueOf: { constructor: { prototype: 2 } } }],
      };
      const made = await engine.http.post('/v1/customers').send({ name: 'x', metadata });
      expect(made.status).toBe(201);
      const { id } = made.body as { id: string };
      const kept = await engine.http.get(`/v1/customers/${id}`);
      expect((kept.body as { metadata: unknown }).metadata).toEqual(metadata);
    });

    it('metadata of a request that takes none is an unknown field, whatever it contains', async () => {
      const metadata = { constructor: null };
      const answer = await engine.http.post('/v1/test-clocks').send({ metadata });
      expect(answer.status).toBe(400);
      expect(codesOf(answer)).toContain('unknown_field');
    });

    it('metadata must not contain the key __proto__', async () => {
      const answer = await engine.http
        .post('/v1/customers')
        .set('Content-Type', 'application/json')
        .send('{"name":"x","metadata":{"a":{"__proto__":1}}}');
      expect(answer.status).toBe(400);
      expect(codesOf(answer)).toEqual(['forbidden_key']);
    });
  });

  describe('for the query', () => {
    it.each([
      ['post', '/v1/customers'],
      ['get', '/v1/webhooks/event-types'],
      ['get', '/v1/customers/cus_01h455vb4pex5vsknk084sn02q'],
      ['patch', '/v1/customers/cus_01h455vb4pex5vsknk084sn02q'],
      ['delete', '/v1/customers/cus_01h455vb4pex5vsknk084sn02q'],
    ] as const)('a route without parameters refuses any parameter: %s %s', async (method, path) => {
      const answer = await engine.http[method](`${path}?x=1&preview=true`).send(
        method === 'get' || method === 'delete' ? undefined : { name: 'x' },
      );
      expect(answer.status).toBe(400);
      expect(refusalOf(answer)).toMatchObject({
        code: 'validation_failed',
        errors: [
          { pointer: '/x', code: 'unknown_field' },
          { pointer: '/preview', code: 'unknown_field' },
        ],
      });
    });

    it('a POST with a query parameter accepts only that one', async () => {
      const known = await engine.http.post('/v1/subscriptions?preview=true').send({});
      expect(refusalOf(known).errors.map(({ pointer }) => pointer)).not.toContain('/preview');
      const unknown = await engine.http.post('/v1/subscriptions?x=1').send({});
      expect(unknown.status).toBe(400);
      expect(refusalOf(unknown).errors.map(({ pointer }) => pointer)).toContain('/x');
    });

    it('a probe accepts any parameter', async () => {
      expect((await engine.http.get('/health/live?now=1')).status).toBe(200);
    });
  });

  describe('for the path', () => {
    it.each(['/v1/customers/', '/v1/Customers', '/V1/customers', '//v1/customers'])(
      'another spelling is not a route: %s',
      async (path) => {
        for (const method of ['get', 'post'] as const) {
          const answer = await engine.http[method](path).send(
            method === 'get' ? undefined : { name: 'x' },
          );
          expect([method, answer.status]).toEqual([method, 404]);
          expect(refusalOf(answer).code).toBe('route_not_found');
        }
      },
    );

    it.each(['/docs', '/docs/', '/docs/swagger-ui.css', '/openapi.json', '/health/live'])(
      'paths outside the API are unchanged: %s',
      async (path) => {
        expect((await engine.uncheckedHttp.get(path)).status).toBe(200);
      },
    );

    const answerTo = async (target: string): Promise<string> => {
      const { hostname, port } = new URL(await engine.app.getUrl());
      return new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => {
          socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        });
        let text = '';
        socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        socket.on('close', () => resolve(text)).on('error', reject);
      });
    };

    it.each([
      'http://[/v1/coupons',
      'http://a:99999/v1/coupons',
      'http://',
      'http://%@x/v1/coupons',
      'http://xn--a`-`/v1/coupons',
      '//%@x/v1/coupons#',
    ])('a malformed target is refused: %s', async (target) => {
      const answer = await answerTo(target);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/\r\nContent-Type: application\/problem\+json/i);
      expect(answer).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/i);
      expect(answer).toContain('"code":"malformed_request"');
    });

    it('an absolute URL is equivalent to its path', async () => {
      expect(await answerTo('http://billing.example/v1/coupons')).toMatch(/^HTTP\/1\.1 200 /);
    });
  });

  describe('for the charset', () => {
    it.each(['utf-7', 'utf-16', 'utf-16le', 'utf-32', 'utf-99', 'latin1', '"utf-16"'])(
      '%s is refused',
      async (charset) => {
        const answer = await engine.http
          .post('/v1/customers')
          .set('Content-Type', `application/json; charset=${charset}`)
          .send('{"name":"x"}');
        expect(answer.status).toBe(415);
        expect(refusalOf(answer).code).toBe('unsupported_media_type');
      },
    );

    it.each(['utf-8', 'UTF-8', '"utf-8"', 'us-ascii', 'US-ASCII'])(
      '%s is accepted',
      async (charset) => {
        const answer = await engine.http
          .post('/v1/customers')
          .set('Content-Type', `application/json; charset=${charset}`)
          .send('{"name":"x"}');
        expect(answer.status).toBe(201);
      },
    );
  });

  describe('for numbers in strings', () => {
    it.each(['05', '00.5', '000', '0', '100.1'])('percent_off cannot be %s', async (percent) => {
      const answer = await engine.http
        .post('/v1/coupons')
        .send({ ...coupon, percent_off: percent });
      expect(answer.status).toBe(400);
    });

    it.each(['5', '0.5', '20.50', '99.9999', '100', '100.0'])(
      'percent_off %s is returned as sent',
      async (percent) => {
        const made = await engine.http
          .post('/v1/coupons')
          .send({ ...coupon, percent_off: percent });
        const { id, percent_off: echoed } = made.body as { id: string; percent_off: string };
        const read = await engine.http.get(`/v1/coupons/${id}`);
        expect([echoed, (read.body as { percent_off: string }).percent_off]).toEqual([
          percent,
          percent,
        ]);
      },
    );
  });
});
