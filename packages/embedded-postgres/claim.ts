import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { codeOf, messageOf, readLinkIfExists } from './files';
import { poll } from './poll';
import { identifyPidNamespace } from './process-identity';

/*
 * Process ids mean something only within their PID namespace: a container sees no process of another one. So all uses of
 * a directory at the same time must be in one namespace. Each user and its server hold a shared lock of the system
 * (flock) on the file `users.lock`, which works across namespaces and ends with its processes. The file is never deleted.
 * While there are holders, the symbolic link `namespace` names their namespace. Only a process that holds the lock alone
 * may change it.
 */

/** Time to wait for the lock. It is longer than a killed container takes to end. */
const CLAIM_TIMEOUT_MS = 10_000;

/**
 * File descriptor that holds the lock, also in child processes that inherit it; null: this system has no such locks.
 */
export type Claim = number | null;

/**
 * Reserves the directory for the PID namespace (container) of this process, which sees no processes of another one.
 *
 * @throws {EmbeddedPostgresError} when processes of another namespace use the directory
 */
export async function claimDirectory(
  directory: string,
  warn: (message: string) => void,
  timeoutMs = CLAIM_TIMEOUT_MS,
): Promise<Claim> {
  const namespace = await identifyPidNamespace();
  if (namespace === null) return null;
  const claim = await poll(timeoutMs, () => attempt(directory, namespace));
  if (claim === null)
    warn(`The program flock cannot lock ${directory}: share it with no container`);
  if (claim !== undefined) return claim;
  throw new EmbeddedPostgresError(
    `The database in ${directory} is in use in another container or PID namespace. ` +
      `Stop that one, run this command inside it, or ${OWN_SERVER}.`,
  );
}

export function releaseClaim(claim: Claim): void {
  if (claim !== null) closeSync(claim);
}

async function attempt(directory: string, namespace: string): Promise<Claim | undefined> {
  // Network file systems lock only regular files for all machines: shared if open for reading, alone if for writing.
  const file = openSync(join(directory, 'users.lock'), 'a+');
  let result: Claim | undefined;
  try {
    const alone = lock(file, '-x');
    if (alone === 'locked') await record(directory, namespace);
    // Changing the lock from exclusive to shared lets go of it for a moment, so the record is read after that.
    if (alone === 'unavailable') result = null;
    else if (lock(file, '-s') === 'locked' && (await recorded(directory)) === namespace) {
      result = file;
    }
    return result;
  } finally {
    if (result !== file) closeSync(file);
  }
}

/**
 * @param program `flock` of util-linux or BusyBox. Both exit with 1 if the lock is held. BusyBox also exits with 1
 *   after errors, but then writes to stderr.
 * @throws {EmbeddedPostgresError} when the program could not be run, or was killed
 */
export function lock(
  file: number,
  mode: '-x' | '-s',
  program = 'flock',
): 'locked' | 'held' | 'unavailable' {
  const { error, signal, status, stderr } = spawnSync(program, [mode, '-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', file],
    cwd: CHILD_DIRECTORY,
    env: { ...CHILD_ENVIRONMENT },
    // On a network file system, the lock is a call to a server.
    timeout: CLAIM_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  if (status === 0) return 'locked';
  if (codeOf(error) === 'ENOENT') return 'unavailable';
  if (status === null) {
    const cause = error === undefined ? `it was ended by ${signal}` : messageOf(error);
    throw new EmbeddedPostgresError(
      `The program flock, which locks the data directory, did not run (${cause}). Try again.`,
    );
  }
  return status === 1 && stderr.length === 0 ? 'held' : 'unavailable';
}

function linkOf(directory: string): string {
  return join(directory, 'namespace');
}

function recorded(directory: string): Promise<string | undefined> {
  return readLinkIfExists(linkOf(directory));
}

async function record(directory: string, namespace: string): Promise<void> {
  if ((await recorded(directory)) === namespace) return;
  await rm(linkOf(directory), { force: true });
  await symlink(namespace, linkOf(directory));
}
