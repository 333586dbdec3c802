import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { EndPausedOfDeletedCustomers1796300330300 } from '../../migrations/1796300330300-EndPausedOfDeletedCustomers';
import { EndAllPausedOfDeletedCustomers1796300331000 } from '../../migrations/1796300331000-EndAllPausedOfDeletedCustomers';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { createCustomer, createMeter } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

const DELETED_AT = '2026-03-02T00:00:00.000Z';
const SCHEDULED_END = '9999-12-31T00:00:00.000Z';

const STATES = `
  SELECT status, ended_at AS "endedAt", next_billing_at AS "nextBillingAt",
    (SELECT ended_at FROM coupon_redemption WHERE subscription_id = subscription.id) AS "couponEndedAt",
    (SELECT count(*)::integer FROM usage_archive_month AS month JOIN usage_stream AS stream ON stream.id = stream_id
      WHERE stream.customer_id = subscription.customer_id) AS "archivedMonths"
  FROM subscription WHERE id = ANY ($1) ORDER BY id`;

describe('a paused subscription whose customer release 0.1.0 deleted after its period', () => {
  let engine: TestApp;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'archive-of-deleted-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
      plantsEvents: true,
    });
    const half = { code: 'HALF', type: 'percent', percent_off: '50', duration: 'forever' };
    await post(engine, '/v1/coupons', half);
  });

  afterAll(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  /** Subscribes a new customer with usage, and pauses the subscription. */
  async function paused(
    plan_id: string,
    cancelAt: string | null = null,
  ): Promise<{ readonly customer: string; readonly id: string }> {
    engine.clock.set('2026-02-01T00:00:00Z');
    const customer = await createCustomer(engine);
    const terms = { customer_id: customer, plan_id, collection: 'send_invoice', coupon: 'HALF' };
    const { id } = await post(engine, '/v1/subscriptions', terms);
    engine.clock.set('2026-02-10T00:00:00Z');
    await engine.http
      .post('/v1/usage-events')
      .send({
        idempotency_key: customer,
        customer_id: customer,
        event_name: 'api_call',
        timestamp: '2026-02-10T00:00:00Z',
        properties: {},
      })
      .expect(200);
    const scheduled = { when: 'at', at: cancelAt };
    if (cancelAt !== null) await post(engine, `/v1/subscriptions/${id}/cancel`, scheduled);
    await post(engine, `/v1/subscriptions/${id}/pause`, {});
    return { customer, id };
  }

  const markDeleted = (customers: readonly string[], at: string) =>
    engine.database.query('UPDATE customer SET deleted_at = $2 WHERE id = ANY ($1)', [
      customers,
      at,
    ]);

  async function runDue(now: string): Promise<void> {
    engine.clock.set(now);
    while (await engine.app.get(DueSubscriptions).runDue());
    while (await engine.app.get(DueUsageArchive).runDue());
  }

  /** Runs the migrations of the upgrade, the last one twice. */
  async function migrate(): Promise<void> {
    const runner = engine.app.get(DataSource).createQueryRunner();
    await new EndPausedOfDeletedCustomers1796300330300().up(runner);
    await new EndAllPausedOfDeletedCustomers1796300331000().up(runner);
    await new EndAllPausedOfDeletedCustomers1796300331000().up(runner);
    await runner.query("SET lock_timeout = '5s'");
    await runner.release();
  }

  it('keeps a period that is not over, and an end that was due first', async () => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }];
    const plan = { code: 'base', name: 'Base', currency: 'EUR', interval: 'month', prices };
    const { id: planId } = await post(engine, '/v1/plans', plan);
    const ending = await paused(planId, '2026-03-05T00:00:00.000Z');
    await runDue('2026-03-01T00:00:00Z');
    const within = await paused(planId);
    await markDeleted([within.customer], '2026-02-20T00:00:00Z');
    await markDeleted([ending.customer], '2026-03-06T00:00:00Z');
    const states = () => engine.database.query(STATES, [[ending.id, within.id]]);
    const before = await states();
    expect(before).toMatchObject([
      { status: 'paused', nextBillingAt: new Date('2026-03-05T00:00:00Z') },
      { status: 'paused', nextBillingAt: new Date('2026-03-01T00:00:00Z') },
    ]);
    await migrate();
    expect(await states()).toEqual(before);
  });

  it('ends after the upgrade, and its usage is archived', async () => {
    engine.clock.set('2026-02-01T00:00:00Z');
    const meter_id = await createMeter(engine);
    const price = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const plan = await post(engine, '/v1/plans', {
      code: 'calls',
      name: 'Calls',
      currency: 'EUR',
      interval: 'month',
      prices: [{ ...price, meter_id }],
    });
    const deleted = await paused(plan.id);
    const scheduled = await paused(plan.id, SCHEDULED_END);
    const kept = await paused(plan.id, SCHEDULED_END);
    await runDue('2026-03-01T00:00:00Z');
    await markDeleted([deleted.customer, scheduled.customer], DELETED_AT);
    await runDue('2027-06-02T00:00:00Z');
    const states = () => engine.database.query(STATES, [[deleted.id, scheduled.id, kept.id]]);
    const [stuck, other, untouched] = await states();
    expect(stuck).toMatchObject({ status: 'paused', nextBillingAt: null, archivedMonths: 0 });
    const nextBillingAt = new Date(SCHEDULED_END);
    expect(other).toMatchObject({ status: 'paused', nextBillingAt, archivedMonths: 0 });

    await migrate();
    await runDue('2027-06-02T00:00:00Z');
    await runDue('2027-07-02T00:00:00Z');
    const ended = {
      status: 'canceled',
      endedAt: new Date(DELETED_AT),
      nextBillingAt: null,
      couponEndedAt: new Date(DELETED_AT),
      archivedMonths: 1,
    };
    expect(await states()).toEqual([ended, ended, untouched]);
    const { body } = await engine.http.get('/v1/ledger/verify');
    expect(body).toMatchObject({ ok: true });
  });
});
