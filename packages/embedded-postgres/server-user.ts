import { constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { run, type Account } from './commands';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { poll } from './poll';

/** User that runs the server; never root, because PostgreSQL refuses to run as root. */
export type ServerUser = Account;

const SERVER_USER_NAME = 'postgres';

/** Time limit to find or create the user. If two services create it at once, one fails, and then finds the user. */
const MAKE_USER_TIMEOUT_MS = 5_000;

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * Returns the user `postgres`, creating it if it does not exist. For root only.
 *
 * @throws {EmbeddedPostgresError} when the user can neither be found nor created
 */
export async function postgresUser(): Promise<ServerUser> {
  let complaint = '';
  const user = await poll(MAKE_USER_TIMEOUT_MS, async () => {
    const existing = await findUser(SERVER_USER_NAME);
    if (existing !== undefined) return existing;
    complaint = await makeUser(SERVER_USER_NAME);
    return findUser(SERVER_USER_NAME);
  });
  if (user !== undefined) return user;
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot run as root, and a user for it could not be made: ${complaint}. ` +
      `Add a system user named ${SERVER_USER_NAME}, start as an ordinary user, or ${OWN_SERVER}.`,
  );
}

/** Returns the owner of existing data, who must run its server; the user `postgres` if the owner is root. */
export async function ownerOf(dataDirectory: string): Promise<ServerUser> {
  const { uid, gid } = await stat(dataDirectory);
  return uid === 0 ? postgresUser() : { uid, gid };
}

async function findUser(name: string): Promise<ServerUser | undefined> {
  const [user, group] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  if (!user.succeeded || !group.succeeded) return undefined;
  return { uid: Number(user.output), gid: Number(group.output) };
}

/** Creates the user. Returns the error output of the commands, or an empty text. */
async function makeUser(name: string): Promise<string> {
  const group = await run('groupadd', ['--system', name]);
  const made = await run('useradd', [
    '--system',
    ...['--gid', name],
    '--no-create-home',
    ...['--home-dir', '/nonexistent'],
    ...['--shell', '/usr/sbin/nologin'],
    name,
  ]);
  return [group.complaint, made.complaint].filter(Boolean).join('; ');
}

/**
 * True when the user may read the file at `path`, or may enter it if it is a directory. Checks the permissions of
 * `path`, which is a real path, and of all directories above it. Ignores supplementary groups, because the server runs
 * without them.
 */
export async function canReach(path: string, user: ServerUser): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  const isDirectory = (mode & constants.S_IFMT) === constants.S_IFDIR;
  const asOther = isDirectory ? 0o001 : 0o004;
  const needed = uid === user.uid ? asOther << 6 : gid === user.gid ? asOther << 3 : asOther;
  if ((mode & needed) === 0) return false;
  return path === dirname(path) || canReach(dirname(path), user);
}
