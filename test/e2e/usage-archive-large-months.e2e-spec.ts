import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { createCustomer } from '../support/metering';
import { insertUsage } from '../support/stored-usage';
import { startTestApp, type TestApp } from '../support/test-app';

describe('a month whose events need several files of the archive', () => {
  let engine: TestApp;
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    engine.clock.set('2026-02-20T00:00:00Z');
  });

  afterEach(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function archiveAt(now: string): Promise<void> {
    engine.clock.set(now);
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
  }

  async function listedFiles(): Promise<readonly (readonly [name: string, events: number])[]> {
    const { body } = await engine.http.get('/v1/usage-archive/files').expect(200);
    const { data } = body as { data: { name: string; events: number }[] };
    return data.map(({ name, events }) => [name.replace(/-\w{16}\./, '.'), events]);
  }

  it('lists each event in one file after the month could not be archived for days', async () => {
    const customerId = await createCustomer(engine);
    const usage = { customerId, events: 25_000, hours: 480 };
    await insertUsage(engine, { ...usage, eventName: 'login', events: 9_000 });
    const stream = await insertUsage(engine, { ...usage, eventName: 'api_call' });
    // Stands for stored data that cannot be read.
    await engine.database.query(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001'; END $$`);
    await engine.database.query(`
      CREATE TRIGGER fail BEFORE UPDATE ON usage_archive_month FOR EACH ROW
      WHEN (NEW.stream_id = ${stream} AND NEW.written_at IS NOT NULL) EXECUTE FUNCTION fail()`);
    for (const day of ['01', '02', '03']) await archiveAt(`2026-06-${day}T00:10:00Z`);
    const others = [['2026-02/usage-2026-02-000001.ndjson.gz', 9_000]];
    expect(await listedFiles()).toEqual(others);
    await engine.database.query('DROP TRIGGER fail ON usage_archive_month');
    await archiveAt('2026-06-04T00:20:00Z');
    const listed = [
      ['2026-02/usage-2026-02-000004.ndjson.gz', 5_000],
      ['2026-02/usage-2026-02-000003.ndjson.gz', 10_000],
      ['2026-02/usage-2026-02-000002.ndjson.gz', 10_000],
      ...others,
    ];
    expect(await listedFiles()).toEqual(listed);
    await archiveAt('2026-06-04T00:50:00Z');
    expect(await engine.database.queryValue('SELECT count(*)::int FROM usage_event')).toBe(0);
  });
});
