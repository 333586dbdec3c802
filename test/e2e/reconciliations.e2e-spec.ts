import { ProviderMovementsService } from '../../src/modules/payments/providers/provider-movements.service';
import { ReconciliationSteps } from '../../src/modules/reconciliations/reconciliation-steps';
import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { ReconciliationsService } from '../../src/modules/reconciliations/reconciliations.service';
import { createCustomer } from '../support/billing';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Run {
  readonly id: string;
  readonly status: string;
  readonly differences_found: number;
  readonly is_truncated: boolean;
}

interface Found {
  readonly type: string;
  readonly object: string;
}

describe('a comparison with the provider', () => {
  let engine: TestApp;
  let stripe: StripeDouble;

  beforeEach(async () => {
    stripe = await startStripeDouble({ now: () => engine.clock.now() });
    engine = await startTestApp({
      plantsObjects: true,
      environment: {
        PAYMENT_PROVIDERS: 'stripe',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
      },
    });
  });

  afterEach(async () => {
    await engine.close();
    await stripe.close();
    expect(stripe.server.defects).toEqual([]);
    expect(stripe.server.refused).toEqual([]);
  });

  const post = (path: string, body: object = {}) => engine.http.post(path).send(body);
  const start = (fields: object = {}) =>
    post('/v1/reconciliations', { provider: 'stripe', ...fields });

  async function made(path: string, body: object = {}): Promise<string> {
    const answer = await post(path, body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  async function customerWithCard(): Promise<string> {
    const customer = await createCustomer(engine);
    const method = { provider: 'stripe', token: 'pm_card_visa' };
    await made(`/v1/customers/${customer}/payment-methods`, method);
    return customer;
  }

  const pay = (customer_id: string): Promise<string> =>
    made('/v1/payments', { customer_id, amount: 1_000, currency: 'USD' });

  function intentOf(payment: string) {
    const intent = [...stripe.account.paymentIntents.values()].find(
      ({ metadata }) => metadata['payment_id'] === payment,
    );
    if (intent === undefined) throw new Error(`${payment} has no charge.`);
    return intent;
  }

  /** Makes a charge at Stripe like that of a payment, for the payment with the given id. */
  async function chargeOf(payment: string, payment_id: string): Promise<string> {
    const { customer, payment_method: method, metadata } = intentOf(payment);
    const { id } = await stripe.client().paymentIntents.create({
      amount: 1_000,
      currency: 'usd',
      customer: typeof customer === 'string' ? customer : '',
      payment_method: typeof method === 'string' ? method : '',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
      metadata: { ...metadata, payment_id },
    });
    return id;
  }

  async function step(): Promise<void> {
    const due = engine.app.get(DueReconciliations);
    await due.runDue();
    await due.idle();
  }

  /** Runs the steps of a run until it ends. */
  async function finish(id: string): Promise<Run> {
    for (let steps = 0; steps < 60; steps += 1) {
      const run = (await engine.http.get(`/v1/reconciliations/${id}`).expect(200)).body as Run;
      if (run.status !== 'running') return run;
      await step();
    }
    throw new Error(`${id} does not end.`);
  }

  async function reconcile(): Promise<readonly Found[]> {
    engine.clock.advanceMs(HOUR_MS);
    const answer = await start();
    expect(answer.status).toBe(201);
    const run = await finish((answer.body as Run).id);
    expect(run.status).toBe('completed');
    const found = await engine.http.get(`/v1/reconciliations/${run.id}/differences`).expect(200);
    const { data } = found.body as { data: readonly Found[] };
    expect(run.differences_found).toBe(data.length);
    expect(await engine.database.query('SELECT FROM reconciliation_listed_movement')).toEqual([]);
    return data;
  }

  it('finds nothing where books and provider agree, and ledger/verify shows it', async () => {
    const customer = await customerWithCard();
    const payment = await pay(customer);
    await made(`/v1/refunds/payment/${payment}`, { amount: 300 });
    const other = await customerWithCard();
    await made('/v1/payments', { customer_id: other, amount: 700, currency: 'ISK' });
    expect(await reconcile()).toEqual([]);
    const verified = await engine.http.get('/v1/ledger/verify').expect(200);
    expect(verified.body).toMatchObject({
      ok: true,
      last_reconciliation: { provider: 'stripe', status: 'completed', differences_found: 0 },
    });
  });

  it('finds nothing in an empty account, and reports its start and end', async () => {
    const answer = await start();
    const { id } = answer.body as Run;
    expect(answer.body).toMatchObject({ status: 'running', ended_at: null });
    expect(await finish(id)).toMatchObject({ status: 'completed', charges_listed: 0 });
    const types = (await eventsOf(engine, id)).map(({ type }) => type);
    expect(types).toEqual(['reconciliation.created', 'reconciliation.completed']);
  });

  it('names another amount, currency and status', async () => {
    const customer = await customerWithCard();
    const [amount, currency, status] = [
      await pay(customer),
      await pay(customer),
      await pay(customer),
    ];
    await engine.database.query('UPDATE payment SET amount = 1001 WHERE id = $1', [amount]);
    await engine.database.query(`UPDATE payment SET currency = 'EUR' WHERE id = $1`, [currency]);
    await engine.database.query(
      `UPDATE payment SET status = 'failed', failure_code = 'declined' WHERE id = $1`,
      [status],
    );
    const found = await reconcile();
    expect(found).toHaveLength(3);
    const metrics = (await engine.http.get('/metrics')).text;
    expect(metrics).toContain('reconciliation_differences{provider="stripe"} 3');
    expect(metrics).toMatch(
      /^reconciliation_completed_timestamp_seconds\{provider="stripe"\} \d+/m,
    );
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'amount',
          payment_id: amount,
          booked_amount: 1_001,
          provider_amount: 1_000,
        }),
        expect.objectContaining({ type: 'currency', payment_id: currency }),
        expect.objectContaining({
          type: 'status',
          payment_id: status,
          booked_status: 'ended',
          provider_status: 'succeeded',
        }),
      ]),
    );
  });

  it('names charges and refunds that one side does not know', async () => {
    const customer = await customerWithCard();
    const [unknownThere, refunded] = [await pay(customer), await pay(customer)];
    const unknownHere = await chargeOf(refunded, 'pay_01h455vb4pex5vsknk084sn02q');
    stripe.account.paymentIntents.delete(intentOf(unknownThere).id);
    const refund = await made(`/v1/refunds/payment/${refunded}`, { amount: 100 });
    const reference = [...stripe.account.refunds.keys()].at(-1) ?? '';
    stripe.account.refunds.delete(reference);
    // A refund that was made in the dashboard of the provider.
    const dashboard = await stripe
      .client()
      .refunds.create({ payment_intent: intentOf(refunded).id, amount: 200 });
    await engine.database
      .query('DELETE FROM credit_source WHERE payment_id = $1', [unknownHere])
      .catch(() => undefined);
    const found = await reconcile();
    expect(found).toHaveLength(4);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'missing_at_provider',
          object: 'charge',
          payment_id: unknownThere,
        }),
        expect.objectContaining({
          type: 'missing_here',
          object: 'charge',
          provider_reference: unknownHere,
        }),
        expect.objectContaining({
          type: 'missing_at_provider',
          object: 'refund',
          refund_id: refund,
        }),
        expect.objectContaining({
          type: 'missing_here',
          object: 'refund',
          payment_id: refunded,
          provider_reference: dashboard.id,
        }),
      ]),
    );
  });

  it('names a payment that was charged twice', async () => {
    const customer = await customerWithCard();
    const payment = await pay(customer);
    const second = await chargeOf(payment, payment);
    expect(await reconcile()).toMatchObject([
      { type: 'charged_twice', payment_id: payment, provider_reference: second },
    ]);
  });

  const refundThere = (payment_intent: string, fields: object = {}) =>
    stripe.client().refunds.create({ payment_intent, ...fields });

  it('names a charge that is not booked until nothing of it is left at the provider', async () => {
    const customer = await customerWithCard();
    const payment = await pay(customer);
    const second = await chargeOf(payment, payment);
    const unknown = await chargeOf(payment, 'pay_01h455vb4pex5vsknk084sn02q');
    await refundThere(second, { amount: 400 });
    await refundThere(unknown, {
      amount: 400,
      metadata: { ...intentOf(payment).metadata, refund_id: 'ref_01h455vb4pex5vsknk084sn02q' },
    });
    const partly = await reconcile();
    expect(partly.map(({ type, object }) => `${type} ${object}`).sort()).toEqual([
      'charged_twice charge',
      'missing_here charge',
      'missing_here refund',
    ]);
    await refundThere(second);
    await refundThere(unknown);
    expect(await reconcile()).toEqual([]);
  });

  it('names a refund of a booked charge that was refunded in full', async () => {
    const payment = await pay(await customerWithCard());
    const { id } = await refundThere(intentOf(payment).id);
    expect(await reconcile()).toMatchObject([
      { type: 'missing_here', object: 'refund', payment_id: payment, provider_reference: id },
    ]);
  });

  it('reads the books again where the provider does not know an object', async () => {
    const customer = await customerWithCard();
    const [payment, refunded] = [await pay(customer), await pay(customer)];
    const refund = await made(`/v1/refunds/payment/${refunded}`, { amount: 100 });
    stripe.account.refunds.clear();
    const second = await chargeOf(payment, payment);
    const provider = engine.app.get(ProviderMovementsService);
    const read = provider.read.bind(provider);
    jest.spyOn(provider, 'read').mockImplementation(async (name, kind, reference) => {
      // Meanwhile the second charge is removed, and the bank returns the refund.
      if (kind === 'charge') stripe.account.paymentIntents.delete(second);
      else
        await engine.database.query(
          `UPDATE refund SET status = 'failed', failure_code = 'declined' WHERE id = $1`,
          [refund],
        );
      return read(name, kind, reference);
    });
    expect(await reconcile()).toEqual([]);
  });

  it('leaves charges and refunds of other services alone, whatever their currency and metadata', async () => {
    const other = stripe.client();
    const metadata = { ...intentOf(await pay(await customerWithCard())).metadata };
    const charge = (currency: string, fields: object) =>
      other.paymentIntents.create({
        amount: 500,
        currency,
        payment_method: 'pm_card_visa',
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        confirm: true,
        metadata: { ...fields },
      });
    const plain = await charge('usd', { order: '77' });
    await charge('usd', { ...metadata, environment: 'other' });
    await charge('usd', { ...metadata, payment_id: 'P-77' });
    await charge('usd', { environment: metadata['environment'] });
    // The dobra of São Tomé, as Stripe names it: a code that ISO 4217 has withdrawn.
    const unknownCurrency = await charge('std', {});
    await refundThere(unknownCurrency.id, { amount: 100 });
    await refundThere(plain.id, { amount: 100 });
    await refundThere(plain.id, { amount: 100, metadata: { refund_id: 'R-77-1' } });
    await refundThere(plain.id, {
      amount: 100,
      metadata: { environment: metadata['environment'] ?? '', refund_id: 'R-77-2' },
    });
    expect(await reconcile()).toEqual([]);
  });

  it('finds booked charges and refunds by the id of the provider, whatever their metadata say', async () => {
    const customer = await customerWithCard();
    const [emptied, renamed] = [await pay(customer), await pay(customer)];
    for (const payment of [emptied, renamed]) {
      await made(`/v1/refunds/payment/${payment}`, { amount: 100 });
    }
    const unbooked = await refundThere(intentOf(renamed).id, {
      amount: 200,
      metadata: { environment: 'other' },
    });
    await engine.database.query('UPDATE payment SET amount = 1001 WHERE id = $1', [emptied]);
    const [refund] = stripe.account.refunds.values();
    if (refund !== undefined) refund.metadata = {};
    intentOf(emptied).metadata = {};
    intentOf(renamed).metadata['environment'] = 'former';
    for (const { metadata } of stripe.account.refunds.values()) {
      if (metadata?.['environment'] !== undefined) metadata['environment'] = 'former';
    }
    const found = await reconcile();
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'amount', object: 'charge', payment_id: emptied }),
        expect.objectContaining({
          type: 'missing_here',
          object: 'refund',
          payment_id: renamed,
          provider_reference: unbooked.id,
        }),
      ]),
    );
  });

  it.each([
    ['succeeded', 'succeeded'],
    ['was returned by the bank', 'failed'],
  ])('names a refund with the id of another one that %s as missing', async (_, status) => {
    const payment = await pay(await customerWithCard());
    const booked = await made(`/v1/refunds/payment/${payment}`, { amount: 300 });
    const [refund] = stripe.account.refunds.values();
    if (status === 'failed') {
      stripe.failRefund(refund?.id ?? '');
      await engine.database.query(
        `UPDATE refund SET status = 'failed', failure_code = 'refund_declined' WHERE id = $1`,
        [booked],
      );
    }
    const { id } = await refundThere(intentOf(payment).id, {
      amount: 200,
      metadata: { ...refund?.metadata },
    });
    expect(await reconcile()).toMatchObject([
      { type: 'missing_here', payment_id: payment, refund_id: null, provider_reference: id },
    ]);
  });

  it('leaves refunds of other services alone that a process of the previous release listed', async () => {
    const { id: charge } = await stripe.client().paymentIntents.create({
      amount: 500,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
    });
    const refund = await refundThere(charge, { amount: 200, metadata: { refund_id: '4711' } });
    engine.clock.advanceMs(HOUR_MS);
    const { id } = (await start()).body as Run;
    await engine.database.query(
      `INSERT INTO reconciliation_listed_movement (reconciliation_id, kind, reference, subject_id,
        charge_reference, amount, currency, state)
      VALUES ($1, 'refund', $2, '4711', $3, 200, 'USD', 'succeeded')`,
      [id, refund.id, charge],
    );
    expect(await finish(id)).toMatchObject({ status: 'completed', differences_found: 0 });
  });

  it('reads several pages, and compares only the period', async () => {
    const customer = await customerWithCard();
    const payments: string[] = [];
    for (let count = 0; count < 105; count += 1) payments.push(await pay(customer));
    engine.clock.advanceMs(HOUR_MS);
    const now = engine.clock.now().getTime();
    const answer = await start({ from: new Date(now - 2 * HOUR_MS).toISOString() });
    expect(await finish((answer.body as Run).id)).toMatchObject({
      status: 'completed',
      charges_listed: 105,
      differences_found: 0,
    });
    const before = await start({
      from: new Date(now - DAY_MS).toISOString(),
      to: new Date(now - 12 * HOUR_MS).toISOString(),
    });
    expect(await finish((before.body as Run).id)).toMatchObject({ charges_listed: 0 });
  });

  it('runs once: of two requests at once one is refused', async () => {
    const answers = await Promise.all([start(), start()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const refused = answers.find(({ status }) => status === 409);
    const begun = answers.find(({ status }) => status === 201);
    expect(refused?.body).toMatchObject({
      code: 'reconciliation_running',
      reconciliation_id: (begun?.body as Run).id,
    });
    await finish((begun?.body as Run).id);
    expect((await start()).status).toBe(201);
  });

  it('with the same key starts once', async () => {
    const send = () =>
      engine.http
        .post('/v1/reconciliations')
        .set('Idempotency-Key', 'nightly')
        .send({ provider: 'stripe' });
    const first = await send();
    await finish((first.body as Run).id);
    expect((await send()).text).toBe(first.text);
    const listed = await engine.http.get('/v1/reconciliations').expect(200);
    expect((listed.body as { data: unknown[] }).data).toHaveLength(1);
  });

  it('goes on after a step that was not committed, and after a time without answers', async () => {
    await pay(await customerWithCard());
    engine.clock.advanceMs(HOUR_MS);
    const { id } = (await start()).body as Run;
    stripe.faults.plan('error_500_before', { operation: 'paymentIntents.list' });
    await step();
    await step();
    engine.clock.advanceMs(6_000);
    // Reads a page, and dies before the commit.
    const [run] = [await engine.app.get(ReconciliationsService).get(id)];
    await engine.app.get(ReconciliationSteps).next(run);
    expect(await finish(id)).toMatchObject({ status: 'completed', charges_listed: 1 });
  });

  it('fails after hours without an answer', async () => {
    const { id } = (await start()).body as Run;
    stripe.faults.plan('error_500_before', { operation: 'paymentIntents.list', times: 100 });
    for (let hours = 0; hours < 14; hours += 1) {
      await step();
      engine.clock.advanceMs(HOUR_MS);
    }
    expect(await finish(id)).toMatchObject({
      status: 'failed',
      failure_code: 'provider_unavailable',
    });
    const types = (await eventsOf(engine, id)).map(({ type }) => type);
    expect(types).toEqual(['reconciliation.created', 'reconciliation.failed']);
  });

  it('fails after hours of answers that it cannot process, and can be started again', async () => {
    const { id } = (await start()).body as Run;
    const text = '{"object":"list","data":[{"object":"refund","id":"re_1"}],"has_more":false}';
    const garbled = { status: 200, text };
    stripe.faults.plan(garbled, { operation: 'refunds.list', times: 100 });
    for (let hours = 0; hours < 14; hours += 1) {
      await step();
      engine.clock.advanceMs(HOUR_MS);
    }
    expect(await finish(id)).toMatchObject({ status: 'failed', failure_code: 'internal_error' });
    stripe.faults.clear();
    expect(await reconcile()).toEqual([]);
  });

  it('does not count steps that the database interrupted as unanswered', async () => {
    await pay(await customerWithCard());
    engine.clock.advanceMs(HOUR_MS);
    const { id } = (await start()).body as Run;
    await engine.database.query(`
      CREATE FUNCTION interrupt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE 'canceling statement due to statement timeout' USING ERRCODE = 'query_canceled';
      END $$`);
    await engine.database.query(`
      CREATE TRIGGER interrupt BEFORE UPDATE ON reconciliation FOR EACH ROW
      WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION interrupt()`);
    for (let attempts = 1; attempts <= 12; attempts += 1) {
      await step();
      await until('the lease is given back', async () => {
        const sql = 'SELECT FROM reconciliation WHERE leased_by IS NULL AND attempts = $1';
        return (await engine.database.query(sql, [attempts])).length === 1;
      });
      engine.clock.advanceMs(HOUR_MS);
    }
    await engine.database.query('DROP TRIGGER interrupt ON reconciliation');
    stripe.faults.plan('error_500_before', { operation: 'paymentIntents.list' });
    await step();
    engine.clock.advanceMs(HOUR_MS);
    expect(await finish(id)).toMatchObject({ status: 'completed', charges_listed: 1 });
  });

  it.each([
    [{ provider: 'sandbox' }, 400, 'validation_failed'],
    [{ from: 'yesterday' }, 400, 'validation_failed'],
    [{ from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' }, 400, 'validation_failed'],
    [{ to: '0001-01-01T00:00:00Z' }, 400, 'validation_failed'],
  ])('%j is refused', async (fields, status, code) => {
    expect((await start(fields)).body).toMatchObject({ status, code });
  });

  it('begins in the year 1 at the earliest', async () => {
    const { body } = await start({ to: '0001-01-03T00:00:00Z' });
    expect(body).toMatchObject({ from: '0001-01-01T00:00:00.000Z' });
  });

  it('is not found under another id', async () => {
    const path = '/v1/reconciliations/rcon_01h455vb4pex5vsknk084sn02q';
    for (const one of [path, `${path}/differences`]) {
      expect((await engine.http.get(one)).body).toMatchObject({
        status: 404,
        code: 'reconciliation_not_found',
      });
    }
  });
});

it('a comparison with a provider that is not switched on is refused', async () => {
  const engine = await startTestApp();
  const answer = await engine.http.post('/v1/reconciliations').send({ provider: 'stripe' });
  expect(answer.body).toMatchObject({ status: 422, code: 'payment_provider_not_enabled' });
  await engine.app.get(ReconciliationsService).startDaily();
  expect((await engine.http.get('/v1/reconciliations')).body).toMatchObject({ data: [] });
  await engine.close();
});
