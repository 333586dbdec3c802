import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { DeleteTestClockService } from '../../src/modules/test-clocks/delete-test-clock.service';
import { TestClockParticipants } from '../../src/modules/test-clocks/test-clock-participants';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { createEntitlement } from '../support/allowances';
import { createCustomer, createPayment } from '../support/billing';
import { postingsOf } from '../support/ledger';
import { countLockWaits, disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { bucketsOf, insertMeter } from '../support/metering';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, Story, type TestApp } from '../support/story';
import { until } from '../support/until';

const START = '2026-03-01T00:00:00.000Z';
/** Tables of stored responses and of the audit log, which are kept. */
const KEPT = ['idempotency_key', 'audit_log', 'audit_change'];

describe('deleting a test clock', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
    await disableLockTimeout(engine);
    await post('/v1/webhooks/endpoints', { url: 'https://example.com/hooks', events: ['*'] });
  });

  afterAll(() => engine.close());

  async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await engine.http.post(path).send(body);
    expect({ path, body: answer.body as unknown, status: answer.status }).toMatchObject({
      status: 201,
    });
    return answer.body as Readonly<Record<string, unknown>>;
  }

  const remove = (id: string) => engine.http.delete(`/v1/test-clocks/${id}`);

  async function dispatch(): Promise<void> {
    while (await engine.app.get(EventDispatcher).runDue());
  }

  /** Creates every kind of object a customer can have; returns the ids. */
  async function live(story: Story, coupon: string): Promise<readonly string[]> {
    const seats = { name: 'Seats', model: 'per_unit', unit_amount: '700' };
    const plan = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 },
      { ...seats, timing: 'in_advance' },
      { ...seats, timing: 'in_arrears' },
    ]);
    const { id } = await story.subscribe(plan.id, { quantity: '3', coupon });
    await story.advance('2026-04-11T00:00:00.000Z');
    await story.command(id, 'change', { quantity: '2', when: 'now' });
    await story.command(id, 'change', { quantity: '9', when: 'period_end' });
    const [invoice] = await story.invoices();
    const line = invoice?.lines[0]?.id;
    const note = await post('/v1/credit-notes', {
      invoice_id: invoice?.id,
      lines: [{ invoice_line_id: line, amount: 100 }],
      reason: 'Late',
      settle: 'credit',
    });
    const method = await post(`/v1/customers/${story.customerId}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
    });
    await post(`/v1/invoices/${invoice?.id ?? ''}/pay`, {});
    const payment = await createPayment(engine, { customer_id: story.customerId });
    const refund = await post(`/v1/refunds/payment/${payment}`, { amount: 500 });
    await post(`/v1/customers/${story.customerId}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
    });
    const usage = await engine.http.post('/v1/usage-events').send({
      idempotency_key: `of ${story.customerId}`,
      customer_id: story.customerId,
      event_name: 'api_request',
      timestamp: '2026-03-01T09:15:00.000Z',
      properties: { amount: 2 },
    });
    expect(usage.body).toMatchObject({ accepted: 1 });
    await deleteSome(story.customerId);
    const credits = `/v1/customers/${story.customerId}/entitlements/credits`;
    const grant = await post(`${credits}/grants`, { value: '10' });
    const consumed = await engine.http
      .post(`${credits}/consume`)
      .send({ quantity: '1', idempotency_key: `of ${story.customerId}` });
    expect(consumed.body).toMatchObject({ allowed: true, remaining: '9' });
    await dispatch();
    const invoices = (await story.invoices()).map((one) => one.id);
    const made = [note, method, refund, grant].map((one) => String(one['id']));
    return [story.customerId, id, ...invoices, payment, ...made];
  }

  /** Creates objects of a customer whose rows are deleted while its test clock exists, and one without a purge of its own. */
  async function deleteSome(customerId: string): Promise<void> {
    const tokens = `/v1/customers/${customerId}/tokens`;
    await post(tokens, {});
    const token = await post(tokens, {});
    const line = { description: 'Work', amount: 100 };
    const draft = await post('/v1/invoices', { customer_id: customerId, lines: [line] });
    for (const path of [
      `${tokens}/${String(token['id'])}`,
      `/v1/invoices/${String(draft['id'])}`,
    ]) {
      expect((await engine.http.delete(path)).status).toBe(204);
    }
  }

  /** Returns the tables that contain any of the ids in any column. */
  async function tablesWith(ids: readonly string[]): Promise<readonly string[]> {
    const tables = await engine.database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
         AND relname <> ALL ($1) ORDER BY 1`,
      [KEPT],
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await engine.database.query(
        `SELECT FROM "${name}" AS one WHERE to_jsonb(one)::text LIKE ANY ($1) LIMIT 1`,
        [ids.map((id) => `%${id}%`)],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  }

  it('purges its customers with all their data, and nothing else', async () => {
    const coupon = await post('/v1/coupons', {
      type: 'percent',
      percent_off: '10',
      duration: 'forever',
      max_redemptions: 2,
    });
    const code = String(coupon['code']);
    const meter = await insertMeter(engine, { eventName: 'api_request', aggregation: 'unique' });
    await post('/v1/entitlements', { key: 'credits', name: 'Credits', type: 'metered' });
    const [story, other] = [await Story.begin(engine, START), await Story.begin(engine, START)];
    const gone = await live(story, code);
    const kept = await live(other, code);
    const before = await tablesWith(kept);
    expect(await tablesWith(gone)).toEqual(before);
    expect(before).toEqual(
      expect.arrayContaining([
        'coupon_redemption',
        'credit_grant',
        'credit_note',
        'customer',
        'event',
        'invoice',
        'invoice_line',
        'ledger_transaction',
        'payment',
        'payment_method',
        'refund',
        'scheduled_change',
        'subscription',
        'subscription_item',
        'subscription_period',
        'usage_event',
        'usage_stream',
        'webhook_delivery',
      ]),
    );

    engine.clock.advanceMs(1_000);
    expect((await remove(story.clockId)).status).toBe(204);
    // The sandbox plays the provider, which keeps its records.
    expect(await tablesWith([...gone, story.clockId])).toEqual(['sandbox_operation']);
    expect(await tablesWith(kept)).toEqual(before);
    expect(await bucketsOf(engine, meter)).toMatchObject([{ events: 1 }]);
    const redeemed = (await engine.http.get(`/v1/coupons/${String(coupon['id'])}`)).body as object;
    const updated_at = engine.clock.now().toISOString();
    expect(redeemed).toMatchObject({ times_redeemed: 1, updated_at });
    await other.advance('2026-06-01T00:00:00.000Z');
    await other.verify();
    expect((await remove(story.clockId)).body).toMatchObject({
      status: 404,
      code: 'test_clock_not_found',
    });
  });

  it('is refused while it is advancing, but not after a crash', async () => {
    const story = await Story.begin(engine, START);
    await engine.database.query(
      `UPDATE test_clock SET status = 'advancing', target_at = $2, lease_ends_at = $3 WHERE id = $1`,
      [story.clockId, '2026-06-01T00:00:00Z', '2026-03-01T09:31:00Z'],
    );
    expect((await remove(story.clockId)).body).toMatchObject({
      status: 409,
      code: 'test_clock_advancing',
    });
    engine.clock.set('2026-03-01T09:31:00.000Z');
    expect((await remove(story.clockId)).status).toBe(204);
  });

  it('concurrently twice deletes it once; a concurrent command is done before or refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      const story = await Story.begin(engine, START);
      const { id } = await story.subscribe(await story.seats('100'), { quantity: '3' });
      const change = { quantity: '5', when: 'now' };
      const [one, two, command] = await Promise.all([
        remove(story.clockId),
        remove(story.clockId),
        engine.http.post(`/v1/subscriptions/${id}/change`).send(change),
      ]);
      expect([one.status, two.status].sort()).toEqual([204, 404]);
      expect([200, 404, 422]).toContain(command.status);
      expect(await tablesWith([story.customerId, id])).toEqual([]);
    }
  });

  it('refuses usage that is reported concurrently, and stores none of it', async () => {
    const story = await Story.begin(engine, START);
    const event = (name: string, key: string, timestamp = START) => ({
      idempotency_key: `${key} of ${story.customerId}`,
      customer_id: story.customerId,
      event_name: name,
      timestamp,
    });
    const send = (body: object) => engine.http.post('/v1/usage-events').send(body);
    await insertMeter(engine, { eventName: 'reported' });
    const first = event('reported', 'first');
    expect((await send(first)).body).toMatchObject({ accepted: 1 });
    expect((await send(first)).body).toMatchObject({ duplicates: 1 });
    const waiting = (): Promise<number> => countLockWaits(engine.database);
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage_tally FOR UPDATE');
    const removed = remove(story.clockId).then(({ status }) => status);
    await until('some of the usage is removed', async () => (await waiting()) === 1);
    const sent = [
      send(event('reported', 'second', '2026-03-01T01:00:00Z')),
      send({ events: [event('reported', 'third', '2026-03-01T02:00:00Z'), {}] }),
      send(event('new', 'fourth')),
    ].map((one) => one.then(({ body }) => body as unknown));
    // The order decides which request waits for the stream and which for the customer. All are refused.
    await until('one of them waits', async () => (await waiting()) > 1);
    await holder.query('COMMIT');
    await holder.end();
    const refused = { code: 'usage_event_rejected', errors: [{ code: 'customer_not_found' }] };
    const list = {
      rejected: [
        { index: 0, code: 'customer_not_found' },
        { index: 1, code: 'validation_failed' },
      ],
    };
    expect(await Promise.all(sent)).toMatchObject([refused, list, refused]);
    expect(await removed).toBe(204);
    const kept = await engine.database.query(
      `SELECT stream_id FROM (SELECT stream_id FROM usage_event UNION SELECT stream_id FROM usage_bucket
         UNION SELECT stream_id FROM usage_tally) AS used
       WHERE stream_id NOT IN (SELECT id FROM usage_stream)`,
    );
    expect(kept).toEqual([]);
  });

  it('leaves no data of its customers in a pack with events of other customers', async () => {
    const timestamp = engine.clock.now().toISOString();
    const { id: clockId } = await post('/v1/test-clocks', { name: 'Shared', now: timestamp });
    const gone = await createCustomer(engine, { name: 'Purged', test_clock_id: clockId });
    const kept = await createCustomer(engine, { name: 'Kept' });
    const meterId = await insertMeter(engine, { eventName: 'shared_request' });
    const metered = { type: 'metered', meter_id: meterId, thresholds: [50, 60, 70, 80] };
    const { key } = await createEntitlement(engine, metered);
    for (const id of [gone, kept]) {
      await post(`/v1/customers/${id}/entitlements/${key}/grants`, { value: '1' });
    }
    // A repeated key keeps the list in one commit.
    const { body } = await engine.http.post('/v1/usage-events').send({
      events: [gone, kept, kept].map((id) => ({
        idempotency_key: `shared by ${id}`,
        customer_id: id,
        event_name: 'shared_request',
        timestamp,
      })),
    });
    expect(body).toMatchObject({ accepted: 2, duplicates: 1 });
    const packs = await engine.database.query(
      `SELECT FROM event_pack AS pack WHERE pack.data::text LIKE $1 AND pack.data::text LIKE $2`,
      [`%${gone}%`, `%${kept}%`],
    );
    expect(packs).toHaveLength(1);
    const eventsOfKept = `/v1/events?customer_id=${kept}&limit=100`;
    const { text } = await engine.http.get(eventsOfKept).expect(200);
    expect((await remove(String(clockId))).status).toBe(204);
    expect(await tablesWith([gone])).toEqual([]);
    expect((await engine.http.get(eventsOfKept).expect(200)).text).toBe(text);
  });

  it('hides the clock at once, and is continued by background work after an interruption', async () => {
    const story = await Story.begin(engine, START);
    await story.subscribe(await story.plan(1_000));
    await engine.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'kept'; END $$`);
    await engine.database.query(
      'CREATE TRIGGER refuse BEFORE DELETE ON customer FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    expect((await remove(story.clockId)).status).toBe(500);
    expect((await remove(story.clockId)).body).toMatchObject({ code: 'test_clock_not_found' });
    const { status, body } = await engine.http
      .post('/v1/customers')
      .send({ name: 'Late', test_clock_id: story.clockId });
    expect({ status, body: body as unknown }).toMatchObject({
      status: 422,
      body: { code: 'reference_not_found' },
    });
    expect(await tablesWith([story.customerId])).not.toEqual([]);

    await engine.database.query('DROP FUNCTION refuse CASCADE');
    const deletion = engine.app.get(DeleteTestClockService);
    while (await deletion.runDue()) continue;
    expect(await tablesWith([story.customerId, story.clockId])).toEqual([]);
  });

  it('purges one portion in each run of the background work', async () => {
    const { id } = await post('/v1/test-clocks', { name: 'Many', now: START });
    for (let made = 0; made < 25; made += 1) {
      await post('/v1/customers', { name: `Customer ${made}`, test_clock_id: id });
    }
    await engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [id]);
    const left = async (): Promise<number> => {
      const rows = await engine.database.query('SELECT FROM customer WHERE test_clock_id = $1', [
        id,
      ]);
      return rows.length;
    };
    const deletion = engine.app.get(DeleteTestClockService);
    const lefts: number[] = [];
    while (await deletion.runDue()) lefts.push(await left());
    expect(lefts[0]).toBe(5);
    expect(lefts.at(-1)).toBe(0);
    expect(lefts.length).toBeGreaterThanOrEqual(3);
    expect(await tablesWith([String(id)])).toEqual([]);
  });

  it('leaves the lease of a process that has taken the deletion over', async () => {
    const { id } = await post('/v1/test-clocks', { name: 'Taken over', now: START });
    await post('/v1/customers', { name: 'Ada Lovelace', test_clock_id: id });
    const leaseEnd = `'2027-01-01T00:00:00Z'`;
    await engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [id]);
    await engine.database.query(`
      CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE test_clock SET lease_ends_at = ${leaseEnd}, leased_by = 7 WHERE deleted_at IS NOT NULL;
        RETURN NULL;
      END $$`);
    await engine.database.query(
      'CREATE TRIGGER take_over AFTER DELETE ON customer FOR EACH STATEMENT EXECUTE FUNCTION take_over()',
    );
    const deletion = engine.app.get(DeleteTestClockService);
    await deletion.runDue();
    await engine.database.query('DROP FUNCTION take_over CASCADE');
    const [row] = await engine.database.query(
      `SELECT leased_by, lease_ends_at = ${leaseEnd} AS is_theirs FROM test_clock WHERE id = $1`,
      [id],
    );
    expect(row).toEqual({ leased_by: 7, is_theirs: true });
    await engine.database.query('UPDATE test_clock SET lease_ends_at = NULL WHERE id = $1', [id]);
    while (await deletion.runDue()) continue;
    expect(await tablesWith([String(id)])).toEqual([]);
  });

  it('works for a clock without customers', async () => {
    const { id } = await post('/v1/test-clocks', { name: 'Empty', now: START });
    expect((await remove(String(id))).status).toBe(204);
    expect((await remove('clock_01h455vb4pex5vsknk084sn02q')).status).toBe(404);
  });

  it('answers requests that wait for the purge with the 404 of the object that they name', async () => {
    const story = await Story.begin(engine, START);
    const { id } = await story.subscribe(await story.plan(1_000));
    const [invoice] = await story.invoices();
    const note = await post('/v1/credit-notes', {
      invoice_id: invoice?.id,
      lines: [{ invoice_line_id: invoice?.lines[0]?.id, amount: 100 }],
      reason: 'Late',
      settle: 'credit',
    });
    const { http } = engine;
    const invoicePath = `/v1/invoices/${invoice?.id ?? ''}`;
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM invoice WHERE customer_id = $1 FOR UPDATE', [story.customerId]);
    const removed = remove(story.clockId).then(({ status }) => status);
    await untilSessionsWait(engine.database);
    const requests = [
      http.post(`${invoicePath}/void`),
      http.post(`${invoicePath}/mark-uncollectible`),
      http.post(`${invoicePath}/finalize`),
      http.post(`${invoicePath}/reissue`),
      http.patch(invoicePath).send({ metadata: { a: 'b' } }),
      http.delete(invoicePath),
      http.post(`/v1/credit-notes/${String(note['id'])}/void`),
      http.post(`/v1/subscriptions/${id}/cancel`).send({ when: 'now' }),
      http.patch(`/v1/subscriptions/${id}`).send({ metadata: { a: 'b' } }),
    ].map((request) =>
      request.then(({ status, body }) => [status, (body as { readonly code?: string }).code]),
    );
    await untilSessionsWait(engine.database, requests.length + 1);
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await removed).toBe(204);
    expect(await Promise.all(requests)).toEqual([
      ...Array<unknown>(6).fill([404, 'invoice_not_found']),
      [404, 'credit_note_not_found'],
      ...Array<unknown>(2).fill([404, 'subscription_not_found']),
    ]);
  });

  it('lets its customers add payment methods and prove usage until they are purged', async () => {
    const { id: clockId } = await post('/v1/test-clocks', { name: 'Deleted', now: START });
    const customerId = await createCustomer(engine, { test_clock_id: clockId });
    const meterId = await insertMeter(engine, { eventName: 'proved' });
    await engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [
      clockId,
    ]);
    await post(`/v1/customers/${customerId}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    const period = `from=${START}&to=2026-04-01T00:00:00.000Z`;
    const proof = `/v1/meters/${meterId}/proof?customer_id=${customerId}&${period}`;
    expect((await engine.http.get(proof)).status).toBe(200);
  });

  describe('with a balance of a metered entitlement', () => {
    /** Creates a customer on a test clock and one without, each with a balance that counts events of one name. */
    async function begin(hasMeter = true) {
      const { id: clockId } = await post('/v1/test-clocks', { name: 'Metered', now: START });
      const gone = await createCustomer(engine, { test_clock_id: clockId });
      const kept = await createCustomer(engine);
      const eventName = `metered-${randomUUID()}`;
      const meter_id = await insertMeter(engine, { eventName });
      const { key } = await createEntitlement(engine, {
        type: 'metered',
        ...(hasMeter && { meter_id }),
      });
      for (const id of [gone, kept]) {
        await post(`/v1/customers/${id}/entitlements/${key}/grants`, { value: '9' });
      }
      let sent = 0;
      const event = (customer_id: string) => ({
        idempotency_key: `${eventName} ${(sent += 1)}`,
        customer_id,
        event_name: eventName,
        timestamp: customer_id === gone ? START : engine.clock.now().toISOString(),
      });
      const path = `/v1/customers/${gone}/entitlements/${key}`;
      return { clockId: String(clockId), gone, kept, event, path };
    }

    /** Sends the request at once, and returns the status and body of its answer. */
    const answerOf = async (
      request: PromiseLike<{ readonly status: number; readonly body: unknown }>,
    ) => {
      const { status, body } = await request;
      return [status, body];
    };
    const send = (body: object) => engine.http.post('/v1/usage-events').send(body);
    const sendLines = (events: readonly object[]) =>
      engine.http
        .post('/v1/usage-events')
        .set('Content-Type', 'application/x-ndjson')
        .send(events.map((one) => JSON.stringify(one)).join('\n'));
    const hide = (clockId: string) =>
      engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [clockId]);

    it('rejects usage of its customers until they are purged, and stores that of others', async () => {
      const { clockId, gone, kept, event } = await begin();
      const stored = event(gone);
      expect((await send(stored)).body).toMatchObject({ accepted: 1 });
      await hide(clockId);
      const events = () => [event(kept), event(gone), event(kept)];
      const outcome = {
        accepted: 2,
        duplicates: 0,
        rejected: [{ index: 1, code: 'customer_not_found' }],
      };
      expect((await send({ events: events() })).body).toMatchObject(outcome);
      expect((await sendLines(events())).body).toMatchObject(outcome);
      expect((await send(event(gone))).body).toMatchObject({
        code: 'usage_event_rejected',
        errors: [{ code: 'customer_not_found' }],
      });
      const { idempotency_key } = stored;
      await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
    });

    it('stores usage that is counted while it is deleted', async () => {
      const { clockId, gone, kept, event } = await begin();
      const holder = new Client({ connectionString: engine.databaseUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM customer_entitlement WHERE customer_id = $1 FOR UPDATE', [
        gone,
      ]);
      const sent = sendLines([event(gone), event(kept)]).then(({ body }) => body as unknown);
      await untilSessionsWait(engine.database);
      const removed = remove(clockId).then(({ status }) => status);
      await untilSessionsWait(engine.database, 2);
      await holder.query('COMMIT');
      await holder.end();
      expect(await sent).toMatchObject({ accepted: 2, rejected: [] });
      expect(await removed).toBe(204);
      expect(await tablesWith([gone])).toEqual([]);
    });

    it('answers the void of an event that waits for the purge with 404 usage_event_not_found', async () => {
      const { clockId, gone, event } = await begin();
      const stored = event(gone);
      expect((await send(stored)).body).toMatchObject({ accepted: 1 });
      const lock = 'SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE';
      const commit = await openTransaction(engine.database, () =>
        engine.database.query(lock, [gone]),
      );
      const removed = remove(clockId).then(({ status }) => status);
      await untilSessionsWait(engine.database);
      const { idempotency_key } = stored;
      const voided = answerOf(engine.http.post('/v1/usage-events/void').send({ idempotency_key }));
      await untilSessionsWait(engine.database, 2);
      await commit();
      expect(await removed).toBe(204);
      expect(await voided).toMatchObject([404, { code: 'usage_event_not_found' }]);
    });

    it.each([
      ['an outdated balance', true, 'UPDATE customer_access SET version = version + 1'],
      ['an outdated balance without a meter', false, 'UPDATE customer_access SET version = 0'],
      ['no balance', true, 'DELETE FROM customer_entitlement'],
    ])('answers 404 to a check with %s that waits for the purge', async (_, hasMeter, change) => {
      const { clockId, gone, path } = await begin(hasMeter);
      await engine.database.query(`${change} WHERE customer_id = $1`, [gone]);
      const participants = engine.app.get(TestClockParticipants);
      const commit = await openTransaction(engine.database, async () =>
        participants.purge(await participants.lockCustomers(clockId, 1)),
      );
      const checked = answerOf(engine.http.get(path));
      await untilSessionsWait(engine.database);
      await commit();
      expect(await checked).toMatchObject([404, { code: 'customer_not_found' }]);
    });

    it('is purged by background work if a portion meets a deadlock', async () => {
      const { clockId, gone } = await begin();
      await engine.database.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE 'deadlock' USING ERRCODE = 'deadlock_detected'; END $$`);
      await engine.database.query(
        'CREATE TRIGGER refuse BEFORE DELETE ON customer FOR EACH ROW EXECUTE FUNCTION refuse()',
      );
      const { status } = await remove(clockId);
      await engine.database.query('DROP FUNCTION refuse CASCADE');
      expect(status).toBe(204);
      expect(await tablesWith([gone])).not.toEqual([]);
      while (await engine.app.get(DeleteTestClockService).runDue()) continue;
      expect(await tablesWith([gone, clockId])).toEqual([]);
    });
  });

  it('answers requests for entitlements of its customers with 404 test_clock_not_found', async () => {
    const { id: clockId } = await post('/v1/test-clocks', { name: 'Deleted', now: START });
    const customerId = await createCustomer(engine, { test_clock_id: clockId });
    const { key } = await createEntitlement(engine);
    await engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [
      clockId,
    ]);
    const path = `/v1/customers/${customerId}/entitlements`;
    for (const answer of [
      await engine.http.get(path),
      await engine.http.get(`${path}/${key}`),
      await engine.http
        .post(`${path}/${key}/consume`)
        .send({ quantity: '1', idempotency_key: 'deleted' }),
      await engine.http.post(`${path}/${key}/grants`).send({ value: '1' }),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([404, { code: 'test_clock_not_found' }]);
    }
  });

  it('does not allow deletion of ledger rows of other customers, or of parts of a transaction', async () => {
    const story = await Story.begin(engine, START);
    await story.subscribe(await story.plan(1_000));
    const payment = await createPayment(engine);
    const removeAll =
      'DELETE FROM ledger_posting USING ledger_transaction WHERE id = transaction_id';
    await expect(
      engine.database.query(`${removeAll} AND source_id = $1`, [payment]),
    ).rejects.toThrow('append-only');
    await expect(
      engine.database.query(`${removeAll} AND customer_id = $1`, [story.customerId]),
    ).rejects.toThrow('removed as a whole');
    expect(await postingsOf(engine, payment)).not.toEqual([]);
    await story.verify();
  });
});
