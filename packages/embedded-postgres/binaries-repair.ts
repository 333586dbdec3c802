import { randomUUID } from 'node:crypto';
import { chmod, cp, lstat, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { run } from './commands';
import { codeOf, ifExists, readIfExists } from './files';
import { identifyProcess } from './process-identity';

const EXECUTABLES = ['initdb', 'postgres'];

/**
 * A symbolic link that the libraries need, such as libpq.so.5. An npm package cannot contain links, so the package
 * lists them in a file. `target` is the path of the link; `source` is the file that it points to. Both start with
 * `native/`.
 */
interface Link {
  readonly source: string;
  readonly target: string;
}

/** Creates missing links between libraries and makes the programs executable, in case npm runs no install scripts. */
export async function repairBinaries(native: string): Promise<void> {
  for (const { source, target } of await linksOf(native)) {
    const link = join(native, relative('native', target));
    const destination = relative(dirname(target), source);
    if ((await ifExists(lstat(link))) === undefined) await makeLink(destination, link);
  }
  for (const name of EXECUTABLES) await addPermissions(join(native, 'bin', name), 0o555);
}

async function linksOf(native: string): Promise<readonly Link[]> {
  const list = await readIfExists(join(native, 'pg-symlinks.json'));
  const links: unknown = JSON.parse(list ?? '[]');
  return Array.isArray(links) ? links.filter(isLink) : [];
}

function isLink(value: unknown): value is Link {
  if (typeof value !== 'object' || value === null) return false;
  if (!('source' in value && 'target' in value)) return false;
  return typeof value.source === 'string' && typeof value.target === 'string';
}

async function makeLink(destination: string, link: string): Promise<void> {
  try {
    await symlink(destination, link);
  } catch (error) {
    // Another service that started at the same moment created the link first.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Adds missing permissions. Skips `chmod` if none is missing, because `chmod` fails on a read-only file system. */
async function addPermissions(path: string, permissions: number): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & permissions) !== permissions) await chmod(path, mode | permissions);
}

/**
 * Copies the programs to the directory `copy`, and lets all users read them. The copy is made under a temporary name
 * and renamed when it is complete. If two services copy at once, the second rename fails, and both use the first copy.
 */
export async function copyBinaries(native: string, copy: string): Promise<void> {
  await removeDrafts(copy);
  const draft = `${copy}.draft-${process.pid}-${randomUUID()}`;
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await repairBinaries(draft);
    await openToAll(draft);
    // Flushes the content before the rename. A failed sync matters only after a power failure, so it is ignored.
    await run('sync', ['-f', draft]);
    await rename(draft, copy);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Deletes the unfinished copies of processes that were killed. */
async function removeDrafts(copy: string): Promise<void> {
  const prefix = `${basename(copy)}.draft-`;
  for (const name of await readdir(dirname(copy))) {
    if (!name.startsWith(prefix)) continue;
    const copier = Number.parseInt(name.slice(prefix.length), 10);
    if ((await identifyProcess(copier)) !== undefined) continue;
    await rm(join(dirname(copy), name), { recursive: true, force: true });
  }
}

async function openToAll(directory: string): Promise<void> {
  await addPermissions(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    await addPermissions(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o444);
  }
}
