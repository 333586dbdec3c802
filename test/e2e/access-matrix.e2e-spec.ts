import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_ROLES, type AdminRole, type Scope } from '../../src/core/access';
import { ALL_SCOPES } from '../../src/core/access/scopes';
import { scopesOfRole } from '../../src/core/access/roles';
import { newSecret } from '../../src/platform/access';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { signedIn } from '../support/signed-in';
import { startTestApp, type TestApp } from '../support/test-app';

interface OperationObject {
  readonly operationId: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly 'x-required-scope'?: Scope;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly example?: string;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example: object }>>;
  };
}

interface Route {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly body: object | undefined;
  /** Null: the operation is public. */
  readonly scope: Scope | null;
  readonly forCustomers: boolean;
}

const document = JSON.parse(
  readFileSync(join(__dirname, '../../openapi/openapi.json'), 'utf8'),
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>> };

const ROUTES: readonly Route[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method as Route['method'],
    path: (operation.parameters ?? []).reduce(
      (text, parameter) => text.replace(`{${parameter.name}}`, parameter.example ?? ''),
      path,
    ),
    body: operation.requestBody?.content['application/json']?.example,
    scope: operation['x-required-scope'] ?? null,
    forCustomers: operation.description.includes('Customer tokens may read'),
  })),
);

const PROTECTED = ROUTES.filter(({ scope }) => scope !== null);

/** Sends all requests, a few at once, and returns the differing answers. */
async function differing(
  routes: readonly Route[],
  send: (route: Route) => Promise<readonly unknown[]>,
  expected: (route: Route) => readonly unknown[],
): Promise<readonly unknown[]> {
  const faults: unknown[] = [];
  for (const route of routes) {
    const got = await send(route);
    const wanted = expected(route);
    if (JSON.stringify(got) !== JSON.stringify(wanted)) {
      faults.push({ route: `${route.method} ${route.path}`, got, wanted });
    }
  }
  return faults;
}

describe('every route of the OpenAPI document, with AUTH=required', () => {
  let engine: TestApp;
  let before: string;
  const keys = new Map<Scope, { readonly only: string; readonly allBut: string }>();
  const lost: Record<'expired' | 'revoked', string> = { expired: '', revoked: '' };
  const admins = new Map<AdminRole, Readonly<Record<string, string>>>();
  let customer = '';
  let otherCustomer = '';
  let token = '';

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { ...WITH_KEYS, PAYMENT_PROVIDERS: 'sandbox,manual' },
    });
    for (const scope of ALL_SCOPES) {
      const { secret: only } = await createKey(engine, scope);
      const others = ALL_SCOPES.filter((other) => other !== scope);
      const { secret: allBut } = await createKey(engine, ...others);
      keys.set(scope, { only, allBut });
    }
    const revoked = await createKey(engine, '*');
    const owner = bearing(BOOTSTRAP_KEY);
    await engine.http.delete(`/v1/api-keys/${revoked.id}`).set(owner).expect(204);
    const expires_at = new Date(engine.clock.now().getTime() + 1_000).toISOString();
    const expired = await engine.http
      .post('/v1/api-keys')
      .set(owner)
      .send({ name: 'Expired', scopes: ['*'], expires_at });
    lost.revoked = revoked.secret;
    lost.expired = (expired.body as { readonly secret: string }).secret;
    engine.clock.advanceMs(1_000);
    const createCustomer = async (): Promise<string> => {
      const { body } = await engine.http.post('/v1/customers').set(owner).send({ name: 'Ada' });
      return (body as { readonly id: string }).id;
    };
    customer = await createCustomer();
    otherCustomer = await createCustomer();
    const issued = await engine.http.post(`/v1/customers/${customer}/tokens`).set(owner).send({});
    token = (issued.body as { readonly token: string }).token;
    for (const role of ADMIN_ROLES) admins.set(role, await signedIn(engine, role));
    before = await contents();
  });

  afterAll(() => engine.close());

  /** Digest of all rows of all tables, but for the last use of keys. */
  async function contents(): Promise<string> {
    const tables = await engine.database.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    const digests: string[] = [];
    for (const { name } of tables) {
      const rows = await engine.database.query<{ rows: string }>(
        `SELECT md5(coalesce(string_agg((to_jsonb(t) - 'last_used_at')::text, ',' ORDER BY t::text), '')) AS rows
         FROM "${name}" AS t`,
      );
      digests.push(`${name} ${rows[0]?.rows ?? ''}`);
    }
    return digests.join('\n');
  }

  async function send(
    { method, path, body }: Route,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
    const request = engine.http[method](path).set(headers);
    const answer = await (body === undefined ? request : request.send(body));
    return { status: answer.status, body: answer.body as Readonly<Record<string, unknown>> };
  }

  it('declares its scope, or is a health probe, the own session, or signed by a provider', () => {
    const open = ROUTES.filter(({ scope }) => scope === null).map(({ path }) => path);
    expect([...new Set(open)]).toEqual([
      '/health/live',
      '/health/ready',
      // The signature of the body is the credential.
      '/v1/providers/stripe/webhooks',
      '/v1/session',
      '/v1/session/oidc',
      '/v1/session/oidc/callback',
    ]);
    expect(PROTECTED.length).toBeGreaterThan(130);
    const used = new Set(PROTECTED.map(({ scope }) => scope));
    expect(ALL_SCOPES.filter((scope) => !used.has(scope))).toEqual([]);
  });

  it.each([
    ['no', () => ({}), 'missing'],
    ['a malformed', () => bearing('sk_live_abc'), 'malformed'],
    ['an unknown', () => bearing(newSecret('sk_live_')), 'unknown'],
    ['an expired', () => bearing(lost.expired), 'expired'],
    ['a revoked', () => bearing(lost.revoked), 'revoked'],
    ['an unknown customer', () => bearing(newSecret('ct_live_')), 'unknown'],
  ])('answers 401 to %s credential', async (_, headers, reason) => {
    const faults = await differing(
      PROTECTED,
      async (route) => {
        const { status, body } = await send(route, headers());
        return [status, body['code'], body['reason']];
      },
      () => [401, 'unauthenticated', reason],
    );
    expect(faults).toEqual([]);
  });

  it('answers 403 to a key with every scope but its own', async () => {
    const faults = await differing(
      PROTECTED,
      async (route) => {
        const secret = route.scope === null ? '' : (keys.get(route.scope)?.allBut ?? '');
        const { status, body } = await send(route, bearing(secret));
        return [status, body['code'], body['required_scope']];
      },
      ({ scope }) => [403, 'forbidden', scope],
    );
    expect(faults).toEqual([]);
  });

  it.each(ADMIN_ROLES)(
    'answers 403 to an admin with the role %s beyond its scopes',
    async (role) => {
      const held = new Set(scopesOfRole(role));
      const faults = await differing(
        PROTECTED.filter(({ scope }) => scope !== null && !held.has('*') && !held.has(scope)),
        async (route) => {
          const { status, body } = await send(route, admins.get(role) ?? {});
          return [status, body['code'], body['required_scope']];
        },
        ({ scope }) => [403, 'forbidden', scope],
      );
      expect(faults).toEqual([]);
    },
  );

  it('answers 403 to the cookie of an owner without the CSRF token, if it is a change', async () => {
    const { Cookie = '' } = admins.get('owner') ?? {};
    const faults = await differing(
      PROTECTED.filter(({ method }) => method !== 'get'),
      async (route) => {
        const { status, body } = await send(route, { Cookie });
        return [status, body['code']];
      },
      () => [403, 'cross_site_request'],
    );
    expect(faults).toEqual([]);
  });

  it('answers 403 to a customer token, unless it reads its own customer', async () => {
    const faults = await differing(
      PROTECTED.filter(({ forCustomers }) => !forCustomers),
      async (route) => {
        const { status } = await send(route, bearing(token));
        return [status];
      },
      () => [403],
    );
    expect(faults).toEqual([]);
  });

  it('has changed nothing so far', async () => {
    expect(await contents()).toBe(before);
  });

  it('lets a customer token read its own customer, and no other', async () => {
    const routes = PROTECTED.filter(({ forCustomers }) => forCustomers);
    expect(routes.map(({ path }) => path.replace(/_01[0-9a-z]{24}/, ''))).toEqual([
      '/v1/customers/cus/entitlements',
      '/v1/customers/cus/entitlements/api_calls',
      '/v1/invoices',
      '/v1/invoices/inv',
      '/v1/invoices/inv.pdf',
    ]);
    const owner = bearing(BOOTSTRAP_KEY);
    const invoiceOf = async (customer_id: string): Promise<string> => {
      const { body } = await engine.http
        .post('/v1/invoices')
        .set(owner)
        .send({ customer_id, currency: 'EUR', lines: [{ description: 'Work', amount: 100 }] })
        .expect(201);
      return (body as { readonly id: string }).id;
    };
    const own = await invoiceOf(customer);
    const foreign = await invoiceOf(otherCustomer);
    const status = async (path: string): Promise<number> =>
      (await engine.http.get(path).set(bearing(token))).status;
    expect([
      await status(`/v1/customers/${customer}/entitlements`),
      await status(`/v1/customers/${customer}/entitlements/api_calls`),
      await status(`/v1/invoices?customer_id=${customer}`),
      await status(`/v1/invoices/${own}`),
      await status(`/v1/invoices/${own}.pdf`),
    ]).toEqual([200, 404, 200, 200, 200]);
    expect([
      await status(`/v1/customers/${otherCustomer}/entitlements`),
      await status(`/v1/customers/${otherCustomer}/entitlements/api_calls`),
      await status('/v1/invoices'),
      await status(`/v1/invoices?customer_id=${otherCustomer}`),
      await status(`/v1/invoices/${foreign}`),
      await status(`/v1/invoices/${foreign}.pdf`),
    ]).toEqual([403, 403, 403, 403, 404, 404]);
  });

  it('lets the holder of its scope alone pass', async () => {
    const faults = await differing(
      PROTECTED,
      async (route) => {
        const secret = route.scope === null ? '' : (keys.get(route.scope)?.only ?? '');
        const { status, body } = await send(route, bearing(secret));
        // Creating a key with scopes that the caller lacks is another refusal.
        return [status === 401 || (status === 403 && body['code'] === 'forbidden')];
      },
      () => [false],
    );
    expect(faults).toEqual([]);
  });
});
