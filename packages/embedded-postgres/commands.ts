import { execFile } from 'node:child_process';
import { codeOf, messageOf } from './files';

/**
 * All environment variables of the server and its tools. The variables of this process are not passed on: a PGDATA or a
 * locale could change what the server does, and the server needs no secrets.
 */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Working directory of the commands. Their user may be unable to enter the working directory of the engine. */
export const CHILD_DIRECTORY = '/';

/** Account that runs a command. Only root can choose another account than its own. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface CommandOutcome {
  readonly succeeded: boolean;
  readonly output: string;
  /** Output on stderr. If a failed command wrote nothing there, the message of the error. */
  readonly complaint: string;
  /** Error code of the system, such as ENOENT, when the command could not be run. */
  readonly systemError?: string | undefined;
}

/** Runs a command and waits for its end. Never rejects: a failure is reported in the outcome. */
export function run(
  command: string,
  args: readonly string[],
  account?: Account,
): Promise<CommandOutcome> {
  const options = { cwd: CHILD_DIRECTORY, env: { ...CHILD_ENVIRONMENT }, ...account };
  return new Promise((resolve) => {
    // `execFile` throws for some failures and calls back for others.
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

function explain(
  error: unknown,
  complaint: string,
): Pick<CommandOutcome, 'complaint' | 'systemError'> {
  return { complaint: complaint.trim() || messageOf(error), systemError: codeOf(error) };
}
