import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { createCustomer } from '../support/billing';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { declined } from '../support/stripe/test-methods';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { EVENTS } from '../support/stored-events';

const SECRET = 'whsec_scenarios';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Answer {
  readonly id: string;
  readonly status: string;
  readonly token: string;
  readonly failure_code: string | null;
}

describe('with Stripe', () => {
  let engine: TestApp;
  let stripe: StripeDouble;

  beforeAll(async () => {
    stripe = await startStripeDouble({ now: () => engine.clock.now() });
    engine = await startTestApp({
      environment: {
        PAYMENT_PROVIDERS: 'stripe',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
        STRIPE_WEBHOOK_SECRETS: `whsec_former00,${SECRET}`,
      },
    });
    stripe.webhooks.register(`${await engine.app.getUrl()}/v1/providers/stripe/webhooks`, SECRET);
  });

  beforeEach(() => {
    stripe.faults.clear();
    stripe.webhooks.fate = () => 'lose';
  });

  afterAll(async () => {
    await engine.close();
    await stripe.close();
    expect(stripe.server.defects).toEqual([]);
  });

  const post = async (path: string, body: object = {}): Promise<Answer> => {
    const answer = await engine.http.post(path).send(body);
    expect(answer.status).toBe(201);
    return answer.body as Answer;
  };
  const get = async (path: string): Promise<Answer> =>
    (await engine.http.get(path).expect(200)).body as Answer;

  /** Returns a customer with a default payment method at Stripe. */
  async function customerWith(token: string): Promise<{ customer: string; method: Answer }> {
    const customer = await createCustomer(engine);
    const body = { provider: 'stripe', token };
    const method = await post(`/v1/customers/${customer}/payment-methods`, body);
    return { customer, method };
  }

  const pay = (customer: string, fields: object = {}): Promise<Answer> =>
    post('/v1/payments', { customer_id: customer, amount: 1_000, currency: 'USD', ...fields });

  async function run(
    work: typeof DuePayments | typeof DueRefunds | typeof DueProviderEvents | typeof DueCollections,
  ) {
    const due = engine.app.get<DuePayments>(work);
    await due.runDue();
    await due.idle();
  }

  /** Polls payments until one is final, as the background work does. */
  async function poll(id: string): Promise<Answer> {
    for (let polls = 0; polls < 40; polls += 1) {
      await run(DuePayments);
      const payment = await get(`/v1/payments/${id}`);
      if (['succeeded', 'failed', 'canceled'].includes(payment.status)) return payment;
      engine.clock.advanceMs(HOUR_MS);
    }
    throw new Error(`${id} has no final outcome.`);
  }

  const intentsOf = (payment: string) =>
    [...stripe.account.paymentIntents.values()].filter(
      ({ metadata }) => metadata['payment_id'] === payment,
    );

  async function referenceOf(payment: string): Promise<string> {
    const [row] = await engine.database.query<{ provider_reference: string | null }>(
      'SELECT provider_reference FROM payment WHERE id = $1',
      [payment],
    );
    return row?.provider_reference ?? '';
  }

  const moved = (payment: string): number =>
    intentsOf(payment).filter(({ status }) => status === 'succeeded').length;

  async function typesOf(id: string): Promise<readonly string[]> {
    return (await eventsOf(engine, id)).map(({ type }) => type);
  }

  async function isVerified(): Promise<void> {
    const answer = await engine.http.get('/v1/ledger/verify').expect(200);
    expect(answer.body).toMatchObject({ ok: true });
  }

  describe('a payment method', () => {
    it('is attached to a customer of its own, with its brand and last digits', async () => {
      const { customer, method } = await customerWith('pm_card_visa');
      expect(method).toMatchObject({ provider: 'stripe', brand: 'visa', last4: '4242' });
      expect(stripe.account.paymentMethods.get(method.token)?.customer).toMatch(/^cus_/);
      const known = [...stripe.account.customers.values()];
      expect(known.filter(({ metadata }) => metadata['customer_id'] === customer)).toHaveLength(1);
    });

    it('with the same key is kept once', async () => {
      const customer = await createCustomer(engine);
      const keep = () =>
        engine.http
          .post(`/v1/customers/${customer}/payment-methods`)
          .set('Idempotency-Key', `keep-${customer}`)
          .send({ provider: 'stripe', token: 'pm_card_visa' });
      const answers = await Promise.all([keep(), keep(), keep()]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const listed = await engine.http.get(`/v1/customers/${customer}/payment-methods`);
      expect((listed.body as { data: unknown[] }).data).toHaveLength(1);
    });

    it.each(['pm_card_chargeDeclined', 'pm_unknown123', '4242424242424242', 'pm_sandbox_ok/'])(
      '%s is refused',
      async (token) => {
        const customer = await createCustomer(engine);
        const answer = await engine.http
          .post(`/v1/customers/${customer}/payment-methods`)
          .send({ provider: 'stripe', token });
        expect(answer.body).toMatchObject({ status: 422, code: 'payment_method_not_accepted' });
      },
    );

    it('cannot be added while Stripe does not answer, and is added by the same request later', async () => {
      const customer = await createCustomer(engine);
      const keep = () =>
        engine.http
          .post(`/v1/customers/${customer}/payment-methods`)
          .set('Idempotency-Key', `later-${customer}`)
          .send({ provider: 'stripe', token: 'pm_card_visa' });
      stripe.faults.plan('error_500_before', { operation: 'customers.create' });
      const refused = await keep();
      expect(refused.body).toMatchObject({ status: 503, code: 'payment_provider_unavailable' });
      expect(refused.headers['retry-after']).toBe('5');
      stripe.faults.clear();
      expect((await keep()).status).toBe(201);
    });
  });

  describe('a charge', () => {
    it('succeeds, is posted and refunded in parts', async () => {
      const { customer } = await customerWith('pm_card_visa');
      const payment = await pay(customer);
      expect(payment).toMatchObject({ status: 'succeeded', provider: 'stripe' });
      expect(intentsOf(payment.id)).toMatchObject([
        { amount: 1_000, currency: 'usd', status: 'succeeded' },
      ]);
      const part = await post(`/v1/refunds/payment/${payment.id}`, { amount: 300 });
      const rest = await post(`/v1/refunds/payment/${payment.id}`);
      expect([part.status, rest.status]).toEqual(['succeeded', 'succeeded']);
      const sums = [...stripe.account.refunds.values()].slice(-2).map(({ amount }) => amount);
      expect(sums).toEqual([300, 700]);
      await isVerified();
    });

    it('is declined, its intent canceled, and the next one succeeds', async () => {
      const { customer, method } = await customerWith('pm_card_visa');
      stripe.setBank(method.token, { charge: declined('insufficient_funds') });
      const refused = await pay(customer);
      expect(refused).toMatchObject({ status: 'failed', failure_code: 'insufficient_funds' });
      expect(intentsOf(refused.id)).toMatchObject([{ status: 'canceled' }]);
      stripe.setBank(method.token, { charge: 'approved' });
      expect(await pay(customer)).toMatchObject({ status: 'succeeded' });
    });

    it.each([
      ['more than eight digits', 100_000_000, 'USD'],
      ['below the smallest amount of the currency', 49, 'USD'],
      ['that would round to 0, where Stripe has no decimals', 1, 'MGA'],
      ['that would round to 0, where Stripe has fewer decimals', 4, 'IQD'],
      ['that would round to 0, where the last decimal must be 0', 1, 'KWD'],
      ['that would lose a decimal', 5_124, 'KWD'],
    ])('of an amount %s fails, and the method stays usable', async (_, amount, currency) => {
      const { customer, method } = await customerWith('pm_card_visa');
      const payment = await pay(customer, { amount, currency });
      expect(payment).toMatchObject({ status: 'failed', failure_code: 'amount_not_chargeable' });
      expect(intentsOf(payment.id)).toEqual([]);
      const path = `/v1/customers/${customer}/payment-methods/${method.id}`;
      const { body } = await engine.http.get(path).expect(200);
      expect(body).toMatchObject({ unusable_since: null });
    });

    it.each([
      ['the smallest amount of the currency', 50, 'USD', 50],
      ['of a currency with decimals at ISO alone', 100, 'MGA', 1],
    ])('of %s succeeds', async (_, amount, currency, sent) => {
      const { customer } = await customerWith('pm_card_visa');
      const payment = await pay(customer, { amount, currency });
      expect(payment).toMatchObject({ status: 'succeeded' });
      expect(intentsOf(payment.id)).toMatchObject([{ amount: sent }]);
    });

    it.each([
      ['a reset before the effect', 'reset_before'],
      ['a reset after the effect', 'reset_after'],
      ['an error after the effect', 'error_500_after'],
      ['an error without effect', 'error_500_before'],
      ['a conflict', 'conflict'],
      ['a rate limit', 'rate_limited'],
    ] as const)('moves money once if its confirmation meets %s', async (_, fault) => {
      const { customer } = await customerWith('pm_card_visa');
      stripe.faults.plan(fault, { operation: 'paymentIntents.confirm', times: 2 });
      const { id } = await pay(customer);
      expect(await poll(id)).toMatchObject({ status: 'succeeded' });
      expect(moved(id)).toBe(1);
    });

    it.each([
      'reset_after',
      'error_500_after',
      'error_500_before',
      'conflict',
      'rate_limited',
    ] as const)('moves money once if its preparation meets %s', async (fault) => {
      const { customer } = await customerWith('pm_card_visa');
      stripe.faults.plan(fault, { operation: 'paymentIntents.create', times: 2 });
      const { id } = await pay(customer);
      expect(await poll(id)).toMatchObject({ status: 'succeeded' });
      expect(moved(id)).toBe(1);
    });

    it('that never arrived counts no failed attempt, and waits as pending', async () => {
      const { customer } = await customerWith('pm_card_visa');
      stripe.faults.plan('rate_limited', { operation: 'paymentIntents.create' });
      const { id, status } = await pay(customer);
      expect(status).toBe('pending');
      stripe.faults.plan('rate_limited', { operation: 'paymentIntents.list' });
      engine.clock.advanceMs(HOUR_MS);
      await run(DuePayments);
      expect(await get(`/v1/payments/${id}`)).toMatchObject({ status: 'pending' });
      expect(await poll(id)).toMatchObject({ status: 'succeeded' });
    });

    it('whose answer was lost fails if the bank declined it', async () => {
      const { customer, method } = await customerWith('pm_card_visa');
      stripe.setBank(method.token, { charge: declined('do_not_honor') });
      stripe.faults.plan('reset_after', { operation: 'paymentIntents.confirm', times: 2 });
      const { id, status } = await pay(customer);
      expect(status).toBe('processing');
      expect(await poll(id)).toMatchObject({ status: 'failed', failure_code: 'declined' });
      expect(intentsOf(id)).toMatchObject([{ status: 'canceled' }]);
    });

    it('whose reference was lost is found by its metadata a day later, not made again', async () => {
      const { customer } = await customerWith('pm_card_visa');
      stripe.faults.plan('reset_after', { operation: 'paymentIntents.create', times: 2 });
      const { id } = await pay(customer);
      expect(await referenceOf(id)).toBe('');
      engine.clock.advanceMs(30 * HOUR_MS);
      expect(await poll(id)).toMatchObject({ status: 'succeeded' });
      expect(intentsOf(id)).toHaveLength(1);
    });
  });

  /** Sets up a debit with its mandate, as the customer does in the browser. */
  async function debitorWith(token: string): Promise<string> {
    const { customer, method: card } = await customerWith('pm_card_visa');
    const attachedTo = stripe.account.paymentMethods.get(card.token)?.customer;
    if (typeof attachedTo !== 'string') throw new Error('The card is not attached.');
    const setup = await stripe.client().setupIntents.create({
      customer: attachedTo,
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
    const body = { provider: 'stripe', token: setup.payment_method, is_default: true };
    await post(`/v1/customers/${customer}/payment-methods`, body);
    return customer;
  }

  describe('a delayed debit', () => {
    it.each([
      ['succeeds', 'pm_successDelayed_de', 'succeeded'],
      ['fails', 'pm_failedDelayed_de', 'failed'],
    ])('is processing, and %s later', async (_, token, status) => {
      const customer = await debitorWith(token);
      const payment = await pay(customer, { currency: 'EUR' });
      expect(payment.status).toBe('processing');
      await run(DuePayments);
      expect(await get(`/v1/payments/${payment.id}`)).toMatchObject({ status: 'processing' });
      engine.clock.advanceMs(HOUR_MS);
      expect(await poll(payment.id)).toMatchObject({ status });
      await isVerified();
    });
  });

  describe('3-D Secure', () => {
    const secretOf = (id: string) => engine.http.get(`/v1/payments/${id}/client-action`);

    async function waiting(): Promise<string> {
      const { customer } = await customerWith('pm_card_authenticationRequired');
      const { id, status } = await pay(customer);
      expect(status).toBe('requires_action');
      return id;
    }

    it('is completed by the customer with the client secret, which is not stored', async () => {
      const id = await waiting();
      const answer = await secretOf(id).expect(200);
      const { client_secret: secret } = answer.body as { client_secret: string };
      expect(secret).toContain('_secret_');
      expect(answer.headers['cache-control']).toContain('no-store');
      const stored = await engine.database.query<{ text: string }>(
        `SELECT payment::text AS text FROM payment WHERE id = $1
         UNION ALL SELECT data::text FROM ${EVENTS} WHERE object_id = $1`,
        [id],
      );
      expect(stored.every(({ text }) => !text.includes('_secret_'))).toBe(true);
      stripe.authenticate(await referenceOf(id));
      expect(await poll(id)).toMatchObject({ status: 'succeeded' });
      expect(await typesOf(id)).toEqual([
        'payment.created',
        'payment.requires_action',
        'payment.succeeded',
      ]);
      const late = await secretOf(id);
      expect(late.body).toMatchObject({ status: 409, code: 'payment_action_not_required' });
    });

    it('is refused by the customer, and the payment fails', async () => {
      const id = await waiting();
      stripe.authenticate(await referenceOf(id), false);
      expect(await poll(id)).toMatchObject({
        status: 'failed',
        failure_code: 'authentication_required',
      });
    });

    it('expires at Stripe before it is completed, and the payment is canceled', async () => {
      const id = await waiting();
      await stripe.client().paymentIntents.cancel(await referenceOf(id));
      expect(await poll(id)).toMatchObject({ status: 'canceled', failure_code: null });
      const late = await secretOf(id);
      expect(late.body).toMatchObject({ status: 409, code: 'payment_action_not_required' });
      expect(moved(id)).toBe(0);
      await isVerified();
    });

    it('is abandoned, and the payment given up after 24 hours', async () => {
      const id = await waiting();
      engine.clock.advanceMs(23 * HOUR_MS);
      await run(DuePayments);
      expect(await get(`/v1/payments/${id}`)).toMatchObject({ status: 'requires_action' });
      engine.clock.advanceMs(HOUR_MS);
      await run(DuePayments);
      expect(await get(`/v1/payments/${id}`)).toMatchObject({ status: 'canceled' });
      expect(intentsOf(id)).toMatchObject([{ status: 'canceled' }]);
      await isVerified();
    });

    it('is given up a day after a clock was set right that was a year ahead', async () => {
      const startsAt = engine.clock.now();
      engine.clock.advanceMs(365 * 24 * HOUR_MS);
      const id = await waiting();
      engine.clock.set(startsAt.toISOString());
      await run(DuePayments);
      const expires_at = new Date(startsAt.getTime() + 24 * HOUR_MS).toISOString();
      expect((await secretOf(id)).body).toMatchObject({ expires_at });
      engine.clock.set(expires_at);
      await run(DuePayments);
      expect(await get(`/v1/payments/${id}`)).toMatchObject({ status: 'canceled' });
    });
  });

  describe('a refund', () => {
    const refund = (payment: string, fields: object = {}) =>
      post(`/v1/refunds/payment/${payment}`, fields);

    async function pollRefund(id: string): Promise<Answer> {
      for (let polls = 0; polls < 40; polls += 1) {
        await run(DueRefunds);
        const read = await get(`/v1/refunds/${id}`);
        if (read.status !== 'pending') return read;
        engine.clock.advanceMs(HOUR_MS);
      }
      throw new Error(`${id} has no final outcome.`);
    }

    const refundsAt = (payment: string) => {
      const [intent] = intentsOf(payment);
      return [...stripe.account.refunds.values()].filter(
        ({ payment_intent: of }) => of === intent?.id,
      );
    };

    it.each([
      'reset_before',
      'reset_after',
      'error_500_after',
      'error_500_before',
      'conflict',
    ] as const)('is made once after %s', async (fault) => {
      const { customer } = await customerWith('pm_card_visa');
      const payment = await pay(customer);
      stripe.faults.plan(fault, { operation: 'refunds.create', times: 2 });
      const { id } = await refund(payment.id, { amount: 400 });
      expect(await pollRefund(id)).toMatchObject({ status: 'succeeded' });
      expect(refundsAt(payment.id)).toMatchObject([{ amount: 400 }]);
      await isVerified();
    });

    it('that the bank returns later fails, and can be made again', async () => {
      stripe.webhooks.fate = () => 'deliver';
      const { customer } = await customerWith('pm_card_visa');
      const payment = await pay(customer);
      const { id, status } = await refund(payment.id, { amount: 400 });
      expect(status).toBe('succeeded');
      const made = refundsAt(payment.id)[0]?.id ?? '';
      stripe.failRefund(made);
      await stripe.webhooks.idle();
      await run(DueProviderEvents);
      expect(await get(`/v1/refunds/${id}`)).toMatchObject({ status: 'failed' });
      expect(await get(`/v1/payments/${payment.id}`)).toMatchObject({ amount_refunded: 0 });
      await isVerified();
    });
  });

  it('a refund that the bank returns while Stripe does not answer fails when it answers', async () => {
    stripe.webhooks.fate = () => 'deliver';
    const { customer } = await customerWith('pm_card_visa');
    const payment = await pay(customer);
    const { id } = await post(`/v1/refunds/payment/${payment.id}`, { amount: 400 });
    await stripe.webhooks.idle();
    await run(DueProviderEvents);
    const [made] = [...stripe.account.refunds.values()].filter(
      ({ metadata }) => metadata?.['refund_id'] === id,
    );
    stripe.failRefund(made?.id ?? '');
    await stripe.webhooks.idle();
    stripe.faults.plan('error_500_before', { operation: 'refunds.retrieve', times: 10 });
    await run(DueProviderEvents);
    expect(await get(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded' });
    stripe.faults.clear();
    engine.clock.advanceMs(3 * MINUTE_MS);
    await run(DueProviderEvents);
    expect(await get(`/v1/refunds/${id}`)).toMatchObject({ status: 'failed' });
  });

  describe('automatic collection', () => {
    async function invoiceOf(customer: string): Promise<string> {
      const lines = [{ description: 'Work', amount: 1_000 }];
      const draft = await post('/v1/invoices', { customer_id: customer, currency: 'USD', lines });
      await engine.http.post(`/v1/invoices/${draft.id}/finalize`).send({}).expect(200);
      return draft.id;
    }

    const statusAfter = async (invoice: string): Promise<string> => {
      await run(DueCollections);
      return (await get(`/v1/invoices/${invoice}`)).status;
    };
    const readEvents = () => engine.app.get(MissedProviderEvents).runDue();

    it('waits after downtime until the events of the provider are read', async () => {
      await readEvents();
      // The first list goes back a day, to events of the tests above.
      const due = 'SELECT FROM provider_event WHERE due_at <= $1';
      while ((await engine.database.query(due, [engine.clock.now()])).length > 0)
        await run(DueProviderEvents);
      const { customer } = await customerWith('pm_card_visa');
      const first = await invoiceOf(customer);
      expect(await statusAfter(first)).toBe('paid');
      engine.clock.advanceMs(11 * MINUTE_MS);
      const second = await invoiceOf(customer);
      expect(await statusAfter(second)).toBe('open');
      expect(await statusAfter(second)).toBe('open');
      await readEvents();
      await run(DueProviderEvents);
      engine.clock.advanceMs(MINUTE_MS);
      expect(await statusAfter(second)).toBe('paid');
    });

    it('waits until events that were read late are applied', async () => {
      await readEvents();
      await run(DueProviderEvents);
      const { customer } = await customerWith('pm_card_visa');
      await pay((await customerWith('pm_card_visa')).customer);
      engine.clock.advanceMs(11 * MINUTE_MS);
      await readEvents();
      const invoice = await invoiceOf(customer);
      expect(await statusAfter(invoice)).toBe('open');
      await run(DueProviderEvents);
      engine.clock.advanceMs(MINUTE_MS);
      expect(await statusAfter(invoice)).toBe('paid');
    });
  });

  describe('webhooks', () => {
    const stored = async (payment: string) =>
      engine.database.query<{ id: string; attempts: number }>(
        'SELECT id, attempts FROM provider_event WHERE subject_id = $1 AND due_at IS NULL',
        [payment],
      );

    async function settledByWebhook(fate: 'double' | 'hold'): Promise<string> {
      const { customer } = await customerWith('pm_card_authenticationRequired');
      const { id } = await pay(customer);
      stripe.webhooks.fate = () => fate;
      stripe.authenticate(await referenceOf(id));
      stripe.webhooks.releaseHeld();
      await stripe.webhooks.idle();
      await run(DueProviderEvents);
      return id;
    }

    it.each(['double', 'hold'] as const)(
      'that are sent in another order or twice settle a payment once (%s)',
      async (fate) => {
        const id = await settledByWebhook(fate);
        expect(await get(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
        const events = await typesOf(id);
        expect(events.filter((type) => type === 'payment.succeeded')).toHaveLength(1);
        expect(new Set((await stored(id)).map(({ id: event }) => event)).size).toBe(
          (await stored(id)).length,
        );
      },
    );

    it('that were lost are found in the list of events', async () => {
      const { customer } = await customerWith('pm_card_authenticationRequired');
      const { id } = await pay(customer);
      await engine.app.get(MissedProviderEvents).runDue();
      stripe.authenticate(await referenceOf(id));
      engine.clock.advanceMs(2 * MINUTE_MS);
      await engine.app.get(MissedProviderEvents).runDue();
      await run(DueProviderEvents);
      expect(await get(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
    });

    const send = (payload: string, signature?: string) => {
      const request = engine.http
        .post('/v1/providers/stripe/webhooks')
        .set('Content-Type', 'application/json');
      if (signature !== undefined) request.set('Stripe-Signature', signature);
      return request.send(payload);
    };
    const event = (fields: object = {}) =>
      JSON.stringify({
        id: 'evt_forged',
        object: 'event',
        type: 'payment_intent.succeeded',
        created: Math.floor(engine.clock.now().getTime() / 1_000),
        livemode: false,
        data: { object: { metadata: { payment_id: 'pay_01h455vb4pex5vsknk084sn02q' } } },
        ...fields,
      });
    const refundWith = (id: string) => ({ type: 'refund.created', data: { object: { id } } });
    const disputeWith = (id: string) => ({
      type: 'charge.dispute.created',
      data: { object: { id } },
    });
    const signed = (payload: string, secret: string, offsetS = 0) =>
      stripe.client().webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: Math.floor(engine.clock.now().getTime() / 1_000) + offsetS,
      });

    it.each([
      ['without a signature', () => send(event())],
      ['of another secret', () => send(event(), signed(event(), 'whsec_other123'))],
      ['whose body was changed', () => send(event({ id: 'evt_x' }), signed(event(), SECRET))],
      ['that are too old', () => send(event(), signed(event(), SECRET, -301))],
      ['of the future', () => send(event(), signed(event(), SECRET, 301))],
      [
        'of the other mode',
        () => send(event({ livemode: true }), signed(event({ livemode: true }), SECRET)),
      ],
      ['that are no JSON', () => send('{', signed('{', SECRET))],
    ])('%s are refused', async (_, sending) => {
      expect((await sending()).body).toMatchObject({
        status: 401,
        code: 'webhook_signature_invalid',
      });
    });

    it.each([
      ['an event of 300 characters', { id: `evt_${'x'.repeat(296)}` }],
      ['an event with a null character', { id: 'evt_\0' }],
      ['a refund of 41 characters', refundWith(`re_${'x'.repeat(38)}`)],
      ['a refund with a null character', refundWith('re_\0')],
      ['a dispute with a null character', disputeWith('dp_\0')],
    ])('with the id of %s are ignored', async (_, fields) => {
      const payload = event({ id: 'evt_odd', ...fields });
      expect((await send(payload, signed(payload, SECRET))).status).toBe(204);
      const odd = "SELECT id FROM provider_event WHERE id = 'evt_odd' OR length(id) > 255";
      expect(await engine.database.query(odd)).toEqual([]);
    });

    it.each([SECRET, 'whsec_former00'])('with the secret %s are stored once', async (secret) => {
      const payload = event({ id: `evt_${secret}` });
      expect((await send(payload, signed(payload, secret))).status).toBe(204);
      expect((await send(payload, signed(payload, secret, -60))).status).toBe(204);
      const rows = await engine.database.query('SELECT FROM provider_event WHERE id = $1', [
        `evt_${secret}`,
      ]);
      expect(rows).toHaveLength(1);
      // The payment is of another service with the same account.
      await run(DueProviderEvents);
    });
  });

  // Last, because it reads the events of all other tests.
  it('a debit that the bank returns after its success is a dispute that is lost at once', async () => {
    const customer = await debitorWith('pm_disputed_de');
    const { id } = await pay(customer, { currency: 'EUR' });
    engine.clock.advanceMs(HOUR_MS);
    expect(await poll(id)).toMatchObject({ status: 'succeeded' });
    engine.clock.advanceMs(2 * MINUTE_MS);
    await engine.app.get(MissedProviderEvents).runDue();
    await run(DueProviderEvents);
    expect(await get(`/v1/disputes?payment_id=${id}`)).toMatchObject({
      data: [{ status: 'lost', amount: 1_000, amount_lost: 1_000 }],
    });
    expect(await get(`/v1/payments/${id}`)).toMatchObject({
      status: 'succeeded',
      amount_lost: 1_000,
      is_disputed: false,
    });
    const refund = await engine.http.post(`/v1/refunds/payment/${id}`).send({ amount: 100 });
    expect(refund.body).toMatchObject({ code: 'refund_amount_exceeds_refundable' });
    expect(await get(`/v1/customers/${customer}/balance`)).toMatchObject({ balance: 0 });
    await isVerified();
  });
});
