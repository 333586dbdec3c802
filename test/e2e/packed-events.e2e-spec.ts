import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventRetention } from '../../src/platform/outbox/event-retention';
import { sealAll } from '../support/audit-seals';
import { createCustomer } from '../support/billing';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly object: { readonly id: string } };
}

/** Stores all data with its events and changes, as releases before packs did. */
const UNPACK = [
  `UPDATE event SET data = pack.data[pack_place], pack_id = NULL, pack_place = NULL
   FROM event_pack AS pack WHERE pack.id = pack_id`,
  `UPDATE audit_change AS change
   SET changes = first.pack[change.pack_place], pack_position = NULL, pack_place = NULL
   FROM audit_change AS first WHERE first.position = change.pack_position`,
  'UPDATE audit_change SET pack = NULL',
];

describe('events of one commit', () => {
  let engine: TestApp;
  let receiver: Receiver;
  let planId: string;

  beforeEach(async () => {
    engine = await startTestApp({
      environment: { EVENT_RETENTION_MONTHS: '1', WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' },
    });
    receiver = await startReceiver();
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 }];
    const plan = { code: 'pro', name: 'Pro', currency: 'EUR', interval: 'month', prices };
    planId = await post('plans', plan);
  });

  afterEach(async () => {
    await receiver.close();
    await engine.close();
  });

  async function post(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (answer.body as { id: string }).id;
  }

  const textOf = async (path: string): Promise<string> =>
    (await engine.http.get(`/v1/${path}`).expect(200)).text;

  async function subscribe(): Promise<{ readonly customer: string; readonly invoice: string }> {
    const customer = await createCustomer(engine);
    await post('subscriptions', { customer_id: customer, plan_id: planId });
    const { body } = await engine.http.get(`/v1/invoices?customer_id=${customer}`).expect(200);
    return { customer, invoice: (body as { data: { id: string }[] }).data[0]?.id ?? '' };
  }

  async function eventsOf(invoice: string): Promise<readonly EventBody[]> {
    const { body } = await engine.http.get(`/v1/events?object_id=${invoice}`).expect(200);
    return (body as { data: readonly EventBody[] }).data;
  }

  const count = async (sql: string): Promise<number> => {
    const [row] = await engine.database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM ${sql}`,
    );
    return row?.count ?? 0;
  };

  const packedEvents = (): Promise<number> => count('event WHERE pack_id IS NOT NULL');

  async function changeRows(statements: readonly string[]): Promise<void> {
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      for (const sql of statements) await engine.database.query(sql);
    });
  }

  async function dispatchAll(): Promise<void> {
    while (await engine.app.get(EventDispatcher).runDue());
  }

  async function deleteOldEvents(): Promise<void> {
    engine.clock.set(new Date(Date.now() + 100 * 86_400_000).toISOString());
    while (await engine.app.get(EventRetention).runDue());
  }

  it('are stored together, and read as those that are stored alone', async () => {
    const { customer, invoice } = await subscribe();
    expect(await packedEvents()).toBeGreaterThanOrEqual(2);
    const [finalized, created] = await eventsOf(invoice);
    const paths = [
      'events?limit=100',
      'events?type=invoice.*',
      'events?type=invoice.finalized&from=2000-01-01T00:00:00Z',
      `events?customer_id=${customer}`,
      `events/${created?.id ?? ''}`,
      `events/${finalized?.id ?? ''}`,
      'audit-log?limit=100',
      `audit-log?object_id=${invoice}`,
      'audit-log/export',
    ];
    const packed = await Promise.all(paths.map(textOf));
    await changeRows(UNPACK);
    expect(await packedEvents()).toBe(0);
    expect(await Promise.all(paths.map(textOf))).toEqual(packed);
    const shown = await textOf(`invoices/${invoice}`);
    expect(JSON.stringify(finalized?.data.object)).toBe(shown);
    expect(packed[2]).toContain(`"object":${shown}`);
  });

  it('are delivered with the text that the list shows', async () => {
    await post('webhooks/endpoints', { url: receiver.url, events: ['invoice.*'] });
    const { invoice } = await subscribe();
    expect(await packedEvents()).toBeGreaterThanOrEqual(2);
    await dispatchAll();
    await engine.app.get(DeliveryWorker).runDue();
    await engine.app.get(DeliveryWorker).idle();
    const shown = await eventsOf(invoice);
    expect(receiver.received.map(({ body }) => body).sort()).toEqual(
      shown.map((event) => JSON.stringify(event)).sort(),
    );
  });

  it('keep their data until the last of them is deleted', async () => {
    const { invoice } = await subscribe();
    const [finalized, created] = await eventsOf(invoice);
    await dispatchAll();
    await post('webhooks/endpoints', { url: receiver.url, events: ['customer.created'] });
    const endpoint = `(SELECT max(id) FROM webhook_endpoint)`;
    const pending = `
      INSERT INTO webhook_delivery
        (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, due_at, created_at, updated_at)
      SELECT 'whd_kept', ${endpoint}, id, type, object_id, sequence, 'event', 'pending', now(), now(), now()
      FROM event WHERE id = $1`;
    await engine.database.query(pending, [finalized?.id]);
    await dispatchAll();
    await deleteOldEvents();
    expect(await eventsOf(invoice)).toEqual([finalized]);
    await engine.http.get(`/v1/events/${created?.id ?? ''}`).expect(404);
    expect(await count('event_pack')).toBe(1);
    await engine.database.query(`UPDATE webhook_delivery SET status = 'failed', due_at = NULL`);
    await deleteOldEvents();
    expect(await count('event_pack')).toBe(0);
  });

  it('leave no pack when two workers delete them', async () => {
    for (let made = 0; made < 6; made += 1) await subscribe();
    await dispatchAll();
    engine.clock.set(new Date(Date.now() + 100 * 86_400_000).toISOString());
    const retention = engine.app.get(EventRetention);
    await Promise.all([retention.runDue(), retention.runDue(), retention.runDue()]);
    expect(await count('event')).toBe(0);
    expect(await count('event_pack')).toBe(0);
  });

  it.each([
    [
      'the values of a change',
      `UPDATE audit_change SET pack[2] = '{"total":{"after":1}}' WHERE pack IS NOT NULL`,
    ],
    ['the place of a change', 'UPDATE audit_change SET pack_place = 1 WHERE pack_place = 2'],
    ['all values', 'UPDATE audit_change SET pack = NULL'],
  ])('have sealed changes: verification reports a changed version of %s', async (_, tamper) => {
    await subscribe();
    expect(await count('audit_change WHERE pack IS NOT NULL')).toBe(1);
    await sealAll(engine);
    const { body: before } = await engine.http.get('/v1/audit-log/verify').expect(200);
    expect(before).toMatchObject({ ok: true, unsealed_changes: 0 });
    await changeRows([tamper]);
    const { body: after } = await engine.http.get('/v1/audit-log/verify').expect(200);
    expect(after).toMatchObject({ ok: false, faults: [{ fault: 'content_changed' }] });
  });

  it('have changes whose seals also hold when the changes are stored alone', async () => {
    await subscribe();
    await sealAll(engine);
    await changeRows(UNPACK);
    const { body } = await engine.http.get('/v1/audit-log/verify').expect(200);
    expect(body).toMatchObject({ ok: true, unsealed_changes: 0 });
  });
});
