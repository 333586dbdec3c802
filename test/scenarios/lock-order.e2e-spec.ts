import { Client } from 'pg';
import { ResumePaymentWorkflow } from '../../src/modules/billing/payments/resume-payment.workflow';
import type { ProviderOutcome } from '../../src/modules/payments/domain/payment-provider';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { ProviderRefundsService } from '../../src/modules/refunds/provider-refunds.service';
import { RefundsService } from '../../src/modules/refunds/refunds.service';
import { createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { recordDispute } from '../support/disputes';
import { lockLaterRows, untilSessionsWait } from '../support/lock-waits';
import { post, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const INVOICES = 'SELECT FROM invoice WHERE customer_id = $1 FOR UPDATE';
const CUSTOMER = 'SELECT FROM customer WHERE id = $1 FOR UPDATE';
const SUBSCRIPTIONS = 'SELECT FROM subscription WHERE customer_id = $1 FOR UPDATE NOWAIT';
const PAYMENTS = 'SELECT FROM payment WHERE customer_id = $1 FOR UPDATE NOWAIT';
const PAYMENT = 'SELECT FROM payment WHERE customer_id = $1 FOR UPDATE';
const REFUND_DISCREPANCIES = `
  SELECT FROM provider_discrepancy
  WHERE refund_id IN (SELECT id FROM refund WHERE customer_id = $1) FOR UPDATE NOWAIT`;
const STREAMS = 'SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE';
const FIRST_ACCESS = 'INSERT INTO customer_access (customer_id, version) VALUES ($1, 1)';
const ACCESS = 'SELECT FROM customer_access WHERE customer_id = $1 FOR UPDATE NOWAIT';
const BALANCES = 'SELECT FROM customer_entitlement WHERE customer_id = $1 FOR UPDATE NOWAIT';

/** While a request waits for rows that come first, it has not locked rows that come later. */
describe('the order of locks is kept', () => {
  let made: TestDatabase;
  let engine: TestApp;
  let holder: Client;

  beforeAll(async () => {
    made = await createTestDatabase();
    engine = await startTestApp({ databaseUrl: made.url });
    holder = new Client({ connectionString: made.url });
    await holder.connect();
  });

  afterAll(async () => {
    await holder.end();
    await engine.close();
    await made.drop();
  });

  /** Runs the work while its first rows are locked, and locks its later ones once it waits. Returns how many. */
  const lockLater = (
    customerId: string,
    rows: readonly [first: string, later: string],
    work: () => PromiseLike<{ readonly status: number }>,
  ): Promise<number | null> => lockLaterRows(engine, holder, customerId, rows, work);

  it('by a new default payment method, which changes invoices and subscriptions', async () => {
    const story = await Story.begin(engine, START);
    const { customerId } = story;
    const addCard = (token: string) =>
      engine.http
        .post(`/v1/customers/${customerId}/payment-methods`)
        .send({ provider: 'sandbox', token, is_default: true });
    await addCard('pm_sandbox_declined');
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-20T00:00:00.000Z');
    expect((await story.subscription(id)).status).toBe('unpaid');
    const locked = await lockLater(customerId, [INVOICES, ACCESS], () => addCard('pm_sandbox_ok'));
    expect(locked).toBe(1);
    expect((await story.subscription(id)).status).toBe('past_due');
  });

  it('by a new default payment method, which recalculates balances once for all unpaid subscriptions', async () => {
    const story = await Story.begin(engine, START);
    const { customerId } = story;
    const addCard = (token: string) =>
      post(engine, `/v1/customers/${customerId}/payment-methods`, {
        ...{ provider: 'sandbox', token, is_default: true },
      });
    await addCard('pm_sandbox_declined');
    const plan = await story.plan(1_000);
    const ids = [await story.subscribe(plan), await story.subscribe(plan)].map(({ id }) => id);
    await story.advance('2026-03-20T00:00:00.000Z');
    const accessVersion = async () => {
      const sql = 'SELECT version FROM customer_access WHERE customer_id = $1';
      const [row] = await engine.database.query<{ version: number }>(sql, [customerId]);
      return row?.version ?? 0;
    };
    const before = await accessVersion();
    await addCard('pm_sandbox_ok');
    expect(await accessVersion()).toBe(before + 1);
    for (const id of ids) expect((await story.subscription(id)).status).toBe('past_due');
  });

  it('by a new default payment method, which waits for the failure of the last attempt', async () => {
    const story = await Story.begin(engine, START);
    const { customerId } = story;
    const addCard = (token: string) =>
      engine.http
        .post(`/v1/customers/${customerId}/payment-methods`)
        .send({ provider: 'sandbox', token, is_default: true });
    await addCard('pm_sandbox_declined');
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-20T00:00:00.000Z');
    await addCard('pm_sandbox_pending');
    await story.advance('2026-03-21T00:00:00.000Z');
    const { body } = await engine.http.get(`/v1/payments?customer_id=${customerId}&limit=1`);
    const [attempt] = (body as { data: { id: string; status: string }[] }).data;
    expect(attempt?.status).toBe('processing');
    await holder.query('BEGIN');
    await holder.query(INVOICES, [customerId]);
    const path = `/v1/sandbox/payments/${attempt?.id ?? ''}/settle`;
    const failing = Promise.resolve(engine.http.post(path).send({ outcome: 'failed' }));
    await untilSessionsWait(engine.database);
    const adding = Promise.resolve(addCard('pm_sandbox_ok'));
    await untilSessionsWait(engine.database, 2);
    await holder.query('ROLLBACK');
    expect([(await failing).status, (await adding).status]).toEqual([200, 201]);
    expect((await story.subscription(id)).status).toBe('past_due');
  });

  it('by a new default payment method, which waits for a resume after the last attempt', async () => {
    const story = await Story.begin(engine, START);
    const { customerId } = story;
    const addCard = (token: string) =>
      engine.http
        .post(`/v1/customers/${customerId}/payment-methods`)
        .send({ provider: 'sandbox', token, is_default: true });
    await addCard('pm_sandbox_declined');
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.command(id, 'pause');
    await story.advance('2026-03-20T00:00:00.000Z');
    await holder.query('BEGIN');
    expect((await holder.query(ACCESS, [customerId])).rowCount).toBe(1);
    const resuming = Promise.resolve(engine.http.post(`/v1/subscriptions/${id}/resume`));
    await untilSessionsWait(engine.database);
    const adding = Promise.resolve(addCard('pm_sandbox_ok'));
    await untilSessionsWait(engine.database, 2);
    await holder.query('ROLLBACK');
    expect([(await resuming).status, (await adding).status]).toEqual([200, 201]);
    expect((await story.subscription(id)).status).toBe('past_due');
  });

  describe('for a subscription, after its customer,', () => {
    /** Returns how many subscriptions are not locked while the work waits for the customer. */
    const unlockedBy = ({ customerId }: Story, work: () => PromiseLike<{ status: number }>) =>
      lockLater(customerId, [CUSTOMER, SUBSCRIPTIONS], work);
    const advance = ({ clockId }: Story, to: string) =>
      engine.http.post(`/v1/test-clocks/${clockId}/advance`).send({ to });
    const addCard = ({ customerId }: Story, token: string) =>
      post(engine, `/v1/customers/${customerId}/payment-methods`, {
        ...{ provider: 'sandbox', is_default: true },
        token,
      });

    it('by a renewal', async () => {
      const story = await Story.begin(engine, START);
      await story.subscribe(await story.plan(1_000), { collection: 'send_invoice' });
      expect(await unlockedBy(story, () => advance(story, '2026-04-01T00:00:00.000Z'))).toBe(1);
    });

    it('by the end of the grace period of a renewal', async () => {
      const story = await Story.begin(engine, START, { invoice_grace_hours: 24 });
      await story.subscribe(await story.plan(1_000), { collection: 'send_invoice' });
      await story.advance('2026-04-01T00:00:00.000Z');
      expect(await unlockedBy(story, () => advance(story, '2026-04-02T00:00:00.000Z'))).toBe(1);
    });

    it('by an invoice for late usage', async () => {
      const story = await Story.begin(engine, START);
      const { id: meter_id, event } = await story.meter();
      const price = { name: 'Usage', model: 'per_unit', timing: 'in_arrears', unit_amount: '5' };
      const { id } = await story.planOf([{ ...price, meter_id }]);
      const subscription = await story.subscribe(id, { collection: 'send_invoice' });
      await story.reportUsage(event, START, { n: 1 });
      await story.advance('2026-03-10T00:00:00.000Z');
      await story.command(subscription.id, 'cancel', { when: 'now' });
      await story.reportUsage(event, START, { n: 2 });
      expect(await unlockedBy(story, () => advance(story, '2026-03-11T00:00:00.000Z'))).toBe(1);
    });

    it('by the outcome of a payment', async () => {
      const story = await Story.begin(engine, START);
      await addCard(story, 'pm_sandbox_pending');
      await story.subscribe(await story.plan(1_000));
      await story.advance(START);
      const { body } = await engine.http.get(`/v1/payments?customer_id=${story.customerId}`);
      const [{ id } = { id: '' }] = (body as { data: { id: string }[] }).data;
      const settle = () =>
        engine.http.post(`/v1/sandbox/payments/${id}/settle`).send({ outcome: 'succeeded' });
      expect(await unlockedBy(story, settle)).toBe(1);
    });

    it('by the end of the collection of a void invoice', async () => {
      const story = await Story.begin(engine, START);
      await addCard(story, 'pm_sandbox_declined');
      await story.subscribe(await story.plan(1_000));
      await story.advance(START);
      const [{ id } = { id: '' }] = await story.invoices();
      await post(engine, `/v1/invoices/${id}/void`);
      expect(await unlockedBy(story, () => advance(story, '2026-03-03T00:00:00.000Z'))).toBe(1);
    });
  });

  describe('for a payment, after its customer,', () => {
    const BOTH = `
      SELECT FROM payment JOIN provider_discrepancy ON payment_id = payment.id
      WHERE customer_id = $1 FOR UPDATE NOWAIT`;
    const PAID: ProviderOutcome = { kind: 'succeeded', reference: 'pm_sandbox_ok/late' };
    const pay = ({ customerId }: Story, fields: object = {}) =>
      post(engine, '/v1/payments', {
        ...{ customer_id: customerId, amount: 1_000, currency: 'USD', provider: 'sandbox' },
        ...fields,
      });

    it('by its outcome, without an invoice', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await pay(story, { payment_method_id: 'pm_sandbox_pending' });
      const settle = () =>
        engine.http.post(`/v1/sandbox/payments/${id}/settle`).send({ outcome: 'succeeded' });
      expect(await lockLater(story.customerId, [CUSTOMER, PAYMENTS], settle)).toBe(1);
    });

    it('by a refund', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await pay(story);
      const refund = () => engine.http.post(`/v1/refunds/payment/${id}`).send({ amount: 400 });
      expect(await lockLater(story.customerId, [CUSTOMER, PAYMENTS], refund)).toBe(1);
    });

    it('by the outcome of a refund', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await pay(story, { payment_method_id: 'pm_sandbox_refund_pending' });
      const refund = await post(engine, `/v1/refunds/payment/${id}`, { amount: 400 });
      const settle = () =>
        engine.http.post(`/v1/sandbox/refunds/${refund.id}/settle`).send({ outcome: 'succeeded' });
      expect(await lockLater(story.customerId, [CUSTOMER, PAYMENTS], settle)).toBe(1);
    });

    it('by a dispute', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await pay(story);
      const dispute = async () => {
        await recordDispute(engine, id, {
          ...{ providerReference: `dp_${id}`, status: 'open', reason: null },
          ...{ amount: 1_000n, amountWithdrawn: 1_000n, amountReinstated: 0n },
          ...{ isRefundable: false, evidenceDueAt: null },
        });
        return { status: 200 };
      };
      expect(await lockLater(story.customerId, [CUSTOMER, PAYMENTS], dispute)).toBe(1);
    });

    it('by a refund made at the provider', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await pay(story);
      const reported = { reference: `re_${id}`, refundId: null, amount: 400n, reason: null };
      const record = async () => {
        await engine.app.get(ProviderRefundsService).record(id, { ...reported, outcome: PAID }, 0);
        return { status: 200 };
      };
      expect(await lockLater(story.customerId, [CUSTOMER, PAYMENTS], record)).toBe(1);
    });

    /** Makes an open discrepancy, and returns a function that applies it. */
    async function discrepancyOf(story: Story, subject: 'payment' | 'refund') {
      const sandbox = engine.app.get(SandboxProvider);
      if (subject === 'payment') {
        const { id } = await pay(story, { payment_method_id: 'pm_sandbox_declined' });
        jest.spyOn(sandbox, 'charge').mockResolvedValueOnce(PAID);
        await engine.app.get(ResumePaymentWorkflow).resume(id);
      } else {
        const { id } = await pay(story, { payment_method_id: 'pm_sandbox_refund_fails' });
        const refund = await post(engine, `/v1/refunds/payment/${id}`, { amount: 400 });
        jest.spyOn(sandbox, 'refund').mockResolvedValueOnce(PAID);
        await engine.app.get(RefundsService).resume(refund.id);
      }
      const { body } = await engine.http.get('/v1/provider-discrepancies?status=open');
      const [{ id } = { id: '' }] = (body as { data: { id: string }[] }).data;
      return () => engine.http.post(`/v1/provider-discrepancies/${id}/apply`).send({});
    }

    it.each(['payment', 'refund'] as const)(
      'by an applied discrepancy of a %s',
      async (subject) => {
        const story = await Story.begin(engine, START);
        const apply = await discrepancyOf(story, subject);
        expect(await lockLater(story.customerId, [CUSTOMER, BOTH], apply)).toBe(1);
      },
    );

    it('and for a discrepancy of a refund, after its payment, as by a failure that dismisses it', async () => {
      const story = await Story.begin(engine, START);
      const apply = await discrepancyOf(story, 'refund');
      const { customerId } = story;
      expect(await lockLater(customerId, [PAYMENT, REFUND_DISCREPANCIES], apply)).toBe(1);
    });
  });

  describe('for a balance that has no window yet', () => {
    async function begin() {
      const { customerId, clockId } = await Story.begin(engine, START);
      const meter_id = await createMeter(engine);
      const [{ event_name = '' } = {}] = await engine.database.query<{ event_name?: string }>(
        'SELECT event_name FROM meter WHERE id = $1',
        [meter_id],
      );
      const { key } = await createEntitlement(engine, { type: 'metered', meter_id });
      const path = `/v1/customers/${customerId}/entitlements/${key}`;
      await engine.http.get(path);
      const event = { idempotency_key: key, customer_id: customerId, event_name };
      await engine.http.post('/v1/usage-events').send({ ...event, timestamp: START });
      return { customerId, clockId, path };
    }

    it('by a check', async () => {
      const { customerId, path } = await begin();
      await engine.database.query('UPDATE customer_access SET version = version + 1');
      const check = () => engine.http.get(path);
      expect(await lockLater(customerId, [STREAMS, BALANCES], check)).toBe(1);
    });

    it('by the first check, which creates the access version', async () => {
      const { customerId, path } = await begin();
      for (const table of ['customer_entitlement', 'customer_access'])
        await engine.database.query(`DELETE FROM ${table} WHERE customer_id = $1`, [customerId]);
      const check = () => engine.http.get(path);
      const streams = `${STREAMS} NOWAIT`;
      expect(await lockLater(customerId, [FIRST_ACCESS, streams], check)).toBe(1);
    });

    it('by the first check, while the customer is deleted', async () => {
      const { customerId, path } = await begin();
      for (const table of ['customer_entitlement', 'customer_access'])
        await engine.database.query(`DELETE FROM ${table} WHERE customer_id = $1`, [customerId]);
      const check = () => engine.http.get(path);
      expect(await lockLater(customerId, [CUSTOMER, FIRST_ACCESS], check)).toBe(1);
    });

    it('by a check that creates the balance, while the customer is deleted', async () => {
      const { customerId, path } = await begin();
      await engine.database.query('DELETE FROM customer_entitlement WHERE customer_id = $1', [
        customerId,
      ]);
      const check = () => engine.http.get(path);
      const streams = `${STREAMS} NOWAIT`;
      expect(await lockLater(customerId, [CUSTOMER, streams], check)).toBe(1);
    });

    it('by the deletion of the test clock of its customer', async () => {
      const { customerId, clockId } = await begin();
      const remove = () => engine.http.delete(`/v1/test-clocks/${clockId}`);
      expect(await lockLater(customerId, [STREAMS, BALANCES], remove)).toBe(1);
    });

    it.each([
      ['a current', 0],
      ['an outdated', 1],
    ])('by a consumption of %s balance, while the customer is deleted', async (_, changes) => {
      const { customerId, path } = await begin();
      await engine.http.post(`${path}/grants`).send({ value: '100' });
      const change = 'UPDATE customer_access SET version = version + $2 WHERE customer_id = $1';
      await engine.database.query(change, [customerId, changes]);
      const consume = () =>
        engine.http.post(`${path}/consume`).send({ quantity: '1', idempotency_key: 'once' });
      const streams = `${STREAMS} NOWAIT`;
      expect(await lockLater(customerId, [CUSTOMER, streams], consume)).toBe(1);
    });

    it.each([
      ['a current', 0],
      ['an outdated', 1],
    ])(
      'by the void of a grant of %s balance, while the customer is deleted',
      async (_, changes) => {
        const { customerId, path } = await begin();
        const { id } = await post(engine, `${path}/grants`, { value: '100' });
        const change = 'UPDATE customer_access SET version = version + $2 WHERE customer_id = $1';
        await engine.database.query(change, [customerId, changes]);
        const voidGrant = () => engine.http.post(`${path}/grants/${id}/void`).send({});
        const streams = `${STREAMS} NOWAIT`;
        expect(await lockLater(customerId, [CUSTOMER, streams], voidGrant)).toBe(1);
      },
    );

    it('by a grant, while the customer is deleted', async () => {
      const { customerId, path } = await begin();
      const grant = () => engine.http.post(`${path}/grants`).send({ value: '100' });
      const streams = `${STREAMS} NOWAIT`;
      expect(await lockLater(customerId, [CUSTOMER, streams], grant)).toBe(1);
    });

    it('by the first grant', async () => {
      const { customerId, path } = await begin();
      const grant = () => engine.http.post(`${path}/grants`).send({ value: '100' });
      expect(await lockLater(customerId, [STREAMS, BALANCES], grant)).toBe(1);
    });
  });

  describe('for several balances', () => {
    /** The usage that was counted first for a customer, of the given one and of all customers after it. */
    const FIRST_USAGE = `
      SELECT FROM usage_stream WHERE id = (SELECT min(id) FROM usage_stream WHERE customer_id = $1) FOR UPDATE`;
    const LATER_USAGE = `
      SELECT FROM usage_stream WHERE id > (SELECT min(id) FROM usage_stream WHERE customer_id = $1) FOR UPDATE NOWAIT`;
    const advance = async ({ clockId }: Story, to: string) =>
      engine.http.post(`/v1/test-clocks/${clockId}/advance`).send({ to });
    const metered = async () => {
      const meter_id = await createMeter(engine);
      return createEntitlement(engine, { meter_id });
    };
    const grant = ({ customerId }: Story, key: string) =>
      post(engine, `/v1/customers/${customerId}/entitlements/${key}/grants`, {
        ...{ value: '10', expires_at: '2026-03-10T00:00:00.000Z' },
      });

    it.each([
      ['a start', START],
      ['a start in the past', '2026-02-20T00:00:00.000Z'],
    ])(
      'by %s that creates a stream, beside a list of events that creates it',
      async (_, start_at) => {
        const story = await Story.begin(engine, START);
        const { event } = await story.meter();
        await story.reportUsage(event, START, { n: 1 });
        const meter_id = await createMeter(engine);
        const { event_name } = (await engine.http.get(`/v1/meters/${meter_id}`)).body as {
          event_name: string;
        };
        const { id } = await createEntitlement(engine, { meter_id });
        const plan_id = await story.plan(0, {
          entitlements: [{ entitlement_id: id, value: '100' }],
        });
        const create = `INSERT INTO usage_stream (customer_id, event_name, last_position) VALUES ($1, '${event_name}', 0)`;
        const existing = `SELECT FROM usage_stream WHERE customer_id = $1 AND event_name = '${event}' FOR UPDATE NOWAIT`;
        const start = () =>
          engine.http
            .post('/v1/subscriptions')
            .send({ customer_id: story.customerId, plan_id, start_at });
        expect(await lockLater(story.customerId, [create, existing], start)).toBe(1);
      },
    );

    it('by a renewal that bills a meter without a stream', async () => {
      const story = await Story.begin(engine, START);
      const { id: meter_id, event } = await story.meter();
      const price = { name: 'Usage', model: 'per_unit', timing: 'in_arrears', unit_amount: '5' };
      const entitlements = [{ entitlement_id: (await metered()).id, value: '100' }];
      const { id } = await story.planOf([{ ...price, meter_id }], { entitlements });
      await story.subscribe(id, { collection: 'send_invoice' });
      const create = `INSERT INTO usage_stream (customer_id, event_name, last_position) VALUES ($1, '${event}', 0)`;
      const existing = `SELECT FROM usage_stream WHERE customer_id = $1 AND event_name <> '${event}' FOR UPDATE NOWAIT`;
      const renewal = () => advance(story, '2026-04-01T00:00:00.000Z');
      expect(await lockLater(story.customerId, [create, existing], renewal)).toBe(1);
    });

    it('by a pause, which locks usage before any balance', async () => {
      const story = await Story.begin(engine, START);
      const credits = await createEntitlement(engine);
      const { id } = await metered();
      const entitlements = [{ entitlement_id: id, value: '100' }];
      const subscription = await story.subscribe(await story.plan(0, { entitlements }));
      await grant(story, credits.key);
      const pause = () => engine.http.post(`/v1/subscriptions/${subscription.id}/pause`).send({});
      expect(await lockLater(story.customerId, [STREAMS, BALANCES], pause)).toBe(2);
    });

    it('by renewals of two customers, which lock usage in order', async () => {
      const story = await Story.begin(engine, START);
      const { id } = await post(engine, '/v1/customers', {
        ...{ name: 'Ben', test_clock_id: story.clockId },
      });
      const entitlements = [{ entitlement_id: (await metered()).id, value: '100' }];
      const plan_id = await story.plan(0, { entitlements });
      for (const customer_id of [id, story.customerId])
        await post(engine, '/v1/subscriptions', { customer_id, plan_id });
      const renewal = () => advance(story, '2026-04-01T00:00:00.000Z');
      expect(await lockLater(id, [FIRST_USAGE, LATER_USAGE], renewal)).toBe(1);
    });

    it('by a renewal that bills other usage than the balance counts', async () => {
      const story = await Story.begin(engine, START);
      const { id: meter_id, event } = await story.meter();
      await story.reportUsage(event, START, { n: 1 });
      const price = { name: 'Usage', model: 'per_unit', timing: 'in_arrears', unit_amount: '5' };
      const entitlements = [{ entitlement_id: (await metered()).id, value: '100' }];
      const { id } = await story.planOf([{ ...price, meter_id }], { entitlements });
      await story.subscribe(id, { collection: 'send_invoice' });
      const renewal = () => advance(story, '2026-04-01T00:00:00.000Z');
      expect(await lockLater(story.customerId, [FIRST_USAGE, LATER_USAGE], renewal)).toBe(1);
    });

    it('by a renewal, which leaves usage unlocked that it neither bills nor counts', async () => {
      const story = await Story.begin(engine, START);
      const { event } = await story.meter();
      await story.reportUsage(event, START, { n: 1 });
      const entitlements = [{ entitlement_id: (await metered()).id, value: '100' }];
      await story.subscribe(await story.plan(0, { entitlements }));
      const balances = 'SELECT FROM customer_entitlement WHERE customer_id = $1 FOR UPDATE';
      const other = `SELECT FROM usage_stream WHERE customer_id = $1 AND event_name = '${event}' FOR UPDATE NOWAIT`;
      const renewal = () => advance(story, '2026-04-01T00:00:00.000Z');
      expect(await lockLater(story.customerId, [balances, other], renewal)).toBe(1);
    });

    it('by the deletion of a customer, which ends a paused subscription', async () => {
      const story = await Story.begin(engine, START);
      const { event } = await story.meter();
      await story.reportUsage(event, START, { n: 1 });
      const entitlements = [{ entitlement_id: (await metered()).id, value: '100' }];
      const { id } = await story.subscribe(await story.plan(0, { entitlements }));
      await post(engine, `/v1/subscriptions/${id}/pause`, {});
      await story.advance('2026-04-02T00:00:00.000Z');
      const { customerId } = story;
      const remove = () => engine.http.delete(`/v1/customers/${customerId}`);
      expect(await lockLater(customerId, [FIRST_USAGE, LATER_USAGE], remove)).toBe(1);
    });

    it('by the end of two grants, which locks balances in the order of a change', async () => {
      const story = await Story.begin(engine, START);
      const first = await createEntitlement(engine);
      const second = await createEntitlement(engine);
      for (const { key } of [second, first]) await grant(story, key);
      const locked = (compared: string, lock: string) => `
        SELECT FROM customer_entitlement
        WHERE customer_id = $1 AND entitlement_id ${compared} '${first.id}' ${lock}`;
      const [held, later] = [locked('=', 'FOR UPDATE'), locked('>', 'FOR UPDATE NOWAIT')];
      const end = () => advance(story, '2026-03-11T00:00:00.000Z');
      expect(await lockLater(story.customerId, [held, later], end)).toBe(1);
    });
  });

  it('by the deletion of an entitlement that is being consumed, which waits for no balance', async () => {
    const { customerId } = await Story.begin(engine, START);
    const { id, key } = await createEntitlement(engine, { type: 'metered' });
    await engine.http.get(`/v1/customers/${customerId}/entitlements/${key}`);
    await holder.query('BEGIN');
    await holder.query(
      'SELECT FROM customer_entitlement WHERE customer_id = $1 FOR NO KEY UPDATE',
      [customerId],
    );
    const refused = await engine.http.delete(`/v1/entitlements/${id}`);
    await holder.query('ROLLBACK');
    expect(refused.body).toMatchObject({ code: 'entitlement_in_use' });
    expect((await engine.http.delete(`/v1/entitlements/${id}`)).status).toBe(204);
  });
});
