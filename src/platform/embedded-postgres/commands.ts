import { execFile } from 'node:child_process';
import { codeOf, messageOf } from './files';

/**
 * All that the server and its tools get to see of an environment: nothing inherited, so that a stray PGDATA, locale or
 * secret of the surrounding shell can neither change nor reach them.
 */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Every user may enter it, unlike the directory that the engine was started in. */
export const CHILD_DIRECTORY = '/';

/** Whom to run a command as; only root can choose another than itself. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface Outcome {
  /** the exit code was 0 */
  readonly succeeded: boolean;
  readonly output: string;
  /** stderr, or why the command could not be run at all */
  readonly complaint: string;
  /** the system's error code when the command could not be run at all, such as ENOENT */
  readonly systemError?: string | undefined;
}

/** Runs a command to its end. It never rejects: what a failure means is for the caller to say. */
export function run(command: string, args: readonly string[], account?: Account): Promise<Outcome> {
  const options = { cwd: CHILD_DIRECTORY, env: { ...CHILD_ENVIRONMENT }, ...account };
  return new Promise((resolve) => {
    // `spawn`, below `execFile`, throws at once for some failures and emits an event for others.
    try {
      execFile(command, args, options, (error, output, complaint) => {
        if (error === null) resolve({ succeeded: true, output, complaint });
        else resolve({ succeeded: false, output, ...explain(error, complaint) });
      });
    } catch (error) {
      resolve({ succeeded: false, output: '', ...explain(error, '') });
    }
  });
}

function explain(error: unknown, complaint: string): Pick<Outcome, 'complaint' | 'systemError'> {
  return { complaint: complaint.trim() || messageOf(error), systemError: codeOf(error) };
}
