import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

interface Commands {
  readonly read: string;
  readonly findUnknown: string;
}

/**
 * Returns the commands of the section on the archive, for one file per page and without the line that sends the events.
 * @param url of the service
 */
async function documentedCommands(archive: string, url: string): Promise<Commands> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split('## Archive of usage events\n');
  const [text = ''] = section.split('\n## ');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const [, unknown = ''] = /After a restore, `(.*)` names/.exec(text) ?? [];
  const commands = blocks.join('\n');
  expect(commands).toMatch(/ &&\n +npm run import-events .*$/m);
  expect(commands).toContain('limit=100');
  return {
    read: commands
      .replace(/ &&\n +npm run import-events .*$/m, '')
      .replaceAll('/path/of/usage-archive', archive)
      .replaceAll('http://127.0.0.1:3000', url)
      .replaceAll('limit=100', 'limit=1')
      .replaceAll('2025-03', '2026-02')
      .replaceAll('export API_KEY', 'API_KEY'),
    findUnknown: `archive=${archive}; ${unknown} > unknown`,
  };
}

/** Runs the commands as a shell does into which they are pasted: it goes on after one that fails. */
function runIn(folder: string, commands: string): Promise<{ readonly stdout: string }> {
  return promisify(execFile)('bash', ['-c', commands], { cwd: folder });
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
  const events = [
    { idempotency_key: 'kept', timestamp: '2026-02-02T00:00:00.000Z' },
    { idempotency_key: 'voided', timestamp: '2026-02-02T00:00:00.000Z' },
    { idempotency_key: 'before', timestamp: '2026-01-31T00:00:00.000Z' },
  ].map((event) => ({ ...event, customer_id, event_name: CALL, properties: { n: 1 } }));
  await before.http.post('/v1/usage-events').send({ events }).expect(200);
  await before.close();
  const backup = await copyTestDatabase(original.url);
  undo.push(() => backup.drop());
  await archiveUsage(await start(original.url));

  const restored = await start(backup.url);
  await restored.http.post('/v1/usage-events/void').send({ idempotency_key: 'voided' }).expect(200);
  await archiveUsage(restored);
  const commands = await documentedCommands(archive, await restored.app.getUrl());
  const { stdout } = await runIn(folder, commands.read);
  await runIn(folder, commands.findUnknown);

  expect(stdout).toMatch(/^(2026-02\/usage-2026-02-000001-\w+\.ndjson\.gz: OK\n)\s*2\n\1$/);
  const imported = await readFile(join(folder, 'events.ndjson'), 'utf8');
  expect(JSON.parse(imported)).toEqual(events[0]);
  const unknown = await readFile(join(folder, 'unknown'), 'utf8');
  expect(unknown).toMatch(/^2026-02\/usage-2026-02-000001-\w+\.ndjson\.gz\n$/);
  expect(stdout).not.toContain(unknown.trim());
  const listed = await readFile(join(folder, 'listed'), 'utf8');
  expect(listed.match(/ 2026-0[12]\//g)).toHaveLength(2);

  const [file = ''] = /^\S+\.gz(?=: OK)/.exec(stdout) ?? [];
  for (const harm of [(path: string) => appendFile(path, 'x'), rm]) {
    await harm(join(archive, file));
    await expect(runIn(folder, commands.read)).rejects.toThrow('sha256sum: ');
    await expect(readFile(join(folder, 'events.ndjson'))).rejects.toThrow('ENOENT');
  }
});

it('the documented commands name no file as unknown if the listing breaks off', async () => {
  const folder = await makeDirectory();
  const page = { data: [{ name: '2026-02/a.ndjson.gz', sha256: '0' }], next_cursor: 'next' };
  const server = createServer(({ url = '' }, response) => {
    response.statusCode = url.includes('cursor=') ? 503 : 200;
    response.end(url.includes('cursor=') ? '{"code":"service_unavailable"}' : JSON.stringify(page));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  undo.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;

  for (const name of ['listed', 'month']) await writeFile(join(folder, name), 'an older list');
  const commands = await documentedCommands(folder, `http://127.0.0.1:${port}`);
  await expect(runIn(folder, commands.read)).rejects.toThrow('service_unavailable');
  await expect(runIn(folder, commands.findUnknown)).rejects.toThrow('listed: No such file');
  await expect(readFile(join(folder, 'month'))).rejects.toThrow('ENOENT');
});
