import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { killAfter } from './kill-after';
import { startTestApp } from './test-app';

/**
 * Archives all usage that is due at an instant, in a process of its own. Started with `run-ts.cjs`. The third argument
 * is optional: after this number of SQL statements, the process kills itself.
 */
async function main([databaseUrl = '', now = '', statements]: readonly string[]): Promise<void> {
  const { USAGE_RETENTION_MONTHS = '', USAGE_ARCHIVE_DIRECTORY = '' } = process.env;
  const environment = { USAGE_RETENTION_MONTHS, USAGE_ARCHIVE_DIRECTORY };
  const worker = await startTestApp({ databaseUrl, environment });
  worker.clock.set(now);
  if (statements !== undefined) killAfter(Number(statements));
  while (await worker.app.get(DueUsageArchive).runDue()) continue;
  await worker.close();
}

void main(process.argv.slice(2));
