import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { AbandonedWork } from '../../src/platform/processes';
import { DueDetachments } from '../../src/modules/payments/methods/due-detachments';
import { loseNumber } from '../support/process-sessions';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { type OperationName } from '../support/stripe/parameters';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;

interface Payment {
  readonly id: string;
  readonly status: string;
  readonly failure_code: string | null;
}

/** The charge did not arrive, or is prepared and its confirmation did not arrive. */
const STEPS = [
  'paymentIntents.create',
  'paymentIntents.confirm',
] as const satisfies OperationName[];

describe('a charge that Stripe did not execute', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(() => story.close());

  const command = (path: string, body: object = {}) =>
    story.engine.http.post(path).send(body).expect(200);

  const deleteCustomer = (customer: string) =>
    story.engine.http.delete(`/v1/customers/${customer}`).expect(204);

  const deleteMethod = (customer: string, method: string) =>
    story.engine.http.delete(`/v1/customers/${customer}/payment-methods/${method}`).expect(204);

  async function collect(): Promise<void> {
    const due = story.engine.app.get(DueCollections);
    await due.runDue();
    await due.idle();
  }

  async function chargesOf(invoice: string): Promise<readonly Payment[]> {
    return (await story.get<{ data: Payment[] }>(`/v1/payments?invoice_id=${invoice}`)).data;
  }

  /** Charges an open invoice while Stripe refuses all requests of this kind. */
  async function notExecuted(step: OperationName, collection: 'send_invoice' | 'automatic') {
    const { customer, method } = await story.customerWith('pm_card_visa');
    const lines = [{ description: 'Work', amount: 1_000 }];
    const body = { customer_id: customer, currency: 'USD', collection, lines };
    const { id: invoice } = await story.post('/v1/invoices', body);
    await command(`/v1/invoices/${invoice}/finalize`);
    story.stripe.faults.decide = (operation) => (operation === step ? 'rate_limited' : null);
    if (collection === 'send_invoice') await story.post(`/v1/invoices/${invoice}/pay`);
    else await collect();
    const [payment, ...more] = await chargesOf(invoice);
    expect([payment?.status, more]).toEqual(['pending', []]);
    return { customer, method, invoice };
  }

  async function credit(invoice: string, amount: number): Promise<void> {
    const { lines } = await story.get<{ lines: { id: string }[] }>(`/v1/invoices/${invoice}`);
    await story.post('/v1/credit-notes', {
      invoice_id: invoice,
      lines: [{ invoice_line_id: lines[0]?.id, amount }],
      reason: 'Not delivered',
      settle: 'credit',
    });
  }

  /** Polls until the payment has ended, with Stripe answering again. */
  async function ended(invoice: string): Promise<Payment | undefined> {
    story.stripe.faults.clear();
    for (let polls = 0; polls < 10; polls += 1) {
      story.engine.clock.advanceMs(HOUR_MS);
      await story.run(DuePayments);
      const [payment] = await chargesOf(invoice);
      if (payment?.status !== 'pending' && payment?.status !== 'processing') return payment;
    }
    throw new Error(`The payment of ${invoice} has no final outcome.`);
  }

  /** Ends the leases of the process, as if it had died. The process goes on with its requests to Stripe. */
  async function loseLeases(): Promise<void> {
    await loseNumber(story.engine);
    await until('no payment has a lease', async () => {
      await story.engine.app.get(AbandonedWork).runDue();
      const leased = 'SELECT FROM payment WHERE leased_by IS NOT NULL';
      return (await story.engine.database.query(leased)).length === 0;
    });
  }

  const untilHanging = (count: number) =>
    until(`${count} requests hang`, () => story.stripe.faults.hanging === count);

  /**
   * Begins the automatic charge of an invoice. The request that prepares the charge hangs, and the process loses its
   * leases. The client gives the request up after 12 s of real time.
   */
  async function beginHanging() {
    story.stripe.webhooks.fate = () => 'lose';
    const { customer, method } = await story.customerWith('pm_card_visa');
    const added = { provider: 'stripe', token: 'pm_card_mastercard' };
    const { id: other } = await story.post(`/v1/customers/${customer}/payment-methods`, added);
    const lines = [{ description: 'Work', amount: 1_000 }];
    const body = { customer_id: customer, currency: 'USD', collection: 'automatic', lines };
    const { id: invoice } = await story.post('/v1/invoices', body);
    await command(`/v1/invoices/${invoice}/finalize`);
    story.stripe.faults.plan('hang_before', { operation: 'paymentIntents.create' });
    await story.engine.app.get(DueCollections).runDue();
    await untilHanging(1);
    await loseLeases();
    return { customer, method, invoice, other };
  }

  type Begun = Awaited<ReturnType<typeof beginHanging>>;

  /** Ends all work, makes the other card the default, and expects that the invoice was paid once. */
  async function expectPaidOnce({ customer, other, invoice }: Begun): Promise<void> {
    await story.engine.app.get(DueCollections).idle();
    const path = `/v1/customers/${customer}/payment-methods/${other}`;
    await story.engine.http.patch(path).send({ is_default: true }).expect(200);
    await collect();
    story.engine.clock.advanceMs(HOUR_MS);
    await story.run(DuePayments);
    const succeeded = openIntents(invoice).filter(({ status }) => status === 'succeeded');
    expect(succeeded).toHaveLength(1);
    expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({ status: 'paid' });
    const { data } = await story.get<{ data: object[] }>('/v1/provider-discrepancies');
    expect(data).toEqual([]);
  }

  const openIntents = (invoice: string) =>
    [...story.stripe.account.paymentIntents.values()].filter(
      ({ metadata, status }) => metadata['invoice_id'] === invoice && status !== 'canceled',
    );

  describe.each(STEPS)('because of a rate limit at %s', (step) => {
    it('is canceled if its customer was erased', async () => {
      const { customer, method, invoice } = await notExecuted(step, 'send_invoice');
      await command(`/v1/invoices/${invoice}/void`);
      await deleteMethod(customer, method.id);
      await deleteCustomer(customer);
      expect(await ended(invoice)).toMatchObject({ status: 'canceled', failure_code: null });
      expect(openIntents(invoice)).toEqual([]);
      await story.run(DueDetachments);
      story.engine.clock.advanceMs(HOUR_MS);
      await story.run(DueDetachments);
      expect(story.stripe.account.paymentMethods.get(method.token)?.customer).toBeNull();
    });

    it.each(['send_invoice', 'automatic'] as const)(
      'is canceled if its customer was deleted (collection: %s)',
      async (collection) => {
        const { customer, invoice } = await notExecuted(step, collection);
        await deleteCustomer(customer);
        expect(await ended(invoice)).toMatchObject({ status: 'canceled' });
        expect(openIntents(invoice)).toEqual([]);
      },
    );

    it('is canceled if its method was deleted, and another default is charged instead', async () => {
      const { customer, method, invoice } = await notExecuted(step, 'automatic');
      await deleteMethod(customer, method.id);
      const added = { provider: 'stripe', token: 'pm_card_mastercard', is_default: true };
      await story.post(`/v1/customers/${customer}/payment-methods`, added);
      expect(await ended(invoice)).toMatchObject({ status: 'canceled' });
      await collect();
      expect(await chargesOf(invoice)).toMatchObject([
        { status: 'succeeded' },
        { status: 'canceled' },
      ]);
      expect(await story.get(`/v1/invoices/${invoice}`)).toMatchObject({
        status: 'paid',
        amount_pending: 0,
      });
    });

    it('is canceled if its invoice was voided, or was credited as a whole', async () => {
      const voided = await notExecuted(step, 'send_invoice');
      await command(`/v1/invoices/${voided.invoice}/void`);
      expect(await ended(voided.invoice)).toMatchObject({ status: 'canceled' });
      const credited = await notExecuted(step, 'send_invoice');
      await credit(credited.invoice, 1_000);
      expect(await ended(credited.invoice)).toMatchObject({ status: 'canceled' });
      for (const { invoice } of [voided, credited]) {
        const { data } = await story.get<{ data: { type: string }[] }>(
          `/v1/events?object_id=${invoice}&limit=1`,
        );
        expect(data).toMatchObject([{ type: 'invoice.updated' }]);
      }
    });

    it('is canceled if it is automatic and its invoice was written off', async () => {
      const automatic = await notExecuted(step, 'automatic');
      await command(`/v1/invoices/${automatic.invoice}/mark-uncollectible`);
      expect(await ended(automatic.invoice)).toMatchObject({ status: 'canceled' });
      const requested = await notExecuted(step, 'send_invoice');
      await command(`/v1/invoices/${requested.invoice}/mark-uncollectible`);
      expect(await ended(requested.invoice)).toMatchObject({ status: 'succeeded' });
    });

    it('is made later if the invoice was credited in part', async () => {
      const { invoice } = await notExecuted(step, 'send_invoice');
      await credit(invoice, 400);
      expect(await ended(invoice)).toMatchObject({ status: 'succeeded' });
    });
  });

  describe('while a process that has lost its lease goes on with it', () => {
    /** Runs a function again if the client gave up one of its requests to Stripe, as on a slow machine. */
    async function untilAnswered<Result>(run: () => Promise<Result>): Promise<Result> {
      const { faults, server } = story.stripe;
      for (let tries = 1; ; tries += 1) {
        const { length } = server.requests;
        const isAnswered = () => server.requests.slice(length).every(({ status }) => status !== 0);
        try {
          const result = await run();
          if (isAnswered()) return result;
          throw new Error('The client gave up a request.');
        } catch (error) {
          story.reset();
          faults.release();
          for (const work of [DueCollections, DuePayments]) await story.engine.app.get(work).idle();
          if (tries === 3 || isAnswered()) throw error;
        }
      }
    }

    async function storedBefore(): Promise<void> {
      const { faults } = story.stripe;
      const begun = await beginHanging();
      await deleteMethod(begun.customer, begun.method.id);
      faults.plan('answer_held', { operation: 'paymentIntents.list', skip: 1 });
      faults.plan('answer_held', { operation: 'paymentIntents.confirm' });
      const poll = story.run(DuePayments);
      await untilHanging(2);
      faults.release(1);
      await untilHanging(2);
      faults.release(1);
      await poll;
      faults.release();
      await expectPaidOnce(begun);
      expect(await chargesOf(begun.invoice)).toMatchObject([{ status: 'succeeded' }]);
    }

    it('is not canceled after its reference was stored, although its method was deleted', () =>
      untilAnswered(storedBefore));

    /** Returns the status of the refusal; 0 if the client gave its request up before. */
    async function refusedLate(): Promise<number | undefined> {
      const { faults, server } = story.stripe;
      const { length } = server.requests;
      const begun = await beginHanging();
      const { customer, method, invoice } = begun;
      const request = server.requests
        .slice(length)
        .find(({ operation }) => operation === 'paymentIntents.create');
      story.engine.clock.advanceMs(24 * HOUR_MS);
      faults.plan('answer_held', { operation: 'paymentIntents.confirm' });
      const poll = story.run(DuePayments);
      await untilHanging(2);
      await story.stripe.client().paymentMethods.detach(method.token);
      faults.release(1);
      await story.engine.app.get(DueCollections).idle();
      expect(await chargesOf(invoice)).toMatchObject([{ status: 'processing' }]);
      faults.release();
      await poll;
      await expectPaidOnce(begun);
      expect(await chargesOf(invoice)).toMatchObject([{ status: 'succeeded' }]);
      const path = `/v1/customers/${customer}/payment-methods/${method.id}`;
      expect(await story.get(path)).toMatchObject({ unusable_since: null });
      return request?.status;
    }

    it('does not fail if Stripe refuses to prepare it while another one is confirmed', async () => {
      expect(await untilAnswered(refusedLate)).toBe(400);
    });

    async function canceledBefore(): Promise<void> {
      const begun = await beginHanging();
      const { customer, method, invoice } = begun;
      await deleteMethod(customer, method.id);
      await story.run(DuePayments);
      expect(await chargesOf(invoice)).toMatchObject([{ status: 'canceled' }]);
      story.stripe.faults.release();
      await expectPaidOnce(begun);
      expect(await chargesOf(invoice)).toMatchObject([
        { status: 'succeeded' },
        { status: 'canceled' },
      ]);
      const statuses = openIntents(invoice).map(({ status }) => status);
      expect(statuses.sort()).toEqual(['requires_confirmation', 'succeeded']);
    }

    it('is not confirmed once it is canceled', () => untilAnswered(canceledBefore));
  });
});
