import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds the console, when its sources have changed. */
export default function buildConsole(): void {
  execFileSync(process.execPath, [join(__dirname, '../../scripts/build.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
