import { basename } from 'node:path';
import { run } from './commands';
import { codeOf, readIfThere, readLinkIfThere } from './files';

/**
 * Tells this process from every other that has had or will have its number: numbers are used again, soon after a restart
 * of a container. Undefined when no live process has the number; a zombie is not alive.
 */
export async function identify(pid: number): Promise<string | undefined> {
  if (!isTaken(pid)) return undefined;
  return process.platform === 'linux' ? identifyOnLinux(pid) : identifyByPs(pid);
}

/** Whether the number belongs to a process, if only to a zombie whose parent does not collect it. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

async function identifyOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  // /proc may hide processes of other users; those are none of ours.
  if (stat === undefined) return 'hidden';
  // The name, second and in parentheses, may itself hold spaces and parentheses. State and start time are fields 3 and 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', startTime = ''] = [fields[0], fields[19]];
  if (['Z', 'X'].includes(state)) return undefined;
  const boot = await readIfThere('/proc/sys/kernel/random/boot_id');
  return `${boot?.trim() ?? 'boot'}/${startTime}`;
}

async function identifyByPs(pid: number): Promise<string | undefined> {
  const { succeeded, output } = await run('ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
  const [, state = '', startTime = ''] = /^\s*(\S+)\s+(.*\S)/.exec(output) ?? [];
  return !succeeded || state.startsWith('Z') ? undefined : startTime;
}

/** Whether the process is a PostgreSQL server of this data directory, rather than a stranger with a reused number. */
export async function isServerOf(pid: number, dataDirectory: string): Promise<boolean> {
  if ((await identify(pid)) === undefined) return false;
  const commandLine = await commandLineOf(pid);
  if (basename(commandLine[0] ?? '') !== 'postgres') return false;
  if (commandLine.includes(dataDirectory)) return true;
  // Also true for a server started by hand with a relative path, or whose directory was renamed since.
  return (await workingDirectoryOf(pid)) === dataDirectory;
}

/** Undefined when the system keeps it from us, as it does for processes of other users. */
async function workingDirectoryOf(pid: number): Promise<string | undefined> {
  try {
    return await readLinkIfThere(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

async function commandLineOf(pid: number): Promise<readonly string[]> {
  if (process.platform === 'linux') {
    return ((await readIfThere(`/proc/${pid}/cmdline`)) ?? '').split('\0');
  }
  const { output } = await run('ps', ['-o', 'args=', '-ww', '-p', String(pid)]);
  const [, program = '', dataDirectory = ''] = /^(.*?postgres) -D (.*?) -c /.exec(output) ?? [];
  return [program, dataDirectory];
}
