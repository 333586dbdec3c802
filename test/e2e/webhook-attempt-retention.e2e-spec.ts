import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AttemptRetention } from '../../src/modules/webhooks/delivery/attempt-retention';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { dataSourceOptions, migrate } from '../../src/platform/database';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

const PARTITIONS = `
  SELECT inhrelid::regclass::text AS name FROM pg_inherits
  WHERE inhparent = 'webhook_attempt'::regclass ORDER BY 1`;

interface Attempts {
  readonly attempts: readonly object[];
}

describe('the retention of attempts', () => {
  let engine: TestApp;
  let receiver: Receiver;

  beforeEach(async () => {
    engine = await startTestApp({ environment: { WEBHOOK_ATTEMPT_DAYS: '30' } });
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await receiver.close();
    await engine.close();
  });

  async function partitions(): Promise<readonly string[]> {
    const rows = await engine.database.query<{ name: string }>(PARTITIONS);
    return rows.map(({ name }) => name.replace('webhook_attempt_', ''));
  }

  async function dropAllAt(now: string): Promise<number> {
    engine.clock.set(now);
    let dropped = 0;
    while (await engine.app.get(AttemptRetention).runDue()) dropped += 1;
    return dropped;
  }

  /** Sends one notification, and returns the id of its delivery. */
  async function notify(endpointId: string): Promise<string> {
    await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
    await engine.app.get(EventDispatcher).runDue();
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await worker.idle();
    const { body } = await engine.http.get(`/v1/webhooks/endpoints/${endpointId}/deliveries`);
    const [newest] = (body as { data: readonly { id: string }[] }).data;
    return newest?.id ?? '';
  }

  async function attemptsOf(deliveryId: string): Promise<number> {
    const { body } = await engine.http.get(`/v1/webhooks/deliveries/${deliveryId}`).expect(200);
    return (body as Attempts).attempts.length;
  }

  it('drops a month once all of its attempts are older, and keeps the delivery', async () => {
    await dropAllAt('2030-01-10T00:00:00Z');
    const { body } = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: receiver.url, events: ['customer.created'] });
    const endpointId = (body as { id: string }).id;
    const old = await notify(endpointId);
    engine.clock.set('2030-02-01T00:00:00Z');
    const later = await notify(endpointId);
    expect(await attemptsOf(old)).toBe(1);

    expect(await dropAllAt('2030-03-02T23:59:59Z')).toBe(0);
    expect(await partitions()).toContain('2030_01');
    expect(await dropAllAt('2030-03-03T00:00:00Z')).toBe(1);
    expect(await partitions()).not.toContain('2030_01');
    expect(await attemptsOf(old)).toBe(0);
    expect(await attemptsOf(later)).toBe(1);
  });

  it('is tried again later while a reader uses the month', async () => {
    await dropAllAt('2030-01-10T00:00:00Z');
    const reader = new Client({ connectionString: engine.databaseUrl });
    await reader.connect();
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM webhook_attempt_2030_01');
      expect(await dropAllAt('2030-03-10T00:00:00Z')).toBe(0);
      await reader.query('COMMIT');
      expect(await dropAllAt('2030-03-10T00:00:00Z')).toBe(1);
    } finally {
      await reader.end();
    }
  });
});

it('has a partition for the first attempt after a long stop, without due work', async () => {
  const database = await createTestDatabase();
  const dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  const engine = await startTestApp({ databaseUrl: database.url });
  try {
    expect(await dataSource.query(PARTITIONS)).toContainEqual({ name: 'webhook_attempt_2026_03' });
  } finally {
    await engine.close();
    await dataSource.destroy();
    await database.drop();
  }
});

describe('attempts of earlier releases', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('become the partition of all months up to a bound, and stay where they are stored', async () => {
    const isThere = async (name: string): Promise<boolean> => {
      const [row] = await dataSource.query<{ count: number }[]>(
        'SELECT count(*)::int AS count FROM migration WHERE name = $1',
        [name],
      );
      return row?.count === 1;
    };
    while (await isThere('BoundWebhookAttempts1795411400010')) await dataSource.undoLastMigration();
    await dataSource.query(`
      INSERT INTO webhook_endpoint (id, version, url, events, metadata, created_at, updated_at)
      VALUES ('we_1', 1, 'https://example.com', '{*}', '{}', now(), now())`);
    await dataSource.query(`
      INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
      VALUES ('evt_1', 'customer.created', 'cus_1', 1, '{}', now())`);
    await dataSource.query(`
      INSERT INTO webhook_delivery
        (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, created_at, updated_at)
      VALUES ('whd_1', 'we_1', 'evt_1', 'customer.created', 'cus_1', 1, 'event', 'failed', now(), now())`);
    await dataSource.query(`
      INSERT INTO webhook_attempt (delivery_id, number, started_at, duration_ms)
      SELECT 'whd_1', n, now() - n * interval '1 month', 5 FROM generate_series(1, 9) AS n`);
    const [before] = await dataSource.query<{ file: string }[]>(
      `SELECT pg_relation_filepath('webhook_attempt') AS file`,
    );

    await migrate(database.url);
    const [after] = await dataSource.query<{ file: string; rows: number }[]>(
      `SELECT pg_relation_filepath('webhook_attempt_before') AS file,
         (SELECT count(*)::int FROM webhook_attempt) AS rows`,
    );
    expect(after).toEqual({ file: before?.file, rows: 9 });
    await dataSource.query('DELETE FROM webhook_delivery');
    expect(await dataSource.query('SELECT FROM webhook_attempt')).toEqual([]);
  });
});
