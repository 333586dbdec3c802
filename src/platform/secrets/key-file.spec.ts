import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyFileIn } from './key-file';

describe('the key in the data directory', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'key-file-'));
  });

  afterEach(() => rm(home, { recursive: true }));

  it('is made once, in a directory and a file that only the owner reads', async () => {
    const directory = join(home, 'a', 'data');
    const made = await keyFileIn(directory);
    expect(made).toMatchObject({ path: join(directory, 'encryption-key'), isNew: true });
    expect(made.keys).toHaveLength(1);
    expect((await stat(made.path)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(await readdir(directory)).toEqual(['encryption-key']);

    const found = await keyFileIn(directory);
    expect(found.isNew).toBe(false);
    expect(found.keys[0]?.secret.export()).toEqual(made.keys[0]?.secret.export());
  });

  it('is the same for processes that start at once', async () => {
    const files = await Promise.all(Array.from({ length: 16 }, () => keyFileIn(home)));
    expect(files.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(files.map(({ keys }) => keys[0]?.id)).size).toBe(1);
    expect(await readdir(home)).toEqual(['encryption-key']);
  });

  it('can be moved to ENCRYPTION_KEYS as it stands', async () => {
    const { path } = await keyFileIn(home);
    expect(await readFile(path, 'utf8')).toMatch(/^[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/);
  });

  it('does not overwrite a file with other content', async () => {
    const path = join(home, 'encryption-key');
    await writeFile(path, 'damaged');
    await expect(keyFileIn(home)).rejects.toThrow(`The file ${path} does not hold`);
    expect(await readFile(path, 'utf8')).toBe('damaged');
  });

  it('says what to do when it cannot be stored', async () => {
    const file = join(home, 'file');
    await writeFile(file, '');
    await chmod(file, 0o400);
    await expect(keyFileIn(join(file, 'data'))).rejects.toThrow(
      /^DATA_DIR is .+ \(ENOTDIR\)\. Let the service write there, or set ENCRYPTION_KEYS\.$/,
    );
  });
});
