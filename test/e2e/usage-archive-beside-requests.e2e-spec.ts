import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { UsageStore } from '../../src/modules/metering';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { createCustomer, insertMeter, reportUsage, type SentUsage } from '../support/metering';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';

const CALL = 'call';
const JANUARY = '2026-01-10T00:00:00.000Z';
const FEBRUARY = '2026-02-10T00:00:00.000Z';
/** Instants of two daily searches of the archive. */
const SEARCHES = ['2026-06-01T00:00:00Z', '2026-06-02T01:00:00Z'] as const;

describe('the archive of usage beside requests', () => {
  let engine: TestApp;
  let directory: string;
  let ada: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    engine.clock.set('2026-01-01T00:00:00Z');
    ada = await createCustomer(engine);
    await disableLockTimeout(engine);
  });

  afterEach(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function create(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (answer.body as { readonly id: string }).id;
  }

  const report = (...usage: readonly SentUsage[]) => reportUsage(engine, ada, CALL, usage);

  const step = () => engine.app.get(DueUsageArchive).runDue();

  async function archive(now: string): Promise<void> {
    engine.clock.set(now);
    while (await step()) continue;
  }

  /** Returns the timestamps of the events in the archive, by file. */
  async function archived(): Promise<readonly (readonly string[])[]> {
    const names = await readdir(directory, { recursive: true });
    const files = names.filter((name) => name.endsWith('.ndjson.gz')).toSorted();
    const texts = await Promise.all(
      files.map(async (name) => gunzipSync(await readFile(join(directory, name))).toString()),
    );
    return texts.map((text) =>
      [...text.matchAll(/"timestamp":"([^"]+)"/g)].map(([, timestamp = '']) => timestamp),
    );
  }

  it('archives an event of an earlier month that was stored while it waited for the stream', async () => {
    const meter = await insertMeter(engine, { eventName: CALL });
    engine.clock.set('2026-02-20T00:00:00Z');
    await report([FEBRUARY, 1, null]);
    engine.clock.set(SEARCHES[0]);
    const commit = await openTransaction(engine.database, () =>
      engine.app.get(UsageStore).append([
        {
          index: 0,
          idempotencyKey: 'january',
          customerId: ada,
          eventName: CALL,
          timestamp: new Date(JANUARY),
          properties: {},
        },
      ]),
    );
    const archiving = archive(SEARCHES[0]);
    await untilSessionsWait(engine.database);
    await commit();
    await archiving;
    expect(await archived()).toEqual([]);
    await archive(SEARCHES[1]);
    expect(await archived()).toEqual([[JANUARY], [FEBRUARY]]);
    const { body } = await engine.http
      .get(`/v1/meters/${meter}/proof`)
      .query({ customer_id: ada, from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' });
    const months = ['2026-01', '2026-02'].map((month) => ({ month, events: 1 }));
    expect(body).toMatchObject({ accepted: 0, archived: months });
  });

  /** Bills usage of January, closes the month, and returns the paths of the invoice and its line. */
  async function billAndClose(): Promise<{ readonly invoice: string; readonly line: string }> {
    const plan = await create('plans', {
      code: 'calls',
      name: 'Calls',
      currency: 'USD',
      interval: 'month',
      prices: [
        {
          name: 'Calls',
          model: 'per_unit',
          unit_amount: '100',
          timing: 'in_arrears',
          meter_id: await create('meters', {
            key: 'calls',
            event_name: CALL,
            aggregation: 'count',
          }),
        },
      ],
    });
    // Not at an hour, so that the period has an edge within an hour.
    engine.clock.set('2026-01-05T10:20:00Z');
    await create('subscriptions', { customer_id: ada, plan_id: plan, collection: 'send_invoice' });
    engine.clock.set('2026-02-05T10:20:00Z');
    await report(['2026-01-05T10:30:00.000Z', 1, null], [JANUARY, 1, null]);
    for (let month = 2; month <= 6; month += 1) {
      engine.clock.set(`2026-0${month}-05T10:20:00Z`);
      while (await engine.app.get(DueSubscriptions).runDue()) continue;
    }
    const { body } = await engine.http.get('/v1/invoices').query({ customer_id: ada });
    const { data } = body as { data: { id: string; lines: { id: string }[] }[] };
    const billed = data.find(({ lines }) => lines.length > 0);
    const closed = 'SELECT FROM usage_archive_month';
    while ((await engine.database.query(closed)).length === 0) expect(await step()).toBe(true);
    const invoice = `/v1/invoices/${billed?.id}`;
    return { invoice, line: `${invoice}/lines/${billed?.lines[0]?.id}` };
  }

  /** Sends a request that reads from `table` only after the closed month was archived. */
  async function getWhileArchiving(path: string, table: string): Promise<object> {
    const commit = await openTransaction(engine.database, async () => {
      await step();
      await engine.database.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    });
    const reading = engine.http.get(path).then((answer) => answer);
    await untilSessionsWait(engine.database);
    await commit();
    const { status, body } = await reading;
    return { status, body: body as object };
  }

  it('lists the events of an invoice line as of one instant if the month is archived meanwhile', async () => {
    const path = `${(await billAndClose()).line}/events`;
    const { body: before } = await engine.http.get(path).expect(200);
    expect(await getWhileArchiving(path, 'usage_event')).toEqual({ status: 200, body: before });
    const { body: after } = await engine.http.get(path).expect(200);
    expect(after).toMatchObject({ archived: [{ month: '2026-01', events: 2 }] });
  });

  // Not as of one instant: a snapshot would keep a connection until all lines are counted again.
  it.each(['invoice', 'line'] as const)(
    'explains the %s of usage whose month is archived before it is counted again',
    async (object) => {
      const path = `${(await billAndClose())[object]}/explanation`;
      const meanwhile = await getWhileArchiving(path, 'usage_bucket');
      const { body: after } = await engine.http.get(path).expect(200);
      expect(meanwhile).toEqual({ status: 200, body: after as object });
      const line = { usage_matches: null, archived: [{ month: '2026-01', events: 2 }] };
      expect(after).toMatchObject(object === 'line' ? line : { data: [line] });
    },
  );
});
