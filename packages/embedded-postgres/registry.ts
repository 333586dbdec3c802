import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfExists } from './files';
import { identifyProcess } from './process-identity';

/*
 * Registry of the processes that use the server of a directory. Each process has a file named `<pid>-<random>`, which
 * contains its identity (see `identifyProcess`). Read and written only under the lock of the directory.
 */

export function usersDirectory(directory: string): string {
  return join(directory, 'users');
}

/** Registers this process as a user of the directory's server. Returns the name of the entry. */
export async function register(directory: string): Promise<string> {
  const name = `${process.pid}-${randomUUID()}`;
  await mkdir(usersDirectory(directory), { recursive: true });
  const identity = (await identifyProcess(process.pid)) ?? '';
  await writeFile(join(usersDirectory(directory), name), identity, { flag: 'wx' });
  return name;
}

export async function unregister(directory: string, name: string): Promise<void> {
  await rm(join(usersDirectory(directory), name), { force: true });
}

/** True when a live process uses the server. Deletes the entries of dead processes. */
export async function hasUsers(directory: string): Promise<boolean> {
  await mkdir(usersDirectory(directory), { recursive: true });
  let found = false;
  for (const name of await readdir(usersDirectory(directory))) {
    const entered = await readIfExists(join(usersDirectory(directory), name));
    const current = await identifyProcess(Number.parseInt(name, 10));
    if (current !== undefined && current === entered) found = true;
    else await unregister(directory, name);
  }
  return found;
}
