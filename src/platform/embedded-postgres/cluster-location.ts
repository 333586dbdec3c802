import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findServer, stopServer } from './control';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { ifThere, readIfThere, writeDurably } from './files';
import { canReach, isRoot, ownerOf, postgresUser, type ServerUser } from './server-user';
import { systemDirectory } from './system-directory';

/** A data directory of PostgreSQL, there or still to be made. */
export interface Cluster {
  readonly dataDirectory: string;
  /** whom it belongs to and the server runs as; undefined when that is us */
  readonly user: ServerUser | undefined;
  readonly isComplete: boolean;
}

type Log = (message: string) => void;

/**
 * A file in a data directory, written when initdb was through with it. It holds the engine's directory. A data directory
 * without it was never used.
 */
export const COMPLETE = 'billing-engine-complete';

/** A file in the engine's directory that says where the data directory is, when that is elsewhere. */
const RECORD = 'postgres-cluster';

/**
 * Where the cluster of the engine's `directory` (a real path) is, or is to be made: inside it if the server's user can
 * enter it, else in the system directory.
 *
 * @throws {EmbeddedPostgresError} when it was somewhere and is not there any more, or cannot be reached
 */
export async function locateCluster(directory: string, log: Log): Promise<Cluster> {
  const inside = join(directory, 'cluster');
  const recorded = (await readIfThere(join(directory, RECORD)))?.trim();
  if (await isComplete(recorded ?? inside)) return existingCluster(recorded ?? inside);
  if (recorded !== undefined) {
    throw new EmbeddedPostgresError(
      `The data of ${directory} is in ${recorded}, says its file ${RECORD}, but it is not. Bring it back, ` +
        `or delete ${directory} to begin with an empty database.`,
    );
  }
  if (!isRoot()) return { dataDirectory: inside, user: undefined, isComplete: false };
  const user = await postgresUser();
  if (await canReach(directory, user)) return { dataDirectory: inside, user, isComplete: false };
  const home = await systemDirectory('clusters', user);
  await stopForsaken(home, log);
  const dataDirectory = join(home, shortHash(directory));
  log(`The database server's user cannot enter ${directory}: the data goes to ${dataDirectory}`);
  return { dataDirectory, user, isComplete: false };
}

async function isComplete(dataDirectory: string): Promise<boolean> {
  return (await readIfThere(join(dataDirectory, COMPLETE))) !== undefined;
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

/** Remembers a cluster that is not in the engine's directory. */
export async function recordLocation(directory: string, dataDirectory: string): Promise<void> {
  if (dataDirectory.startsWith(join(directory, '/'))) return;
  await writeDurably(join(directory, RECORD), `${dataDirectory}\n`);
}

/**
 * Makes way for a new cluster: what is in its place is unfinished, or belonged to a directory of the same name that was
 * deleted. It is kept under another name, for deleting data is for people to do.
 */
export async function makeWay(dataDirectory: string, log: Log): Promise<void> {
  if ((await ifThere(stat(dataDirectory))) === undefined) return;
  await stopServer(dataDirectory);
  const aside = `${dataDirectory}.set-aside-${randomUUID().slice(0, 8)}`;
  await rename(dataDirectory, aside);
  log(
    `Set ${dataDirectory} aside as ${aside}: it is unfinished, or of a directory that was deleted`,
  );
}

/**
 * Stops the servers of directories that were deleted after their engine was killed. A server whose files are gone ends by
 * itself; these have their files in the system directory and would run for good.
 */
async function stopForsaken(home: string, log: Log): Promise<void> {
  for (const name of await readdir(home)) {
    const dataDirectory = join(home, name);
    const directory = await readIfThere(join(dataDirectory, COMPLETE));
    if (directory === undefined || (await ifThere(stat(directory.trim()))) !== undefined) continue;
    if ((await findServer(dataDirectory)) === undefined) continue;
    log(`Stopping the server in ${dataDirectory}: ${directory.trim()} was deleted`);
    await stopServer(dataDirectory);
  }
}
