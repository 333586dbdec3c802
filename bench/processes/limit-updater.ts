import { Client } from 'pg';
import { answerJobs } from '../support/channel';

/**
 * Gives the upper bound for `consume`: conditional updates without the service, each in its own commit. There is one
 * row for each customer.
 */

export interface UpdaterJob {
  readonly databaseUrl: string;
  readonly rows: number;
  readonly connections: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
}

const UPDATE = {
  name: 'consume',
  text: 'UPDATE bench_limit SET used = used + $2 WHERE id = $1 AND used + $2 <= allowed',
};

async function seed({ databaseUrl, rows }: UpdaterJob): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('DROP TABLE IF EXISTS bench_limit');
  await client.query(
    'CREATE TABLE bench_limit (id integer PRIMARY KEY, used numeric NOT NULL, allowed numeric NOT NULL)',
  );
  await client.query(
    'INSERT INTO bench_limit SELECT id, 0, 1000000000 FROM generate_series(0, $1::int - 1) AS id',
    [rows],
  );
  await client.query('VACUUM ANALYZE bench_limit');
  await client.end();
}

/** Returns updates per second. */
answerJobs(async (job: UpdaterJob): Promise<number> => {
  await seed(job);
  const clients = Array.from(
    { length: job.connections },
    () => new Client({ connectionString: job.databaseUrl }),
  );
  for (const client of clients) await client.connect();
  const startsAt = performance.now() + job.warmUpMs;
  const endsAt = startsAt + job.durationMs;
  let next = 0;
  let updated = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (let now = performance.now(); now < endsAt;) {
        next += 1;
        const { rowCount } = await client.query(UPDATE, [next % job.rows, '1']);
        if (rowCount !== 1) throw new Error('A row was not updated.');
        now = performance.now();
        if (now >= startsAt && now < endsAt) updated += 1;
      }
    }),
  );
  for (const client of clients) await client.end();
  return (updated * 1_000) / job.durationMs;
});
