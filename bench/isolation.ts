import { Client } from 'pg';
import type { ProberJob, ProberResult } from './processes/isolation-prober';
import type { ReceiverJob, ReceiverResult } from './processes/receiver';
import { startWorker, type Worker } from './support/channel';
import {
  backDatedSubscriptions,
  type IsolationLoad,
  ledgerVerifications,
  meterCreations,
  orderedQueue,
} from './support/isolation-loads';
import { type Finding, percentile, type Settings } from './support/rounds';
import { createMany, freePort, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

const CUSTOMERS = 50;
const PAYMENTS = 100;
/** Minor units of each payment: enough for all refunds of a run. */
const AMOUNT = 1_000_000_000;
/** Rate of reads and of refunds. A machine that cannot sustain it without load needs a lower rate. */
const REQUESTS_PER_SECOND = Number(process.env['ISOLATION_RATE'] ?? 20);
const READINESS_EVERY_MS = 200;
/**
 * Factor on `--seconds`. With the seconds of other benchmarks, these rates would give too few requests for a 99th
 * percentile.
 */
const PHASE_TIMES_SECONDS = 5;
/** Runs only the loads whose name contains this text. */
const ONLY = process.env['ISOLATION_LOAD'];
/** Limits `--rounds`, because a round takes long: it measures six phases, and fills and empties queues between them. */
const MAX_ROUNDS = 3;
const SLOW_ANSWER_MS = 200;
const MAX_TIMES_SLOWER = 3;
const READY_WITHIN_MS = 1_000;

interface Phase {
  readonly quiet: ProberResult;
  readonly loaded: ProberResult;
}

/** Measures the latency of reads and refunds beside heavy requests of other customers, and without them. */
export async function benchmarkIsolation(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const service = await startService(database, settings);
  const receiver = startWorker<ReceiverJob, ReceiverResult>('receiver.ts');
  const prober = startWorker<ProberJob, ProberResult>('isolation-prober.ts');
  const client = new Client({ connectionString: database.url });
  try {
    await client.connect();
    const port = await freePort();
    await receiver.request({ kind: 'listen', port, answersAfterMs: SLOW_ANSWER_MS });
    const job = await seed(service.url, service.port, settings);
    const target = { url: service.url, client };
    const loads = [
      await backDatedSubscriptions(target),
      await ledgerVerifications(target),
      orderedQueue(target, `http://127.0.0.1:${port}/hooks`),
      await meterCreations(target),
    ];
    await prober.request(job); // caches fill and code is compiled
    const phases = new Map<string, Phase[]>();
    for (let round = 0; round < Math.min(settings.rounds, MAX_ROUNDS); round += 1) {
      const quiet = await prober.request(job);
      console.log(`without load: ${summaryOf(quiet)}`);
      for (const [name, together] of [
        ...loads.map((load) => [load.name, [load]] as const),
        ['all together', loads] as const,
      ]) {
        if (!name.includes(ONLY ?? '')) continue;
        const loaded = await probeBeside(together, prober, job, name);
        phases.set(name, [...(phases.get(name) ?? []), { quiet, loaded }]);
      }
    }
    return findingsOf(phases);
  } finally {
    await client.end();
    await Promise.all([prober.stop(), receiver.stop(), service.stop()]);
  }
}

async function seed(url: string, port: number, { seconds }: Settings): Promise<ProberJob> {
  const customers = await createMany(`${url}/v1/customers`, CUSTOMERS, () => ({
    name: 'Ada Lovelace',
  }));
  const payments = await createMany(`${url}/v1/payments`, PAYMENTS, (index) => ({
    customer_id: customers[index % CUSTOMERS],
    amount: AMOUNT,
    currency: 'EUR',
  }));
  return {
    port,
    customers,
    payments,
    requestsPerSecond: REQUESTS_PER_SECOND,
    readinessEveryMs: READINESS_EVERY_MS,
    durationMs: seconds * PHASE_TIMES_SECONDS * 1_000,
  };
}

async function probeBeside(
  loads: readonly IsolationLoad[],
  prober: Worker<ProberJob, ProberResult>,
  job: ProberJob,
  name: string,
): Promise<ProberResult> {
  // Starts the loads one after the other: a queue that is being filled must not wait for loads that already run.
  const running = [];
  for (const load of [...loads].reverse()) running.push(await load.start());
  const loaded = await prober.request(job);
  const done = await Promise.all(running.map((load) => load.stop()));
  console.log(`${name}: ${summaryOf(loaded)} (${done.join('; ')})`);
  return loaded;
}

function summaryOf({ readsMs, refundsMs, readinessMs, failures }: ProberResult): string {
  const both = (values: readonly number[]): string =>
    `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.99).toFixed(0)} ms`;
  const slowest = Math.max(...readinessMs).toFixed(0);
  const parts = [
    `reads p50 / p99 ${both(readsMs)}`,
    `refunds ${both(refundsMs)}`,
    `slowest readiness ${slowest} ms`,
  ];
  if (failures.length > 0) parts.push(`${failures.length} failed, first: ${failures[0] ?? ''}`);
  return parts.join(', ');
}

function findingsOf(phases: ReadonlyMap<string, readonly Phase[]>): readonly Finding[] {
  return [...phases].flatMap(([name, rounds]): readonly Finding[] => {
    const p99s = (request: 'readsMs' | 'refundsMs') => ({
      unit: 'ms',
      figures: rounds.map(({ loaded }) => percentile(loaded[request], 0.99)),
      ceilings: rounds.map(({ quiet }) => percentile(quiet[request], 0.99)),
      target: { kind: 'ratio', atMost: MAX_TIMES_SLOWER } as const,
    });
    const worst = Math.max(...rounds.flatMap(({ loaded }) => loaded.readinessMs));
    const failures = rounds.flatMap(({ loaded }) => loaded.failures);
    return [
      { benchmark: `isolation: ${name}, read p99`, ...p99s('readsMs') },
      { benchmark: `isolation: ${name}, refund p99`, ...p99s('refundsMs') },
      {
        benchmark: `isolation: ${name}, slowest readiness`,
        unit: 'ms',
        figures: [worst],
        ceilings: null,
        target: { kind: 'figure', atMost: READY_WITHIN_MS },
      },
      {
        benchmark: `isolation: ${name}, failed requests`,
        unit: 'requests',
        figures: [failures.length],
        ceilings: null,
        target: { kind: 'figure', atMost: 0 },
      },
    ];
  });
}
