import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';

interface Identified {
  readonly id: string;
}

interface BalanceTransaction {
  readonly type: string;
  readonly amount: number;
  readonly source_id: string;
}

describe('the credit balance of a customer', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const begin = (): Promise<Story> =>
    Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
  const idOf = ({ body }: { readonly body: unknown }): string => (body as Identified).id;

  /** Pays in money without an invoice; returns the id of the payment. */
  async function payIn(story: Story, amount: number, fields: object = {}): Promise<string> {
    const answer = await engine.http
      .post('/v1/payments')
      .send({ customer_id: story.customerId, amount, currency: 'USD', ...fields })
      .expect(201);
    return idOf(answer);
  }

  async function draft(story: Story, amount: number): Promise<string> {
    const answer = await engine.http
      .post('/v1/invoices')
      .send({ customer_id: story.customerId, lines: [{ description: 'Work', amount }] });
    return idOf(answer);
  }

  const finalize = async (id: string): Promise<Invoice> =>
    (await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200)).body as Invoice;
  const bill = async (story: Story, amount: number): Promise<Invoice> =>
    finalize(await draft(story, amount));
  const read = async (path: string): Promise<object> =>
    (await engine.http.get(path).expect(200)).body as object;
  const refund = (paymentId: string, body: object = {}) =>
    engine.http.post(`/v1/refunds/payment/${paymentId}`).send(body);
  const settleRefund = (refundId: string, outcome: string) =>
    engine.http.post(`/v1/sandbox/refunds/${refundId}/settle`).send({ outcome }).expect(200);

  /** Returns all transactions of the balance, newest first, page by page. */
  async function transactionsOf({ customerId }: Story): Promise<readonly BalanceTransaction[]> {
    const found: BalanceTransaction[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = (await read(
        `/v1/customers/${customerId}/balance/transactions?limit=2${after}`,
      )) as { data: BalanceTransaction[]; next_cursor: string | null };
      found.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return found;
  }

  /** Returns the transactions that events reported. Those of concurrent requests may be in another order. */
  async function reportedOf({ customerId }: Story): Promise<readonly object[]> {
    const filter = `type=credit_balance_transaction.created&customer_id=${customerId}`;
    const { data } = (await read(`/v1/events?${filter}&limit=100`)) as {
      data: { data: { object: object } }[];
    };
    return data.map((event) => event.data.object);
  }

  /** Returns the balance, after checking that the ledger, the transactions and the events agree with it. */
  async function balanceOf(story: Story): Promise<object> {
    const balance = (await read(`/v1/customers/${story.customerId}/balance`)) as {
      balance: number;
    };
    const { data } = (await read(`/v1/ledger/accounts?customer_id=${story.customerId}`)) as {
      data: { account: string; balance: string }[];
    };
    const posted = data.find(({ account }) => account === 'customer_credit')?.balance ?? '0';
    const transactions = await transactionsOf(story);
    const changed = transactions.reduce((total, { amount }) => total + amount, 0);
    expect([balance.balance, changed]).toEqual([0 - Number(posted), 0 - Number(posted)]);
    const reported = await reportedOf(story);
    expect(reported).toHaveLength(transactions.length);
    expect(reported).toEqual(expect.arrayContaining([...transactions]));
    await story.verify();
    return balance;
  }

  it('is zero at first, and 404 for an unknown customer', async () => {
    const { body } = await engine.http.post('/v1/customers').send({ name: 'Ada Lovelace' });
    const path = `/v1/customers/${(body as Identified).id}/balance`;
    expect(await read(path)).toEqual({
      customer_id: (body as Identified).id,
      currency: null,
      balance: 0,
      available: 0,
      reserved: 0,
    });
    expect(await read(`${path}/transactions`)).toEqual({ data: [], next_cursor: null });
    for (const unknown of ['cus_01h455vb4pex5vsknk084sn02q', 'nobody']) {
      for (const tail of ['balance', 'balance/transactions']) {
        const answer = await engine.http.get(`/v1/customers/${unknown}/${tail}`);
        expect(answer.body).toMatchObject({ status: 404, code: 'customer_not_found' });
      }
    }
  });

  it('beyond the range of JSON numbers is an error that names the customer', async () => {
    const story = await begin();
    await payIn(story, 9_007_199_254_740_991);
    await payIn(story, 1);
    const { body } = await engine.http.get(`/v1/customers/${story.customerId}/balance`);
    expect(body).toMatchObject({ status: 409, code: 'credit_balance_too_large' });
  });

  it('from a payment without an invoice pays the next invoices before the card is charged', async () => {
    const story = await begin();
    await engine.http
      .post(`/v1/customers/${story.customerId}/payment-methods`)
      .send({ provider: 'sandbox', token: 'pm_sandbox_ok', is_default: true })
      .expect(201);
    await payIn(story, 5_000);
    expect(await balanceOf(story)).toEqual({
      customer_id: story.customerId,
      currency: 'USD',
      balance: 5_000,
      available: 5_000,
      reserved: 0,
    });
    await story.subscribe(await story.plan(3_000));
    await story.advance('2026-04-01T00:00:00.000Z');
    const invoices = await story.invoices();
    expect(
      invoices.map(({ status, credit_applied: applied, amount_due: due }) => [
        status,
        applied,
        due,
      ]),
    ).toEqual([
      ['paid', 3_000, 0],
      ['paid', 2_000, 1_000],
    ]);
    const { data } = (await read(`/v1/payments?customer_id=${story.customerId}`)) as {
      data: { amount: number }[];
    };
    expect(data.map(({ amount }) => amount)).toEqual([1_000, 5_000]);
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
    expect((await transactionsOf(story)).map(({ type, amount }) => [type, amount])).toEqual([
      ['invoice_finalized', -2_000],
      ['invoice_finalized', -3_000],
      ['payment', 5_000],
    ]);
  });

  it('receives what a voided or credited invoice no longer needs', async () => {
    const story = await begin();
    const [voided, credited] = [await bill(story, 1_000), await bill(story, 1_000)];
    const pay = (id: string) =>
      engine.http.post(`/v1/invoices/${id}/pay`).send({ payment_method_id: 'pm_sandbox_pending' });
    const payments = [await pay(voided.id), await pay(credited.id)];
    await engine.http.post(`/v1/invoices/${voided.id}/void`).send({}).expect(200);
    await engine.http
      .post('/v1/credit-notes')
      .send({
        invoice_id: credited.id,
        lines: [{ invoice_line_id: credited.lines[0]?.id, amount: 400 }],
        reason: 'Late',
        settle: 'credit',
      })
      .expect(201);
    for (const payment of payments) {
      await engine.http
        .post(`/v1/sandbox/payments/${idOf(payment)}/settle`)
        .send({ outcome: 'succeeded' })
        .expect(200);
    }
    expect(await balanceOf(story)).toMatchObject({ balance: 1_400 });
    expect(await bill(story, 1_500)).toMatchObject({ credit_applied: 1_400, amount_due: 100 });
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
  });

  it('is consumed oldest first, on the clock of the customer, and returns with a void', async () => {
    const story = await begin();
    const first = await payIn(story, 300);
    await story.advance('2026-03-02T00:00:00.000Z');
    const second = await payIn(story, 300);
    const invoice = await bill(story, 400);
    expect(await balanceOf(story)).toMatchObject({ balance: 200 });
    expect((await refund(first)).body).toMatchObject({ refundable_amount: 0 });
    await engine.http.post(`/v1/invoices/${invoice.id}/void`).send({}).expect(409);
    const open = await bill(story, 500);
    expect(open).toMatchObject({ credit_applied: 200, amount_due: 300 });
    expect((await refund(second)).body).toMatchObject({ refundable_amount: 0 });
    await engine.http.post(`/v1/invoices/${open.id}/void`).send({}).expect(200);
    expect(await balanceOf(story)).toMatchObject({ balance: 200 });
    expect((await refund(second)).body).toMatchObject({ status: 'succeeded', amount: 200 });
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
  });

  it('limits the refund of a payment to what invoices have not consumed', async () => {
    const story = await begin();
    const payment = await payIn(story, 1_000);
    await bill(story, 600);
    const tooMuch = await refund(payment, { amount: 401 });
    expect(tooMuch.status).toBe(422);
    expect(tooMuch.body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 400,
    });
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({ amount_refund_pending: 0 });
    expect((await refund(payment)).body).toMatchObject({ status: 'succeeded', amount: 400 });
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
    expect((await refund(payment, { amount: 1 })).body).toMatchObject({ refundable_amount: 0 });
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
  });

  it('is not available to invoices while a pending refund reserves it', async () => {
    const story = await begin();
    const payment = await payIn(story, 1_000, { payment_method_id: 'pm_sandbox_refund_pending' });
    const [failing, succeeding] = [
      idOf(await refund(payment, { amount: 300 })),
      idOf(await refund(payment, { amount: 200 })),
    ];
    expect(await balanceOf(story)).toMatchObject({
      balance: 1_000,
      available: 500,
      reserved: 500,
    });
    expect(await bill(story, 700)).toMatchObject({ credit_applied: 500, amount_due: 200 });
    await settleRefund(failing, 'failed');
    expect(await balanceOf(story)).toMatchObject({ balance: 500, available: 300, reserved: 200 });
    await settleRefund(succeeding, 'succeeded');
    expect(await balanceOf(story)).toMatchObject({ balance: 300, available: 300, reserved: 0 });
    expect(await bill(story, 700)).toMatchObject({ credit_applied: 300, amount_due: 400 });
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
  });

  it('is spent once by concurrent refunds and invoices', async () => {
    const story = await begin();
    const payments = await Promise.all([1, 2, 3, 4].map(() => payIn(story, 1_000)));
    const drafts = [];
    for (let made = 0; made < 10; made += 1) drafts.push(await draft(story, 300));
    const [refunds, invoices] = await Promise.all([
      Promise.all([...payments, ...payments, ...payments].map((id) => refund(id, { amount: 400 }))),
      Promise.all(drafts.map(finalize)),
    ]);
    const given = refunds.filter(({ status }) => status === 201).length * 400;
    for (const { status } of refunds) expect([201, 422]).toContain(status);
    const used = invoices.reduce((total, { credit_applied: applied }) => total + applied, 0);
    expect(await balanceOf(story)).toMatchObject({ balance: 4_000 - given - used, reserved: 0 });
    for (const id of payments) expect([201, 422]).toContain((await refund(id)).status);
    expect(await balanceOf(story)).toMatchObject({ balance: 0 });
  });

  it('is purged with the test clock of its customer', async () => {
    const story = await begin();
    await payIn(story, 1_000);
    await bill(story, 300);
    await engine.http.delete(`/v1/test-clocks/${story.clockId}`).expect(204);
    const [row] = await engine.database.query<{ left: number }>(
      'SELECT count(*)::int AS left FROM credit_grant WHERE customer_id = $1',
      [story.customerId],
    );
    expect(row?.left).toBe(0);
  });
});
