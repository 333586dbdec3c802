import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, open, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { codeOf, ifThere, readIfThere } from './files';
import { poll } from './poll';
import { LOOPBACK } from './ports';
import { identify, isServerOf, isTaken } from './process-identity';
import type { ServerUser } from './server-user';

/** A live server process, as it describes itself in its `postmaster.pid`. */
export interface RunningServer {
  readonly pid: number;
  /** undefined in its first moments */
  readonly port: number | undefined;
  /** `starting`, `ready` or `stopping`; empty in its first moments */
  readonly status: string;
}

export interface Launch {
  readonly program: string;
  readonly dataDirectory: string;
  readonly user: ServerUser | undefined;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export interface LaunchedServer {
  hasEnded(): boolean;
  /** what the server has written to its log since it was launched */
  readLog(): Promise<string>;
}

/** The log starts anew beyond this size; one old one is kept. */
const LOG_LIMIT_BYTES = 10_000_000;

/**
 * How a server is asked to stop, each for at most so long. SIGINT: let no transaction finish, write everything down.
 * SIGQUIT: end now, repeat from the log at the next start. Neither loses a committed transaction.
 */
const STOP_SIGNALS = [
  { signal: 'SIGINT', patienceMs: 60_000 },
  { signal: 'SIGQUIT', patienceMs: 15_000 },
] as const;

/** The server of the data directory, if one is running; it may still be starting, or stopping. */
export async function findServer(dataDirectory: string): Promise<RunningServer | undefined> {
  const server = await readPidFile(dataDirectory);
  if (server === undefined) return undefined;
  return (await isServerOf(server.pid, dataDirectory)) ? server : undefined;
}

function pidFileOf(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid');
}

/** One line each: process, data directory, start time, port, socket directory, address, shared memory, status. */
async function readPidFile(dataDirectory: string): Promise<RunningServer | undefined> {
  const text = await readIfThere(pidFileOf(dataDirectory));
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]) || undefined, status: lines[7] ?? '' };
}

/**
 * Starts a server process that outlives us if it must, and does not yet wait for it to be ready.
 *
 * Its own session keeps a terminal's Ctrl-C from it: it would stop while requests are still at work. Its output goes to a
 * file, as a pipe would hold up whoever reads ours and break when we are gone. Not by `pg_ctl`, which tells us neither its
 * process number nor why it ended.
 */
export async function launchServer(launch: Launch): Promise<LaunchedServer> {
  await removeMisleadingPidFile(launch.dataDirectory);
  await rotateLog(launch.logFile);
  const output = await open(launch.logFile, 'a', 0o600);
  try {
    const { size: start } = await output.stat();
    const child = spawn(launch.program, argumentsOf(launch), {
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
      cwd: CHILD_DIRECTORY,
      env: { ...CHILD_ENVIRONMENT },
      ...launch.user,
    });
    let hasEnded = false;
    child.once('exit', () => (hasEnded = true));
    await once(child, 'spawn');
    child.unref();
    return {
      hasEnded: () => hasEnded,
      readLog: async () => ((await readIfThere(launch.logFile)) ?? '').slice(start),
    };
  } finally {
    await output.close();
  }
}

function argumentsOf({ dataDirectory, port, settings }: Launch): string[] {
  const all = {
    cluster_name: 'billing-engine',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
    listen_addresses: LOOPBACK,
    port: String(port),
    // The path of a socket may have 107 bytes at most, and directories are often longer.
    unix_socket_directories: '',
  };
  return [
    '-D',
    dataDirectory,
    ...Object.entries(all).flatMap(([name, to]) => ['-c', `${name}=${to}`]),
  ];
}

/**
 * A server that was killed leaves its `postmaster.pid`. The next one sees through that, unless the process number still
 * belongs to something: to another process of the same user, or, where process 1 does not collect orphans as in many
 * containers, to the zombie of the dead server. Then it would not start. Should children of the dead server be at work
 * still, it finds them by their shared memory, with this file or without.
 */
async function removeMisleadingPidFile(dataDirectory: string): Promise<void> {
  const left = await readPidFile(dataDirectory);
  if (left === undefined || !isTaken(left.pid)) return;
  if (await isServerOf(left.pid, dataDirectory)) return;
  await rm(pidFileOf(dataDirectory), { force: true });
}

/** By copying, so that the file stays its owner's when root does it. No server writes to it at this moment. */
async function rotateLog(logFile: string): Promise<void> {
  const log = await ifThere(stat(logFile));
  if (log === undefined || log.size <= LOG_LIMIT_BYTES) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile);
}

/**
 * Stops the server of the data directory, if one is running, and waits for its end.
 *
 * @throws {EmbeddedPostgresError} when it does not end
 */
export async function stopServer(dataDirectory: string): Promise<void> {
  const server = await findServer(dataDirectory);
  if (server === undefined) return;
  const identity = await identify(server.pid);
  for (const { signal, patienceMs } of STOP_SIGNALS) {
    send(server.pid, signal);
    const hasEnded = await poll(
      patienceMs,
      async () => (await identify(server.pid)) !== identity || undefined,
    );
    if (hasEnded) return;
  }
  throw new EmbeddedPostgresError(
    `The database server, process ${server.pid}, does not stop. End it, and see its log for the reason.`,
  );
}

/** Also used to hurry a server that waits for its last clients to go. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
