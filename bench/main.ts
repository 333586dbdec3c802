import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchmarkAccess } from './access';
import { benchmarkAudit } from './audit';
import { benchmarkConsume } from './consume';
import { benchmarkReads } from './reads';
import { benchmarkRefunds } from './refunds';
import { benchmarkEntitlementCheck } from './entitlements';
import { benchmarkIsolation } from './isolation';
import { benchmarkRenewals } from './renewals';
import { benchmarkScale } from './scale';
import { endChildren } from './support/channel';
import { tableOf } from './support/report';
import { type Finding, isMet, type Settings } from './support/rounds';
import { createTemporaryDatabase, type TemporaryDatabase } from './support/temporary-database';
import { benchmarkLargeUsage, benchmarkUsage } from './usage';
import { benchmarkUsageCustomers } from './usage-customers';
import { benchmarkWebhooks } from './webhooks';

type Benchmark = (database: TemporaryDatabase, settings: Settings) => Promise<readonly Finding[]>;

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  'addon-entitlements': (database, settings) => benchmarkReads('list', database, settings),
  'single-reads': (database, settings) => benchmarkReads('single', database, settings),
  access: benchmarkAccess,
  audit: benchmarkAudit,
  refunds: benchmarkRefunds,
  'entitlement-check': benchmarkEntitlementCheck,
  consume: benchmarkConsume,
  renewals: benchmarkRenewals,
  'usage-ndjson': (database, settings) => benchmarkUsage('ndjson', database, settings),
  'usage-batches': (database, settings) => benchmarkUsage('batches', database, settings),
  'usage-singles': (database, settings) => benchmarkUsage('singles', database, settings),
  'usage-customers': benchmarkUsageCustomers,
  'usage-large': benchmarkLargeUsage,
  webhooks: benchmarkWebhooks,
  isolation: benchmarkIsolation,
  scale: benchmarkScale,
};

/** Benchmarks that take many minutes for one line of the table. They run only if the arguments name them. */
const LONG: ReadonlySet<string> = new Set(['usage-large', 'scale']);

const USAGE = `Usage: npm run bench -- [${Object.keys(BENCHMARKS).join('|')}]... [--rounds 9] [--seconds 2] [--connections 16] [--profile directory] [--sizes 10000,100000] [--output directory]`;

/**
 * Reads the arguments.
 * @throws {Error} with the usage, for unknown arguments
 */
function read(args: readonly string[]): {
  names: readonly string[];
  settings: Settings;
} {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '2' },
      connections: { type: 'string', default: '16' },
      profile: { type: 'string' },
      sizes: { type: 'string', default: '10000,100000' },
      output: { type: 'string' },
    },
  });
  const names =
    positionals.length > 0
      ? positionals
      : Object.keys(BENCHMARKS).filter((name) => !LONG.has(name));
  const settings = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    profileDirectory: values.profile ?? null,
    sizes: values.sizes.split(',').map(Number),
    outputDirectory: values.output ?? null,
  };
  const { rounds, seconds, connections, sizes } = settings;
  const isUsable =
    names.every((name) => Object.hasOwn(BENCHMARKS, name)) &&
    Number.isInteger(rounds) &&
    Number.isInteger(connections) &&
    [rounds, seconds, connections, ...sizes].every((value) => value > 0);
  if (!isUsable) throw new Error(USAGE);
  return { names, settings };
}

/** Runs each benchmark on a database of its own, so that none finds the rows of another. */
async function run(benchmark: Benchmark, settings: Settings): Promise<readonly Finding[]> {
  const database = await createTemporaryDatabase();
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => reject(new Error('Interrupted.')));
    }
  });
  try {
    console.log(`PostgreSQL ${database.version}, ${settings.rounds} rounds`);
    return await Promise.race([benchmark(database, settings), interrupted]);
  } finally {
    // After an interruption the processes still run, and would write into a directory that is removed.
    await endChildren();
    await database.remove();
    process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
  }
}

async function main(): Promise<void> {
  const { names, settings } = read(process.argv.slice(2));
  const findings: Finding[] = [];
  console.log(
    `Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}`,
  );
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) continue;
    console.log(`\n${name}`);
    const found = await run(benchmark, settings);
    console.log(tableOf(found));
    findings.push(...found);
  }
  if (names.length > 1) console.log(`\n${tableOf(findings)}`);
  if (!findings.every(isMet)) process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  process.exit(1);
});
