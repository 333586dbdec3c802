import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareBinaries, type Binaries } from './binaries';
import { claimDirectory, releaseClaim, type Claim } from './claim';
import { assertSameVersion, ensurePassword, initialiseCluster } from './cluster';
import { locateCluster, type Cluster } from './cluster-location';
import { askDataDirectory, connectionString, ensureDatabase } from './connection';
import { findServer, launchServer, send, stopServer, type LaunchedServer } from './control';
import { EmbeddedPostgresError, explaining, OWN_SERVER } from './embedded-postgres-error';
import { ifExists } from './files';
import { withLock } from './lock';
import { memorySettings } from './memory';
import { poll } from './poll';
import { choosePort, rememberPort } from './ports';
import { hasUsers, register, unregister } from './registry';

export interface EmbeddedServer {
  /** `postgres://postgres:<password>@127.0.0.1:<port>/<database>` */
  readonly connectionString: string;
  /** True if the server was already running without a live process that uses it: the last one died. */
  readonly takenOver: boolean;
  /**
   * Ends this caller's use of the server. If no other caller uses the server, stops it and waits until it has ended. A
   * stop aborts open transactions and keeps committed ones. Further calls only wait for the first one.
   */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Contains the password, server log and lock, and usually the cluster. Created if missing. */
  readonly directory: string;
  /** Created if missing. */
  readonly database: string;
  readonly log: (message: string) => void;
  /** Receives the messages that need an operator's attention. Default: `log`. */
  readonly warn?: (message: string) => void;
  /** PostgreSQL settings, such as `{ fsync: 'off' }`. A server that is already running keeps its settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Port on the loopback interface. Default: the port of the last start, otherwise a free one. */
  readonly port?: number;
}

/** Options with `directory` as a real path, which this process has claimed. */
interface ClaimedOptions extends EmbeddedOptions {
  readonly claim: Claim;
}

/** The cluster and password of the directory, and how to start its server. */
interface Start extends ClaimedOptions {
  readonly cluster: Cluster;
  readonly password: string;
}

interface UsableServer {
  readonly port: number;
  readonly wasRunning: boolean;
}

/** Long, because after a crash the server may have to replay much of its write-ahead log. */
const START_TIMEOUT_MS = 120_000;

const DATABASE_NAME_LIMIT_BYTES = 63;
const QUOTED_LOG_LINES = 12;

/** Matches the log of a failed start that can be tried again, because the port or the data was in use. */
const RACE_LOST =
  /could not create any TCP\/IP sockets|lock file ".*" already exists|pre-existing shared memory block/;

/**
 * Starts the PostgreSQL server of `directory`, or joins a running one, which may be left over from a dead process. The
 * database exists and is usable when the promise resolves.
 *
 * @throws {EmbeddedPostgresError} when the server cannot be started
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedServer> {
  assertDatabaseName(options.database);
  return explaining(options.directory, async () => {
    await mkdir(options.directory, { recursive: true });
    const directory = await realpath(options.directory);
    const claim = await claimDirectory(directory, options.warn ?? options.log);
    try {
      return await underLock(directory, () => startOrJoin({ ...options, directory, claim }));
    } catch (error) {
      releaseClaim(claim);
      throw error;
    }
  });
}

/** Refuses names that are empty, that PostgreSQL would truncate, or that a connection string cannot contain. */
function assertDatabaseName(name: string): void {
  const length = Buffer.byteLength(name);
  if (length > 0 && length <= DATABASE_NAME_LIMIT_BYTES && !/[?#\0]/.test(name)) return;
  throw new EmbeddedPostgresError(
    `A database name has 1 to ${DATABASE_NAME_LIMIT_BYTES} bytes and neither ? nor #, unlike ${JSON.stringify(name)}.`,
  );
}

function underLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  return withLock(join(directory, 'lock'), work);
}

async function startOrJoin(options: ClaimedOptions): Promise<EmbeddedServer> {
  const { database, directory, log } = options;
  const isShared = await hasUsers(directory);
  const cluster = await locateCluster(directory, log);
  const password = await ensurePassword(directory, cluster);
  const start = { ...options, cluster, password };
  const startedAt = performance.now();

  const { port, wasRunning } = await joinOrLaunch(start);
  try {
    await ensureDatabase({ port, password }, database);
    await rememberPort(directory, port);
    const entry = await register(directory);
    const takenOver = wasRunning && !isShared;
    const how = isShared ? 'shared' : takenOver ? 'taken over' : 'started';
    const tookMs = Math.round(performance.now() - startedAt);
    log(`PostgreSQL ${how} on port ${port} in ${tookMs} ms, data in ${cluster.dataDirectory}`);
    return {
      connectionString: connectionString({ port, password }, database),
      takenOver,
      stop: onlyOnce(() => leave(start, entry).finally(() => releaseClaim(start.claim))),
    };
  } catch (error) {
    if (!isShared) await stopServer(cluster.dataDirectory);
    throw error;
  }
}

function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

/** Removes an entry of this process from the registry. Stops the server if no entry of a live process is left. */
async function leave(start: Start, entry: string): Promise<void> {
  const { cluster, directory, log } = start;
  const stopLast = async (): Promise<void> => {
    await unregister(directory, entry);
    if (await hasUsers(directory)) return;
    await stopServer(cluster.dataDirectory);
    log('PostgreSQL stopped');
  };
  await explaining(directory, async () => {
    const isThere = (await ifExists(stat(directory))) !== undefined;
    // If the directory was deleted, no other process can be using the server, and no lock is needed.
    return isThere ? underLock(directory, stopLast) : stopServer(cluster.dataDirectory);
  });
}

/**
 * Joins or launches the server. Tries again when an earlier server is just ending, or another program takes the chosen
 * port.
 *
 * @throws {EmbeddedPostgresError} when the server ends for any other reason, or is not ready in time
 */
async function joinOrLaunch(start: Start): Promise<UsableServer> {
  let binaries: Binaries | undefined;
  let ending = '';
  const server = await poll(START_TIMEOUT_MS, async () => {
    const runningPort = await joinRunning(start);
    if (runningPort !== undefined) return { port: runningPort, wasRunning: true };
    binaries ??= await prepare(start);
    const launched = await launch(start, binaries);
    const port = await awaitReady(start, () => Promise.resolve(!launched.hasEnded()));
    if (port !== undefined) return { port, wasRunning: false };
    ending = await launched.readLog();
    if (RACE_LOST.test(ending)) return undefined;
    throw didNotStart(start, ending);
  });
  if (server === undefined) throw didNotStart(start, ending);
  return server;
}

/** Waits until the running server accepts connections. Returns its port; undefined if no server runs, or it ends. */
async function joinRunning(start: Start): Promise<number | undefined> {
  const isRunning = async (): Promise<boolean> =>
    (await findServer(start.cluster.dataDirectory)) !== undefined;
  return start.cluster.isComplete && (await isRunning()) ? awaitReady(start, isRunning) : undefined;
}

/** Prepares the programs, and creates the cluster if it does not exist. Refuses a cluster of another major version. */
async function prepare(start: Start): Promise<Binaries> {
  const { cluster, directory, log, password, settings = {} } = start;
  const binaries = await prepareBinaries({ directory, user: cluster.user, log });
  await assertSameVersion(cluster, binaries);
  if (!cluster.isComplete) {
    const isDurable = settings['fsync'] !== 'off';
    await initialiseCluster({ cluster, directory, binaries, password, isDurable, log });
  }
  return binaries;
}

async function launch(start: Start, binaries: Binaries): Promise<LaunchedServer> {
  const { claim, cluster, directory, settings = {} } = start;
  return launchServer({
    program: binaries.postgres,
    dataDirectory: cluster.dataDirectory,
    user: cluster.user,
    port: await choosePort(directory, start.port),
    settings: { ...memorySettings(), ...settings },
    logFile: logFileOf(directory),
    claim,
  });
}

function logFileOf(directory: string): string {
  return join(directory, 'postgres.log');
}

function didNotStart({ directory }: Start, log: string): EmbeddedPostgresError {
  const quoted = log.trim().split('\n').slice(-QUOTED_LOG_LINES).join('\n');
  return new EmbeddedPostgresError(
    `PostgreSQL did not start. The end of its log, ${logFileOf(directory)}:\n${quoted}\nFix that, or ${OWN_SERVER}.`,
  );
}

/**
 * Waits until the server accepts connections, and returns its port. Returns undefined when the server ends instead.
 *
 * @throws {EmbeddedPostgresError} after the time limit, or when the server refuses the password or has another data
 * directory
 */
async function awaitReady(
  start: Start,
  isRunning: () => Promise<boolean>,
): Promise<number | undefined> {
  const { directory } = start;
  const outcome = await poll(START_TIMEOUT_MS, async () => {
    if (!(await isRunning())) return 'ended';
    return portWhenReady(start);
  });
  if (outcome === 'ended') return undefined;
  if (outcome !== undefined) return outcome;
  throw new EmbeddedPostgresError(
    `PostgreSQL is still not ready after ${START_TIMEOUT_MS / 1000} s, probably because it replays its log after a ` +
      `crash. It continues: see ${logFileOf(directory)}, and start again when it is ready.`,
  );
}

async function portWhenReady({ cluster, password }: Start): Promise<number | undefined> {
  const server = await findServer(cluster.dataDirectory);
  // A server in a smart shutdown refuses new clients, and may wait forever for the last ones. SIGINT disconnects them.
  if (server?.status === 'stopping') send(server.pid, 'SIGINT');
  if (server?.port === undefined || server.status !== 'ready') return undefined;
  const answer = await askDataDirectory({ port: server.port, password });
  if (answer === undefined) return undefined;
  if (answer !== 'refused' && answer.dataDirectory === cluster.dataDirectory) return server.port;
  throw new EmbeddedPostgresError(
    answer === 'refused'
      ? `The database server, process ${server.pid}, refuses the stored password. Bring back the password file that ` +
          `belongs to the data in ${cluster.dataDirectory}.`
      : `The database server, process ${server.pid}, was started for ${answer.dataDirectory}, and its data was moved ` +
          `to ${cluster.dataDirectory}. Stop it (kill -INT ${server.pid}) and start again.`,
  );
}
