import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { copyTestDatabase, createTestDatabase } from '../support/databases';
import { createCustomer, insertMeter } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const PAGE = join(__dirname, '../../docs/operations.md');
const CALL = 'api_call';

/** Callbacks that undo what the test has created, run after it, the last first. */
const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** Returns the shell blocks of the section on the archive, without the last line, which sends the events. */
async function documentedCommands(): Promise<string> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split('## Archive of usage events\n');
  const [text = ''] = section.split('\n## ');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const [, unknown = ''] = /After a restore, `(.*)` names/.exec(text) ?? [];
  const commands = [...blocks, `${unknown} > unknown`].join('\n');
  expect(commands).toMatch(/^npm run import-events .*$/m);
  return commands.replace(/^npm run import-events .*$/m, '');
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
  undo.push(() => rm(directory, { recursive: true }));
  return directory;
}

it('the documented commands for archived events leave out files that a restored database does not know', async () => {
  const [archive, folder] = [await makeDirectory(), await makeDirectory()];
  const start = async (databaseUrl: string): Promise<TestApp> => {
    const engine = await startTestApp({
      databaseUrl,
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: archive },
    });
    undo.push(() => engine.close());
    engine.clock.set('2026-02-20T00:00:00Z');
    return engine;
  };
  const archiveUsage = async (engine: TestApp): Promise<void> => {
    engine.clock.set('2026-06-01T00:00:00Z');
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
  };

  const original = await createTestDatabase();
  undo.push(() => original.drop());
  const before = await start(original.url);
  await insertMeter(before, { eventName: CALL, aggregation: 'sum', valueProperty: 'n' });
  const customer_id = await createCustomer(before);
  const events = ['kept', 'voided'].map((idempotency_key) => {
    const timestamp = '2026-02-02T00:00:00.000Z';
    return { idempotency_key, customer_id, event_name: CALL, timestamp, properties: { n: 1 } };
  });
  await before.http.post('/v1/usage-events').send({ events }).expect(200);
  await before.close();
  const backup = await copyTestDatabase(original.url);
  undo.push(() => backup.drop());
  await archiveUsage(await start(original.url));

  const restored = await start(backup.url);
  await restored.http.post('/v1/usage-events/void').send({ idempotency_key: 'voided' }).expect(200);
  await archiveUsage(restored);
  const commands = (await documentedCommands())
    .replaceAll('/path/of/usage-archive', archive)
    .replaceAll('http://127.0.0.1:3000', await restored.app.getUrl())
    .replaceAll('2025-03', '2026-02')
    .replaceAll('export API_KEY', 'API_KEY');
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: folder,
  });

  expect(stdout).toMatch(/^2026-02\/usage-2026-02-000001-\w+\.ndjson\.gz: OK\n\s*2\n$/);
  const imported = await readFile(join(folder, 'events.ndjson'), 'utf8');
  expect(JSON.parse(imported)).toEqual(events[0]);
  const unknown = await readFile(join(folder, 'unknown'), 'utf8');
  expect(unknown).toMatch(/^2026-02\/usage-2026-02-000001-\w+\.ndjson\.gz\n$/);
  expect(stdout).not.toContain(unknown.trim());
});
