import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { seedTemplates, startRenewalRunner } from './renewals';
import { deliverEvents, seedActivity } from './support/activity';
import { copyCustomers } from './support/copies';
import { sessionsCpuMs } from './support/cpu-time';
import { growthPlot } from './support/growth-plot';
import { listQueries, searchQueries } from './support/list-queries';
import { type Finding, percentile, type Settings } from './support/rounds';
import { post, type Service, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

/** Number of measured batches of 50 renewals. All subscriptions are due during the measurement. */
const BATCHES = 40;
const REQUESTS = 20;
/**
 * Number of copies of the template customers that are made on a test clock, and the number from which these copies are
 * counted.
 */
const COPIES_ON_CLOCK = 250;
const FIRST_ON_CLOCK = 90_000_000;

/** Figures of one size, in milliseconds or as a fraction; lower is better. */
type Figures = Readonly<Record<string, number>>;

interface Sized {
  readonly customers: number;
  readonly figures: Figures;
}

/** Largest allowed exponent of the growth of a figure, from the smallest to the largest size. */
const TARGETS: Readonly<Record<string, number>> = { 'renewals: CPU ms per invoice': 1.05 };
/** Largest allowed fraction of the time of all statements that is spent on claims of due work. */
const MAX_CLAIM_PART = 0.05;

/**
 * Measures how figures grow with the number of customers: renewals while all are due, each filter of each list, the
 * verification of the ledger, and the deletion of a test clock. The database grows from one size to the next.
 */
export async function benchmarkScale(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings, { ROLE: 'api' });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const sized: Sized[] = [];
  try {
    const templates = (await seedTemplates(service.url, null)).length;
    await seedActivity(service.url);
    let copied = 0;
    for (const customers of settings.sizes) {
      const startedAt = performance.now();
      const copies = Math.ceil(customers / templates);
      if (copies > copied) await copyCustomers(client, copied + 1, copies);
      copied = copies;
      await deliverEvents(client, 'invoice.finalized');
      await client.query('VACUUM ANALYZE');
      console.log(`${customers} customers made in ${seconds(performance.now() - startedAt)}`);
      sized.push({ customers, figures: await measure(database, client, service, copied) });
    }
  } finally {
    await client.end();
    await service.stop();
  }
  if (settings.outputDirectory !== null) await write(settings.outputDirectory, sized);
  print(sized);
  return findingsOf(sized);
}

async function measure(
  database: TemporaryDatabase,
  client: Client,
  service: Service,
  copied: number,
): Promise<Figures> {
  return {
    ...(await measureLists(client, service)),
    ...(await measureReport(service, 'ledger/accounts')),
    ...(await measureReport(service, 'ledger/verify')),
    ...(await measureRenewals(database, client)),
    ...(await measureDeletion(client, service, FIRST_ON_CLOCK + copied)),
  };
}

async function measureRenewals(database: TemporaryDatabase, client: Client): Promise<Figures> {
  const runner = startRenewalRunner(database);
  try {
    const { rows } = await client.query<{ now: Date }>(
      'SELECT max(next_billing_at) AS now FROM subscription',
    );
    const now = rows[0]?.now.toISOString() ?? '';
    const job = { databaseUrl: database.url, now, profileDirectory: null };
    await runner.request({ ...job, maxBatches: 2 });
    const [invoicesBefore, cpuBefore] = [await invoicesOf(client), await sessionsCpuMs(client)];
    const run = await runner.request({ ...job, maxBatches: BATCHES });
    const cpuMs = run.cpuMs + (await sessionsCpuMs(client)) - cpuBefore;
    const invoices = (await invoicesOf(client)) - invoicesBefore;
    if (invoices === 0) throw new Error('No invoices were made.');
    return {
      'renewals: CPU ms per invoice': cpuMs / invoices,
      'renewals: claim ms per 50': run.claimMs / BATCHES,
      "renewals: claims' part of the statements": run.claimMs / run.statementMs,
    };
  } finally {
    await runner.stop();
  }
}

async function invoicesOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::integer AS n FROM invoice');
  return rows[0]?.n ?? 0;
}

async function measureLists(client: Client, service: Service): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const [name, path] of await listQueries(client)) {
    figures[`list: ${name}`] = await slowestOf(`${service.url}${path}`);
  }
  for (const [name, path] of await searchQueries(client)) {
    figures[name] = await slowestOf(`${service.url}${path}`);
  }
  return figures;
}

/**
 * Returns the 99th percentile of the times of {@link REQUESTS} requests. A request before them fills caches and is not
 * counted.
 */
async function slowestOf(url: string): Promise<number> {
  const times: number[] = [];
  for (let request = 0; request <= REQUESTS; request += 1) {
    const startedAt = performance.now();
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`GET ${url} answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
    if (request > 0) times.push(performance.now() - startedAt);
  }
  return percentile(times, 0.99);
}

async function measureReport(service: Service, path: string): Promise<Figures> {
  const startedAt = performance.now();
  const answer = await fetch(`${service.url}/v1/${path}`);
  const body = await answer.text();
  if (!answer.ok || body.includes('"ok":false')) throw new Error(`${path}: ${body}`);
  return { [`report: ${path} ms`]: performance.now() - startedAt };
}

async function measureDeletion(client: Client, service: Service, first: number): Promise<Figures> {
  const clock = await post<{ id: string }>(`${service.url}/v1/test-clocks`, {
    name: 'Scale',
    now: new Date().toISOString(),
  });
  await copyCustomers(client, first, first + COPIES_ON_CLOCK - 1, clock.id);
  const { rows } = await client.query<{ customers: number }>(
    'SELECT count(*)::integer AS customers FROM customer WHERE test_clock_id = $1',
    [clock.id],
  );
  await client.query('ANALYZE');
  const startedAt = performance.now();
  const answer = await fetch(`${service.url}/v1/test-clocks/${clock.id}`, { method: 'DELETE' });
  if (!answer.ok) throw new Error(`The deletion answered ${answer.status}: ${await answer.text()}`);
  return {
    'deletion: ms per customer': (performance.now() - startedAt) / (rows[0]?.customers ?? 0),
  };
}

/** Returns the exponent of the growth of a figure: 0 if the figure stays the same, 1 if it doubles when the size doubles. */
function exponentOf(sized: readonly Sized[], name: string): number | null {
  const [small, large] = [sized[0], sized.at(-1)];
  if (small === undefined || large === undefined || small === large) return null;
  const growth = (large.figures[name] ?? Number.NaN) / (small.figures[name] ?? Number.NaN);
  return Math.log(growth) / Math.log(large.customers / small.customers);
}

function print(sized: readonly Sized[]): void {
  for (const name of Object.keys(sized[0]?.figures ?? {})) {
    const figures = sized.map(({ figures: of }) =>
      (of[name] ?? Number.NaN).toFixed(2).padStart(10),
    );
    const exponent = exponentOf(sized, name);
    console.log(`${name.padEnd(60)} ${figures.join(' ')} ${exponent?.toFixed(2) ?? ''}`);
  }
}

async function write(directory: string, sized: readonly Sized[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const names = Object.keys(sized[0]?.figures ?? {});
  const exponents = Object.fromEntries(names.map((name) => [name, exponentOf(sized, name)]));
  await writeFile(join(directory, 'scale.json'), JSON.stringify({ sized, exponents }, null, 2));
  const lines = names.map((name) => ({
    name,
    points: sized.map(({ customers, figures }) => [customers, figures[name] ?? 0] as const),
  }));
  await writeFile(join(directory, 'scale.svg'), growthPlot(lines));
}

function findingsOf(sized: readonly Sized[]): readonly Finding[] {
  const part = "renewals: claims' part of the statements";
  const findings: Finding[] = [
    {
      benchmark: 'scale: claims, % of statements',
      unit: '%',
      figures: [(sized.at(-1)?.figures[part] ?? Number.NaN) * 100],
      ceilings: null,
      target: { kind: 'figure', atMost: MAX_CLAIM_PART * 100 },
    },
  ];
  for (const [name, most] of Object.entries(TARGETS)) {
    const exponent = exponentOf(sized, name);
    if (exponent === null) continue;
    findings.push({
      benchmark: `scale: 100 times exponent of a run, ${name}`,
      unit: '',
      figures: [(1 + exponent) * 100],
      ceilings: null,
      target: { kind: 'figure', atMost: most * 100 },
    });
  }
  return findings;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
