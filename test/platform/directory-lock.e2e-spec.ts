import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError } from '../../packages/embedded-postgres';
import { lock } from '../../packages/embedded-postgres/claim';

describe('the lock of a data directory', () => {
  let directory: string;
  let files: number[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'directory-lock-'));
    files = [0, 1].map(() => openSync(join(directory, 'users.lock'), 'a+'));
  });

  afterEach(async () => {
    files.forEach(closeSync);
    await rm(directory, { recursive: true });
  });

  /** Runs the script in place of flock. */
  async function lockBy(script: string): Promise<string> {
    const program = join(directory, 'flock');
    await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return lock(files[0] ?? 0, '-x', program);
  }

  // macOS has no program flock.
  if (process.platform === 'linux') {
    it('is held by one file alone, or shared', () => {
      const [one = 0, other = 0] = files;
      expect(lock(one, '-x')).toBe('locked');
      expect(lock(other, '-s')).toBe('held');
      expect(lock(one, '-s')).toBe('locked');
      expect(lock(other, '-s')).toBe('locked');
      expect(lock(other, '-x')).toBe('held');
    });
  }

  it.each([
    ['held', 'exit 1'],
    ['unavailable', 'echo "flock: 3: No locks available" >&2; exit 1'],
    ['unavailable', 'exit 71'],
  ])('is %s if the program does: %s', async (result, script) => {
    expect(await lockBy(script)).toBe(result);
  });

  it('is unavailable without the program', () => {
    expect(lock(files[0] ?? 0, '-x', join(directory, 'none'))).toBe('unavailable');
  });

  it('refuses the directory if the program was killed, instead of going on without a lock', async () => {
    await expect(lockBy('kill -KILL $$')).rejects.toThrow(EmbeddedPostgresError);
  });
});
