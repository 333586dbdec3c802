import { createOpenApiDocument } from '../../src/openapi';
import { startTestApp, type TestApp } from '../support/test-app';

interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly example: string;
}

/**
 * Sends to every operation of the OpenAPI document what JSON, URLs and headers can express. No input may give a 5xx.
 */
describe('hostile input gives no 5xx', () => {
  let engine: TestApp;
  let operations: readonly {
    readonly method: Verb;
    readonly path: string;
    readonly takesBody: boolean;
    /** Examples of the parameters in the path, by name. */
    readonly examples: ReadonlyMap<string, string>;
    /** Documented codes of errors. */
    readonly codes: readonly string[];
  }[];

  type Verb = 'get' | 'post' | 'patch' | 'delete';

  beforeAll(async () => {
    engine = await startTestApp();
    const { paths, components } = createOpenApiDocument(engine.app);
    const shared = components?.responses as Readonly<Record<string, Answer>>;
    const codesOf = (answers: Readonly<Record<string, Answer>>): readonly string[] =>
      Object.values(answers).flatMap(({ $ref, content }) => {
        const contents =
          $ref === undefined ? content : shared[$ref.split('/').at(-1) ?? '']?.content;
        return Object.keys(contents?.['application/problem+json']?.examples ?? {});
      });
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      (['get', 'post', 'patch', 'delete'] as const)
        .filter((method) => methods[method] !== undefined)
        .map((method) => ({
          method,
          path,
          takesBody: methods[method]?.requestBody !== undefined,
          examples: new Map(
            ((methods[method]?.parameters ?? []) as readonly Parameter[])
              .filter((one) => one.in === 'path')
              .map(({ name, example }) => [name, example]),
          ),
          codes: codesOf((methods[method]?.responses ?? {}) as Record<string, Answer>),
        })),
    );
  });

  afterAll(() => engine.close());

  const fill = (path: string, id: string): string => path.replaceAll(/\{\w+\}/g, id);
  const UNKNOWN_ID = 'pay_01h455vb4pex5vsknk084sn02q';

  const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

  /** Bodies that no operation accepts. */
  const BODIES: readonly (readonly [name: string, body: string])[] = [
    ['an unknown field', '{"no_such_field":1}'],
    ['1e309', '{"amount":1e309,"metadata":{"a":1e309}}'],
    ['negative zero', '{"amount":-0,"metadata":{"a":-0}}'],
    [
      'a number beyond 2^53',
      '{"amount":99999999999999999999,"metadata":{"a":99999999999999999999}}',
    ],
    ['a NUL byte', '{"name":"a\\u0000b","metadata":{"a\\u0000":"b"}}'],
    ['a lone surrogate', '{"name":"\\ud800","metadata":{"a":"\\udfff"}}'],
    ['__proto__', '{"__proto__":{"is_active":true}}'],
    ['__proto__ in a map', '{"metadata":{"__proto__":{"a":1}}}'],
    ['constructor', '{"constructor":{"prototype":{"a":1}}}'],
    ['constructor null', '{"constructor":null}'],
    ['names of what every object has', '{"toString":1,"hasOwnProperty":2,"valueOf":3}'],
    ['deep JSON', `{"metadata":${deep(40)}}`],
    ['very deep JSON', deep(20_000)],
    ['very deep arrays', '['.repeat(200_000)],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['a number', '1'],
    ['nothing that is JSON', '{"a":'],
    [
      'wrong types',
      '{"name":{"a":1},"events":"x","amount":[],"metadata":5,"url":[1],"email":{},"code":1}',
    ],
    ['5 MB', JSON.stringify({ name: 'x'.repeat(5_000_000) })],
  ];

  it('covers every operation', () => {
    expect(operations.length).toBeGreaterThan(40);
  });

  it.each(BODIES)('in the body: %s', async (_, body) => {
    for (const { method, path, takesBody } of operations) {
      if (!takesBody) continue;
      const answer = await engine.http[method](fill(path, UNKNOWN_ID))
        .set('Content-Type', 'application/json')
        .send(body);
      expect([method, path, answer.status]).toEqual([method, path, expect.any(Number)]);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    }
  });

  it('in the body: empty, and with another content type', async () => {
    for (const { method, path, takesBody } of operations) {
      if (!takesBody) continue;
      const at = fill(path, UNKNOWN_ID);
      const answers = [
        await engine.http[method](at).set('Content-Type', 'application/json').send(''),
        await engine.http[method](at).set('Content-Type', 'text/plain').send('{"name":"x"}'),
        await engine.http[method](at)
          .set('Content-Type', 'application/json; charset=latin1')
          .send('{"name":"x"}'),
        await engine.http[method](at)
          .set('Content-Type', 'application/json')
          .set('Content-Encoding', 'nope')
          .send('{"name":"x"}'),
      ];
      const [empty] = answers;
      // The only change that names no object: without fields it changes nothing.
      if (path === '/v1/studio-settings') expect(empty?.status).toBe(200);
      else expect(empty?.status).toBeGreaterThanOrEqual(400);
      expect(empty?.status).toBeLessThan(500);
      expect(answers.slice(1).map(({ status }) => status)).toEqual([415, 415, 415]);
    }
  });

  it.each([
    '%00',
    '%E0%A4%A',
    'a'.repeat(5_000),
    '..%2f..%2fetc',
    "'; DROP TABLE payment; --",
    '%F0%9F%92%A9',
  ])('in the path: %j', async (id) => {
    for (const { method, path } of operations) {
      if (!path.includes('{')) continue;
      const answer = await engine.http[method](fill(path, id)).send(
        method === 'get' ? undefined : {},
      );
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    }
  });

  it('in one parameter of the path, with a documented code', async () => {
    for (const { method, path, examples, codes } of operations) {
      for (const name of examples.keys()) {
        const at = path.replaceAll(/\{(\w+)\}/g, (_, other: string) =>
          other === name ? 'x' : (examples.get(other) ?? ''),
        );
        const { body } = await engine.http[method](at).send(method === 'get' ? undefined : {});
        const { code } = body as { readonly code: string };
        expect([method, at, codes]).toEqual([method, at, expect.arrayContaining([code])]);
      }
    }
  });

  it.each([
    'limit=1&limit=2',
    'limit=-0',
    'limit=1e309',
    'cursor=%00',
    'a=1&a=2',
    'cursor=%ED%A0%80',
    'addon_id=%00',
    'x=1',
    '__proto__=1',
    'constructor=1',
    'hasOwnProperty=1',
  ])('in the query: %s', async (query) => {
    for (const { method, path } of operations) {
      if (method !== 'get' || !path.startsWith('/v1/')) continue;
      const answer = await engine.http.get(`${fill(path, UNKNOWN_ID)}?${query}`);
      expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
    }
  });

  it.each([
    ['limit=1&cursor=%00', '"cursor"'],
    ['a%00b=1', String.raw`"a\u0000b"`],
  ])('in the query, and names the parameter: %s', async (query, name) => {
    const { body } = await engine.http.get(`/v1/customers?${query}`);
    const { detail } = body as { detail: string };
    expect(detail).toBe(`The query parameter ${name} holds a NUL byte.`);
  });

  it.each([
    '2026-02-30T00:00:00.000Z a b',
    '2026-03-01T00:00:00.000Z a b\0',
    '-99999999999999.0',
    '99999999999999.999999999999999999',
    '999999999999999.1.1',
  ])('in the cursor: %j', async (text) => {
    const cursor = Buffer.from(text).toString('base64url');
    for (const { method, path } of operations) {
      if (method !== 'get' || path.includes('{')) continue;
      const answer = await engine.http.get(`${path}?cursor=${cursor}`);
      expect([path, answer.status < 500]).toEqual([path, true]);
    }
  });

  it.each(['', ' ', 'x'.repeat(256), 'é'])('in the Idempotency-Key: %j', async (key) => {
    for (const { method, path } of operations) {
      if (method !== 'post') continue;
      const answer = await engine.http
        .post(fill(path, UNKNOWN_ID))
        .set('Idempotency-Key', Buffer.from(key, 'utf8').toString('latin1'))
        .send({});
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    }
  });

  it('in the Idempotency-Key: several headers, which are not taken for one key', async () => {
    const answer = await engine.http
      .post('/v1/customers')
      .set({ 'Idempotency-Key': ['one', 'two'] })
      .send({ name: 'Ada Lovelace' });
    expect([answer.status, answer.body]).toMatchObject([400, { code: 'malformed_request' }]);
    await engine.http
      .post('/v1/customers')
      .set('Idempotency-Key', 'one, two')
      .send({ name: 'Ada Lovelace' })
      .expect(201);
  });

  it('in the query of routes without parameters: a parameter given twice', async () => {
    for (const path of ['/health/live', '/metrics', '/v1/webhooks/event-types']) {
      expect((await engine.http.get(`${path}?a=1&a=2`)).status).toBe(400);
    }
  });

  it('in the method: 405 names the allowed ones, 404 means that there is no route', async () => {
    const wrong = await engine.http.put('/v1/coupons/x').send({});
    expect(wrong.status).toBe(405);
    expect(wrong.headers['allow']).toBe('DELETE, GET, HEAD, PATCH');
    expect(wrong.body).toMatchObject({ code: 'method_not_allowed', status: 405 });
    const unknown = await engine.http.get('/v1/nothing');
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ code: 'route_not_found' });
  });

  it('shows no stack and no SQL in any problem', async () => {
    const answer = await engine.http
      .post('/v1/coupons')
      .set('Content-Type', 'application/json')
      .send('{"type":"percent","percent_off":"1","duration":"once","code":"\'"}');
    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/select|insert| at /i);
  });

  it('as a request id: a valid one is returned, an invalid one is replaced', async () => {
    const kept = await engine.http.get('/v1/nothing').set('X-Request-Id', 'trace-1');
    expect(kept.headers['x-request-id']).toBe('trace-1');
    expect(kept.body).toMatchObject({ request_id: 'trace-1' });
    const made = await engine.http.get('/v1/nothing').set('X-Request-Id', 'a b');
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});
