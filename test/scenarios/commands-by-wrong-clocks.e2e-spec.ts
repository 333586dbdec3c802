import { join } from 'node:path';
import { type EndedCommand, runCommand } from '../support/command';
import { DatabaseProxy } from '../support/database-proxy';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

const OFFSET = join(__dirname, '../support/clock-offset.cjs');
const DAY_MS = 86_400_000;

describe('a command on a machine whose clock is wrong', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const runAhead = (
    days: number,
    command: 'keys' | 'studio',
    words: readonly string[],
  ): Promise<EndedCommand> =>
    runCommand(command, words, {
      databaseUrl: engine.databaseUrl,
      environment: {
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --require=${JSON.stringify(OFFSET)}`,
        CLOCK_OFFSET_MS: String(days * DAY_MS),
      },
    });

  const rowsOf = (table: string): Promise<readonly unknown[]> =>
    engine.database.query(`SELECT id FROM ${table} ORDER BY id`);

  it('deletes no replaced webhook secret that is still valid', async () => {
    engine.clock.set(new Date().toISOString());
    const { id } = await post<{ id: string }>(engine, '/v1/webhooks/endpoints', {
      url: 'https://example.com/hook',
      events: ['*'],
    });
    await post(engine, `/v1/webhooks/endpoints/${id}/rotate-secret`);
    const secrets = await rowsOf('webhook_secret');
    expect(secrets).toHaveLength(2);
    const { code, stderr } = await runAhead(2, 'keys', ['rotate-encryption']);
    expect(stderr).toMatch(/^The clock of this process is 17\d{4}\.\d s ahead of the clock/m);
    expect(code).toBe(1);
    expect(await rowsOf('webhook_secret')).toEqual(secrets);
  });

  it('creates no key and no admin, but lists them', async () => {
    const refused = [
      await runAhead(-40, 'keys', ['create', '--name', 'wrong']),
      await runAhead(-40, 'studio', ['create-admin', '--email', 'wrong@example.com']),
    ];
    for (const { code, stderr } of refused) {
      expect(stderr).toMatch(/^The clock of this process is \d+\.\d s behind the clock/m);
      expect(code).toBe(1);
    }
    expect(await rowsOf('api_key')).toEqual([]);
    expect((await runAhead(-40, 'keys', ['list'])).code).toBe(0);
  });

  it('creates no key and says why if the clocks cannot be compared', async () => {
    const proxy = await DatabaseProxy.before(engine.databaseUrl);
    try {
      proxy.inject((statement) =>
        statement.startsWith('SELECT (extract(epoch FROM clock_timestamp())')
          ? { kind: 'cut' }
          : null,
      );
      const words = ['create', '--name', 'unknown'];
      const { code, stderr } = await runCommand('keys', words, { databaseUrl: proxy.url });
      expect(stderr).toMatch(/^The clock of this process has not been compared .*\n$/m);
      expect(stderr).not.toContain('    at ');
      expect(code).toBe(1);
    } finally {
      await proxy.close();
    }
    expect(await rowsOf('api_key')).toEqual([]);
  });
});
