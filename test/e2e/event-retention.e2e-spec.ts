import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { firstIdAt } from '../../src/platform/ids';
import { EventRetention } from '../../src/platform/outbox/event-retention';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

const KEPT_MONTHS = 3;
const MONTH_MS = 31 * 86_400_000;

interface Stored {
  readonly sequence: number;
  readonly type: string;
}

describe('the retention of events', () => {
  let engine: TestApp;
  let receiver: Receiver;

  beforeEach(async () => {
    engine = await startTestApp({
      environment: { EVENT_RETENTION_MONTHS: String(KEPT_MONTHS) },
    });
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await receiver.close();
    await engine.close();
  });

  const inMonths = (months: number): Date => new Date(Date.now() + months * MONTH_MS);

  async function deleteAllAt(now: Date): Promise<void> {
    engine.clock.set(now.toISOString());
    while (await engine.app.get(EventRetention).runDue()) continue;
  }

  async function dispatchAll(): Promise<void> {
    while (await engine.app.get(EventDispatcher).runDue()) continue;
  }

  async function createCustomer(): Promise<string> {
    const { body } = await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
    return (body as { id: string }).id;
  }

  const rename = (id: string, name: string) =>
    engine.http.patch(`/v1/customers/${id}`).send({ name }).expect(200);

  const eventsOf = (id: string): Promise<readonly Stored[]> =>
    engine.database.query<Stored>(
      'SELECT sequence, type FROM event WHERE object_id = $1 ORDER BY sequence',
      [id],
    );

  const count = async (table: string): Promise<number> => {
    const [row] = await engine.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table}`,
    );
    return row?.count ?? 0;
  };

  it('deletes those of months before it, and the numbers of an object go on', async () => {
    const id = await createCustomer();
    await rename(id, 'Grace');
    await dispatchAll();
    const { body } = await engine.http.get(`/v1/events?object_id=${id}`).expect(200);
    const [newest] = (body as { data: readonly { id: string }[] }).data;
    await deleteAllAt(inMonths(2));
    expect(await eventsOf(id)).toHaveLength(2);
    await deleteAllAt(inMonths(6));
    expect(await eventsOf(id)).toEqual([]);
    await engine.http.get(`/v1/events/${newest?.id ?? ''}`).expect(404);
    await rename(id, 'Edsger');
    await rename(id, 'Barbara');
    expect(await eventsOf(id)).toEqual([
      { sequence: 3, type: 'customer.updated' },
      { sequence: 4, type: 'customer.updated' },
    ]);
    await dispatchAll();
    await deleteAllAt(inMonths(6));
    await rename(id, 'Tony');
    expect((await eventsOf(id)).map(({ sequence }) => sequence)).toEqual([5]);
  });

  it('keeps events that are not dispatched yet or have a pending delivery', async () => {
    const unwatched = await createCustomer();
    await dispatchAll();
    const { body } = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: receiver.url, events: ['customer.created'] })
      .expect(201);
    const pending = await createCustomer();
    await dispatchAll();
    const undispatched = await createCustomer();
    await deleteAllAt(inMonths(6));
    expect(await eventsOf(unwatched)).toEqual([]);
    expect(await eventsOf(pending)).toHaveLength(1);
    expect(await eventsOf(undispatched)).toHaveLength(1);
    await dispatchAll();
    await engine.database.query(
      `UPDATE webhook_delivery SET status = 'succeeded', due_at = NULL WHERE endpoint_id = $1`,
      [(body as { id: string }).id],
    );
    await deleteAllAt(inMonths(6));
    expect(await count('webhook_delivery')).toBe(0);
    expect(await eventsOf(pending)).toEqual([]);
  });

  it('deletes each event once by two workers', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, createCustomer));
    await dispatchAll();
    engine.clock.set(inMonths(6).toISOString());
    const retention = engine.app.get(EventRetention);
    await Promise.all([retention.runDue(), retention.runDue()]);
    expect(await count('event')).toBe(0);
    expect(await count('event_sequence')).toBe(ids.length);
  });

  it('reads the events that it kept once in a run, and again in the next run', async () => {
    const { body } = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: receiver.url, events: ['customer.created'] })
      .expect(201);
    const pending = await createCustomer();
    await dispatchAll();
    await recordMonth(inMonths(1), Date.now());
    engine.clock.set(inMonths(6).toISOString());
    const retention = engine.app.get(EventRetention);
    expect(await retention.runDue()).toBe(true);
    await engine.database.query(
      `UPDATE webhook_delivery SET status = 'succeeded', due_at = NULL WHERE endpoint_id = $1`,
      [(body as { id: string }).id],
    );
    while (await retention.runDue()) continue;
    expect(await eventsOf(pending)).toHaveLength(1);
    expect(await count('event')).toBe(1);
    await deleteAllAt(inMonths(6));
    expect(await eventsOf(pending)).toEqual([]);
  });

  it('checks 5,000 events at a time, and goes on after those that it kept', async () => {
    const start = Date.now();
    await recordMonth(inMonths(1), start);
    await recordMonth(inMonths(2), start);
    await recordMonth(inMonths(3), start);
    await engine.database.query(
      `INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at)
       SELECT id, type, object_id, sequence, occurred_at FROM event ORDER BY id LIMIT 5500`,
    );
    engine.clock.set(inMonths(8).toISOString());
    const retention = engine.app.get(EventRetention);
    expect(await retention.runDue()).toBe(true);
    expect(await count('event')).toBe(6_000);
    while (await retention.runDue()) continue;
    expect(await count('event')).toBe(5_500);
  });

  it('stops the growth of the tables at constant business', async () => {
    const sizes: number[] = [];
    const start = Date.UTC(2024, 0, 1);
    for (let month = 0; month < 4 * KEPT_MONTHS; month += 1) {
      const startOfMonth = new Date(Date.UTC(2024, month, 1));
      await recordMonth(startOfMonth, start);
      await deleteAllAt(new Date(Date.UTC(2024, month + 1, 1)));
      await engine.database.query('VACUUM event');
      sizes.push(await sizeOf('event'));
    }
    expect(await count('event')).toBeLessThanOrEqual((KEPT_MONTHS + 1) * EVENTS_A_MONTH);
    const [full = 0] = sizes.slice(KEPT_MONTHS + 2);
    expect(sizes.at(-1)).toBeLessThanOrEqual(1.1 * full);
    // One short row is left for each object that had no event since.
    expect(await sizeOf('event_sequence')).toBeLessThan(full);
  });

  const EVENTS_A_MONTH = 2_000;

  /** Records events of as many objects, all of them changed in this month only. */
  async function recordMonth(month: Date, start: number): Promise<void> {
    const ids = Array.from({ length: EVENTS_A_MONTH }, (_, index) =>
      firstIdAt('evt', new Date(month.getTime() + index * 1_000)),
    );
    const object = `${(month.getTime() - start) / 86_400_000}`;
    await engine.database.query(
      `INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
       SELECT id, 'customer.updated', 'cus_' || $2 || '_' || number, 1,
         json_build_object('object', repeat('a customer ', 60), 'previous', '{}'), $3
       FROM unnest($1::text[]) WITH ORDINALITY AS recorded (id, number)`,
      [ids, object, month],
    );
  }

  async function sizeOf(table: string): Promise<number> {
    const [row] = await engine.database.query<{ size: number }>(
      'SELECT pg_total_relation_size($1::regclass)::float8 AS size',
      [table],
    );
    return row?.size ?? 0;
  }
});
