/** @own-modules puts another flock into the path of the embedded server's programs */
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readdir, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EmbeddedPostgresError, startEphemeralPostgres } from '../../packages/embedded-postgres';
import { lock } from '../../packages/embedded-postgres/claim';
import { CHILD_ENVIRONMENT } from '../../packages/embedded-postgres/commands';

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

  /** Writes a program that takes the place of flock, and returns its path. */
  async function makeProgram(script: string): Promise<string> {
    const program = join(directory, 'flock');
    await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return program;
  }

  async function lockBy(script: string): Promise<string> {
    return lock(files[0] ?? 0, '-x', await makeProgram(script));
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

    it('keeps a start for tests from removing data that another container may use', async () => {
      // A directory of its own, because starts in other test files remove such data from the usual one.
      const parent = await realpath(directory);
      await chmod(parent, 0o755);
      const usual = tmpdir();
      process.env['TMPDIR'] = parent;
      const left = await mkdtemp(join(parent, 'billing-engine-postgres-999999999-'));
      /** Returns true if a start leaves the data. */
      const isLeft = async (): Promise<boolean> => {
        const server = await startEphemeralPostgres({ log: () => undefined, database: 'engine' });
        await server.stop();
        return (await readdir(parent)).includes(basename(left));
      };
      const path = `${directory}:${CHILD_ENVIRONMENT['PATH']}`;
      const changed = jest.replaceProperty(CHILD_ENVIRONMENT, 'PATH', path);
      try {
        await makeProgram('exit 71');
        await utimes(left, 0, 0);
        expect(await isLeft()).toBe(true);
        changed.restore();
        // Its owner has created it, and not yet locked it.
        await utimes(left, new Date(), new Date());
        expect(await isLeft()).toBe(true);
        await utimes(left, 0, 0);
        expect(await isLeft()).toBe(false);
      } finally {
        process.env['TMPDIR'] = usual;
        changed.restore();
        await rm(left, { recursive: true, force: true });
      }
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
