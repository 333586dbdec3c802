import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { recordDispute } from '../support/disputes';
import { postingsOf, verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';

interface Note {
  readonly id: string;
  readonly credited_to_balance: number;
}

/** A payment of 1,000 without an invoice. An invoice uses the credit, and the money is refunded at Stripe. */
describe('credit that an invoice has used, and that a refund at Stripe gave back,', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterEach(async () => {
    expect(await verifyLedger(story.engine)).toMatchObject({ ok: true });
  });

  afterAll(() => story.close());

  async function prepaid(token = 'pm_card_visa', amount = 1_000) {
    const { customer } = await story.customerWith(token);
    const { id: payment } = await story.pay(customer, { amount });
    return { customer, payment };
  }

  /** Refunds a payment without our metadata, as the dashboard does, and applies the notification. */
  async function refundThere(payment: string, amount = 1_000): Promise<string> {
    const intent = story.intentOf(payment);
    const { id } = await story.stripe.client().refunds.create({ payment_intent: intent, amount });
    await story.notified();
    return id;
  }

  const balanceOf = async (customer: string) =>
    (await story.get<{ balance: number }>(`/v1/customers/${customer}/balance`)).balance;

  const availableOf = async (customer: string) =>
    (await story.get<{ available: number }>(`/v1/customers/${customer}/balance`)).available;

  async function note(invoice: string, amount: number, settle = 'credit'): Promise<Note> {
    const { lines } = await story.get<{ lines: { id: string }[] }>(`/v1/invoices/${invoice}`);
    return (await story.post('/v1/credit-notes', {
      invoice_id: invoice,
      reason: 'Agreed.',
      settle,
      lines: [{ invoice_line_id: lines[0]?.id, amount }],
    })) as unknown as Note;
  }

  const voided = (invoice: string) =>
    story.engine.http.post(`/v1/invoices/${invoice}/void`).send({}).expect(200);

  async function incomplete(customer: string, code: string): Promise<string> {
    const { id: plan } = await story.post('/v1/plans', {
      code,
      name: 'Expiring',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Fee', model: 'flat', timing: 'in_advance', amount: 5_000 }],
    });
    const { id } = await story.post('/v1/subscriptions', {
      customer_id: customer,
      plan_id: plan,
      payment_behavior: 'default_incomplete',
    });
    const path = `/v1/invoices?subscription_id=${id}`;
    const { data } = await story.get<{ data: { id: string }[] }>(path);
    return data[0]?.id ?? '';
  }

  async function expire(): Promise<void> {
    story.engine.clock.advanceMs(24 * 60 * 60 * 1_000);
    await story.engine.app.get(DueSubscriptions).runDue();
  }

  describe('does not come back', () => {
    it.each(['credit', 'refund'])('with a credit note that is settled as %s', async (settle) => {
      const { customer, payment } = await prepaid();
      const invoice = await story.invoice(customer, 1_000);
      await refundThere(payment);
      const first = await note(invoice, 300, settle);
      expect(first).toMatchObject({ credited_to_balance: 300 });
      expect(await postingsOf(story.engine, first.id)).toEqual([
        ['credit_note', { revenue: 300, customer_credit: -300 }],
        ['refund', { customer_credit: 300, refunds: -300 }],
      ]);
      await note(invoice, 700, settle);
      expect(await balanceOf(customer)).toBe(0);
    });

    it('with credit notes, beyond the part that was refunded', async () => {
      const { customer, payment } = await prepaid();
      const first = await story.invoice(customer, 300);
      const second = await story.invoice(customer, 700);
      await refundThere(payment, 400);
      await note(second, 200);
      expect(await balanceOf(customer)).toBe(0);
      await note(first, 300);
      expect(await balanceOf(customer)).toBe(100);
      await note(second, 500);
      expect(await balanceOf(customer)).toBe(600);
    });

    it('when the invoice is voided', async () => {
      const { customer, payment } = await prepaid();
      const invoice = await story.invoice(customer, 1_500);
      await refundThere(payment);
      await voided(invoice);
      expect(await balanceOf(customer)).toBe(0);
      expect((await postingsOf(story.engine, invoice)).at(-1)).toEqual([
        'refund',
        { customer_credit: 1_000, refunds: -1_000 },
      ]);
    });

    it.each([0, 1_000])('when a first invoice with %i credited expires', async (credited) => {
      const { customer, payment } = await prepaid();
      const invoice = await incomplete(customer, `expiring-${credited}`);
      if (credited > 0) await note(invoice, credited);
      await refundThere(payment);
      await expire();
      expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({
        status: credited > 0 ? 'paid' : 'void',
      });
      expect(await balanceOf(customer)).toBe(0);
    });

    it('after a refund that had failed here succeeded late', async () => {
      const { customer, payment } = await prepaid('pm_card_pendingRefund');
      const { id: refund } = await story.post(`/v1/refunds/payment/${payment}`);
      const there = [...story.stripe.account.refunds.values()].find(
        ({ metadata }) => metadata?.['refund_id'] === refund,
      );
      if (there === undefined) throw new Error(`Stripe has no refund ${refund}.`);
      story.stripe.failRefund(there.id);
      await story.notified();
      const invoice = await story.invoice(customer, 1_500);
      there.status = 'succeeded';
      story.stripe.account.record('refund.updated', there);
      await story.notified();
      const { data } = await story.get<{ data: { id: string; refund_id: string | null }[] }>(
        '/v1/provider-discrepancies',
      );
      const found = data.find(({ refund_id: id }) => id === refund)?.id ?? '';
      await story.engine.http
        .post(`/v1/provider-discrepancies/${found}/apply`)
        .send({})
        .expect(200);
      await voided(invoice);
      expect(await balanceOf(customer)).toBe(0);
    });

    it.each([
      ['at once', [1_000n]],
      ['in parts', [300n, 1_000n]],
    ])('when a dispute is won, %s, and the refund was reported before', async (_, reinstated) => {
      const { customer, payment } = await prepaid();
      const report = {
        providerReference: `dp_${payment}`,
        reason: 'fraudulent',
        amount: 1_000n,
        amountWithdrawn: 1_000n,
        isRefundable: false,
        evidenceDueAt: null,
      };
      await recordDispute(story.engine, payment, {
        ...report,
        status: 'lost',
        amountReinstated: 0n,
      });
      await refundThere(payment);
      for (const amountReinstated of reinstated) {
        await recordDispute(story.engine, payment, { ...report, status: 'won', amountReinstated });
      }
      expect(await balanceOf(customer)).toBe(0);
    });
  });

  describe('is not given for the unused time of a subscription', () => {
    /** A subscription of 3,100 for March, paid with credit. */
    async function subscribed() {
      const { id: clock } = await story.post('/v1/test-clocks', {
        name: 'March',
        now: '2026-03-01T00:00:00.000Z',
      });
      const { customer } = await story.customerWith('pm_card_visa', { test_clock_id: clock });
      const { id: payment } = await story.pay(customer, { amount: 3_100 });
      const { id: plan } = await story.post('/v1/plans', {
        code: `march-${payment}`,
        name: 'March',
        currency: 'USD',
        interval: 'month',
        prices: [{ name: 'Fee', model: 'flat', timing: 'in_advance', amount: 3_100 }],
      });
      const terms = { customer_id: customer, plan_id: plan };
      const { id: subscription } = await story.post('/v1/subscriptions', terms);
      expect(await balanceOf(customer)).toBe(0);
      return { customer, payment, subscription };
    }

    const cancel = (subscription: string) =>
      story.engine.http
        .post(`/v1/subscriptions/${subscription}/cancel`)
        .send({ when: 'now', credit_unused: true })
        .expect(200);

    it.each([
      ['all was refunded', 3_100, 0],
      ['more than the used part was refunded', 2_000, 1_100],
    ])('if %s', async (_, refunded, left) => {
      const { customer, payment, subscription } = await subscribed();
      await refundThere(payment, refunded);
      await cancel(subscription);
      expect(await balanceOf(customer)).toBe(left);
    });

    it('if a dispute took the money', async () => {
      const { customer, payment, subscription } = await subscribed();
      const { id } = story.stripe.openDispute(story.intentOf(payment));
      story.stripe.closeDispute(id, 'lost');
      await story.notified();
      await cancel(subscription);
      expect(await balanceOf(customer)).toBe(0);
    });
  });

  it('is reserved while the refund is pending, and comes back if the refund fails', async () => {
    const { customer, payment } = await prepaid('pm_card_pendingRefund');
    const credited = await story.invoice(customer, 400);
    const open = await story.invoice(customer, 1_500);
    const there = await refundThere(payment);
    await note(credited, 400);
    await voided(open);
    expect([await balanceOf(customer), await availableOf(customer)]).toEqual([1_000, 0]);
    story.stripe.failRefund(there);
    await story.notified();
    expect([await balanceOf(customer), await availableOf(customer)]).toEqual([1_000, 1_000]);
  });

  it('is paid out once the refund, which was pending, has succeeded', async () => {
    const { customer, payment } = await prepaid('pm_card_pendingRefund');
    const invoice = await story.invoice(customer, 1_000);
    await refundThere(payment);
    await note(invoice, 1_000);
    story.engine.clock.advanceMs(10 * 60_000);
    story.stripe.advanceMs(0);
    await story.notified();
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 1_000 });
    expect(await balanceOf(customer)).toBe(0);
  });

  it('comes back when the bank returns the refund', async () => {
    const { customer, payment } = await prepaid();
    const credited = await story.invoice(customer, 400);
    const open = await story.invoice(customer, 1_500);
    const there = await refundThere(payment);
    await note(credited, 400);
    await voided(open);
    expect(await balanceOf(customer)).toBe(0);
    story.stripe.failRefund(there);
    await story.notified();
    expect(await balanceOf(customer)).toBe(1_000);
  });

  it('is taken once if a dispute took the same money', async () => {
    const { customer, payment } = await prepaid();
    const invoice = await story.invoice(customer, 1_500);
    await refundThere(payment, 400);
    const { id } = story.stripe.openDispute(story.intentOf(payment), 'fraudulent', 600);
    story.stripe.closeDispute(id, 'lost');
    await story.notified();
    await voided(invoice);
    expect(await balanceOf(customer)).toBe(0);
    expect((await postingsOf(story.engine, invoice)).slice(-2)).toEqual([
      ['refund', { customer_credit: 400, refunds: -400 }],
      ['dispute_lost', { customer_credit: 600, dispute_losses: -600 }],
    ]);
  });

  it('is not refunded again with the money that paid the rest of the invoice', async () => {
    const { customer, payment } = await prepaid('pm_card_visa', 400);
    const invoice = await story.invoice(customer, 1_000);
    const { id: second } = await story.post(`/v1/invoices/${invoice}/pay`);
    await note(invoice, 400);
    await story.invoice(customer, 400);
    await refundThere(payment, 400);
    const refund = (amount: number) =>
      story.engine.http.post(`/v1/refunds/payment/${second}`).send({ amount });
    expect((await refund(201)).body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 200,
    });
    expect((await refund(200)).body).toMatchObject({ status: 'succeeded' });
  });
});
