import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import type { Service } from './service';
import type { TemporaryDatabase } from './temporary-database';

const TICKS_PER_SECOND = 100;
const BACKENDS =
  'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

/** CPU time of each item, in microseconds. */
interface CpuTime {
  readonly ofService: number;
  readonly ofDatabase: number;
}

/** Runs the work; returns its result and the CPU time of each item. */
export async function measureCpuTime<Done extends { readonly items: number }>(
  services: readonly Service[],
  database: TemporaryDatabase,
  work: () => Promise<Done>,
): Promise<CpuTime & Done> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const taken = async (): Promise<readonly [number, number]> => {
      const { rows } = await client.query<{ pid: number }>(BACKENDS);
      const ofServices = await msOf(services.map(({ pid }) => pid));
      return [ofServices, await msOf(rows.map(({ pid }) => pid))];
    };
    const before = await taken();
    const done = await work();
    const after = await taken();
    const [ofService, ofDatabase] = ([0, 1] as const).map(
      (who) => ((after[who] - before[who]) * 1_000) / done.items,
    );
    return { ...done, ofService: ofService ?? 0, ofDatabase: ofDatabase ?? 0 };
  } finally {
    await client.end();
  }
}

/** Runs the work and prints the CPU time of each item, which is more reliable than the rate on a busy machine. */
export async function reportCpuTime<Done extends { readonly items: number }>(
  what: string,
  service: Service,
  database: TemporaryDatabase,
  work: () => Promise<Done>,
): Promise<Done> {
  const done = await measureCpuTime([service], database, work);
  const { ofService, ofDatabase } = done;
  console.log(
    `${what}: for each ${Math.round(ofService)} µs of CPU time, and ${Math.round(ofDatabase)} µs of the database`,
  );
  return done;
}

/** Returns the CPU time in milliseconds of all sessions of a database so far. */
export async function sessionsCpuMs(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(BACKENDS);
  return msOf(rows.map(({ pid }) => pid));
}

/** Returns the CPU time that processes have used so far. A process that has ended counts as 0. */
async function msOf(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
      return ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1_000) / TICKS_PER_SECOND;
    }),
  );
  return times.reduce((sum, ms) => sum + ms, 0);
}
