import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { killAfter } from './kill-after';
import { startTestApp } from './test-app';

/**
 * Archives all usage that is due at an instant, in a process of its own. Started with `run-ts.cjs`. With a number as
 * the third argument, the process kills itself when it sends that many statements.
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
