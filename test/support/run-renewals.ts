import { fork } from 'node:child_process';
import { join } from 'node:path';

const RUN_TS = join(__dirname, 'run-ts.cjs');

/**
 * Runs all work that is due at an instant, in a process of its own. If `killAfter` is given, the process kills itself
 * after this number of SQL statements. Returns how the process ended: `done`, an exit code or a signal.
 */
export function runRenewals(databaseUrl: string, now: number, killAfter?: number): Promise<string> {
  return runWorker('renewal-process.ts', databaseUrl, now, killAfter);
}

/** Archives all due usage, like {@link runRenewals}. The environment variables configure the archive. */
export function runArchive(
  databaseUrl: string,
  now: number,
  environment: Readonly<Record<string, string>>,
  killAfter?: number,
): Promise<string> {
  return runWorker('archive-process.ts', databaseUrl, now, killAfter, environment);
}

function runWorker(
  script: string,
  databaseUrl: string,
  now: number,
  killAfter?: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const instant = new Date(now).toISOString();
  const given = killAfter === undefined ? [] : [String(killAfter)];
  const child = fork(RUN_TS, [join(__dirname, script), databaseUrl, instant, ...given], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? (code === 0 ? 'done' : `code ${code}`)));
  });
}
