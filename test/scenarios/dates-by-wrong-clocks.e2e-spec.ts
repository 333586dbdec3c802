import { postRevenueRelease } from '../../src/core/ledger';
import { LedgerService } from '../../src/modules/ledger';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { recordDispute } from '../support/disputes';
import { verifyLedger } from '../support/ledger';
import { post } from '../support/requests';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

interface Dated {
  readonly id: string;
  readonly created_at: string;
}

/** A process whose clock is days ahead changes an object. Later commands are by a right clock. */
describe('a clock that is wrong', () => {
  let engine: TestApp;
  let customer: string;
  const beginsAt = '2026-04-01T00:00:00.000Z';

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    engine.clock.set(beginsAt);
    customer = await createCustomer(engine, { currency: 'USD' });
  });

  const makeDraft = (): Promise<{ readonly id: string }> =>
    post(engine, '/v1/invoices', {
      customer_id: customer,
      currency: 'USD',
      lines: [{ description: 'Work', amount: 1_000 }],
      days_until_due: 1,
    });
  const aheadBy = async (days: number, change: () => Promise<unknown>): Promise<void> => {
    engine.clock.advanceMs(days * 86_400_000);
    await change();
    engine.clock.set(beginsAt);
  };
  const read = async <Body>(path: string): Promise<Body> =>
    (await engine.http.get(path).expect(200)).body as Body;
  const patch = ({ id }: { readonly id: string }): Promise<unknown> =>
    engine.http
      .patch(`/v1/subscriptions/${id}`)
      .send({ metadata: { team: 'blue' } })
      .expect(200);
  const topUp = (amount: number, token = 'pm_sandbox_ok'): Promise<Dated> =>
    post(engine, '/v1/payments', {
      customer_id: customer,
      amount,
      currency: 'USD',
      payment_method_id: token,
    });
  const pay = (id: string, token: string): Promise<Dated> =>
    post(engine, `/v1/invoices/${id}/pay`, { provider: 'sandbox', payment_method_id: token });
  const makePlan = (code: string, amount: number): Promise<{ readonly id: string }> =>
    post(engine, '/v1/plans', {
      code,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount }],
    });
  const subscribe = async (code: string, fields: object) => {
    const plan = await makePlan(code, 3_000);
    const subscription = await post(engine, '/v1/subscriptions', {
      customer_id: customer,
      plan_id: plan.id,
      ...fields,
    });
    const path = `/v1/invoices?subscription_id=${subscription.id}`;
    const [invoice] = (await read<{ data: readonly Invoice[] }>(path)).data;
    if (invoice === undefined) throw new Error('The first period is billed.');
    return { subscription, invoice };
  };

  describe('makes changes that do not move', () => {
    afterEach(async () => {
      const { body } = await engine.http
        .get('/v1/ledger/transactions')
        .query({ customer_id: customer });
      const { data } = body as { data: readonly { readonly occurred_at: string }[] };
      const now = engine.clock.now().toISOString();
      for (const { occurred_at: at } of data) expect([beginsAt, now]).toContain(at);
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });

    it('the payment of an invoice of the subscription, nor its refund', async () => {
      const { subscription, invoice } = await subscribe('wrong-1', { collection: 'send_invoice' });
      await aheadBy(20, () => patch(subscription));
      const payment = await pay(invoice.id, 'pm_sandbox_ok');
      expect(payment).toMatchObject({ created_at: beginsAt, updated_at: beginsAt });
      expect(await read(`/v1/invoices/${invoice.id}`)).toMatchObject({ paid_at: beginsAt });
      const refund = await post<Dated>(engine, `/v1/refunds/payment/${payment.id}`, {
        amount: 100,
      });
      expect(refund).toMatchObject({ created_at: beginsAt });
    });

    it('the outcome of a payment that it began, nor its refund', async () => {
      const { invoice } = await subscribe('wrong-3', { collection: 'send_invoice' });
      let payment = { id: '' };
      await aheadBy(20, async () => {
        payment = await pay(invoice.id, 'pm_sandbox_pending');
      });
      await engine.http
        .post(`/v1/sandbox/payments/${payment.id}/settle`)
        .send({ outcome: 'succeeded' })
        .expect(200);
      expect(await read(`/v1/invoices/${invoice.id}`)).toMatchObject({ paid_at: beginsAt });
      const refund = await post<Dated>(engine, `/v1/refunds/payment/${payment.id}`, {
        amount: 100,
      });
      expect(refund).toMatchObject({ created_at: beginsAt });
    });

    it('the time limit of the first payment', async () => {
      const { subscription, invoice } = await subscribe('wrong-2', {
        payment_behavior: 'default_incomplete',
      });
      await aheadBy(2, () => patch(subscription));
      await pay(invoice.id, 'pm_sandbox_declined');
      expect(await read(`/v1/subscriptions/${subscription.id}`)).toMatchObject({
        status: 'incomplete',
      });
      expect(await read(`/v1/invoices/${invoice.id}`)).toMatchObject({ status: 'open' });
    });

    const cancel = async ({ id }: { readonly id: string }, terms: object): Promise<unknown> =>
      (await engine.http.post(`/v1/subscriptions/${id}/cancel`).send(terms).expect(200)).body;
    const incomplete = { payment_behavior: 'default_incomplete' };
    const settle = (payment: Dated, outcome: string): Promise<unknown> =>
      engine.http.post(`/v1/sandbox/payments/${payment.id}/settle`).send({ outcome }).expect(200);

    it('the end of a subscription whose first payment failed, nor the credit that it returns', async () => {
      await topUp(1_000);
      const { subscription, invoice } = await subscribe('wrong-5', incomplete);
      await aheadBy(20, () => patch(subscription));
      const payment = await pay(invoice.id, 'pm_sandbox_pending');
      engine.clock.advanceMs(2 * 86_400_000);
      await settle(payment, 'failed');
      const endedAt = engine.clock.now().toISOString();
      expect(await read(`/v1/subscriptions/${subscription.id}`)).toMatchObject({
        status: 'incomplete_expired',
        ended_at: endedAt,
      });
      expect(await read(`/v1/invoices/${invoice.id}`)).toMatchObject({ voided_at: endedAt });
      const accounts = `/v1/ledger/accounts?customer_id=${customer}&at=2026-04-03T00:00:01Z`;
      const { data } = await read<{ data: readonly { balance: string }[] }>(accounts);
      const owed = data.filter(({ balance }) => balance !== '0');
      expect(owed).toMatchObject([
        { account: 'cash_clearing:sandbox', balance: '1000' },
        { account: 'customer_credit', balance: '-1000' },
      ]);
    });

    it('the outcome of a refund or dispute that it began', async () => {
      const payment = await topUp(1_000, 'pm_sandbox_refund_pending');
      let refund = { id: '' };
      const dispute = {
        providerReference: `dp_${payment.id}`,
        status: 'inquiry',
        reason: null,
        amount: 300n,
        amountWithdrawn: 0n,
        amountReinstated: 0n,
        isRefundable: true,
        evidenceDueAt: null,
      } as const;
      await aheadBy(20, async () => {
        refund = await post(engine, `/v1/refunds/payment/${payment.id}`, { amount: 100 });
        await recordDispute(engine, payment.id, dispute);
      });
      await engine.http
        .post(`/v1/sandbox/refunds/${refund.id}/settle`)
        .send({ outcome: 'succeeded' })
        .expect(200);
      await recordDispute(engine, payment.id, {
        ...dispute,
        status: 'lost',
        amountWithdrawn: 300n,
      });
    });

    it('the end of a subscription whose first invoice is voided', async () => {
      const { subscription, invoice } = await subscribe('wrong-6', incomplete);
      await aheadBy(20, () => patch(subscription));
      await engine.http.post(`/v1/invoices/${invoice.id}/void`).send({}).expect(200);
      expect(await read(`/v1/subscriptions/${subscription.id}`)).toMatchObject({
        status: 'incomplete_expired',
        ended_at: beginsAt,
      });
    });

    it('the date of a draft that is finalized, nor its due date', async () => {
      let draft = { id: '' };
      await aheadBy(20, async () => {
        draft = await makeDraft();
      });
      const { body } = await engine.http.post(`/v1/invoices/${draft.id}/finalize`).send({});
      expect(body).toMatchObject({ finalized_at: beginsAt, due_at: '2026-04-02T00:00:00.000Z' });
      const events = `/v1/events?object_id=${draft.id}&type=invoice.finalized`;
      expect(await read(events)).toMatchObject({ data: [{ timestamp: beginsAt }] });
    });

    it('the cancellation of a subscription at the end of its period, which is not billed again', async () => {
      const { subscription } = await subscribe('wrong-7', { collection: 'send_invoice' });
      await aheadBy(40, () => patch(subscription));
      expect(await cancel(subscription, { when: 'period_end' })).toMatchObject({
        canceled_at: beginsAt,
        cancel_at: '2026-05-01T00:00:00.000Z',
      });
      const invoices = `/v1/invoices?subscription_id=${subscription.id}`;
      expect((await read<{ data: readonly object[] }>(invoices)).data).toHaveLength(1);
    });

    it('the cancellation of a subscription that waits for its first payment', async () => {
      const { subscription } = await subscribe('wrong-8', incomplete);
      await aheadBy(2, () => patch(subscription));
      expect(await cancel(subscription, { when: 'now' })).toMatchObject({
        status: 'canceled',
        ended_at: beginsAt,
      });
    });

    it('an automatic charge, nor the status of a subscription after its failure', async () => {
      await post(engine, `/v1/customers/${customer}/payment-methods`, {
        provider: 'sandbox',
        token: 'pm_sandbox_declined',
        is_default: true,
      });
      const { subscription, invoice } = await subscribe('wrong-11', {});
      await aheadBy(20, async () => {
        await patch(subscription);
        await engine.http
          .patch(`/v1/invoices/${invoice.id}`)
          .send({ metadata: { team: 'blue' } })
          .expect(200);
      });
      await engine.app.get(DueCollections).runDue();
      await engine.app.get(DueCollections).idle();
      const payments = `/v1/payments?customer_id=${customer}`;
      expect(await read(payments)).toMatchObject({
        data: [{ status: 'failed', created_at: beginsAt }],
      });
      const events = `/v1/events?object_id=${subscription.id}&type=subscription.past_due`;
      expect(await read(events)).toMatchObject({ data: [{ timestamp: beginsAt }] });
      const graces = await engine.database.query(
        'SELECT started_at FROM entitlement_grace WHERE subscription_id = $1',
        [subscription.id],
      );
      expect(graces).toEqual([{ started_at: new Date(beginsAt) }]);
    });

    it('the end of a paused subscription whose customer it changed', async () => {
      const { subscription } = await subscribe('wrong-9', { collection: 'send_invoice' });
      await engine.http.post(`/v1/subscriptions/${subscription.id}/pause`).send({}).expect(200);
      engine.clock.set('2026-05-01T00:00:00.000Z');
      const deletedAt = engine.clock.now().toISOString();
      await engine.app.get(DueSubscriptions).runDue();
      await aheadBy(40, () =>
        engine.http.patch(`/v1/customers/${customer}`).send({ name: 'Grace Hopper' }).expect(200),
      );
      engine.clock.set(deletedAt);
      await engine.http.delete(`/v1/customers/${customer}`).expect(204);
      expect(await read(`/v1/subscriptions/${subscription.id}`)).toMatchObject({
        status: 'canceled',
        ended_at: deletedAt,
      });
    });
  });

  it('makes a subscription whose first invoice can be voided', async () => {
    const made: Awaited<ReturnType<typeof subscribe>>[] = [];
    const behavior = { payment_behavior: 'default_incomplete' };
    await aheadBy(2, async () => {
      made.push(await subscribe('wrong-4', behavior));
    });
    for (const { subscription, invoice } of made) {
      await engine.http.post(`/v1/invoices/${invoice.id}/void`).send({}).expect(200);
      expect(await read(`/v1/subscriptions/${subscription.id}`)).toMatchObject({
        status: 'incomplete_expired',
      });
    }
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('changes a subscription, and a later command credits what that change charged', async () => {
    const { subscription } = await subscribe('wrong-10', { collection: 'send_invoice' });
    const { id } = subscription;
    const large = await makePlan('wrong-large', 6_000);
    await aheadBy(10, () =>
      post(engine, `/v1/subscriptions/${id}/change`, { plan_id: large.id, when: 'now' }),
    );
    await post(engine, `/v1/subscriptions/${id}/cancel`, { when: 'now', credit_unused: true });
    const { data } = await read<{ data: readonly Invoice[] }>(`/v1/invoices?subscription_id=${id}`);
    expect(data.map(({ lines }) => lines.map(({ amount }) => amount))).toEqual([
      [-3_800],
      [4_000, -2_000],
      [3_000],
    ]);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  describe('changes a subscription, whose MRR', () => {
    interface Change {
      readonly kind: string;
      readonly changed_at: string;
    }
    const changes = async () => {
      const path = `/v1/analytics/mrr/changes?customer_id=${customer}`;
      const { data } = await read<{ data: readonly Change[] }>(path);
      return data.map(({ kind, changed_at: at }) => [kind, at]).toReversed();
    };
    const change = async (
      { id }: { readonly id: string },
      code: string,
      terms: object,
    ): Promise<void> => {
      const { id: plan_id } = await makePlan(code, 6_000);
      await post(engine, `/v1/subscriptions/${id}/change`, { plan_id, when: 'now', ...terms });
    };
    const isBegun = ['new', beginsAt];

    afterEach(async () => {
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    });

    it('ends when the subscription is canceled', async () => {
      const { subscription } = await subscribe('wrong-12', { collection: 'send_invoice' });
      await aheadBy(20, () => patch(subscription));
      engine.clock.advanceMs(86_400_000);
      await post(engine, `/v1/subscriptions/${subscription.id}/cancel`, { when: 'now' });
      expect(await changes()).toEqual([isBegun, ['churn', '2026-04-02T00:00:00.000Z']]);
    });

    it('ends before a change that it dated', async () => {
      const { subscription } = await subscribe('wrong-14', { collection: 'send_invoice' });
      const coupon = { type: 'percent', percent_off: '50', duration: 'forever', code: 'AHEAD' };
      await post(engine, '/v1/coupons', coupon);
      const path = `/v1/subscriptions/${subscription.id}`;
      await aheadBy(20, () => post(engine, `${path}/coupons`, { code: 'AHEAD' }));
      engine.clock.advanceMs(86_400_000);
      await post(engine, `${path}/cancel`, { when: 'now' });
      expect(await changes()).toEqual([
        isBegun,
        ['churn', '2026-04-02T00:00:00.000Z'],
        ['contraction', '2026-04-21T00:00:00.000Z'],
      ]);
    });

    it('follows the prices that it changed, and then a command', async () => {
      const { subscription } = await subscribe('wrong-13', { collection: 'send_invoice' });
      await aheadBy(10, () => change(subscription, 'wrong-large-13', {}));
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
      await engine.http.post(`/v1/subscriptions/${subscription.id}/pause`).send({}).expect(200);
      const changedAt = '2026-04-11T00:00:00.000Z';
      expect(await changes()).toEqual([isBegun, ['expansion', changedAt], ['churn', changedAt]]);
    });

    it.each(['before', 'after'])(
      'follows the prices of the next period, chosen %s its change, once they begin',
      async (order) => {
        const { subscription } = await subscribe(`wrong-${order}`, { collection: 'send_invoice' });
        const wrong = () => aheadBy(40, () => patch(subscription));
        if (order === 'after') await wrong();
        await change(subscription, `wrong-large-${order}`, { proration: 'none' });
        if (order === 'before') await wrong();
        expect(await changes()).toEqual([isBegun]);
        expect(await verifyLedger(engine)).toMatchObject({ ok: true });
        engine.clock.set('2026-05-01T00:00:00.000Z');
        await engine.app.get(DueSubscriptions).runDue();
        expect(await changes()).toEqual([isBegun, ['expansion', '2026-05-01T00:00:00.000Z']]);
      },
    );
  });

  describe('has transactions in the ledger,', () => {
    const finalized = async (): Promise<unknown> => {
      const { id } = await makeDraft();
      return (await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200)).body;
    };

    it.each([
      [60_000, '2026-04-01T00:01:00.000Z'],
      [60_001, beginsAt],
    ])('which an invoice with credit follows up to a minute: %d ms', async (ms, finalized_at) => {
      engine.clock.advanceMs(ms);
      await topUp(500);
      engine.clock.set(beginsAt);
      expect(await finalized()).toMatchObject({ credit_applied: 500, finalized_at });
    });

    it('which objects of a customer on a test clock do not follow', async () => {
      const clock = await post(engine, '/v1/test-clocks', { name: 'Clock', now: beginsAt });
      customer = await createCustomer(engine, { currency: 'USD', test_clock_id: clock.id });
      const payment = await topUp(500);
      await engine.database.transaction(() =>
        engine.app.get(LedgerService).post(postRevenueRelease('USD', 1n), {
          sourceId: 'sub_1',
          customerId: customer,
          occurredAt: new Date('2026-04-01T00:00:30.000Z'),
        }),
      );
      const refund = await post<Dated>(engine, `/v1/refunds/payment/${payment.id}`, {
        amount: 100,
      });
      expect(refund).toMatchObject({ created_at: beginsAt });
      expect(await finalized()).toMatchObject({ credit_applied: 400, finalized_at: beginsAt });
    });
  });

  describe('plans the next poll of a payment', () => {
    const statusAfterPoll = async ({ id }: Dated): Promise<string> => {
      const due = engine.app.get(DuePayments);
      await due.runDue();
      await due.idle();
      return (await read<{ readonly status: string }>(`/v1/payments/${id}`)).status;
    };

    it('which is not put off', async () => {
      let payment = { id: '', created_at: '' };
      await aheadBy(365, async () => {
        payment = await topUp(500, 'pm_sandbox_unknown');
      });
      expect(await statusAfterPoll(payment)).toBe('succeeded');
    });

    it.each([
      ['is made at its time within an hour', 3_610, null, 'processing'],
      ['is made now if it is later than any pause', 3_661, null, 'succeeded'],
      ['is not made under a lease', 365 * 86_400, 1, 'processing'],
    ] as const)('which %s', async (_, seconds, leasedBy, status) => {
      const payment = await topUp(500, 'pm_sandbox_unknown');
      const dueAt = new Date(engine.clock.now().getTime() + seconds * 1_000);
      await engine.database.query('UPDATE payment SET due_at = $2, leased_by = $3 WHERE id = $1', [
        payment.id,
        dueAt,
        leasedBy,
      ]);
      expect(await statusAfterPoll(payment)).toBe(status);
    });
  });
});
