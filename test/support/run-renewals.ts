import { fork } from 'node:child_process';
import { join } from 'node:path';

const RUN_TS = join(__dirname, 'run-ts.cjs');
const RUN = join(__dirname, 'renewal-process.ts');

/**
 * Runs everything that is due on a database at an instant, in a process of its own, which kills itself after
 * `killAfter` statements if given. Returns how it ended: `done`, an exit code or a signal.
 */
export function runRenewals(databaseUrl: string, now: number, killAfter?: number): Promise<string> {
  const instant = new Date(now).toISOString();
  const given = killAfter === undefined ? [] : [String(killAfter)];
  const child = fork(RUN_TS, [RUN, databaseUrl, instant, ...given], { stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? (code === 0 ? 'done' : `code ${code}`)));
  });
}
