/**
 * Compiles the service to dist/, and builds the console of studio/ to dist/studio. Skips a build if its sources have
 * not changed since the last one, so that `npm start` can always run this first. `--force` builds both from scratch.
 * Fails if one of the builds fails.
 *
 * Imports no package. If nothing has changed, reads only the stamps of the last builds, and the sizes and times of the
 * sources.
 */
import { spawn } from 'node:child_process';
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

// `import.meta.dirname` exists since Node 20.11; src/supported-node.ts checks the exact version.
if (import.meta.dirname === undefined) {
  console.error(
    `This is Node ${process.versions.node}, but the billing engine needs Node 20.19 or newer.`,
  );
  process.exit(1);
}

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const lockFile = join(dist, '.build-lock');
const isForced = process.argv.includes('--force');

const MAX_WAIT_FOR_OTHER_BUILD_MS = 300_000;

/** Returns the source files at the top level and in folders, as paths relative to the root. */
function filesOf(isTopLevel, folders, isSource) {
  const inFolder = (folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true })
          .filter(isSource)
          .map((name) => join(folder, name))
      : [];
  return [...readdirSync(root).filter(isTopLevel), ...folders.flatMap(inFolder)].sort();
}

/**
 * @typedef {object} Target
 * @property {() => string[]} sources sorted paths, relative to the root, of the files that decide what the build
 * contains
 * @property {string} stampFile
 * @property {string} sourceFolder missing in an installation that contains a finished build instead of the sources
 * @property {string} entry a file that every build contains
 * @property {string} tool script that builds
 * @property {string[]} toolArguments
 * @property {string} withoutTool message if the tool is not installed
 * @property {boolean} isOptional true if the service starts without this build
 * @property {() => void} clear deletes the last build
 */

/** @type {Target} */
const service = {
  sources: () =>
    filesOf(
      (name) => /^(tsconfig.*\.json|ormconfig\.ts|package(-lock)?\.json)$/.test(name),
      ['src', 'packages', 'migrations'],
      (name) => /\.(ts|json)$/.test(name) && !name.endsWith('.spec.ts'),
    ),
  stampFile: join(dist, '.build-stamp'),
  sourceFolder: join(root, 'src'),
  entry: join(dist, 'src', 'main.js'),
  tool: join(root, 'node_modules', 'typescript-7', 'bin', 'tsc'),
  toolArguments: ['-p', 'tsconfig.build.json'],
  withoutTool: 'TypeScript is not installed',
  isOptional: false,
  // Also deletes the compiler's record of its last run, so that the next run compiles everything.
  clear: () => {
    for (const name of readdirSync(dist)) {
      const path = join(dist, name);
      if (path !== lockFile && path !== studioDist) rmSync(path, { recursive: true, force: true });
    }
  },
};

const studioDist = join(dist, 'studio');

/** @type {Target} */
const studio = {
  sources: () =>
    filesOf(
      (name) => name === 'package-lock.json',
      ['studio'],
      (name) =>
        /\.(tsx?|css|html|svg|json|js)$/.test(name) && !/^(generated|node_modules)\b/.test(name),
    ),
  stampFile: join(studioDist, '.build-stamp'),
  sourceFolder: join(root, 'studio'),
  entry: join(studioDist, 'index.html'),
  tool: join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
  toolArguments: ['build', 'studio', '--logLevel', 'warn'],
  withoutTool: 'Vite is not installed',
  isOptional: true,
  // Vite empties its folder itself.
  clear: () => undefined,
};

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

function readStamp({ stampFile }) {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return {};
  }
}

function isFresh(target, paths) {
  const stamp = readStamp(target);
  if (stamp.stats === statsOf(paths)) return true;
  if (stamp.content !== contentOf(paths)) return false;
  // The files were copied, or changed and changed back. The build is used even if dist/ is not writable.
  try {
    writeStamp(target, { ...stamp, stats: statsOf(paths) });
  } catch {
    /* the next run compares the content again */
  }
  return true;
}

function writeStamp({ stampFile }, stamp) {
  writeFileSync(stampFile, JSON.stringify(stamp));
}

/** Locks dist/. When two services start at once, the second waits for the build of the first, and then skips its own. */
async function lock() {
  mkdirSync(dist, { recursive: true });
  const deadline = performance.now() + MAX_WAIT_FOR_OTHER_BUILD_MS;
  while (!tryLock()) {
    if (performance.now() > deadline) {
      throw new Error(`Another build does not end. If none is at work, delete ${lockFile}.`);
    }
    await pause(50);
  }
}

/** Creates a symbolic link whose target is the process id. Unlike a new file, a link is never empty. */
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
    // The builder was killed. (ENOENT: it has finished; EPERM: it is running as another user.)
    if (error.code === 'ESRCH') rmSync(lockFile, { force: true });
  }
  return false;
}

/** Runs the tool of a target and returns its exit code. Skips the tool and returns 0 if no source has changed. */
async function build(target) {
  const paths = target.sources();
  if (!isForced && isFresh(target, paths)) return 0;
  const stamp = { files: digest(paths), stats: statsOf(paths), content: contentOf(paths) };
  // Deletes the output of sources that were deleted.
  if (isForced || readStamp(target).files !== stamp.files) target.clear();
  // A failed build also changes dist/. Without a stamp, the next run builds again.
  rmSync(target.stampFile, { force: true });
  const status = await new Promise((resolve) => {
    const child = spawn(process.execPath, [target.tool, ...target.toolArguments], {
      cwd: root,
      // Without this, Vite builds React for development if NODE_ENV says so, as in tests.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: 'inherit',
    });
    child.on('close', resolve);
  });
  if (status === 0) writeStamp(target, stamp);
  return status ?? 1;
}

function needsBuild(target) {
  // If dist/ was built elsewhere, its sources may be missing here.
  if (!existsSync(target.sourceFolder)) return !target.isOptional && !existsSync(target.entry);
  return isForced || !isFresh(target, target.sources());
}

/** Returns true if the tool is installed. Otherwise prints what that means for the start. */
function canBuild({ tool, entry, withoutTool, isOptional }) {
  if (existsSync(tool)) return true;
  if (existsSync(entry)) {
    console.error(`${withoutTool}, so dist/ is used as it was built before.`);
  } else if (isOptional) {
    console.error(`${withoutTool}, so there is no console at /studio: run \`npm ci\`.`);
  } else {
    console.error(`The service has to be built, but ${withoutTool}: run \`npm ci\`.`);
    process.exitCode = 1;
  }
  return false;
}

const wanted = [service, studio].filter(needsBuild).filter(canBuild);
if (wanted.length > 0) {
  await lock();
  try {
    console.log('Building…');
    const statuses = await Promise.all(wanted.map(build));
    process.exitCode = statuses.find((status) => status !== 0) ?? process.exitCode;
  } finally {
    rmSync(lockFile, { force: true });
  }
}
