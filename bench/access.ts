import { newSecret } from '../src/platform/access';
import { measureLoad, startLoadGenerator } from './support/load';
import { alternate, type Finding, type Settings } from './support/rounds';
import { createMany, post, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

const CUSTOMERS = 20;

/** Creates customers with a static entitlement, and returns the paths to measure. */
async function seed(url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const entitlement = await post<{ readonly id: string }>(`${url}/v1/entitlements`, {
    key: 'seats',
    name: 'Seats',
    type: 'static',
  });
  const plan = await post<{ readonly id: string }>(`${url}/v1/plans`, {
    code: 'team',
    name: 'Team',
    currency: 'EUR',
    interval: 'month',
    prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }],
    entitlements: [{ entitlement_id: entitlement.id, value: '5' }],
  });
  const customers = await createMany(`${url}/v1/customers`, CUSTOMERS, () => ({
    name: 'Ada Lovelace',
  }));
  await createMany(`${url}/v1/subscriptions`, CUSTOMERS, (index) => ({
    customer_id: customers[index],
    plan_id: plan.id,
  }));
  return {
    'access: customer': customers.map((id) => `/v1/customers/${id}`),
    'access: entitlement check': customers.map((id) => `/v1/customers/${id}/entitlements/seats`),
  };
}

/** Measures requests with an API key, compared with the same requests to a service with `AUTH=open` on the same database. */
export async function benchmarkAccess(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const secret = newSecret('sk_bench_');
  const open = await startService(database, settings);
  const paths = await seed(open.url);
  const required = await startService(database, settings, {
    AUTH: 'required',
    // The service counts requests but refuses none.
    RATE_LIMIT_PER_MINUTE: '100000000',
    BOOTSTRAP_API_KEY: secret,
  });
  const load = startLoadGenerator();
  try {
    const findings: Finding[] = [];
    for (const [benchmark, reads] of Object.entries(paths)) {
      const authorization = `Bearer ${secret}`;
      const requests = reads.map((path) => ({ method: 'GET' as const, path, authorization }));
      const rateOf = (port: number) => async (): Promise<number> =>
        (await measureLoad(load, port, requests, settings)).perSecond;
      const rates = await alternate(settings.rounds, rateOf(required.port), rateOf(open.port));
      const target = { kind: 'ratio', atLeast: 0.9 } as const;
      findings.push({ benchmark, unit: 'req/s', ...rates, target });
    }
    return findings;
  } finally {
    await Promise.all([load.stop(), open.stop(), required.stop()]);
  }
}
