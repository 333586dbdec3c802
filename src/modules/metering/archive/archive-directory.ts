import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ArchiveFile } from '../domain/archive-file';

const compress = promisify(gzip);

/**
 * Size of the test file that {@link ArchiveDirectory.requireWritable} writes. About the size of a compressed archive
 * file.
 */
const PROBE_BYTES = 1_048_576;

/** Directory for the files with archived events. A file gets its final name only when it is complete and on disk. */
export class ArchiveDirectory {
  constructor(private readonly path: string) {}

  /**
   * Writes events to a compressed file, with a manifest beside it. The file name contains the first digits of the
   * SHA-256 of the file, so that a repeated write never replaces a file by different content.
   * @param lines one JSON event each
   */
  async write(month: Date, number: number, lines: readonly string[]): Promise<ArchiveFile> {
    const content = await compress(`${lines.join('\n')}\n`);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const folder = await this.makeFolder(month);
    const base = `${folder}/usage-${folder}-${String(number).padStart(6, '0')}-${sha256.slice(0, 16)}`;
    const name = `${base}.ndjson.gz`;
    const file = { month, number, name, events: lines.length, bytes: content.length, sha256 };
    await this.writeFile(name, content);
    const manifest = { ...file, month: folder };
    await this.writeFile(`${base}.json`, Buffer.from(`${JSON.stringify(manifest)}\n`));
    await this.syncFolder(folder);
    return file;
  }

  /** Reads the file. Returns true if it exists and has this size and SHA-256. */
  async matches({
    name,
    bytes,
    sha256,
  }: Pick<ArchiveFile, 'name' | 'bytes' | 'sha256'>): Promise<boolean> {
    const hash = createHash('sha256');
    let length = 0;
    try {
      for await (const piece of createReadStream(join(this.path, name))) {
        hash.update(piece as Buffer);
        length += (piece as Buffer).length;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    return length === bytes && hash.digest('hex') === sha256;
  }

  /**
   * Returns the first file that is missing or does not have its recorded size. Returns undefined if there is no such
   * file.
   */
  async findChanged<File extends Pick<ArchiveFile, 'name' | 'bytes'>>(
    files: readonly File[],
  ): Promise<File | undefined> {
    for (const file of files) {
      const found = await stat(join(this.path, file.name)).catch(() => null);
      if (found?.size !== file.bytes) return file;
    }
    return undefined;
  }

  /**
   * Checks that the volume of the directory is mounted. The newest file in the database must exist with its recorded
   * size.
   * @param latest newest file in the database; null if there is none: then only the directory must exist
   * @throws {Error} if it is not mounted
   */
  async requireMounted(latest: Pick<ArchiveFile, 'name' | 'bytes'> | null): Promise<void> {
    const path = join(this.path, latest?.name ?? '');
    const found = await stat(path).catch(() => null);
    if (latest === null && found?.isDirectory() !== true) {
      throw new Error(
        `The archive has no directory ${path}. Does it exist? Is its volume mounted?`,
      );
    }
    if (latest !== null && found?.size !== latest.bytes) {
      throw new Error(`The archive has no ${path} of the recorded size. Is its volume mounted?`);
    }
  }

  /**
   * Checks that a file of this month can be written. Writes a test file as {@link write} does, and deletes it.
   * @throws {Error} of the file system, for example `EACCES`, `EROFS` or `ENOSPC`
   */
  async requireWritable(month: Date): Promise<void> {
    const folder = await this.makeFolder(month);
    const probe = `${folder}/${randomUUID()}.tmp`;
    try {
      // Random, because a file system may compress what it stores.
      await this.writeFile(probe, randomBytes(PROBE_BYTES));
      await this.syncFolder(folder);
    } finally {
      await rm(join(this.path, probe), { force: true });
    }
  }

  private async makeFolder(month: Date): Promise<string> {
    const folder = month.toISOString().slice(0, 7);
    await mkdir(join(this.path, folder)).catch(ignoreExisting);
    return folder;
  }

  private async writeFile(name: string, content: Buffer): Promise<void> {
    const path = join(this.path, name);
    // Random name: a worker that lost its lock together with its database connection may still be writing the same
    // file.
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      await writeSynced(temporary, content);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Waits until the names of new files in this folder, and the name of the folder itself, are on disk. */
  private async syncFolder(folder: string): Promise<void> {
    await sync(join(this.path, folder));
    await sync(this.path);
  }
}

async function writeSynced(path: string, content: Buffer): Promise<void> {
  const handle = await open(path, 'w');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Waits until the file names in a directory are on disk. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
