import type { INestApplicationContext } from '@nestjs/common';
import { AdoptPaymentWorkflow } from '../../src/modules/billing/payments/adopt-payment.workflow';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { AutomaticChargesService } from '../../src/modules/payments/collection/automatic-charges.service';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { newId } from '../../src/platform/ids';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/databases';
import { type Answer, EngineWithStripe } from '../support/stripe/engine-with-stripe';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { openTransaction } from '../support/open-transaction';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';

const MINUTE_MS = 60_000;

interface ShownInvoice {
  readonly status: string;
  readonly amount_paid: number;
}

/** A backup is restored after customers paid through Stripe: what happened there since then is known only there. */
describe('a restored backup', () => {
  let stripe: StripeDouble;
  let original: TestDatabase;
  let backup: TestDatabase;
  let engine: TestApp;
  let shop: EngineWithStripe;
  let now: Date;

  async function start(database: TestDatabase): Promise<void> {
    engine = await startTestApp({
      databaseUrl: database.url,
      environment: {
        PAYMENT_PROVIDERS: 'stripe,manual',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
      },
    });
    engine.clock.set(now.toISOString());
    shop = new EngineWithStripe(engine, stripe);
  }

  async function stop(): Promise<void> {
    now = engine.clock.now();
    await engine.close();
  }

  /** Copies the database as it is now, and goes on with the original. */
  async function makeBackup(): Promise<void> {
    await stop();
    backup = await copyTestDatabase(original.url);
    await start(original);
  }

  async function restore(): Promise<void> {
    await stop();
    await start(backup);
  }

  beforeEach(async () => {
    now = new Date('2026-03-01T09:30:00.000Z');
    stripe = await startStripeDouble({ now: () => engine.clock.now() });
    original = await createTestDatabase();
    await start(original);
  });

  afterEach(async () => {
    await engine.close();
    await stripe.close();
    await original.drop();
    await backup.drop();
    expect(stripe.server.defects).toEqual([]);
    expect(stripe.server.refused).toEqual([]);
  });

  const work = <Work>(name: new (...parts: never[]) => Work): Work =>
    (engine.app as INestApplicationContext).get<Work>(name);

  async function collect(): Promise<void> {
    await work(DueCollections).runDue();
    await work(DueCollections).idle();
  }

  const listEvents = () => work(MissedProviderEvents).runDue();

  /** Applies stored events until none is due. */
  async function applyEvents(): Promise<void> {
    for (;;) {
      const due = await engine.database.query(
        'SELECT id FROM provider_event WHERE due_at <= $1 LIMIT 1',
        [engine.clock.now()],
      );
      if (due.length === 0) return;
      await shop.run(DueProviderEvents);
    }
  }

  async function invoiceOf(customer: string, amount = 1_000, currency = 'USD'): Promise<string> {
    const lines = [{ description: 'Work', amount }];
    const draft = { customer_id: customer, currency, lines, collection: 'automatic' };
    const { id } = await shop.post('/v1/invoices', draft);
    await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    return id;
  }

  const invoice = (id: string) => shop.get<ShownInvoice>(`/v1/invoices/${id}`);
  const payment = (id: string) => shop.get(`/v1/payments/${id}`);

  const succeeded = () =>
    [...stripe.account.paymentIntents.values()].filter(({ status }) => status === 'succeeded');

  /** Sets up a debit of a customer, as the customer's browser does; returns its token. */
  async function debitAtStripe(customer: string, token: string): Promise<unknown> {
    const [row] = await engine.database.query<{ reference: string }>(
      'SELECT reference FROM provider_customer WHERE customer_id = $1',
      [customer],
    );
    const setup = await stripe.client().setupIntents.create({
      customer: row?.reference ?? '',
      payment_method: token,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
      mandate_data: {
        customer_acceptance: {
          type: 'online',
          online: { ip_address: '127.0.0.1', user_agent: 'browser' },
        },
      },
    });
    return setup.payment_method;
  }

  async function isVerified(): Promise<void> {
    expect(await shop.get('/v1/ledger/verify')).toMatchObject({ ok: true });
  }

  async function creditOf(customer: string): Promise<number> {
    const [row] = await engine.database.query<{ credit: string }>(
      'SELECT coalesce(sum(remaining), 0)::text AS credit FROM credit_grant WHERE customer_id = $1',
      [customer],
    );
    return Number(row?.credit);
  }

  it.each([
    ['a minute', MINUTE_MS],
    ['two days', 2 * 1_440 * MINUTE_MS],
  ])('of %s ago does not charge an invoice again that was paid since', async (_, age) => {
    const { customer } = await shop.customerWith('pm_card_visa');
    await listEvents();
    const id = await invoiceOf(customer);
    await makeBackup();
    await collect();
    expect(await invoice(id)).toMatchObject({ status: 'paid' });
    const [charged] = succeeded();
    engine.clock.advanceMs(age);

    await restore();
    expect(await invoice(id)).toMatchObject({ status: 'open' });
    await collect();
    expect(succeeded()).toHaveLength(1);
    await listEvents();
    await collect();
    expect(succeeded()).toHaveLength(1);
    await applyEvents();
    expect(await invoice(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
    const adopted = await payment(charged?.metadata['payment_id'] ?? '');
    expect(adopted).toMatchObject({ status: 'succeeded', invoice_id: id, amount: 1_000 });
    engine.clock.advanceMs(MINUTE_MS);
    await collect();
    expect(succeeded()).toHaveLength(1);
    await isVerified();

    const other = await invoiceOf(customer);
    await collect();
    expect(await invoice(other)).toMatchObject({ status: 'paid' });
  });

  it('renews with the credit of payments that it adopted, and charges no period again', async () => {
    const { customer } = await shop.customerWith('pm_card_visa');
    await listEvents();
    const plan = await shop.post('/v1/plans', {
      code: 'weekly',
      name: 'Weekly',
      currency: 'USD',
      interval: 'week',
      prices: [{ name: 'Fee', model: 'flat', timing: 'in_advance', amount: 1_000 }],
    });
    await shop.post('/v1/subscriptions', { customer_id: customer, plan_id: plan.id });
    await collect();
    await makeBackup();
    engine.clock.advanceMs(8 * 1_440 * MINUTE_MS);
    await listEvents();
    await applyEvents();
    await work(DueSubscriptions).runDue();
    await collect();
    expect(succeeded()).toHaveLength(2);

    await restore();
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(true);
    engine.clock.advanceMs(MINUTE_MS);
    await listEvents();
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(true);
    await applyEvents();
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(false);
    expect(await creditOf(customer)).toBe(1_000);
    await work(DueSubscriptions).runDue();
    await collect();
    const { data } = await shop.get<{ data: readonly ShownInvoice[] }>('/v1/invoices');
    expect(data.map(({ status }) => status)).toEqual(['paid', 'paid']);
    expect(succeeded()).toHaveLength(2);
    expect(await creditOf(customer)).toBe(0);
    await isVerified();
  });

  it('renews after a quarter of an hour if the provider lists no events', async () => {
    await listEvents();
    await makeBackup();
    engine.clock.advanceMs(MINUTE_MS);
    await restore();
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(true);
    engine.clock.advanceMs(15 * MINUTE_MS);
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(false);
  });

  it('adopts payments of invoices that it does not have as credit, and refunds with their ids', async () => {
    const { customer } = await shop.customerWith('pm_card_visa');
    await listEvents();
    const { customer: other } = await shop.customerWith('pm_card_visa');
    const earlier = await shop.pay(customer);
    await makeBackup();
    const lostInvoice = await invoiceOf(other, 700);
    await collect();
    const refund = await shop.post(`/v1/refunds/payment/${earlier.id}`, { amount: 250 });
    const later = await shop.pay(customer, { amount: 300 });
    const ofLater = await shop.post(`/v1/refunds/payment/${later.id}`, { amount: 100 });

    await restore();
    expect((await engine.http.get(`/v1/invoices/${lostInvoice}`)).status).toBe(404);
    engine.clock.advanceMs(MINUTE_MS);
    await listEvents();
    await applyEvents();
    const paid = await shop.get<{ data: readonly Answer[] }>(`/v1/payments?limit=10`);
    expect(paid.data.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(await payment(earlier.id)).toMatchObject({ amount_refunded: 250 });
    expect(await payment(later.id)).toMatchObject({ amount: 300, amount_refunded: 100 });
    for (const { id } of [refund, ofLater]) {
      expect(await shop.get(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded' });
    }
    expect(await creditOf(customer)).toBe(1_000 + 300 - 250 - 100);
    expect(await creditOf(other)).toBe(700);
    await isVerified();
    // A second look changes nothing.
    await engine.database.query('UPDATE provider_event SET due_at = received_at');
    await applyEvents();
    expect(await creditOf(customer)).toBe(950);
    expect(await creditOf(other)).toBe(700);
  });

  it('adopts a payment once if several notifications about it are applied at the same time', async () => {
    const { customer } = await shop.customerWith('pm_card_visa');
    await listEvents();
    await makeBackup();
    const { id } = await shop.pay(customer);
    const [charged] = succeeded();
    await restore();
    const adopt = () => work(AdoptPaymentWorkflow).adopt('stripe', charged?.id ?? '');
    // Both wait here before they write.
    const commit = await openTransaction(engine.database, () =>
      engine.database.query('SELECT FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customer]),
    );
    const both = Promise.all([adopt(), adopt()]);
    await untilSessionsWait(engine.database, 2);
    await commit();
    expect(await both).toEqual([true, true]);
    expect(await payment(id)).toMatchObject({ status: 'succeeded' });
    expect(await creditOf(customer)).toBe(1_000);
    await isVerified();
  });

  it('waits for a debit that began since, instead of charging its invoice again', async () => {
    const { customer } = await shop.customerWith('pm_card_visa');
    const token = await debitAtStripe(customer, 'pm_successDelayed_de');
    const method = { provider: 'stripe', token, is_default: true };
    await shop.post(`/v1/customers/${customer}/payment-methods`, method);
    await listEvents();
    const id = await invoiceOf(customer, 1_000, 'EUR');
    await makeBackup();
    await collect();

    await restore();
    engine.clock.advanceMs(MINUTE_MS);
    await listEvents();
    await applyEvents();
    await collect();
    engine.clock.advanceMs(MINUTE_MS);
    await collect();
    expect(stripe.account.paymentIntents.size).toBe(1);
    const [made] = [...stripe.account.paymentIntents.values()];
    const adopted = made?.metadata['payment_id'] ?? '';
    expect(await payment(adopted)).toMatchObject({ status: 'processing', invoice_id: id });
  });

  describe('of a charge whose invoice needs less by then', () => {
    let customer: string;
    let id: string;
    let charged: string;

    /** Reads the events, and applies those about the charge that the backup does not know. */
    async function adopt(): Promise<void> {
      engine.clock.advanceMs(MINUTE_MS);
      await listEvents();
      await engine.database.query('DELETE FROM provider_event WHERE subject_id <> $1', [charged]);
      await applyEvents();
    }

    /** Makes a backup with a payment in progress, which fails afterwards; another one succeeds instead. */
    async function backUpInProgress(token: string, currency = 'USD'): Promise<string> {
      ({ customer } = await shop.customerWith('pm_card_visa'));
      await listEvents();
      id = await invoiceOf(customer, 1_000, currency);
      const guarded = await shop.post(`/v1/customers/${customer}/payment-methods`, {
        provider: 'stripe',
        token: 'pm_card_threeDSecure2Required',
      });
      const waiting = await shop.post(`/v1/invoices/${id}/pay`, {
        payment_method_id: guarded.id,
        provider: 'stripe',
      });
      expect(waiting.status).toBe('requires_action');
      await makeBackup();
      await stripe.client().paymentIntents.cancel(shop.intentOf(waiting.id));
      engine.clock.advanceMs(MINUTE_MS);
      await listEvents();
      await applyEvents();
      expect(await payment(waiting.id)).toMatchObject({ status: 'canceled' });
      const method = await methodOf(token);
      charged = (await shop.post(`/v1/invoices/${id}/pay`, method)).id;
      return waiting.id;
    }

    async function methodOf(token: string): Promise<object> {
      if (!token.includes('Delayed')) return {};
      const debit = { provider: 'stripe', token: await debitAtStripe(customer, token) };
      const { id: methodId } = await shop.post(`/v1/customers/${customer}/payment-methods`, debit);
      return { provider: 'stripe', payment_method_id: methodId };
    }

    it('pays what is left, and the rest is credit', async () => {
      ({ customer } = await shop.customerWith('pm_card_visa'));
      await listEvents();
      id = await invoiceOf(customer);
      await makeBackup();
      charged = (await shop.post(`/v1/invoices/${id}/pay`)).id;

      await restore();
      const cash = { customer_id: customer, invoice_id: id, amount: 400, currency: 'USD' };
      await shop.post('/v1/payments', { ...cash, provider: 'manual' });
      await adopt();
      expect(await payment(charged)).toMatchObject({ status: 'succeeded', invoice_id: id });
      expect(await invoice(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
      expect(await creditOf(customer)).toBe(400);
      await isVerified();
    });

    it('pays it although another payment in progress reserves it, and charges nothing when that fails', async () => {
      const waiting = await backUpInProgress('pm_card_visa');
      await restore();
      await adopt();
      expect(await payment(waiting)).toMatchObject({ status: 'requires_action' });
      expect(await payment(charged)).toMatchObject({ status: 'succeeded', invoice_id: id });
      expect(await invoice(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
      expect(await creditOf(customer)).toBe(0);
      await isVerified();

      engine.clock.advanceMs(1_440 * MINUTE_MS);
      await shop.run(DuePayments);
      expect(await payment(waiting)).toMatchObject({ status: 'canceled' });
      await listEvents();
      await applyEvents();
      await collect();
      expect(succeeded()).toHaveLength(1);
      expect(await invoice(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
      await isVerified();
    });

    it('waits for a debit although another payment in progress reserves it', async () => {
      const waiting = await backUpInProgress('pm_successDelayed_de', 'EUR');
      await restore();
      await adopt();
      expect(await payment(charged)).toMatchObject({ status: 'processing', invoice_id: id });
      await isVerified();
      engine.clock.advanceMs(10 * MINUTE_MS);
      await shop.run(DuePayments);
      expect(await payment(waiting)).toMatchObject({ status: 'canceled' });
      await collect();
      expect(await invoice(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
      await isVerified();
    });
  });

  it('leaves charges of customers alone that it does not have', async () => {
    await listEvents();
    await makeBackup();
    const { customer } = await shop.customerWith('pm_card_visa');
    await shop.pay(customer);

    await restore();
    engine.clock.advanceMs(MINUTE_MS);
    await listEvents();
    expect(await engine.database.query('SELECT id FROM provider_event')).not.toEqual([]);
    await applyEvents();
    expect(await engine.database.query('SELECT id FROM payment')).toEqual([]);
    await isVerified();
  });

  it('and a refund that may never be recorded do not stop charges', async () => {
    const { customer } = await shop.customerWith('pm_card_chargeCustomerFail');
    const { customer: other } = await shop.customerWith('pm_card_visa');
    await listEvents();
    const failed = await shop.pay(customer);
    stripe.succeedLate(shop.intentOf(failed.id));
    await stripe.client().refunds.create({ payment_intent: shop.intentOf(failed.id) });
    engine.clock.advanceMs(2 * MINUTE_MS);
    await listEvents();
    await applyEvents();
    const { data } = await shop.get<{ data: readonly Answer[] }>('/v1/provider-discrepancies');
    const dismiss = `/v1/provider-discrepancies/${data[0]?.id ?? ''}/dismiss`;
    await engine.http.post(dismiss).send({}).expect(200);
    await makeBackup();
    engine.clock.advanceMs(MINUTE_MS);
    await restore();
    const id = await invoiceOf(other);
    await collect();
    expect(await invoice(id)).toMatchObject({ status: 'open' });
    await listEvents();
    await applyEvents();
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(false);
    engine.clock.advanceMs(MINUTE_MS);
    await collect();
    expect(await invoice(id)).toMatchObject({ status: 'paid' });
    await isVerified();
  });

  it('does not stop charges because of charges that cannot be adopted', async () => {
    const { customer, method } = await shop.customerWith('pm_card_visa');
    const { customer: other } = await shop.customerWith('pm_card_visa');
    const { customer: deleted } = await shop.customerWith('pm_card_visa');
    await engine.http.delete(`/v1/customers/${deleted}`).expect(204);
    const clock = await shop.post('/v1/test-clocks', { name: 'Failed', now: now.toISOString() });
    const { customer: clocked } = await shop.customerWith('pm_card_visa', {
      test_clock_id: clock.id,
    });
    await engine.database.query(
      `UPDATE test_clock SET status = 'failed', target_at = instant WHERE id = $1`,
      [clock.id],
    );
    await shop.pay(customer);
    await listEvents();
    await makeBackup();
    const payments: string[] = [];
    for (const [customer_id, currency] of [
      [customer, 'eur'],
      [deleted, 'usd'],
      [clocked, 'usd'],
    ] as const) {
      const payment_id = newId('pay');
      await stripe.client().paymentIntents.create({
        amount: 700,
        currency,
        customer: stripe.account.paymentMethods.get(method.token)?.customer as string,
        payment_method: method.token,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        confirm: true,
        metadata: { environment: 'live', payment_id, customer_id },
      });
      payments.push(payment_id);
    }
    engine.clock.advanceMs(MINUTE_MS);
    await restore();
    const id = await invoiceOf(other);
    await listEvents();
    await applyEvents();
    expect(
      await engine.database.query('SELECT subject_id FROM provider_event WHERE due_at IS NOT NULL'),
    ).toEqual([]);
    expect(await work(AutomaticChargesService).mustRenewalsWait()).toBe(false);
    await collect();
    expect(await invoice(id)).toMatchObject({ status: 'paid' });
    for (const missing of payments) {
      expect((await engine.http.get(`/v1/payments/${missing}`)).status).toBe(404);
    }
    await isVerified();
  });

  /** Polls with `polls` once a minute until the status at `path` is `wanted`. */
  async function pollUntil(
    wanted: string,
    path: string,
    polls: typeof DuePayments | typeof DueRefunds,
  ): Promise<void> {
    for (let minute = 0; minute < 180; minute += 1) {
      if ((await shop.get(path)).status === wanted) return;
      engine.clock.advanceMs(MINUTE_MS);
      await shop.run(polls);
    }
    throw new Error(`${path} is not ${wanted}`);
  }

  /**
   * Pays through Stripe, which refuses the requests until the third poll; makes a backup before the first poll. Returns
   * the id of the payment.
   */
  async function payWithThirdPoll(token: string, status: string): Promise<string> {
    const { customer } = await shop.customerWith(token);
    await listEvents();
    stripe.faults.plan('rate_limited', { operation: 'paymentIntents.create', times: 3 });
    const made = await shop.pay(customer);
    expect(made.status).toBe('pending');
    await makeBackup();
    await pollUntil(status, `/v1/payments/${made.id}`, DuePayments);
    return made.id;
  }

  it.each([
    ['pm_card_visa', 'succeeded'],
    ['pm_card_chargeCustomerFail', 'failed'],
  ])('finds the charge of a pending payment with %s that has %s since', async (token, status) => {
    const id = await payWithThirdPoll(token, status);
    await restore();
    await pollUntil(status, `/v1/payments/${id}`, DuePayments);
    expect(stripe.account.paymentIntents.size).toBe(1);
    await isVerified();
  });

  it.each([
    ['pm_card_visa', 'succeeded'],
    ['pm_card_chargeCustomerFail', 'failed'],
  ])('settles a pending payment with %s if an event reports that it %s', async (token, status) => {
    const id = await payWithThirdPoll(token, status);
    await restore();
    await listEvents();
    await applyEvents();
    expect(await payment(id)).toMatchObject({ status });
    expect(stripe.account.paymentIntents.size).toBe(1);
    await isVerified();
  });

  it('does not charge a pending payment again when an event reports a charge that is not found', async () => {
    const id = await payWithThirdPoll('pm_card_visa', 'succeeded');
    const [charged] = succeeded();
    await restore();
    await listEvents();
    if (charged !== undefined) charged.metadata = {};
    await applyEvents();
    expect(await payment(id)).toMatchObject({ status: 'pending' });
    expect(stripe.account.paymentIntents.size).toBe(1);
  });

  it('finds a pending refund that was sent with another key since', async () => {
    const { customer } = await shop.customerWith('pm_card_visa');
    const { id: refunded } = await shop.pay(customer);
    stripe.faults.plan('rate_limited', { operation: 'refunds.create', times: 3 });
    const { id, status } = await shop.post(`/v1/refunds/payment/${refunded}`, { amount: 400 });
    expect(status).toBe('pending');
    await makeBackup();
    await pollUntil('succeeded', `/v1/refunds/${id}`, DueRefunds);
    await restore();
    await pollUntil('succeeded', `/v1/refunds/${id}`, DueRefunds);
    expect([...stripe.account.refunds.values()]).toHaveLength(1);
    await isVerified();
  });

  it('reads a long list of events page by page, and goes on after the last page that it stored', async () => {
    await listEvents();
    await makeBackup();
    const count = async (): Promise<number> =>
      (await engine.database.query('SELECT id FROM provider_event')).length;
    for (let number = 0; number < 120; number += 1) {
      const metadata = { environment: 'default', payment_id: newId('pay') };
      stripe.account.record('payment_intent.succeeded', { id: `pi_${number}`, metadata });
    }
    engine.clock.advanceMs(2 * MINUTE_MS);
    let requests = 0;
    stripe.faults.decide = () => {
      requests += 1;
      return requests === 2 ? 'error_500_before' : null;
    };
    await listEvents();
    expect(await count()).toBe(100);
    engine.clock.advanceMs(2 * MINUTE_MS);
    await listEvents();
    expect(await count()).toBe(120);
    expect(requests).toBe(3);
  });
});
