import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import type { ProviderOutcome } from '../../src/modules/payments/domain/payment-provider';
import { ResumePaymentWorkflow } from '../../src/modules/billing/payments/resume-payment.workflow';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { recordDispute } from '../support/disputes';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { RefundsService } from '../../src/modules/refunds/refunds.service';
import { createCustomer, createPayment } from '../support/billing';
import { captureLog, type CapturedLog } from '../support/leaks';
import { postingsOf, verifyLedger } from '../support/ledger';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

interface Discrepancy {
  readonly id: string;
  readonly payment_id: string;
  readonly refund_id: string | null;
  readonly status: string;
}

/** The reference contains the token by which the sandbox decides refunds of the charge. */
const PAID: ProviderOutcome = { kind: 'succeeded', reference: 'pm_sandbox_ok/reported' };
const DECLINED: ProviderOutcome = {
  kind: 'failed',
  failureCode: 'returned_by_bank',
  retry: 'soft',
};

describe('a provider that contradicts a final outcome', () => {
  let engine: TestApp;
  let sandbox: SandboxProvider;
  let log: CapturedLog;

  beforeAll(async () => {
    log = captureLog();
    engine = await startTestApp();
    sandbox = engine.app.get(SandboxProvider);
  });

  afterEach(async () => {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  afterAll(async () => {
    await engine.close();
    log.stop();
  });

  const post = (path: string, body: object = {}) => engine.http.post(path).send(body);
  const read = async (path: string) => (await engine.http.get(path)).body as object;
  const idOf = (answer: { body: unknown }) => (answer.body as { id: string }).id;
  const apply = (id: string) => post(`/v1/provider-discrepancies/${id}/apply`);
  const dismiss = (id: string) => post(`/v1/provider-discrepancies/${id}/dismiss`);
  const typesOf = async (id: string) => (await eventsOf(engine, id)).map(({ type }) => type);

  async function discrepanciesOf(subject: string): Promise<readonly Discrepancy[]> {
    const answer = await engine.http.get('/v1/provider-discrepancies?limit=100').expect(200);
    const { data } = answer.body as { data: readonly Discrepancy[] };
    return data.filter((one) => (one.refund_id ?? one.payment_id) === subject);
  }

  /** Returns the only discrepancy of a payment or refund. */
  async function discrepancyOf(subject: string): Promise<Discrepancy> {
    const [one, ...others] = await discrepanciesOf(subject);
    if (one === undefined || others.length > 0)
      throw new Error(`${subject} has not one discrepancy.`);
    return one;
  }

  /** Sets the outcome that the provider reports about the object from now on. */
  async function report(id: string, outcome: ProviderOutcome): Promise<void> {
    if (id.startsWith('pay_')) jest.spyOn(sandbox, 'charge').mockResolvedValueOnce(outcome);
    else jest.spyOn(sandbox, 'refund').mockResolvedValueOnce(outcome);
    const providerCall = id.startsWith('pay_')
      ? engine.app.get(ResumePaymentWorkflow)
      : engine.app.get(RefundsService);
    await providerCall.resume(id);
  }

  /** Loses a dispute about a payment of 10,000, or about a part of it. */
  const lose = (payment: string, amount = 10_000n, reference = `dp_${payment}`) =>
    recordDispute(engine, payment, {
      providerReference: reference,
      status: 'lost',
      reason: null,
      amount,
      amountWithdrawn: amount,
      amountReinstated: 0n,
      isRefundable: false,
      evidenceDueAt: null,
    });

  const declined = (fields: object = {}): Promise<string> =>
    createPayment(engine, { payment_method_id: 'pm_sandbox_declined', ...fields });

  async function failedRefund(amount: number): Promise<{ payment: string; refund: string }> {
    const payment = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_fails' });
    const answer = await post(`/v1/refunds/payment/${payment}`, { amount });
    expect(answer.body).toMatchObject({ status: 'failed' });
    return { payment, refund: idOf(answer) };
  }

  it('is recorded if a response arrives after that of a later call, with an event and an alert', async () => {
    const answers: ((outcome: ProviderOutcome) => void)[] = [];
    const customer = await createCustomer(engine);
    jest
      .spyOn(sandbox, 'charge')
      .mockImplementationOnce(() => new Promise((answer) => answers.push(answer)));
    const asked = post('/v1/payments', {
      customer_id: customer,
      amount: 700,
      currency: 'EUR',
    }).then((answer) => answer.body as { id: string; status: string });
    await until('the provider is called', () => answers.length === 1);
    engine.clock.advanceMs(150_000);
    jest.spyOn(sandbox, 'charge').mockResolvedValueOnce(DECLINED);
    const worker = engine.app.get(DuePayments);
    await worker.runDue();
    await worker.idle();
    answers[0]?.(PAID);
    const payment = await asked;
    expect(payment).toMatchObject({ status: 'failed', failure_code: 'returned_by_bank' });

    const found = await discrepancyOf(payment.id);
    expect(found).toEqual({
      id: expect.stringMatching(/^dscr_/) as string,
      payment_id: payment.id,
      refund_id: null,
      recorded_status: 'failed',
      reported_status: 'succeeded',
      provider_reference: 'pm_sandbox_ok/reported',
      failure_code: null,
      status: 'open',
      created_at: engine.clock.now().toISOString(),
      updated_at: engine.clock.now().toISOString(),
    });
    expect(await read(`/v1/provider-discrepancies/${found.id}`)).toEqual(found);
    expect(await typesOf(found.id)).toEqual(['provider_discrepancy.created']);
    expect(log.text()).toMatch(new RegExp(`"level":(50|"error").*"discrepancy_id":"${found.id}"`));
    const metrics = (await engine.http.get('/metrics')).text;
    expect(metrics).toContain(
      'provider_discrepancies_total{object="payment",recorded="failed",reported="succeeded"} 1',
    );
    expect(metrics).toContain('provider_discrepancies_open{object="payment"} 1');
  });

  it('is recorded once, however often it is reported', async () => {
    const payment = await declined();
    await Promise.all([report(payment, PAID), report(payment, PAID)]);
    await report(payment, PAID);
    expect(await discrepanciesOf(payment)).toHaveLength(1);
  });

  it('is applied once: the payment succeeds, and its money becomes credit of the customer', async () => {
    const payment = await declined();
    await report(payment, PAID);
    const { id } = await discrepancyOf(payment);
    const answers = await Promise.all([apply(id), apply(id), apply(id)]);
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([200, expect.objectContaining({ id, status: 'applied' })]);
    }
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({
      status: 'succeeded',
      failure_code: null,
      amount_applied: 0,
    });
    expect(await postingsOf(engine, payment)).toHaveLength(1);
    expect(await typesOf(payment)).toEqual([
      'payment.created',
      'payment.failed',
      'payment.succeeded',
    ]);
    expect(await typesOf(id)).toEqual([
      'provider_discrepancy.created',
      'provider_discrepancy.applied',
    ]);
    expect((await dismiss(id)).status).toBe(409);
    const refunded = await post(`/v1/refunds/payment/${payment}`);
    expect(refunded.body).toMatchObject({ status: 'succeeded' });
  });

  it.each([
    ['pays its invoice', false, { status: 'paid', amount_paid: 1_000 }, 1_000],
    ['leaves an invoice that was paid otherwise as it is', true, { status: 'paid' }, 0],
  ] as const)('is applied: the payment %s', async (_, paidOtherwise, invoiced, applied) => {
    const customer = await createCustomer(engine, { currency: 'USD' });
    const created = await post('/v1/invoices', {
      customer_id: customer,
      lines: [{ description: 'Work', amount: 1_000 }],
    });
    const invoice = idOf(created);
    await post(`/v1/invoices/${invoice}/finalize`).expect(200);
    const failing = { payment_method_id: 'pm_sandbox_declined' };
    const payment = idOf(await post(`/v1/invoices/${invoice}/pay`, failing));
    if (paidOtherwise) {
      await post(`/v1/invoices/${invoice}/pay`, { provider: 'manual' }).expect(201);
    }
    await report(payment, PAID);
    await apply((await discrepancyOf(payment)).id).expect(200);
    expect(await read(`/v1/invoices/${invoice}`)).toMatchObject(invoiced);
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({
      status: 'succeeded',
      amount_applied: applied,
    });
  });

  it('is applied after a lost dispute: the loss takes the credit', async () => {
    const payment = await declined();
    await lose(payment);
    await report(payment, PAID);
    await apply((await discrepancyOf(payment)).id).expect(200);
    const { customer_id: customer } = (await read(`/v1/payments/${payment}`)) as {
      customer_id: string;
    };
    expect(await read(`/v1/customers/${customer}/balance`)).toMatchObject({ balance: 0 });
    expect((await postingsOf(engine, payment)).at(-1)).toEqual([
      'dispute_lost',
      { customer_credit: 10_000, dispute_losses: -10_000 },
    ]);
  });

  it('is applied to a refund after a lost dispute, because its money has moved', async () => {
    const { payment, refund } = await failedRefund(2_500);
    await lose(payment);
    await report(refund, PAID);
    await apply((await discrepancyOf(refund)).id).expect(200);
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({
      amount_refunded: 2_500,
      amount_lost: 10_000,
    });
    expect(await postingsOf(engine, refund)).toEqual([
      ['refund', { refunds: 2_500, 'cash_clearing:sandbox': -2_500 }],
    ]);
  });

  it('is applied to a refund whose failure covered a part of a lost dispute', async () => {
    const payment = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_pending' });
    const refund = idOf(await post(`/v1/refunds/payment/${payment}`, { amount: 2_500 }));
    await lose(payment);
    await report(refund, DECLINED);
    await report(refund, PAID);
    await apply((await discrepancyOf(refund)).id).expect(200);
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({ status: 'succeeded' });
    expect(await postingsOf(engine, refund)).toEqual([
      ['dispute_lost', { customer_credit: 2_500, dispute_losses: -2_500 }],
      ['refund', { refunds: 2_500, 'cash_clearing:sandbox': -2_500 }],
    ]);
  });

  it('is applied to a refund that a bank returns later, with a lost dispute before and after', async () => {
    const payment = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_pending' });
    const { customer_id: customer } = (await read(`/v1/payments/${payment}`)) as {
      customer_id: string;
    };
    const refund = idOf(await post(`/v1/refunds/payment/${payment}`, { amount: 6_000 }));
    await lose(payment, 5_000n);
    await report(refund, DECLINED);
    await report(refund, PAID);
    await apply((await discrepancyOf(refund)).id).expect(200);
    await lose(payment, 5_000n, `dp_second_${payment}`);
    await report(refund, DECLINED);
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({ status: 'failed' });
    expect(await postingsOf(engine, refund)).toEqual([
      ['dispute_lost', { customer_credit: 1_000, dispute_losses: -1_000 }],
      ['refund', { customer_credit: 5_000, refunds: 1_000, 'cash_clearing:sandbox': -6_000 }],
      ['void', { 'cash_clearing:sandbox': 6_000, dispute_losses: -5_000, refunds: -1_000 }],
    ]);
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({
      amount_refunded: 0,
      amount_lost: 10_000,
    });
    expect(await read(`/v1/customers/${customer}/balance`)).toMatchObject({ balance: 0 });
  });

  it('is applied to a refund: its amount counts as refunded', async () => {
    const { payment, refund } = await failedRefund(2_500);
    await report(refund, PAID);
    const found = await discrepancyOf(refund);
    expect(found).toMatchObject({ payment_id: payment, refund_id: refund });
    const [one, other] = await Promise.all([apply(found.id), apply(found.id)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({
      status: 'succeeded',
      failure_code: null,
    });
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({
      amount_refunded: 2_500,
      amount_refund_pending: 0,
    });
    expect(await typesOf(refund)).toEqual(['refund.created', 'refund.failed', 'refund.succeeded']);
  });

  it('cannot be applied to a refund whose amount was refunded otherwise, nor by a repeated request later', async () => {
    const { payment, refund } = await failedRefund(10_000);
    await engine.database.query(
      `UPDATE payment SET provider_reference = 'pm_sandbox_ok/second' WHERE id = $1`,
      [payment],
    );
    const other = idOf(await post(`/v1/refunds/payment/${payment}`, { amount: 1 }).expect(201));
    await report(refund, PAID);
    const { id } = await discrepancyOf(refund);
    const answer = await apply(id).set('Idempotency-Key', id);
    expect([answer.status, answer.body]).toEqual([
      422,
      expect.objectContaining({ code: 'refund_amount_exceeds_refundable' }),
    ]);
    await report(other, DECLINED);
    const repeated = await apply(id).set('Idempotency-Key', id);
    expect(repeated.body).toMatchObject({ code: 'refund_amount_exceeds_refundable' });
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({ status: 'failed' });
    expect(await discrepancyOf(refund)).toMatchObject({ status: 'open' });
    const applied = await apply(id).set('Idempotency-Key', `second ${id}`).expect(200);
    expect(applied.body).toEqual(await read(`/v1/provider-discrepancies/${id}`));
    expect(applied.headers).not.toHaveProperty('etag');
  });

  it('is not applied by a request with the key of another one', async () => {
    const { refund } = await failedRefund(10_000);
    await report(refund, PAID);
    const { id } = await discrepancyOf(refund);
    await post('/v1/customers', { name: 'Ada Lovelace' }).set('Idempotency-Key', id).expect(201);
    const answer = await apply(id).set('Idempotency-Key', id).expect(409);
    expect(answer.body).toMatchObject({ code: 'idempotency_key_reused' });
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({ status: 'failed' });
    expect(await discrepancyOf(refund)).toMatchObject({ status: 'open' });
  });

  it('returns a succeeded refund: it fails, and the payment can be refunded again', async () => {
    const payment = await createPayment(engine);
    const refund = idOf(await post(`/v1/refunds/payment/${payment}`, { amount: 4_000 }));
    await Promise.all([report(refund, DECLINED), report(refund, DECLINED)]);
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({
      status: 'failed',
      failure_code: 'returned_by_bank',
    });
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 0 });
    expect(await typesOf(refund)).toEqual(['refund.created', 'refund.succeeded', 'refund.failed']);
    expect(await discrepanciesOf(refund)).toEqual([]);
    const again = await post(`/v1/refunds/payment/${payment}`);
    expect(again.body).toMatchObject({ status: 'succeeded', amount: 10_000 });

    // The payment has nothing left that this refund could have refunded.
    await report(refund, PAID);
    const answer = await apply((await discrepancyOf(refund)).id);
    expect(answer.body).toMatchObject({ code: 'refund_amount_exceeds_refundable' });
  });

  it('is asked again if its refusal of a refund arrives after the success was recorded', async () => {
    const payment = await createPayment(engine);
    const answers: ((outcome: ProviderOutcome) => void)[] = [];
    jest
      .spyOn(sandbox, 'refund')
      .mockImplementationOnce(() => new Promise((answer) => answers.push(answer)));
    const requested = post(`/v1/refunds/payment/${payment}`, { amount: 4_000 }).then(idOf);
    await until('the provider is called', () => answers.length === 1);
    engine.clock.advanceMs(150_000);
    const worker = engine.app.get(DueRefunds);
    await worker.runDue();
    await worker.idle();
    answers[0]?.(DECLINED);
    const refund = await requested;
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({ status: 'succeeded' });
    expect(await typesOf(refund)).toEqual(['refund.created', 'refund.succeeded']);
    expect(await discrepanciesOf(refund)).toEqual([]);
  });

  it.each([
    ['it does not answer again', { kind: 'unknown' }],
    ['its next answer cannot be stored', { kind: 'succeeded', reference: '\0' }],
  ] as const)('is recorded if its success arrives after a failure, and %s', async (_, next) => {
    const payment = await createPayment(engine);
    const answers: ((outcome: ProviderOutcome) => void)[] = [];
    jest
      .spyOn(sandbox, 'refund')
      .mockImplementationOnce(() => new Promise((answer) => answers.push(answer)))
      .mockResolvedValueOnce(DECLINED)
      .mockResolvedValueOnce(next);
    const requested = post(`/v1/refunds/payment/${payment}`, { amount: 4_000 }).then(() => null);
    await until('the provider is called', () => answers.length === 1);
    engine.clock.advanceMs(150_000);
    const worker = engine.app.get(DueRefunds);
    await worker.runDue();
    await worker.idle();
    answers[0]?.(PAID);
    await requested;
    const { data } = (await read(`/v1/refunds?payment_id=${payment}`)) as {
      data: { id: string }[];
    };
    const refund = data[0]?.id ?? '';
    expect(await read(`/v1/refunds/${refund}`)).toMatchObject({ status: 'failed' });
    expect(await discrepancyOf(refund)).toMatchObject({ status: 'open' });
  });

  it('is recorded and applied again each time a returned refund succeeds after all', async () => {
    const payment = await createPayment(engine);
    const refund = idOf(await post(`/v1/refunds/payment/${payment}`, { amount: 4_000 }));
    const postings = [
      ['refund', { customer_credit: 4_000, 'cash_clearing:sandbox': -4_000 }],
      ['void', { 'cash_clearing:sandbox': 4_000, customer_credit: -4_000 }],
    ];
    for (const times of [1, 2]) {
      await report(refund, DECLINED);
      await Promise.all([report(refund, PAID), report(refund, PAID)]);
      await report(refund, PAID);
      const found = await discrepanciesOf(refund);
      expect(found).toHaveLength(times);
      const id = found.find(({ status }) => status === 'open')?.id ?? '';
      const [one, other] = await Promise.all([apply(id), apply(id)]);
      expect([one.status, other.status]).toEqual([200, 200]);
      expect(await read(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 4_000 });
    }
    expect(await postingsOf(engine, refund)).toEqual([...postings, ...postings, postings[0]]);
    expect(await typesOf(refund)).toEqual([
      'refund.created',
      'refund.succeeded',
      ...['refund.failed', 'refund.succeeded', 'refund.failed', 'refund.succeeded'],
    ]);
  });

  it('is not recorded again after it was dismissed', async () => {
    const { refund } = await failedRefund(2_500);
    await report(refund, PAID);
    await dismiss((await discrepancyOf(refund)).id).expect(200);
    await report(refund, PAID);
    expect(await discrepancyOf(refund)).toMatchObject({ status: 'dismissed' });
  });

  it.each([
    ['a failure after a success', DECLINED, 'failed'],
    ['a second charge', { kind: 'succeeded', reference: 'pm_sandbox_ok/twice' }, 'succeeded'],
  ] as const)(
    'with %s is recorded, and dismissed once it was resolved with the provider',
    async (_, outcome, reported) => {
      const payment = await createPayment(engine);
      await report(payment, outcome);
      const { id, ...found } = await discrepancyOf(payment);
      expect(found).toMatchObject({ recorded_status: 'succeeded', reported_status: reported });
      const refused = await apply(id);
      expect([refused.status, refused.body]).toEqual([
        409,
        expect.objectContaining({ code: 'provider_discrepancy_not_applicable' }),
      ]);
      const [one, other] = await Promise.all([dismiss(id), dismiss(id)]);
      expect([one.status, other.status]).toEqual([200, 200]);
      expect(await discrepancyOf(payment)).toMatchObject({ status: 'dismissed' });
      const late = await apply(id);
      expect(late.body).toMatchObject({ code: 'invalid_transition' });
      expect(await typesOf(id)).toHaveLength(2);
      expect(await read(`/v1/payments/${payment}`)).toMatchObject({ status: 'succeeded' });
    },
  );

  it('is listed by status', async () => {
    const listed = async (status: string): Promise<readonly Discrepancy[]> =>
      ((await read(`/v1/provider-discrepancies?status=${status}`)) as { data: Discrepancy[] }).data;
    for (const status of ['open', 'applied', 'dismissed']) {
      expect(new Set((await listed(status)).map((one) => one.status))).toEqual(new Set([status]));
    }
    await engine.http.get('/v1/provider-discrepancies?status=closed').expect(400);
  });

  it('with an unknown id gives 404', async () => {
    const id = 'dscr_01h455vb4pex5vsknk084sn02q';
    for (const answer of [await apply(id), await dismiss(id)]) {
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([
        404,
        'provider_discrepancy_not_found',
      ]);
    }
  });
});
