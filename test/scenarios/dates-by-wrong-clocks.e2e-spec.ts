import { postRevenueRelease } from '../../src/core/ledger';
import { LedgerService } from '../../src/modules/ledger';
import { createCustomer } from '../support/billing';
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
  const pay = (id: string, token: string): Promise<Dated> =>
    post(engine, `/v1/invoices/${id}/pay`, { provider: 'sandbox', payment_method_id: token });
  const subscribe = async (code: string, fields: object) => {
    const plan = await post(engine, '/v1/plans', {
      code,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 }],
    });
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
      for (const { occurred_at: at } of data) expect(at).toBe(beginsAt);
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

    it('the date of a draft that is finalized, nor its due date', async () => {
      let draft = { id: '' };
      await aheadBy(20, async () => {
        draft = await makeDraft();
      });
      const { body } = await engine.http.post(`/v1/invoices/${draft.id}/finalize`).send({});
      expect(body).toMatchObject({ finalized_at: beginsAt, due_at: '2026-04-02T00:00:00.000Z' });
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

  describe('has transactions in the ledger,', () => {
    const topUp = (): Promise<Dated> =>
      post(engine, '/v1/payments', { customer_id: customer, amount: 500, currency: 'USD' });
    const finalized = async (): Promise<unknown> => {
      const { id } = await makeDraft();
      return (await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200)).body;
    };

    it.each([
      [60_000, '2026-04-01T00:01:00.000Z'],
      [60_001, beginsAt],
    ])('which an invoice with credit follows up to a minute: %d ms', async (ms, finalized_at) => {
      engine.clock.advanceMs(ms);
      await topUp();
      engine.clock.set(beginsAt);
      expect(await finalized()).toMatchObject({ credit_applied: 500, finalized_at });
    });

    it('which objects of a customer on a test clock do not follow', async () => {
      const clock = await post(engine, '/v1/test-clocks', { name: 'Clock', now: beginsAt });
      customer = await createCustomer(engine, { currency: 'USD', test_clock_id: clock.id });
      const payment = await topUp();
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
});
