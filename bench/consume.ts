import { newId } from '../src/platform/ids';
import type { UpdaterJob } from './processes/limit-updater';
import { startWorker, type Worker } from './support/channel';
import { copyRows } from './support/copies';
import { reportCpuTime } from './support/cpu-time';
import {
  type LoadGenerator,
  measureLoad,
  startLoadGenerator,
  type TimedLoad,
  WARM_UP_MS,
} from './support/load';
import { type Finding, inTurn, type Settings } from './support/rounds';
import { post, type Service, startService } from './support/service';
import { runSql, type TemporaryDatabase } from './support/temporary-database';

const MANY = 10_000;
const SOME = 100;
/** Consumptions per second that even a slow machine reaches. */
const SLOWEST_PER_SECOND = 1_000;
/** Granted quantity: much more than a run consumes, so that no consumption is refused. */
const ALLOWED = '1000000000';

interface Created {
  readonly id: string;
}

interface Bench {
  readonly service: Service;
  readonly database: TemporaryDatabase;
  readonly load: LoadGenerator;
  readonly updater: Worker<UpdaterJob, number>;
  readonly settings: Settings;
}

/**
 * Measures consumptions per second of an entitlement with a hard limit. Compares them with a bare conditional update in
 * its own commit.
 */
export async function benchmarkConsume(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings);
  const load = startLoadGenerator();
  const updater = startWorker<UpdaterJob, number>('limit-updater.ts');
  try {
    const bench = { service, database, load, updater, settings };
    const metered = await seed(bench, 'metered');
    const unmetered = await seed(bench, 'unmetered');
    return findingsOf(await rounds(bench, metered, unmetered));
  } finally {
    await Promise.all([load.stop(), updater.stop(), service.stop()]);
  }
}

/** Customers with a grant of one entitlement. */
interface Consumers {
  readonly key: string;
  readonly customers: readonly string[];
}

/** Creates one customer through the API, and the others as copies of its rows. */
async function seed(
  { service, database }: Bench,
  kind: 'metered' | 'unmetered',
): Promise<Consumers> {
  const key = `${kind}_calls`;
  const meter =
    kind === 'metered'
      ? await post<Created>(`${service.url}/v1/meters`, {
          key,
          name: 'Calls',
          event_name: key,
          aggregation: 'sum',
          value_property: 'amount',
        })
      : undefined;
  await post(`${service.url}/v1/entitlements`, {
    key,
    name: 'Calls',
    type: 'metered',
    meter_id: meter?.id,
  });
  const { id } = await post<Created>(`${service.url}/v1/customers`, { name: 'Ada Lovelace' });
  const path = `${service.url}/v1/customers/${id}/entitlements/${key}`;
  await post(`${path}/grants`, { value: ALLOWED });
  await post(`${path}/consume`, { quantity: '1', idempotency_key: 'first' });
  const copies = await copyCustomer(database, id, MANY - 1);
  return { key, customers: [id, ...copies] };
}

/** Tables with the rows of a customer, referenced tables first, and the columns that differ in a copy. */
const COPIED: readonly (readonly [table: string, columns: string])[] = [
  ['customer', `'id', copy.id`],
  ['customer_access', `'customer_id', copy.id`],
  ['entitlement_grant', `'id', 'eg_' || copy.id, 'customer_id', copy.id`],
  ['customer_entitlement', `'id', 'cent_' || copy.id, 'customer_id', copy.id`],
];

async function copyCustomer(
  database: TemporaryDatabase,
  id: string,
  count: number,
): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => newId('cus'));
  for (const [table, columns] of COPIED) await copyRows(database, table, columns, id, ids);
  await runSql(
    database.url,
    `INSERT INTO usage_stream (customer_id, event_name, last_position)
     SELECT copy.id, event_name, 0 FROM usage_stream CROSS JOIN unnest($2::text[]) AS copy (id) WHERE customer_id = $1`,
    [id, ids],
  );
  await runSql(
    database.url,
    `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
     SELECT stream.id, meter_id, start_at, end_at
     FROM usage_window JOIN usage_stream AS original ON original.id = stream_id AND customer_id = $1
     JOIN usage_stream AS stream ON stream.customer_id = ANY ($2)`,
    [id, ids],
  );
  await runSql(database.url, 'VACUUM ANALYZE');
  return ids;
}

type Side = 'one' | 'some' | 'many' | 'unmetered' | 'check';

type Rounds = Readonly<Record<Side, readonly TimedLoad[]>> & {
  readonly updates: readonly number[];
};

/**
 * Measures each {@link Side} in turn. Before that, consumes once for each customer, because a first consumption takes
 * more statements.
 */
async function rounds(bench: Bench, metered: Consumers, unmetered: Consumers): Promise<Rounds> {
  const { connections, seconds } = bench.settings;
  const atLeastOnce = { ...bench.settings, seconds: MANY / SLOWEST_PER_SECOND };
  await consume({ ...bench, settings: atLeastOnce }, `${MANY} customers, first`, metered, MANY);
  return inTurn(bench.settings.rounds, {
    one: () => consume(bench, 'one customer', metered, 1),
    some: () => consume(bench, `${SOME} customers`, metered, SOME),
    many: () => consume(bench, `${MANY} customers`, metered, MANY),
    unmetered: () => consume(bench, `${SOME} customers, no meter`, unmetered, SOME),
    check: () => check(bench, metered, SOME),
    updates: () =>
      bench.updater.request({
        databaseUrl: bench.database.url,
        rows: SOME,
        connections,
        durationMs: seconds * 1_000,
        warmUpMs: WARM_UP_MS,
      }),
  });
}

let run = 0;

function consume(
  bench: Bench,
  what: string,
  { key, customers }: Consumers,
  count: number,
): Promise<TimedLoad> {
  const { service, database, settings } = bench;
  run += 1;
  const body = `{"quantity":"1","idempotency_key":"run-${run}-{n}"}`;
  const requests = customers.slice(0, count).map((id) => ({
    method: 'POST' as const,
    path: `/v1/customers/${id}/entitlements/${key}/consume`,
    body,
  }));
  return reportCpuTime(`consume: ${what}`, service, database, async () => {
    const measured = await measureLoad(bench.load, service.port, requests, settings);
    return { ...measured, items: measured.perSecond * (settings.seconds + WARM_UP_MS / 1_000) };
  });
}

function check(
  { load, service, settings }: Bench,
  { key, customers }: Consumers,
  count: number,
): Promise<TimedLoad> {
  const requests = customers
    .slice(0, count)
    .map((id) => ({ method: 'GET' as const, path: `/v1/customers/${id}/entitlements/${key}` }));
  return measureLoad(load, service.port, requests, settings);
}

function findingsOf(found: Rounds): readonly Finding[] {
  const rates = (side: Side) => found[side].map(({ perSecond }) => perSecond);
  const p99s = (side: Side) => found[side].map(({ p99Ms }) => p99Ms);
  const beside = (side: Side, what: string): readonly Finding[] => [
    {
      benchmark: `consume: ${what}`,
      unit: 'req/s',
      figures: rates(side),
      ceilings: found.updates,
      target: { kind: 'ratio', atLeast: 0.4 },
    },
    {
      benchmark: `consume: ${what}, p99`,
      unit: 'ms',
      figures: p99s(side),
      ceilings: p99s('check'),
      target: { kind: 'ratio', atMost: 2 },
    },
  ];
  return [
    ...beside('some', `${SOME} customers`),
    ...beside('many', `${MANY.toLocaleString('en-US')} customers`),
    ...beside('unmetered', `${SOME} customers, no meter`),
    {
      benchmark: 'consume: many customers beside one',
      unit: 'req/s',
      figures: rates('some'),
      ceilings: rates('one'),
      target: { kind: 'ratio', atLeast: 1 },
    },
  ];
}
