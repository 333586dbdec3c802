import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { RenewSubscriptionsWorkflow } from '../../src/modules/billing/subscriptions/renew-subscriptions.workflow';
import { createCustomer, createMeter } from '../support/billing';
import { overlap } from '../support/frozen-work';
import { post, startTestApp, Story, type TestApp } from '../support/story';

const LARGEST = Number.MAX_SAFE_INTEGER;
const LEASE_OVER_MS = 61_000;

interface Failure {
  readonly renewal_failed_at: string | null;
  readonly renewal_failure_code: string | null;
}

const NO_FAILURE: Failure = { renewal_failed_at: null, renewal_failure_code: null };

interface StoredEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly object: Failure; readonly previous: Partial<Failure> };
}

describe('a renewal that cannot be billed', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
  });

  afterEach(() => engine.close());

  const failureOf = async (id: string): Promise<Failure> => {
    const { body } = await engine.http.get(`/v1/subscriptions/${id}`).expect(200);
    const { renewal_failed_at, renewal_failure_code } = body as Failure;
    return { renewal_failed_at, renewal_failure_code };
  };

  /** Returns the events of a subscription of a type, oldest first. */
  const eventsOf = async (id: string, type: string): Promise<readonly StoredEvent[]> => {
    const { body } = await engine.http.get(`/v1/events?object_id=${id}&type=${type}&limit=100`);
    return [...(body as { data: readonly StoredEvent[] }).data].reverse();
  };

  const startedAt = '2026-01-01T00:00:00.000Z';

  /** Subscribes to a flat price and one unit price above the largest amount for three units, and uses three. */
  const beginTooLarge = async (story: Story) => {
    const meter = await story.meter();
    const plan = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 },
      {
        name: 'Usage',
        model: 'per_unit',
        timing: 'in_arrears',
        unit_amount: String(LARGEST),
        meter_id: meter.id,
      },
    ]);
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-01-11T00:00:00.000Z');
    const key = await story.reportUsage(meter.event, '2026-01-10T00:00:00.000Z', { n: 3 });
    return { id, key };
  };

  it('is shown on the subscription with its code, and sent once, until it succeeds', async () => {
    const story = await Story.begin(engine, startedAt);
    const { id, key } = await beginTooLarge(story);
    expect(await failureOf(id)).toEqual(NO_FAILURE);

    await story.advance('2026-02-05T00:00:00.000Z');
    const failure = {
      renewal_failed_at: '2026-02-01T00:00:00.000Z',
      renewal_failure_code: 'invoice_too_large',
    };
    expect(await failureOf(id)).toEqual(failure);
    const sent = await eventsOf(id, 'subscription.renewal_failed');
    expect(sent).toMatchObject([
      {
        timestamp: '2026-02-01T00:00:00.000Z',
        data: { object: { id, status: 'active', ...failure }, previous: NO_FAILURE },
      },
    ]);

    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    await story.advance('2026-02-07T00:00:00.000Z');
    expect(await failureOf(id)).toEqual(NO_FAILURE);
    expect(await story.amounts()).toEqual([[3_000], [3_000]]);
    expect(await eventsOf(id, 'subscription.renewed')).toMatchObject([
      { data: { object: NO_FAILURE, previous: failure } },
    ]);
    expect(await eventsOf(id, 'subscription.renewal_failed')).toHaveLength(1);
    await story.verify();
  });

  const subscribe = async (amount: number): Promise<{ id: string; customerId: string }> => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount }];
    const plan = { code: 'base', name: 'Base', currency: 'USD', interval: 'month', prices };
    const { body: created } = await engine.http.post('/v1/plans').send(plan).expect(201);
    const customerId = await createCustomer(engine);
    const { body } = await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: customerId, plan_id: (created as { id: string }).id })
      .expect(201);
    return { id: (body as { id: string }).id, customerId };
  };

  const subscribeTaxed = () => subscribe(LARGEST);

  const setTax = async (customerId: string, percentage: string | null): Promise<void> => {
    const ids: string[] = [];
    if (percentage !== null) {
      const rate = { name: 'VAT', percentage };
      const { body } = await engine.http.post('/v1/tax-rates').send(rate).expect(201);
      ids.push((body as { id: string }).id);
    }
    await engine.http.patch(`/v1/customers/${customerId}`).send({ tax_rate_ids: ids }).expect(200);
  };

  it.each([9, 19])('refuses commands with its own code after %i days', async (days) => {
    const event = { event_name: 'units', aggregation: 'sum', value_property: 'n' };
    const meter_id = await createMeter(engine, event);
    const price = { name: 'Units', model: 'per_unit', timing: 'in_arrears', meter_id };
    const plan = await post(engine, '/v1/plans', {
      code: 'daily',
      name: 'Daily',
      currency: 'USD',
      interval: 'day',
      prices: [{ ...price, unit_amount: String(LARGEST) }],
    });
    const customer_id = await createCustomer(engine);
    const { id } = await post(engine, '/v1/subscriptions', { customer_id, plan_id: plan.id });
    const timestamp = engine.clock.now().toISOString();
    const usage = { customer_id, event_name: 'units', timestamp, properties: { n: 3 } };
    await post(engine, '/v1/usage-events', { idempotency_key: 'use', ...usage });
    engine.clock.advanceMs(days * 86_400_000);
    const due = engine.app.get(DueSubscriptions);
    await due.runDue();
    const cancel = `/v1/subscriptions/${id}/cancel`;
    const refused = await engine.http.post(cancel).send({ when: 'now' });
    expect(refused.body).toMatchObject({ status: 422, code: 'invoice_too_large' });

    await post(engine, '/v1/usage-events/void', { idempotency_key: 'use' });
    const isBehind = days > 14;
    const answer = await engine.http.post(cancel).send({ when: 'now' });
    expect(answer.body).toMatchObject(
      isBehind ? { code: 'subscription_behind' } : { status: 'canceled' },
    );
    engine.clock.advanceMs(LEASE_OVER_MS);
    while (await due.runDue());
    if (isBehind) await post(engine, cancel, { when: 'now' });
    expect(await failureOf(id)).toEqual(NO_FAILURE);
  });

  it('is sent once by two workers and at each retry, and again after a renewal that succeeded', async () => {
    const { id, customerId } = await subscribeTaxed();
    await setTax(customerId, '19');
    engine.clock.advanceMs(32 * 86_400_000);
    const failedAt = engine.clock.now().toISOString();
    const other = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: { LOG_LEVEL: 'fatal' },
    });
    try {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        other.clock.set(engine.clock.now().toISOString());
        await Promise.all([engine, other].map(({ app }) => app.get(DueSubscriptions).runDue()));
        engine.clock.advanceMs(LEASE_OVER_MS);
      }
    } finally {
      await other.close();
    }
    expect(await failureOf(id)).toEqual({
      renewal_failed_at: failedAt,
      renewal_failure_code: 'invoice_too_large',
    });
    expect(await eventsOf(id, 'subscription.renewal_failed')).toHaveLength(1);

    await setTax(customerId, null);
    await engine.app.get(DueSubscriptions).runDue();
    expect(await failureOf(id)).toEqual(NO_FAILURE);
    await setTax(customerId, '20');
    engine.clock.advanceMs(32 * 86_400_000);
    await engine.app.get(DueSubscriptions).runDue();
    expect(await failureOf(id)).toEqual({
      renewal_failed_at: engine.clock.now().toISOString(),
      renewal_failure_code: 'invoice_too_large',
    });
    expect(await eventsOf(id, 'subscription.renewal_failed')).toHaveLength(2);
  });

  it('is not noted after another worker renewed the subscription meanwhile', async () => {
    const { id, customerId } = await subscribeTaxed();
    await setTax(customerId, '19');
    engine.clock.advanceMs(32 * 86_400_000);
    const renewals = engine.app.get(RenewSubscriptionsWorkflow);
    const runNext = renewals.runNext.bind(renewals);
    jest.spyOn(renewals, 'runNext').mockImplementationOnce(async (ids, now) => {
      const error: unknown = await runNext(ids, now).catch((reason: unknown) => reason);
      await setTax(customerId, null);
      await runNext(ids, now);
      throw error;
    });
    await engine.app.get(DueSubscriptions).runDue();
    expect(await failureOf(id)).toEqual(NO_FAILURE);
    expect(await eventsOf(id, 'subscription.renewal_failed')).toEqual([]);
  });

  describe('while its customer is deleted', () => {
    async function begin() {
      const { id, customerId } = await subscribe(1_000);
      await post(engine, `/v1/subscriptions/${id}/change`, { quantity: '2', when: 'period_end' });
      engine.clock.advanceMs(32 * 86_400_000);
      const renew = () => engine.app.get(DueSubscriptions).runDue();
      const remove = () => engine.http.delete(`/v1/customers/${customerId}`).expect(204).then();
      const expectEvents = async (expected: readonly string[]): Promise<void> => {
        expect(await failureOf(id)).toEqual(NO_FAILURE);
        const { body } = await engine.http.get(`/v1/events?object_id=${id}`);
        const types = (body as { data: readonly StoredEvent[] }).data.map(({ type }) => type);
        expect(types.reverse().slice(3)).toEqual(expected);
      };
      return { renew, remove, expectEvents };
    }

    it('is done if it has begun first, and the deletion waits', async () => {
      const { renew, remove, expectEvents } = await begin();
      await overlap(engine, 'INSERT OR UPDATE OR DELETE ON scheduled_change', [renew, remove]);
      const renewed = ['subscription.renewed', 'subscription.updated'];
      await expectEvents(renewed);
      engine.clock.advanceMs(32 * 86_400_000);
      await renew();
      await expectEvents([...renewed, 'subscription.canceled']);
    });

    it('waits if the deletion has begun first, and then ends the subscription', async () => {
      const { renew, remove, expectEvents } = await begin();
      await overlap(engine, 'INSERT OR UPDATE ON customer_access', [remove, renew]);
      await expectEvents(['subscription.canceled']);
    });
  });

  it('is not noted where the engine or its database failed', async () => {
    const { id } = await subscribeTaxed();
    engine.clock.advanceMs(32 * 86_400_000);
    await engine.database.query(
      'ALTER TABLE invoice ADD CONSTRAINT no_invoice CHECK (false) NOT VALID',
    );
    await engine.app.get(DueSubscriptions).runDue();
    expect(await failureOf(id)).toEqual(NO_FAILURE);
    expect(await eventsOf(id, 'subscription.renewal_failed')).toEqual([]);
  });
});
