import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DUE_SUBSCRIPTIONS } from '../../src/modules/subscriptions';
import { DueRowsRepository } from '../../src/modules/test-clocks/due-rows.repository';
import { DeliveryClaims } from '../../src/modules/webhooks/delivery/delivery-claims';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { WebhookEndpointsService } from '../../src/modules/webhooks/webhook-endpoints.service';
import { AbandonedWork, Claims, ProcessSession } from '../../src/platform/processes';
import { createCustomer } from '../support/billing';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';

const LEASE_MS = 60_000;
const STARTED_AT = '2026-03-01T00:00:00.000Z';
const RENEWED_AT = '2026-04-01T00:00:05.000Z';

/** Two engines on one database: the first claims due work and dies, the second takes it over. */
describe('claimed work', () => {
  let database: TestDatabase;
  let first: TestApp;
  let second: TestApp;

  beforeEach(async () => {
    database = await createTestDatabase();
    first = await startTestApp({ databaseUrl: database.url });
    second = await startTestApp({ databaseUrl: database.url });
    for (const engine of [first, second]) engine.clock.set(STARTED_AT);
  });

  afterEach(async () => {
    await first.close();
    await second.close();
    await database.drop();
  });

  async function subscribe(): Promise<string> {
    const customer = await createCustomer(first);
    const price = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 };
    const plan = await first.http.post('/v1/plans').send({
      code: 'base',
      name: 'Base',
      currency: 'EUR',
      interval: 'month',
      prices: [price],
    });
    const { id: planId } = plan.body as { id: string };
    const answer = await first.http
      .post('/v1/subscriptions')
      .send({ customer_id: customer, plan_id: planId });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  /** Claims due subscriptions in the first engine, which then does nothing with them. */
  async function claimSubscriptions(): Promise<readonly string[]> {
    const now = first.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const claimed = await first.app
      .get(Claims)
      .claim('due-subscriptions', leaseEndsAt, () =>
        first.app.get(DueRowsRepository).claim(DUE_SUBSCRIPTIONS, now, leaseEndsAt, 50),
      );
    return claimed.map(({ id }) => id);
  }

  const takeOver = () => second.app.get(AbandonedWork).runDue();
  const batches = () => second.database.query('SELECT FROM claimed_batch');

  it('is left to its process while that lives, and taken over when it dies', async () => {
    const id = await subscribe();
    for (const engine of [first, second]) engine.clock.set(RENEWED_AT);
    expect(await claimSubscriptions()).toEqual([id]);
    await takeOver();
    expect(await second.app.get(DueSubscriptions).runDue()).toBe(false);

    await first.close();
    await takeOver();
    expect(await second.app.get(DueSubscriptions).runDue()).toBe(true);
    const { body } = await second.http.get(`/v1/invoices?subscription_id=${id}`);
    expect((body as { data: unknown[] }).data).toHaveLength(2);
  });

  it('is taken over while another transaction refers to it', async () => {
    const id = await subscribe();
    for (const engine of [first, second]) engine.clock.set(RENEWED_AT);
    expect(await claimSubscriptions()).toEqual([id]);
    await first.close();
    const letContinue = await openTransaction(second.database, () =>
      second.database.query('SELECT FROM subscription FOR KEY SHARE'),
    );
    await takeOver();
    const leases = await second.database.query('SELECT lease_ends_at FROM subscription');
    const now = second.clock.now();
    const due = second.app.get(DueRowsRepository);
    const claimed = await due.claim(DUE_SUBSCRIPTIONS, now, now, 50);
    await letContinue();
    expect(leases).toEqual([{ lease_ends_at: now }]);
    expect(claimed).toMatchObject([{ id }]);
  });

  it('keeps the lease that another process took since', async () => {
    const id = await subscribe();
    for (const engine of [first, second]) engine.clock.set(RENEWED_AT);
    await claimSubscriptions();
    const later = new Date(second.clock.now().getTime() + LEASE_MS + 1);
    await second.database.query('UPDATE subscription SET lease_ends_at = $1', [later]);
    await first.close();
    await takeOver();
    const rows = await second.database.query('SELECT id, lease_ends_at FROM subscription');
    expect(rows).toEqual([{ id, lease_ends_at: later }]);
  });

  it('is forgotten when its leases end', async () => {
    await subscribe();
    for (const engine of [first, second]) engine.clock.set(RENEWED_AT);
    await claimSubscriptions();
    expect(await batches()).toHaveLength(1);
    second.clock.advanceMs(LEASE_MS);
    await takeOver();
    expect(await batches()).toEqual([]);
  });

  it('is not recorded where the claim fails', async () => {
    const claim = first.app.get(Claims).claim('due-subscriptions', first.clock.now(), () => {
      throw new Error('no claim');
    });
    await expect(claim).rejects.toThrow('no claim');
    expect(await batches()).toEqual([]);
  });

  /** Claims the only delivery to a new endpoint in the first engine. */
  async function claimDelivery(ordered: boolean): Promise<string> {
    const created = await first.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'https://example.com/hook', events: ['customer.*'] });
    const { id: endpointId } = created.body as { id: string };
    if (ordered) {
      await first.http.patch(`/v1/webhooks/endpoints/${endpointId}`).send({ ordered });
    }
    await createCustomer(first);
    await claimNextDelivery(endpointId, ordered);
    return endpointId;
  }

  async function claimNextDelivery(endpointId: string, ordered: boolean): Promise<void> {
    while (await first.app.get(EventDispatcher).runDue()) continue;
    const claimed = await first.app
      .get(DeliveryClaims)
      .claim(first.clock.now(), [{ endpointId, free: 10, ordered }]);
    expect(claimed).toHaveLength(1);
  }

  const dueTimes = () =>
    second.database.query<{ delivery: Date; head: Date }>(
      `SELECT delivery.due_at AS delivery, head.due_at AS head
       FROM webhook_delivery AS delivery JOIN webhook_head AS head ON head.delivery_id = delivery.id`,
    );

  it('of an ordered webhook endpoint is due again with the head of its queue', async () => {
    await claimDelivery(true);
    const now = first.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    expect(await dueTimes()).toEqual([{ delivery: leaseEndsAt, head: leaseEndsAt }]);

    await first.close();
    await takeOver();
    expect(await dueTimes()).toEqual([{ delivery: now, head: now }]);
  });

  it('of an ordered webhook endpoint no longer delays a retry of an earlier event', async () => {
    const endpoint = await claimDelivery(true);
    const [ended] = await second.database.query<{ id: string; object_id: string }>(`
      UPDATE webhook_delivery SET status = 'succeeded', due_at = NULL, attempts = 1 RETURNING id, object_id`);
    if (ended === undefined) throw new Error('There is no delivery.');
    await second.database.query('DELETE FROM webhook_head');
    await first.http.patch(`/v1/customers/${ended.object_id}`).send({ name: 'Grace' }).expect(200);
    await claimNextDelivery(endpoint, true);
    await second.http.post(`/v1/webhooks/deliveries/${ended.id}/retry`).expect(201);
    const now = first.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    expect(await dueTimes()).toEqual([{ delivery: now, head: leaseEndsAt }]);

    await first.close();
    await takeOver();
    expect(await dueTimes()).toEqual([{ delivery: now, head: now }]);
  });

  it('of a webhook endpoint that becomes ordered meanwhile is due again with the head of its queue', async () => {
    const endpoint = await claimDelivery(false);
    await first.close();
    // Stops the change after it has read the lease, and before it locks the delivery.
    await second.database.query(`
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END $$`);
    await second.database.query(
      'CREATE TRIGGER wait BEFORE INSERT ON webhook_head FOR EACH ROW EXECUTE FUNCTION wait()',
    );
    const letContinue = await openTransaction(second.database, () =>
      second.database.query('SELECT pg_advisory_xact_lock(1)'),
    );
    const endpoints = second.app.get(WebhookEndpointsService);
    const changed = endpoints.update(endpoint, { ordered: true }, 'any');
    await untilSessionsWait(second.database);
    const takenOver = takeOver();
    await Promise.race([takenOver, untilSessionsWait(second.database, 2)]);
    await letContinue();
    await Promise.all([changed, takenOver]);
    const now = second.clock.now();
    expect(await dueTimes()).toEqual([{ delivery: now, head: now }]);
  });

  it('of a test clock is continued by the next call', async () => {
    const created = await first.http
      .post('/v1/test-clocks')
      .send({ name: 'Year', now: STARTED_AT });
    expect(created.status).toBe(201);
    const { id } = created.body as { id: string };
    await second.database.query(
      `UPDATE test_clock SET status = 'advancing', target_at = $2, lease_ends_at = $3, leased_by = $4 WHERE id = $1`,
      [
        id,
        new Date(RENEWED_AT),
        new Date(second.clock.now().getTime() + LEASE_MS),
        first.app.get(ProcessSession).number,
      ],
    );
    const advance = () =>
      second.http.post(`/v1/test-clocks/${id}/advance`).send({ to: RENEWED_AT });
    await takeOver();
    expect((await advance()).status).toBe(409);

    await first.close();
    await takeOver();
    expect((await advance()).body).toMatchObject({ status: 'ready', now: RENEWED_AT });
  });
});
