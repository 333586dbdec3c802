import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { runCommand, spawnCommand } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { WITH_KEYS } from '../support/keys';
import { countLockWaits } from '../support/lock-waits';
import { RunningService } from '../support/running-service';
import { startTestApp } from '../support/test-app';
import { until } from '../support/until';

/** Each command is a process, which takes seconds on a busy machine. */
jest.setTimeout(240_000);

const OTHER_KEY = `zz:${Buffer.alloc(32, 9).toString('base64')}`;
const STACK = /\n {4}at /;

describe('a start with wrong settings or rights', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    // Records the encryption key of the tests.
    await (await startTestApp({ databaseUrl: database.url })).close();
  });

  afterAll(() => database.drop());

  it.each([
    ['migrate', []],
    ['keys', ['list']],
    ['studio', ['list']],
  ] as const)('ends %s with an explanation when a key is missing', async (command, words) => {
    const ended = await runCommand(command, words, {
      databaseUrl: database.url,
      environment: { ENCRYPTION_KEYS: OTHER_KEY },
    });
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toMatch(
      /^The database holds secrets sealed with the encryption key test,/,
    );
    expect(ended.stderr).not.toMatch(STACK);
  });

  it.each([
    ['a worker', { ROLE: 'worker', HOST: '0.0.0.0', MONITORING_PORT: '3000' }],
    ['an open process', { HOST: '0.0.0.0', PORT: '40001', MONITORING_PORT: '40001' }],
  ])('runs a command with the settings of %s, because it does not listen', async (_, settings) => {
    const ended = await runCommand('keys', ['list'], {
      databaseUrl: database.url,
      environment: { AUTH: 'open', ...settings },
    });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['the key', { ENCRYPTION_KEYS: OTHER_KEY }, /^The database holds secrets sealed with/],
    ['a port of its own', { PORT: '40001', MONITORING_PORT: '40001' }, /^MONITORING_PORT and PORT/],
  ])('explains once that the service lacks %s', async (_, environment, explained) => {
    const ended = await runCommand('main', [], {
      databaseUrl: database.url,
      environment: { AUTH: 'required', LOG_LEVEL: 'error', ...environment },
    });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(explained);
    expect(ended.stderr).not.toMatch(STACK);
  });

  it('does not say that the service is ready if the monitoring port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const ended = await runCommand('main', [], {
      databaseUrl: database.url,
      environment: {
        HOST: '127.0.0.1',
        AUTH: 'required',
        LOG_LEVEL: 'error',
        PORT: '0',
        MONITORING_PORT: String(port),
      },
    });
    other.close();
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^The port is taken/);
  });

  it('does not listen after a signal that arrives while its modules start', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const [holder, observer] = [0, 1].map(() => new Client({ connectionString: database.url }));
    await Promise.all([holder?.connect(), observer?.connect()]);
    // The start stands still where it stores the first key, after its routes.
    await holder?.query('BEGIN; LOCK TABLE api_key');
    const service = spawnCommand('main', [], {
      databaseUrl: database.url,
      environment: {
        ...WITH_KEYS,
        HOST: '127.0.0.1',
        LOG_LEVEL: 'debug',
        // Listening on this port would fail, which is logged.
        PORT: String(port),
      },
    });
    const ended = once(service, 'close');
    const lines: string[] = [];
    createInterface(service.stdout).on('line', (line) => lines.push(line));
    const query = async (sql: string) => (await observer?.query<object>(sql))?.rows ?? [];
    const logs = (text: string) => lines.some((line) => line.includes(text));
    const standsStill = async () => logs('RoutesResolver') && (await countLockWaits({ query })) > 0;
    await until('the start stands still', standsStill, 180_000);
    service.kill('SIGTERM');
    await until('it has the signal', () => logs('"msg":"stopping"'));
    await Promise.all([holder?.end(), observer?.end()]);
    expect(await ended).toEqual([0, null]);
    other.close();
    expect(lines.at(-1)).toContain('"msg":"stopped"');
    expect(lines.filter((line) => line.includes('EADDRINUSE'))).toEqual([]);
  });

  it('ends migrate with an explanation when a font is missing', async () => {
    const ended = await runCommand('migrate', [], {
      databaseUrl: database.url,
      environment: { INVOICE_FONTS: '/no/such/font.ttf' },
    });
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain('INVOICE_FONTS');
  });

  it('names DATABASE_URL when the certificate in it cannot be read, or when there is no schema', async () => {
    for (const parameter of ['sslrootcert=/no/such/file', 'options=-csearch_path%3Dnone']) {
      const ended = await runCommand('migrate', [], {
        databaseUrl: `${database.url}?${parameter}`,
      });
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toContain('DATABASE_URL');
      expect(ended.stderr).not.toMatch(STACK);
    }
  });

  it.each(['no-such-host.invalid', '999.1.1.1'])('names HOST when it is %s', async (host) => {
    const ended = await runCommand('main', [], {
      databaseUrl: database.url,
      environment: { HOST: host, AUTH: 'required', PORT: '0', LOG_LEVEL: 'error' },
    });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^Cannot listen: HOST has no address \(getaddrinfo .+\)\. /);
    expect(ended.stderr).not.toMatch(STACK);
  });

  it('warns once of settings that have no effect, and goes on', async () => {
    const service = await RunningService.start(database.url, {
      LOG_LEVEL: 'warn',
      AUTH: 'required',
      STRIPE_MODE: 'test',
      PUBLIC_URL: 'https://billing.example.com',
    });
    try {
      const lines = service.log().filter(({ msg }) => msg === 'some settings have no effect');
      expect(lines).toEqual([
        expect.objectContaining({
          level: 'warn',
          settings: [
            'STRIPE_MODE: PAYMENT_PROVIDERS does not name stripe',
            'PUBLIC_URL: OIDC_ISSUER is not set',
          ],
        }),
      ]);
    } finally {
      await service.kill();
    }
  });

  describe('without a right in the database', () => {
    const role = `billing_${process.pid}`;
    let empty: TestDatabase;

    const administer = async (...statements: readonly string[]): Promise<void> => {
      const client = new Client({ connectionString: empty.url });
      await client.connect();
      for (const statement of statements) await client.query(statement);
      await client.end();
    };

    const roleUrl = (): string => {
      const url = new URL(empty.url);
      url.username = role;
      url.password = 'change-me';
      return url.toString();
    };

    beforeEach(async () => {
      empty = await createTestDatabase('empty');
      await administer(
        `CREATE ROLE ${role} LOGIN PASSWORD 'change-me'`,
        `GRANT CREATE ON SCHEMA public TO ${role}`,
      );
    });

    afterEach(async () => {
      await administer(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      await empty.drop();
    });

    it.each(['migrate', 'main'] as const)(
      '%s says where the rights are listed',
      async (command) => {
        const ended = await runCommand(command, [], {
          databaseUrl: roleUrl(),
          environment: { LOG_LEVEL: 'fatal' },
        });
        expect(ended).toMatchObject({ code: 1, stdout: '' });
        expect(ended.stderr).toMatch(
          /^The user of DATABASE_URL lacks a right in the database \(permission denied to create extension "btree_gist"\)/,
        );
        expect(ended.stderr).not.toMatch(STACK);
      },
    );

    it.each([
      ['CREATE on the database', () => `GRANT CREATE ON DATABASE ${nameOf(empty.url)} TO ${role}`],
      ['both extensions', () => 'CREATE EXTENSION btree_gist; CREATE EXTENSION pg_trgm'],
    ])('migrates once there is %s', async (_, statement) => {
      await administer(statement());
      const ended = await runCommand('migrate', [], { databaseUrl: roleUrl() });
      expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
    });
  });
});

function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
}

describe('the help of a command', () => {
  it.each(['migrate', 'keys', 'studio'] as const)('%s needs no database', async (command) => {
    const directory = await mkdtemp(join(tmpdir(), 'help-'));
    const environment = { DATA_DIR: join(directory, 'data') };
    try {
      const help = await runCommand(command, ['--help'], { environment });
      expect(help).toMatchObject({ code: 0, stderr: '' });
      expect(help.stdout).toMatch(new RegExp(`^npm run ${command}`));
      const wrong = await runCommand(command, ['--unknown'], { environment });
      expect(wrong).toMatchObject({ code: 1, stdout: '' });
      expect(wrong.stderr).toContain(help.stdout);
      expect(existsSync(environment.DATA_DIR)).toBe(false);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
