import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { messageOf } from './files';
import { canReach, type ServerUser } from './server-user';

/**
 * Directory for the server's files, used if root starts the engine in a directory that other users cannot enter, for
 * example below /root. It belongs to root, so that other users can read the programs in it, but not replace them.
 */
const SYSTEM_DIRECTORY = '/var/lib/billing-engine';

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Returns a directory below the system directory that `user` can enter. Creates it if it does not exist.
 *
 * @throws {EmbeddedPostgresError} when it cannot be created, or is not safe to use
 */
export async function systemDirectory(name: string, user: ServerUser): Promise<string> {
  const path = join(SYSTEM_DIRECTORY, name);
  try {
    await makeForRoot(SYSTEM_DIRECTORY);
    await makeForRoot(path);
  } catch (error) {
    throw unusable(messageOf(error));
  }
  if (!(await canReach(path, user))) throw unusable(`${path} cannot be entered either`);
  return path;
}

async function makeForRoot(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true });
  // Sets the mode explicitly, because `mkdir` applies the umask.
  if (made !== undefined) await chmod(path, 0o755);
  const { uid, mode } = await stat(path);
  if (uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new Error(`${path} is there, but users other than root may change it`);
  }
}

function unusable(reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'PostgreSQL cannot run as root, its own user cannot enter the directory of this service, and ' +
      `${SYSTEM_DIRECTORY} cannot be used instead: ${reason}. Start from a directory that every ` +
      `user may enter (chmod o+x on those above it), start as an ordinary user, or ${OWN_SERVER}.`,
  );
}
