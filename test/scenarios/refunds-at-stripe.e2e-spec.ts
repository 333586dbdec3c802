import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { newId } from '../../src/platform/ids';
import { postingsOf, verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { eventsOf } from '../support/test-app';
import { until } from '../support/until';

interface Refund {
  readonly id: string;
  readonly status: string;
  readonly source: string;
  readonly amount: number;
}

interface Discrepancy {
  readonly id: string;
  readonly refund_id: string | null;
  readonly status: string;
}

/** Name of the environment in our metadata. */
const environment = 'live';

describe('a refund at Stripe that somebody makes there or here', () => {
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

  /** Refunds a payment without our metadata, as the dashboard does. */
  const refundThere = (payment: string, amount?: number) =>
    story.stripe.client().refunds.create({
      payment_intent: story.intentOf(payment),
      reason: 'requested_by_customer',
      ...(amount !== undefined && { amount }),
    });

  const refundsOf = async (payment: string): Promise<readonly Refund[]> =>
    (await story.get<{ data: Refund[] }>(`/v1/refunds?payment_id=${payment}`)).data;

  /** Requests a refund. Stripe does not receive the request and its repetitions. Returns the refund's id. */
  async function neverReceived(payment: string, amount: number): Promise<string> {
    story.stripe.faults.plan('error_500_before', { operation: 'refunds.create', times: 4 });
    const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount });
    return id;
  }

  /** Returns the differences that a reconciliation finds between the books and Stripe. */
  async function differences(): Promise<readonly object[]> {
    story.engine.clock.advanceMs(3_600_000);
    const { id } = await story.post('/v1/reconciliations', { provider: 'stripe' });
    await until('the reconciliation has ended', async () => {
      await story.run(DueReconciliations);
      return (await story.get(`/v1/reconciliations/${id}`)).status !== 'running';
    });
    expect(await story.get(`/v1/reconciliations/${id}`)).toMatchObject({ status: 'completed' });
    return (await story.get<{ data: object[] }>(`/v1/reconciliations/${id}/differences`)).data;
  }

  async function pollFor8Hours(): Promise<void> {
    for (let poll = 0; poll < 8; poll += 1) {
      story.engine.clock.advanceMs(61 * 60_000);
      await story.run(DueRefunds);
      await story.notified();
    }
  }

  it('is recorded and posted, and lowers what can be refunded', async () => {
    const { payment } = await story.paid();
    await refundThere(payment, 300);
    await story.notified();
    const [refund, ...others] = await refundsOf(payment);
    expect(others).toEqual([]);
    expect(refund).toMatchObject({
      status: 'succeeded',
      source: 'provider',
      amount: 300,
      reason: 'requested_by_customer',
      actor: 'worker',
    });
    expect(await postingsOf(story.engine, refund?.id ?? '')).toEqual([
      ['refund', { refunds: 300, 'cash_clearing:stripe': -300 }],
    ]);
    expect((await eventsOf(story.engine, refund?.id ?? '')).map(({ type }) => type)).toEqual([
      'refund.created',
      'refund.succeeded',
    ]);
    const rest = await story.post(`/v1/refunds/payment/${payment}`);
    expect(rest).toMatchObject({ status: 'succeeded', amount: 700, source: 'api' });
    await story.notified();
    expect(await refundsOf(payment)).toHaveLength(2);
  });

  it('is recorded once, however often and in whatever order it is reported', async () => {
    const { payment } = await story.paid();
    story.stripe.webhooks.fate = () => 'double';
    const { id } = await refundThere(payment, 300);
    await story.stripe.webhooks.idle();
    await Promise.all([story.notified(), story.notified()]);
    expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded' }]);
    story.stripe.failRefund(id);
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ status: 'failed' }]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 0 });
  });

  describe('that Stripe does not answer for', () => {
    const unanswered = (times: number) =>
      story.stripe.faults.plan('error_500_before', { operation: 'refunds.retrieve', times });
    const wait = async (seconds: number): Promise<void> => {
      story.engine.clock.advanceMs(seconds * 1_000);
      await story.notified();
    };
    const planned = async () => {
      const rows = await story.engine.database.query<{ due_at: Date; leased_by: number | null }>(
        'SELECT due_at, leased_by FROM provider_event WHERE due_at IS NOT NULL',
      );
      const now = story.engine.clock.now().getTime();
      return rows.map((row) => [(row.due_at.getTime() - now) / 1_000, row.leased_by]);
    };

    it('is recorded a second later, before an invoice uses its credit', async () => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id: payment } = await story.pay(customer);
      unanswered(1);
      await refundThere(payment);
      await story.notified();
      expect(await refundsOf(payment)).toEqual([]);
      await wait(1);
      expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded' }]);
      const invoice = await story.invoice(customer, 400);
      expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({ credit_applied: 0 });
    });

    it('is read again with pauses that double, are stored, and delay no other', async () => {
      const { payment } = await story.paid();
      const { payment: other } = await story.paid();
      unanswered(27);
      await refundThere(payment, 300);
      await story.notified();
      for (const pause of [1, 2, 4, 8, 16, 32, 64, 128, ...Array<number>(17).fill(150)]) {
        expect(await planned()).toEqual([[pause, null]]);
        await wait(pause);
      }
      expect(await planned()).toEqual([[3_600, null]]);
      const intent = story.stripe.openDispute(story.intentOf(other));
      await story.notified();
      expect(await story.get(`/v1/disputes?payment_id=${other}`)).toMatchObject({
        data: [{ provider_reference: intent.id }],
      });
      await wait(3_600);
      expect(await planned()).toEqual([[3_600, null]]);
      await wait(3_600);
      expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded' }]);
    });
  });

  it('of credit that an invoice has used is recorded all the same', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const { id: payment } = await story.pay(customer);
    await story.invoice(customer, 400);
    await refundThere(payment);
    await story.notified();
    const [refund] = await refundsOf(payment);
    expect((await postingsOf(story.engine, refund?.id ?? ''))[0]).toEqual([
      'refund',
      { customer_credit: 600, refunds: 400, 'cash_clearing:stripe': -1_000 },
    ]);
    const refused = await story.engine.http.post(`/v1/refunds/payment/${payment}`).send({});
    expect(refused.body).toMatchObject({ code: 'refund_amount_exceeds_refundable' });
  });

  it('that paid out credit of a credit note gives the credit back when the bank returns it', async () => {
    const { customer, payment } = await story.paid();
    const { data } = await story.get<{ data: { id: string; lines: { id: string }[] }[] }>(
      `/v1/invoices?customer_id=${customer}`,
    );
    await story.post('/v1/credit-notes', {
      invoice_id: data[0]?.id,
      lines: [{ invoice_line_id: data[0]?.lines[0]?.id, amount: 600 }],
      reason: 'Late',
      settle: 'credit',
    });
    const balance = () => story.get(`/v1/customers/${customer}/balance`);
    const refund = await story.post(`/v1/refunds/payment/${payment}`, { amount: 1_000 });
    expect(refund).toMatchObject({ status: 'succeeded' });
    expect(await balance()).toMatchObject({ balance: 0 });
    const { data: made } = await story.stripe
      .client()
      .refunds.list({ payment_intent: story.intentOf(payment) });
    story.stripe.failRefund(made[0]?.id ?? '');
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ status: 'failed' }]);
    expect(await balance()).toMatchObject({ balance: 600, reserved: 0 });
    expect(await postingsOf(story.engine, refund.id)).toEqual([
      ['refund', { customer_credit: 600, refunds: 400, 'cash_clearing:stripe': -1_000 }],
      ['void', { customer_credit: -600, refunds: -400, 'cash_clearing:stripe': 1_000 }],
    ]);
  });

  it('that is pending is followed up until it succeeds', async () => {
    const { payment } = await story.paid('pm_card_pendingRefund');
    await refundThere(payment, 300);
    await story.notified();
    const [refund] = await refundsOf(payment);
    story.engine.clock.advanceMs(10 * 60_000);
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.advanceMs(0);
    await story.run(DueRefunds);
    expect(await story.get(`/v1/refunds/${refund?.id ?? ''}`)).toMatchObject({
      status: 'succeeded',
    });
  });

  it('does not keep a later refund from being sent again, if Stripe never received it', async () => {
    const { payment } = await story.paid();
    await refundThere(payment, 300);
    await story.notified();
    const id = await neverReceived(payment, 300);
    await pollFor8Hours();
    expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded' });
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 600 });
    expect(await refundsOf(payment)).toHaveLength(2);
  });

  it.each([
    ['another amount', 600, 700],
    ['the same amount', 600, 600],
  ])('of %s is recorded, and one that does not fit beside it fails', async (_, there, here) => {
    const { payment } = await story.paid();
    await refundThere(payment, there);
    const id = await neverReceived(payment, here);
    await pollFor8Hours();
    expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({
      status: 'failed',
      failure_code: 'refund_declined',
    });
    expect(await refundsOf(payment)).toMatchObject([
      { status: 'succeeded', source: 'provider', amount: there },
      { id },
    ]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: there });
  });

  it('is recorded once one of two that leave too little for it has failed', async () => {
    const { payment } = await story.paid();
    await refundThere(payment, 600);
    await neverReceived(payment, 300);
    await neverReceived(payment, 400);
    await pollFor8Hours();
    const refunds = await refundsOf(payment);
    expect(refunds.map(({ amount, status }) => [amount, status])).toEqual([
      [600, 'succeeded'],
      [400, expect.stringMatching(/failed|succeeded/)],
      [300, expect.stringMatching(/failed|succeeded/)],
    ]);
    expect(refunds.filter(({ status }) => status === 'failed')).toHaveLength(1);
  });

  it('that failed there does not keep another refund from being sent again', async () => {
    const { payment } = await story.paid();
    story.stripe.failRefund((await refundThere(payment, 600)).id);
    const id = await neverReceived(payment, 300);
    await pollFor8Hours();
    expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded' });
    expect(await refundsOf(payment)).toHaveLength(1);
  });

  it.each([
    ['the id of the payment', (payment: string) => ({ payment_id: payment, ticket: '4711' })],
    ['the id of a setup', () => ({ setup_id: newId('pms') })],
    ['an unknown id', () => ({ refund_id: newId('ref') })],
  ])('is recorded if its metadata contain %s', async (_, metadataFor) => {
    const { customer } = await story.customerWith('pm_card_visa');
    const { id: payment } = await story.pay(customer);
    await story.stripe.client().refunds.create({
      payment_intent: story.intentOf(payment),
      metadata: metadataFor(payment),
    });
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded', source: 'provider' }]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 1_000 });
    const invoice = await story.invoice(customer, 400);
    expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({ credit_applied: 0 });
  });

  /** Refunds a payment here. Returns the refund, with Stripe's id of it. */
  async function refundHere(payment: string, amount: number) {
    const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount });
    const made = [...story.stripe.account.refunds.values()];
    const reference = made.find(({ metadata }) => metadata?.['refund_id'] === id)?.id ?? '';
    return { id, reference };
  }

  it('again with the id of a refund that the bank returned is recorded as another refund', async () => {
    const { payment } = await story.paid();
    const { id, reference } = await refundHere(payment, 1_000);
    story.stripe.failRefund(reference);
    await story.notified();
    await story.stripe.client().refunds.create({
      payment_intent: story.intentOf(payment),
      metadata: { environment, refund_id: id },
    });
    story.stripe.webhooks.fate = () => 'double';
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([
      { status: 'succeeded', source: 'provider', amount: 1_000 },
      { id, status: 'failed', source: 'api' },
    ]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 1_000 });
    expect(await differences()).toEqual([]);
  });

  it('with the id of a refund of another payment is recorded for its own payment', async () => {
    const { payment } = await story.paid();
    const { payment: other } = await story.paid();
    const { id } = await refundHere(payment, 300);
    await story.stripe.client().refunds.create({
      payment_intent: story.intentOf(other),
      amount: 200,
      metadata: { environment, refund_id: id },
    });
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ id, amount: 300 }]);
    expect(await refundsOf(other)).toMatchObject([{ source: 'provider', amount: 200 }]);
    expect(await differences()).toEqual([]);
  });

  it('is recorded if the previous release stored its event with our payment id', async () => {
    const { payment } = await story.paid();
    await story.notified();
    story.stripe.webhooks.fate = () => 'lose';
    const { id } = await refundThere(payment, 300);
    await story.engine.database.query(
      `INSERT INTO provider_event
        (id, provider, type, subject_id, object_id, created_at, received_at, due_at)
      VALUES ('evt_of_previous_release', 'stripe', 'refund.created', $1, $2, $3, $3, $3)`,
      [payment, id, story.engine.clock.now()],
    );
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([
      { status: 'succeeded', source: 'provider', amount: 300 },
    ]);
  });

  it('is not recorded a second time if it was made here and somebody removed its metadata', async () => {
    const { payment } = await story.paid('pm_card_pendingRefund');
    const { id, reference } = await refundHere(payment, 300);
    await story.notified();
    const refund = story.stripe.account.refunds.get(reference);
    if (refund !== undefined) refund.metadata = {};
    story.engine.clock.advanceMs(10 * 60_000);
    story.stripe.advanceMs(0);
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ id, status: 'succeeded', amount: 300 }]);
    story.stripe.failRefund(reference);
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ id, status: 'failed' }]);
  });

  it.each([
    ['does not answer', 'error_500_before'],
    ['cannot be reached, and a proxy answers 404', 'not_found'],
  ] as const)('is read again if Stripe %s', async (_, fault) => {
    const { payment } = await story.paid();
    story.stripe.faults.plan(fault, { operation: 'refunds.retrieve', times: 10 });
    await refundThere(payment, 300);
    await story.notified();
    expect(await refundsOf(payment)).toEqual([]);
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(3 * 60_000);
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([{ status: 'succeeded' }]);
  });

  const discrepancies = '/v1/provider-discrepancies';
  const apply = (id: string) => story.engine.http.post(`${discrepancies}/${id}/apply`);
  const discrepancyOf = async (refund: string) =>
    (await story.get<{ data: readonly Discrepancy[] }>(discrepancies)).data.find(
      ({ refund_id: id }) => id === refund,
    );

  /**
   * Refunds a payment here. A proxy refuses the request after Stripe has made the refund. Returns the refund, with
   * Stripe's id of it, and its discrepancy.
   */
  async function refusedHere(payment: string, amount: number) {
    await story.notified();
    const text = '{"error":{"type":"invalid_request_error","message":"Refused."}}';
    story.stripe.faults.plan({ status: 400, text }, { operation: 'refunds.create' });
    const { id, reference } = await refundHere(payment, amount);
    expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'failed' });
    await story.notified();
    return { id, reference, discrepancy: (await discrepancyOf(id))?.id ?? '' };
  }

  it('has the id of the provider once its discrepancy was applied, and agrees with the books', async () => {
    const { payment } = await story.paid();
    const { id, reference, discrepancy } = await refusedHere(payment, 300);
    await apply(discrepancy).send({}).expect(200);
    const refund = () =>
      story.engine.database.query('SELECT status, provider_reference FROM refund WHERE id = $1', [
        id,
      ]);
    expect(await refund()).toEqual([{ status: 'succeeded', provider_reference: reference }]);
    expect(await differences()).toEqual([]);
    // As an earlier release left refunds whose discrepancy was applied.
    await story.engine.database.query('UPDATE refund SET provider_reference = NULL WHERE id = $1', [
      id,
    ]);
    expect(await differences()).toEqual([]);
  });

  it('and that the bank returns after it was refused here has no open discrepancy any more', async () => {
    const { payment } = await story.paid();
    const { id, reference, discrepancy } = await refusedHere(payment, 300);
    story.stripe.failRefund(reference);
    story.stripe.webhooks.fate = () => 'double';
    await story.notified();
    expect(await discrepancyOf(id)).toMatchObject({ status: 'dismissed' });
    expect((await eventsOf(story.engine, discrepancy)).map(({ type }) => type)).toEqual([
      'provider_discrepancy.created',
      'provider_discrepancy.dismissed',
    ]);
    const { body } = await apply(discrepancy).send({}).expect(409);
    expect(body).toMatchObject({ code: 'invalid_transition' });
    await story.post(`/v1/refunds/payment/${payment}`, { amount: 1_000 });
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 1_000 });
    expect(await differences()).toEqual([]);
  });

  it('is not booked from its discrepancy if the bank has returned it and no notification has arrived', async () => {
    const { payment } = await story.paid();
    const { id, reference, discrepancy } = await refusedHere(payment, 300);
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.failRefund(reference);
    const applyWithKey = () => apply(discrepancy).set('Idempotency-Key', discrepancy).send({});
    const refusal = {
      code: 'provider_discrepancy_not_applicable',
      detail: expect.stringContaining(`reports the refund ${reference} as failed now`) as string,
    };
    expect((await applyWithKey().expect(409)).body).toMatchObject(refusal);
    // The stored answer needs no answer of Stripe.
    story.stripe.faults.plan('error_500_before', { operation: 'refunds.retrieve', times: 10 });
    expect((await applyWithKey().expect(409)).body).toMatchObject(refusal);
    story.stripe.faults.clear();
    expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'failed' });
    expect(await discrepancyOf(id)).toMatchObject({ status: 'open' });
    await story.engine.http.post(`${discrepancies}/${discrepancy}/dismiss`).send({}).expect(200);
    expect(await differences()).toEqual([]);
  });

  it('is booked from its discrepancy only once Stripe answers about it', async () => {
    const { payment } = await story.paid();
    const { id, discrepancy } = await refusedHere(payment, 300);
    const applyWithKey = () => apply(discrepancy).set('Idempotency-Key', discrepancy).send({});
    const { faults } = story.stripe;
    faults.plan('error_500_before', { operation: 'refunds.retrieve', times: 10 });
    const { body } = await applyWithKey().expect(503);
    expect(body).toMatchObject({ code: 'payment_provider_unavailable' });
    faults.clear();
    const answers = await Promise.all([applyWithKey(), applyWithKey()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0].body).toEqual(answers[1].body);
    // What is applied already needs no answer of Stripe.
    faults.plan('error_500_before', { operation: 'refunds.retrieve', times: 10 });
    expect((await apply(discrepancy).send({}).expect(200)).body).toEqual(answers[0].body);
    expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded' });
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 300 });
  });

  it('and that failed has no open discrepancy after the next notification, if a late answer made one', async () => {
    const { payment } = await story.paid('pm_card_pendingRefund');
    const { id, reference } = await refundHere(payment, 300);
    story.engine.clock.advanceMs(10 * 60_000);
    story.stripe.advanceMs(0);
    const { account, faults } = story.stripe;
    faults.plan('answer_held', { operation: 'refunds.retrieve' });
    const polls = story.engine.app.get(DueRefunds);
    await polls.runDue();
    await until('Stripe holds its answer', () => faults.hanging === 1);
    story.stripe.failRefund(reference);
    await story.notified();
    faults.plan('error_500_before', { operation: 'refunds.retrieve' });
    faults.release();
    await polls.idle();
    expect(await discrepancyOf(id)).toMatchObject({ status: 'open' });
    account.record('refund.failed', { ...account.refunds.get(reference) });
    await story.notified();
    expect(await discrepancyOf(id)).toMatchObject({ status: 'dismissed' });
  });

  describe('and fails has no discrepancy if Stripe had reported it as succeeded just before,', () => {
    const held = () => until('Stripe holds its answer', () => story.stripe.faults.hanging === 1);

    it('in its answer to the request', async () => {
      const { payment } = await story.paid();
      await story.notified();
      story.stripe.faults.plan('answer_held', { operation: 'refunds.create' });
      const request = refundHere(payment, 300);
      await held();
      const [made] = await story.stripe
        .client()
        .refunds.list({ payment_intent: story.intentOf(payment) })
        .autoPagingToArray({ limit: 10 });
      story.stripe.failRefund(made?.id ?? '');
      await story.notified();
      story.stripe.faults.release();
      const { id } = await request;
      expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'failed' });
      expect(await discrepancyOf(id)).toBeUndefined();
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 0 });
    });

    const here = (payment: string) => refundHere(payment, 300);
    const there = async (payment: string) => ({ reference: (await refundThere(payment, 300)).id });

    it.each([
      ['made here', here, []],
      ['made there', there, []],
      ['made here, and Stripe does not answer at once again', here, ['error_500_before']],
    ] as const)('in the answer to an earlier notification (%s)', async (_, make, faults) => {
      const { payment } = await story.paid();
      await story.notified();
      const { reference } = await make(payment);
      await story.notified();
      const refund = story.stripe.account.refunds.get(reference);
      if (refund !== undefined) story.stripe.account.record('refund.updated', refund);
      await story.stripe.webhooks.idle();
      story.stripe.faults.plan('answer_held', { operation: 'refunds.retrieve' });
      const events = story.engine.app.get(DueProviderEvents);
      await events.runDue();
      await held();
      story.stripe.failRefund(reference);
      await story.stripe.webhooks.idle();
      await events.runDue();
      const isFailed = async () => (await refundsOf(payment))[0]?.status === 'failed';
      await until('the failure is recorded', isFailed);
      for (const fault of faults)
        story.stripe.faults.plan(fault, { operation: 'refunds.retrieve' });
      story.stripe.faults.release();
      await events.idle();
      story.engine.clock.advanceMs(1_000);
      await story.notified();
      const [found] = await refundsOf(payment);
      expect(found).toMatchObject({ status: 'failed' });
      expect(await discrepancyOf(found?.id ?? '')).toBeUndefined();
    });

    it('in the answers to its first notifications (made there)', async () => {
      const { payment } = await story.paid();
      await story.notified();
      const { account, faults, webhooks } = story.stripe;
      const made = await refundThere(payment, 300);
      account.record('refund.updated', made);
      await webhooks.idle();
      faults.plan('answer_held', { operation: 'refunds.retrieve', times: 2 });
      const events = story.engine.app.get(DueProviderEvents);
      const holds = (count: number) =>
        until(`Stripe holds ${count} answers`, () => faults.hanging === count);
      await events.runDue();
      await holds(2);
      story.stripe.failRefund(made.id);
      faults.clear();
      await webhooks.idle();
      await events.runDue();
      const due = 'SELECT count(*)::int FROM provider_event WHERE due_at IS NOT NULL';
      const areOnlyHeld = async () => (await story.engine.database.queryValue(due, [])) === 2;
      await until('the failure is read', areOnlyHeld);
      faults.plan('answer_held', { operation: 'refunds.retrieve' });
      faults.release(1);
      await until('the refund is stored', async () => (await refundsOf(payment)).length === 1);
      await holds(2);
      faults.release(1);
      const isFailed = async () => (await refundsOf(payment))[0]?.status === 'failed';
      await until('the failure is recorded', isFailed);
      faults.release();
      await events.idle();
      const [refund] = await refundsOf(payment);
      expect((await eventsOf(story.engine, refund?.id ?? '')).map(({ type }) => type)).toEqual([
        'refund.created',
        'refund.failed',
      ]);
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 0 });
    });
  });
});
