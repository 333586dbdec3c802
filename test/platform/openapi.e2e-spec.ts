import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenApiDocument } from '../../src/openapi';
import { startTestApp, type TestApp } from '../support/test-app';

interface Description {
  readonly paths: Readonly<Record<string, object>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Each part under its name, so that a difference is told in a line and not in thousands. */
function partsOf({ paths, components, ...rest }: Description): Readonly<Record<string, string>> {
  const parts = { ...paths, ...components.schemas, rest };
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)]),
  );
}

function differingParts(one: Description, other: Description): readonly string[] {
  const [parts, others] = [partsOf(one), partsOf(other)];
  const names = new Set([...Object.keys(parts), ...Object.keys(others)]);
  return [...names].filter((name) => parts[name] !== others[name]);
}

/** A report of usage holds a key for each event; a simulation changes nothing. */
const SAFE_WITHOUT = new Set(['/v1/prices/simulations', '/v1/usage-events']);

describe('the description of the API', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('that a running service serves is the committed one, which is made without starting it', async () => {
    const committed = await readFile(join(__dirname, '../../openapi/openapi.json'), 'utf8');
    const { status, body } = await engine.http.get('/openapi.json');
    expect(status).toBe(200);
    expect(differingParts(body as Description, JSON.parse(committed) as Description)).toEqual([]);
  });

  it('lets every POST be repeated safely: each takes an Idempotency-Key, or needs none', () => {
    const { paths } = createOpenApiDocument(engine.app);
    const without = Object.entries(paths).flatMap(([path, { post }]) => {
      const takesKey = post?.parameters?.some(
        (parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key',
      );
      return post === undefined || takesKey === true ? [] : [path];
    });
    expect(without.filter((path) => !SAFE_WITHOUT.has(path))).toEqual([]);
  });

  it('is shown to people at /docs', async () => {
    const { status, text } = await engine.http.get('/docs');
    expect(status).toBe(200);
    expect(text).toContain('swagger-ui');
  });
});
