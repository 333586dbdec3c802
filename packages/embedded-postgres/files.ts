import { randomUUID } from 'node:crypto';
import { open, readFile, readlink, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns a system error code, such as `ENOENT`. Avoids `instanceof Error`, because Jest has its own `Error`. */
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

/** Returns the result of `read`; undefined if the file is missing, or belongs to an ended process in /proc (ESRCH). */
export async function ifExists<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ESRCH'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

export function readIfExists(path: string): Promise<string | undefined> {
  return ifExists(readFile(path, 'utf8'));
}

export function readLinkIfExists(path: string): Promise<string | undefined> {
  return ifExists(readlink(path));
}

/** Flushes a directory to disk. A new or renamed file in it survives a power failure only after that. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Writes a file atomically and flushes it to disk. Only its owner can read it. */
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
