import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import type { ProviderOutcome } from '../../src/modules/payments/domain/payment-provider';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { createCustomer, createPayment } from '../support/billing';
import { unpost } from '../support/ledger';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

describe('payments', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const read = async (id: string) => (await engine.http.get(`/v1/payments/${id}`)).body as object;
  const types = async (id: string) => (await eventsOf(engine, id)).map(({ type }) => type);
  const finishDue = async (of = engine) => {
    const worker = of.app.get(DuePayments);
    await worker.runDue();
    await worker.idle();
  };

  it('are made through the sandbox, with every field the API shows', async () => {
    const customer = await createCustomer(engine);
    const answer = await engine.http.post('/v1/payments').send({
      customer_id: customer,
      amount: 10_000,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_ok',
      metadata: { order: 1042 },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^pay_/) as string,
      customer_id: customer,
      invoice_id: null,
      collection_attempt: null,
      amount: 10_000,
      currency: 'USD',
      status: 'succeeded',
      amount_applied: 0,
      amount_lost: 0,
      amount_refunded: 0,
      amount_refund_pending: 0,
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_ok',
      failure_code: null,
      is_disputed: false,
      actor: 'open',
      metadata: { order: 1042 },
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    const { id } = answer.body as { id: string };
    expect(await read(id)).toEqual(answer.body);
    const events = await eventsOf(engine, id);
    expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['payment.created', 1],
      ['payment.succeeded', 2],
    ]);
    expect(events[1]?.data).toEqual({ object: answer.body, previous: { status: 'pending' } });
  });

  it.each([
    ['pm_sandbox_declined', 'card_declined'],
    ['pm_sandbox_insufficient_funds', 'insufficient_funds'],
  ])('with %s fail, which is a 201 and not an error', async (token, code) => {
    const id = await createPayment(engine, { payment_method_id: token });
    expect(await read(id)).toMatchObject({ status: 'failed', failure_code: code });
    expect(await types(id)).toEqual(['payment.created', 'payment.failed']);
  });

  it('recorded manually succeed', async () => {
    const id = await createPayment(engine, { provider: 'manual' });
    expect(await read(id)).toMatchObject({ status: 'succeeded', provider: 'manual' });
  });

  describe('that are pending', () => {
    it('settle once, when the sandbox decides', async () => {
      const id = await createPayment(engine, { payment_method_id: 'pm_sandbox_pending' });
      expect(await read(id)).toMatchObject({ status: 'processing' });
      const settle = () =>
        engine.http.post(`/v1/sandbox/payments/${id}/settle`).send({ outcome: 'succeeded' });
      expect((await settle()).body).toMatchObject({ status: 'succeeded' });
      const again = await settle();
      expect(again.status).toBe(409);
      expect(again.body).toMatchObject({ code: 'payment_not_in_sandbox' });
      expect(await types(id)).toEqual([
        'payment.created',
        'payment.processing',
        'payment.succeeded',
      ]);
    });

    it('fail when the sandbox decides so, with the same response for the same key', async () => {
      const id = await createPayment(engine, { payment_method_id: 'pm_sandbox_pending' });
      const settle = () =>
        engine.http
          .post(`/v1/sandbox/payments/${id}/settle`)
          .set('Idempotency-Key', `settle-${id}`)
          .send({ outcome: 'failed', failure_code: 'expired_card' });
      const first = await settle();
      expect(first.body).toMatchObject({ status: 'failed', failure_code: 'expired_card' });
      const second = await settle();
      expect(second.text).toBe(first.text);
      expect(second.headers['idempotent-replayed']).toBe('true');
    });

    it('settle once for six concurrent requests with one key, all with the same response', async () => {
      const id = await createPayment(engine, { payment_method_id: 'pm_sandbox_pending' });
      const answers = await Promise.all(
        Array.from({ length: 6 }, () =>
          engine.http
            .post(`/v1/sandbox/payments/${id}/settle`)
            .set('Idempotency-Key', `settle-${id}`)
            .send({ outcome: 'succeeded' }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers[0]?.body).toMatchObject({ id, status: 'succeeded' });
      expect(await types(id)).toEqual([
        'payment.created',
        'payment.processing',
        'payment.succeeded',
      ]);
    });

    it('stay pending, also at the sandbox, if the settlement is not committed, and can be settled again', async () => {
      const id = await createPayment(engine, { payment_method_id: 'pm_sandbox_pending' });
      const settle = () =>
        engine.http
          .post(`/v1/sandbox/payments/${id}/settle`)
          .set('Idempotency-Key', `settle-${id}`)
          .send({ outcome: 'succeeded' });
      await engine.database.query(
        `ALTER TABLE idempotency_key ADD CONSTRAINT no_answers CHECK (answer_status IS NULL) NOT VALID`,
      );
      expect((await settle()).status).toBe(500);
      await engine.database.query('ALTER TABLE idempotency_key DROP CONSTRAINT no_answers');
      expect(await read(id)).toMatchObject({ status: 'processing' });
      const again = await settle();
      expect(again.status).toBe(200);
      expect(again.body).toMatchObject({ status: 'succeeded' });
    });

    it('are polled by the worker with growing pauses until they settle', async () => {
      const id = await createPayment(engine, { payment_method_id: 'pm_sandbox_pending' });
      engine.clock.advanceMs(5_000);
      await finishDue();
      expect(await read(id)).toMatchObject({ status: 'processing' });
      const [row] = await engine.database.query<{ attempts: number; due_at: Date }>(
        'SELECT attempts, due_at FROM payment WHERE id = $1',
        [id],
      );
      expect(row).toEqual({ attempts: 2, due_at: new Date(engine.clock.now().getTime() + 10_000) });
    });
  });

  it('without a response of the provider are resolved by the worker, and charged once', async () => {
    const id = await createPayment(engine, { payment_method_id: 'pm_sandbox_unknown' });
    expect(await read(id)).toMatchObject({ status: 'processing' });
    engine.clock.advanceMs(5_000);
    await Promise.all([finishDue(), finishDue()]);
    expect(await read(id)).toMatchObject({ status: 'succeeded' });
    expect(await types(id)).toEqual(['payment.created', 'payment.processing', 'payment.succeeded']);
    const operations = await engine.database.query(
      'SELECT key FROM sandbox_operation WHERE key = $1',
      [`charge:${id}`],
    );
    expect(operations).toHaveLength(1);
  });

  it('that a crash left pending before the provider call are charged by the worker', async () => {
    const id = await createPayment(engine);
    await engine.database.query(
      `UPDATE payment SET status = 'pending', provider_reference = NULL, due_at = $2 WHERE id = $1`,
      [id, engine.clock.now()],
    );
    await unpost(engine, id);
    await engine.database.query('DELETE FROM sandbox_operation WHERE key = $1', [`charge:${id}`]);
    await finishDue();
    expect(await read(id)).toMatchObject({ status: 'succeeded' });
  });

  describe('that are due', () => {
    let own: TestApp;

    beforeAll(async () => {
      own = await startTestApp();
    });

    afterAll(() => own.close());
    afterEach(() => jest.restoreAllMocks());

    const leased = async () => {
      const rows = await own.database.query<{ id: string }>(
        `SELECT id FROM payment WHERE due_at > $1 AND status = 'processing'`,
        [own.clock.now()],
      );
      return rows.length;
    };

    it('are claimed up to the concurrency limit, and one call that hangs does not delay the others', async () => {
      const ids: string[] = [];
      for (let made = 0; made < 12; made += 1) {
        ids.push(await createPayment(own, { payment_method_id: 'pm_sandbox_pending' }));
      }
      await own.database.query(
        `UPDATE sandbox_operation SET outcome = 'succeeded' WHERE outcome = 'pending'`,
      );
      own.clock.advanceMs(10_000);
      const sandbox = own.app.get(SandboxProvider);
      const ask = sandbox.charge.bind(sandbox);
      const held: (() => void)[] = [];
      const asked: string[] = [];
      jest.spyOn(sandbox, 'charge').mockImplementation(async (request) => {
        asked.push(request.idempotencyKey);
        // The first five wait for release: one of them until all others are done.
        if (asked.length <= 5) await new Promise<void>((release) => held.push(release));
        return ask(request);
      });
      const worker = own.app.get(DuePayments);

      await worker.runDue();
      await until('five provider calls are in flight', () => held.length === 5);
      expect(await leased()).toBe(5);
      await worker.runDue();
      expect(await leased()).toBe(5);

      const [hanging, ...others] = held;
      for (const release of others) release();
      const succeeded = async () => {
        await worker.runDue();
        const rows = await own.database.query(
          `SELECT id FROM payment WHERE status = 'succeeded' AND id = ANY ($1)`,
          [ids],
        );
        return rows.length;
      };
      await until('all others are finished', async () => (await succeeded()) === 11);
      hanging?.();
      await worker.idle();
      expect(await succeeded()).toBe(12);
      expect(new Set(asked).size).toBe(asked.length);
    });

    it('stay leased for as long as two calls may take', async () => {
      const id = await createPayment(own, { payment_method_id: 'pm_sandbox_pending' });
      own.clock.advanceMs(10_000);
      const sandbox = own.app.get(SandboxProvider);
      const release: ((outcome: ProviderOutcome) => void)[] = [];
      jest
        .spyOn(sandbox, 'charge')
        .mockImplementation(() => new Promise<ProviderOutcome>((answer) => release.push(answer)));
      const worker = own.app.get(DuePayments);
      await worker.runDue();
      await until('the first provider call is in flight', () => release.length === 1);
      own.clock.advanceMs(60_000);
      await worker.runDue();
      expect(release).toHaveLength(1);
      own.clock.advanceMs(90_000);
      await worker.runDue();
      await until('another call follows after the lease', () => release.length === 2);
      for (const answer of release) answer({ kind: 'succeeded', reference: 'pm_sandbox_ok/late' });
      await worker.idle();
      expect(await eventsOf(own, id)).toHaveLength(3);
    });
  });

  it('with the same key are one payment, also for fifty concurrent requests', async () => {
    const customer = await createCustomer(engine);
    const pay = () =>
      engine.http
        .post('/v1/payments')
        .set('Idempotency-Key', 'order-1042')
        .send({ customer_id: customer, amount: 500, currency: 'EUR' });
    const answers = await Promise.all(Array.from({ length: 50 }, pay));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(
      answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined),
    ).toHaveLength(1);
    const listed = await engine.http.get('/v1/payments').query({ customer_id: customer });
    expect((listed.body as { data: unknown[] }).data).toHaveLength(1);
  });

  describe('and the currency of the customer', () => {
    const pay = (customer: string, currency: string, fields: object = {}) =>
      engine.http
        .post('/v1/payments')
        .send({ customer_id: customer, amount: 500, currency, ...fields });
    const customerOf = async (id: string) =>
      (await engine.http.get(`/v1/customers/${id}`)).body as object;

    it('is fixed by the first payment, and cannot change afterwards', async () => {
      const customer = await createCustomer(engine);
      expect((await pay(customer, 'EUR')).status).toBe(201);
      expect(await customerOf(customer)).toMatchObject({ currency: 'EUR', currency_locked: true });
      expect((await pay(customer, 'EUR')).status).toBe(201);
      expect(await types(customer)).toEqual(['customer.created', 'customer.updated']);

      const other = await pay(customer, 'USD');
      expect(other.status).toBe(422);
      expect(other.body).toMatchObject({
        code: 'customer_currency_mismatch',
        customer_currency: 'EUR',
      });
      const change = await engine.http.patch(`/v1/customers/${customer}`).send({ currency: 'USD' });
      expect(change.status).toBe(409);
      expect(change.body).toMatchObject({ code: 'customer_currency_locked' });
    });

    it('is locked if it was set before, also when the charge fails', async () => {
      const customer = await createCustomer(engine, { currency: 'JPY' });
      expect((await pay(customer, 'EUR')).status).toBe(422);
      expect(await customerOf(customer)).toMatchObject({ currency_locked: false });
      await pay(customer, 'JPY', { payment_method_id: 'pm_sandbox_declined' });
      expect(await customerOf(customer)).toMatchObject({ currency: 'JPY', currency_locked: true });
    });

    it('is that of one of two concurrent payments in different currencies', async () => {
      const customer = await createCustomer(engine);
      const answers = await Promise.all([pay(customer, 'USD'), pay(customer, 'EUR')]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
      const made = answers.find(({ status }) => status === 201)?.body as { currency: string };
      expect(await customerOf(customer)).toMatchObject({
        currency: made.currency,
        currency_locked: true,
      });
      expect(answers.find(({ status }) => status === 422)?.body).toMatchObject({
        code: 'customer_currency_mismatch',
        customer_currency: made.currency,
      });
    });
  });

  it('are listed by customer, newest first; the list of a customer without payments is empty', async () => {
    const customer = await createCustomer(engine);
    const empty = await engine.http.get('/v1/payments').query({ customer_id: customer });
    expect(empty.body).toEqual({ data: [], next_cursor: null });
    const first = await createPayment(engine, { customer_id: customer });
    const second = await createPayment(engine, { customer_id: customer });
    const listed = await engine.http.get('/v1/payments').query({ customer_id: customer });
    expect((listed.body as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
      second,
      first,
    ]);
  });

  it.each([
    [{ customer_id: 'cus_01h455vb4pex5vsknk084sn02q' }, 422, 'reference_not_found'],
    [{ customer_id: 'nobody' }, 422, 'reference_not_found'],
    [{ payment_method_id: 'pm_card_visa' }, 422, 'payment_method_not_accepted'],
    [
      { provider: 'manual', payment_method_id: 'pm_sandbox_ok' },
      422,
      'payment_method_not_accepted',
    ],
    [{ payment_method_id: 'constructor' }, 422, 'payment_method_not_accepted'],
    [{ amount: 0 }, 400, 'validation_failed'],
    [{ amount: 1.5 }, 400, 'validation_failed'],
    [{ amount: '100' }, 400, 'validation_failed'],
    [{ amount: 9_007_199_254_740_992 }, 400, 'validation_failed'],
    [{ currency: 'usd' }, 400, 'validation_failed'],
    [{ currency: 'XXX' }, 400, 'validation_failed'],
    [{ provider: 'paypal' }, 400, 'validation_failed'],
    [{ invoice: 'inv_1' }, 400, 'validation_failed'],
  ])('with %j are refused: %i %s', async (fields, status, code) => {
    const customer = await createCustomer(engine);
    const answer = await engine.http
      .post('/v1/payments')
      .send({ customer_id: customer, amount: 100, currency: 'USD', ...fields });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code });
  });

  it('accept the largest amount of JSON', async () => {
    const id = await createPayment(engine, { amount: 9_007_199_254_740_991 });
    expect(await read(id)).toMatchObject({ amount: 9_007_199_254_740_991 });
  });

  it('with an unknown id give 404', async () => {
    for (const path of ['/v1/payments/nope', '/v1/payments/pay_01h455vb4pex5vsknk084sn02q']) {
      const answer = await engine.http.get(path);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'payment_not_found' });
    }
    const settled = await engine.http
      .post('/v1/sandbox/payments/pay_01h455vb4pex5vsknk084sn02q/settle')
      .send({ outcome: 'succeeded' });
    expect(settled.body).toMatchObject({ code: 'payment_not_found' });
  });
});
