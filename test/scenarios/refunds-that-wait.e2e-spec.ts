import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { BookedMovementsService } from '../../src/modules/reconciliations/booked-movements.service';
import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { eventsOf } from '../support/test-app';
import { until } from '../support/until';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface Payment {
  readonly status: string;
  readonly amount_refunded: number;
}

interface Discrepancy {
  readonly id: string;
  readonly payment_id: string;
}

/** A refund made at Stripe that cannot be recorded before its payment changes here. */
describe('a refund at Stripe that its payment cannot give yet', () => {
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

  /** Refunds a payment without our metadata, as the dashboard does, and applies the notification. */
  async function refundThere(payment: string, amount: number): Promise<string> {
    const intent = story.intentOf(payment);
    const { id } = await story.stripe.client().refunds.create({ payment_intent: intent, amount });
    await story.notified();
    return id;
  }

  /** Charges a customer 1,000 without an invoice. The payment fails here, and succeeds at Stripe later. */
  async function succeededLate(
    fields: object = {},
  ): Promise<{ customer: string; payment: string; discrepancy: string }> {
    const { customer } = await story.customerWith('pm_card_chargeCustomerFail', fields);
    const { id: payment, status } = await story.pay(customer);
    expect(status).toBe('failed');
    story.stripe.succeedLate(story.intentOf(payment));
    await story.notified();
    const { data } = await story.get<{ data: Discrepancy[] }>('/v1/provider-discrepancies');
    const found = data.find(({ payment_id: id }) => id === payment);
    return { customer, payment, discrepancy: found?.id ?? '' };
  }

  const resolve = (discrepancy: string, how: 'apply' | 'dismiss') =>
    story.engine.http.post(`/v1/provider-discrepancies/${discrepancy}/${how}`).send({}).expect(200);

  const refundsOf = async (payment: string) =>
    (await story.get<{ data: object[] }>(`/v1/refunds?payment_id=${payment}`)).data;
  const balanceOf = (customer: string) => story.get<object>(`/v1/customers/${customer}/balance`);
  const refundedOf = async (payment: string) =>
    (await story.get<Payment>(`/v1/payments/${payment}`)).amount_refunded;

  /** Returns the number of stored notifications that are applied again later. */
  const unapplied = async (): Promise<number> => {
    const sql = 'SELECT id FROM provider_event WHERE due_at IS NOT NULL';
    return (await story.engine.database.query(sql, [])).length;
  };

  it('takes its credit in the commit in which a refund here fails', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const { id: payment } = await story.pay(customer);
    story.stripe.faults.plan('reset_before', { operation: 'refunds.create', times: 2 });
    const own = await story.post(`/v1/refunds/payment/${payment}`, { amount: 600 });
    expect(own.status).toBe('pending');
    await refundThere(payment, 700);
    expect(await refundsOf(payment)).toHaveLength(1);
    expect(await unapplied()).toBe(0);

    story.engine.clock.advanceMs(3 * MINUTE_MS);
    await story.run(DueRefunds);
    expect(await refundsOf(payment)).toMatchObject([
      { source: 'provider', status: 'pending', amount: 700 },
      { id: own.id, status: 'failed', failure_code: 'refund_declined' },
    ]);
    expect(await balanceOf(customer)).toMatchObject({ balance: 1_000, reserved: 700 });
    const invoice = await story.invoice(customer, 1_000);
    expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({ credit_applied: 300 });

    await story.run(DueRefunds);
    expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded' }, { id: own.id }]);
    expect(await refundedOf(payment)).toBe(700);
  });

  it('takes its credit in the commit in which a discrepancy is applied', async () => {
    const { customer, payment, discrepancy } = await succeededLate();
    await refundThere(payment, 800);
    expect([await refundsOf(payment), await unapplied()]).toEqual([[], 0]);

    await resolve(discrepancy, 'apply');
    expect(await balanceOf(customer)).toMatchObject({ balance: 1_000, reserved: 800 });
    const invoice = await story.invoice(customer, 1_000);
    expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({ credit_applied: 200 });

    await story.run(DueRefunds);
    const [refund, ...others] = (await refundsOf(payment)) as { id: string }[];
    expect([refund, others]).toMatchObject([{ status: 'succeeded', source: 'provider' }, []]);
    expect(await refundedOf(payment)).toBe(800);
    expect((await eventsOf(story.engine, refund?.id ?? '')).map(({ type }) => type)).toEqual([
      'refund.created',
      'refund.succeeded',
    ]);
  });

  it('is dated when the discrepancy is applied, even if a wrong clock failed the payment', async () => {
    const now = story.engine.clock.now().toISOString();
    story.engine.clock.advanceMs(20 * DAY_MS);
    const { customer, payment, discrepancy } = await succeededLate();
    story.engine.clock.set(now);
    await refundThere(payment, 800);
    await resolve(discrepancy, 'apply');
    const [refund] = (await refundsOf(payment)) as { id: string; created_at: string }[];
    expect(refund).toMatchObject({ created_at: now });
    const events = `/v1/events?object_id=${refund?.id ?? ''}&type=refund.created`;
    expect(await story.get(events)).toMatchObject({ data: [{ timestamp: now }] });
    await story.run(DueRefunds);
    const path = `/v1/ledger/transactions?customer_id=${customer}`;
    const { data } = await story.get<{ data: object[] }>(path);
    expect(data).toMatchObject([
      { kind: 'refund', occurred_at: now },
      { kind: 'payment', occurred_at: now },
    ]);
  });

  it('is recorded once if its notification arrives while the discrepancy is applied', async () => {
    const { payment, discrepancy } = await succeededLate();
    story.stripe.webhooks.fate = () => 'double';
    await Promise.all([refundThere(payment, 800), resolve(discrepancy, 'apply')]);
    await story.run(DueRefunds);
    expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded' }]);
    expect(await refundedOf(payment)).toBe(800);
  });

  it('is not recorded if the discrepancy is dismissed, and its notification is not applied again', async () => {
    const { customer, payment, discrepancy } = await succeededLate();
    await refundThere(payment, 1_000);
    await resolve(discrepancy, 'dismiss');
    expect([await refundsOf(payment), await unapplied()]).toEqual([[], 0]);
    expect(await balanceOf(customer)).toMatchObject({ balance: 0 });
  });

  it('is not recorded if it fails at Stripe before the discrepancy is applied', async () => {
    const { customer, payment, discrepancy } = await succeededLate();
    story.stripe.failRefund(await refundThere(payment, 800));
    await story.notified();
    await resolve(discrepancy, 'apply');
    expect(await refundsOf(payment)).toEqual([]);
    expect(await balanceOf(customer)).toMatchObject({ balance: 1_000, reserved: 0 });
  });

  it('does not wait if it failed at Stripe, and an earlier answer about it arrives last', async () => {
    const { customer, payment, discrepancy } = await succeededLate();
    const { faults, webhooks } = story.stripe;
    const events = story.engine.app.get(DueProviderEvents);
    const refund = await story.stripe
      .client()
      .refunds.create({ payment_intent: story.intentOf(payment), amount: 800 });
    await webhooks.idle();
    faults.plan('answer_held', { operation: 'refunds.retrieve' });
    await events.runDue();
    await until('Stripe holds its answer', () => faults.hanging === 1);
    story.stripe.failRefund(refund.id);
    await webhooks.idle();
    await events.runDue();
    await until('the failure is read', async () => (await unapplied()) === 1);
    faults.release();
    await events.idle();
    expect(await unapplied()).toBe(0);
    await resolve(discrepancy, 'apply');
    expect(await refundsOf(payment)).toEqual([]);
    expect(await balanceOf(customer)).toMatchObject({ balance: 1_000, reserved: 0 });
  });

  it('is recorded as failed if Stripe reports its failure only afterwards', async () => {
    const { customer, payment, discrepancy } = await succeededLate();
    const refund = await refundThere(payment, 800);
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.failRefund(refund);
    await resolve(discrepancy, 'apply');
    await story.run(DueRefunds);
    expect(await refundsOf(payment)).toMatchObject([{ status: 'failed' }]);
    expect(await balanceOf(customer)).toMatchObject({ balance: 1_000, reserved: 0 });
  });

  /** Runs a reconciliation, and returns the types of the differences about a refund. */
  async function differencesOf(refund: string): Promise<readonly string[]> {
    story.engine.clock.advanceMs(MINUTE_MS);
    const { id } = await story.post('/v1/reconciliations', { provider: 'stripe' });
    const path = `/v1/reconciliations/${id}`;
    await until('the reconciliation has ended', async () => {
      await story.run(DueReconciliations);
      return (await story.get(path)).status === 'completed';
    });
    const { data } = await story.get<{
      data: { readonly type: string; readonly provider_reference: string }[];
    }>(`${path}/differences?limit=100`);
    return data.filter((one) => one.provider_reference === refund).map(({ type }) => type);
  }

  it('is a difference in reconciliations only after a day, even if its discrepancy is open still', async () => {
    const { payment, discrepancy } = await succeededLate();
    const refund = await refundThere(payment, 800);
    expect(await differencesOf(refund)).toEqual([]);
    story.engine.clock.advanceMs(DAY_MS);
    expect(await differencesOf(refund)).toEqual(['missing_here']);
    await resolve(discrepancy, 'dismiss');
    expect(await differencesOf(refund)).toEqual(['missing_here']);
  });

  it('is a difference in reconciliations only after a day, even if a refund here is pending still', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const { id: payment } = await story.pay(customer);
    story.stripe.faults.plan('reset_before', { operation: 'refunds.create', times: 2 });
    await story.post(`/v1/refunds/payment/${payment}`, { amount: 600 });
    const refund = await refundThere(payment, 700);
    expect(await refundsOf(payment)).toMatchObject([{ status: 'pending', amount: 600 }]);
    expect(await differencesOf(refund)).toEqual([]);
    story.engine.clock.advanceMs(DAY_MS);
    expect(await differencesOf(refund)).toEqual(['missing_here']);
  });

  it('is no difference if it is booked while a reconciliation checks it', async () => {
    const { payment, discrepancy } = await succeededLate();
    const refund = await refundThere(payment, 800);
    const books = story.engine.app.get(BookedMovementsService);
    const isAwaited = books.isAwaited.bind(books);
    const spy = jest.spyOn(books, 'isAwaited').mockImplementation(async (movement) => {
      if (movement.reference === refund) {
        spy.mockRestore();
        await resolve(discrepancy, 'apply');
      }
      return isAwaited(movement);
    });
    expect(await differencesOf(refund)).toEqual([]);
    expect(await refundsOf(payment)).toMatchObject([{ source: 'provider', amount: 800 }]);
  });

  it('does not hide differences once it is booked', async () => {
    const { payment } = await story.paid();
    const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount: 600 });
    const there = [...story.stripe.account.refunds.values()].find(
      ({ metadata }) => metadata?.['refund_id'] === id,
    );
    if (there === undefined) throw new Error(`Stripe has no refund ${id}.`);
    there.amount = 500;
    // A process of the previous release can book a refund, and leave its row here.
    await story.engine.database.query(
      `INSERT INTO waiting_refund (payment_id, reference, amount, created_at) VALUES ($1, $2, 600, $3)`,
      [payment, there.id, story.engine.clock.now()],
    );
    expect(await differencesOf(there.id)).toEqual(['amount']);
    there.amount = 600;
  });

  it('is deleted with the test clock of its customer', async () => {
    const clock = await story.post('/v1/test-clocks', {
      name: 'Year',
      now: '2026-01-01T00:00:00.000Z',
    });
    const { payment } = await succeededLate({ test_clock_id: clock.id });
    await refundThere(payment, 800);
    await story.engine.http.delete(`/v1/test-clocks/${clock.id}`).expect(204);
    const rows = await story.engine.database.query(
      'SELECT FROM waiting_refund WHERE payment_id = $1',
      [payment],
    );
    expect(rows).toEqual([]);
  });
});
