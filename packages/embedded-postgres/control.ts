import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, open, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Claim } from './claim';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { codeOf, ifExists, readIfExists } from './files';
import { poll } from './poll';
import { LOOPBACK } from './ports';
import { identifyProcess, isServerOf, isProcessIdTaken } from './process-identity';
import type { ServerUser } from './server-user';

/** A live server process, as its `postmaster.pid` describes it. */
export interface RunningServer {
  readonly pid: number;
  /** Undefined shortly after the start. */
  readonly port: number | undefined;
  /** `starting`, `ready` or `stopping`; empty shortly after the start. */
  readonly status: string;
}

export interface Launch {
  readonly program: string;
  readonly dataDirectory: string;
  readonly user: ServerUser | undefined;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Lock on the engine's directory. The server inherits the lock, and holds it until all its processes have ended. */
  readonly claim: Claim;
}

export interface LaunchedServer {
  hasEnded(): boolean;
  /** Returns the log lines written since the launch. */
  readLog(): Promise<string>;
}

/** Size at which the log is rotated. One old log is kept. */
const LOG_LIMIT_BYTES = 10_000_000;

/**
 * Signals that stop a server, with the time to wait after each. SIGINT aborts open transactions and writes a
 * checkpoint. SIGQUIT ends the server at once; the next start replays the write-ahead log. Neither loses a committed
 * transaction.
 */
const STOP_SIGNALS = [
  { signal: 'SIGINT', timeoutMs: 60_000 },
  { signal: 'SIGQUIT', timeoutMs: 15_000 },
] as const;

/** Returns the server of the data directory, if one is running. It may still be starting, or already be stopping. */
export async function findServer(dataDirectory: string): Promise<RunningServer | undefined> {
  const server = await readPidFile(dataDirectory);
  if (server === undefined) return undefined;
  return (await isServerOf(server.pid, dataDirectory)) ? server : undefined;
}

function pidFileOf(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid');
}

/**
 * Parses `postmaster.pid`, which has one value per line. The first is the pid, the fourth the port, the eighth the
 * status.
 */
async function readPidFile(dataDirectory: string): Promise<RunningServer | undefined> {
  const text = await readIfExists(pidFileOf(dataDirectory));
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]) || undefined, status: lines[7] ?? '' };
}

/**
 * Starts a server process, and does not wait until the server is ready. The server survives a crash of this process.
 *
 * The server has its own session, so that Ctrl-C in a terminal does not stop it while requests still need it. Its
 * output goes to a file: a pipe would break when this process ends. `pg_ctl` is not used, because it reports neither
 * the process id nor the reason for an exit.
 */
export async function launchServer(launch: Launch): Promise<LaunchedServer> {
  await removeMisleadingPidFile(launch.dataDirectory);
  await rotateLog(launch.logFile);
  const output = await open(launch.logFile, 'a', 0o600);
  try {
    const { size: start } = await output.stat();
    const child = spawn(launch.program, argumentsOf(launch), {
      detached: true,
      stdio: ['ignore', output.fd, output.fd, launch.claim ?? 'ignore'],
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
      readLog: async () => {
        const log = Buffer.from((await readIfExists(launch.logFile)) ?? '');
        return log.subarray(start).toString();
      },
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
    // No Unix socket: its path is limited to 107 bytes, and the paths of directories are often longer.
    unix_socket_directories: '',
  };
  return [
    '-D',
    dataDirectory,
    ...Object.entries(all).flatMap(([name, to]) => ['-c', `${name}=${to}`]),
  ];
}

/**
 * Deletes the `postmaster.pid` of a killed server if the file would prevent a start. PostgreSQL refuses to start while
 * a process with the recorded id exists. That process can be unrelated. It can also be the dead server itself, as a
 * zombie in a container whose process 1 does not reap orphans. Deleting the file is safe, because PostgreSQL detects
 * surviving child processes by their shared memory, and other containers cannot claim the directory.
 */
async function removeMisleadingPidFile(dataDirectory: string): Promise<void> {
  const left = await readPidFile(dataDirectory);
  if (left === undefined || !isProcessIdTaken(left.pid)) return;
  if (await isServerOf(left.pid, dataDirectory)) return;
  await rm(pidFileOf(dataDirectory), { force: true });
}

/**
 * Rotates the log if it is too large. Call this only while no server runs. Copies and truncates the file instead of
 * renaming it, so that the file keeps its owner even if this process is root.
 */
async function rotateLog(logFile: string): Promise<void> {
  const log = await ifExists(stat(logFile));
  if (log === undefined || log.size <= LOG_LIMIT_BYTES) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile);
}

/**
 * Stops the server of the data directory, if one is running, and waits for its end.
 *
 * @throws {EmbeddedPostgresError} when the server does not end
 */
export async function stopServer(dataDirectory: string): Promise<void> {
  const server = await findServer(dataDirectory);
  if (server === undefined) return;
  const identity = await identifyProcess(server.pid);
  for (const { signal, timeoutMs } of STOP_SIGNALS) {
    send(server.pid, signal);
    const hasEnded = await poll(
      timeoutMs,
      async () => (await identifyProcess(server.pid)) !== identity || undefined,
    );
    if (hasEnded) return;
  }
  throw new EmbeddedPostgresError(
    `The database server, process ${server.pid}, does not stop. End it, and see its log for the reason.`,
  );
}

/** Sends a signal to a process. Does nothing if the process has already ended. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
