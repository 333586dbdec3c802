import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries';
import { COMPLETE, makeWay, recordLocation, type Cluster } from './cluster-location';
import { run } from './commands';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { readIfThere, syncDirectory, writeDurably } from './files';
import type { ServerUser } from './server-user';

export interface NewCluster {
  readonly cluster: Cluster;
  /** the engine's, a real path */
  readonly directory: string;
  readonly binaries: Binaries;
  readonly password: string;
  /** false for one that nobody needs after a power failure */
  readonly isDurable: boolean;
  readonly log: (message: string) => void;
}

/** Read by the engine only; the server knows no more than its SCRAM verifier. */
const PASSWORD_FILE = 'postgres-password';

/**
 * The password of the database user `postgres`, made together with the cluster.
 *
 * @throws {EmbeddedPostgresError} when there is data, but its password is lost
 */
export async function ensurePassword(directory: string, cluster: Cluster): Promise<string> {
  const path = join(directory, PASSWORD_FILE);
  const stored = await readIfThere(path);
  if (stored) {
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
    return stored.trim();
  }
  if (cluster.isComplete) {
    throw new EmbeddedPostgresError(
      `${path} is missing, the password of the data in ${cluster.dataDirectory}. Bring the file back, or ` +
        `delete ${directory} to begin with an empty database.`,
    );
  }
  const password = randomBytes(32).toString('hex');
  await writeDurably(path, password);
  return password;
}

/** @throws {EmbeddedPostgresError} when the cluster was made by another major version than the programs are of */
export async function assertSameVersion(cluster: Cluster, binaries: Binaries): Promise<void> {
  if (!cluster.isComplete) return;
  const version = (await readIfThere(join(cluster.dataDirectory, 'PG_VERSION')))?.trim();
  if (version === undefined || version === String(binaries.majorVersion)) return;
  throw new EmbeddedPostgresError(
    `The data in ${cluster.dataDirectory} is of PostgreSQL ${version}, but version ${binaries.majorVersion} is installed. ` +
      `Go back to version ${version} of the package embedded-postgres (then move the data with pg_dump), or ${OWN_SERVER}.`,
  );
}

/**
 * Makes the cluster beside its place and then renames it, so that what has the name is complete even if we are killed.
 *
 * @throws {EmbeddedPostgresError} when initdb fails
 */
export async function initialiseCluster(task: NewCluster): Promise<void> {
  const { dataDirectory, user } = task.cluster;
  await sweepWorkshops(dataDirectory);
  await makeWay(dataDirectory, task.log);
  task.log(`Making a PostgreSQL ${task.binaries.majorVersion} cluster in ${dataDirectory}`);
  const workshop = await mkdtemp(workshopPrefix(dataDirectory));
  try {
    const draft = join(workshop, 'data');
    await giveTo(user, workshop);
    await initdb(task, draft, join(workshop, 'password'));
    const mark = join(draft, COMPLETE);
    await writeFile(mark, `${task.directory}\n`, { mode: 0o600 });
    await giveTo(user, mark);
    await rename(draft, dataDirectory);
    await syncDirectory(dirname(dataDirectory));
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  await recordLocation(task.directory, dataDirectory);
}

function workshopPrefix(dataDirectory: string): string {
  return `${dataDirectory}.new-`;
}

/** Removes what starts that were killed have left. Their initdb may be at work for another moment, hence the retries. */
async function sweepWorkshops(dataDirectory: string): Promise<void> {
  const prefix = basename(workshopPrefix(dataDirectory));
  for (const name of await readdir(dirname(dataDirectory))) {
    if (!name.startsWith(prefix)) continue;
    await rm(join(dirname(dataDirectory), name), { recursive: true, force: true, maxRetries: 10 });
  }
}

async function giveTo(user: ServerUser | undefined, path: string): Promise<void> {
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

async function initdb(task: NewCluster, draft: string, passwordFile: string): Promise<void> {
  const { binaries, cluster, isDurable, password } = task;
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  await giveTo(cluster.user, passwordFile);
  const made = await run(
    binaries.initdb,
    [
      `--pgdata=${draft}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order, classes and cases of characters on every system: PostgreSQL's own, not those of its C library.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(isDurable ? [] : ['--no-sync']),
    ],
    cluster.user,
  );
  if (made.succeeded) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL could not make a cluster in ${cluster.dataDirectory}: ${made.complaint}. ` +
      `${hintFor(made.systemError)}Mend that, or ${OWN_SERVER}.`,
  );
}

/** The system says "no such file" of a program that is there when its dynamic loader is not. */
function hintFor(systemError: string | undefined): string {
  return systemError === 'ENOENT' ? 'The programs need a system with glibc (not Alpine). ' : '';
}
