import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import globalSetup from './global-setup';

/** Builds the console if its sources have changed, and starts the database server if it does not run. */
export default async function browserSetup(): Promise<void> {
  execFileSync(process.execPath, [join(__dirname, '../../scripts/build.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await globalSetup();
}
