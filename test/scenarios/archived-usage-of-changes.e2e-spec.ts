import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

/** Not at an hour, so that the billing period begins within an hour. */
const START = '2025-01-20T10:30:00.000Z';
const CHANGED_AT = '2025-02-05T12:00:00.000Z';
const RENEWED_AT = '2026-01-20T10:30:00.000Z';
const RENEWED_AGAIN_AT = '2027-01-20T10:30:00.000Z';

/** Seats that are held for a year, in which the plan changes: each part of the year has a bill. */
describe('usage of a billing period that a change divides', () => {
  let engine: TestApp;
  let directory: string;
  let customerId: string;
  let subscriptionId: string;
  let reported = 0;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    engine.clock.set(START);
    customerId = await create('/v1/customers', { name: 'Ada' });
    const meterId = await create('/v1/meters', {
      key: 'seats',
      event_name: 'seat',
      aggregation: 'weighted_sum',
      value_property: 'n',
    });
    const plan = (code: string, unitAmount: string) =>
      create('/v1/plans', {
        code,
        name: code,
        currency: 'USD',
        interval: 'year',
        prices: [
          {
            name: 'Seats',
            model: 'per_unit',
            timing: 'in_arrears',
            meter_id: meterId,
            unit_amount: unitAmount,
          },
        ],
      });
    const [former, later] = [await plan('former', '1000'), await plan('later', '2000')];
    subscriptionId = await create('/v1/subscriptions', {
      customer_id: customerId,
      plan_id: former,
      collection: 'send_invoice',
    });
    engine.clock.set('2025-01-20T10:45:00Z');
    await report('2025-01-20T10:40:00Z', 5);
    engine.clock.set(CHANGED_AT);
    await engine.http
      .post(`/v1/subscriptions/${subscriptionId}/change`)
      .send({ plan_id: later, when: 'now' })
      .expect(200);
    await renewAt(RENEWED_AT);
    expect(await totals()).toEqual([9780]);
  });

  afterEach(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function create(path: string, body: object): Promise<string> {
    const { body: answer } = await engine.http.post(path).send(body).expect(201);
    return (answer as { id: string }).id;
  }

  async function report(timestamp: string, n: number): Promise<object> {
    const { body } = await engine.http.post('/v1/usage-events').send({
      idempotency_key: `seats-${(reported += 1)}`,
      customer_id: customerId,
      event_name: 'seat',
      timestamp,
      properties: { n },
    });
    return body as object;
  }

  async function renewAt(instant: string): Promise<void> {
    engine.clock.set(instant);
    while (await engine.app.get(DueSubscriptions).runDue()) continue;
  }

  /** Runs the archive at an instant, and again when the events that it has written can be deleted. */
  async function archiveAt(instant: string): Promise<void> {
    engine.clock.set(instant);
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
    engine.clock.advanceMs(20 * 60_000);
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
  }

  const closedBefore = async (): Promise<Date | null> =>
    engine.database.queryValue<Date>('SELECT closed_before FROM usage_stream');

  const totals = async (): Promise<readonly number[]> => {
    const query = { customer_id: customerId };
    const { body } = await engine.http.get('/v1/invoices').query(query).expect(200);
    return (body as { data: readonly Invoice[] }).data.map(({ total }) => total).toReversed();
  };

  async function expectLateUsageToBeBilled(): Promise<void> {
    engine.clock.set('2026-02-01T00:00:00Z');
    expect(await report('2025-12-10T00:00:00Z', 3)).toMatchObject({ accepted: 1 });
    await engine.http.get(`/v1/customers/${customerId}/usage`).expect(200);
    await renewAt(RENEWED_AGAIN_AT);
    // Three seats from December 10 to January 20: 41.4375 of 365 days at 20.00 each.
    expect(await totals()).toEqual([9780, 681]);
    await engine.http
      .post(`/v1/subscriptions/${subscriptionId}/cancel`)
      .send({ when: 'now' })
      .expect(200);
  }

  it('stays until the retention of the whole billing period has passed', async () => {
    await archiveAt('2026-01-21T00:00:00Z');
    expect(await closedBefore()).toBeNull();
    await expectLateUsageToBeBilled();
    await archiveAt('2027-01-21T00:00:00Z');
    expect(await closedBefore()).toEqual(new Date(RENEWED_AT));
  });

  it('is not archived while late usage of the second part waits for its invoice', async () => {
    engine.clock.set('2026-02-01T00:00:00Z');
    await report('2025-12-10T00:00:00Z', 3);
    await archiveAt('2026-06-01T00:00:00Z');
    expect(await closedBefore()).toBeNull();
  });

  /** Archives the first month as earlier releases did: without regard to the second part. */
  async function archiveTooEarly(): Promise<void> {
    const [bill] = await engine.database.query<{ id: string }>(
      'UPDATE usage_billed SET counted_from_at = $1 WHERE period_start_at = $1 RETURNING id',
      [CHANGED_AT],
    );
    await archiveAt('2026-01-21T00:00:00Z');
    expect(await closedBefore()).toEqual(new Date(CHANGED_AT));
    await engine.database.query('UPDATE usage_billed SET counted_from_at = $1 WHERE id = $2', [
      START,
      bill?.id,
    ]);
  }

  it('is billed after an earlier release has archived its first month, as long as no event of its first hour is deleted', async () => {
    await archiveTooEarly();
    await expectLateUsageToBeBilled();
  });

  it('cannot be billed again once its first month is closed, so the invoice of the second part is not voided', async () => {
    await archiveTooEarly();
    await expectLateUsageToBeBilled();
    const { body } = await engine.http.get('/v1/invoices').query({ customer_id: customerId });
    const late = (body as { data: readonly Invoice[] }).data.find(({ total }) => total === 681);
    const answer = await engine.http.post(`/v1/invoices/${late?.id}/void`);
    expect(answer.body).toMatchObject({ status: 409, code: 'usage_archived' });
  });
});
