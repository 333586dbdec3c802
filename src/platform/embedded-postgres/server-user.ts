import { constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { run, type Account } from './commands';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { poll } from './poll';

/** Whom the server runs as. PostgreSQL refuses to run as root, for a hole in it would then be a hole in the machine. */
export type ServerUser = Account;

const SERVER_USER_NAME = 'postgres';

/** Two services that start at once may both make the user; the loser finds it made, or the user database locked. */
const MAKE_USER_TIMEOUT_MS = 5_000;

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * The user `postgres`, made when there is none. Only for root.
 *
 * @throws {EmbeddedPostgresError} when it can neither be found nor made
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

/** Whom existing data belongs to: the server has to run as its owner. */
export async function ownerOf(dataDirectory: string): Promise<ServerUser> {
  const { uid, gid } = await stat(dataDirectory);
  return uid === 0 ? postgresUser() : { uid, gid };
}

async function findUser(name: string): Promise<ServerUser | undefined> {
  const [user, group] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  if (!user.succeeded || !group.succeeded) return undefined;
  return { uid: Number(user.output), gid: Number(group.output) };
}

/** Returns what the system said against it, if anything. */
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
 * Whether the user may enter `path`, a real path, when it is a directory, or read it when it is a file. By the permission
 * bits of it and of every directory above it; the user has no groups but its own when the server runs.
 */
export async function canReach(path: string, user: ServerUser): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  const isDirectory = (mode & constants.S_IFMT) === constants.S_IFDIR;
  const asOther = isDirectory ? 0o001 : 0o004;
  const needed = uid === user.uid ? asOther << 6 : gid === user.gid ? asOther << 3 : asOther;
  if ((mode & needed) === 0) return false;
  return path === dirname(path) || canReach(dirname(path), user);
}
