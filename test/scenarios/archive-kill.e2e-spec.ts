import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { untilOthersRest } from '../support/lock-waits';
import { createCustomer } from '../support/metering';
import { runArchive } from '../support/run-renewals';
import { insertUsage } from '../support/stored-usage';
import { startTestApp, type TestApp } from '../support/test-app';

const WRITE_AT = Date.parse('2026-06-01T00:00:00Z');
const REMOVE_AT = Date.parse('2026-06-01T00:20:00Z');
const STREAMS = [12_000, 2_500, 2_500, 2_500];
const EVENTS = STREAMS.reduce((sum, one) => sum + one);
/** Numbers of statements after which workers are killed; an undisturbed run sends more. */
const KILLS_BEFORE_REMOVING = [6, 15, 19, 26];
const KILLS_WHILE_REMOVING = [5, 10];

interface Proof {
  readonly customerId: string;
  readonly events: number;
  readonly digest: string;
}

/** Workers are killed after each few statements, so that each archives a part, until one runs to its end. */
describe('an archive of usage whose workers are killed', () => {
  let engine: TestApp;
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp();
    engine.clock.set('2026-03-01T00:00:00Z');
  });

  afterEach(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function runUntilDone(now: number, kills: readonly number[]): Promise<void> {
    const environment = { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory };
    for (const statements of kills) {
      const end = await runArchive(engine.databaseUrl, now, environment, statements);
      expect({ statements, end }).toEqual({ statements, end: 'SIGKILL' });
      await assertNothingIsLost();
    }
    expect(await runArchive(engine.databaseUrl, now, environment)).toBe('done');
  }

  /** Returns the keys in the recorded files. */
  async function archived(): Promise<readonly string[]> {
    const files = await engine.database.query<{ name: string }>(
      'SELECT name FROM usage_archive_file',
    );
    const texts = await Promise.all(
      files.map(async ({ name }) => gunzipSync(await readFile(join(directory, name))).toString()),
    );
    return texts.flatMap((text) =>
      [...text.matchAll(/"idempotency_key":"([^"]+)"/g)].map(([, key = '']) => key),
    );
  }

  /** Each event is stored, or in exactly one recorded file with its key recorded. */
  async function assertNothingIsLost(): Promise<void> {
    // The last commit of a killed worker can still be executed.
    await untilOthersRest(engine.database);
    const stored = await engine.database.query<{ key: string }>(
      'SELECT idempotency_key AS key FROM usage_event',
    );
    const keys = await archived();
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set([...keys, ...stored.map(({ key }) => key)]).size).toBe(EVENTS);
    const [row] = await engine.database.query<{ keys: number }>(
      'SELECT count(*)::int AS keys FROM usage_archived_key',
    );
    expect(row?.keys).toBe(keys.length);
  }

  it('loses no event and archives each once', async () => {
    const meter = await engine.http
      .post('/v1/meters')
      .send({ key: 'calls', event_name: 'call', aggregation: 'count' })
      .expect(201);
    const before: Proof[] = [];
    for (const events of STREAMS) {
      const customerId = await createCustomer(engine);
      await insertUsage(engine, { customerId, eventName: 'call', events, hours: 600 });
      const { body } = await engine.http
        .get(`/v1/meters/${(meter.body as { id: string }).id}/proof`)
        .query({
          customer_id: customerId,
          from: '2026-02-01T00:00:00Z',
          to: '2026-03-01T00:00:00Z',
        })
        .expect(200);
      before.push({ customerId, events, digest: (body as Proof).digest });
    }
    await runUntilDone(WRITE_AT, KILLS_BEFORE_REMOVING);
    expect(await archived()).toHaveLength(EVENTS);
    await runUntilDone(REMOVE_AT, KILLS_WHILE_REMOVING);
    const [stored] = await engine.database.query<{ events: number }>(
      'SELECT count(*)::int AS events FROM usage_event',
    );
    expect(stored?.events).toBe(0);
    const after = await engine.database.query<Proof>(
      `SELECT stream.customer_id AS "customerId", month.events::int, month.digest
       FROM usage_archive_month AS month JOIN usage_stream AS stream ON stream.id = month.stream_id
       WHERE month.removed_at IS NOT NULL ORDER BY stream.id`,
    );
    expect(after).toEqual(before);
    // Files without a row are those of steps that were interrupted: they have no other names than the recorded ones.
    const names = (await readdir(join(directory, '2026-02'))).filter((name) =>
      name.endsWith('.gz'),
    );
    expect(names).toHaveLength(3);
  }, 300_000);
});
