import files, { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArchiveDirectory } from './archive-directory';

const MONTH = new Date('2026-02-01T00:00:00Z');
const UNPRIVILEGED = 65_534;
/** Files can be created, but the directory cannot be opened for reading, and so not be synced. */
const NOT_READABLE = 0o333;

describe('a directory for archived events', () => {
  let path: string;
  let folder: string;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    folder = join(path, '2026-02');
    await mkdir(folder);
  });

  afterEach(() => rm(path, { recursive: true }));

  const write = () => new ArchiveDirectory(path).write(MONTH, 1, ['{}']);
  const requireWritable = () => new ArchiveDirectory(path).requireWritable(MONTH);

  it('is writable if a file can be written, and keeps no test file', async () => {
    await requireWritable();
    expect(await readdir(folder)).toEqual([]);
    await write();
    expect(await readdir(folder)).toHaveLength(2);
  });

  it('is not writable if files cannot be renamed', async () => {
    const error = new Error('ENOSYS: function not implemented, rename');
    const rename = jest.spyOn(files, 'rename').mockRejectedValue(error);
    try {
      await expect(write()).rejects.toBe(error);
      await expect(requireWritable()).rejects.toBe(error);
    } finally {
      rename.mockRestore();
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(['the directory', 'the folder of the month'])(
    'is not writable if %s cannot be synced',
    async (name) => {
      const unreadable = name === 'the directory' ? path : folder;
      await chmod(unreadable, NOT_READABLE);
      await withoutPrivileges(async () => {
        await expect(requireWritable()).rejects.toThrow('EACCES: permission denied, open');
        await expect(write()).rejects.toThrow('EACCES: permission denied, open');
      });
      await chmod(unreadable, 0o700);
      expect((await readdir(folder)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
    },
  );

  /** Runs as a user for whom permissions count: they do not for root. */
  async function withoutPrivileges(run: () => Promise<void>): Promise<void> {
    if (process.geteuid?.() !== 0) return run();
    for (const owned of [path, folder]) await chown(owned, UNPRIVILEGED, UNPRIVILEGED);
    process.seteuid?.(UNPRIVILEGED);
    try {
      await run();
    } finally {
      process.seteuid?.(0);
    }
  }
});
