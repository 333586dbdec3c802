import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import type { Service } from './service';
import type { TemporaryDatabase } from './temporary-database';

const TICKS_PER_SECOND = 100;
const BACKENDS =
  'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

/**
 * Runs the work and prints the CPU time of each item: on a busy machine it is more reliable than the rate.
 * @returns the rate
 */
export async function reportCpuTime(
  what: string,
  service: Service,
  database: TemporaryDatabase,
  work: () => Promise<{ readonly rate: number; readonly items: number }>,
): Promise<number> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const taken = async (): Promise<readonly [number, number]> => {
      const { rows } = await client.query<{ pid: number }>(BACKENDS);
      return [await msOf([service.pid]), await msOf(rows.map(({ pid }) => pid))];
    };
    const before = await taken();
    const { rate, items } = await work();
    const after = await taken();
    const [ofService, ofDatabase] = ([0, 1] as const).map((who) =>
      Math.round(((after[who] - before[who]) * 1_000) / items),
    );
    console.log(
      `${what}: for each ${ofService} µs of CPU time, and ${ofDatabase} µs of the database`,
    );
    return rate;
  } finally {
    await client.end();
  }
}

/** Returns the CPU time of processes so far; none for a process that has ended. */
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
