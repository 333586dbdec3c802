import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Commit of the previous release. Used if the repository has no release tag. Update it at each release. */
const RECORDED = '14a66b1e6440f9c7f45ee074863a89c4f99b5ea5';

/** Source code of the previous release. It runs with the npm packages of the present release. */
export interface PreviousRelease {
  readonly name: string;
  /** Null if the clone does not contain the commit, for example a shallow clone. */
  readonly directory: string | null;
}

/**
 * Checks out the source of the previous release: the newest tag `v…` before this commit, or the recorded commit if
 * there is none.
 */
export function previousRelease(): PreviousRelease {
  const tag = git(['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'])?.trim();
  const name = tag ?? RECORDED;
  const commit = git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])?.trim();
  if (commit === undefined) return { name, directory: null };
  // Below the root, so that Node resolves packages from this repository.
  const directory = join(ROOT, 'dist/previous-release', commit);
  if (!existsSync(directory)) checkOut(commit, directory);
  return { name, directory };
}

function checkOut(commit: string, directory: string): void {
  const incomplete = `${directory}.${process.pid}`;
  mkdirSync(incomplete, { recursive: true });
  const archive = `${incomplete}.tar`;
  execFileSync('git', ['archive', '-o', archive, commit, 'src', 'packages', 'migrations'], {
    cwd: ROOT,
  });
  execFileSync('tar', ['-xf', archive, '-C', incomplete]);
  rmSync(archive);
  renameSync(incomplete, directory);
}

/** Returns what git prints, or undefined if it fails. */
function git(args: readonly string[]): string | undefined {
  const options: ExecFileSyncOptions = { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] };
  try {
    return execFileSync('git', args, { ...options, encoding: 'utf8' });
  } catch {
    return undefined;
  }
}
