import { Client } from 'pg';
import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { AbandonedWork } from '../../src/platform/processes';
import { startTestApp, type TestApp } from './test-app';
import { until } from './until';

/**
 * Runs everything that is due on a database at an instant, drafts included, in a process of its own, and ends. Started
 * with `run-ts.cjs`. With a number as argument, it kills itself like `kill -9` when it sends that many statements to
 * the database: before, within or after any transaction, and between a commit and its answer.
 */
type Query = (this: Client, ...given: unknown[]) => unknown;

function killAfter(statements: number): void {
  const prototype = Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  let left = statements;
  prototype.query = function query(this: Client, ...given: unknown[]): unknown {
    left -= 1;
    const answer = original.apply(this, given);
    // For every other number, the statement is sent and nothing receives its answer.
    if (left === 0 && statements % 2 === 0) process.kill(process.pid, 'SIGKILL');
    else if (left === 0) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    return answer;
  };
}

async function main([databaseUrl = '', now = '', statements]: readonly string[]): Promise<void> {
  const worker = await startTestApp({ databaseUrl });
  worker.clock.set(now);
  if (statements !== undefined) killAfter(Number(statements));
  await until('nothing is due', async () => {
    await worker.app.get(AbandonedWork).runDue();
    for (const Due of [DueSubscriptions, DueDrafts]) {
      const due = worker.app.get<DueSubscriptions | DueDrafts>(Due);
      while (await due.runDue());
    }
    return !(await isAnythingDue(worker));
  });
  await worker.close();
}

/** Returns true if work is due, also if another worker has claimed it. */
async function isAnythingDue({ database, clock }: TestApp): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM subscription WHERE next_billing_at <= $1
     UNION ALL SELECT FROM invoice WHERE finalizes_at <= $1 LIMIT 1`,
    [clock.now()],
  );
  return rows.length > 0;
}

void main(process.argv.slice(2));
