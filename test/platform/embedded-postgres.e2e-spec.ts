import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import {
  EmbeddedPostgresError,
  startEmbeddedPostgres,
  startEphemeralPostgres,
  type EmbeddedOptions,
  type EmbeddedServer,
} from '../../packages/embedded-postgres';
import { locatePackage } from '../../packages/embedded-postgres/binaries';
import { repairBinaries } from '../../packages/embedded-postgres/binaries-repair';
import { run } from '../../packages/embedded-postgres/commands';
import { findServer, stopServer } from '../../packages/embedded-postgres/control';
import { poll } from '../../packages/embedded-postgres/poll';
import { fastDirectory } from '../support/fast-directory';

const isRoot = process.geteuid?.() === 0;
const support = join(__dirname, '..', 'support');

/** Callbacks that undo what a test has created, run after it, the last first. */
const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface Event {
  readonly event: string;
  readonly connectionString?: string;
  readonly takenOver?: boolean;
}

/** Runs a server owner in a process of its own. */
class Owner {
  private readonly heard: Event[] = [];
  private readonly ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    // `close` is emitted when every holder of the output has closed it, `exit` when the process has ended.
    this.ended = once(child, 'close');
    if (child.stdout === null) throw new Error('The output of the owner is not piped.');
    createInterface(child.stdout).on('line', (line) => this.heard.push(JSON.parse(line) as Event));
  }

  /** @param wrapper program, with its arguments, that runs the owner */
  static start(directory: string, wrapper: readonly string[] = []): Owner {
    const script = join(support, 'embedded-postgres-owner.ts');
    const command = [...wrapper, process.execPath, join(support, 'run-ts.cjs'), script, directory];
    const child = spawn('/usr/bin/env', command, {
      stdio: ['pipe', 'pipe', 'inherit'],
      // In a process group of its own, as a shell starts a command.
      detached: true,
    });
    const owner = new Owner(child);
    undo.push(() => owner.kill());
    return owner;
  }

  async hear(event: string): Promise<Event> {
    const found = await until(() => Promise.resolve(this.heard.find((one) => one.event === event)));
    return found;
  }

  async connectionString(): Promise<string> {
    const { connectionString = '' } = await this.hear('ready');
    return connectionString;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  async stop(): Promise<void> {
    this.child.stdin?.write('stop\n');
    await this.hear('stopped');
    this.child.stdin?.end();
    await this.ended;
  }

  /** Acts like Ctrl-C in a terminal: every process of the group gets the signal. */
  async interruptGroup(): Promise<void> {
    process.kill(-(this.child.pid ?? Number.NaN), 'SIGINT');
    await this.hear('interrupted');
  }
}

/** Waits until `look` returns something; throws after the time limit. */
async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const seen = await poll(60_000, async () => {
    const view = await look();
    return view === false ? undefined : view;
  });
  if (seen === undefined) throw new Error(`Waited in vain: ${look.toString()}`);
  return seen;
}

/**
 * Creates a directory with a space in its name, removed after the test together with a server that a failed test has
 * left.
 */
async function makeDirectory(mode: number): Promise<string> {
  const parent = await mkdtemp(join(await fastDirectory(), 'embedded postgres-'));
  await chmod(parent, mode);
  undo.push(() => rm(parent, { recursive: true, force: true, maxRetries: 5 }));
  const directory = join(parent, 'data');
  undo.push(() => stopServer(join(directory, 'cluster')));
  return directory;
}

async function start(
  directory: string,
  options: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedServer> {
  const server = await startEmbeddedPostgres({
    directory,
    database: 'engine',
    log: () => undefined,
    settings: { fsync: 'off' },
    ...options,
  });
  undo.push(() => server.stop());
  return server;
}

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function isUp(connectionString: string): Promise<boolean> {
  return query(connectionString, 'SELECT').then(
    () => true,
    () => false,
  );
}

async function serverPid(directory: string): Promise<number> {
  const server = await findServer(join(directory, 'cluster'));
  if (server === undefined) throw new Error(`No server runs in ${directory}.`);
  return server.pid;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function replaceLink(path: string, target: string): Promise<void> {
  await rm(path);
  await symlink(target, path);
}

const remember = 'CREATE TABLE kept AS SELECT 42 AS answer';
const recall = 'SELECT answer FROM kept';
const remembered = [{ answer: 42 }];

describe('the embedded server', () => {
  it('keeps its data and its port for the next start', async () => {
    const directory = await makeDirectory(0o755);
    const first = await start(directory);
    expect(first.takenOver).toBe(false);
    await query(first.connectionString, remember);
    await first.stop();
    await first.stop();
    expect(await isUp(first.connectionString)).toBe(false);

    const second = await start(directory);
    expect(second).toMatchObject({ connectionString: first.connectionString, takenOver: false });
    expect(await query(second.connectionString, recall)).toEqual(remembered);
  });

  it('creates the requested database, with any name', async () => {
    const directory = await makeDirectory(0o755);
    const { connectionString } = await start(directory, { database: 'a "name" / ü' });
    expect(await query(connectionString, 'SELECT current_database() AS name')).toEqual([
      { name: 'a "name" / ü' },
    ]);
    await expect(start(directory, { database: 'x'.repeat(64) })).rejects.toThrow('1 to 63 bytes');
  });

  it('keeps its password secret, and listens on loopback only', async () => {
    const directory = await makeDirectory(0o755);
    const { connectionString } = await start(directory);
    const passwordFile = await stat(join(directory, 'postgres-password'));
    expect(passwordFile).toMatchObject({ mode: 0o100600, uid: process.geteuid?.() });
    const password = await readFile(join(directory, 'postgres-password'), 'utf8');
    expect(password).toMatch(/^[0-9a-f]{64}$/);
    expect(connectionString).toContain(`:${password}@127.0.0.1:`);
    expect(await isUp(connectionString.replace(password, 'guess'))).toBe(false);
    const [settings] = await query(
      connectionString,
      `SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
              (SELECT bool_and(auth_method = 'scram-sha-256') FROM pg_hba_file_rules) AS all_scram`,
    );
    expect(settings).toEqual({ addresses: '127.0.0.1', sockets: '', all_scram: true });
  });

  it('sorts and folds text the same on every system', async () => {
    const { connectionString } = await start(await makeDirectory(0o755));
    expect(
      await query(
        connectionString,
        `SELECT datlocprovider, datlocale, pg_encoding_to_char(encoding) AS encoding, lower('ÄÉ') AS lower
           FROM pg_database WHERE datname = current_database()`,
      ),
    ).toEqual([{ datlocprovider: 'b', datlocale: 'C.UTF-8', encoding: 'UTF8', lower: 'äé' }]);
  });

  it('shows the log of a server that does not start', async () => {
    const directory = await makeDirectory(0o755);
    const failing = start(directory, { settings: { fsync: 'off', work_mem: 'plenty' } });
    await expect(failing).rejects.toThrow(EmbeddedPostgresError);
    await expect(failing).rejects.toThrow(/work_mem.*plenty[^]*DATABASE_URL/);
    // Nothing is left that would prevent the next start.
    expect((await start(directory)).takenOver).toBe(false);
  });

  it('reports that the wanted port is taken', async () => {
    const directory = await makeDirectory(0o755);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    undo.push(async () => other.close());
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expect(start(directory, { port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
  });

  it('uses another port if the last one is taken', async () => {
    const directory = await makeDirectory(0o755);
    const first = await start(directory);
    await first.stop();
    const lastPort = Number(new URL(first.connectionString).port);
    const other = createServer().listen(lastPort, '127.0.0.1');
    await once(other, 'listening');
    undo.push(async () => other.close());

    const second = await start(directory);
    expect(new URL(second.connectionString).port).not.toBe(String(lastPort));
    expect(await isUp(second.connectionString)).toBe(true);
  });
});

describe('after its owner was killed', () => {
  it('is taken over by the next start, with its data', async () => {
    const directory = await makeDirectory(0o755);
    const killed = Owner.start(directory);
    const connectionString = await killed.connectionString();
    await query(connectionString, remember);
    // Resolves although the server still runs: it does not hold the output of its owner open.
    await killed.kill();
    expect(await isUp(connectionString)).toBe(true);

    const next = await start(directory);
    expect(next).toMatchObject({ connectionString, takenOver: true });
    expect(await query(next.connectionString, recall)).toEqual(remembered);
    await next.stop();
    expect(await isUp(connectionString)).toBe(false);
  });

  it('is started again with its data if it was killed too', async () => {
    const directory = await makeDirectory(0o755);
    const killed = Owner.start(directory);
    await query(await killed.connectionString(), remember);
    await killed.kill();
    process.kill(await serverPid(directory), 'SIGKILL');
    await until(async () => (await findServer(join(directory, 'cluster'))) === undefined);
    expect(await exists(join(directory, 'cluster', 'postmaster.pid'))).toBe(true);

    const next = await start(directory);
    expect(next.takenOver).toBe(false);
    expect(await query(next.connectionString, recall)).toEqual(remembered);
  });

  it('is not confused with a process that got its process id', async () => {
    const directory = await makeDirectory(0o755);
    const cluster = join(directory, 'cluster');
    await (await start(directory)).stop();
    // A process of the same user: PostgreSQL itself would take it for a server of the cluster.
    const { uid, gid } = await stat(cluster);
    const bystander = spawn('/bin/cat', {
      uid,
      gid,
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    undo.push(async () => bystander.kill('SIGKILL'));
    await once(bystander, 'spawn');
    const stale = [bystander.pid, cluster, 1_700_000_000, 1, '', '127.0.0.1', '  1  2', 'ready   '];
    await writeFile(join(cluster, 'postmaster.pid'), `${stale.join('\n')}\n`);

    const next = await start(directory);
    expect(next.takenOver).toBe(false);
    expect(await isUp(next.connectionString)).toBe(true);
    expect(bystander.exitCode).toBeNull();
  });

  it('has its lock broken, also if the process id of the lock is in use again', async () => {
    const directory = await makeDirectory(0o755);
    await mkdir(directory);
    await symlink(`${process.pid} an-earlier-process d1d2`, join(directory, 'lock'));
    await symlink('999999999 a-dead-process d3d4', join(directory, 'lock.break'));
    const { connectionString } = await start(directory);
    expect(await isUp(connectionString)).toBe(true);
  });

  it('is initialized again if initdb had not finished', async () => {
    const directory = await makeDirectory(0o755);
    await mkdir(join(directory, 'cluster', 'base'), { recursive: true });
    await writeFile(join(directory, 'cluster', 'PG_VERSION'), '18\n');
    await mkdir(join(directory, 'cluster.new-AbCdEf', 'data', 'base'), { recursive: true });

    const { connectionString } = await start(directory);
    expect(await isUp(connectionString)).toBe(true);
    const names = await readdir(directory);
    expect(names).not.toContain('cluster.new-AbCdEf');
    expect(names).toContainEqual(expect.stringMatching(/^cluster\.set-aside-/));
  });
});

describe('two services with one directory', () => {
  it('share a server when they start together, and the last one stops it', async () => {
    const directory = await makeDirectory(0o755);
    const [one, two] = [Owner.start(directory), Owner.start(directory)];
    const [first, second] = await Promise.all([one.hear('ready'), two.hear('ready')]);
    expect(first.connectionString).toBe(second.connectionString);
    expect([first.takenOver, second.takenOver]).toEqual([false, false]);

    const connectionString = first.connectionString ?? '';
    await one.stop();
    expect(await isUp(connectionString)).toBe(true);
    await two.stop();
    expect(await isUp(connectionString)).toBe(false);
  });

  it('share a server also within one process, and a killed one does not count', async () => {
    const directory = await makeDirectory(0o755);
    const killed = Owner.start(directory);
    await killed.connectionString();
    const [one, two] = await Promise.all([start(directory), start(directory)]);
    expect([one.takenOver, two.takenOver]).toEqual([false, false]);
    await killed.kill();
    await one.stop();
    expect(await isUp(two.connectionString)).toBe(true);
    await two.stop();
    expect(await isUp(two.connectionString)).toBe(false);
  });
});

// macOS has no PID namespaces.
if (process.platform === 'linux') {
  describe('a container', () => {
    /** Runs a command with process ids and shared memory of its own. All its processes are killed together with it. */
    const unshare = ['unshare', '--pid', '--ipc', '--mount-proc', '--fork', '--kill-child'];

    it('is refused while another one uses the directory, and not after that one was killed', async () => {
      const directory = await makeDirectory(0o755);
      const canUnshare = (await run('/usr/bin/env', [...unshare, 'true'])).succeeded;
      const other = Owner.start(directory, canUnshare ? unshare : []);
      const connectionString = await other.connectionString();
      await query(connectionString, remember);
      const namespace = join(directory, 'namespace');
      if (!canUnshare) await replaceLink(namespace, 'another');
      const users = await readdir(join(directory, 'users'));

      await expect(start(directory)).rejects.toThrow(/ is in use in another container/);
      expect(await readdir(join(directory, 'users'))).toEqual(users);
      expect(await isUp(connectionString)).toBe(true);

      await (canUnshare ? other.kill() : other.stop());
      expect(await query((await start(directory)).connectionString, recall)).toEqual(remembered);
      expect(await readlink(namespace)).toContain(await readlink('/proc/self/ns/pid'));
    });

    it('is refused while only the server of another one is left', async () => {
      const directory = await makeDirectory(0o755);
      const killed = Owner.start(directory);
      const connectionString = await killed.connectionString();
      await killed.kill();
      await replaceLink(join(directory, 'namespace'), 'another');

      await expect(start(directory)).rejects.toThrow(/ is in use in another container/);
      expect(await isUp(connectionString)).toBe(true);
      await stopServer(join(directory, 'cluster'));
      expect((await start(directory)).takenOver).toBe(false);
    });
  });
}

it('keep the server when one receives Ctrl-C', async () => {
  const directory = await makeDirectory(0o755);
  const owner = Owner.start(directory);
  const connectionString = await owner.connectionString();
  await owner.interruptGroup();
  expect(await isUp(connectionString)).toBe(true);
  await owner.stop();
  expect(await readFile(join(directory, 'postgres.log'), 'utf8')).toContain('shut down');
});

it('is stopped when the service receives a signal during its start', async () => {
  const directory = await makeDirectory(0o755);
  const main = join(__dirname, '../../src/main.ts');
  const service = spawn(process.execPath, [join(support, 'run-ts.cjs'), main], {
    env: { ...process.env, DATABASE_URL: undefined, DATA_DIR: directory, PORT: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(service, 'exit');
  await until(() => exists(join(directory, 'cluster', 'postmaster.pid')));
  service.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await findServer(join(directory, 'cluster'))).toBeUndefined();
  expect(await readdir(join(directory, 'users'))).toEqual([]);
});

it('is stopped only after a service whose start a signal interrupted, which then does not listen', async () => {
  const main = join(__dirname, '../../src/main.ts');
  const service = spawn(process.execPath, [join(support, 'run-ts.cjs'), main], {
    env: {
      ...process.env,
      DATABASE_URL: undefined,
      DATA_DIR: await makeDirectory(0o755),
      PORT: '0',
      LOG_LEVEL: 'debug',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'close');
  const lines: string[] = [];
  createInterface(service.stdout).on('line', (line) => {
    lines.push(line);
    if (line.includes('Starting Nest application')) service.kill('SIGTERM');
  });
  expect(await ended).toEqual([0, null]);
  const from = lines.findIndex((line) => line.includes('"msg":"stopping"'));
  expect(from).toBeGreaterThan(0);
  const unwanted = /Billing engine:|"level":"(?:error|fatal)"/;
  expect(lines.slice(from).filter((line) => unwanted.test(line))).toEqual([]);
  expect(lines.at(-1)).toContain('"msg":"stopped"');
});

it('can use a directory that only its owner can enter, as root or another user', async () => {
  const directory = await makeDirectory(0o700);
  const placeOf = async ({ connectionString }: EmbeddedServer): Promise<string> => {
    const [row] = await query(connectionString, 'SHOW data_directory');
    const place = String(row?.['data_directory']);
    undo.push(() => rm(place, { recursive: true, force: true }));
    return place;
  };
  const first = await start(directory);
  await query(first.connectionString, remember);
  const place = await placeOf(first);
  await first.stop();

  // The server of root runs as another user, who cannot enter it; otherwise it runs as the same user.
  const record = await readFile(join(directory, 'postgres-cluster'), 'utf8').catch(() => 'none');
  expect(dirname(place)).toBe(isRoot ? '/var/lib/billing-engine/clusters' : directory);
  expect(record.trim()).toBe(isRoot ? place : 'none');
  expect((await stat(place)).uid === 0).toBe(false);

  const second = await start(directory);
  expect(await query(second.connectionString, recall)).toEqual(remembered);
  await second.stop();

  // The same path, but another directory: data of the deleted one must not return.
  await rm(directory, { recursive: true });
  const third = await start(directory);
  expect((await placeOf(third)) === place).toBe(!isRoot);
  await expect(query(third.connectionString, recall)).rejects.toThrow('does not exist');
  await third.stop();
  expect(await exists(place)).toBe(true);
});

describe('the installed programs', () => {
  it('run after their links and permissions were repaired, any number of times', async () => {
    const directory = await makeDirectory(0o755);
    const native = join(directory, 'native');
    const installed = join(locatePackage(), 'native');
    await cp(installed, native, {
      recursive: true,
      // As npm unpacks the package: it cannot contain links.
      filter: async (path) => {
        const entry = await lstat(path);
        return !entry.isSymbolicLink() && !['share', 'postgresql'].includes(basename(path));
      },
    });
    const postgres = join(native, 'bin', 'postgres');
    await chmod(postgres, 0o644);
    expect((await run(postgres, ['--version'])).succeeded).toBe(false);

    await Promise.all([repairBinaries(native), repairBinaries(native)]);
    await repairBinaries(native);
    expect(await run(postgres, ['--version'])).toMatchObject({
      succeeded: true,
      output: expect.stringContaining('PostgreSQL'),
    });
  });

  it('are reported as missing, with what to do', () => {
    expect(() => locatePackage('aix-ppc64')).toThrow(
      'There is no embedded PostgreSQL for aix-ppc64: set DATABASE_URL to a PostgreSQL 15 to 18 server.',
    );
    const omitted = (name: string): string => {
      throw new Error(`Cannot find module '${name}'`);
    };
    expect(() => locatePackage('linux-x64', omitted)).toThrow(/is not installed[^]*DATABASE_URL/);
  });
});

describe('an ephemeral server', () => {
  // Starts in other test files remove what is left in the usual directory.
  beforeEach(async () => {
    const usual = tmpdir();
    process.env['TMPDIR'] = dirname(await makeDirectory(0o755));
    undo.push(async () => (process.env['TMPDIR'] = usual));
  });

  const directoryOf = async (connectionString: string): Promise<string> => {
    const [row] = await query(connectionString, 'SHOW data_directory');
    return dirname(String(row?.['data_directory']));
  };

  it('runs beside others and leaves nothing behind', async () => {
    const options = { log: () => undefined, database: 'engine' };
    const servers = await Promise.all([1, 2].map(() => startEphemeralPostgres(options)));
    undo.push(...servers.map((server) => () => server.stop()));
    const [one = '', two = ''] = servers.map(({ connectionString }) => connectionString);
    expect(one).not.toBe(two);
    const directories = [await directoryOf(one), await directoryOf(two)];

    await Promise.all(servers.map((server) => server.stop()));
    for (const server of [one, two]) expect(await isUp(server)).toBe(false);
    for (const directory of directories) expect(await exists(directory)).toBe(false);
  });

  it('is removed when its owner is killed', async () => {
    const owner = Owner.start('ephemeral');
    const connectionString = await owner.connectionString();
    const directory = await directoryOf(connectionString);
    await owner.kill();
    await until(async () => !(await exists(directory)));
    expect(await isUp(connectionString)).toBe(false);
  });

  it('removes data of owners that were killed together with their watchdogs', async () => {
    // A directory with the id of a process that does not exist.
    const parent = await realpath(tmpdir());
    const left = await mkdtemp(join(parent, 'billing-engine-postgres-999999999-'));
    await chmod(left, 0o711);
    undo.push(() => rm(left, { recursive: true, force: true }));
    const owner = Owner.start(left);
    const connectionString = await owner.connectionString();
    await owner.kill();
    const makeOld = () => utimes(left, 0, 0);
    if (process.platform === 'linux') {
      const namespace = join(left, 'namespace');
      const own = await readlink(namespace);
      await replaceLink(namespace, 'another container');
      await makeOld();
      await (await startEphemeralPostgres({ log: () => undefined, database: 'engine' })).stop();
      await replaceLink(namespace, own);
    }
    expect(await isUp(connectionString)).toBe(true);

    await makeOld();
    const server = await startEphemeralPostgres({ log: () => undefined, database: 'engine' });
    undo.push(() => server.stop());
    expect(await isUp(connectionString)).toBe(false);
    expect(await exists(left)).toBe(false);
  });
});
