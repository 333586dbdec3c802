import { readFile } from 'node:fs/promises';
import { startWorker, type Worker } from './support/channel';
import { measureLoad, startLoadGenerator, WARM_UP_MS } from './support/load';
import { reportCpuTime } from './support/cpu-time';
import { alternate, type Finding, type Settings } from './support/rounds';
import { createMany, post, type Service, startService } from './support/service';
import { runSql, type TemporaryDatabase } from './support/temporary-database';
import {
  EVENT_NAME,
  lineOf,
  type SenderJob,
  type UsageShape,
  type WriterJob,
} from './support/usage';

const CUSTOMERS = 200;
const NDJSON_EVENTS = 100_000;
const BATCH = 1_000;
const BATCHES = 50;
const BATCH_CONNECTIONS = 4;
const INSERTS = 4_000;
const LARGE_TABLE = 10_000_000;
const DAY_MS = 86_400_000;
/** Time span of the events that many clients report together. */
const RECENT_MS = 5 * 60_000;

interface Bench {
  readonly database: TemporaryDatabase;
  readonly settings: Settings;
  readonly service: Service;
  readonly sender: Worker<SenderJob, number>;
  readonly writer: Worker<WriterJob, number>;
  readonly shape: UsageShape;
  readonly streams: readonly string[];
}

/** How events are reported: in bodies of NDJSON, in lists, or one by one. */
export type UsageKind = 'ndjson' | 'batches' | 'singles';

const MEASURES: Record<UsageKind, (bench: Bench) => Promise<readonly Finding[]>> = {
  ndjson: async (bench) => [await ndjson(bench), await memory(bench)],
  batches: async (bench) => [
    await batches(recent(bench), 'usage: batches of 1,000', { kind: 'ratio', atLeast: 0.3 }),
    await batches(bench, 'usage: batches over a day', null),
  ],
  singles: async (bench) => [await singles(bench)],
};

/** Measures stored events per second, compared with the rate at which bare rows are written. */
export function benchmarkUsage(
  kind: UsageKind,
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  return withService(database, settings, MEASURES[kind]);
}

/** Compares the rate with ten million events stored to the rate with a hundred thousand. */
export function benchmarkLargeUsage(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  return withService(database, settings, async (bench) => {
    const measure = async (): Promise<number[]> => {
      const rates: number[] = [];
      for (let round = 0; round <= settings.rounds; round += 1) {
        const rate = await bench.sender.request({
          ...portion(bench),
          perRequest: NDJSON_EVENTS,
          connections: 1,
        });
        if (round > 0) rates.push(rate);
      }
      return rates;
    };
    const small = await measure();
    await fill(database, bench.streams, LARGE_TABLE);
    const large = await measure();
    const target = { kind: 'ratio', atLeast: 0.8 } as const;
    return [
      {
        benchmark: 'usage: 10 million stored',
        unit: 'events/s',
        figures: large,
        ceilings: small,
        target,
      },
    ];
  });
}

async function ndjson(bench: Bench): Promise<Finding> {
  const rates = await alternate(
    bench.settings.rounds,
    () => bench.sender.request({ ...portion(bench), perRequest: NDJSON_EVENTS, connections: 1 }),
    () =>
      bench.writer.request({
        ...rows(bench, NDJSON_EVENTS),
        kind: 'copy',
        perCommit: NDJSON_EVENTS,
        connections: 1,
      }),
  );
  const target = { kind: 'ratio', atLeast: 0.4 } as const;
  return { benchmark: 'usage: NDJSON', unit: 'events/s', ...rates, target };
}

async function batches(
  bench: Bench,
  benchmark: string,
  target: Finding['target'],
): Promise<Finding> {
  const events = BATCH * BATCHES;
  const connections = BATCH_CONNECTIONS;
  const rates = await alternate(
    bench.settings.rounds,
    async () => {
      const { rate } = await reportCpuTime(benchmark, bench.service, bench.database, async () => ({
        rate: await bench.sender.request({
          ...portion(bench, events),
          perRequest: BATCH,
          connections,
        }),
        items: events,
      }));
      return rate;
    },
    () =>
      bench.writer.request({ ...rows(bench, events), kind: 'copy', perCommit: BATCH, connections }),
  );
  return { benchmark, unit: 'events/s', ...rates, target };
}

/** Returns the benchmark with events of the last minutes, because customers report events when they happen. */
function recent(bench: Bench): Bench {
  const startMs = Date.now() - RECENT_MS;
  return { ...bench, shape: { ...bench.shape, startMs, lengthMs: RECENT_MS } };
}

async function singles(bench: Bench): Promise<Finding> {
  const { settings, service, shape } = bench;
  const { connections } = settings;
  const load = startLoadGenerator();
  try {
    const body = lineOf(shape, runName(), 0).replace('-0-', '-{n}-');
    const requests = [{ method: 'POST' as const, path: '/v1/usage-events', body }];
    const rates = await alternate(
      settings.rounds,
      async () => {
        const { perSecond } = await reportCpuTime(
          'usage: single events',
          service,
          bench.database,
          async () => {
            const measured = await measureLoad(load, service.port, requests, settings);
            const items = measured.answers * (1 + WARM_UP_MS / (settings.seconds * 1_000));
            return { ...measured, items };
          },
        );
        return perSecond;
      },
      () =>
        bench.writer.request({
          ...rows(bench, INSERTS),
          kind: 'insert',
          perCommit: 1,
          connections,
        }),
    );
    const target = { kind: 'ratio', atLeast: 0.4 } as const;
    return { benchmark: 'usage: single events', unit: 'events/s', ...rates, target };
  } finally {
    await load.stop();
  }
}

/**
 * Measures the growth of memory: the peak during a second million of lines, less the peak during the first. Does not
 * compare single bodies, because buffers outside the heap accumulate some hundred MiB until the garbage collector runs.
 */
async function memory(bench: Bench): Promise<Finding> {
  const million = async (): Promise<number> => {
    let most = 0;
    const watching = setInterval(() => {
      void residentMiB(bench.service.pid).then((now) => {
        most = Math.max(most, now);
      });
    }, 20);
    for (let sent = 0; sent < 1_000_000; sent += NDJSON_EVENTS) {
      await bench.sender.request({ ...portion(bench), perRequest: NDJSON_EVENTS, connections: 1 });
    }
    clearInterval(watching);
    return most;
  };
  const first = await million();
  const second = await million();
  console.log(`usage: at the most ${Math.round(first)} MiB, then ${Math.round(second)} MiB`);
  const target = { kind: 'figure', atMost: 100 } as const;
  return {
    benchmark: 'usage: growth after a million lines',
    unit: 'MiB',
    figures: [second - first],
    ceilings: null,
    target,
  };
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

let serial = 0;

function runName(): string {
  serial += 1;
  return `${Date.now().toString(36)}${serial}`;
}

function portion({ service, shape }: Bench, events = NDJSON_EVENTS) {
  return { port: service.port, shape, run: runName(), first: 0, events };
}

function rows({ database, shape, streams }: Bench, events: number) {
  return { databaseUrl: database.url, shape, streams, run: runName(), first: 0, events };
}

async function withService<Result>(
  database: TemporaryDatabase,
  settings: Settings,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const service = await startService(database, settings);
  const sender = startWorker<SenderJob, number>('usage-sender.ts');
  const writer = startWorker<WriterJob, number>('row-writer.ts');
  try {
    const customers = await createMany(`${service.url}/v1/customers`, CUSTOMERS, () => ({
      name: 'Ada Lovelace',
    }));
    await createMeters(service.url);
    const shape = {
      customers,
      startMs: Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS,
      lengthMs: DAY_MS,
    };
    await sender.request({
      port: service.port,
      shape,
      run: 'first',
      first: 0,
      events: CUSTOMERS,
      perRequest: BATCH,
      connections: 1,
    });
    const streams = await streamsOf(database, customers);
    return await work({ database, settings, service, sender, writer, shape, streams });
  } finally {
    await Promise.all([sender.stop(), writer.stop(), service.stop()]);
  }
}

/** Creates the meters, on which the cost of an event depends: one counts requests, and one sums bytes by region. */
async function createMeters(url: string): Promise<void> {
  await post(`${url}/v1/meters`, {
    key: 'requests',
    name: 'Requests',
    event_name: EVENT_NAME,
    aggregation: 'count',
  });
  await post(`${url}/v1/meters`, {
    key: 'bytes',
    name: 'Bytes',
    event_name: EVENT_NAME,
    aggregation: 'sum',
    value_property: 'bytes',
    group_by: ['region'],
  });
}

async function streamsOf(
  database: TemporaryDatabase,
  customers: readonly string[],
): Promise<readonly string[]> {
  const found = await runSql<{ id: string; customer_id: string }>(
    database.url,
    'SELECT id, customer_id FROM usage_stream',
  );
  const byCustomer = new Map(found.map(({ id, customer_id: customer }) => [customer, id]));
  return customers.map((customer) => byCustomer.get(customer) ?? '');
}

/** Inserts events of the past month, generated by the server. */
async function fill(
  database: TemporaryDatabase,
  streams: readonly string[],
  count: number,
): Promise<void> {
  console.log(`storing ${count.toLocaleString('en-US')} events`);
  await runSql(
    database.url,
    `INSERT INTO usage_event (key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties)
     SELECT md5('filled-' || n)::uuid, ($1::bigint[])[1 + n % cardinality($1::bigint[])], n,
       date_trunc('day', now()) - interval '31 days' + n * interval '250 ms', now(), 'filled-' || n,
       jsonb_build_object('bytes', 1000 + n % 9000, 'region', 'eu-west', 'route', '/v1/things/' || n % 50)
     FROM generate_series(1, $2::int) AS n`,
    [streams, count],
  );
  await runSql(database.url, 'VACUUM ANALYZE usage_event');
  await runSql(database.url, 'CHECKPOINT');
}
