import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError, type EncryptionKey, parseEncryptionKeys } from '../config';

/** Name of the file. Its content has the form of `ENCRYPTION_KEYS`, so that it can be copied into that setting. */
const FILE_NAME = 'encryption-key';

export interface KeyFile {
  readonly path: string;
  readonly keys: readonly EncryptionKey[];
  readonly isNew: boolean;
}

/**
 * Returns the encryption key in the data directory, and creates the key if there is none. All processes that use the
 * directory get the same key, even when they start at the same time.
 * @param allowNew called with the path before a key is created; throws if no key may be created
 * @throws {ConfigurationError} when the key cannot be read, or cannot be created
 */
export async function keyFileIn(
  directory: string,
  allowNew: (path: string) => Promise<void> = () => Promise.resolve(),
): Promise<KeyFile> {
  const path = join(directory, FILE_NAME);
  try {
    const known = await readKeys(path);
    if (known !== null) return { path, keys: known, isNew: false };
  } catch (error) {
    throw explained(error, directory);
  }
  await allowNew(path);
  try {
    const isNew = await make(directory, path);
    return { path, keys: (await readKeys(path)) ?? [], isNew };
  } catch (error) {
    throw explained(error, directory);
  }
}

function explained(error: unknown, directory: string): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  return new ConfigurationError(
    `DATA_DIR is ${JSON.stringify(directory)}, where an encryption key can neither be read nor kept ` +
      `(${codeOf(error) ?? String(error)}). Let the service write there, or set ENCRYPTION_KEYS.`,
  );
}

async function readKeys(path: string): Promise<readonly EncryptionKey[] | null> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  const keys = parseEncryptionKeys(content.trim());
  if (keys !== undefined) return keys;
  throw new ConfigurationError(
    `The file ${path} does not hold an encryption key. Restore its former content, because the stored secrets cannot be ` +
      'decrypted without it, or set ENCRYPTION_KEYS.',
  );
}

/** Creates the file atomically, readable by its owner only. Returns false if another process created it first. */
async function make(directory: string, path: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await writeNew(draft, `${newKey()}\n`);
  try {
    // Unlike a rename, a link never replaces an existing file.
    await link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    await unlink(draft);
    await syncDirectory(directory);
  }
}

/** Returns a new key. Its id is random, so that keys created in different places have different ids. */
function newKey(): string {
  return `${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
}

async function writeNew(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes a directory to disk. The name of a new file survives a power failure only after that. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
