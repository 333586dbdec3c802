import type { BareRoutesJob } from './processes/bare-routes';
import { startWorker } from './support/channel';
import { measureLoad, startLoadGenerator, type TimedLoad } from './support/load';
import { type Finding, inTurn, type Settings } from './support/rounds';
import { post, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';
import { reportCalls } from './support/usage';

const FEW_EVENTS = 1_000;
const MANY_EVENTS = 1_000_000;
const POOL_SIZE = 20;
const DAY_MS = 86_400_000;

interface Created {
  readonly id: string;
}

/**
 * Creates a plan with a metered allowance. Returns a function that creates a customer of this plan and reports a number
 * of events for the customer.
 */
async function seed(url: string): Promise<(events: number) => Promise<string>> {
  const meter = await post<Created>(`${url}/v1/meters`, {
    key: 'calls',
    name: 'Calls',
    event_name: 'call',
    aggregation: 'sum',
    value_property: 'amount',
  });
  const entitlement = await post<Created>(`${url}/v1/entitlements`, {
    key: 'api_calls',
    name: 'API calls',
    type: 'metered',
    meter_id: meter.id,
  });
  const plan = await post<Created>(`${url}/v1/plans`, {
    code: 'team',
    name: 'Team',
    currency: 'EUR',
    interval: 'month',
    prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }],
    entitlements: [{ entitlement_id: entitlement.id, value: '10000000' }],
  });
  const startAt = new Date(Date.now() - DAY_MS);
  return async (events) => {
    const { id } = await post<Created>(`${url}/v1/customers`, { name: 'Ada Lovelace' });
    await post(`${url}/v1/subscriptions`, {
      customer_id: id,
      plan_id: plan.id,
      start_at: startAt.toISOString(),
    });
    await reportCalls(url, id, startAt.getTime(), events);
    return id;
  };
}

/** Checks that the used quantity equals the stored usage. A faster but wrong answer must not count. */
async function assertUsed(url: string, customerId: string, used: number): Promise<void> {
  const answer = await fetch(`${url}/v1/customers/${customerId}/entitlements/api_calls`);
  const body = (await answer.json()) as { readonly used: string };
  if (body.used !== String(used)) throw new Error(`${body.used} of ${used} were counted.`);
}

/** Measures entitlement checks of customers with few and with many events, compared with a bare route that reads one row. */
export async function benchmarkEntitlementCheck(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings);
  const bare = startWorker<BareRoutesJob, number>('bare-routes.ts');
  const load = startLoadGenerator();
  try {
    const customerWith = await seed(service.url);
    const few = await customerWith(FEW_EVENTS);
    const many = await customerWith(MANY_EVENTS);
    await assertUsed(service.url, few, FEW_EVENTS);
    await assertUsed(service.url, many, MANY_EVENTS);
    const barePort = await bare.request({
      databaseUrl: database.url,
      poolSize: POOL_SIZE,
      routes: [
        {
          path: '/v1/customers/:id/entitlements/api_calls',
          parameter: 'id',
          recordedAs: few,
          statements: [
            {
              name: 'customer',
              text: 'SELECT * FROM customer WHERE id = $1',
              values: [few],
              rowCount: 1,
            },
          ],
        },
      ],
    });
    const measure = (id: string, port: number) => () => {
      const path = `/v1/customers/${id}/entitlements/api_calls`;
      return measureLoad(load, port, [{ method: 'GET', path }], settings);
    };
    return findingsOf(
      await inTurn(settings.rounds, {
        few: measure(few, service.port),
        many: measure(many, service.port),
        bare: measure(few, barePort),
      }),
    );
  } finally {
    await Promise.all([load.stop(), bare.stop(), service.stop()]);
  }
}

type Side = 'few' | 'many' | 'bare';

function findingsOf(found: Readonly<Record<Side, readonly TimedLoad[]>>): readonly Finding[] {
  const rates = (side: Side) => found[side].map(({ perSecond }) => perSecond);
  const p99s = (side: Side) => found[side].map(({ p99Ms }) => p99Ms);
  const beside = (side: 'few' | 'many', events: string): readonly Finding[] => [
    {
      benchmark: `entitlement-check: ${events}`,
      unit: 'req/s',
      figures: rates(side),
      ceilings: rates('bare'),
      target: { kind: 'ratio', atLeast: 0.6 },
    },
    {
      benchmark: `entitlement-check: ${events}, p99`,
      unit: 'ms',
      figures: p99s(side),
      ceilings: p99s('bare'),
      target: { kind: 'ratio', atMost: 2 },
    },
  ];
  return [
    ...beside('few', '1,000 events'),
    ...beside('many', '1,000,000 events'),
    {
      benchmark: 'entitlement-check: many beside few',
      unit: 'req/s',
      figures: rates('many'),
      ceilings: rates('few'),
      target: { kind: 'ratio', atLeast: 0.8 },
    },
  ];
}
