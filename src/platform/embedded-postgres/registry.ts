import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from './files';
import { identify } from './process-identity';

/*
 * Who uses the server of a directory: one file for each, named `<pid>-<random>` and holding the identity of the process.
 * All of it is read and written under the lock of the directory only.
 */

function usersDirectory(directory: string): string {
  return join(directory, 'users');
}

/** Enters this process once more and returns the name of its entry. */
export async function register(directory: string): Promise<string> {
  const name = `${process.pid}-${randomUUID()}`;
  await mkdir(usersDirectory(directory), { recursive: true });
  const identity = (await identify(process.pid)) ?? '';
  await writeFile(join(usersDirectory(directory), name), identity, { flag: 'wx' });
  return name;
}

export async function unregister(directory: string, name: string): Promise<void> {
  await rm(join(usersDirectory(directory), name), { force: true });
}

/** Whether a live process uses the server. Entries of dead ones are struck off. */
export async function hasUsers(directory: string): Promise<boolean> {
  await mkdir(usersDirectory(directory), { recursive: true });
  let found = false;
  for (const name of await readdir(usersDirectory(directory))) {
    const entered = await readIfThere(join(usersDirectory(directory), name));
    const current = await identify(Number.parseInt(name, 10));
    if (current !== undefined && current === entered) found = true;
    else await unregister(directory, name);
  }
  return found;
}
