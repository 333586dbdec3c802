import { Client } from 'pg';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { postingsOf } from '../support/ledger';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

interface PaymentBody {
  readonly id: string;
  readonly status: string;
}

describe('payments of invoices', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const begin = (): Promise<Story> =>
    Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });

  async function draft(story: Story, amount: number): Promise<string> {
    const answer = await engine.http.post('/v1/invoices').send({
      customer_id: story.customerId,
      lines: [{ description: 'Work', amount }],
    });
    return (answer.body as Invoice).id;
  }

  /** Creates an open invoice of an amount. */
  async function open(story: Story, amount = 1_000): Promise<string> {
    const id = await draft(story, amount);
    await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    return id;
  }

  const pay = (id: string, body: object = { provider: 'sandbox' }) =>
    engine.http.post(`/v1/invoices/${id}/pay`).send(body);
  const payPart = (story: Story, id: string, amount: number, fields: object = {}) =>
    engine.http.post('/v1/payments').send({
      customer_id: story.customerId,
      invoice_id: id,
      amount,
      currency: 'USD',
      ...('payment_method_id' in fields ? {} : { provider: 'sandbox' }),
      ...fields,
    });
  const settle = (paymentId: string, outcome: string) =>
    engine.http.post(`/v1/sandbox/payments/${paymentId}/settle`).send({ outcome });
  const invoiceCommand = (id: string, command: string) =>
    engine.http.post(`/v1/invoices/${id}/${command}`).send({});
  const read = async (id: string) => (await engine.http.get(`/v1/invoices/${id}`)).body as Invoice;
  const payment = async (id: string) =>
    (await engine.http.get(`/v1/payments/${id}`)).body as PaymentBody;
  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type);
  const credit = (id: string, line: string | undefined, amount: number, settled = 'credit') =>
    engine.http.post('/v1/credit-notes').send({
      invoice_id: id,
      lines: [{ invoice_line_id: line, amount }],
      reason: 'Late',
      settle: settled,
    });

  it('charge the remaining amount, and pay the invoice in the commit of their outcome', async () => {
    const story = await begin();
    const id = await open(story);
    const { status, body } = await pay(id);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      customer_id: story.customerId,
      invoice_id: id,
      amount: 1_000,
      amount_applied: 1_000,
      currency: 'USD',
      status: 'succeeded',
      created_at: '2026-03-01T00:00:00.000Z',
    });
    expect(await read(id)).toMatchObject({
      status: 'paid',
      amount_paid: 1_000,
      amount_remaining: 0,
      amount_pending: 0,
      paid_at: '2026-03-01T00:00:00.000Z',
    });
    expect(await typesOf(id)).toEqual([
      'invoice.created',
      'invoice.finalized',
      'invoice.updated',
      'invoice.paid',
    ]);
    const paymentId = (body as PaymentBody).id;
    expect(await postingsOf(engine, paymentId)).toEqual([
      ['payment', { 'cash_clearing:sandbox': 1_000, accounts_receivable: -1_000 }],
    ]);
    const listed = await engine.http.get('/v1/payments').query({ invoice_id: id });
    expect((listed.body as { data: object[] }).data).toEqual([body]);
    await story.verify();
  });

  it('that fail leave the invoice open, and record an event', async () => {
    const story = await begin();
    const id = await open(story);
    const { status, body } = await pay(id, { payment_method_id: 'pm_sandbox_declined' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'failed', failure_code: 'card_declined' });
    expect(await read(id)).toMatchObject({
      status: 'open',
      amount_remaining: 1_000,
      amount_pending: 0,
    });
    expect((await typesOf(id)).at(-1)).toBe('invoice.payment_failed');
    expect((await pay(id, { provider: 'manual' })).body).toMatchObject({ provider: 'manual' });
    expect(await read(id)).toMatchObject({ status: 'paid' });
    await story.verify();
  });

  it.each([
    ['/pay', 404, { code: 'invoice_not_found' }],
    [
      '/v1/payments',
      422,
      {
        code: 'reference_not_found',
        errors: [expect.objectContaining({ pointer: '/invoice_id' })],
      },
    ],
  ])('of a draft that is deleted at the same time: %s answers %d', async (path, status, body) => {
    const story = await begin();
    const id = await draft(story, 1_000);
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM invoice WHERE id = $1 FOR UPDATE', [id]);
    const deleted = engine.http.delete(`/v1/invoices/${id}`).then((answer) => answer.status);
    await untilSessionsWait(engine.database);
    const paid = (path === '/pay' ? pay(id) : payPart(story, id, 500)).then((answer) => answer);
    await untilSessionsWait(engine.database, 2);
    await holder.query('COMMIT');
    await holder.end();
    expect(await deleted).toBe(204);
    expect(await paid).toMatchObject({ status, body });
  });

  it('of parts add up, and never exceed the remaining amount', async () => {
    const story = await begin();
    const id = await open(story);
    expect((await payPart(story, id, 400)).body).toMatchObject({ amount_applied: 400 });
    expect(await read(id)).toMatchObject({ status: 'open', amount_remaining: 600 });
    expect((await payPart(story, id, 601)).body).toMatchObject({
      status: 422,
      code: 'payment_exceeds_invoice',
      payable_amount: 600,
    });
    const events = ['invoice.created', 'invoice.finalized', 'invoice.updated', 'invoice.updated'];
    expect(await typesOf(id)).toEqual(events);
    expect((await payPart(story, id, 600)).status).toBe(201);
    expect(await read(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
    expect(await typesOf(id)).toEqual([...events, 'invoice.updated', 'invoice.paid']);
    await story.verify();
  });

  it('charge once for forty concurrent requests', async () => {
    const story = await begin();
    const id = await open(story);
    const answers = await Promise.all(Array.from({ length: 40 }, () => pay(id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of answers.filter(({ status }) => status !== 201)) {
      expect(status).toBe(409);
      expect(['invoice_payment_pending', 'invoice_not_payable']).toContain(
        (body as { code: string }).code,
      );
    }
    const [row] = await engine.database.query<{ charges: number }>(
      `SELECT count(*)::int AS charges FROM sandbox_operation
       WHERE key IN (SELECT 'charge:' || id FROM payment WHERE invoice_id = $1)`,
      [id],
    );
    expect(row).toEqual({ charges: 1 });
    expect(await read(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
    await story.verify();
  });

  it('of parts, made concurrently, never exceed the remaining amount', async () => {
    const story = await begin();
    const id = await open(story);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        payPart(story, id, 300, { payment_method_id: 'pm_sandbox_pending' }),
      ),
    );
    const taken = answers.filter(({ status }) => status === 201);
    expect(taken).toHaveLength(3);
    expect(await read(id)).toMatchObject({ amount_pending: 900, amount_remaining: 1_000 });
    await story.verify();
    for (const { body } of taken) await settle((body as PaymentBody).id, 'succeeded').expect(200);
    expect((await pay(id)).body).toMatchObject({ amount: 100 });
    expect(await read(id)).toMatchObject({ status: 'paid', amount_pending: 0 });
    await story.verify();
  });

  it('concurrent with voids, credit notes and write-offs leave the ledger balanced', async () => {
    const story = await begin();
    const ids: string[] = [];
    for (let made = 0; made < 6; made += 1) ids.push(await open(story));
    const tokens = ['pm_sandbox_ok', 'pm_sandbox_declined', 'pm_sandbox_pending'];
    const answers = await Promise.all(
      ids.flatMap((id, index) => [
        pay(id, { payment_method_id: tokens[index % 3] }),
        payPart(story, id, 300, { payment_method_id: tokens[(index + 1) % 3] }),
        payPart(story, id, 400, { payment_method_id: 'pm_sandbox_pending' }),
        invoiceCommand(id, index % 2 === 0 ? 'void' : 'mark-uncollectible'),
        read(id).then(({ lines }) => credit(id, lines[0]?.id, 250)),
      ]),
    );
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    await story.verify();
    const listed = await engine.http
      .get('/v1/payments')
      .query({ customer_id: story.customerId, limit: 100 });
    const { data } = listed.body as { data: readonly PaymentBody[] };
    await Promise.all(
      data
        .filter(({ status }) => status === 'processing')
        .map(({ id }, index) => settle(id, index % 3 === 0 ? 'failed' : 'succeeded').expect(200)),
    );
    await story.verify();
    await Promise.all(
      data.map(({ id }) => engine.http.post(`/v1/refunds/payment/${id}`).send({ amount: 120 })),
    );
    await story.verify();
    for (const id of ids) expect(await read(id)).toMatchObject({ amount_pending: 0 });
  });

  it('with the same key are one payment with one response', async () => {
    const story = await begin();
    const id = await open(story);
    const send = () => pay(id).set('Idempotency-Key', `pay-${id}`);
    const answers = await Promise.all(Array.from({ length: 8 }, send));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect((await send()).headers['idempotent-replayed']).toBe('true');
    await story.verify();
  });

  describe('that are pending', () => {
    const begun = async (story: Story, id: string): Promise<string> => {
      const { body } = await pay(id, { payment_method_id: 'pm_sandbox_pending' });
      expect(body).toMatchObject({ status: 'processing', amount_applied: 0 });
      await story.verify();
      return (body as PaymentBody).id;
    };

    it('pay the invoice when they succeed; nothing else can pay it until then', async () => {
      const story = await begin();
      const id = await open(story);
      const paymentId = await begun(story, id);
      expect((await pay(id)).body).toMatchObject({ status: 409, code: 'invoice_payment_pending' });
      expect((await payPart(story, id, 1)).body).toMatchObject({ code: 'invoice_payment_pending' });
      await settle(paymentId, 'succeeded').expect(200);
      expect(await read(id)).toMatchObject({ status: 'paid' });
      await story.verify();
    });

    it('free the reserved amount when they fail', async () => {
      const story = await begin();
      const id = await open(story);
      const paymentId = await begun(story, id);
      const again = () => pay(id).set('Idempotency-Key', `again ${id}`);
      expect((await again()).body).toMatchObject({ code: 'invoice_payment_pending' });
      await settle(paymentId, 'failed').expect(200);
      expect(await read(id)).toMatchObject({ status: 'open', amount_pending: 0 });
      // The refusal was not stored under the key, because it said to try again.
      expect((await again()).body).toMatchObject({ status: 'succeeded' });
      await story.verify();
    });

    it('become credit of the customer if the invoice was voided meanwhile', async () => {
      const story = await begin();
      const id = await open(story);
      const paymentId = await begun(story, id);
      await invoiceCommand(id, 'void').expect(200);
      await settle(paymentId, 'succeeded').expect(200);
      expect(await payment(paymentId)).toMatchObject({ status: 'succeeded', amount_applied: 0 });
      expect(await read(id)).toMatchObject({ status: 'void', amount_paid: 0, amount_pending: 0 });
      expect(await postingsOf(engine, paymentId)).toEqual([
        ['payment', { 'cash_clearing:sandbox': 1_000, customer_credit: -1_000 }],
      ]);
      await story.verify();
    });

    it('pay what a credit note left of the invoice; the rest becomes credit', async () => {
      const story = await begin();
      const id = await open(story);
      const paymentId = await begun(story, id);
      await credit(id, (await read(id)).lines[0]?.id, 700).expect(201);
      await story.verify();
      await settle(paymentId, 'succeeded').expect(200);
      expect(await payment(paymentId)).toMatchObject({ amount_applied: 300 });
      expect(await read(id)).toMatchObject({ status: 'paid', amount_paid: 300 });
      await story.verify();
    });

    it('become credit if a credit note left nothing to pay', async () => {
      const story = await begin();
      const id = await open(story);
      const paymentId = await begun(story, id);
      await credit(id, (await read(id)).lines[0]?.id, 1_000).expect(201);
      await settle(paymentId, 'succeeded').expect(200);
      expect(await payment(paymentId)).toMatchObject({ amount_applied: 0 });
      expect(await typesOf(id)).toEqual([
        'invoice.created',
        'invoice.finalized',
        'invoice.updated',
        'invoice.paid',
        'invoice.updated',
      ]);
      await story.verify();
    });

    it('without a response of the provider are resolved by the worker, and pay the invoice once', async () => {
      const story = await begin();
      const id = await open(story);
      const { body } = await pay(id, { payment_method_id: 'pm_sandbox_unknown' });
      expect(body).toMatchObject({ status: 'processing' });
      engine.clock.advanceMs(5_000);
      const worker = engine.app.get(DuePayments);
      await worker.runDue();
      await worker.runDue();
      await worker.idle();
      expect(await read(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
      await story.verify();
    });
  });

  it('of a written-off invoice reverse the bad debt, also in parts', async () => {
    const story = await begin();
    const id = await open(story);
    await invoiceCommand(id, 'mark-uncollectible').expect(200);
    const { body } = await payPart(story, id, 400);
    expect(await read(id)).toMatchObject({ status: 'uncollectible', amount_remaining: 600 });
    await story.verify();
    expect(await postingsOf(engine, (body as PaymentBody).id)).toEqual([
      ['recovery', { accounts_receivable: 400, bad_debt: -400 }],
      ['payment', { 'cash_clearing:sandbox': 400, accounts_receivable: -400 }],
    ]);
    await pay(id).expect(201);
    expect(await read(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
    await story.verify();
  });

  it('prevent the void of the invoice; the rest can be credited or written off', async () => {
    const story = await begin();
    const [credited, writtenOff] = [await open(story), await open(story)];
    for (const id of [credited, writtenOff]) {
      await payPart(story, id, 400).expect(201);
      expect((await invoiceCommand(id, 'void')).body).toMatchObject({
        status: 409,
        code: 'invoice_partly_paid',
      });
    }
    await credit(credited, (await read(credited)).lines[0]?.id, 600).expect(201);
    expect(await read(credited)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    await invoiceCommand(writtenOff, 'mark-uncollectible').expect(200);
    expect((await invoiceCommand(writtenOff, 'void')).body).toMatchObject({
      code: 'invoice_partly_paid',
    });
    await story.verify();
  });

  describe('are refused', () => {
    it('for a draft, a paid and a void invoice', async () => {
      const story = await begin();
      const drafted = await draft(story, 100);
      const [paid, voided, free] = [await open(story), await open(story), await open(story, 0)];
      await pay(paid).expect(201);
      await invoiceCommand(voided, 'void').expect(200);
      for (const [id, status] of [
        [drafted, 'draft'],
        [paid, 'paid'],
        [voided, 'void'],
        [free, 'paid'],
      ] as const) {
        expect((await pay(id)).body).toMatchObject({
          status: 409,
          code: 'invoice_not_payable',
          invoice_status: status,
        });
        expect((await payPart(story, id, 1)).body).toMatchObject({ code: 'invoice_not_payable' });
      }
      await story.verify();
    });

    it('for an unknown invoice, an invoice of another customer, and another currency', async () => {
      const [story, other] = [await begin(), await begin()];
      const id = await open(other);
      const unknown = 'inv_01h455vb4pex5vsknk084sn02q';
      expect((await pay(unknown)).body).toMatchObject({ status: 404, code: 'invoice_not_found' });
      expect((await pay('nope')).body).toMatchObject({ status: 404, code: 'invoice_not_found' });
      expect((await payPart(story, unknown, 1)).body).toMatchObject({
        status: 422,
        code: 'reference_not_found',
      });
      expect((await payPart(story, id, 1)).body).toMatchObject({
        status: 422,
        code: 'payment_contradicts_invoice',
      });
      expect((await payPart(other, id, 1, { currency: 'EUR' })).body).toMatchObject({
        status: 422,
        code: 'customer_currency_mismatch',
      });
      expect(await read(id)).toMatchObject({ amount_pending: 0 });
    });

    it.each([
      [{ payment_method_id: 'pm_card_visa' }, 422, 'payment_method_not_accepted'],
      [{ payment_method_id: 'pm_01h455vb4pex5vsknk084sn02q' }, 422, 'reference_not_found'],
      [
        { provider: 'manual', payment_method_id: 'pm_sandbox_ok' },
        422,
        'payment_method_not_accepted',
      ],
      [{ provider: 'paypal' }, 400, 'validation_failed'],
      [{ amount: 1 }, 400, 'validation_failed'],
      [{ payment_method_id: 7 }, 400, 'validation_failed'],
    ])('with %j: %i %s', async (body, status, code) => {
      const id = await open(await begin());
      expect((await pay(id, body)).body).toMatchObject({ status, code });
      expect(await read(id)).toMatchObject({ status: 'open', amount_pending: 0 });
    });
  });

  describe('and their refunds', () => {
    const refund = (paymentId: string, amount?: number) =>
      engine.http
        .post(`/v1/refunds/payment/${paymentId}`)
        .send(amount === undefined ? {} : { amount })
        .expect(201);
    const paidWith = async (id: string): Promise<string> =>
      ((await pay(id)).body as PaymentBody).id;
    const accounts = async (story: Story): Promise<Readonly<Record<string, string>>> => {
      const { body } = await engine.http.get(`/v1/ledger/accounts?customer_id=${story.customerId}`);
      const { data } = body as { data: { account: string; balance: string }[] };
      return Object.fromEntries(data.map(({ account, balance }) => [account, balance]));
    };

    it('a refund without a credit note leaves the invoice paid, and is posted to refunds', async () => {
      const story = await begin();
      const id = await open(story);
      await refund(await paidWith(id), 300);
      expect(await read(id)).toMatchObject({ status: 'paid', amount_paid: 1_000 });
      expect(await accounts(story)).toMatchObject({
        refunds: '300',
        accounts_receivable: '0',
        'cash_clearing:sandbox': '700',
      });
      await story.verify();
    });

    it.each(['note first', 'refund first'])(
      'a credit note settled as a refund matches its refund, %s',
      async (order) => {
        const story = await begin();
        const id = await open(story);
        const paymentId = await paidWith(id);
        const line = (await read(id)).lines[0]?.id;
        const note = () => credit(id, line, 1_000, 'refund').expect(201);
        if (order === 'note first') await note();
        await story.verify();
        await refund(paymentId, 400);
        await story.verify();
        await refund(paymentId);
        if (order === 'refund first') await note();
        expect(await accounts(story)).toMatchObject({
          refunds: '0',
          revenue: '0',
          'cash_clearing:sandbox': '0',
        });
        await story.verify();
      },
    );

    it('a credit note settled as a refund waits on the refunds account, and its void reverses it', async () => {
      const story = await begin();
      const id = await open(story);
      await paidWith(id);
      const { body } = await credit(id, (await read(id)).lines[0]?.id, 250, 'refund');
      expect(await accounts(story)).toMatchObject({ refunds: '-250' });
      await story.verify();
      await engine.http
        .post(`/v1/credit-notes/${(body as { id: string }).id}/void`)
        .send({})
        .expect(200);
      expect(await accounts(story)).toMatchObject({ refunds: '0' });
      await story.verify();
    });

    it('the part that paid no invoice is refunded first', async () => {
      const story = await begin();
      const id = await open(story);
      const { body } = await pay(id, { payment_method_id: 'pm_sandbox_pending' });
      const paymentId = (body as PaymentBody).id;
      await credit(id, (await read(id)).lines[0]?.id, 400).expect(201);
      await settle(paymentId, 'succeeded').expect(200);
      await refund(paymentId, 300);
      expect(await accounts(story)).toMatchObject({ customer_credit: '-100' });
      await story.verify();
      await refund(paymentId, 300);
      expect(await accounts(story)).toMatchObject({ customer_credit: '0', refunds: '200' });
      await story.verify();
      await refund(paymentId);
      expect(await accounts(story)).toMatchObject({ refunds: '600', 'cash_clearing:sandbox': '0' });
      await story.verify();
    });
  });
});
