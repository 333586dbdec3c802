import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { recordDispute } from '../support/disputes';
import { postingsOf, verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { eventsOf } from '../support/test-app';

interface Dispute {
  readonly id: string;
  readonly status: string;
  readonly provider_reference: string;
}

describe('a dispute', () => {
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

  const disputesOf = async (payment: string): Promise<readonly Dispute[]> =>
    (await story.get<{ data: Dispute[] }>(`/v1/disputes?payment_id=${payment}`)).data;

  async function disputeOf(payment: string): Promise<Dispute> {
    const [dispute, ...others] = await disputesOf(payment);
    if (dispute === undefined || others.length > 0)
      throw new Error(`${payment} has ${others.length + (dispute ? 1 : 0)} disputes.`);
    return dispute;
  }

  const typesOf = async (id: string) => (await eventsOf(story.engine, id)).map(({ type }) => type);

  const refund = (payment: string, amount = 100) =>
    story.engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount });

  it('withdraws the money, stops refunds, and returns the money once it is won', async () => {
    const { customer, payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
    await story.notified();
    const dispute = await disputeOf(payment);
    expect(dispute).toMatchObject({
      customer_id: customer,
      status: 'open',
      reason: 'fraudulent',
      provider_reference: reference,
      amount: 1_000,
      amount_withdrawn: 1_000,
      is_refundable: false,
    });
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: true });
    expect(await story.get(`/v1/refunds/payment/${payment}/refundable`)).toMatchObject({
      default_amount: 0,
      refundable_amount: 0,
    });
    const refused = await refund(payment);
    expect(refused.body).toMatchObject({ status: 409, code: 'payment_disputed' });

    story.stripe.closeDispute(reference, 'won');
    await story.notified();
    expect(await story.get(`/v1/disputes/${dispute.id}`)).toMatchObject({
      status: 'won',
      amount_reinstated: 1_000,
      amount_lost: 0,
    });
    expect(await typesOf(dispute.id)).toEqual(['dispute.created', 'dispute.closed']);
    expect(await postingsOf(story.engine, dispute.id)).toEqual([
      ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
      ['dispute_reinstated', { 'cash_clearing:stripe': 1_000, disputed: -1_000 }],
    ]);
    expect((await refund(payment)).body).toMatchObject({ status: 'succeeded' });
    expect(await typesOf(payment)).toEqual([
      'payment.created',
      'payment.succeeded',
      'payment.updated',
      'payment.updated',
      'payment.updated',
    ]);
  });

  it('that is lost is a loss, reopens no invoice, and leaves nothing to refund', async () => {
    const { customer, payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    const { id } = await disputeOf(payment);
    expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
      status: 'lost',
      amount_lost: 1_000,
    });
    expect(await postingsOf(story.engine, id)).toEqual([
      ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
      ['dispute_lost', { dispute_losses: 1_000, disputed: -1_000 }],
    ]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
      status: 'succeeded',
      amount_lost: 1_000,
      is_disputed: false,
    });
    const { data } = await story.get<{ data: object[] }>(`/v1/invoices?customer_id=${customer}`);
    expect(data).toMatchObject([{ status: 'paid', amount_paid: 1_000 }]);
    const refused = await refund(payment);
    expect(refused.body).toMatchObject({
      status: 422,
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 0,
    });
  });

  it('that is lost takes the unused credit of its payment first, and gives it back if it is won after all', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const payment = await story.pay(customer);
    await story.invoice(customer, 400);
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment.id));
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    const { id } = await disputeOf(payment.id);
    expect((await postingsOf(story.engine, id)).at(-1)).toEqual([
      'dispute_lost',
      { customer_credit: 600, dispute_losses: 400, disputed: -1_000 },
    ]);
    expect(await story.get(`/v1/customers/${customer}/balance`)).toMatchObject({
      balance: 0,
    });

    await recordDispute(story.engine, payment.id, {
      providerReference: reference,
      status: 'won',
      reason: 'fraudulent',
      amount: 1_000n,
      amountWithdrawn: 1_000n,
      amountReinstated: 1_000n,
      isRefundable: false,
      evidenceDueAt: null,
    });
    expect((await postingsOf(story.engine, id)).at(-1)).toEqual([
      'dispute_reinstated',
      { 'cash_clearing:stripe': 1_000, customer_credit: -600, dispute_losses: -400 },
    ]);
    expect(await story.get(`/v1/customers/${customer}/balance`)).toMatchObject({
      balance: 600,
    });
  });

  it('that is won after a loss gives no credit back that covers another lost dispute', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const payment = await story.pay(customer);
    await story.invoice(customer, 600);
    const lost: string[] = [];
    for (let number = 0; number < 2; number += 1) {
      const opened = story.stripe.openDispute(story.intentOf(payment.id), 'fraudulent', 500);
      story.stripe.closeDispute(opened.id, 'lost');
      await story.notified();
      lost.push(opened.id);
    }
    const win = async (providerReference: string) => {
      await recordDispute(story.engine, payment.id, {
        providerReference,
        status: 'won',
        reason: 'fraudulent',
        amount: 500n,
        amountWithdrawn: 500n,
        amountReinstated: 500n,
        isRefundable: false,
        evidenceDueAt: null,
      });
      const { data } = await story.get<{ data: { id: string; provider_reference: string }[] }>(
        `/v1/disputes?payment_id=${payment.id}`,
      );
      const won = data.find((one) => one.provider_reference === providerReference);
      const { balance } = await story.get<{ balance: number }>(`/v1/customers/${customer}/balance`);
      return [(await postingsOf(story.engine, won?.id ?? '')).at(-1), balance];
    };
    const [first = '', second = ''] = lost;
    expect(await win(second)).toEqual([
      ['dispute_reinstated', { 'cash_clearing:stripe': 500, dispute_losses: -500 }],
      0,
    ]);
    expect(await win(first)).toEqual([
      [
        'dispute_reinstated',
        { 'cash_clearing:stripe': 500, customer_credit: -400, dispute_losses: -100 },
      ],
      400,
    ]);
  });

  describe('that is lost takes credit that becomes available later', () => {
    const balanceOf = async (customer: string) =>
      (await story.get<{ balance: number }>(`/v1/customers/${customer}/balance`)).balance;

    /** Loses a dispute about all of a payment; returns its id at Stripe. */
    async function lose(payment: string): Promise<string> {
      const { id } = story.stripe.openDispute(story.intentOf(payment));
      story.stripe.closeDispute(id, 'lost');
      await story.notified();
      return id;
    }

    async function refunded(token: string) {
      const { customer } = await story.customerWith(token);
      const { id: payment } = await story.pay(customer);
      const body = { amount: 600 };
      const { id: refund, status } = await story.post(`/v1/refunds/payment/${payment}`, body);
      const there = [...story.stripe.account.refunds.values()].find(
        ({ metadata }) => metadata?.['refund_id'] === refund,
      );
      return { customer, payment, refund, status, there: there?.id ?? '' };
    }

    it('of a refund that fails', async () => {
      const { customer, payment, refund, status, there } = await refunded('pm_card_pendingRefund');
      expect(status).toBe('pending');
      await lose(payment);
      const { id } = await disputeOf(payment);
      expect((await postingsOf(story.engine, id)).at(-1)).toEqual([
        'dispute_lost',
        { customer_credit: 400, dispute_losses: 600, disputed: -1_000 },
      ]);
      story.stripe.failRefund(there);
      await story.notified();
      expect(await story.get(`/v1/refunds/${refund}`)).toMatchObject({ status: 'failed' });
      expect(await postingsOf(story.engine, refund)).toEqual([
        ['dispute_lost', { customer_credit: 600, dispute_losses: -600 }],
      ]);
      expect(await balanceOf(customer)).toBe(0);
    });

    it('of a refund that a bank returns', async () => {
      const { customer, payment, refund, status, there } = await refunded('pm_card_visa');
      expect(status).toBe('succeeded');
      const dispute = await lose(payment);
      story.stripe.failRefund(there);
      await story.notified();
      expect(await postingsOf(story.engine, refund)).toEqual([
        ['refund', { customer_credit: 600, 'cash_clearing:stripe': -600 }],
        ['void', { 'cash_clearing:stripe': 600, dispute_losses: -600 }],
      ]);
      expect(await balanceOf(customer)).toBe(0);

      await recordDispute(story.engine, payment, {
        providerReference: dispute,
        status: 'won',
        reason: 'fraudulent',
        amount: 1_000n,
        amountWithdrawn: 1_000n,
        amountReinstated: 1_000n,
        isRefundable: false,
        evidenceDueAt: null,
      });
      expect(await balanceOf(customer)).toBe(1_000);
    });

    it('of an invoice that is voided, up to the loss of each payment', async () => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: first } = await story.pay(customer);
      const { id: second } = await story.pay(customer);
      const { id: third } = await story.pay(customer);
      const invoice = await story.invoice(customer, 3_600);
      await lose(first);
      const { id: dispute } = story.stripe.openDispute(story.intentOf(second), 'fraudulent', 300);
      story.stripe.closeDispute(dispute, 'lost');
      await story.notified();
      await story.engine.http.post(`/v1/invoices/${invoice}/void`).send({}).expect(200);
      expect((await postingsOf(story.engine, invoice)).at(-1)).toEqual([
        'dispute_lost',
        { customer_credit: 1_300, dispute_losses: -1_300 },
      ]);
      expect(await balanceOf(customer)).toBe(1_700);
      const { body } = await refund(third);
      expect(body).toMatchObject({ status: 'succeeded' });
    });

    async function planOf(code: string): Promise<string> {
      const { id } = await story.post('/v1/plans', {
        code,
        name: 'Expiring',
        currency: 'USD',
        interval: 'month',
        prices: [{ name: 'Fee', model: 'flat', timing: 'in_advance', amount: 5_000 }],
      });
      return id;
    }

    const credit = (invoice: string, line: string, amount: number) =>
      story.post('/v1/credit-notes', {
        invoice_id: invoice,
        reason: 'Agreed.',
        settle: 'credit',
        lines: [{ invoice_line_id: line, amount }],
      });

    const lineOf = async (invoice: string): Promise<string> =>
      (await story.get<{ lines: { id: string }[] }>(`/v1/invoices/${invoice}`)).lines[0]?.id ?? '';

    it('of a first invoice that was credited in part before it expires', async () => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: payment } = await story.pay(customer, { amount: 700 });
      const { id: subscription } = await story.post('/v1/subscriptions', {
        customer_id: customer,
        plan_id: await planOf('credited'),
        payment_behavior: 'default_incomplete',
      });
      const path = `/v1/invoices?subscription_id=${subscription}`;
      const { data } = await story.get<{ data: { id: string }[] }>(path);
      const invoice = data[0]?.id ?? '';
      await credit(invoice, await lineOf(invoice), 1_000);
      await lose(payment);
      story.engine.clock.advanceMs(24 * 60 * 60 * 1_000);
      await story.engine.app.get(DueSubscriptions).runDue();
      expect(await story.get(path)).toMatchObject({ data: [{ status: 'paid' }] });
      expect(await balanceOf(customer)).toBe(0);
      const notes = await story.get<{ data: { id: string; credited_to_balance: number }[] }>(
        `/v1/credit-notes?invoice_id=${invoice}`,
      );
      const note = notes.data.find(({ credited_to_balance: amount }) => amount > 0);
      expect((await postingsOf(story.engine, note?.id ?? '')).at(-1)).toEqual([
        'dispute_lost',
        { customer_credit: 700, dispute_losses: -700 },
      ]);
    });

    it('of credit notes, up to what the invoice had used of the credit of the payment', async () => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: payment } = await story.pay(customer, { amount: 500 });
      const used = await story.invoice(customer, 300);
      await story.pay(customer, { amount: 800 });
      const mixed = await story.invoice(customer, 1_000);
      const dispute = await lose(payment);
      expect(await balanceOf(customer)).toBe(0);

      const line = await lineOf(mixed);
      await credit(mixed, line, 150);
      expect(await balanceOf(customer)).toBe(0);
      await credit(mixed, line, 250);
      expect(await balanceOf(customer)).toBe(200);
      await credit(mixed, line, 600);
      expect(await balanceOf(customer)).toBe(800);
      await credit(used, await lineOf(used), 300);
      expect(await balanceOf(customer)).toBe(800);

      await recordDispute(story.engine, payment, {
        providerReference: dispute,
        status: 'won',
        reason: 'fraudulent',
        amount: 500n,
        amountWithdrawn: 500n,
        amountReinstated: 500n,
        isRefundable: false,
        evidenceDueAt: null,
      });
      expect(await balanceOf(customer)).toBe(1_300);
    });

    it('of first invoices of several customers that expire together', async () => {
      const plan = await planOf('expiring');
      const customers = await Promise.all(
        [700, 300].map(async (amount) => {
          const { customer } = await story.customerWith('pm_card_visa');
          const { id: payment } = await story.pay(customer, { amount });
          const { id: subscription } = await story.post('/v1/subscriptions', {
            customer_id: customer,
            plan_id: plan,
            payment_behavior: 'default_incomplete',
          });
          return { customer, payment, subscription, amount };
        }),
      );
      story.engine.clock.advanceMs(24 * 60 * 60 * 1_000);
      for (const { payment } of customers) await lose(payment);
      const lostAt = story.engine.clock.now().toISOString();
      // The invoices are not void before the loss, even if another process with a slower clock ends the subscriptions.
      story.engine.clock.advanceMs(-3_000);
      await story.engine.app.get(DueSubscriptions).runDue();
      for (const { customer, subscription, amount } of customers) {
        const { data } = await story.get<{ data: { id: string; status: string }[] }>(
          `/v1/invoices?subscription_id=${subscription}`,
        );
        expect(data).toMatchObject([{ status: 'void', voided_at: lostAt }]);
        expect((await postingsOf(story.engine, data[0]?.id ?? '')).at(-1)).toEqual([
          'dispute_lost',
          { customer_credit: amount, dispute_losses: -amount },
        ]);
        expect(await balanceOf(customer)).toBe(0);
      }
    });
  });

  it('of a part leaves the rest to refund', async () => {
    const { payment } = await story.paid();
    const intent = story.intentOf(payment);
    const { id: reference } = story.stripe.openDispute(intent, 'fraudulent', 300);
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    const answer = await story.engine.http.post(`/v1/refunds/payment/${payment}`).send({});
    // What Stripe decides is the provider's; 700 were reserved.
    expect(answer.body).toMatchObject({ amount: 700 });
  });

  it('that is an inquiry moves no money and allows refunds, until it becomes a chargeback', async () => {
    const { payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment), 'inquiry');
    await story.notified();
    const { id } = await disputeOf(payment);
    expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
      status: 'inquiry',
      amount_withdrawn: 0,
      is_refundable: true,
    });
    expect((await refund(payment)).body).toMatchObject({ status: 'succeeded' });
    story.stripe.escalateInquiry(reference);
    await story.notified();
    expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({ status: 'open' });
    expect((await refund(payment)).body).toMatchObject({ code: 'payment_disputed' });
    expect(await typesOf(id)).toEqual(['dispute.created', 'dispute.updated']);
  });

  it('that ends as an inquiry is closed', async () => {
    const { payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment), 'inquiry');
    await story.notified();
    story.stripe.closeDispute(reference, 'warning_closed');
    await story.notified();
    const { id } = await disputeOf(payment);
    expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({ status: 'closed' });
    expect(await typesOf(id)).toEqual(['dispute.created', 'dispute.closed']);
    expect(await postingsOf(story.engine, id)).toEqual([]);
  });

  it('that ends without a decision is lost as far as its funds are kept, and leaves only the rest to refund', async () => {
    const { payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment), 'fraudulent', 300);
    const there = story.stripe.account.disputes.get(reference);
    if (there === undefined) throw new Error(`Stripe has no dispute ${reference}.`);
    there.status = 'prevented';
    await story.notified();
    const { id } = await disputeOf(payment);
    expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
      status: 'closed',
      amount_lost: 300,
    });
    expect(await postingsOf(story.engine, id)).toEqual([
      ['dispute_withdrawn', { disputed: 300, 'cash_clearing:stripe': -300 }],
      ['dispute_lost', { dispute_losses: 300, disputed: -300 }],
    ]);
    expect((await refund(payment, 701)).body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 700,
    });
  });

  it('that Stripe knows before us decides a refund at the same time', async () => {
    const { payment } = await story.paid();
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.openDispute(story.intentOf(payment));
    expect((await refund(payment)).body).toMatchObject({
      status: 'failed',
      failure_code: 'refund_declined',
    });
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refund_pending: 0 });
  });

  it('of a refunded payment may take more than is left, and the books agree', async () => {
    const { payment } = await story.paid();
    expect((await refund(payment)).body).toMatchObject({ status: 'succeeded' });
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
      amount_refunded: 100,
      amount_lost: 1_000,
    });
  });

  it.each(['twice', 'late', 'never'] as const)(
    'is recorded once if its notifications arrive %s',
    async (arrival) => {
      const { payment } = await story.paid();
      story.stripe.webhooks.fate = () => (arrival === 'twice' ? 'double' : 'lose');
      const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
      if (arrival === 'late') story.stripe.closeDispute(reference, 'won');
      await story.stripe.webhooks.idle();
      story.engine.clock.advanceMs(2 * 60_000);
      if (arrival !== 'twice') await story.engine.app.get(MissedProviderEvents).runDue();
      await Promise.all([story.notified(), story.notified()]);
      const { id } = await disputeOf(payment);
      expect(await postingsOf(story.engine, id)).toHaveLength(arrival === 'late' ? 2 : 1);
      expect((await typesOf(id))[0]).toBe('dispute.created');
    },
  );

  it('of a charge whose outcome is not known yet settles the payment first', async () => {
    const { customer } = await story.customerWith('pm_card_createDispute');
    story.stripe.faults.plan('reset_after', { operation: 'paymentIntents.confirm', times: 2 });
    const payment = await story.pay(customer);
    expect(payment.status).toBe('processing');
    await story.notified();
    expect(await story.get(`/v1/payments/${payment.id}`)).toMatchObject({ status: 'succeeded' });
    expect(await disputeOf(payment.id)).toMatchObject({ status: 'open' });
  });

  it('is read again if Stripe does not answer', async () => {
    const { payment } = await story.paid();
    story.stripe.faults.plan('error_500_before', { operation: 'disputes.retrieve', times: 10 });
    story.stripe.openDispute(story.intentOf(payment));
    await story.notified();
    expect(await disputesOf(payment)).toEqual([]);
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(3 * 60_000);
    await story.notified();
    expect(await disputeOf(payment)).toMatchObject({ status: 'open' });
  });

  it('is recorded once Stripe answers, also after the time for which applied events are kept', async () => {
    const { payment } = await story.paid();
    await story.notified();
    const stored = (fields: string) =>
      story.engine.database.query(`SELECT id FROM provider_event WHERE ${fields}`);
    const listEvents = () => story.engine.app.get(MissedProviderEvents).runDue();
    await listEvents();
    story.stripe.faults.plan('error_500_before', { operation: 'disputes.retrieve', times: 1_000 });
    story.stripe.openDispute(story.intentOf(payment));
    await story.notified();
    story.engine.clock.advanceMs(41 * 24 * 3_600_000);
    await listEvents();
    expect(await stored('due_at IS NULL')).toEqual([]);
    story.stripe.faults.clear();
    await story.notified();
    expect(await disputeOf(payment)).toMatchObject({ status: 'open' });
    expect(await stored('due_at IS NOT NULL')).toEqual([]);
  });

  it('of another service with the same account is left alone', async () => {
    const { paymentIntents } = story.stripe.client();
    const intent = await paymentIntents.create({
      amount: 500,
      currency: 'usd',
      payment_method: 'pm_card_createDispute',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
    });
    expect(intent.status).toBe('succeeded');
    const count = async () => (await story.get<{ data: object[] }>('/v1/disputes')).data.length;
    const before = await count();
    await story.notified();
    expect(await count()).toBe(before);
  });

  it('is listed by customer, payment and status', async () => {
    const { customer, payment } = await story.paid();
    story.stripe.openDispute(story.intentOf(payment));
    await story.notified();
    const { id } = await disputeOf(payment);
    const list = async (query: string) =>
      (await story.get<{ data: Dispute[] }>(`/v1/disputes?${query}`)).data.map((one) => one.id);
    expect(await list(`customer_id=${customer}`)).toEqual([id]);
    expect(await list(`customer_id=${customer}&status=open`)).toEqual([id]);
    expect(await list(`customer_id=${customer}&status=won`)).toEqual([]);
    const unknown = await story.engine.http.get('/v1/disputes/dsp_01h455vb4pex5vsknk084sn02q');
    expect(unknown.body).toMatchObject({ status: 404, code: 'dispute_not_found' });
  });
});
