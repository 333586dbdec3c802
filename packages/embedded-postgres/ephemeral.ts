import { chmod, lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDirectory, releaseClaim } from './claim';
import { stopServer } from './control';
import { EmbeddedPostgresError, explaining, OWN_SERVER } from './embedded-postgres-error';
import { ifExists, messageOf } from './files';
import { identifyProcess } from './process-identity';
import { canReach, isRoot, postgresUser } from './server-user';
import { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedServer } from './start';
import { startWatchdog } from './watchdog';

export type EphemeralOptions = Pick<EmbeddedOptions, 'log' | 'database'>;

/** Prefix of the name of an ephemeral server's directory. The id of the process that started the server follows. */
const PREFIX = 'billing-engine-postgres-';

/** An older directory without a claim is an orphan, because a live process claims its new directory much sooner. */
const CLAIMED_WITHIN_MS = 60_000;

/** PostgreSQL settings that prefer speed to durability, and allow enough connections for several pools. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '128MB',
};

/**
 * Starts a fast, non-durable server for tests. The server ends with this process, and `stop()` deletes its data. If
 * this process is killed, a watchdog process stops the server. If the watchdog is killed too, the server runs on until
 * the next ephemeral server is started, at least a minute later.
 *
 * @throws {EmbeddedPostgresError} when the server cannot be started
 */
export async function startEphemeralPostgres(options: EphemeralOptions): Promise<EmbeddedServer> {
  const parent = await parentDirectory();
  return explaining(parent, () => startIn(parent, options));
}

async function startIn(parent: string, options: EphemeralOptions): Promise<EmbeddedServer> {
  await removeOrphans(parent, options.log);
  const directory = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  const watchdog = await startWatchdog(directory);
  const remove = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    await watchdog.end();
  };
  try {
    // The server's user must be able to enter the directory. The files in it have restrictive permissions of their own.
    await chmod(directory, 0o711);
    const server = await startEmbeddedPostgres({ ...options, directory, settings: SETTINGS });
    return { ...server, stop: () => server.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns a directory for temporary files. The user that runs the server can enter it. */
async function parentDirectory(): Promise<string> {
  const usual = await realpath(tmpdir());
  if (!isRoot()) return usual;
  const user = await postgresUser();
  for (const candidate of [usual, '/tmp', '/var/tmp']) {
    const isThere = (await ifExists(lstat(candidate)))?.isDirectory() ?? false;
    if (isThere && (await canReach(candidate, user))) return candidate;
  }
  throw new EmbeddedPostgresError(
    `The database server's user can enter neither ${usual} nor /tmp nor /var/tmp. Set TMPDIR to a directory that every ` +
      `user may enter, or ${OWN_SERVER}.`,
  );
}

/** Stops servers that outlived their starting process and its watchdog, and removes the servers' directories. */
async function removeOrphans(parent: string, log: (message: string) => void): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = join(parent, name);
    const owner = Number.parseInt(name.slice(PREFIX.length), 10);
    // The directory is writable by all users, so another user may have created an entry with such a name.
    const found = await ifExists(lstat(directory));
    if (!found?.isDirectory() || found.uid !== process.geteuid?.()) continue;
    if (Date.now() - found.mtimeMs < CLAIMED_WITHIN_MS) continue;
    if ((await identifyProcess(owner)) !== undefined) continue;
    try {
      await ifExists(removeUnlessInUse(directory, log));
    } catch (error) {
      log(`Could not remove ${directory}, left by a process that was killed: ${messageOf(error)}`);
    }
  }
}

/** @throws {EmbeddedPostgresError} while a process of another container uses the directory */
async function removeUnlessInUse(directory: string, log: (message: string) => void): Promise<void> {
  const claim = await claimDirectory(directory, log, 0);
  // Linux without a lock: another container may use the directory.
  if (claim === null && process.platform === 'linux') return;
  try {
    await stopServer(join(directory, 'cluster'));
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  } finally {
    releaseClaim(claim);
  }
}
