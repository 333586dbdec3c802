import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError, type EncryptionKey, parseEncryptionKeys } from '../config';

/** Its content has the form of `ENCRYPTION_KEYS`, so that it can be moved there as it is. */
const FILE_NAME = 'encryption-key';

export interface KeyFile {
  readonly path: string;
  readonly keys: readonly EncryptionKey[];
  /** Whether this start made it. */
  readonly isNew: boolean;
}

/**
 * The key kept in the data directory, made when there is none: one key for all processes that start on the directory,
 * also when they start at once.
 *
 * @throws {ConfigurationError} when it can neither be read nor made
 */
export async function keyFileIn(directory: string): Promise<KeyFile> {
  const path = join(directory, FILE_NAME);
  try {
    const known = await readKeys(path);
    if (known !== null) return { path, keys: known, isNew: false };
    const isNew = await make(directory, path);
    return { path, keys: (await readKeys(path)) ?? [], isNew };
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(
      `DATA_DIR is ${JSON.stringify(directory)}, where an encryption key can neither be read nor kept ` +
        `(${codeOf(error) ?? String(error)}). Let the service write there, or set ENCRYPTION_KEYS.`,
    );
  }
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
    `The file ${path} does not hold an encryption key. Bring back what it held, for the stored secrets open with nothing ` +
      'else, or set ENCRYPTION_KEYS.',
  );
}

/** Makes the whole file or none of it, readable by its owner alone. False when another start was faster. */
async function make(directory: string, path: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await writeNew(draft, `${newKey()}\n`);
  try {
    // Unlike a rename, a link never takes the place of a file that is there.
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

/** The id is random, so that a key made elsewhere is told from this one by name. */
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

/** A new name is only safe from a power failure once its directory is on the disk too. */
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
