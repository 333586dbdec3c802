import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { copyIn } from '../../src/platform/database/copy-in';
import { answerJobs } from '../support/channel';
import { eventOf, type WriterJob } from '../support/usage';

/**
 * Gives the upper bound for usage: writes rows directly into the table of events, by COPY or one at a time. All rows
 * are prepared before the measurement.
 */

const COLUMNS =
  'key_digest, stream_id, position, occurred_at, received_at, idempotency_key, properties';
const COPY = `COPY usage_event (${COLUMNS}) FROM STDIN`;
const INSERT = {
  name: 'insert-event',
  text: `INSERT INTO usage_event (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
};

type Row = readonly string[];

function rowOf({ shape, streams, run }: WriterJob, number: number): Row {
  const { key, customer, occurredAt, properties } = eventOf(shape, run, number);
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return [
    digest,
    streams[customer] ?? '',
    String(number + 1),
    occurredAt,
    occurredAt,
    key,
    properties,
  ];
}

function commitsOf(job: WriterJob): readonly (readonly Row[])[] {
  const commits: Row[][] = [];
  for (let done = 0; done < job.events; done += job.perCommit) {
    const count = Math.min(job.perCommit, job.events - done);
    commits.push(Array.from({ length: count }, (_, at) => rowOf(job, job.first + done + at)));
  }
  return commits;
}

type Commit = (client: Client) => Promise<unknown>;

/** Prepares the rows, so that only sending remains to be measured. */
function prepared(kind: WriterJob['kind'], rows: readonly Row[]): Commit {
  if (kind === 'copy') {
    const text = Buffer.from(rows.map((row) => `${row.join('\t')}\n`).join(''));
    return (client) => copyIn(client, COPY, text);
  }
  return async (client) => {
    for (const row of rows) await client.query(INSERT, [...row]);
  };
}

/** Returns rows per second. */
answerJobs(async (job: WriterJob): Promise<number> => {
  const commits = commitsOf(job)
    .map((rows) => prepared(job.kind, rows))
    .reverse();
  const clients = Array.from(
    { length: job.connections },
    () => new Client({ connectionString: job.databaseUrl }),
  );
  for (const client of clients) await client.connect();
  const startedAt = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let commit = commits.pop(); commit !== undefined; commit = commits.pop()) {
        await commit(client);
      }
    }),
  );
  const tookMs = performance.now() - startedAt;
  for (const client of clients) await client.end();
  return (job.events * 1_000) / tookMs;
});
