import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { startTestApp, type TestApp } from '../support/test-app';

interface Appended {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly code: string }[];
}

describe('the key of an archived event', () => {
  let engine: TestApp;
  let directory: string;
  let customer: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
  });

  afterAll(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function create(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (answer.body as { id: string }).id;
  }

  const shown = ({ accepted, duplicates, rejected }: Appended) => [
    accepted,
    duplicates,
    ...rejected.map(({ code }) => code),
  ];

  const event = (key: string, timestamp: string) => ({
    idempotency_key: key,
    customer_id: customer,
    event_name: 'call',
    timestamp,
  });

  /** Returns as many events as are kept in memory. */
  const otherEvents = () =>
    Array.from({ length: 4_000 }, (_, number) => event(`other-${number}`, '2026-06-20T00:00:00Z'));

  /** Sends the event, also as the last line of NDJSON so long that its events are kept in a temporary table. */
  async function send(key: string, timestamp: string) {
    const one = event(key, timestamp);
    const ofList = await engine.http.post('/v1/usage-events').send({ events: [one] });
    const others = otherEvents();
    const ofLines = await engine.http
      .post('/v1/usage-events')
      .set('Content-Type', 'application/x-ndjson')
      .send([...others, one].map((line) => JSON.stringify(line)).join('\n'));
    const [, duplicates, ...codes] = shown(ofLines.body as Appended);
    expect([0, Number(duplicates) - others.length, ...codes]).toEqual(
      shown(ofList.body as Appended),
    );
    return shown(ofList.body as Appended);
  }

  it('is that of a duplicate only in the archived months, not in the rest of a billed period', async () => {
    engine.clock.set('2026-01-15T00:00:00Z');
    customer = await create('customers', { name: 'Ada' });
    const meter = await create('meters', {
      key: 'calls',
      event_name: 'call',
      aggregation: 'count',
    });
    const price = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const plan = await create('plans', {
      code: 'plan',
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ ...price, meter_id: meter }],
    });
    const terms = { customer_id: customer, plan_id: plan, collection: 'send_invoice' };
    await create('subscriptions', terms);
    engine.clock.set('2026-01-20T00:00:00Z');
    const archived = event('a', '2026-01-20T00:00:00Z');
    await engine.http.post('/v1/usage-events').send(archived).expect(200);
    for (const now of ['2026-06-20T00:00:00Z', '2026-06-20T00:20:00Z']) {
      engine.clock.set(now);
      while (await engine.app.get(DueSubscriptions).runDue()) continue;
      while (await engine.app.get(DueUsageArchive).runDue()) continue;
    }
    const others = otherEvents();
    for (let first = 0; first < others.length; first += 1_000) {
      const events = others.slice(first, first + 1_000);
      await engine.http.post('/v1/usage-events').send({ events }).expect(200);
    }
    const keys = await engine.database.query('SELECT FROM usage_archived_key');
    expect(keys).toHaveLength(1);
    expect(await send('a', '2026-01-20T00:00:00Z')).toEqual([0, 1]);
    expect(await send('a', '2026-01-31T23:59:59.999Z')).toEqual([0, 1]);
    // The period from 15 January to 15 February is closed, but only January is archived.
    for (const timestamp of [
      '2026-02-01T00:00:00Z',
      '2026-02-10T00:00:00Z',
      '2026-02-15T00:00:00Z',
    ]) {
      expect(await send('a', timestamp)).toEqual([0, 0, 'idempotency_key_reused']);
    }
    expect(await send('new', '2026-02-10T00:00:00Z')).toEqual([0, 0, 'usage_archived']);
  });
});
