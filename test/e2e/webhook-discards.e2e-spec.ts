import type { ServerResponse } from 'node:http';
import { Client } from 'pg';
import { WaitingRowsRepository } from '../../src/platform/jobs';
import { WAITING_DELIVERIES } from '../../src/modules/webhooks/delivery/deliveries.repository';
import { DeliveryDiscards } from '../../src/modules/webhooks/delivery/delivery-discards';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { accept, answer, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const QUEUED = 2_500;
/** Number of deliveries that are discarded in one commit. */
const PORTION = 1_000;

/** Number of former deliveries with lower ids, and of those with higher ids. */
const HISTORY = 20_000;
const LEFT_OUT = /Rows Removed by Filter: (\d+)/;

const PLANT_HISTORY = `
  INSERT INTO webhook_delivery
    (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, created_at, updated_at)
  SELECT side || lpad(n::text, 24, '0'), endpoint_id, event_id, event_type, object_id, 1, 'replay', 'succeeded', now(), now()
  FROM (SELECT * FROM webhook_delivery LIMIT 1) AS one, generate_series(1, ${HISTORY}) AS n, unnest('{whd_00,whd_02}'::text[]) AS side`;

const PLANT_EVENTS = `
  INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
  SELECT 'evt_00' || lpad(n::text, 24, '0'), 'coupon.updated', 'coup_00' || lpad(n::text, 24, '0'), 1,
    '{"object":{},"previous":{}}', now()
  FROM generate_series(1, ${QUEUED}) AS n`;
const PLANT_DELIVERIES = `
  INSERT INTO webhook_delivery
    (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, due_at, created_at, updated_at)
  SELECT 'whd_01' || lpad(n::text, 24, '0'), $1, 'evt_00' || lpad(n::text, 24, '0'), 'coupon.updated',
    'coup_00' || lpad(n::text, 24, '0'), 1, 'event', 'pending', '2020-01-01', now(), now()
  FROM generate_series(1, ${QUEUED}) AS n`;

describe('deliveries to an endpoint that ends', () => {
  let engine: TestApp;
  let receiver: Receiver;

  beforeEach(async () => {
    engine = await startTestApp({ plantsEvents: true, plantsObjects: true });
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await receiver.close();
    await engine.close();
  });

  async function register(url = receiver.url): Promise<string> {
    const terms = { url, events: ['customer.*'] };
    const { body } = await engine.http.post('/v1/webhooks/endpoints').send(terms).expect(201);
    return (body as { id: string }).id;
  }

  const change = (id: string, fields: object) =>
    engine.http.patch(`/v1/webhooks/endpoints/${id}`).send(fields).expect(200);

  async function registerWithQueue(): Promise<string> {
    const id = await register();
    await engine.database.query(PLANT_EVENTS);
    await engine.database.query(PLANT_DELIVERIES, [id]);
    return id;
  }

  async function createCustomer(): Promise<void> {
    await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
    while (await engine.app.get(EventDispatcher).runDue()) continue;
  }

  async function deliver(): Promise<void> {
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await worker.idle();
  }

  async function discardAll(): Promise<void> {
    while (await engine.app.get(DeliveryDiscards).runDue()) continue;
  }

  async function countOf(endpoint: string, status: string): Promise<number> {
    const rows = await engine.database.query(
      'SELECT FROM webhook_delivery WHERE endpoint_id = $1 AND status = $2',
      [endpoint, status],
    );
    return rows.length;
  }

  const countHeads = async () => (await engine.database.query('SELECT FROM webhook_head')).length;

  /** Runs work while another transaction locks the endpoint, or the rows of another table that belong to it. */
  async function whileLocked(
    id: string,
    lock: string,
    work: () => Promise<void>,
    rows = 'webhook_endpoint WHERE id',
  ): Promise<void> {
    const other = new Client({ connectionString: engine.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query(`SELECT FROM ${rows} = $1 ${lock}`, [id]);
    await work().finally(() => other.end());
  }

  it.each([false, true])(
    'are discarded in portions after a 410, and only later events are sent once it is enabled (ordered: %s)',
    async (ordered) => {
      const endpoint = await registerWithQueue();
      await change(endpoint, { ordered });
      receiver.behave(answer(410));
      await deliver();
      const refused = receiver.received.length;
      receiver.behave(accept);
      const left = await countOf(endpoint, 'pending');
      expect(left).toBeGreaterThanOrEqual(QUEUED - PORTION - refused);
      await change(endpoint, { is_active: true });
      await createCustomer();
      await deliver();
      expect(receiver.received).toHaveLength(refused);
      await discardAll();
      expect(await countOf(endpoint, 'discarded')).toBe(QUEUED);
      expect(await countHeads()).toBe(ordered ? 1 : 0);
      await deliver();
      expect(receiver.received).toHaveLength(refused + 1);
      expect(await countOf(endpoint, 'succeeded')).toBe(1);
      expect(await countHeads()).toBe(0);
    },
  );

  it('do not disable it again by a 410 to a request from before it was enabled', async () => {
    const endpoint = await registerWithQueue();
    // Deliveries of the last portion are in flight.
    await engine.database.query(
      `UPDATE webhook_delivery SET due_at = '2019-01-01' WHERE object_id > 'coup_00' || lpad('2400', 24, '0')`,
    );
    const waiting: ServerResponse[] = [];
    receiver.behave((_received, response) => waiting.push(response));
    await engine.app.get(DeliveryWorker).runDue();
    await until('two requests are sent', () => waiting.length >= 2);
    waiting.shift()?.writeHead(410).end();
    const read = async () =>
      (await engine.http.get(`/v1/webhooks/endpoints/${endpoint}`)).body as object;
    await until('it is disabled', async () =>
      JSON.stringify(await read()).includes('"is_active":false'),
    );
    await change(endpoint, { is_active: true });
    await createCustomer();
    receiver.behave(answer(410));
    for (const response of waiting) response.writeHead(410).end();
    await engine.app.get(DeliveryWorker).idle();
    expect(await read()).toMatchObject({ is_active: true, disabled_reason: null });
    await discardAll();
    receiver.behave(accept);
    await deliver();
    expect(await countOf(endpoint, 'discarded')).toBe(QUEUED);
    expect(await countOf(endpoint, 'succeeded')).toBe(1);
  });

  it.each([false, true])(
    'are discarded in portions after its deletion (ordered: %s)',
    async (ordered) => {
      const endpoint = await registerWithQueue();
      await change(endpoint, { ordered });
      await engine.http.delete(`/v1/webhooks/endpoints/${endpoint}`).expect(204);
      expect(await countOf(endpoint, 'discarded')).toBe(PORTION);
      await deliver();
      await Promise.all([discardAll(), discardAll()]);
      await discardAll();
      expect(await countOf(endpoint, 'discarded')).toBe(QUEUED);
      expect(receiver.received).toEqual([]);
      expect(await countHeads()).toBe(0);
    },
  );

  it('are discarded later if another transaction has locked them all', async () => {
    const endpoint = await registerWithQueue();
    await engine.http.delete(`/v1/webhooks/endpoints/${endpoint}`).expect(204);
    const runOnce = async () => {
      expect(await engine.app.get(DeliveryDiscards).runDue()).toBe(false);
    };
    await whileLocked(endpoint, 'FOR UPDATE', runOnce, 'webhook_delivery WHERE endpoint_id');
    expect(await countOf(endpoint, 'discarded')).toBe(PORTION);
    await discardAll();
    expect(await countOf(endpoint, 'discarded')).toBe(QUEUED);
  });

  it.each([false, true])(
    'do not count as waiting, but later ones do (ordered: %s)',
    async (ordered) => {
      const endpoint = await registerWithQueue();
      await change(endpoint, { ordered });
      receiver.behave(answer(410));
      await deliver();
      await change(endpoint, { is_active: true });
      expect(await countOf(endpoint, 'pending')).toBeGreaterThan(0);
      const rows = engine.app.get(WaitingRowsRepository);
      const count = () => rows.count(WAITING_DELIVERIES, QUEUED);
      expect(await count()).toMatchObject({ waiting: 0 });
      await createCustomer();
      await engine.database.query(
        `UPDATE webhook_delivery SET due_at = now() - interval '1 hour' WHERE object_id LIKE 'cus_%'`,
      );
      expect((await count()).waiting).toBe(1);
      expect((await count()).oldestSeconds).toBeGreaterThanOrEqual(3_600);
    },
  );

  it('are found without reading former deliveries', async () => {
    const endpoint = await registerWithQueue();
    // With these statistics, nearly all deliveries are pending.
    await engine.database.query('ALTER TABLE webhook_delivery SET (autovacuum_enabled = false)');
    await engine.database.query('ANALYZE webhook_delivery');
    await engine.database.query(PLANT_HISTORY);
    const { database } = engine;
    const query = database.query.bind(database);
    const wasteful: string[] = [];
    const spy = jest.spyOn(database, 'query').mockImplementation(async (sql, parameters) => {
      if (/^\s*(SELECT|UPDATE)\b.*'pending'/s.test(sql)) {
        const plan = await database.transaction(() =>
          database.rolledBack(() =>
            query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, TIMING OFF) ${sql}`, parameters),
          ),
        );
        const lines = plan.map((line) => line['QUERY PLAN']);
        if (lines.some((line) => Number(LEFT_OUT.exec(line)?.[1]) > PORTION))
          wasteful.push(...lines);
      }
      return query(sql, parameters);
    });
    await engine.http.delete(`/v1/webhooks/endpoints/${endpoint}`).expect(204);
    await discardAll();
    spy.mockRestore();
    expect(wasteful).toEqual([]);
    expect(await countOf(endpoint, 'discarded')).toBe(QUEUED);
  });

  it('are recorded for other endpoints while one is locked', async () => {
    const otherReceiver = await startReceiver();
    const endpoint = await register();
    const other = await register(otherReceiver.url);
    await createCustomer();
    await whileLocked(endpoint, 'FOR UPDATE', deliver);
    expect(await countOf(other, 'succeeded')).toBe(1);
    expect(await countOf(endpoint, 'pending')).toBe(1);
    engine.clock.advanceMs(61_000);
    await deliver();
    expect(otherReceiver.received).toHaveLength(1);
    expect(await countOf(endpoint, 'succeeded')).toBe(1);
    await otherReceiver.close();
  });

  it('are recorded even if the endpoint cannot be disabled, which is logged', async () => {
    const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const endpoint = await register();
    receiver.behave(answer(410));
    await createCustomer();
    await whileLocked(endpoint, 'FOR KEY SHARE', deliver);
    const lines = written.mock.calls.map(([line]) => String(line)).join('');
    written.mockRestore();
    expect(await countOf(endpoint, 'pending')).toBe(1);
    expect(lines).toContain('cannot disable a webhook endpoint');
    expect(lines).not.toContain('webhook attempt not recorded');
    await createCustomer();
    await deliver();
    const { body } = await engine.http.get(`/v1/webhooks/endpoints/${endpoint}`).expect(200);
    expect(body).toMatchObject({ is_active: false, disabled_reason: 'gone' });
    expect(await countOf(endpoint, 'discarded')).toBe(2);
  });

  it('keep updated_at when a process whose clock is behind sends them', async () => {
    await register();
    await createCustomer();
    const later = `UPDATE webhook_delivery SET updated_at = updated_at + interval '3 s'`;
    await engine.database.query(later);
    const updatedAt = new Date(engine.clock.now().getTime() + 3_000);
    await deliver();
    expect(await engine.database.query('SELECT status, updated_at FROM webhook_delivery')).toEqual([
      { status: 'succeeded', updated_at: updatedAt },
    ]);
  });

  it('keep updated_at when a process whose clock is behind discards them', async () => {
    const id = await register();
    engine.clock.advanceMs(3_000);
    await createCustomer();
    const updatedAt = engine.clock.now();
    engine.clock.advanceMs(-3_000);
    await engine.http.delete(`/v1/webhooks/endpoints/${id}`).expect(204);
    expect(await engine.database.query('SELECT status, updated_at FROM webhook_delivery')).toEqual([
      { status: 'discarded', updated_at: updatedAt },
    ]);
  });
});
