import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenApiDocument } from '../../src/openapi';
import { startTestApp, type TestApp } from '../support/test-app';

interface Description {
  readonly paths: Readonly<Record<string, object>>;
  readonly webhooks: Readonly<Record<string, object>>;
  readonly components: Readonly<Record<'schemas' | 'responses' | 'examples', object>>;
}

/** Splits the document by name, so that a difference is shown in one line instead of thousands. */
function partsOf({
  paths,
  webhooks,
  components,
  ...rest
}: Description): Readonly<Record<string, string>> {
  const { schemas, responses, examples } = components;
  const parts = { ...paths, ...webhooks, ...schemas, ...responses, ...examples, rest };
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)]),
  );
}

function differingParts(one: Description, other: Description): readonly string[] {
  const [parts, others] = [partsOf(one), partsOf(other)];
  const names = new Set([...Object.keys(parts), ...Object.keys(others)]);
  return [...names].filter((name) => parts[name] !== others[name]);
}

/** Operations without an Idempotency-Key: usage events have keys of their own, and a simulation changes nothing. */
const SAFE_WITHOUT = new Set([
  // Stored once by the id of the event.
  '/v1/providers/stripe/webhooks',
  '/v1/prices/simulations',
  '/v1/usage-events',
  // A second sign-in begins another session. Its answer must not be stored.
  '/v1/session',
  // A code is accepted once, a beginning replaces the one before, and secrets in the answers must not be stored.
  '/v1/second-factor',
  '/v1/second-factor/confirm',
  '/v1/second-factor/disable',
  '/v1/second-factor/recovery-codes',
]);

describe('the OpenAPI document', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function readCommitted(): Promise<Description> {
    const text = await readFile(join(__dirname, '../../openapi/openapi.json'), 'utf8');
    return JSON.parse(text) as Description;
  }

  it('served by a running service is the committed one, which is generated without starting it', async () => {
    const service = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: { AUTH: 'required', PAYMENT_PROVIDERS: 'sandbox' },
    });
    const { status, body } = await service.uncheckedHttp.get('/openapi.json');
    await service.close();
    expect(status).toBe(200);
    expect(differingParts(body as Description, await readCommitted())).toEqual([]);
  });

  it('declares no security requirements if no operation needs a credential', async () => {
    const { body } = await engine.uncheckedHttp.get('/openapi.json');
    const operations = (document: Description): object[] =>
      Object.values(document.paths).flatMap((path) => Object.values(path) as object[]);
    expect(operations(body as Description).filter((one) => 'security' in one)).toEqual([]);
    const committed = await readCommitted();
    for (const operation of operations(committed)) Reflect.deleteProperty(operation, 'security');
    expect(differingParts(body as Description, committed)).toEqual([]);
  });

  it('makes every POST repeatable: each accepts an Idempotency-Key, or needs none', () => {
    const { paths } = createOpenApiDocument(engine.app);
    const without = Object.entries(paths).flatMap(([path, { post }]) => {
      const takesKey = post?.parameters?.some((parameter) =>
        JSON.stringify(parameter).includes('Idempotency-Key'),
      );
      return post === undefined || takesKey === true ? [] : [path];
    });
    expect(without.filter((path) => !SAFE_WITHOUT.has(path))).toEqual([]);
  });

  it('defines each error response once and refers to it', () => {
    const { paths } = createOpenApiDocument(engine.app);
    expect(JSON.stringify(paths)).not.toContain('application/problem+json');
  });

  it('declares WWW-Authenticate wherever a credential can be missing', () => {
    const { components } = createOpenApiDocument(engine.app);
    const refused = Object.entries(components?.responses ?? {}).filter(([, response]) =>
      JSON.stringify(response).includes('#/components/examples/unauthenticated"'),
    );
    expect(refused.length).toBeGreaterThan(1);
    for (const [name, response] of refused) {
      expect([name, JSON.stringify(response)]).toEqual([
        name,
        expect.stringContaining('WWW-Authenticate'),
      ]);
    }
  });

  it('describes every event of the catalogue as a webhook', async () => {
    const { body } = await engine.uncheckedHttp.get('/openapi.json');
    const types = await engine.http.get('/v1/webhooks/event-types');
    const { data } = types.body as { readonly data: readonly { readonly type: string }[] };
    expect(Object.keys((body as Description).webhooks)).toEqual(data.map(({ type }) => type));
  });

  it('describes every operation and parameter', () => {
    const { paths, components } = createOpenApiDocument(engine.app);
    const shared = Object.entries(components?.parameters ?? {});
    const bare = shared.filter(([, one]) => 'name' in one && (one.description ?? '') === '');
    expect(bare).toEqual([]);
    const missing = Object.values(paths).flatMap((item) =>
      [item.get, item.post, item.patch, item.delete].flatMap((operation) => {
        if (operation === undefined) return [];
        const undescribed = (operation.parameters ?? []).filter(
          (parameter) => 'name' in parameter && (parameter.description ?? '') === '',
        );
        const isBare = (operation.description ?? '') === '' || undescribed.length > 0;
        return isBare ? [operation.operationId] : [];
      }),
    );
    expect(missing).toEqual([]);
  });

  it('is the target of a redirect from /', async () => {
    const { status, headers } = await engine.uncheckedHttp.get('/');
    expect([status, headers['location']]).toEqual([302, '/docs']);
  });

  it('is shown by the Swagger UI at /docs', async () => {
    const { status, text } = await engine.uncheckedHttp.get('/docs');
    expect(status).toBe(200);
    expect(text).toContain('swagger-ui');
  });

  it.each(['/openapi.yaml', '/docs-json', '/docs-yaml'])(
    'is not sent from %s, where each request would make its text again',
    async (path) => {
      expect((await engine.uncheckedHttp.get(path)).status).toBe(404);
    },
  );

  it.each([
    ['/openapi.json', 100_000],
    ['/docs/swagger-ui-init.js', 150_000],
  ])('sends %s gzipped in at most %d bytes, or as it is', async (path, most) => {
    const asked = (encoding: string) =>
      engine.uncheckedHttp.get(path).set('Accept-Encoding', encoding);
    const { headers, text } = await asked('gzip, br');
    expect(headers['content-encoding']).toBe('gzip');
    expect(Number(headers['content-length'])).toBeLessThanOrEqual(most);
    const plain = await asked('identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.text).toBe(text);
    expect(plain.headers['vary']).toContain('Accept-Encoding');
  });
});
