import { newId } from '../src/platform/ids';
import { startWorker, type Worker } from './support/channel';
import { copyRows } from './support/copies';
import { measureCpuTime } from './support/cpu-time';
import { type Finding, inTurn, median, type Settings } from './support/rounds';
import { post, type Service, startService } from './support/service';
import { runSql, type TemporaryDatabase } from './support/temporary-database';
import type { SenderJob, UsageShape } from './support/usage';

const CUSTOMERS = 200_000;
/**
 * Number of customers with an allowance. More than report usage, because PostgreSQL would scan the table `usage_window`
 * for each lookup if it were small.
 */
const ENTITLED = 1_000;
const LIST = 1_000;
const EVENTS = 40_000;
const CONNECTIONS = 4;
/** Time span of the events. It begins now, because the allowances begin with the benchmark. */
const SPAN_MS = 5 * 60_000;
const NAMES = { one: 'one_meter', ten: 'ten_meters', entitled: 'entitled' } as const;

type Sender = Worker<SenderJob, number>;

interface Created {
  readonly id: string;
}

interface Bench {
  readonly database: TemporaryDatabase;
  readonly services: readonly Service[];
  readonly senders: readonly Sender[];
  readonly customers: readonly string[];
  /** Customers with an allowance, which counts the events named `NAMES.entitled`. */
  readonly entitled: readonly string[];
}

/** Events per second, and microseconds of CPU time per event of all services and the database. */
interface Measured {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

/** Measures how the cost of an event grows with the number of customers, meters and processes, and with an allowance. */
export async function benchmarkUsageCustomers(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const services = [await startService(database, settings), await startService(database, settings)];
  const senders = services.map(() => startWorker<SenderJob, number>('usage-sender.ts'));
  try {
    const [first] = services;
    if (first === undefined) throw new Error('A service is started.');
    await createMeters(first.url);
    const entitled = await seedEntitled(first.url);
    const customers = await seed(database, first.url);
    const bench = { database, services, senders, customers, entitled };
    return findingsOf(await rounds(bench, settings.rounds));
  } finally {
    await Promise.all([...senders, ...services].map((one) => one.stop()));
  }
}

async function createMeters(url: string): Promise<void> {
  const meters = [NAMES.one, ...Array.from({ length: 10 }, () => NAMES.ten)];
  for (const [index, eventName] of meters.entries()) {
    await createMeter(url, `bytes_${index}`, eventName);
  }
}

function createMeter(url: string, key: string, eventName: string): Promise<Created> {
  return post(`${url}/v1/meters`, {
    key,
    name: 'Bytes',
    event_name: eventName,
    aggregation: 'sum',
    value_property: 'bytes',
  });
}

/** Creates customers with a grant, and consumes once for each, because that begins to count the usage of the customer. */
async function seedEntitled(url: string): Promise<readonly string[]> {
  const key = NAMES.entitled;
  const { id: meterId } = await createMeter(url, key, key);
  await post(`${url}/v1/entitlements`, { key, name: 'Bytes', type: 'metered', meter_id: meterId });
  const customers: string[] = [];
  for (let made = 0; made < ENTITLED; made += 1) {
    const { id } = await post<Created>(`${url}/v1/customers`, { name: 'Ada' });
    const path = `${url}/v1/customers/${id}/entitlements/${key}`;
    await post(`${path}/grants`, { value: '1000000000000' });
    await post(`${path}/consume`, { quantity: '1', idempotency_key: id });
    customers.push(id);
  }
  return customers;
}

/** Creates one customer through the API, and copies it with its streams, because the first event of a stream costs more. */
async function seed(database: TemporaryDatabase, url: string): Promise<readonly string[]> {
  const { id } = await post<Created>(`${url}/v1/customers`, { name: 'Ada' });
  const copies = Array.from({ length: CUSTOMERS - 1 }, () => newId('cus'));
  await copyRows(database, 'customer', `'id', copy.id`, id, copies);
  await runSql(
    database.url,
    `INSERT INTO usage_stream (customer_id, event_name, last_position)
     SELECT customer.id, stream.name, 0 FROM customer CROSS JOIN unnest($1::text[]) AS stream (name)`,
    [[NAMES.one, NAMES.ten]],
  );
  await runSql(database.url, 'VACUUM ANALYZE');
  return [id, ...copies];
}

const SIDES = {
  few: { customers: 200, eventName: NAMES.one, processes: [0] },
  some: { customers: 20_000, eventName: NAMES.one, processes: [0] },
  many: { customers: CUSTOMERS, eventName: NAMES.one, processes: [0] },
  /**
   * Sent to a process that has cached none of the customers: each event is the first event of a customer in this
   * process.
   */
  first: { customers: CUSTOMERS, eventName: NAMES.one, processes: [1] },
  meters: { customers: 200, eventName: NAMES.ten, processes: [0] },
  entitled: { customers: 200, eventName: NAMES.entitled, processes: [0] },
  processes: { customers: 200, eventName: NAMES.one, processes: [0, 1] },
} as const;

type Side = keyof typeof SIDES;

/** Measures each {@link Side} in turn. Before that, reports one event of each customer. */
async function rounds(
  bench: Bench,
  count: number,
): Promise<Readonly<Record<Side, readonly Measured[]>>> {
  await measure(bench, 'many', CUSTOMERS);
  const found = await inTurn(count, {
    few: () => measure(bench, 'few'),
    some: () => measure(bench, 'some'),
    many: () => measure(bench, 'many'),
    first: () => measure(bench, 'first'),
    meters: () => measure(bench, 'meters'),
    entitled: () => measure(bench, 'entitled'),
    processes: () => measure(bench, 'processes'),
  });
  for (const [side, measured] of Object.entries(found)) {
    const cpu = median(measured.map(({ cpuMicroseconds }) => cpuMicroseconds));
    console.log(`${side}: ${Math.round(cpu)} µs of CPU time for each event`);
  }
  return found;
}

let run = 0;

async function measure(
  { database, services, senders, customers, entitled }: Bench,
  side: Side,
  events = EVENTS,
): Promise<Measured> {
  const { processes, eventName } = SIDES[side];
  run += 1;
  const shape: UsageShape = {
    customers: (side === 'entitled' ? entitled : customers).slice(0, SIDES[side].customers),
    startMs: Date.now(),
    lengthMs: SPAN_MS,
    eventName,
  };
  const first = run * EVENTS * services.length;
  const { ofService, ofDatabase, perSecond } = await measureCpuTime(
    services,
    database,
    async () => {
      const rates = await Promise.all(
        processes.map(async (place, index) => {
          const sent = await senders[place]?.request({
            port: services[place]?.port ?? 0,
            shape,
            run: `customers-${run}`,
            first: first + index * EVENTS,
            events,
            perRequest: LIST,
            connections: CONNECTIONS,
          });
          return sent ?? 0;
        }),
      );
      const perSecond = rates.reduce((sum, rate) => sum + rate, 0);
      return { perSecond, items: events * processes.length };
    },
  );
  return { perSecond, cpuMicroseconds: ofService + ofDatabase };
}

function findingsOf(found: Readonly<Record<Side, readonly Measured[]>>): readonly Finding[] {
  const rates = (side: Side) => found[side].map(({ perSecond }) => perSecond);
  const costs = (side: Side) => found[side].map(({ cpuMicroseconds }) => cpuMicroseconds);
  const rate = (what: string, side: Side, atLeast: number | null): Finding => ({
    benchmark: `usage: ${what}`,
    unit: 'events/s',
    figures: rates(side),
    ceilings: rates('few'),
    target: atLeast === null ? null : { kind: 'ratio', atLeast },
  });
  return [
    rate('20,000 customers beside 200', 'some', 0.7),
    rate('200,000 customers beside 200', 'many', 0.5),
    rate('first events of 200,000 customers beside 200', 'first', null),
    rate('ten meters beside one', 'meters', 0.5),
    rate('with an allowance beside without', 'entitled', 0.4),
    {
      benchmark: 'usage: two processes beside one, CPU time',
      unit: 'µs',
      figures: costs('processes'),
      ceilings: costs('few'),
      target: { kind: 'ratio', atMost: 1.3 },
    },
  ];
}
