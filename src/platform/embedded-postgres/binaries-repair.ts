import { randomUUID } from 'node:crypto';
import { chmod, cp, lstat, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { run } from './commands';
import { codeOf, ifThere, readIfThere } from './files';
import { identify } from './process-identity';

const EXECUTABLES = ['initdb', 'postgres'];

/**
 * An npm package cannot hold links, but the libraries need some, such as libpq.so.5: `target` is to be a link to the file
 * `source`. Both start with `native/`.
 */
interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Does what the package's install script does, which npm may have been told not to run: makes the links between the
 * libraries. Makes the programs executable, too. Writes nothing when nothing is missing.
 */
export async function repairBinaries(native: string): Promise<void> {
  for (const { source, target } of await linksOf(native)) {
    const link = join(native, relative('native', target));
    const destination = relative(dirname(target), source);
    if ((await ifThere(lstat(link))) === undefined) await makeLink(destination, link);
  }
  for (const name of EXECUTABLES) await addPermissions(join(native, 'bin', name), 0o555);
}

async function linksOf(native: string): Promise<readonly Link[]> {
  const list = await readIfThere(join(native, 'pg-symlinks.json'));
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
    // Another service that starts at the same moment was faster.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Sets nothing when nothing is missing: on a read-only file system even that would fail. */
async function addPermissions(path: string, permissions: number): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & permissions) !== permissions) await chmod(path, mode | permissions);
}

/**
 * Copies the programs to `copy`, readable by all. They get that name when they are complete, and two services may do it
 * at once: the second rename fails, and the first copy serves both.
 */
export async function copyBinaries(native: string, copy: string): Promise<void> {
  await sweepDrafts(copy);
  const draft = `${copy}.draft-${process.pid}-${randomUUID()}`;
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await repairBinaries(draft);
    await openToAll(draft);
    // The content has to be on the disk before the name is. Should this fail, only a power failure could tell.
    await run('sync', ['-f', draft]);
    await rename(draft, copy);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes what copies that were killed have left. */
async function sweepDrafts(copy: string): Promise<void> {
  const prefix = `${basename(copy)}.draft-`;
  for (const name of await readdir(dirname(copy))) {
    if (!name.startsWith(prefix)) continue;
    const copier = Number.parseInt(name.slice(prefix.length), 10);
    if ((await identify(copier)) !== undefined) continue;
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
