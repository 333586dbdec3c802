import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { readLinkIfExists } from './files';
import { poll } from './poll';
import { identifyPidNamespace } from './process-identity';
import { usersDirectory } from './registry';

/*
 * Process ids mean something only within their PID namespace: a container sees no process of another one. So all uses of
 * a directory at the same time must be in one namespace. Each user and its server hold a shared lock of the system
 * (flock), which works across namespaces and ends with its processes. While there are holders, the symbolic link
 * `namespace` names their namespace. Only a process that holds the lock alone may change it.
 */

/** Longer than a killed container takes to end. */
const CLAIM_TIMEOUT_MS = 10_000;

/** File descriptor that holds the lock, also in child processes that inherit it; null: this system has no such locks. */
export type Claim = number | null;

/**
 * Claims the directory for the PID namespace of this process.
 *
 * @throws {EmbeddedPostgresError} when processes of another namespace use the directory
 */
export async function claimDirectory(
  directory: string,
  log: (message: string) => void,
): Promise<Claim> {
  const namespace = await identifyPidNamespace();
  if (namespace === null) return null;
  await mkdir(usersDirectory(directory), { recursive: true });
  const claim = await poll(CLAIM_TIMEOUT_MS, () => attempt(directory, namespace));
  if (claim === null) log(`The program flock cannot lock ${directory}: share it with no container`);
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
  const file = openSync(usersDirectory(directory), 'r');
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

function lock(file: number, mode: '-x' | '-s'): 'locked' | 'held' | 'unavailable' {
  const { status } = spawnSync('flock', [mode, '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', file],
    cwd: CHILD_DIRECTORY,
    env: { ...CHILD_ENVIRONMENT },
  });
  if (status === 0) return 'locked';
  return status === 1 ? 'held' : 'unavailable';
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
