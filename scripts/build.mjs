/**
 * Compiles the service to dist/, when anything that goes into it has changed since the last build, so that `npm start` can
 * always begin with this. `--force` builds from nothing in any case. Ends with the exit code of the compiler.
 *
 * Needs no dependency, and reads no file but the stamp of the last build when nothing has changed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// Node 20.11 brought it; src/supported-node.ts looks at the rest.
if (import.meta.dirname === undefined) {
  console.error(
    `This is Node ${process.versions.node}, but the billing engine needs Node 20.19 or newer.`,
  );
  process.exit(1);
}

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stampFile = join(dist, '.build-stamp');
const lockFile = join(dist, '.build-lock');
const entry = join(dist, 'src', 'main.js');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

const LONGEST_BUILD_MS = 300_000;

/** Paths, relative to the root and sorted, of all that has a say in what dist/ holds. */
function sources() {
  const isTopLevel = (name) =>
    /^(tsconfig.*\.json|ormconfig\.ts|package(-lock)?\.json)$/.test(name);
  const isCompiled = (name) => /\.(ts|json)$/.test(name) && !name.endsWith('.spec.ts');
  const inFolder = (folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true })
          .filter(isCompiled)
          .map((name) => join(folder, name))
      : [];
  return [
    ...readdirSync(root).filter(isTopLevel),
    ...inFolder('src'),
    ...inFolder('packages'),
    ...inFolder('migrations'),
  ].sort();
}

function digest(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

function statsOf(paths) {
  return digest(
    paths.map((path) => {
      const { mtimeMs, size } = statSync(join(root, path));
      return `${path} ${mtimeMs} ${size}`;
    }),
  );
}

function contentOf(paths) {
  return digest(paths.flatMap((path) => [path, readFileSync(join(root, path))]));
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return {};
  }
}

function isFresh(paths) {
  const stamp = readStamp();
  if (stamp.stats === statsOf(paths)) return true;
  if (stamp.content !== contentOf(paths)) return false;
  // Copied, or changed and changed back. A dist/ that is not ours to write is as good.
  try {
    writeStamp({ ...stamp, stats: statsOf(paths) });
  } catch {
    /* the next run compares the content again */
  }
  return true;
}

function writeStamp(stamp) {
  writeFileSync(stampFile, JSON.stringify(stamp));
}

/** Two services that are started at once build one after the other, and the second finds everything fresh. */
async function lock() {
  mkdirSync(dist, { recursive: true });
  const deadline = performance.now() + LONGEST_BUILD_MS;
  while (!tryLock()) {
    if (performance.now() > deadline) {
      throw new Error(`Another build does not end. If none is at work, delete ${lockFile}.`);
    }
    await pause(50);
  }
}

/** A link with the process number as its target: made together with its content, unlike a file. */
function tryLock() {
  try {
    symlinkSync(String(process.pid), lockFile);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    process.kill(Number(readlinkSync(lockFile)), 0);
  } catch (error) {
    // The builder was killed. (ENOENT: it has finished; EPERM: it is at work for another user.)
    if (error.code === 'ESRCH') rmSync(lockFile, { force: true });
  }
  return false;
}

/** Also the compiler's record of its last run, so that the next one compiles everything. */
function clearDist() {
  for (const name of readdirSync(dist)) {
    if (join(dist, name) !== lockFile) rmSync(join(dist, name), { recursive: true, force: true });
  }
}

function build() {
  const paths = sources();
  const isForced = process.argv.includes('--force');
  if (!isForced && isFresh(paths)) return 0;
  console.log('Building…');
  const stamp = { files: digest(paths), stats: statsOf(paths), content: contentOf(paths) };
  // What was compiled from a file that is gone must go too.
  if (isForced || readStamp().files !== stamp.files) clearDist();
  // A failed build has changed dist/ as well: until the next one succeeds, nothing vouches for it.
  rmSync(stampFile, { force: true });
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status === 0) writeStamp(stamp);
  return status ?? 1;
}

function needsBuild() {
  if (process.argv.includes('--force')) return true;
  // Where dist/ was built elsewhere, its sources need not be here.
  return existsSync(join(root, 'src')) ? !isFresh(sources()) : !existsSync(entry);
}

if (needsBuild()) {
  if (existsSync(compiler)) await buildAlone();
  else if (existsSync(entry)) {
    console.error('TypeScript is not installed, so dist/ is started as it was built before.');
  } else {
    console.error('The service has to be built, but TypeScript is not installed: run `npm ci`.');
    process.exitCode = 1;
  }
}

async function buildAlone() {
  await lock();
  try {
    process.exitCode = build();
  } finally {
    rmSync(lockFile, { force: true });
  }
}
