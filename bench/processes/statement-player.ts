import { Client, type QueryConfig } from 'pg';
import { newId } from '../../src/platform/ids';
import { answerJobs } from '../support/channel';
import { idempotencyKey, type Statement } from '../support/statements';

/**
 * Gives the upper bound for refunds: runs the statements of one recorded refund again and again, directly through `pg`.
 * Each replay has new ids.
 */

export interface PlayerJob {
  readonly databaseUrl: string;
  readonly connections: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
  readonly statements: readonly Statement[];
  readonly recordedPayment: string;
  readonly recordedKey: string;
  /** Ids younger than this one were generated for the recorded refund, and are replaced in each replay. */
  readonly recordedAfter: string;
  readonly payments: readonly string[];
}

/** Matches a TypeID: its prefix, and its suffix, which begins with the time of creation and sorts by it. */
const ID = /\b([a-z]+_)([0-7][0-9a-hjkmnp-tv-z]{25})\b/g;

const suffixOf = (id: string): string => id.slice(id.indexOf('_') + 1);

/** Replays the statements on one connection. Returns the number of replays that ended in time. */
async function replay(client: Client, job: PlayerJob, times: Times): Promise<number> {
  let ended = 0;
  for (let now = performance.now(); now < times.endsAt;) {
    await replayOnce(client, job);
    now = performance.now();
    if (now >= times.startsAt && now < times.endsAt) ended += 1;
  }
  return ended;
}

interface Times {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Matches statements that lock or write rows. Others may also find rows of other replays, which have the recorded time. */
const LOCKS_OR_WRITES = /\b(?:INSERT|UPDATE|DELETE|FOR (?:NO KEY UPDATE|KEY SHARE|SHARE))\b/;

let serial = 0;

async function replayOnce(client: Client, job: PlayerJob): Promise<void> {
  const replacement = replacementsFor(job);
  for (const statement of job.statements) {
    const { rowCount } = await client.query(statementWith(statement, replacement));
    const least = statement.rowCount ?? 0;
    const most = LOCKS_OR_WRITES.test(statement.text) ? least : Infinity;
    if ((rowCount ?? 0) < least || (rowCount ?? 0) > most) {
      throw new Error(`${rowCount} rows, not ${statement.rowCount}, of: ${statement.text}`);
    }
  }
}

function replacementsFor(job: PlayerJob): (text: string) => string {
  serial += 1;
  const key = idempotencyKey('replayed', serial);
  const payment = job.payments[serial % job.payments.length] ?? '';
  const made = new Map<string, string>();
  const recordedAfter = suffixOf(job.recordedAfter);
  const renew = (id: string, prefix: string, suffix: string): string => {
    if (suffix <= recordedAfter) return id;
    const fresh = made.get(id) ?? `${prefix}${suffixOf(newId('ref'))}`;
    made.set(id, fresh);
    return fresh;
  };
  return (text) =>
    text
      .replace(ID, renew)
      .replaceAll(job.recordedPayment, payment)
      .replaceAll(job.recordedKey, key);
}

function statementWith(
  { text, values, name }: Statement,
  replacement: (text: string) => string,
): QueryConfig {
  const replaced = values.map((value) => replacedIn(value, replacement));
  return name === undefined ? { text, values: replaced } : { text, values: replaced, name };
}

function replacedIn(value: unknown, replacement: (text: string) => string): unknown {
  if (typeof value === 'string') return replacement(value);
  // A list in binary form. Each id in it is replaced by an id of the same length.
  if (value instanceof Uint8Array) {
    return Buffer.from(replacement(Buffer.from(value).toString('latin1')), 'latin1');
  }
  return Array.isArray(value) ? value.map((part) => replacedIn(part, replacement)) : value;
}

answerJobs(async (job: PlayerJob): Promise<number> => {
  const clients = Array.from(
    { length: job.connections },
    () => new Client({ connectionString: job.databaseUrl }),
  );
  for (const client of clients) await client.connect();
  const startsAt = performance.now() + job.warmUpMs;
  const times = { startsAt, endsAt: startsAt + job.durationMs };
  try {
    const ended = await Promise.all(clients.map((client) => replay(client, job, times)));
    return (ended.reduce((sum, count) => sum + count, 0) * 1_000) / job.durationMs;
  } finally {
    for (const client of clients) await client.end();
  }
});
