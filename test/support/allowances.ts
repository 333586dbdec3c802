import { post } from './requests';
import type { TestApp } from './test-app';

/** Entitlement of a customer, as the API shows it. */
export interface EntitlementBody {
  readonly key: string;
  readonly type: string;
  readonly has_access: boolean;
  readonly limit: string | null;
  readonly used: string | null;
  readonly remaining: string | null;
  readonly overage_allowed: boolean;
  readonly resets_at: string | null;
  readonly sources: readonly {
    readonly type: string;
    readonly id: string;
    readonly value: string | null;
    readonly is_counted: boolean;
  }[];
}

export interface GrantBody {
  readonly id: string;
  readonly status: string;
  readonly remaining: string | null;
}

let made = 0;

/** Creates an entitlement; by default a metered one without a meter. */
export async function createEntitlement(
  engine: TestApp,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: string; readonly key: string }> {
  made += 1;
  const body = { key: `allowance.${made}`, name: 'Calls', type: 'metered', ...fields };
  return post(engine, '/v1/entitlements', body);
}

/** Creates an add-on that is linked to an entitlement. */
export async function createAddonWith(
  engine: TestApp,
  entitlementId: string,
  link: Readonly<Record<string, unknown>>,
): Promise<{ readonly addonId: string; readonly linkId: string }> {
  made += 1;
  const addon = await post(engine, '/v1/addons', {
    code: `allowance-${made}`,
    name: 'More',
    currency: 'USD',
    prices: [{ name: 'More', model: 'flat', timing: 'in_advance', amount: 100 }],
  });
  const { id } = await post(engine, '/v1/addon-entitlements', {
    addon_id: addon.id,
    entitlement_id: entitlementId,
    ...link,
  });
  return { addonId: addon.id, linkId: id };
}

/** Checks, consumes and grants the entitlements of one customer through the API. */
export class Allowances {
  constructor(
    private readonly engine: TestApp,
    private readonly customerId: string,
  ) {}

  async of(key: string): Promise<EntitlementBody> {
    const answer = await this.engine.http.get(this.path(key));
    expect(answer.status).toBe(200);
    return answer.body as EntitlementBody;
  }

  /** Returns the fields limit, used and remaining. */
  async figures(key: string): Promise<readonly (string | null)[]> {
    const { limit, used, remaining } = await this.of(key);
    return [limit, used, remaining];
  }

  async consume(
    key: string,
    quantity: string,
    idempotencyKey = `consumption-${(made += 1)}`,
  ): Promise<EntitlementBody & { readonly allowed: boolean }> {
    const answer = await this.engine.http
      .post(`${this.path(key)}/consume`)
      .send({ quantity, idempotency_key: idempotencyKey });
    expect(answer.status).toBe(200);
    return answer.body as EntitlementBody & { allowed: boolean };
  }

  grant(key: string, body: Readonly<Record<string, unknown>>): Promise<GrantBody> {
    return post(this.engine, `${this.path(key)}/grants`, body);
  }

  /** Returns status and remaining balance of each grant, oldest first. */
  async grants(key: string): Promise<readonly (readonly [string, string | null])[]> {
    const { body } = await this.engine.http.get(`${this.path(key)}/grants?limit=100`);
    const { data } = body as { readonly data: readonly GrantBody[] };
    return data.map(({ status, remaining }) => [status, remaining] as const).reverse();
  }

  path(key: string): string {
    return `/v1/customers/${this.customerId}/entitlements/${key}`;
  }
}
