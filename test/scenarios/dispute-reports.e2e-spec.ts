import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import type Stripe from 'stripe';
import { type CapturedLog, captureLog } from '../support/leaks';
import { postingsOf, verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { eventsOf } from '../support/test-app';
import { until } from '../support/until';

interface Dispute {
  readonly id: string;
  readonly status: string;
}

describe('a report of a dispute', () => {
  let story: EngineWithStripe;
  let log: CapturedLog;

  beforeAll(async () => {
    log = captureLog();
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterEach(async () => {
    expect(await verifyLedger(story.engine)).toMatchObject({ ok: true });
    expect(await unfinished()).toBe(0);
  });

  afterAll(async () => {
    await story.close();
    log.stop();
  });

  const disputesOf = async (payment: string): Promise<readonly Dispute[]> =>
    (await story.get<{ data: Dispute[] }>(`/v1/disputes?payment_id=${payment}`)).data;

  /** Returns how many notifications are not applied yet. */
  const unfinished = async (): Promise<number> =>
    (await story.engine.database.query('SELECT FROM provider_event WHERE due_at IS NOT NULL'))
      .length;

  /** Changes a dispute after Stripe has answered an earlier notification, and releases that answer once the change is applied. */
  async function overtake(change: () => void): Promise<void> {
    const events = story.engine.app.get(DueProviderEvents);
    story.stripe.faults.plan('answer_held', { operation: 'disputes.retrieve' });
    await story.stripe.webhooks.idle();
    await events.runDue();
    await until('Stripe holds its answer', () => story.stripe.faults.hanging === 1);
    change();
    await story.stripe.webhooks.idle();
    await events.runDue();
    await until('the change is applied', async () => (await unfinished()) === 1);
    story.stripe.faults.release();
    await events.idle();
  }

  it('that arrives after a later one does not open a dispute that has ended', async () => {
    const { payment } = await story.paid();
    const dispute = story.stripe.openDispute(story.intentOf(payment), 'inquiry');
    await story.notified();
    dispute.status = 'needs_response';
    story.stripe.account.record('charge.dispute.updated', dispute);
    await overtake(() => {
      dispute.status = 'prevented';
      story.stripe.account.record('charge.dispute.closed', dispute);
    });
    expect(await disputesOf(payment)).toMatchObject([{ status: 'closed' }]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: false });
  });

  it('that arrives after a later one does not end a dispute that is open again, and books no loss', async () => {
    const { payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment), 'inquiry');
    await story.notified();
    story.stripe.closeDispute(reference, 'warning_closed');
    await overtake(() => story.stripe.escalateInquiry(reference));
    const [dispute] = await disputesOf(payment);
    expect(dispute).toMatchObject({ status: 'open', amount_lost: 0 });
    expect(await postingsOf(story.engine, dispute?.id ?? '')).toEqual([
      ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
    ]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: true });
  });

  it.each(['won', 'lost'] as const)(
    'of a decision (%s) that arrives after its appeal does not end the dispute',
    async (outcome) => {
      const { payment } = await story.paid();
      const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
      await story.notified();
      story.stripe.closeDispute(reference, outcome);
      await overtake(() => story.stripe.appealDispute(reference));
      expect(await disputesOf(payment)).toMatchObject([{ status: 'open' }]);
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: true });
    },
  );

  it('of an appeal that arrives after the last decision does not open the dispute again', async () => {
    const { payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
    story.stripe.closeDispute(reference, 'won');
    await story.notified();
    story.stripe.appealDispute(reference);
    await overtake(() => {
      story.stripe.closeDispute(reference, 'lost');
    });
    expect(await disputesOf(payment)).toMatchObject([{ status: 'lost', amount_lost: 0 }]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: false });
  });

  it('of an appeal does not open the dispute if it was won again before the report was applied', async () => {
    const { payment } = await story.paid();
    const dispute = story.stripe.openDispute(story.intentOf(payment));
    story.stripe.closeDispute(dispute.id, 'won');
    await story.notified();
    story.stripe.appealDispute(dispute.id);
    await overtake(() => {
      story.stripe.closeDispute(dispute.id, 'won');
    });
    expect(await disputesOf(payment)).toMatchObject([{ status: 'won', amount_lost: 0 }]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: false });
  });

  const LOST = [
    ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
    ['dispute_lost', { dispute_losses: 1_000, disputed: -1_000 }],
  ] as const;
  const WON = [
    ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
    ['dispute_reinstated', { 'cash_clearing:stripe': 1_000, disputed: -1_000 }],
  ] as const;

  it.each([
    // first decision, decision of the appeal, postings
    ['lost', 'lost', LOST],
    [
      'lost',
      'won',
      [...LOST, ['dispute_reinstated', { 'cash_clearing:stripe': 1_000, dispute_losses: -1_000 }]],
    ],
    ['won', 'won', WON],
    // Stripe has paid the funds back, and lists no second withdrawal.
    ['won', 'lost', WON],
  ] as const)(
    'that was %s and is appealed opens it until it is %s, and books only funds that move',
    async (first, last, postings) => {
      story.stripe.webhooks.fate = () => 'double';
      const { payment } = await story.paid();
      const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
      story.stripe.closeDispute(reference, first);
      await story.notified();
      const lostAtFirst = first === 'lost' ? 1_000 : 0;
      const [{ id } = { id: '' }] = await disputesOf(payment);
      expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
        status: first,
        amount_lost: lostAtFirst,
      });

      story.engine.clock.advanceMs(86_400_000);
      const dueBy = new Date(story.stripe.account.now * 1_000 + 7 * 86_400_000);
      story.stripe.appealDispute(reference);
      await story.stripe.webhooks.idle();
      await Promise.all([story.notified(), story.notified()]);
      expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
        status: 'open',
        amount_lost: lostAtFirst,
        evidence_due_at: dueBy.toISOString(),
      });
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
        is_disputed: true,
        amount_lost: lostAtFirst,
      });
      const refused = await story.engine.http.post(`/v1/refunds/payment/${payment}`).send({});
      expect(refused.body).toMatchObject({ code: 'payment_disputed' });

      story.stripe.closeDispute(reference, last);
      await story.notified();
      const amountLost = first === 'lost' && last === 'lost' ? 1_000 : 0;
      expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
        status: last,
        amount_lost: amountLost,
      });
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
        is_disputed: false,
        amount_lost: amountLost,
      });
      expect(await postingsOf(story.engine, id)).toEqual(postings);
      expect((await eventsOf(story.engine, id)).map(({ type }) => type)).toEqual([
        'dispute.created',
        'dispute.closed',
        'dispute.updated',
        'dispute.closed',
      ]);
    },
  );

  it('of a second withdrawal is logged as an error, and posts nothing', async () => {
    const { payment } = await story.paid();
    const dispute = story.stripe.openDispute(story.intentOf(payment));
    story.stripe.closeDispute(dispute.id, 'won');
    await story.notified();
    const [{ id } = { id: '' }] = await disputesOf(payment);
    const logged = () =>
      log
        .text()
        .split('\n')
        .filter((line) => line.includes(id) && line.includes('is not posted'));
    expect(logged()).toEqual([]);

    story.stripe.appealDispute(dispute.id);
    dispute.balance_transactions.push(...dispute.balance_transactions.slice(0, 1));
    story.stripe.closeDispute(dispute.id, 'lost');
    await story.notified();
    expect(logged()[0]).toContain('"level":"error"');
    expect(logged()[0]).toContain(`"payment_id":"${payment}"`);
    const count = logged().length;
    // Changes nothing here.
    story.stripe.account.record('charge.dispute.funds_withdrawn', dispute);
    await story.notified();
    expect(logged().length).toBeGreaterThan(count);
    expect(await postingsOf(story.engine, id)).toEqual(WON);
  });

  it('about a customer on a test clock is dated by that clock, and is left alone once the clock is deleted', async () => {
    const now = '2027-03-01T00:00:00.000Z';
    const { id: clock } = await story.post('/v1/test-clocks', { name: 'Disputed', now });
    const { customer } = await story.customerWith('pm_card_visa', { test_clock_id: clock });
    const { id: payment } = await story.pay(customer);
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
    await story.notified();
    const [dispute] = await disputesOf(payment);
    expect(dispute).toMatchObject({ status: 'open', created_at: now });
    const posted = await story.get<{ data: object[] }>(
      `/v1/ledger/transactions?source_id=${dispute?.id ?? ''}`,
    );
    expect(posted.data).toMatchObject([{ kind: 'dispute_withdrawn', occurred_at: now }]);

    await story.engine.http.delete(`/v1/test-clocks/${clock}`).expect(204);
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    await story.engine.http.get(`/v1/disputes/${dispute?.id ?? ''}`).expect(404);
    expect(await disputesOf(payment)).toEqual([]);
  });

  it('that arrives while the test clock of its customer is deleted leaves nothing behind', async () => {
    for (const result of [null, 'lost', 'won'] as const) {
      const now = '2027-03-01T00:00:00.000Z';
      const { id: clock } = await story.post('/v1/test-clocks', { name: 'Disputed', now });
      const { customer } = await story.customerWith('pm_card_visa', { test_clock_id: clock });
      const { id: payment } = await story.pay(customer);
      const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
      if (result !== null) story.stripe.closeDispute(reference, result);
      await story.stripe.webhooks.idle();
      const [deleted] = await Promise.all([
        story.engine.http.delete(`/v1/test-clocks/${clock}`),
        story.notified(),
      ]);
      expect(deleted.status).toBe(204);
      // A report that met the deletion is applied again after a pause.
      story.engine.clock.advanceMs(3 * 60_000);
      await story.notified();
      expect(await disputesOf(payment)).toEqual([]);
      const rows = 'SELECT FROM dispute WHERE payment_id = $1';
      expect(await story.engine.database.query(rows, [payment])).toEqual([]);
    }
  });

  it('about a customer that was deleted is recorded, with its loss', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const { id: payment } = await story.pay(customer);
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment));
    await story.notified();
    await story.engine.http.delete(`/v1/customers/${customer}`).expect(204);
    story.stripe.closeDispute(reference, 'lost');
    await story.notified();
    const [dispute] = await disputesOf(payment);
    expect(dispute).toMatchObject({ status: 'lost', amount_lost: 1_000 });
    expect((await postingsOf(story.engine, dispute?.id ?? '')).at(-1)).toEqual([
      'dispute_lost',
      { customer_credit: 1_000, disputed: -1_000 },
    ]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_lost: 1_000 });
  });

  it.each([
    ['JPY', 6_500, 'eur', 4_000, 6_500],
    ['USD', 10_000, 'jpy', 15_000, 10_000],
    ['KWD', 12_340, 'usd', 4_000, 12_340],
    ['KWD', 12_340, 'kwd', 12_340, 12_340],
    ['JPY', 6_500, 'jpy', 2_500, 2_500],
    ['ISK', 6_500, 'isk', 250_000, 2_500],
  ])(
    'about a payment of %s %i says %s %i: all amounts are in the currency of the payment',
    async (currency, amount, disputedIn, disputed, recorded) => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: payment } = await story.pay(customer, { currency, amount });
      const dispute = story.stripe.openDispute(story.intentOf(payment));
      Object.assign(dispute, { currency: disputedIn, amount: disputed });
      // The account of the seller is in a third currency.
      for (const movement of dispute.balance_transactions) {
        Object.assign(movement, { currency: 'gbp', amount: -3_300 });
      }
      await story.notified();
      expect(await disputesOf(payment)).toMatchObject([
        { status: 'open', currency, amount: recorded, amount_withdrawn: recorded },
      ]);

      story.stripe.closeDispute(dispute.id, 'lost');
      await story.notified();
      expect(await disputesOf(payment)).toMatchObject([{ status: 'lost', amount_lost: recorded }]);
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_lost: recorded });
      const balance = amount - recorded;
      expect(await story.get(`/v1/customers/${customer}/balance`)).toMatchObject({ balance });
      const refused = await story.engine.http
        .post(`/v1/refunds/payment/${payment}`)
        .send({ amount: balance + 1 });
      expect(refused.body).toMatchObject({ refundable_amount: balance });
    },
  );

  it.each([
    // disputed, result, refund, amount_refunded, amount_lost, what is left to refund
    [1_000, 'lost', 'succeeded', 600, 1_000, 0],
    [1_000, 'won', 'succeeded', 600, 0, 400],
    [1_000, 'lost', 'failed', 0, 1_000, 0],
    [1_000, 'won', 'failed', 0, 0, 1_000],
    [500, 'lost', 'succeeded', 600, 500, 0],
    [500, 'lost', 'failed', 0, 500, 500],
  ] as const)(
    'about %i that is %s, beside a pending refund of 600 that %s, leaves what neither took',
    async (disputed, result, outcome, refunded, lost, left) => {
      const { customer } = await story.customerWith('pm_card_pendingRefund');
      const invoice = await story.invoice(customer, 1_000);
      const { id: invoiced } = await story.post(`/v1/invoices/${invoice}/pay`);
      const { id: credit } = await story.pay(customer);
      for (const payment of [invoiced, credit]) {
        const { id: refund } = await story.post(`/v1/refunds/payment/${payment}`, { amount: 600 });
        const there = [...story.stripe.account.refunds.values()].find(
          ({ metadata }) => metadata?.['refund_id'] === refund,
        );
        const { id } = story.stripe.openDispute(story.intentOf(payment), 'fraudulent', disputed);
        await story.notified();
        const more = () => story.engine.http.post(`/v1/refunds/payment/${payment}`);
        expect((await more().send({ amount: 1 })).body).toMatchObject({ code: 'payment_disputed' });

        if (outcome === 'succeeded') story.stripe.succeedRefund(there?.id ?? '');
        else story.stripe.failRefund(there?.id ?? '');
        await story.notified();
        expect(await story.get(`/v1/refunds/${refund}`)).toMatchObject({ status: outcome });
        story.stripe.closeDispute(id, result);
        await story.notified();
        expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
          status: 'succeeded',
          is_disputed: false,
          amount_refunded: refunded,
          amount_refund_pending: 0,
          amount_lost: lost,
        });
        expect((await more().send({ amount: 5_000 })).body).toMatchObject({
          code: 'refund_amount_exceeds_refundable',
          refundable_amount: left,
        });
      }
      const balance = `/v1/customers/${customer}/balance`;
      expect(await story.get(balance)).toMatchObject({ balance: left, reserved: 0 });
    },
  );

  describe('whose funds come back in parts', () => {
    function payBack(dispute: Stripe.Dispute, amount: number): void {
      const [withdrawn] = dispute.balance_transactions;
      if (withdrawn === undefined) throw new Error(`Nothing of ${dispute.id} is withdrawn.`);
      dispute.balance_transactions.push({ ...withdrawn, amount });
      story.stripe.account.record('charge.dispute.funds_reinstated', dispute);
    }

    async function lose(payment: string): Promise<Stripe.Dispute> {
      const dispute = story.stripe.openDispute(story.intentOf(payment));
      story.stripe.closeDispute(dispute.id, 'lost');
      await story.notified();
      return dispute;
    }

    it('after a loss lowers the loss by each part, once, and lets them be refunded', async () => {
      story.stripe.webhooks.fate = () => 'double';
      const { payment } = await story.paid();
      const dispute = await lose(payment);
      payBack(dispute, 100);
      await Promise.all([story.notified(), story.notified()]);
      const [{ id } = { id: '' }] = await disputesOf(payment);
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_lost: 900 });

      dispute.status = 'won';
      payBack(dispute, 900);
      story.stripe.account.record('charge.dispute.closed', dispute);
      await story.stripe.webhooks.idle();
      await Promise.all([story.notified(), story.notified()]);
      expect(await story.get(`/v1/disputes/${id}`)).toMatchObject({
        status: 'won',
        amount_reinstated: 1_000,
        amount_lost: 0,
      });
      expect(await postingsOf(story.engine, id)).toEqual([
        ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
        ['dispute_lost', { dispute_losses: 1_000, disputed: -1_000 }],
        ['dispute_reinstated', { 'cash_clearing:stripe': 100, dispute_losses: -100 }],
        ['dispute_reinstated', { 'cash_clearing:stripe': 900, dispute_losses: -900 }],
      ]);
      expect((await eventsOf(story.engine, id)).map(({ type }) => type)).toEqual([
        'dispute.created',
        'dispute.closed',
        'dispute.updated',
        'dispute.updated',
      ]);
      const refund = await story.post(`/v1/refunds/payment/${payment}`);
      expect(refund).toMatchObject({ status: 'succeeded', amount: 1_000 });
      await story.notified();
    });

    it('gives back the credit that the loss took, as far as it covers no loss any more', async () => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: payment } = await story.pay(customer);
      await story.invoice(customer, 400);
      const dispute = await lose(payment);
      const left: number[] = [];
      for (const amount of [300, 300, 200, 200]) {
        payBack(dispute, amount);
        await story.notified();
        const balance = await story.get<{ balance: number }>(`/v1/customers/${customer}/balance`);
        left.push(balance.balance);
      }
      expect(left).toEqual([0, 200, 400, 600]);
    });

    it('before its end leaves only the rest to lose', async () => {
      const { payment } = await story.paid();
      const dispute = story.stripe.openDispute(story.intentOf(payment));
      for (const amount of [100, 200]) {
        payBack(dispute, amount);
        await story.notified();
      }
      story.stripe.closeDispute(dispute.id, 'lost');
      await story.notified();
      const [{ id } = { id: '' }] = await disputesOf(payment);
      expect(await postingsOf(story.engine, id)).toEqual([
        ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
        ['dispute_reinstated', { 'cash_clearing:stripe': 100, disputed: -100 }],
        ['dispute_reinstated', { 'cash_clearing:stripe': 200, disputed: -200 }],
        ['dispute_lost', { dispute_losses: 700, disputed: -700 }],
      ]);
    });
  });
});
