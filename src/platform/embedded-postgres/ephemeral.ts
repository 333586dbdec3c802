import { chmod, lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopServer } from './control';
import { EmbeddedPostgresError, explaining, OWN_SERVER } from './embedded-postgres-error';
import { ifThere, messageOf } from './files';
import { identify } from './process-identity';
import { canReach, isRoot, postgresUser } from './server-user';
import { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedServer } from './start';
import { startWatchdog } from './watchdog';

export type EphemeralOptions = Pick<EmbeddedOptions, 'log' | 'database'>;

/** Then the number of the owning process, so that a directory tells its owner from its first moment on. */
const PREFIX = 'billing-engine-postgres-';

/** Speed for safety: nothing of it has to survive. Enough connections for several pools at once. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '128MB',
};

/**
 * Starts a server that lasts no longer than this process, for tests: fast, not safe, its data gone with `stop()`. When the
 * process is killed instead, a watchdog stops the server; should that be killed too, the next ephemeral start does it.
 *
 * @throws {EmbeddedPostgresError} when the server cannot be started
 */
export async function startEphemeralPostgres(options: EphemeralOptions): Promise<EmbeddedServer> {
  const parent = await parentDirectory();
  return explaining(parent, () => startIn(parent, options));
}

async function startIn(parent: string, options: EphemeralOptions): Promise<EmbeddedServer> {
  await sweep(parent, options.log);
  const directory = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  const watchdog = await startWatchdog(directory);
  const remove = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    await watchdog.end();
  };
  try {
    // The server's user, too, has to get to the cluster in it; what else is in it has permissions of its own.
    await chmod(directory, 0o711);
    const server = await startEmbeddedPostgres({ ...options, directory, settings: SETTINGS });
    return { ...server, stop: () => server.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Where temporary files go, if the server's user can enter it. */
async function parentDirectory(): Promise<string> {
  const usual = await realpath(tmpdir());
  if (!isRoot()) return usual;
  const user = await postgresUser();
  for (const candidate of [usual, '/tmp', '/var/tmp']) {
    const isThere = (await ifThere(lstat(candidate)))?.isDirectory() ?? false;
    if (isThere && (await canReach(candidate, user))) return candidate;
  }
  throw new EmbeddedPostgresError(
    `The database server's user can enter neither ${usual} nor /tmp nor /var/tmp. Set TMPDIR to a directory that every ` +
      `user may enter, or ${OWN_SERVER}.`,
  );
}

/** Stops and removes what is left of owners that were killed together with their watchdogs. */
async function sweep(parent: string, log: (message: string) => void): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = join(parent, name);
    const owner = Number.parseInt(name.slice(PREFIX.length), 10);
    // In a directory open to all, somebody else may have made one with such a name.
    const found = await ifThere(lstat(directory));
    if (!found?.isDirectory() || found.uid !== process.geteuid?.()) continue;
    if ((await identify(owner)) !== undefined) continue;
    try {
      await stopServer(join(directory, 'cluster'));
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    } catch (error) {
      log(`Could not remove ${directory}, left by a process that was killed: ${messageOf(error)}`);
    }
  }
}
