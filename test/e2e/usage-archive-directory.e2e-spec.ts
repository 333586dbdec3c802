import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { createCustomer, insertMeter } from '../support/metering';
import { insertUsage } from '../support/stored-usage';
import { startTestApp, type TestApp } from '../support/test-app';

/** The three whole months before are kept. */
const ARCHIVED_AT = '2026-06-01T00:00:00Z';

describe('the directory of archived usage events', () => {
  let engine: TestApp;
  let parent: string;
  let directory: string;
  let ada: string;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    directory = join(parent, 'archive');
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    engine.clock.set('2026-02-20T00:00:00Z');
    ada = await createCustomer(engine);
  });

  afterEach(async () => {
    await engine.close();
    await rm(parent, { recursive: true });
  });

  async function archive(now = ARCHIVED_AT): Promise<void> {
    engine.clock.set(now);
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
  }

  /** Runs steps until one has tested the folder of February. Then puts a file in its place, which fails the next test. */
  async function archiveUntilTested(now: string): Promise<void> {
    engine.clock.set(now);
    const folder = join(directory, '2026-02');
    await rm(folder, { recursive: true, force: true });
    while (!(await readdir(directory)).includes('2026-02')) {
      expect(await engine.app.get(DueUsageArchive).runDue()).toBe(true);
    }
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
  }

  async function create(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(path).send(body).expect(201);
    return (answer.body as { id: string }).id;
  }

  const report = (key: string, timestamp: string) =>
    engine.http
      .post('/v1/usage-events')
      .send({ idempotency_key: key, customer_id: ada, event_name: 'call', timestamp });

  const voidEvent = (key: string) =>
    engine.http.post('/v1/usage-events/void').send({ idempotency_key: key });

  const closedMonths = () => engine.database.query('SELECT FROM usage_archive_month');

  async function filesOfMonths(): Promise<readonly number[]> {
    const { body } = await engine.http
      .get('/v1/usage-archive/months')
      .query({ customer_id: ada })
      .expect(200);
    return (body as { data: readonly { files: readonly string[] }[] }).data.map(
      ({ files }) => files.length,
    );
  }

  it('closes no month while it is a file', async () => {
    await report('a1', '2026-02-10T00:00:00Z').expect(200);
    await writeFile(directory, '');
    await expect(archive()).rejects.toThrow('The archive has no directory');
    expect(await closedMonths()).toEqual([]);
    await report('a2', '2026-02-11T00:00:00Z').expect(200);
    await voidEvent('a1').expect(200);
    await rm(directory);
    await mkdir(directory);
    await archive();
    expect(await filesOfMonths()).toEqual([1]);
  });

  it('closes no month whose folder takes no file', async () => {
    await mkdir(directory);
    await report('a1', '2026-01-10T00:00:00Z').expect(200);
    await report('a2', '2026-02-10T00:00:00Z').expect(200);
    const folder = join(directory, '2026-02');
    await writeFile(folder, '');
    await expect(archive()).rejects.toThrow('ENOTDIR');
    expect(await closedMonths()).toHaveLength(1);
    await voidEvent('a2').expect(200);
    await rm(folder);
    await archive();
    expect(await filesOfMonths()).toEqual([1, 1]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is tested again after ten minutes, not in each step, for streams that cannot be closed yet', async () => {
    await mkdir(directory);
    const eventName = 'call';
    const price = { name: 'Calls', model: 'per_unit', unit_amount: '1', timing: 'in_arrears' };
    const plan_id = await create('/v1/plans', {
      code: 'yearly',
      name: 'Yearly',
      currency: 'USD',
      interval: 'year',
      prices: [{ ...price, meter_id: await insertMeter(engine, { eventName }) }],
    });
    for (const customerId of [ada, await createCustomer(engine), await createCustomer(engine)]) {
      await create('/v1/subscriptions', {
        customer_id: customerId,
        plan_id,
        collection: 'send_invoice',
      });
      // Two streams do not fit into a file, so each has a step of its own.
      await insertUsage(engine, { customerId, eventName, events: 6_000, hours: 600 });
    }
    await archiveUntilTested('2026-06-01T00:00:00Z');
    await archive('2026-06-01T00:09:59Z');
    await archiveUntilTested('2026-06-02T00:09:59Z');
    await expect(archive('2026-06-02T00:19:59Z')).rejects.toThrow('ENOTDIR');
    await expect(archive('2026-06-02T00:19:59Z')).rejects.toThrow('ENOTDIR');
    expect(await closedMonths()).toEqual([]);
  });

  it('keeps a closed month closed until its file is written', async () => {
    await mkdir(directory);
    await report('a1', '2026-02-10T00:00:00Z').expect(200);
    engine.clock.set(ARCHIVED_AT);
    while ((await closedMonths()).length === 0) await engine.app.get(DueUsageArchive).runDue();
    const elsewhere = join(parent, 'elsewhere');
    await rename(directory, elsewhere);
    await expect(archive()).rejects.toThrow('The archive has no directory');
    expect(await filesOfMonths()).toEqual([]);
    await engine.http.get('/v1/usage-events/a1').expect(200);
    const { body: rejected } = await report('a2', '2026-02-11T00:00:00Z').expect(422);
    const { body: refused } = await voidEvent('a1').expect(409);
    for (const body of [rejected, refused] as { detail: string }[]) {
      expect(body.detail).toContain('in a month that is closed for the archive');
    }
    await rename(elsewhere, directory);
    await archive();
    expect(await filesOfMonths()).toEqual([1]);
  });
});
