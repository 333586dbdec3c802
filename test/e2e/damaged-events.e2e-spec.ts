import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { EventLog } from '../../src/platform/outbox';
import { sealAll } from '../support/audit-seals';
import { createCustomer } from '../support/billing';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly data: object | null;
  readonly object_id?: string;
}

interface AuditBody {
  readonly changes: readonly {
    readonly action: string;
    readonly object_id: string;
    readonly changes: object | null;
  }[];
}

interface Verification {
  readonly seal_count: number;
  readonly sealed_changes: number;
  readonly last_seal: { readonly to_position: string };
  readonly faults: readonly object[];
}

interface Made {
  readonly customer: string;
  readonly invoice: string;
}

const MISSING = ['DELETE FROM event_pack WHERE id = $1'];

/** Makes reads of one pack fail, as they do when PostgreSQL cannot read its page or its compressed value. */
const UNREADABLE = [
  `CREATE OR REPLACE FUNCTION unreadable(value json[]) RETURNS json[] LANGUAGE plpgsql STABLE AS $$
   BEGIN RAISE 'missing chunk number 0 for toast value' USING ERRCODE = 'XX001'; END $$`,
  'ALTER TABLE event_pack RENAME TO stored_event_pack',
  `CREATE VIEW event_pack AS
   SELECT id, CASE WHEN id = $1 THEN unreadable(data) ELSE data END AS data FROM stored_event_pack`,
];

/** Makes changes of one pack fail, as they do when PostgreSQL cannot read its compressed value, or also its page. */
const unreadableOn = (changes: string): readonly string[] => [
  `CREATE FUNCTION unreadable_pack() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN RAISE 'missing chunk number 0 for toast value' USING ERRCODE = 'XX001'; END $$`,
  `CREATE TRIGGER unreadable BEFORE ${changes} ON event_pack
   FOR EACH ROW WHEN (OLD.id = $1) EXECUTE FUNCTION unreadable_pack()`,
];

const MISSING_CHANGES = ['UPDATE audit_change SET pack = NULL WHERE position = $1'];

const UNREADABLE_CHANGES = [
  UNREADABLE[0] ?? '',
  'ALTER TABLE audit_change RENAME TO stored_audit_change',
  `CREATE VIEW audit_change AS
   SELECT entry_id, position, created_at, action, object_id, changes, pack_position, pack_place,
     CASE WHEN position = $1 THEN unreadable(pack) ELSE pack END AS pack
   FROM stored_audit_change`,
];

/** Makes all reads of one change fail, as they do when PostgreSQL cannot read its page. */
const UNREADABLE_PAGE = [
  `CREATE OR REPLACE FUNCTION unreadable(value text) RETURNS text LANGUAGE plpgsql STABLE AS $$
   BEGIN RAISE 'invalid page in block 0 of relation' USING ERRCODE = 'XX001'; END $$`,
  'ALTER TABLE audit_change RENAME TO stored_audit_change',
  `CREATE VIEW audit_change AS
   SELECT CASE WHEN position = $1 THEN unreadable(entry_id) ELSE entry_id END AS entry_id, position,
     created_at, action, object_id, changes, pack, pack_position, pack_place
   FROM stored_audit_change`,
];

describe('events whose stored data is damaged', () => {
  let engine: TestApp;
  let receiver: Receiver;
  let planId: string;
  let damaged: Made;
  let whole: Made;

  beforeEach(async () => {
    engine = await startTestApp({
      plantsEvents: true,
      environment: { LOG_LEVEL: 'silent', WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' },
    });
    receiver = await startReceiver();
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 }];
    const plan = { code: 'pro', name: 'Pro', currency: 'EUR', interval: 'month', prices };
    planId = await post('plans', plan);
    damaged = await subscribe();
    whole = await subscribe();
  });

  afterEach(async () => {
    await receiver.close();
    await engine.close();
  });

  async function post(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (answer.body as { id: string }).id;
  }

  async function read<Body>(path: string): Promise<Body> {
    return (await engine.http.get(`/v1/${path}`).expect(200)).body as Body;
  }

  const list = async <Item>(path: string): Promise<readonly Item[]> =>
    (await read<{ data: readonly Item[] }>(path)).data;

  async function subscribe(): Promise<Made> {
    const customer = await createCustomer(engine);
    await post('subscriptions', { customer_id: customer, plan_id: planId });
    const [invoice] = await list<{ id: string }>(`invoices?customer_id=${customer}`);
    return { customer, invoice: invoice?.id ?? '' };
  }

  async function dispatchAll(): Promise<void> {
    while (await engine.app.get(EventDispatcher).runDue());
  }

  /** Damages what the events, or the changes, of the first invoice are packed in. */
  async function damage(statements: readonly string[], table: 'event' | 'audit_change') {
    const column = table === 'event' ? 'pack_id' : 'pack_position';
    const [row] = await engine.database.query<{ pack: string }>(
      `SELECT max(${column}) AS pack FROM ${table} WHERE object_id = $1`,
      [damaged.invoice],
    );
    expect(row?.pack).toEqual(expect.any(String));
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      for (const sql of statements) await engine.database.query(sql.replace('$1', row?.pack ?? ''));
    });
  }

  const damagedReads = async (object: string): Promise<number> => {
    const { text } = await engine.http.get('/metrics');
    const line = new RegExp(`^damaged_reads_total\\{object="${object}"\\} (\\d+)$`, 'm').exec(text);
    return Number(line?.[1] ?? 0);
  };

  describe.each([
    ['is missing', MISSING],
    ['cannot be read', UNREADABLE],
  ])('because their pack %s', (_, statements) => {
    it('are listed with what their row says, beside all others', async () => {
      const before = await list<EventBody>('events?limit=100');
      await damage(statements, 'event');
      const after = await list<EventBody>('events?limit=100');
      const lost = after.filter(({ data }) => data === null);
      expect(lost.length).toBeGreaterThanOrEqual(2);
      expect(lost.map(({ object_id: id }) => id)).toContain(damaged.invoice);
      expect(after.map(({ id, type }) => ({ id, type }))).toEqual(
        before.map(({ id, type }) => ({ id, type })),
      );
      const isLost = new Set(lost.map(({ id }) => id));
      expect(after.filter(({ id }) => !isLost.has(id))).toEqual(
        before.filter(({ id }) => !isLost.has(id)),
      );
      expect(await damagedReads('event')).toBeGreaterThanOrEqual(lost.length);
      for (const filter of [
        `object_id=${damaged.invoice}`,
        `customer_id=${damaged.customer}`,
        'type=invoice.*',
        'from=2000-01-01T00:00:00Z',
      ]) {
        const found = await list<EventBody>(`events?limit=100&${filter}`);
        expect(found.some(({ data }) => data === null)).toBe(true);
      }
      const one = await read<EventBody>(`events/${lost[0]?.id ?? ''}`);
      expect(one).toEqual(lost[0]);
      expect(await list<EventBody>(`events?object_id=${whole.invoice}`)).toEqual(
        before.filter(({ data }) => JSON.stringify(data).includes(`"id":"${whole.invoice}"`)),
      );
    });

    it('do not keep other events from their receivers', async () => {
      await dispatchAll();
      const endpoint = await post('webhooks/endpoints', {
        url: receiver.url,
        events: ['invoice.finalized'],
      });
      damaged = await subscribe();
      whole = await subscribe();
      await dispatchAll();
      await damage(statements, 'event');
      const worker = engine.app.get(DeliveryWorker);
      await worker.runDue();
      await worker.idle();
      expect(receiver.received.map(({ body }) => body)).toEqual([
        expect.stringContaining(whole.invoice),
      ]);
      const deliveries = await list<{ id: string; status: string }>(
        `webhooks/endpoints/${endpoint}/deliveries`,
      );
      expect(deliveries.map(({ status }) => status).sort()).toEqual(['pending', 'succeeded']);
      const waiting = deliveries.find(({ status }) => status === 'pending');
      expect(await read(`webhooks/deliveries/${waiting?.id ?? ''}`)).toMatchObject({
        attempts: [{ status_code: null, error: expect.stringContaining('event_damaged') }],
      });
      expect(await engine.database.query('SELECT FROM webhook_failure')).toEqual([]);
    });
  });

  describe('because their pack cannot be read', () => {
    const storedEvents = () =>
      engine.database.query<{ id: string; pack_id: string | null; pack_place: number }>(
        'SELECT id, pack_id, pack_place FROM event ORDER BY id',
      );

    const packs = () =>
      engine.database.query<{ id: string; data: (object | null)[] }>(
        'SELECT id, data FROM event_pack ORDER BY id',
      );

    /** Deletes all events that may be deleted. Returns how many were deleted. */
    const deleteOldest = async (): Promise<number> => {
      const tomorrow = new Date(Date.now() + 86_400_000);
      return (await engine.app.get(EventLog).deleteOldest(tomorrow, 500, '')).deleted;
    };

    it.each([
      ['value', 'UPDATE', 0],
      ['page', 'UPDATE OR DELETE', 1],
    ])('do not keep others from being deleted (the %s)', async (_, changes, packsLeft) => {
      await dispatchAll();
      const before = await storedEvents();
      const bothInvoices = [damaged.invoice, whole.invoice];
      const kept = await engine.database.queryValues<string>(
        `INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at)
         SELECT DISTINCT ON (object_id) id, type, object_id, sequence, occurred_at FROM event
         WHERE object_id = ANY ($1) ORDER BY object_id, id DESC RETURNING event_id`,
        [bothInvoices],
      );
      await damage(unreadableOn(changes), 'event');
      expect(await deleteOldest()).toBe(before.length - 2);
      const left = await storedEvents();
      expect(left.map(({ id }) => id)).toEqual(kept.sort());
      const [unreadable, cleared] = await packs();
      expect(unreadable?.data).not.toContain(null);
      const { pack_place: place } = left.find(({ pack_id: id }) => id === cleared?.id) ?? {};
      cleared?.data.forEach((data, index) => {
        if (index + 1 === place) expect(data).not.toBeNull();
        else expect(data).toBeNull();
      });
      expect(await damagedReads('event')).toBe(1);
      await dispatchAll();
      expect(await deleteOldest()).toBe(2);
      expect(await storedEvents()).toEqual([]);
      expect(await packs()).toHaveLength(packsLeft);
    });

    it('do not keep the events of a deleted object from being deleted', async () => {
      await damage(unreadableOn('UPDATE'), 'event');
      await engine.database.transaction(() =>
        engine.app.get(EventLog).remove([damaged.invoice, whole.invoice], []),
      );
      expect(await list(`events?object_id=${damaged.invoice}`)).toEqual([]);
      expect(await list(`events?object_id=${whole.invoice}`)).toEqual([]);
      expect(await damagedReads('event')).toBeGreaterThan(0);
    });
  });

  it.each([
    ['is missing', MISSING_CHANGES],
    ['cannot be read', UNREADABLE_CHANGES],
  ])('have changes in the audit log whose values are null when their pack %s', async (_, sql) => {
    const paths = ['audit-log?limit=100', `audit-log?object_id=${damaged.invoice}`];
    const before = await Promise.all(paths.map((path) => list<AuditBody>(path)));
    const { text } = await engine.http.get('/v1/audit-log/export').expect(200);
    await damage(sql, 'audit_change');
    const after = await Promise.all(paths.map((path) => list<AuditBody>(path)));
    const blank = (entries: readonly AuditBody[]) =>
      entries.map(({ changes }) => changes.map((change) => [change.action, change.object_id]));
    expect(after.map(blank)).toEqual(before.map(blank));
    const lost = after[1]?.flatMap(({ changes }) => changes) ?? [];
    expect(lost.find(({ object_id: id }) => id === damaged.invoice)).toMatchObject({
      changes: null,
    });
    const wholeOf = (entries: readonly AuditBody[] | undefined) =>
      entries?.flatMap(({ changes }) => changes).filter((one) => one.object_id === whole.invoice);
    expect(wholeOf(after[0])).toEqual(wholeOf(before[0]));
    const exported = (await engine.http.get('/v1/audit-log/export').expect(200)).text;
    expect(exported.split('\n')).toHaveLength(text.split('\n').length);
    expect(exported).toContain('"changes":null');
    expect(await damagedReads('audit_change')).toBeGreaterThan(0);
  });

  describe.each([
    ['its pack', UNREADABLE_CHANGES, []],
    ['its page', UNREADABLE_PAGE, ['empty_entries']],
  ])('verification of the audit log, where PostgreSQL cannot read %s', (_, statements, unknown) => {
    it('reports the seal of a change, and compares all others', async () => {
      await sealAll(engine);
      const before = await read<Verification>('audit-log/verify');
      expect(before).toMatchObject({ ok: true, faults: [], unreadable: [] });
      await createCustomer(engine);
      await sealAll(engine);
      await damage(statements, 'audit_change');
      const after = await read<Verification>('audit-log/verify');
      expect(after).toMatchObject({
        ok: false,
        seal_count: before.seal_count + 1,
        sealed_changes: before.sealed_changes + 1,
        unreadable: unknown,
      });
      expect(after.faults).toEqual([
        {
          fault: 'unreadable',
          seal: '1',
          from_position: '1',
          to_position: before.last_seal.to_position,
        },
      ]);
    });
  });
});
