import { Client } from 'pg';
import { newId } from '../src/platform/ids';
import type { UpdaterJob } from './processes/limit-updater';
import { startWorker, type Worker } from './support/channel';
import { reportCpuTime } from './support/cpu-time';
import type { LoadJob, LoadResult } from './support/load';
import type { Finding, Settings } from './support/rounds';
import { post, type Service, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

const MANY = 10_000;
const SOME = 100;
const WARM_UP_MS = 500;
/** Consumptions per second that any machine reaches. */
const SLOWEST_PER_SECOND = 1_000;
/** Granted quantity: much more than a run consumes, so that no consumption is refused. */
const ALLOWED = '1000000000';

interface Created {
  readonly id: string;
}

interface Bench {
  readonly service: Service;
  readonly database: TemporaryDatabase;
  readonly load: Worker<LoadJob, LoadResult>;
  readonly updater: Worker<UpdaterJob, number>;
  readonly settings: Settings;
}

interface Measured {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** Measures consumptions of a hard limit per second, compared with a bare conditional update in its own commit. */
export async function benchmarkConsume(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings);
  const load = startWorker<LoadJob, LoadResult>('load-generator.ts');
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
  const client = new Client({ connectionString: database.url });
  await client.connect();
  for (const [table, columns] of COPIED) {
    const key = table === 'customer' ? 'id' : 'customer_id';
    await client.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(original, jsonb_build_object(${columns}))).*
       FROM ${table} AS original CROSS JOIN unnest($2::text[]) AS copy (id) WHERE original.${key} = $1`,
      [id, ids],
    );
  }
  await client.query(
    `INSERT INTO usage_stream (customer_id, event_name, last_position)
     SELECT copy.id, event_name, 0 FROM usage_stream CROSS JOIN unnest($2::text[]) AS copy (id) WHERE customer_id = $1`,
    [id, ids],
  );
  await client.query(
    `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
     SELECT stream.id, meter_id, start_at, end_at
     FROM usage_window JOIN usage_stream AS original ON original.id = stream_id AND customer_id = $1
     JOIN usage_stream AS stream ON stream.customer_id = ANY ($2)`,
    [id, ids],
  );
  await client.query('VACUUM ANALYZE');
  await client.end();
  return ids;
}

const SIDES = ['one', 'some', 'many', 'unmetered', 'check'] as const;

type Side = (typeof SIDES)[number];

type Rounds = Readonly<Record<Side, Measured[]>> & { readonly updates: number[] };

/** Measures all sides in turn, after one consumption of each customer, because the first one takes more statements. */
async function rounds(bench: Bench, metered: Consumers, unmetered: Consumers): Promise<Rounds> {
  const found: Rounds = { one: [], some: [], many: [], unmetered: [], check: [], updates: [] };
  const { connections, seconds } = bench.settings;
  const measures: Record<Side, () => Promise<Measured>> = {
    one: () => consume(bench, 'one customer', metered, 1),
    some: () => consume(bench, `${SOME} customers`, metered, SOME),
    many: () => consume(bench, `${MANY} customers`, metered, MANY),
    unmetered: () => consume(bench, `${SOME} customers, no meter`, unmetered, SOME),
    check: () => check(bench, metered, SOME),
  };
  const atLeastOnce = { ...bench.settings, seconds: MANY / SLOWEST_PER_SECOND };
  await consume({ ...bench, settings: atLeastOnce }, `${MANY} customers, first`, metered, MANY);
  for (let round = 0; round <= bench.settings.rounds; round += 1) {
    for (const side of SIDES) {
      const measured = await measures[side]();
      if (round > 0) found[side].push(measured);
    }
    const updates = await bench.updater.request({
      databaseUrl: bench.database.url,
      rows: SOME,
      connections,
      durationMs: seconds * 1_000,
      warmUpMs: WARM_UP_MS,
    });
    if (round > 0) found.updates.push(updates);
  }
  return found;
}

let run = 0;

async function consume(
  bench: Bench,
  what: string,
  { key, customers }: Consumers,
  count: number,
): Promise<Measured> {
  run += 1;
  const body = `{"quantity":"1","idempotency_key":"run-${run}-{n}"}`;
  const requests = customers.slice(0, count).map((id) => ({
    method: 'POST' as const,
    path: `/v1/customers/${id}/entitlements/${key}/consume`,
    body,
  }));
  let measured: Measured = { perSecond: 0, p99Ms: 0 };
  await reportCpuTime(`consume: ${what}`, bench.service, bench.database, async () => {
    measured = await ask(bench, requests);
    const { seconds } = bench.settings;
    return { rate: measured.perSecond, items: measured.perSecond * (seconds + WARM_UP_MS / 1_000) };
  });
  return measured;
}

function check(bench: Bench, { key, customers }: Consumers, count: number): Promise<Measured> {
  const requests = customers
    .slice(0, count)
    .map((id) => ({ method: 'GET' as const, path: `/v1/customers/${id}/entitlements/${key}` }));
  return ask(bench, requests);
}

async function ask(
  { load, service, settings: { seconds, connections } }: Bench,
  requests: LoadJob['requests'],
): Promise<Measured> {
  const times = { durationMs: seconds * 1_000, warmUpMs: WARM_UP_MS };
  const { perSecond, p99Ms } = await load.request({
    port: service.port,
    connections,
    requests,
    ...times,
  });
  if (p99Ms === null) throw new Error('The answers were not timed.');
  return { perSecond, p99Ms };
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
