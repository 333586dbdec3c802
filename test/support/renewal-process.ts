import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { AbandonedWork } from '../../src/platform/processes';
import { killAfter } from './kill-after';
import { startTestApp, type TestApp } from './test-app';
import { until } from './until';

/**
 * Runs all work that is due at an instant, including drafts, in a process of its own. Started with `run-ts.cjs`. The
 * third argument is optional: after this number of SQL statements, the process kills itself.
 */
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
