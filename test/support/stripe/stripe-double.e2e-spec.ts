import type Stripe from 'stripe';
import { idOf } from './fields';
import { customerWith, paid, prepared, refused } from './sdk-requests';
import { startStripeDouble, type StripeDouble } from './stripe-double';
import { declined } from './test-methods';

let double: StripeDouble;
let stripe: Stripe;
let now: Date;

beforeEach(async () => {
  now = new Date('2026-03-01T09:30:00Z');
  double = await startStripeDouble({ now: () => now });
  stripe = double.client({ timeout: 2_000 });
});

afterEach(async () => {
  await double.close();
  expect(double.server.defects).toEqual([]);
});

function eventTypes(): string[] {
  return [...double.account.events.values()].map(({ type }) => type);
}

describe('customers and payment methods', () => {
  it('attaches a card by its test token and shows brand, last four digits and expiry', async () => {
    const { customer, method } = await customerWith(stripe, 'pm_card_visa');
    const found = await stripe.paymentMethods.retrieve(method);
    expect(found).toMatchObject({
      type: 'card',
      customer,
      card: { brand: 'visa', last4: '4242', exp_month: 3, exp_year: 2027 },
    });
    expect((await stripe.customers.listPaymentMethods(customer)).data).toHaveLength(1);
    expect((await stripe.paymentMethods.list({ customer })).data).toHaveLength(1);
  });

  it('refuses to attach a card that is always declined', async () => {
    const error = await refused(
      customerWith(stripe, 'pm_card_visa_chargeDeclinedInsufficientFunds'),
    );
    expect(error).toMatchObject({
      statusCode: 402,
      type: 'StripeCardError',
      code: 'card_declined',
      decline_code: 'insufficient_funds',
    });
  });

  it('never lets a detached card be used again', async () => {
    const { customer, method } = await customerWith(stripe, 'pm_card_visa');
    await stripe.customers.update(customer, {
      invoice_settings: { default_payment_method: method },
    });
    expect((await stripe.paymentMethods.detach(method)).customer).toBeNull();
    const changed = await stripe.customers.retrieve(customer);
    expect(changed).toMatchObject({ invoice_settings: { default_payment_method: null } });
    expect(await refused(stripe.paymentMethods.attach(method, { customer }))).toMatchObject({
      statusCode: 400,
    });
    expect(
      await refused(
        stripe.paymentIntents.create({
          amount: 100,
          currency: 'usd',
          customer,
          payment_method: method,
        }),
      ),
    ).toMatchObject({ statusCode: 400, param: 'payment_method' });
  });

  it('merges metadata, unsets with an empty text, and shows a deleted customer as deleted', async () => {
    const { id } = await stripe.customers.create({ name: 'Grace', metadata: { a: '1', b: '2' } });
    const changed = await stripe.customers.update(id, { name: '', metadata: { a: '', c: 3 } });
    expect(changed).toMatchObject({ name: null, metadata: { b: '2', c: '3' } });
    expect(await stripe.customers.del(id)).toMatchObject({ deleted: true });
    expect(await stripe.customers.retrieve(id)).toMatchObject({ deleted: true });
    expect(await refused(stripe.customers.update(id, { name: 'x' }))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
  });
});

describe('payment intents', () => {
  it('moves no money before it is confirmed, and once only afterwards', async () => {
    const intent = await prepared(stripe, 'pm_card_visa');
    expect(intent.status).toBe('requires_confirmation');
    expect(double.account.charges.size).toBe(0);
    const confirmed = await stripe.paymentIntents.confirm(intent.id, {
      off_session: true,
      expand: ['latest_charge'],
    });
    expect(confirmed).toMatchObject({
      status: 'succeeded',
      amount_received: 2900,
      latest_charge: { paid: true, balance_transaction: null },
    });
    const again = await refused(stripe.paymentIntents.confirm(intent.id, { off_session: true }));
    expect(again).toMatchObject({
      statusCode: 400,
      code: 'payment_intent_unexpected_state',
      payment_intent: { status: 'succeeded' },
    });
    expect(double.account.charges.size).toBe(1);
    expect(eventTypes()).toEqual([
      'customer.created',
      'payment_method.attached',
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
      'charge.updated',
    ]);
  });

  it('records the movement of a charge after its answer, and within it without asynchronous capture', async () => {
    const { id } = await paid(stripe, 'pm_card_visa');
    const later = await stripe.paymentIntents.retrieve(id, {
      expand: ['latest_charge.balance_transaction'],
    });
    expect(later).toMatchObject({
      latest_charge: { balance_transaction: { amount: 2900, fee: 69, net: 2831 } },
    });
    const { customer, method } = await customerWith(stripe, 'pm_card_visa');
    const synchronous = await stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      customer,
      payment_method: method,
      capture_method: 'automatic',
      off_session: true,
      confirm: true,
      expand: ['latest_charge'],
    });
    expect(synchronous).toMatchObject({
      latest_charge: { balance_transaction: expect.stringMatching(/^txn_/) },
    });
  });

  it('answers 404 for an unknown id in the path', async () => {
    expect(await refused(stripe.paymentIntents.retrieve('pi_none'))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
    expect(await refused(stripe.refunds.retrieve('re_none'))).toMatchObject({ statusCode: 404 });
    expect(
      await refused(stripe.paymentMethods.attach('pm_none', { customer: 'cus_none' })),
    ).toMatchObject({
      statusCode: 400,
      param: 'customer',
    });
  });

  it('needs another method after a decline, and names the cause', async () => {
    const intent = await prepared(stripe, 'pm_card_chargeCustomerFail');
    const error = await refused(stripe.paymentIntents.confirm(intent.id, { off_session: true }));
    expect(error).toMatchObject({
      statusCode: 402,
      code: 'card_declined',
      decline_code: 'generic_decline',
      advice_code: 'try_again_later',
      payment_intent: { status: 'requires_payment_method', payment_method: null },
    });
    const after = await stripe.paymentIntents.retrieve(intent.id);
    expect(after.last_payment_error).toMatchObject({ decline_code: 'generic_decline' });
    const { id: good } = await stripe.paymentMethods.attach('pm_card_visa', {
      customer: intent.customer,
    });
    const confirmed = await stripe.paymentIntents.confirm(intent.id, {
      payment_method: good,
      off_session: true,
    });
    expect(confirmed).toMatchObject({ status: 'succeeded', last_payment_error: null });
  });

  it('declines an attached card as the test tells the bank to', async () => {
    const intent = await prepared(stripe, 'pm_card_visa');
    double.setBank(intent.payment_method, { charge: declined('stolen_card') });
    expect(
      await refused(stripe.paymentIntents.confirm(intent.id, { off_session: true })),
    ).toMatchObject({ decline_code: 'stolen_card', advice_code: 'do_not_try_again' });
  });

  it('can be canceled until it has succeeded', async () => {
    const intent = await prepared(stripe, 'pm_card_visa');
    const canceled = await stripe.paymentIntents.cancel(intent.id, {
      cancellation_reason: 'abandoned',
    });
    expect(canceled).toMatchObject({ status: 'canceled', canceled_at: 1772357400 });
    for (const request of [
      stripe.paymentIntents.confirm(intent.id, { off_session: true }),
      stripe.paymentIntents.cancel(intent.id),
      stripe.paymentIntents.cancel((await paid(stripe, 'pm_card_visa')).id),
    ]) {
      expect(await refused(request)).toMatchObject({ code: 'payment_intent_unexpected_state' });
    }
  });

  it('lists by customer and time, newest first, page by page', async () => {
    const { customer, method } = await customerWith(stripe, 'pm_card_visa');
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const intent = await stripe.paymentIntents.create({
        amount: 100 + index,
        currency: 'usd',
        customer,
        payment_method: method,
      });
      ids.unshift(intent.id);
      double.advanceMs(1_000);
    }
    await prepared(stripe, 'pm_card_visa');
    const pages = stripe.paymentIntents.list({ customer, limit: 2 });
    expect((await pages).has_more).toBe(true);
    const all = await pages.autoPagingToArray({ limit: 100 });
    expect(all.map(({ id }) => id)).toEqual(ids);
    const since = all[2]?.created ?? 0;
    const recent = await stripe.paymentIntents.list({ customer, created: { gte: since } });
    expect(recent.data.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const [newest, , third] = ids;
    const before = await stripe.paymentIntents.list({ customer, ending_before: third, limit: 1 });
    expect(before.data.map(({ id }) => id)).toEqual([ids[1]]);
    expect(before.has_more).toBe(true);
    const first = await stripe.paymentIntents.list({ customer, ending_before: newest });
    expect(first.data).toEqual([]);
    const unknown = await refused(stripe.paymentIntents.list({ starting_after: 'pi_none' }));
    expect(unknown).toMatchObject({ statusCode: 400, param: 'starting_after' });
  });

  it.each([
    { amount: 49, currency: 'usd', code: 'amount_too_small' },
    { amount: 49, currency: 'jpy', code: 'amount_too_small' },
    { amount: 100_000_000, currency: 'usd', code: 'amount_too_large' },
    { amount: 1_050, currency: 'isk', code: 'invalid_charge_amount' },
    { amount: 50_010, currency: 'ugx', code: 'invalid_charge_amount' },
    { amount: 1_005, currency: 'kwd', code: 'invalid_charge_amount' },
    { amount: 100, currency: 'xyz', code: undefined },
  ])('refuses $amount $currency', async ({ amount, currency, code }) => {
    const error = await refused(stripe.paymentIntents.create({ amount, currency }));
    expect(error.statusCode).toBe(400);
    expect(error.code).toBe(code);
  });

  it.each([
    { amount: 50, currency: 'JPY' },
    { amount: 50_000, currency: 'ugx' },
    { amount: 1_010, currency: 'kwd' },
  ])('charges $amount $currency', async ({ amount, currency }) => {
    const intent = await prepared(stripe, 'pm_card_visa', amount, currency);
    expect(intent).toMatchObject({ amount, currency: currency.toLowerCase() });
  });
});

describe('3-D Secure', () => {
  it('fails off session without a charge', async () => {
    const intent = await prepared(stripe, 'pm_card_authenticationRequired');
    const error = await refused(stripe.paymentIntents.confirm(intent.id, { off_session: true }));
    expect(error).toMatchObject({
      code: 'authentication_required',
      payment_intent: { status: 'requires_payment_method' },
    });
    expect(double.account.charges.size).toBe(0);
  });

  it.each([
    { successful: true, status: 'succeeded', error: null },
    {
      successful: false,
      status: 'requires_payment_method',
      error: { code: 'payment_intent_authentication_failure' },
    },
  ])('ends as the customer ends it: $status', async ({ successful, status, error }) => {
    const intent = await prepared(stripe, 'pm_card_authenticationRequired');
    const waiting = await stripe.paymentIntents.confirm(intent.id, {
      return_url: 'https://shop.example/return',
    });
    expect(waiting).toMatchObject({
      status: 'requires_action',
      next_action: {
        type: 'redirect_to_url',
        redirect_to_url: { return_url: 'https://shop.example/return' },
      },
    });
    double.authenticate(intent.id, successful);
    const after = await stripe.paymentIntents.retrieve(intent.id);
    expect(after).toMatchObject({ status, next_action: null, last_payment_error: error });
  });

  it('asks for a return_url where a redirect is possible', async () => {
    const intent = await prepared(stripe, 'pm_card_visa');
    expect((await refused(stripe.paymentIntents.confirm(intent.id))).message).toContain(
      'return_url',
    );
    double.confirmInBrowser(String(intent.client_secret));
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('succeeded');
  });
});

describe('refunds', () => {
  it('refunds in parts up to what was paid, and returns the money when one fails later', async () => {
    const intent = await paid(stripe, 'pm_card_visa');
    const first = await stripe.refunds.create({
      payment_intent: intent.id,
      amount: 900,
      metadata: { refund: 'ref_1' },
    });
    expect(first).toMatchObject({ status: 'succeeded', amount: 900 });
    const tooMuch = await refused(
      stripe.refunds.create({ payment_intent: intent.id, amount: 2001 }),
    );
    expect(tooMuch).toMatchObject({ statusCode: 400, param: 'amount' });
    const rest = await stripe.refunds.create({ payment_intent: intent.id });
    expect(rest.amount).toBe(2000);
    expect(await refused(stripe.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_already_refunded',
    });
    double.failRefund(first.id);
    expect(await stripe.refunds.retrieve(first.id)).toMatchObject({
      status: 'failed',
      failure_reason: 'lost_or_stolen_card',
    });
    const movements = await stripe.balanceTransactions.list();
    expect(movements.data.map(({ amount }) => amount)).toEqual([900, -2000, -900, 2900]);
    const listed = await stripe.refunds.list({ payment_intent: intent.id });
    expect(listed.data.map(({ id, metadata }) => [id, metadata])).toEqual([
      [rest.id, {}],
      [first.id, { refund: 'ref_1' }],
    ]);
    expect(eventTypes().slice(-3)).toEqual([
      'refund.updated',
      'charge.refund.updated',
      'refund.failed',
    ]);
  });

  it.each([
    { token: 'pm_card_pendingRefund', first: 'pending', last: 'succeeded' },
    { token: 'pm_card_refundFail', first: 'succeeded', last: 'failed' },
  ])('$token: $first, later $last', async ({ token, first, last }) => {
    const intent = await paid(stripe, token);
    const refund = await stripe.refunds.create({ payment_intent: intent.id });
    expect(refund.status).toBe(first);
    double.advanceMs(3 * 60_000);
    expect((await stripe.refunds.retrieve(refund.id)).status).toBe(last);
  });

  it('refuses an intent that was not paid', async () => {
    const intent = await prepared(stripe, 'pm_card_visa');
    expect((await refused(stripe.refunds.create({ payment_intent: intent.id }))).message).toContain(
      'does not have a successful charge',
    );
  });
});

describe('disputes', () => {
  it('withdraws the money of a chargeback and returns it when it is won', async () => {
    const intent = await paid(stripe, 'pm_card_visa');
    const { id } = double.openDispute(intent.id);
    const open = await stripe.disputes.retrieve(id, { expand: ['charge'] });
    expect(open).toMatchObject({
      status: 'needs_response',
      is_charge_refundable: false,
      balance_transactions: [{ amount: -2900, fee: 1500, net: -4400, source: id }],
      charge: { disputed: true },
    });
    expect(await refused(stripe.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_disputed',
    });
    double.closeDispute(id, 'won');
    const [won] = (await stripe.disputes.list({ payment_intent: intent.id })).data;
    expect(won?.balance_transactions.map(({ amount }) => amount)).toEqual([-2900, 2900]);
    expect(() => double.closeDispute(id, 'lost')).toThrow('it cannot become lost');
    expect((await stripe.refunds.create({ payment_intent: intent.id })).status).toBe('succeeded');
    const disputeEvents = eventTypes().filter((type) => type.startsWith('charge.dispute'));
    expect(disputeEvents).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed',
    ]);
  });

  it('moves no money for an inquiry until it becomes a chargeback', async () => {
    const intent = await paid(stripe, 'pm_card_createDisputeInquiry');
    const [inquiry] = (await stripe.disputes.list()).data;
    expect(inquiry).toMatchObject({
      status: 'warning_needs_response',
      is_charge_refundable: true,
      balance_transactions: [],
    });
    expect(await stripe.refunds.create({ payment_intent: intent.id, amount: 100 })).toBeDefined();
    double.escalateInquiry(String(inquiry?.id));
    double.closeDispute(String(inquiry?.id), 'lost');
    expect(await stripe.disputes.retrieve(String(inquiry?.id))).toMatchObject({
      status: 'lost',
      balance_transactions: [{ amount: -2900 }],
    });
  });
});

describe('SEPA debits', () => {
  const ACCEPTANCE = {
    customer_acceptance: {
      type: 'online' as const,
      online: { ip_address: '127.0.0.1', user_agent: 'test' },
    },
  };

  async function debit(token: string): Promise<Stripe.PaymentIntent> {
    const { customer, method } = await customerWith(stripe, token);
    const setup = await stripe.setupIntents.create({
      customer,
      payment_method: method,
      confirm: true,
      mandate_data: ACCEPTANCE,
    });
    expect(setup).toMatchObject({ status: 'succeeded', mandate: expect.any(String) });
    const intent = await stripe.paymentIntents.create({
      amount: 2900,
      currency: 'eur',
      customer,
      payment_method: method,
    });
    return stripe.paymentIntents.confirm(intent.id, { off_session: true });
  }

  it.each([
    { token: 'pm_successDelayed_de', status: 'succeeded' },
    { token: 'pm_failedDelayed_de', status: 'requires_payment_method' },
  ])('$token is processing for three minutes, then $status', async ({ token, status }) => {
    const intent = await debit(token);
    expect(intent.status).toBe('processing');
    double.advanceMs(179_000);
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('processing');
    now = new Date(now.getTime() + 1_000);
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe(status);
  });

  it('returns a debit after its success as a dispute that is lost at once', async () => {
    const intent = await debit('pm_disputed_de');
    const [dispute] = (await stripe.disputes.list({ payment_intent: intent.id })).data;
    expect(dispute).toMatchObject({ status: 'lost', is_charge_refundable: false });
    expect(dispute?.balance_transactions).toHaveLength(1);
  });

  it('needs a mandate, and another one after it was revoked', async () => {
    const intent = await debit('pm_success_de');
    const [mandate] = double.account.mandates.keys();
    double.revokeMandate(String(mandate));
    const next = await stripe.paymentIntents.create({
      amount: 100,
      currency: 'eur',
      customer: idOf(intent.customer),
      payment_method: idOf(intent.payment_method),
    });
    expect(
      await refused(stripe.paymentIntents.confirm(next.id, { off_session: true })),
    ).toMatchObject({
      code: 'payment_intent_mandate_invalid',
    });
  });

  it('creates a method from a test IBAN', async () => {
    const method = await stripe.paymentMethods.create({
      type: 'sepa_debit',
      sepa_debit: { iban: 'DE89 3704 0044 0532 0130 00' },
      billing_details: { name: 'Grace Hopper', email: 'grace@example.com' },
    });
    expect(method.sepa_debit).toMatchObject({ country: 'DE', last4: '3000' });
  });
});

describe('setup intents', () => {
  it('attaches the card when the customer has authenticated, so that later payments need nothing', async () => {
    const { id: customer } = await stripe.customers.create({});
    const setup = await stripe.setupIntents.create({ customer, usage: 'off_session' });
    double.confirmInBrowser(String(setup.client_secret), 'pm_card_authenticationRequiredOnSetup');
    expect((await stripe.setupIntents.retrieve(setup.id)).status).toBe('requires_action');
    double.authenticate(setup.id);
    const done = await stripe.setupIntents.retrieve(setup.id, { expand: ['payment_method'] });
    expect(done).toMatchObject({ status: 'succeeded', payment_method: { customer } });
    const intent = await stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      customer,
      payment_method: (done.payment_method as Stripe.PaymentMethod).id,
      confirm: true,
      off_session: true,
    });
    expect(intent.status).toBe('succeeded');
  });

  it('reports a failed authentication and a decline, and can be canceled', async () => {
    const { id: customer } = await stripe.customers.create({});
    const setup = await stripe.setupIntents.create({ customer });
    double.confirmInBrowser(String(setup.client_secret), 'pm_card_authenticationRequired');
    double.authenticate(setup.id, false);
    expect((await stripe.setupIntents.retrieve(setup.id)).last_setup_error?.code).toBe(
      'setup_intent_authentication_failure',
    );
    expect(
      await refused(
        stripe.setupIntents.confirm(setup.id, { payment_method: 'pm_card_chargeDeclined' }),
      ),
    ).toMatchObject({ statusCode: 402, setup_intent: { status: 'requires_payment_method' } });
    expect((await stripe.setupIntents.cancel(setup.id)).status).toBe('canceled');
  });
});
