import { randomUUID } from 'node:crypto';
import { open, readFile, readlink, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The system error code of a failed call, such as `ENOENT`. Not by `instanceof`: Jest has an `Error` of its own. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    return String(error.message);
  }
  return String(error);
}

/** What `read` gives, or undefined when the thing it reads is not there (a process's files in /proc answer ESRCH). */
export async function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ESRCH'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

export function readIfThere(path: string): Promise<string | undefined> {
  return ifThere(readFile(path, 'utf8'));
}

export function readLinkIfThere(path: string): Promise<string | undefined> {
  return ifThere(readlink(path));
}

/** A rename or a new name is only safe from a power failure once its directory is on the disk too. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Writes the whole file or none of it, readable by its owner alone from its first moment on. */
export async function writeDurably(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncDirectory(dirname(path));
}
