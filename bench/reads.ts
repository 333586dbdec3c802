import type { BareRoute, BareRoutesJob } from './processes/bare-routes';
import { startWorker } from './support/channel';
import { measureLoad, startLoadGenerator } from './support/load';
import { alternate, type Finding, type Settings } from './support/rounds';
import { createMany, startService } from './support/service';
import { startRecorder } from './support/statements';
import type { TemporaryDatabase } from './support/temporary-database';

const LINKS_OF_AN_ADDON = 10;
const OF_EACH_KIND = 20;
/** Default pool size of the service. */
const POOL_SIZE = 20;

/** A GET request with one id. */
interface Read {
  readonly benchmark: string;
  /** Path in the syntax of Nest's router. */
  readonly route: Pick<BareRoute, 'path' | 'parameter'>;
  readonly url: (id: string) => string;
  readonly ids: readonly string[];
}

function readById(benchmark: string, path: string, ids: readonly string[]): Read {
  return {
    benchmark,
    route: { path: `${path}/:id`, parameter: 'id' },
    url: (id) => `${path}/${id}`,
    ids,
  };
}

/** Creates add-ons with entitlements, and one object of each other kind. */
async function seed(url: string): Promise<Readonly<Record<'list' | 'single', readonly Read[]>>> {
  const entitlements = await createMany(`${url}/v1/entitlements`, LINKS_OF_AN_ADDON, (index) => ({
    key: `seats_${index}`,
    name: `Seats ${index}`,
    type: 'static',
  }));
  const addons = await createMany(`${url}/v1/addons`, OF_EACH_KIND, (index) => ({
    code: `extra-seats-${index}`,
    name: 'Extra seats',
    currency: 'EUR',
    prices: [
      {
        name: 'Extra seats',
        model: 'flat',
        timing: 'in_advance',
        amount: 1_000,
      },
    ],
  }));
  const links = await createMany(
    `${url}/v1/addon-entitlements`,
    addons.length * entitlements.length,
    (index) => ({
      addon_id: addons[index % addons.length],
      entitlement_id: entitlements[Math.floor(index / addons.length)],
      value: '5',
    }),
  );
  const customers = await createMany(`${url}/v1/customers`, OF_EACH_KIND, () => ({
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    metadata: { region: 'eu' },
  }));
  const coupons = await createMany(`${url}/v1/coupons`, OF_EACH_KIND, () => ({
    type: 'percent',
    percent_off: '20',
    duration: 'once',
    metadata: { campaign: 'spring' },
  }));
  const payments = await createMany(`${url}/v1/payments`, OF_EACH_KIND, (index) => ({
    customer_id: customers[index],
    amount: 10_000,
    currency: 'EUR',
  }));
  const list: Read = {
    benchmark: 'addon-entitlements',
    route: { path: '/v1/addon-entitlements', parameter: 'addon_id' },
    url: (id) => `/v1/addon-entitlements?addon_id=${id}`,
    ids: addons,
  };
  return {
    list: [list],
    single: [
      readById('single-reads: coupon', '/v1/coupons', coupons),
      readById('single-reads: customer', '/v1/customers', customers),
      readById('single-reads: payment', '/v1/payments', payments),
      readById('single-reads: addon-entitlement', '/v1/addon-entitlements', links),
    ],
  };
}

/** Measures requests per second of the service, compared with bare routes that send the same statements. */
export async function benchmarkReads(
  kind: 'list' | 'single',
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings);
  const bare = startWorker<BareRoutesJob, number>('bare-routes.ts');
  const load = startLoadGenerator();
  try {
    const reads = (await seed(service.url))[kind];
    const routes = await routesOf(reads, database);
    const barePort = await bare.request({
      databaseUrl: database.url,
      poolSize: POOL_SIZE,
      routes,
    });
    const findings: Finding[] = [];
    for (const read of reads) {
      const requests = read.ids.map((id) => ({ method: 'GET' as const, path: read.url(id) }));
      const rateAt = (port: number) => async (): Promise<number> =>
        (await measureLoad(load, port, requests, settings)).perSecond;
      const rates = await alternate(settings.rounds, rateAt(service.port), rateAt(barePort));
      const target = { kind: 'ratio', atLeast: 0.6 } as const;
      findings.push({
        benchmark: read.benchmark,
        unit: 'req/s',
        ...rates,
        target,
      });
    }
    return findings;
  } finally {
    await Promise.all([load.stop(), bare.stop(), service.stop()]);
  }
}

async function routesOf(
  reads: readonly Read[],
  database: TemporaryDatabase,
): Promise<readonly BareRoute[]> {
  const recorder = await startRecorder(database);
  try {
    const routes: BareRoute[] = [];
    for (const { route, url, ids } of reads) {
      const [id = ''] = ids;
      const statements = await recorder.recordOf(() => fetch(`${recorder.url}${url(id)}`));
      if (statements.length === 0) throw new Error(`${url(id)} read nothing.`);
      routes.push({ ...route, statements, recordedAs: id });
    }
    return routes;
  } finally {
    await recorder.stop();
  }
}
