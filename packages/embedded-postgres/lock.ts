import { randomUUID } from 'node:crypto';
import { rm, symlink, unlink } from 'node:fs/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { codeOf, readLinkIfExists } from './files';
import { poll } from './poll';
import { identifyProcess } from './process-identity';

/**
 * Longer than either a start (at most 120 s) or a stop (at most 75 s) can take. A process that holds the lock longer
 * than this is stuck.
 */
const LOCK_TIMEOUT_MS = 180_000;

/**
 * Runs `work` while no other work runs under the same lock. Breaks the lock of a dead process.
 *
 * The lock is a symbolic link whose target is the name of its holder. The system creates a link and its target in one
 * step, and only if the link does not exist. A lock file would be empty for a moment, with an unknown holder.
 *
 * @throws {EmbeddedPostgresError} when a live process does not release the lock
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await acquire(path);
  try {
    return await work();
  } finally {
    // With `force`, because another process may have deleted the directory as that of an abandoned server.
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<void> {
  const mine = `${process.pid} ${await identifyProcess(process.pid)} ${randomUUID()}`;
  const acquired = await poll(LOCK_TIMEOUT_MS, () => attempt(path, mine));
  if (acquired) return;
  const pid = pidOf(await readLinkIfExists(path));
  throw new EmbeddedPostgresError(
    `Process ${pid} has been starting or stopping the embedded database for ${LOCK_TIMEOUT_MS / 1000} s. ` +
      `End it and start again, or delete ${path} if that process has nothing to do with this service.`,
  );
}

async function attempt(path: string, mine: string): Promise<true | undefined> {
  try {
    await symlink(mine, path);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const holder = await readLinkIfExists(path);
  if (holder !== undefined && !(await isAlive(holder))) await breakLock(path, holder);
  return undefined;
}

/**
 * Deletes the lock of a dead holder. Meanwhile another process may have deleted it too, and taken the lock itself.
 * Therefore reads the holder again under a second lock, and deletes only the lock of the dead one.
 */
async function breakLock(path: string, deadHolder: string): Promise<void> {
  await withLock(`${path}.break`, async () => {
    if ((await readLinkIfExists(path)) === deadHolder) await unlink(path);
  });
}

async function isAlive(holder: string): Promise<boolean> {
  const [, identity] = holder.split(' ');
  return (await identifyProcess(pidOf(holder))) === identity;
}

function pidOf(holder: string | undefined): number {
  return Number.parseInt(holder ?? '', 10);
}
