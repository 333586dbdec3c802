import type { INestApplicationContext } from '@nestjs/common';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { captureLog, type CapturedLog } from '../support/leaks';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { invalidRequest, Refusal } from '../support/stripe/errors';
import { type OperationName } from '../support/stripe/parameters';

const HOUR_MS = 3_600_000;
const SECRET_MESSAGE = 'The account of Ada Lovelace cannot do this.';

const refusal = (code?: string, param?: string, status = 400): Refusal =>
  invalidRequest(
    SECRET_MESSAGE,
    { ...(code !== undefined && { code }), ...(param !== undefined && { param }) },
    status,
  );

/** Refusal whose only code is one that Stripe does not document. */
const withMessageCode = (message_code: string): Refusal =>
  invalidRequest(SECRET_MESSAGE, { message_code } as object);

interface Payment {
  readonly id: string;
  readonly status: string;
  readonly failure_code: string | null;
  readonly amount_refund_pending: number;
}

describe('a request that Stripe refuses', () => {
  let log: CapturedLog;
  let story: EngineWithStripe;

  beforeAll(async () => {
    log = captureLog();
    story = await startEngineWithStripe({ LOG_LEVEL: 'warn' });
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(async () => {
    await story.close();
    expect(log.text()).not.toContain(SECRET_MESSAGE);
    log.stop();
  });

  /** Refuses all requests of a kind. */
  function refuse(operation: OperationName, answer: Refusal): void {
    story.stripe.faults.decide = (asked) => (asked === operation ? answer : null);
  }

  /** Runs background work as often as there are hours. */
  async function poll(work: typeof DuePayments | typeof DueRefunds, hours: number): Promise<void> {
    for (let hour = 0; hour < hours; hour += 1) {
      story.engine.clock.advanceMs(HOUR_MS);
      await story.run(work);
    }
  }

  const linesAbout = (id: string): readonly object[] =>
    log
      .text()
      .split('\n')
      .filter((line) => line.includes(id))
      .map((line) => JSON.parse(line) as object);

  const intentsOf = (payment: string) =>
    [...story.stripe.account.paymentIntents.values()].filter(
      ({ metadata }) => metadata['payment_id'] === payment,
    );

  describe.each(['paymentIntents.create', 'paymentIntents.confirm'] as const)('at %s', (step) => {
    it.each([
      ['for a reason without a code', refusal(), 'declined'],
      ['because the method is not available', refusal('payment_method_not_available'), 'declined'],
      ['because of the provider', refusal('payment_method_provider_decline'), 'declined'],
      ['because of a timeout', refusal('payment_method_provider_timeout'), 'declined'],
      ['because of a parameter', refusal('parameter_missing', 'return_url'), 'declined'],
      ['because of the bank account', refusal('bank_account_unusable'), 'method_unusable'],
    ])('%s fails, and moves no money', async (_, answer, failure_code) => {
      const { customer } = await story.customerWith('pm_card_visa');
      refuse(step, answer);
      const payment = await story.pay(customer);
      expect(payment).toMatchObject({ status: 'failed', failure_code });
      const open = intentsOf(payment.id).filter(({ status }) => status !== 'canceled');
      expect(open).toEqual([]);
      const { code, param } = answer.body;
      expect(linesAbout(payment.id)).toEqual([
        expect.objectContaining({
          payment_id: payment.id,
          status: 400,
          code: code ?? null,
          parameter: param ?? null,
          request_id: expect.stringMatching(/^req_/),
        }),
      ]);
    });

    it.each([
      ['the key', refusal(undefined, undefined, 401)],
      ['the permissions of the key', refusal(undefined, undefined, 403)],
      ['the mode of the key', refusal('livemode_mismatch')],
      ['a parameter that Stripe does not know', refusal('parameter_unknown', 'amount')],
      [
        'a repeated key with other parameters',
        new Refusal(400, { type: 'idempotency_error', message: SECRET_MESSAGE }),
      ],
    ])('because of %s waits, and succeeds later', async (_, answer) => {
      const { customer } = await story.customerWith('pm_card_visa');
      refuse(step, answer);
      const payment = await story.pay(customer);
      expect(payment).toMatchObject({ status: 'pending' });
      await poll(DuePayments, 5);
      expect(await story.get(`/v1/payments/${payment.id}`)).toMatchObject({ status: 'pending' });
      expect(linesAbout(payment.id).length).toBeGreaterThan(1);
      story.stripe.faults.clear();
      await poll(DuePayments, 3);
      expect(await story.get(`/v1/payments/${payment.id}`)).toMatchObject({ status: 'succeeded' });
      const paid = intentsOf(payment.id).filter(({ status }) => status === 'succeeded');
      expect(paid).toHaveLength(1);
    });
  });

  it('as automatic charge is followed by the next attempt', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const lines = [{ description: 'Work', amount: 1_000 }];
    const body = { customer_id: customer, currency: 'USD', collection: 'automatic', lines };
    const { id } = await story.post('/v1/invoices', body);
    await story.engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    const collect = async () => {
      const due = (story.engine.app as INestApplicationContext).get(DueCollections);
      await due.runDue();
      await due.idle();
    };
    refuse('paymentIntents.confirm', refusal('payment_intent_payment_attempt_failed'));
    await collect();
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(25 * HOUR_MS);
    await collect();
    const { data } = await story.get<{ data: Payment[] }>(`/v1/payments?invoice_id=${id}`);
    expect(data).toMatchObject([
      { status: 'succeeded' },
      { status: 'failed', failure_code: 'declined' },
    ]);
  });

  it('because a prepared charge has no payment method any more fails', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    refuse('paymentIntents.confirm', refusal(undefined, undefined, 401));
    const { id } = await story.pay(customer);
    story.stripe.faults.clear();
    const [intent] = intentsOf(id);
    Object.assign(intent ?? {}, { payment_method: null, status: 'requires_payment_method' });
    await poll(DuePayments, 1);
    expect(await story.get(`/v1/payments/${id}`)).toMatchObject({
      status: 'failed',
      failure_code: 'declined',
    });
    expect(intentsOf(id)).toMatchObject([{ status: 'canceled' }]);
  });

  it.each([undefined, 'payment_intent_unexpected_state'])(
    'with the code %s does not fail a charge that succeeded all the same',
    async (code) => {
      const { customer } = await story.customerWith('pm_card_visa');
      story.stripe.faults.decide = (operation) => {
        if (operation !== 'paymentIntents.confirm') return null;
        const intent = [...story.stripe.account.paymentIntents.values()].at(-1);
        story.stripe.confirmInBrowser(intent?.client_secret ?? '');
        return refusal(code);
      };
      const { id } = await story.pay(customer);
      story.stripe.faults.clear();
      await poll(DuePayments, 1);
      expect(await story.get(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
      expect(intentsOf(id)).toMatchObject([{ status: 'succeeded' }]);
    },
  );

  describe('as a refund', () => {
    async function refunded(answer: Refusal): Promise<{ payment: string; refund: string }> {
      const { payment } = await story.paid();
      refuse('refunds.create', answer);
      const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount: 400 });
      return { payment, refund: id };
    }

    it.each([
      ['for a reason without a code', refusal()],
      ['because the charge cannot be refunded', refusal('charge_not_refundable')],
      ['because the charge expired', refusal('charge_expired_for_capture')],
    ])('%s fails, and reserves nothing', async (_, answer) => {
      const { payment, refund } = await refunded(answer);
      expect(await story.get(`/v1/refunds/${refund}`)).toMatchObject({
        status: 'failed',
        failure_code: 'refund_declined',
      });
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
        amount_refund_pending: 0,
        amount_refunded: 0,
      });
      expect(linesAbout(refund)).toEqual([
        expect.objectContaining({ refund_id: refund, code: answer.body.code ?? null }),
      ]);
    });

    it('does not fail a refund whose answer was lost', async () => {
      const { payment } = await story.paid();
      // The SDK sends a request again once after a reset.
      story.stripe.faults.plan('reset_after', { operation: 'refunds.create', times: 2 });
      const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount: 400 });
      refuse('refunds.create', refusal());
      await poll(DueRefunds, 1);
      expect(await story.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded' });
    });

    it.each([
      ['its code', refusal('balance_insufficient')],
      ['its other code', withMessageCode('insufficient_balance_for_refund')],
      ['a code with status 402', refusal('insufficient_funds', undefined, 402)],
    ])('because the balance is too low, by %s, is sent again', async (_, answer) => {
      const { payment, refund } = await refunded(answer);
      await poll(DueRefunds, 5);
      expect(await story.get(`/v1/refunds/${refund}`)).toMatchObject({ status: 'pending' });
      expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({
        amount_refund_pending: 400,
      });
      expect(linesAbout(refund).length).toBeGreaterThan(1);
      story.stripe.faults.clear();
      await poll(DueRefunds, 5);
      expect(await story.get(`/v1/refunds/${refund}`)).toMatchObject({ status: 'succeeded' });
      const made = [...story.stripe.account.refunds.values()];
      expect(made.filter(({ metadata }) => metadata?.['refund_id'] === refund)).toHaveLength(1);
    });
  });
});
