import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { startTestApp, type TestApp } from '../support/test-app';

const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const MAIN = join(__dirname, '../../src/main.ts');

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const OLD = key('old', 1);
const NEW = key('new', 2);

describe('encryption keys', () => {
  let database: TestDatabase;
  let directory: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'encryption-keys-'));
  });

  afterEach(async () => {
    await database.drop();
    await rm(directory, { recursive: true });
  });

  const start = (environment: Readonly<Record<string, string>>): Promise<TestApp> =>
    startTestApp({
      databaseUrl: database.url,
      environment: { LOG_LEVEL: 'silent', ...environment },
    });

  async function startAndStop(keys: string, role = 'api'): Promise<void> {
    await (await start({ ENCRYPTION_KEYS: keys, ROLE: role })).close();
  }

  async function addEndpoint(engine: TestApp): Promise<string> {
    const { body } = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'https://example.com/hook', events: ['*'] })
      .expect(201);
    return (body as { id: string }).id;
  }

  const secretOf = async (engine: TestApp, endpoint: string) =>
    (await engine.http.get(`/v1/webhooks/endpoints/${endpoint}/secret`)).status;

  it.each(['api', 'worker'])('of the first start must be given to each later %s', async (role) => {
    await startAndStop(OLD);
    await expect(startAndStop(NEW, role)).rejects.toThrow(
      /sealed with the encryption key old, which this process does not have/,
    );
    await startAndStop(OLD, role);
  });

  it('must keep their values', async () => {
    await startAndStop(OLD);
    await expect(startAndStop(key('old', 3))).rejects.toThrow(
      /The encryption key old is not the one that sealed the secrets in this database/,
    );
  });

  it('can be rotated: the new key first, the old key kept', async () => {
    const before = await start({ ENCRYPTION_KEYS: OLD });
    const endpoint = await addEndpoint(before);
    await before.close();
    const after = await start({ ENCRYPTION_KEYS: `${NEW},${OLD}` });
    expect(await secretOf(after, endpoint)).toBe(200);
    await addEndpoint(after);
    await after.close();
    await expect(startAndStop(OLD)).rejects.toThrow(/sealed with the encryption key new/);
    await expect(startAndStop(NEW)).rejects.toThrow(/sealed with the encryption key old/);
    await startAndStop(`${OLD},${NEW}`);
  });

  it('that differ between two processes starting together let only one of them start', async () => {
    const results = await Promise.allSettled([startAndStop(OLD), startAndStop(NEW)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = results[0].status === 'fulfilled' ? OLD : NEW;
    await startAndStop(winner);
  });

  it('are not generated for a database that was used with other keys', async () => {
    await startAndStop(OLD);
    const child = spawn(process.execPath, [RUN_TS, MAIN], {
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: database.url,
        DATA_DIR: directory,
        PORT: '0',
        ROLE: 'worker',
        LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [[code], message] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    expect(code).toBe(1);
    expect(message).toBe(
      'The database holds secrets sealed with the encryption key old, but ENCRYPTION_KEYS is not set and there is no ' +
        `file ${join(directory, 'encryption-key')}. Set ENCRYPTION_KEYS to the keys of the other processes, or bring ` +
        'back that file.\n',
    );
    expect(await readdir(directory)).toEqual([]);
  });
});
