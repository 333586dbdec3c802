import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findServer, stopServer } from './control';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { codeOf, ifExists, readIfExists, writeDurably } from './files';
import { canReach, isRoot, ownerOf, postgresUser, type ServerUser } from './server-user';
import { systemDirectory } from './system-directory';

/** A PostgreSQL data directory, which may not exist yet. */
export interface Cluster {
  readonly dataDirectory: string;
  /** User that owns the data and runs the server; undefined: the user of this process. */
  readonly user: ServerUser | undefined;
  readonly isComplete: boolean;
}

type Log = (message: string) => void;

/**
 * File in a data directory, written after initdb succeeded. It contains the path of the engine's directory. A data
 * directory without this file was never used.
 */
export const COMPLETE_MARKER_FILE = 'billing-engine-complete';

/** File in the engine's directory. Contains the path of the data directory, if that is somewhere else. */
const LOCATION_FILE = 'postgres-cluster';

/**
 * Locates the cluster of the engine's `directory` (a real path). A new cluster is placed in this directory if the
 * server's user can enter it, otherwise below /var/lib/billing-engine.
 *
 * @throws {EmbeddedPostgresError} when an existing cluster cannot be reached, or the location file names a cluster that
 *   is missing or belongs to another directory
 */
export async function locateCluster(directory: string, log: Log): Promise<Cluster> {
  const inside = join(directory, 'cluster');
  const recorded = (await readIfExists(join(directory, LOCATION_FILE)))?.trim();
  if (await isComplete(recorded ?? inside)) {
    if (recorded !== undefined) await claimRecorded(directory, recorded);
    return existingCluster(recorded ?? inside);
  }
  if (recorded !== undefined) {
    throw new EmbeddedPostgresError(
      `According to ${LOCATION_FILE}, the data of ${directory} is in ${recorded}, but it is missing there. Restore it, ` +
        `or delete ${directory} to begin with an empty database.`,
    );
  }
  if (!isRoot()) return { dataDirectory: inside, user: undefined, isComplete: false };
  const user = await postgresUser();
  if (await canReach(directory, user)) return { dataDirectory: inside, user, isComplete: false };
  const home = await systemDirectory('clusters', user);
  await stopOrphanedServers(home, log);
  const dataDirectory = await unusedPath(join(home, shortHash(directory)));
  log(`The database server's user cannot enter ${directory}: the data goes to ${dataDirectory}`);
  return { dataDirectory, user, isComplete: false };
}

async function isComplete(dataDirectory: string): Promise<boolean> {
  return (await readIfExists(join(dataDirectory, COMPLETE_MARKER_FILE))) !== undefined;
}

/**
 * Refuses the cluster of another directory that records it too: `directory` is a copy of that directory, and would share
 * its data. If that directory is gone, `directory` was renamed or restored, and the cluster is marked as its own.
 */
async function claimRecorded(directory: string, dataDirectory: string): Promise<void> {
  const mark = join(dataDirectory, COMPLETE_MARKER_FILE);
  const other = (await readIfExists(mark))?.trim() ?? '';
  if (other === directory) return;
  // The new owner of moved data may be unable to enter its former place.
  if ((await isRecordedBy(other, dataDirectory, false)) && !(await isSame(other, directory))) {
    throw new EmbeddedPostgresError(
      `${directory} is a copy of ${other}: its file ${LOCATION_FILE} names the data of that directory, ${dataDirectory}. ` +
        `To use a copy of the data, write its path to that file; to replace ${other}, move it away first.`,
    );
  }
  // In place, so that the file keeps its owner.
  await writeFile(mark, `${directory}\n`);
}

/**
 * Returns true if the location file of `directory` names the data. `directory` comes from a mark, and may be empty.
 * @param ifUnreadable result if this process may not enter `directory`
 */
async function isRecordedBy(
  directory: string,
  dataDirectory: string,
  ifUnreadable: boolean,
): Promise<boolean> {
  if (directory === '') return false;
  const read = readIfExists(join(directory, LOCATION_FILE));
  const location = await read.catch(orIfRefused(null));
  if (location === null) return ifUnreadable;
  return location !== undefined && isSame(location.trim(), dataDirectory);
}

/** Returns a handler that replaces the error of a refused access by `value`. */
const orIfRefused =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (codeOf(error) !== 'EACCES') throw error;
    return value;
  };

/** Returns true if two paths lead to one directory, as with a bind mount. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => ifExists(stat(path)).catch(orIfRefused(undefined))),
  );
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

async function existingCluster(dataDirectory: string): Promise<Cluster> {
  if (!isRoot()) return { dataDirectory, user: undefined, isComplete: true };
  const user = await ownerOf(dataDirectory);
  if (await canReach(dataDirectory, user)) return { dataDirectory, user, isComplete: true };
  throw new EmbeddedPostgresError(
    `The data in ${dataDirectory} belongs to user ${user.uid}, who cannot enter that directory any more. ` +
      `Let the user enter those above it (chmod o+x), move it to where it was, or ${OWN_SERVER}.`,
  );
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Returns `path`, or adds the first number that makes it unused. Data that is already there belongs to a directory that
 * had the same path, and was deleted or renamed. A renamed directory still uses its data.
 */
async function unusedPath(path: string, number = 1): Promise<string> {
  const numbered = number === 1 ? path : `${path}-${number}`;
  const isUsed = (await ifExists(stat(numbered))) !== undefined;
  return isUsed ? unusedPath(path, number + 1) : numbered;
}

/** Writes the location file, if the cluster is not in the engine's directory. */
export async function recordLocation(directory: string, dataDirectory: string): Promise<void> {
  if (dataDirectory.startsWith(join(directory, '/'))) return;
  await writeDurably(join(directory, LOCATION_FILE), `${dataDirectory}\n`);
}

/**
 * Makes room for a new cluster. If an unfinished one already exists at its path, stops its server and renames it. It is
 * not deleted, because it may contain data.
 */
export async function setAsideUnfinished(dataDirectory: string, log: Log): Promise<void> {
  if ((await ifExists(stat(dataDirectory))) === undefined) return;
  await stopServer(dataDirectory);
  const aside = `${dataDirectory}.set-aside-${randomUUID().slice(0, 8)}`;
  await rename(dataDirectory, aside);
  log(`Set ${dataDirectory} aside as ${aside}: it is unfinished`);
}

/**
 * Stops servers that are left over after their engine was killed and its directory deleted or replaced. Such a server
 * does not end by itself, because its data files still exist: they are in the system directory.
 */
async function stopOrphanedServers(home: string, log: Log): Promise<void> {
  for (const name of await readdir(home)) {
    const dataDirectory = join(home, name);
    const directory = (await readIfExists(join(dataDirectory, COMPLETE_MARKER_FILE)))?.trim() ?? '';
    if (directory === '' || (await isRecordedBy(directory, dataDirectory, true))) continue;
    if ((await findServer(dataDirectory)) === undefined) continue;
    log(`Stopping the server in ${dataDirectory}: ${directory} was deleted or replaced`);
    await stopServer(dataDirectory);
  }
}
