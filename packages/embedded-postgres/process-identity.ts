import { basename } from 'node:path';
import { run } from './commands';
import { codeOf, readIfExists, readLinkIfExists } from './files';

/**
 * Returns a value that distinguishes a process from earlier and later processes with the same id. Process ids are
 * reused, especially after the restart of a container. Returns undefined when no live process has the id; a zombie is
 * not alive.
 */
export async function identifyProcess(pid: number): Promise<string | undefined> {
  if (!isProcessIdTaken(pid)) return undefined;
  return process.platform === 'linux' ? identifyOnLinux(pid) : identifyByPs(pid);
}

/** True when a process has this id, even a zombie that its parent does not reap. */
export function isProcessIdTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

async function identifyOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readIfExists(`/proc/${pid}/stat`);
  // /proc may hide processes of other users, which never belong to this service.
  if (stat === undefined) return 'hidden';
  // Field 2, the name in parentheses, may contain spaces and parentheses. State and start time are fields 3 and 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', startTime = ''] = [fields[0], fields[19]];
  if (['Z', 'X'].includes(state)) return undefined;
  return `${await bootId()}/${startTime}`;
}

async function bootId(): Promise<string> {
  return (await readIfExists('/proc/sys/kernel/random/boot_id'))?.trim() ?? 'boot';
}

/**
 * Returns a value that no other PID namespace (such as a container) with processes has. Null on systems without them.
 */
export async function identifyPidNamespace(): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  return `${await bootId()}/${await readLinkIfExists('/proc/self/ns/pid')}`;
}

async function identifyByPs(pid: number): Promise<string | undefined> {
  const { succeeded, output } = await run('ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
  const [, state = '', startTime = ''] = /^\s*(\S+)\s+(.*\S)/.exec(output) ?? [];
  return !succeeded || state.startsWith('Z') ? undefined : startTime;
}

/** True when the process is a PostgreSQL server of this data directory, not another program with a reused id. */
export async function isServerOf(pid: number, dataDirectory: string): Promise<boolean> {
  if ((await identifyProcess(pid)) === undefined) return false;
  const commandLine = await commandLineOf(pid);
  if (basename(commandLine[0] ?? '') !== 'postgres') return false;
  if (commandLine.includes(dataDirectory)) return true;
  // Covers a server started by hand with a relative path, and one whose directory was renamed.
  return (await workingDirectoryOf(pid)) === dataDirectory;
}

/** Returns undefined if the system hides the directory, for example because the process belongs to another user. */
async function workingDirectoryOf(pid: number): Promise<string | undefined> {
  try {
    return await readLinkIfExists(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

async function commandLineOf(pid: number): Promise<readonly string[]> {
  if (process.platform === 'linux') {
    return ((await readIfExists(`/proc/${pid}/cmdline`)) ?? '').split('\0');
  }
  const { output } = await run('ps', ['-o', 'args=', '-ww', '-p', String(pid)]);
  const [, program = '', dataDirectory = ''] = /^(.*?postgres) -D (.*?) -c /.exec(output) ?? [];
  return [program, dataDirectory];
}
