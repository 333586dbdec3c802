import { realpath, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** File system in memory on Linux. */
const MEMORY = '/dev/shm';
/**
 * Free space that is required: more than all databases and the write-ahead log of a run need. Containers often have
 * only 64 MiB.
 */
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * Returns a directory for the files of test servers: in memory if there is enough space, otherwise the directory for
 * temporary files. A database has some 700 files, and many tests spend most of their time on creating them on disk.
 */
export async function fastDirectory(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free < NEEDED_BYTES ? realpath(tmpdir()) : MEMORY;
}
