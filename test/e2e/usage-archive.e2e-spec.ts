import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DataSource } from 'typeorm';
import { FillHoursOfArchivedMonths1795460000001 } from '../../migrations/1795460000001-FillHoursOfArchivedMonths';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { ArchiveUsage, RemoveArchivedUsage } from '../../src/modules/metering';
import { createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { insertUsage } from '../support/stored-usage';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const CALL = 'api_call';
const FEBRUARY = { from: '2026-02-01T00:00:00Z', to: '2026-03-01T00:00:00Z' };
/** The three whole months before are kept. */
const ARCHIVED_AT = '2026-06-01T00:00:00Z';
/** Events are removed from 15 minutes after they were archived on. */
const REMOVED_AT = '2026-06-01T00:20:00Z';

interface Proof {
  readonly accepted: number;
  readonly voided: number;
  readonly counted: number;
  readonly digest: string;
}

interface MonthRow {
  readonly customerId: string;
  readonly events: number;
  readonly voided: number;
  readonly digest: string;
  readonly isRemoved: boolean;
}

describe('the archive of usage events', () => {
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

  async function archiveAt(now: string, worker = engine): Promise<void> {
    worker.clock.set(now);
    while (await worker.app.get(DueUsageArchive).runDue()) continue;
  }

  const event = (customerId: string, key: string, timestamp: string, n = 1): SentEvent => ({
    idempotency_key: key,
    customer_id: customerId,
    event_name: CALL,
    timestamp,
    properties: { n },
  });

  async function send(...events: readonly SentEvent[]) {
    const { body } = await engine.http.post('/v1/usage-events').send({ events }).expect(200);
    return body as { accepted: number; duplicates: number; rejected: { code: string }[] };
  }

  async function proofOf(meterId: string, customerId: string, period = FEBRUARY): Promise<Proof> {
    const query = { customer_id: customerId, ...period };
    const { body } = await engine.http.get(`/v1/meters/${meterId}/proof`).query(query).expect(200);
    return body as Proof;
  }

  async function usageOf(meterId: string, customerId: string, period = FEBRUARY): Promise<string> {
    const query = { customer_id: customerId, ...period };
    const { body } = await engine.http.get(`/v1/meters/${meterId}/usage`).query(query).expect(200);
    return (body as { total: string }).total;
  }

  const storedKeys = async (): Promise<readonly string[]> => {
    const rows = await engine.database.query<{ key: string }>(
      'SELECT idempotency_key AS key FROM usage_event ORDER BY 1',
    );
    return rows.map(({ key }) => key);
  };

  async function streamsOf(...customers: readonly (string | undefined)[]): Promise<string> {
    const rows = await engine.database.query<{ id: string }>(
      'SELECT id FROM usage_stream WHERE customer_id = ANY ($1)',
      [customers],
    );
    return rows.map(({ id }) => id).join(', ');
  }

  const months = (): Promise<readonly MonthRow[]> =>
    engine.database.query<MonthRow>(
      `SELECT stream.customer_id AS "customerId", month.events::int, month.voided::int, month.digest,
         month.removed_at IS NOT NULL AS "isRemoved"
       FROM usage_archive_month AS month JOIN usage_stream AS stream ON stream.id = month.stream_id
       ORDER BY month.start_at, stream.id`,
    );

  /** Returns the events in the files of the archive. */
  async function archived(): Promise<readonly Record<string, unknown>[]> {
    const names = (await readdir(directory, { recursive: true })).filter((name) =>
      name.endsWith('.ndjson.gz'),
    );
    const texts = await Promise.all(
      names
        .sort()
        .map(async (name) => gunzipSync(await readFile(join(directory, name))).toString()),
    );
    return texts.flatMap((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    );
  }

  it('writes events of months before the retention to files, and removes them later', async () => {
    const meter = await insertMeter(engine, {
      eventName: CALL,
      aggregation: 'sum',
      valueProperty: 'n',
    });
    const [ada, ben] = [await createCustomer(engine), await createCustomer(engine)];
    await send(
      event(ada, 'a1', '2026-02-01T00:00:00.000Z', 5),
      event(ada, 'a2', '2026-02-11T10:00:00.123Z', 7),
      event(ada, 'a3', '2026-02-20T23:00:00Z', 9),
      event(ben, 'b1', '2026-02-12T00:00:00Z', 0.25),
    );
    const voidEvent = () =>
      engine.http.post('/v1/usage-events/void').send({ idempotency_key: 'a2' });
    for (let times = 0; times < 2; times += 1) await voidEvent().expect(200);
    engine.clock.set('2026-03-01T00:00:00Z');
    await send(event(ada, 'a4', '2026-03-01T00:00:00Z', 11));
    const before = await proofOf(meter, ada);
    await archiveAt('2026-05-31T23:59:59Z');
    expect(await archived()).toEqual([]);

    await archiveAt(ARCHIVED_AT);
    expect(await storedKeys()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
    expect((await voidEvent()).body).toMatchObject({ status: 409, code: 'usage_event_archived' });
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual(['a4']);
    expect(await months()).toEqual([
      {
        customerId: ada,
        events: before.accepted,
        voided: before.voided,
        digest: before.digest,
        isRemoved: true,
      },
      expect.objectContaining({ customerId: ben, events: 1, voided: 0 }),
    ]);
    const lines = await archived();
    expect(lines.map(({ idempotency_key: key }) => key)).toEqual(['a1', 'a2', 'a3', 'b1']);
    expect(lines[1]).toEqual({
      idempotency_key: 'a2',
      customer_id: ada,
      event_name: CALL,
      timestamp: '2026-02-11T10:00:00.123Z',
      properties: { n: 7 },
      position: 2,
      received_at: '2026-02-20T00:00:00.000Z',
      voided_at: '2026-02-20T00:00:00.000Z',
      voided_position: expect.any(Number) as number,
    });
    expect(await usageOf(meter, ada)).toBe('14');
    expect(await usageOf(meter, ada, { from: FEBRUARY.from, to: '2026-04-01T00:00:00Z' })).toBe(
      '25',
    );
  });

  it('answers a resend of an archived event as a duplicate, and refuses new ones of its month', async () => {
    const meter = await insertMeter(engine, { eventName: CALL });
    const [ada, ben] = [await createCustomer(engine), await createCustomer(engine)];
    const sent = event(ada, 'a1', '2026-02-10T00:00:00Z');
    const other = event(ben, 'b1', '2026-02-10T00:00:00Z');
    await send(sent, other);
    for (const now of [ARCHIVED_AT, REMOVED_AT]) {
      await archiveAt(now);
      // As a list, as a single event, and as NDJSON, each with other events besides.
      expect(await send(sent, other)).toMatchObject({ accepted: 0, duplicates: 2, rejected: [] });
      const single = await engine.http.post('/v1/usage-events').send(sent).expect(200);
      expect(single.body).toMatchObject({ accepted: 0, duplicates: 1 });
      const fresh = event(ada, `fresh-${now}`, engine.clock.now().toISOString());
      const { body } = await engine.http
        .post('/v1/usage-events')
        .set('Content-Type', 'application/x-ndjson')
        .send([sent, fresh, other].map((one) => JSON.stringify(one)).join('\n'))
        .expect(200);
      expect(body).toMatchObject({ accepted: 1, duplicates: 2, rejected: [] });
      const late = event(ada, 'late', '2026-02-28T23:59:59Z');
      expect(await send(late)).toMatchObject({
        accepted: 0,
        rejected: [{ index: 0, code: 'usage_archived' }],
      });
      await engine.http.post('/v1/usage-events').send(late).expect(422);
      // The key of an archived event with a current timestamp, of the same customer and of another.
      const reused = [ada, ben].map((id) => event(id, 'a1', engine.clock.now().toISOString()));
      expect((await send(...reused)).rejected.map(({ code }) => code)).toEqual([
        'idempotency_key_reused',
        'idempotency_key_reused',
      ]);
    }
    expect(await usageOf(meter, ada)).toBe('1');
    const totals = async (from: string) =>
      (await engine.http.get(`/v1/meters/${meter}/totals?from=${from}&to=2026-03-01T00:00:00Z`))
        .body as object;
    expect(await totals('2026-02-01T00:30:00Z')).toMatchObject({ total: '2' });
    expect(await totals('2026-02-10T00:30:00Z')).toMatchObject({ code: 'usage_archived' });
    // Other customers may report for the month.
    const eve = await createCustomer(engine);
    expect(await send(event(eve, 'e1', '2026-02-10T00:00:00Z'))).toMatchObject({ accepted: 1 });
  });

  it('refuses to cut an archived month whose hours are not recorded, until a migration fills them', async () => {
    const meter = await insertMeter(engine, { eventName: CALL });
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-02-10T00:00:00Z'), event(ada, 'a2', '2026-02-11T23:59:59Z'));
    await archiveAt(REMOVED_AT);
    const readFrom = async (from: string) =>
      (
        await engine.http
          .get(`/v1/meters/${meter}/usage`)
          .query({ customer_id: ada, from, to: '2026-03-01T00:00:00Z' })
      ).body as object;
    const hours = () => engine.database.query('SELECT hours FROM usage_archive_month');
    expect(await hours()).toEqual([{ hours: [216, 263] }]);
    // As the previous release leaves a month.
    await engine.database.query('UPDATE usage_archive_month SET hours = NULL');
    await engine.database.query(
      `INSERT INTO usage_tally (stream_id, hour, accepted, duplicates, rejected)
       SELECT id, hour, 1, 0, 0 FROM usage_stream CROSS JOIN unnest($1::timestamptz[]) AS hour`,
      [['2026-02-10T00:00:00Z', '2026-02-11T23:00:00Z', '2026-03-01T00:00:00Z']],
    );
    expect(await readFrom('2026-02-10T01:30:00Z')).toMatchObject({ code: 'usage_archived' });
    const runner = engine.app.get(DataSource).createQueryRunner();
    const migration = new FillHoursOfArchivedMonths1795460000001();
    for (let times = 0; times < 2; times += 1) await migration.up(runner);
    await runner.release();
    expect(await hours()).toEqual([{ hours: [216, 263] }]);
    expect(await readFrom('2026-02-10T01:30:00Z')).toMatchObject({ total: '1' });
    expect(await readFrom('2026-02-10T00:30:00Z')).toMatchObject({ total: '1' });
    await archiveAt('2026-06-01T00:40:00Z');
    expect(await readFrom('2026-02-10T00:30:00Z')).toMatchObject({ code: 'usage_archived' });
    expect(await readFrom('2026-02-11T23:30:00Z')).toMatchObject({ code: 'usage_archived' });
  });

  it('writes many streams into few files, and a large one into several', async () => {
    const meter = await insertMeter(engine, { eventName: 'large', aggregation: 'count' });
    const large = await createCustomer(engine);
    await insertUsage(engine, {
      customerId: large,
      eventName: 'large',
      events: 25_000,
      hours: 600,
    });
    for (let at = 0; at < 3; at += 1) {
      const customerId = await createCustomer(engine);
      await insertUsage(engine, { customerId, eventName: CALL, events: 4_000, hours: 600 });
    }
    const before = await proofOf(meter, large);
    await archiveAt(ARCHIVED_AT);
    const files = await engine.database.query<{ events: number; sha256: string; name: string }>(
      'SELECT events, sha256, name FROM usage_archive_file ORDER BY number',
    );
    expect(files.map(({ events }) => events)).toEqual([10_000, 10_000, 5_000, 8_000, 4_000]);
    for (const { name, sha256 } of files) {
      const content = await readFile(join(directory, name));
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      const manifest = await readFile(join(directory, name.replace('.ndjson.gz', '.json')), 'utf8');
      expect(JSON.parse(manifest)).toMatchObject({ month: '2026-02', name, sha256 });
    }
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual([]);
    expect((await months())[0]).toMatchObject({ events: 25_000, digest: before.digest });
    expect(await archived()).toHaveLength(37_000);
    expect(new Set((await archived()).map(({ idempotency_key: key }) => key)).size).toBe(37_000);
  });

  it('locks no other stream while it waits for the first one', async () => {
    for (let at = 0; at < 3; at += 1) {
      await send(event(await createCustomer(engine), `key-${at}`, FEBRUARY.from));
    }
    const first = 'id = (SELECT min(id) FROM usage_stream)';
    const commit = await openTransaction(engine.database, () =>
      engine.database.query(`SELECT FROM usage_stream WHERE ${first} FOR UPDATE`),
    );
    const archiving = archiveAt(ARCHIVED_AT);
    await untilSessionsWait(engine.database);
    await engine.database.query(`SELECT FROM usage_stream WHERE NOT ${first} FOR UPDATE NOWAIT`);
    await commit();
    await archiving;
    expect(await archived()).toHaveLength(3);
    expect(await readdir(join(directory, '2026-02'))).toHaveLength(2);
  });

  it('archives once by two workers', async () => {
    for (let at = 0; at < 4; at += 1) {
      const customerId = await createCustomer(engine);
      await insertUsage(engine, { customerId, eventName: CALL, events: 6_000, hours: 600 });
    }
    const other = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    for (const now of [ARCHIVED_AT, REMOVED_AT]) {
      for (let round = 0; round < 20; round += 1) {
        await Promise.all([archiveAt(now), archiveAt(now, other)]);
      }
    }
    await other.close();
    expect(await archived()).toHaveLength(24_000);
    expect(await storedKeys()).toEqual([]);
    expect((await months()).every(({ isRemoved }) => isRemoved)).toBe(true);
  });

  it('removes nothing while a file is missing or differs', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-02-10T00:00:00Z'));
    await archiveAt(ARCHIVED_AT);
    const [name = ''] = (await readdir(join(directory, '2026-02'))).filter((one) =>
      one.endsWith('.gz'),
    );
    const path = join(directory, '2026-02', name);
    const content = await readFile(path);
    await writeFile(path, Buffer.alloc(content.length));
    await archiveAt(REMOVED_AT);
    await writeFile(path, 'something else');
    await expect(archiveAt(REMOVED_AT)).rejects.toThrow('Is its volume mounted?');
    await rm(path);
    await expect(archiveAt(REMOVED_AT)).rejects.toThrow('Is its volume mounted?');
    expect(await storedKeys()).toEqual(['a1']);
    await writeFile(path, content);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual([]);
  });

  it('stops removing events when a verified file is lost or damaged', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-01-10T00:00:00Z'), event(ada, 'a2', '2026-02-10T00:00:00Z'));
    await archiveAt(ARCHIVED_AT);
    const [name = ''] = (await readdir(join(directory, '2026-01'))).filter((one) =>
      one.endsWith('.gz'),
    );
    const path = join(directory, '2026-01', name);
    const content = await readFile(path);
    const remover = engine.app.get(RemoveArchivedUsage);
    const removeAt = (now: string) => remover.removeNext(new Date(now), () => Promise.resolve([]));
    // The first step reads the files again.
    expect(await removeAt('2026-06-01T00:20:00Z')).toBe(true);
    await rm(path);
    expect(await removeAt('2026-06-01T00:21:00Z')).toBe(false);
    await writeFile(path, content.subarray(1));
    expect(await removeAt('2026-06-01T00:22:00Z')).toBe(false);
    // Damage of the same size is found when the file is read again after an hour.
    await writeFile(path, Buffer.alloc(content.length));
    expect(await removeAt('2026-06-01T01:20:01Z')).toBe(false);
    expect(await storedKeys()).toContain('a1');
    await writeFile(path, content);
    await archiveAt('2026-06-01T01:20:01Z');
    expect(await storedKeys()).toEqual([]);
  });

  it('writes and removes nothing while its volume is not mounted', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-02-10T00:00:00Z'));
    const elsewhere = `${directory}-unmounted`;
    await rename(directory, elsewhere);
    await expect(archiveAt(ARCHIVED_AT)).rejects.toThrow('Is its volume mounted?');
    await rename(elsewhere, directory);
    await archiveAt(ARCHIVED_AT);
    // The mount point of a volume that is not mounted is an empty directory.
    await rename(directory, elsewhere);
    await mkdir(directory);
    await expect(archiveAt(REMOVED_AT)).rejects.toThrow('Is its volume mounted?');
    expect(await storedKeys()).toEqual(['a1']);
    expect(await readdir(directory)).toEqual([]);
    await rm(directory, { recursive: true });
    await rename(elsewhere, directory);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual([]);
  });

  it('counts failed runs and damaged files, and knows the oldest month although its volume is not mounted', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-01-10T00:00:00Z'), event(ada, 'a2', '2026-02-10T00:00:00Z'));
    const metricsOf = async ({ uncheckedHttp }: TestApp) =>
      (await uncheckedHttp.get('/metrics').expect(200)).text;
    const missing = join(directory, 'missing');
    const start = () =>
      startTestApp({
        databaseUrl: engine.databaseUrl,
        environment: {
          ROLE: 'all',
          USAGE_RETENTION_MONTHS: '3',
          USAGE_ARCHIVE_DIRECTORY: missing,
          LOG_LEVEL: 'silent',
        },
      });
    const failed = async (worker: TestApp) =>
      (await metricsOf(worker)).includes('due_work_failed_runs_total{work="usage-archive"} 1\n');

    const before = await start();
    await until('the run fails', () => failed(before));
    const atFirst = await metricsOf(before);
    expect(atFirst).toContain('due_work_failed_runs_total{work="audit-seals"} 0\n');
    expect(atFirst).not.toMatch(/^usage_oldest_month_timestamp_seconds /m);
    await before.close();

    await archiveAt(ARCHIVED_AT);
    const after = await start();
    await until('the run fails', () => failed(after));
    const january = Date.parse('2026-01-01T00:00:00Z') / 1_000;
    expect(await metricsOf(after)).toContain(`\nusage_oldest_month_timestamp_seconds ${january}\n`);
    await after.close();

    await rm(join(directory, '2026-01'), { recursive: true });
    await archiveAt(REMOVED_AT);
    expect(await metricsOf(engine)).toContain('damaged_reads_total{object="usage_file"} 1\n');
  });

  it('archives events that were stored between the search and the close', async () => {
    const customers = [await createCustomer(engine), await createCustomer(engine)];
    for (const customerId of customers) {
      await insertUsage(engine, { customerId, eventName: CALL, events: 10, hours: 600 });
    }
    const [ada = ''] = customers;
    const lines = Array.from({ length: 11_000 }, (_, index) =>
      JSON.stringify(event(ada, `many-${index}`, '2026-02-15T00:00:00Z')),
    );
    engine.clock.set(ARCHIVED_AT);
    const archive = engine.app.get(ArchiveUsage);
    const closed = (): Promise<boolean> =>
      engine.database.transaction(async () => {
        const step = await archive.archiveNext(engine.clock.now());
        expect(step).not.toBe('none');
        if (typeof step === 'string') return false;
        await engine.http
          .post('/v1/usage-events')
          .set('Content-Type', 'application/x-ndjson')
          .send(lines.join('\n'))
          .expect(200);
        await archive.close(step, () => Promise.resolve(new Map()));
        return true;
      });
    while (!(await closed())) continue;
    await archiveAt(ARCHIVED_AT);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual([]);
    expect(new Set((await archived()).map(({ idempotency_key: key }) => key)).size).toBe(11_020);
    expect((await months()).map(({ events }) => events).sort()).toEqual([10, 11_010]);
  });

  it('does not write a closed month while a new meter counts the stored events', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-02-10T00:00:00Z'));
    engine.clock.set(ARCHIVED_AT);
    while ((await months()).length === 0) await engine.app.get(DueUsageArchive).runDue();
    const meter = await insertMeter(engine, { eventName: CALL });
    await engine.database.query(
      `INSERT INTO meter_backfill (meter_id, next_stream_id, steps) VALUES ('${meter}', 0, 0)`,
    );
    await archiveAt(ARCHIVED_AT);
    expect(await archived()).toEqual([]);
    await engine.database.query('DELETE FROM meter_backfill');
    await archiveAt(ARCHIVED_AT);
    expect(await archived()).toHaveLength(1);
  });

  it('keeps an event that its file does not have', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '2026-02-10T00:00:00Z'), event(ada, 'a2', '2026-02-10T00:00:00Z'));
    await archiveAt(ARCHIVED_AT);
    // As if a process of a release without an archive had stored it.
    await engine.database.query(
      `DELETE FROM usage_archived_key USING usage_event AS event
       WHERE event.key_digest = usage_archived_key.key_digest AND idempotency_key = 'a2'`,
    );
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual(['a2']);
  });

  it('archives several months at once', async () => {
    const ada = await createCustomer(engine);
    for (const month of ['02', '03', '05']) {
      engine.clock.set(`2026-${month}-20T00:00:00Z`);
      await send(event(ada, `a${month}`, `2026-${month}-10T00:00:00Z`));
    }
    await archiveAt('2026-09-01T00:00:00Z');
    await archiveAt('2026-09-01T00:20:00Z');
    expect(await storedKeys()).toEqual([]);
    expect(await months()).toHaveLength(3);
  });

  it('archives events of the first years by month, and those of all customers after them', async () => {
    const [ada, ben] = [await createCustomer(engine), await createCustomer(engine)];
    await send(
      event(ada, 'a1', '0001-01-01T00:00:00Z'),
      event(ada, 'a2', '0099-12-31T23:59:59Z'),
      event(ada, 'a3', '1900-01-01T00:00:00Z'),
      event(ben, 'b1', '2026-02-10T00:00:00Z'),
    );
    await archiveAt(ARCHIVED_AT);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual([]);
    const stored = await engine.database.query<{ period: string }>(
      `SELECT to_char(start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD ') || to_char(end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS period
       FROM usage_archive_month ORDER BY start_at`,
    );
    expect(stored.map(({ period }) => period)).toEqual([
      '0001-01-01 0001-02-01',
      '0099-12-01 0100-01-01',
      '1900-01-01 1900-02-01',
      '2026-02-01 2026-03-01',
    ]);
    expect(await send(event(ada, 'a4', '0050-01-01T00:00:00Z'))).toMatchObject({
      rejected: [{ code: 'usage_archived' }],
    });
  });

  it('goes on after a month that the previous release closed with a wrong end, and archives it a day later', async () => {
    const ada = await createCustomer(engine);
    await send(event(ada, 'a1', '0001-01-01T00:00:00Z'), event(ada, 'a2', '1900-01-01T00:00:00Z'));
    engine.clock.set(ARCHIVED_AT);
    const closed = () => engine.database.query('SELECT FROM usage_archive_month');
    while ((await closed()).length === 0) await engine.app.get(DueUsageArchive).runDue();
    await engine.database.query(`UPDATE usage_archive_month SET end_at = '1901-02-01T00:00:00Z'`);
    await engine.database.query(`UPDATE usage_stream SET closed_before = '1901-02-01T00:00:00Z'`);
    const ben = await createCustomer(engine);
    await send(event(ben, 'b1', '2026-02-10T00:00:00Z'));
    // The month has an hour of each event, and the hours of 1,900 years are too many.
    await archiveAt(ARCHIVED_AT);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual(['a1', 'a2']);
    await archiveAt('2026-06-02T00:00:01Z');
    await archiveAt('2026-06-02T00:20:01Z');
    expect(await storedKeys()).toEqual([]);
    expect((await archived()).map(({ idempotency_key: key }) => key).sort()).toEqual([
      'a1',
      'a2',
      'b1',
    ]);
  });

  it('leaves out only the streams whose events cannot be archived', async () => {
    const customers: string[] = [];
    for (let at = 0; at < 7; at += 1) customers.push(await createCustomer(engine));
    await send(
      ...customers.map((id, at) => event(id, `c${at}`, '2026-02-10T00:00:00Z')),
      ...customers.map((id, at) => event(id, `d${at}`, '2026-01-10T00:00:00Z')),
    );
    // Stands for stored data that cannot be read.
    const [bad, worse] = [customers[2], customers[5]];
    await engine.database.query(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001'; END $$`);
    await engine.database.query(`
      CREATE TRIGGER fail BEFORE UPDATE ON usage_archive_month FOR EACH ROW
      WHEN (NEW.stream_id IN (${await streamsOf(bad, worse)})
        AND NEW.written_at IS NOT NULL) EXECUTE FUNCTION fail()`);
    await archiveAt(ARCHIVED_AT);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual(['c2', 'c5', 'd2', 'd5']);
    await engine.database.query('DROP TRIGGER fail ON usage_archive_month');
    await archiveAt('2026-06-02T00:00:01Z');
    await archiveAt('2026-06-02T00:20:01Z');
    expect(await storedKeys()).toEqual([]);
    expect(new Set((await archived()).map(({ idempotency_key: key }) => key)).size).toBe(14);
    // Other files were left by steps that failed.
    expect(await engine.database.query('SELECT sum(events)::int FROM usage_archive_file')).toEqual([
      { sum: 14 },
    ]);
  });

  it('keeps the events of customers on test clocks', async () => {
    const { body: clock } = await engine.http
      .post('/v1/test-clocks')
      .send({ name: 'Old', now: '2020-01-01T00:00:00Z' })
      .expect(201);
    const { body } = await engine.http
      .post('/v1/customers')
      .send({ name: 'Ada', test_clock_id: (clock as { id: string }).id })
      .expect(201);
    await send(event((body as { id: string }).id, 'a1', '2020-01-01T00:00:00Z'));
    await archiveAt(ARCHIVED_AT);
    await archiveAt(REMOVED_AT);
    expect(await storedKeys()).toEqual(['a1']);
  });
});
