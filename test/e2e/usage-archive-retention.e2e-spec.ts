import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { createCustomer } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

describe('a longer retention of usage events, set while a search of the archive runs', () => {
  let engine: TestApp;
  let directory: string;
  let customer: string;

  const environment = (months: string) => ({
    USAGE_RETENTION_MONTHS: months,
    USAGE_ARCHIVE_DIRECTORY: directory,
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({ environment: environment('3') });
    engine.clock.set('2026-02-20T00:00:00Z');
    customer = await createCustomer(engine);
  });

  afterEach(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  const report = (key: string, timestamp: string) =>
    engine.http
      .post('/v1/usage-events')
      .send({ idempotency_key: key, customer_id: customer, event_name: 'call', timestamp });

  const step = (worker = engine) => worker.app.get(DueUsageArchive).runDue();

  const closedMonths = async (): Promise<readonly string[]> => {
    const rows = await engine.database.query<{ startAt: Date; isRemoved: boolean }>(
      `SELECT start_at AS "startAt", removed_at IS NOT NULL AS "isRemoved" FROM usage_archive_month ORDER BY 1`,
    );
    return rows.map(
      ({ startAt, isRemoved }) =>
        `${startAt.toISOString().slice(0, 7)} ${isRemoved ? 'removed' : 'stored'}`,
    );
  };

  /** Starts a worker that keeps events for 24 months, and runs its steps, those of a day later included. */
  async function archiveWith24Months(): Promise<void> {
    const worker = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: environment('24'),
    });
    for (const now of ['2026-06-01T00:10:00Z', '2026-06-01T00:40:00Z', '2026-06-02T01:00:00Z']) {
      worker.clock.set(now);
      while (await step(worker)) continue;
    }
    await worker.close();
  }

  it('keeps all events that it covers', async () => {
    await report('k1', '2026-01-10T00:00:00Z').expect(200);
    await report('k2', '2026-02-10T00:00:00Z').expect(200);
    engine.clock.set('2026-06-01T00:00:00Z');
    expect(await step()).toBe(true);
    await archiveWith24Months();
    expect(await closedMonths()).toEqual([]);
    await report('k3', '2026-01-11T00:00:00Z').expect(200);
  });

  it('leaves a month archived that was closed already, and closes no further one', async () => {
    await report('k1', '2026-01-10T00:00:00Z').expect(200);
    await report('k2', '2026-02-10T00:00:00Z').expect(200);
    engine.clock.set('2026-06-01T00:00:00Z');
    while ((await closedMonths()).length === 0) await step();
    await archiveWith24Months();
    expect(await closedMonths()).toEqual(['2026-01 removed']);
    await report('k3', '2026-02-11T00:00:00Z').expect(200);
  });
});
