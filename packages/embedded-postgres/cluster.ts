import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Binaries } from './binaries';
import {
  COMPLETE_MARKER_FILE,
  setAsideUnfinished,
  recordLocation,
  type Cluster,
} from './cluster-location';
import { run } from './commands';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { readIfExists, syncDirectory, writeDurably } from './files';
import type { ServerUser } from './server-user';

export interface NewCluster {
  readonly cluster: Cluster;
  /** The engine's directory, as a path without symbolic links. The cluster can be elsewhere. */
  readonly directory: string;
  readonly binaries: Binaries;
  readonly password: string;
  /** False when the data need not survive a power failure. */
  readonly isDurable: boolean;
  readonly log: (message: string) => void;
}

/** File with the password of the database user, which the server stores only as a SCRAM verifier. */
const PASSWORD_FILE = 'postgres-password';

/**
 * Returns the password of the database user `postgres`. Creates the password if the cluster is new.
 *
 * @throws {EmbeddedPostgresError} when data exists but its password is lost
 */
export async function ensurePassword(directory: string, cluster: Cluster): Promise<string> {
  const path = join(directory, PASSWORD_FILE);
  const stored = await readIfExists(path);
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

/** @throws {EmbeddedPostgresError} when the cluster has another major version than the programs */
export async function assertSameVersion(cluster: Cluster, binaries: Binaries): Promise<void> {
  if (!cluster.isComplete) return;
  const version = (await readIfExists(join(cluster.dataDirectory, 'PG_VERSION')))?.trim();
  if (version === undefined || version === String(binaries.majorVersion)) return;
  throw new EmbeddedPostgresError(
    `The data in ${cluster.dataDirectory} is of PostgreSQL ${version}, but version ${binaries.majorVersion} is installed. ` +
      `Go back to version ${version} of the package embedded-postgres (then move the data with pg_dump), or ${OWN_SERVER}.`,
  );
}

/**
 * Creates the cluster in a temporary directory, and moves it to its final path when it is complete. If this process is
 * killed meanwhile, there is no incomplete cluster at that path.
 *
 * @throws {EmbeddedPostgresError} when initdb fails
 */
export async function initialiseCluster(task: NewCluster): Promise<void> {
  const { dataDirectory, user } = task.cluster;
  await removeStagingDirectories(dataDirectory);
  await setAsideUnfinished(dataDirectory, task.log);
  task.log(`Making a PostgreSQL ${task.binaries.majorVersion} cluster in ${dataDirectory}`);
  const staging = await mkdtemp(stagingPrefix(dataDirectory));
  try {
    const draft = join(staging, 'data');
    await changeOwner(user, staging);
    await initdb(task, draft, join(staging, 'password'));
    const mark = join(draft, COMPLETE_MARKER_FILE);
    await writeFile(mark, `${task.directory}\n`, { mode: 0o600 });
    await changeOwner(user, mark);
    await rename(draft, dataDirectory);
    await syncDirectory(dirname(dataDirectory));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  await recordLocation(task.directory, dataDirectory);
}

function stagingPrefix(dataDirectory: string): string {
  return `${dataDirectory}.new-`;
}

/** Removes the temporary directories of killed starts. Retries, because one of their initdb processes may still run. */
async function removeStagingDirectories(dataDirectory: string): Promise<void> {
  const prefix = basename(stagingPrefix(dataDirectory));
  for (const name of await readdir(dirname(dataDirectory))) {
    if (!name.startsWith(prefix)) continue;
    await rm(join(dirname(dataDirectory), name), { recursive: true, force: true, maxRetries: 10 });
  }
}

async function changeOwner(user: ServerUser | undefined, path: string): Promise<void> {
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

async function initdb(task: NewCluster, draft: string, passwordFile: string): Promise<void> {
  const { binaries, cluster, isDurable, password } = task;
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  await changeOwner(cluster.user, passwordFile);
  const made = await run(
    binaries.initdb,
    [
      `--pgdata=${draft}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // PostgreSQL's own sort order and case mapping, not those of the C library, so that they are the same on every
      // system.
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
      `${hintFor(made.systemError)}Fix that, or ${OWN_SERVER}.`,
  );
}

/** Returns a hint for ENOENT, otherwise ''. ENOENT can also mean that the dynamic loader of a program is missing. */
function hintFor(systemError: string | undefined): string {
  return systemError === 'ENOENT' ? 'The programs need a system with glibc (not Alpine). ' : '';
}
