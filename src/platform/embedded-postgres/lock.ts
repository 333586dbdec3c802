import { randomUUID } from 'node:crypto';
import { symlink, unlink } from 'node:fs/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { codeOf, readLinkIfThere } from './files';
import { poll } from './poll';
import { identify } from './process-identity';

/** Longer than the longest start or stop, so that a wait this long means that something is stuck. */
const LONGEST_WAIT_MS = 180_000;

/**
 * Does `work` while no other process does work under the same lock. The lock of a dead process is broken.
 *
 * The lock is a symbolic link whose "target" names its holder: made with its content in one step, or not at all when one
 * is there (as O_EXCL does for a file, but a file would be empty for a moment, and the holder unknown).
 *
 * @throws {EmbeddedPostgresError} when a live process does not let go of it
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await acquire(path);
  try {
    return await work();
  } finally {
    await unlink(path);
  }
}

async function acquire(path: string): Promise<void> {
  const mine = `${process.pid} ${await identify(process.pid)} ${randomUUID()}`;
  const acquired = await poll(LONGEST_WAIT_MS, () => attempt(path, mine));
  if (acquired) return;
  const pid = pidOf(await readLinkIfThere(path));
  throw new EmbeddedPostgresError(
    `Process ${pid} has been starting or stopping the embedded database for ${LONGEST_WAIT_MS / 1000} s. ` +
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
  const holder = await readLinkIfThere(path);
  if (holder !== undefined && !(await isAlive(holder))) await breakLock(path, holder);
  return undefined;
}

/**
 * Two processes that find the same dead holder must not both delete: the slower one would delete the lock that the faster
 * one took meanwhile. So deleting has a lock of its own, and under it the holder is read again.
 */
async function breakLock(path: string, deadHolder: string): Promise<void> {
  await withLock(`${path}.break`, async () => {
    if ((await readLinkIfThere(path)) === deadHolder) await unlink(path);
  });
}

async function isAlive(holder: string): Promise<boolean> {
  const [, identity] = holder.split(' ');
  return (await identify(pidOf(holder))) === identity;
}

function pidOf(holder: string | undefined): number {
  return Number.parseInt(holder ?? '', 10);
}
