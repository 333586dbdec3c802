import { RecordCreditReturnedBefore1795530000001 } from '../../migrations/1795530000001-RecordCreditReturnedBefore';
import { DataSource } from 'typeorm';
import { verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { LostCreditStory } from '../support/stripe/lost-credit-story';

/** Money went back whose credit invoices had used: of two payments, of two invoices, or of a payment with an own invoice. */
describe('each unit of lost credit counts once', () => {
  let story: EngineWithStripe;
  let credit: LostCreditStory;

  beforeAll(async () => {
    story = await startEngineWithStripe();
    credit = new LostCreditStory(story);
  });

  beforeEach(() => {
    story.reset();
  });

  afterEach(async () => {
    expect(await verifyLedger(story.engine)).toMatchObject({ ok: true });
  });

  afterAll(() => story.close());

  async function prepaid(...amounts: readonly number[]) {
    const { customer } = await story.customerWith('pm_card_visa');
    const payments: string[] = [];
    for (const amount of amounts) payments.push((await story.pay(customer, { amount })).id);
    return { customer, payments };
  }

  const losses = [
    ['a dispute', (payment: string, amount: number) => credit.lose(payment, amount)],
    [
      'a refund at Stripe',
      async (payment: string, amount: number) => {
        await credit.refundThere(payment, amount);
      },
    ],
  ] as const;

  const exceeds = (refundable: number) => ({
    code: 'refund_amount_exceeds_refundable',
    refundable_amount: refundable,
  });

  describe.each(losses)('after %s', (_, lose) => {
    it.each([
      ['older', 0, 1],
      ['younger', 1, 0],
    ])('of the %s of two payments first', async (_order, first, second) => {
      const { customer, payments } = await prepaid(500, 500);
      const invoice = await story.invoice(customer, 1_000);
      await lose(payments[first] ?? '', 500);
      await credit.note(invoice, 500);
      expect(await credit.balanceOf(customer)).toBe(0);
      await lose(payments[second] ?? '', 500);
      await credit.note(invoice, 500);
      expect(await credit.balanceOf(customer)).toBe(0);
    });

    it('of the younger of two payments, in a refund of the rest of the invoice', async () => {
      const { customer, payments } = await prepaid(500, 500);
      const [older = '', younger = ''] = payments;
      const invoice = await story.invoice(customer, 1_600);
      const cash = await credit.payInvoice(invoice);
      await lose(younger, 500);
      await credit.note(invoice, 500);
      await credit.note(invoice, 500);
      expect(await credit.balanceOf(customer)).toBe(500);
      await story.invoice(customer, 500);
      await lose(older, 500);
      expect((await credit.refund(cash, { amount: 600 })).body).toMatchObject(exceeds(100));
      expect((await credit.refund(cash, { amount: 100 })).status).toBe(201);
    });

    it.each([
      ['older', 0, 1],
      ['younger', 1, 0],
    ])('in the credit for two subscriptions, the %s first', async (_order, first, second) => {
      const { id: clock } = await story.post('/v1/test-clocks', {
        name: 'Year',
        now: '2026-03-01T00:00:00.000Z',
      });
      const { customer } = await story.customerWith('pm_card_visa', { test_clock_id: clock });
      const { id: payment } = await story.pay(customer, { amount: 2_000 });
      const { id: plan } = await story.post('/v1/plans', {
        code: `year-${payment}`,
        name: 'Year',
        currency: 'USD',
        interval: 'year',
        prices: [{ name: 'Fee', model: 'flat', timing: 'in_advance', amount: 1_000 }],
      });
      const terms = { customer_id: customer, plan_id: plan };
      const subscriptions = [
        (await story.post('/v1/subscriptions', terms)).id,
        (await story.post('/v1/subscriptions', terms)).id,
      ];
      expect(await credit.balanceOf(customer)).toBe(0);
      await lose(payment, 1_000);
      for (const index of [first, second]) {
        await credit.cancelWithCredit(subscriptions[index] ?? '');
      }
      // 997 of each invoice are unused. The older one bears the loss, with its used part first.
      expect(await credit.balanceOf(customer)).toBe(997);
    });

    it('not on the invoice that the payment itself paid', async () => {
      const { customer, method } = await story.customerWith('pm_card_visa');
      const { id: confirmed } = await story.post(`/v1/customers/${customer}/payment-methods`, {
        provider: 'stripe',
        token: 'pm_card_authenticationRequired',
      });
      const invoice = await story.invoice(customer, 1_500);
      const part = { amount: 500, payment_method_id: method.id };
      const { id: other } = await story.pay(customer, { invoice_id: invoice, ...part });
      const payment = await credit.payInvoice(invoice, { payment_method_id: confirmed });
      await credit.note(invoice, 400);
      story.stripe.authenticate(story.intentOf(payment), true);
      await story.notified();
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_applied: 600 });
      await story.invoice(customer, 400);
      expect(await credit.balanceOf(customer)).toBe(0);
      await lose(payment, 1_000);
      expect((await credit.tryNote(invoice, 501)).body).toMatchObject({ creditable_total: 500 });
      await credit.note(invoice, 50);
      await story.invoice(customer, 50);
      expect((await credit.refund(other, { amount: 451 })).body).toMatchObject(exceeds(450));
      expect((await credit.refund(other)).body).toMatchObject({ amount: 450 });
      expect((await credit.tryNote(invoice, 1)).body).toMatchObject({ creditable_total: 0 });
    });
  });

  describe('in a credit note that is settled as a refund,', () => {
    /** An invoice paid with 1,000 of credit and 600 of money, of which 1,000 were credited and used again. */
    async function credited() {
      const { customer, payments } = await prepaid(1_000);
      const invoice = await story.invoice(customer, 1_600);
      const cash = await credit.payInvoice(invoice);
      await credit.note(invoice, 1_000);
      await story.invoice(customer, 1_000);
      return { invoice, payment: payments[0] ?? '', cash };
    }

    it.each(losses)('after %s', async (_, lose) => {
      const { invoice, payment } = await credited();
      await lose(payment, 1_000);
      expect((await credit.tryNote(invoice, 600, 'refund')).body).toMatchObject({
        code: 'credit_given_back_already',
        creditable_total: 0,
        detail: expect.stringContaining(
          '600 were credit of payments that were refunded or lost',
        ) as unknown,
      });
    });

    it('after a part was lost, up to the rest', async () => {
      const { invoice, payment, cash } = await credited();
      await credit.lose(payment, 400);
      expect((await credit.tryNote(invoice, 201, 'refund')).body).toMatchObject({
        code: 'credit_given_back_already',
        creditable_total: 200,
      });
      expect(await credit.note(invoice, 200, 'refund')).toMatchObject({ to_refund: 200 });
      expect((await credit.refund(cash)).body).toMatchObject({ amount: 200 });
    });

    it('while a dispute is open', async () => {
      const { invoice, payment, cash } = await credited();
      const dispute = await credit.dispute(payment, 1_000);
      expect((await credit.tryNote(invoice, 600, 'refund')).body).toMatchObject({
        status: 409,
        code: 'payment_disputed',
      });
      await credit.closeDispute(dispute, 'won');
      expect(await credit.note(invoice, 600, 'refund')).toMatchObject({ to_refund: 600 });
      expect((await credit.refund(cash)).body).toMatchObject({ amount: 600 });
    });
  });

  it('on another invoice that used the same payment, if the older one has no room for all losses', async () => {
    const { customer, payments } = await prepaid(1_000);
    const [older = ''] = payments;
    const returned = await credit.refundThere(older, 500);
    const { id: younger } = await story.pay(customer, { amount: 500 });
    const first = await story.invoice(customer, 1_000);
    story.stripe.failRefund(returned);
    await story.notified();
    const second = await story.invoice(customer, 1_000);
    const cash = await credit.payInvoice(second);
    await credit.note(first, 500);
    await credit.note(second, 500);
    await story.invoice(customer, 1_000);
    await credit.lose(older, 500);
    await credit.lose(younger, 500);
    expect((await credit.refund(cash, { amount: 500 })).body).toMatchObject(exceeds(0));
  });

  it('if a refund at Stripe and an open dispute took a payment', async () => {
    const { customer, payments } = await prepaid(1_000);
    const [payment = ''] = payments;
    const invoice = await story.invoice(customer, 1_600);
    const cash = await credit.payInvoice(invoice);
    await credit.refundThere(payment, 300);
    await credit.dispute(payment, 700);
    expect((await credit.refund(cash, { amount: 600 })).body).toMatchObject({ amount: 600 });
    await credit.note(invoice, 300);
    expect(await credit.balanceOf(customer)).toBe(0);
    expect((await credit.tryNote(invoice, 1)).body).toMatchObject({ code: 'payment_disputed' });
  });

  it('is recorded for credit notes of an earlier release', async () => {
    const { customer, payments } = await prepaid(500, 500, 700);
    const [older = '', younger = ''] = payments;
    const invoice = await story.invoice(customer, 1_200);
    await credit.lose(younger, 500);
    await credit.note(invoice, 400);
    await credit.lose(older, 300);
    await credit.note(invoice, 350);
    const { database } = story.engine;
    const rowsOf = () =>
      database.query('SELECT * FROM credit_return WHERE invoice_id = $1 ORDER BY amount', [
        invoice,
      ]);
    const recorded = await rowsOf();
    expect(recorded).toMatchObject([
      { payment_id: younger, amount: '50' },
      { payment_id: older, amount: '300' },
      { payment_id: younger, amount: '400' },
    ]);
    await database.query('DELETE FROM credit_return WHERE invoice_id = $1', [invoice]);
    const runner = story.engine.app.get(DataSource).createQueryRunner();
    const migration = new RecordCreditReturnedBefore1795530000001();
    await migration.up(runner);
    await migration.up(runner);
    await runner.release();
    const sumOf = (rows: readonly unknown[], payment: string) =>
      (rows as { payment_id: string; amount: string }[])
        .filter((row) => row.payment_id === payment)
        .reduce((sum, { amount }) => sum + Number(amount), 0);
    const restored = await rowsOf();
    for (const payment of payments) {
      expect(sumOf(restored, payment)).toBe(sumOf(recorded, payment));
    }
  });
});
