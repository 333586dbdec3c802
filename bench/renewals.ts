import { Client } from 'pg';
import { newId } from '../src/platform/ids';
import type { RenewalJob, RenewalRun } from './processes/renewal-runner';
import { sessionsCpuMs } from './support/cpu-time';
import { startWorker, type Worker } from './support/channel';
import { copyIn } from '../src/platform/database/copy-in';
import { copyOut } from './support/copy';
import { type Finding, type Settings } from './support/rounds';
import { post, SERVICE_NODE_OPTIONS, serviceEnvironment, startService } from './support/service';
import {
  bytesOf,
  grownBetween,
  printGrowth,
  type TableBytes,
  totalOf,
} from './support/stored-bytes';
import type { TemporaryDatabase } from './support/temporary-database';

/** Number of renewals in a large run. The environment variable `RENEWALS` changes it; the targets are for 10,000. */
const MANY = Number(process.env['RENEWALS'] ?? 10_000);
const FEW = MANY / 10;
const WORKERS = 2;
const FAR_AHEAD = '2040-01-01T00:00:00.000Z';
const LEAST_PER_SECOND = 500;
/**
 * Smallest allowed ratio of the rate of a large run to that of a small run: a renewal in a large run may cost 1.2 times
 * as much.
 */
const LEAST_OF_FEW = 0.83;
const MAX_MIB = 512;
const MAX_KB = 9;

/** Days of the month on which subscriptions renew. Small and large runs have different days. */
const DAYS = { few: '01', many: '15' } as const;
type Run = keyof typeof DAYS;

/** Returns the instant at which a run renews its subscriptions. Month 0 is January 2030. */
function dayOf(run: Run, month: number): string {
  return `${2030 + Math.floor(month / 12)}-${String(1 + (month % 12)).padStart(2, '0')}-${DAYS[run]}T00:00:00.000Z`;
}

interface Measured {
  readonly perSecond: number;
  readonly rssMiB: number;
}

interface Round {
  readonly few: Measured;
  readonly many: Measured;
  readonly ceiling: number;
  /** Kilobytes stored for each renewal, with indexes. */
  readonly storedKb: number;
}

/** Starts a worker of the compiled service, which loads its packages as Node does in production. */
export const startRenewalRunner = (database: TemporaryDatabase): Worker<RenewalJob, RenewalRun> =>
  startWorker('renewal-runner.ts', {
    nodeOptions: SERVICE_NODE_OPTIONS,
    environment: { ...serviceEnvironment(database, 0), PACKAGES: 'installed' },
  });

/**
 * Measures a renewal run: invoices per second with lines, ledger postings and events, the memory of a worker, and the
 * stored bytes for each renewal. Compares the rate with two others: `COPY` of the same rows, and a run with a tenth of
 * the renewals.
 */
export async function benchmarkRenewals(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings);
  const templates = await seedTemplates(service.url, FAR_AHEAD).finally(() => service.stop());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const runners = Array.from({ length: WORKERS }, () => startRenewalRunner(database));
  const { profileDirectory } = settings;
  const measure = (run: Run, month: number): Promise<Measured> => {
    const job = { databaseUrl: database.url, now: dayOf(run, month), profileDirectory };
    return renew(runners, client, job, run === 'few' ? FEW : MANY);
  };
  try {
    await copyTemplates(client, templates, FEW, dayOf('few', 0));
    await copyTemplates(client, templates, MANY, dayOf('many', 0));
    await measure('few', 0);
    await measure('many', 0);
    await client.query('ANALYZE');
    const rounds: Round[] = [];
    let grown: TableBytes = new Map();
    // The first round is discarded: it fills caches and compiles code.
    for (let month = 1; month <= settings.rounds + 1; month += 1) {
      const few = await measure('few', month);
      const marks = await marksOf(client);
      const before = await bytesOf(client);
      const many = await measure('many', month);
      grown = grownBetween(before, await bytesOf(client));
      const ceiling = await copyRows(client, marks, MANY);
      const storedKb = totalOf(grown) / MANY / 1_000;
      if (month > 1) rounds.push({ few, many, ceiling, storedKb });
    }
    printGrowth(grown, MANY);
    return findingsOf(rounds);
  } finally {
    await Promise.all(runners.map((runner) => runner.stop()));
    await client.end();
  }
}

function findingsOf(rounds: readonly Round[]): readonly Finding[] {
  const figures = rounds.map(({ many }) => many.perSecond);
  const unit = 'invoices/s';
  return [
    {
      benchmark: 'renewals',
      unit,
      figures,
      ceilings: rounds.map(({ ceiling }) => ceiling),
      target: { kind: 'figure', atLeast: LEAST_PER_SECOND },
    },
    {
      benchmark: 'renewals: many beside few',
      unit,
      figures,
      ceilings: rounds.map(({ few }) => few.perSecond),
      target: { kind: 'ratio', atLeast: LEAST_OF_FEW },
    },
    {
      benchmark: 'renewals: memory',
      unit: 'MiB',
      figures: rounds.map(({ many }) => many.rssMiB),
      ceilings: null,
      target: { kind: 'figure', atMost: MAX_MIB },
    },
    {
      benchmark: 'renewals: stored',
      unit: 'kB',
      figures: rounds.map(({ storedKb }) => storedKb),
      ceilings: null,
      target: { kind: 'figure', atMost: MAX_KB },
    },
  ];
}

/** Runs everything that is due at an instant, with all workers concurrently. */
async function renew(
  runners: readonly Worker<RenewalJob, RenewalRun>[],
  client: Client,
  job: RenewalJob,
  expected: number,
): Promise<Measured> {
  const before = await countInvoices(client);
  const [databaseMs, walBytes] = [await sessionsCpuMs(client), await walBytesOf(client)];
  const startedAt = performance.now();
  const runs = await Promise.all(runners.map((runner) => runner.request(job)));
  const ms = performance.now() - startedAt;
  const ofDatabase = (await sessionsCpuMs(client)) - databaseMs;
  const wal = (await walBytesOf(client)) - walBytes;
  const invoices = (await countInvoices(client)) - before;
  if (invoices !== expected) throw new Error(`${invoices} invoices were made, not ${expected}.`);
  const total = (of: (run: RenewalRun) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0);
  const statements = total((run) => run.statements) / invoices;
  const cpuMs = total((run) => run.cpuMs) / invoices;
  console.log(
    `${job.now.slice(0, 10)}: ${invoices} invoices in ${Math.round(ms)} ms, each ` +
      `${statements.toFixed(2)} statements, ${cpuMs.toFixed(2)} ms of CPU, ` +
      `${(ofDatabase / invoices).toFixed(2)} ms of the database's sessions and ` +
      `${(wal / invoices / 1_000).toFixed(1)} kB of WAL`,
  );
  return {
    perSecond: (invoices * 1_000) / ms,
    rssMiB: Math.max(...runs.map((run) => run.rssMiB)),
  };
}

async function walBytesOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS n`,
  );
  return rows[0]?.n ?? 0;
}

async function countInvoices(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM invoice');
  return rows[0]?.n ?? 0;
}

/**
 * Creates subscriptions of four kinds: flat, per seat, with a coupon, with tax.
 * @param startAt start of the subscriptions; null for now, with a first invoice
 */
export async function seedTemplates(
  url: string,
  startAt: string | null,
): Promise<readonly string[]> {
  const create = (path: string, body: object): Promise<{ id: string; code: string }> =>
    post(`${url}/v1/${path}`, body);
  const plan = { name: 'Plan', currency: 'EUR', interval: 'month' };
  const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 };
  const seats = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '712.5' };
  const flat = await create('plans', { ...plan, code: 'flat', prices: [base] });
  const both = await create('plans', { ...plan, code: 'both', prices: [base, seats] });
  const tenth = { type: 'percent', percent_off: '10', duration: 'forever' };
  const { code: coupon } = await create('coupons', tenth);
  const vat = await create('tax-rates', { name: 'VAT', percentage: '19' });
  const kinds = [
    { plan: flat, taxes: [], more: {} },
    { plan: both, taxes: [], more: { quantity: '7' } },
    { plan: flat, taxes: [], more: { coupon } },
    { plan: both, taxes: [vat.id], more: { quantity: '12' } },
  ];
  const ids: string[] = [];
  for (const { plan: sold, taxes, more } of kinds) {
    const customer = await create('customers', { name: 'Ada Lovelace', tax_rate_ids: taxes });
    const terms = {
      customer_id: customer.id,
      plan_id: sold.id,
      ...(startAt === null ? {} : { start_at: startAt }),
    };
    ids.push((await create('subscriptions', { ...terms, ...more })).id);
  }
  return ids;
}

const COPIES = (table: string): string => `
  INSERT INTO ${table} SELECT (jsonb_populate_record(original, copied.changes)).*
  FROM ${table} original JOIN jsonb_to_recordset($1::jsonb) AS copied (of text, changes jsonb)
    ON copied.of = original.id`;

/** Copies subscriptions, a quarter of each kind, with customers of their own. */
async function copyTemplates(
  client: Client,
  templates: readonly string[],
  count: number,
  startAt: string,
): Promise<void> {
  const copies = new Map<string, { of: string; changes: object }[]>([
    ['customer', []],
    ['subscription', []],
    ['subscription_item', []],
    ['coupon_redemption', []],
  ]);
  const add = (table: string, of: string, changes: object): void => {
    copies.get(table)?.push({ of, changes });
  };
  for (const [kind, of] of templates.entries()) {
    const { rows } = await client.query<{ customer: string; items: string[]; redeemed: string[] }>(
      `SELECT customer_id AS customer,
         ARRAY(SELECT id FROM subscription_item WHERE subscription_id = $1 ORDER BY id) AS items,
         ARRAY(SELECT id FROM coupon_redemption WHERE subscription_id = $1) AS redeemed
       FROM subscription WHERE id = $1`,
      [of],
    );
    const [original] = rows;
    if (original === undefined) throw new Error(`The subscription ${of} is gone.`);
    for (let index = kind; index < count; index += templates.length) {
      const [customerId, subscriptionId] = [newId('cus'), newId('sub')];
      add('customer', original.customer, { id: customerId });
      const times = { start_at: startAt, anchor_at: startAt, next_billing_at: startAt };
      const owner = { id: subscriptionId, customer_id: customerId };
      add('subscription', of, { ...owner, ...times });
      const ofSubscription = { subscription_id: subscriptionId };
      for (const item of original.items) {
        const changes = { id: newId('si'), start_at: startAt, ...ofSubscription };
        add('subscription_item', item, changes);
      }
      for (const redemption of original.redeemed) {
        const changes = { id: newId('red'), customer_id: customerId, ...ofSubscription };
        add('coupon_redemption', redemption, changes);
      }
    }
  }
  for (const [table, rows] of copies) await client.query(COPIES(table), [JSON.stringify(rows)]);
}

/** Tables that a renewal writes. Rows that were written later have a greater value in the named column. */
const WRITTEN = [
  ['invoice', 'id'],
  ['invoice_line', 'id'],
  ['ledger_transaction', 'id'],
  ['ledger_posting', 'transaction_id'],
  ['subscription_period', 'id'],
  ['event', 'id'],
] as const;

async function marksOf(client: Client): Promise<ReadonlyMap<string, string>> {
  const marks = new Map<string, string>();
  for (const [table, column] of WRITTEN) {
    const { rows } = await client.query<{ mark: string | null }>(
      `SELECT max(${column}) AS mark FROM ${table}`,
    );
    marks.set(table, rows[0]?.mark ?? '');
  }
  return marks;
}

/**
 * Copies the rows that were written after `marks` into new tables with the same indexes, by `COPY`. Returns the rate in
 * invoices per second.
 */
async function copyRows(
  client: Client,
  marks: ReadonlyMap<string, string>,
  invoices: number,
): Promise<number> {
  const rows = new Map<string, Buffer>();
  for (const [table, column] of WRITTEN) {
    const since = client.escapeLiteral(marks.get(table) ?? '');
    rows.set(table, await copyOut(client, `SELECT * FROM ${table} WHERE ${column} > ${since}`));
    await client.query(`CREATE TABLE ceiling_${table} (LIKE ${table} INCLUDING ALL)`);
  }
  const startedAt = performance.now();
  await client.query('BEGIN');
  for (const [table, written] of rows)
    await copyIn(client, `COPY ceiling_${table} FROM STDIN`, written);
  await client.query('COMMIT');
  const ms = performance.now() - startedAt;
  for (const table of rows.keys()) await client.query(`DROP TABLE ceiling_${table}`);
  return (invoices * 1_000) / ms;
}
