import { createCustomer } from '../support/billing';
import { postingsOf, verifyLedger } from '../support/ledger';
import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

interface Line {
  readonly id: string;
}

interface Refunded {
  readonly id: string;
  readonly status: string;
  readonly credit_note_id: string;
}

describe('a refund with a credit note', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterEach(async () => {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  afterAll(() => engine.close());

  const post = (path: string, body: object = {}) => engine.http.post(path).send(body);

  /** Pays an invoice of 1,000 and 19 % tax. */
  async function paid(token = 'pm_sandbox_ok'): Promise<{ payment: string; line: string }> {
    const rate = await post('/v1/tax-rates', { name: 'VAT', percentage: '19' });
    const customer_id = await createCustomer(engine, { tax_rate_ids: [(rate.body as Line).id] });
    const lines = [{ description: 'Work', amount: 1_000 }];
    const draft = await post('/v1/invoices', { customer_id, currency: 'EUR', lines });
    expect(draft.status).toBe(201);
    const { id } = draft.body as Line;
    const invoice = await post(`/v1/invoices/${id}/finalize`).expect(200);
    const choice = { provider: 'sandbox', payment_method_id: token };
    const payment = await post(`/v1/invoices/${id}/pay`, choice).expect(201);
    const [line] = (invoice.body as { lines: Line[] }).lines;
    return { payment: (payment.body as Line).id, line: line?.id ?? '' };
  }

  const noteOf = (line: string, amount = 500) => ({
    lines: [{ invoice_line_id: line, amount }],
    reason: 'Two days without service',
  });

  const notesOf = async (payment: string) => {
    const { invoice_id: invoice } = (await engine.http.get(`/v1/payments/${payment}`)).body as {
      invoice_id: string;
    };
    const answer = await engine.http.get(`/v1/credit-notes?invoice_id=${invoice}`);
    return (answer.body as { data: { id: string }[] }).data;
  };

  it('corrects revenue and tax, and gives the money back, in one commit', async () => {
    const { payment, line } = await paid();
    const answer = await post(`/v1/refunds/payment/${payment}`, { credit_note: noteOf(line) });
    expect(answer.body).toMatchObject({ status: 'succeeded', amount: 595, source: 'api' });
    const refund = answer.body as Refunded;
    const note = await engine.http.get(`/v1/credit-notes/${refund.credit_note_id}`).expect(200);
    expect(note.body).toMatchObject({ settle: 'refund', net: 500, tax: 95, to_refund: 595 });
    expect(await postingsOf(engine, refund.credit_note_id)).toEqual([
      ['credit_note', { revenue: 500, tax_payable: 95, refunds: -595 }],
    ]);
    expect(await postingsOf(engine, refund.id)).toEqual([
      ['refund', { refunds: 595, 'cash_clearing:sandbox': -595 }],
    ]);
    expect((await eventsOf(engine, refund.credit_note_id)).map(({ type }) => type)).toEqual([
      'credit_note.issued',
    ]);
  });

  it('keeps its note while it is pending or has succeeded', async () => {
    const { payment, line } = await paid('pm_sandbox_refund_pending');
    const answer = await post(`/v1/refunds/payment/${payment}`, { credit_note: noteOf(line) });
    const { id, credit_note_id: note } = answer.body as Refunded;
    const settled = { status: 409, code: 'credit_note_settled' };
    expect((await post(`/v1/credit-notes/${note}/void`)).body).toMatchObject(settled);
    await post(`/v1/sandbox/refunds/${id}/settle`, { outcome: 'succeeded' }).expect(200);
    expect((await post(`/v1/credit-notes/${note}/void`)).body).toMatchObject(settled);
  });

  it('that fails lets its note be voided', async () => {
    const { payment, line } = await paid('pm_sandbox_refund_fails');
    const answer = await post(`/v1/refunds/payment/${payment}`, { credit_note: noteOf(line) });
    const { credit_note_id: note } = answer.body as Refunded;
    const { body } = await post(`/v1/credit-notes/${note}/void`);
    expect(body).toMatchObject({ status: 'void', to_refund: 595 });
  });

  it('is made once with the same key, also by several requests at once', async () => {
    const { payment, line } = await paid();
    const body = { credit_note: noteOf(line), idempotencyKey: `refund-${payment}` };
    const refund = () => post(`/v1/refunds/payment/${payment}`, body);
    const answers = await Promise.all([refund(), refund(), refund()]);
    answers.push(await refund());
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0].status).toBe(201);
    expect(await notesOf(payment)).toHaveLength(1);
    const other = { ...body, credit_note: noteOf(line, 400) };
    const reused = await post(`/v1/refunds/payment/${payment}`, other);
    expect(reused.body).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
  });

  it('refuses its key with another credit note also after 30 days', async () => {
    const { payment, line } = await paid();
    const body = { credit_note: noteOf(line), idempotencyKey: `refund-${payment}` };
    const refund = (change: object) =>
      post(`/v1/refunds/payment/${payment}`, { ...body, ...change });
    const first = await refund({});
    engine.clock.advanceMs(31 * 86_400_000);
    for (const credit_note of [
      noteOf(line, 400),
      { ...noteOf(line), reason: 'Goodwill' },
      undefined,
    ]) {
      const reused = await refund({ credit_note });
      expect(reused.body).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
    }
    const again = await refund({});
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(await notesOf(payment)).toHaveLength(1);
  });

  it('of all, twice at once, is made once', async () => {
    const { payment, line } = await paid();
    const refund = () =>
      post(`/v1/refunds/payment/${payment}`, { credit_note: noteOf(line, 1_000) });
    const answers = await Promise.all([refund(), refund()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await notesOf(payment)).toHaveLength(1);
  });

  it('that the provider refuses leaves the note, which a later refund pays out', async () => {
    const { payment, line } = await paid('pm_sandbox_refund_fails');
    const answer = await post(`/v1/refunds/payment/${payment}`, { credit_note: noteOf(line) });
    expect(answer.body).toMatchObject({ status: 'failed', failure_code: 'refund_declined' });
    expect(await notesOf(payment)).toMatchObject([{ status: 'issued', to_refund: 595 }]);
    const read = await engine.http.get(`/v1/payments/${payment}`);
    expect(read.body).toMatchObject({ amount_refunded: 0, amount_refund_pending: 0 });
    const again = await post(`/v1/refunds/payment/${payment}`, { amount: 595 });
    expect(again.body).toMatchObject({ amount: 595, credit_note_id: null });
  });

  it.each([
    ['another amount', { amount: 500 }, 'refund_differs_from_credit_note'],
    ['more than the line', { credit_note: 1_001 }, 'credit_exceeds_line'],
    ['an unknown line', { line: 'il_01h455vb4pex5vsknk084sn02q' }, 'reference_not_found'],
  ] as const)('with %s is refused, and nothing is written', async (_, change, code) => {
    const { payment, line } = await paid();
    const of = 'line' in change ? change.line : line;
    const credit_note = noteOf(of, 'credit_note' in change ? change.credit_note : 500);
    const amount = 'amount' in change ? { amount: change.amount } : {};
    const answer = await post(`/v1/refunds/payment/${payment}`, { ...amount, credit_note });
    expect(answer.body).toMatchObject({ status: 422, code });
    if (code !== 'refund_differs_from_credit_note') {
      const { errors } = answer.body as { errors: readonly { pointer: string }[] };
      expect(errors[0]?.pointer).toContain('/credit_note/lines/0/');
    }
    expect(await notesOf(payment)).toEqual([]);
    expect((await engine.http.get(`/v1/refunds?payment_id=${payment}`)).body).toMatchObject({
      data: [],
    });
  });

  it('of a payment without an invoice is refused', async () => {
    const { line } = await paid();
    const customer_id = await createCustomer(engine);
    const credit = await post('/v1/payments', { customer_id, amount: 500, currency: 'EUR' });
    const path = `/v1/refunds/payment/${(credit.body as Line).id}`;
    const answer = await post(path, { credit_note: noteOf(line) });
    expect(answer.body).toMatchObject({ status: 422, code: 'payment_has_no_invoice' });
  });

  it('of a payment that failed is refused, and issues no note', async () => {
    const { payment, line } = await paid('pm_sandbox_declined');
    const answer = await post(`/v1/refunds/payment/${payment}`, { credit_note: noteOf(line) });
    expect(answer.body).toMatchObject({ status: 409, code: 'payment_not_refundable' });
    expect(await notesOf(payment)).toEqual([]);
  });
});

describe('a refund with a credit note by a key without the scope invoices:write', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { ...WITH_KEYS, PAYMENT_PROVIDERS: 'manual' } });
  });

  afterAll(() => engine.close());

  const owner = bearing(BOOTSTRAP_KEY);
  const post = (path: string, body: object = {}, caller: typeof owner = owner) =>
    engine.http.post(path).set(caller).send(body);

  it('is refused and changes nothing, and its key can be used again', async () => {
    const { id: customer_id } = (await post('/v1/customers', { name: 'Ada' })).body as Line;
    const lines = [{ description: 'Work', amount: 1_000 }];
    const draft = await post('/v1/invoices', { customer_id, currency: 'EUR', lines });
    const { id: invoice } = draft.body as Line;
    const finalized = await post(`/v1/invoices/${invoice}/finalize`).expect(200);
    const [line] = (finalized.body as { lines: Line[] }).lines;
    const paid = await post(`/v1/invoices/${invoice}/pay`, { provider: 'manual' }).expect(201);
    const { id: payment } = paid.body as Line;
    const made = await post('/v1/api-keys', { name: 'Refunds', scopes: ['refunds:write'] });
    const refunder = bearing((made.body as { secret: string }).secret);
    const credit_note = {
      lines: [{ invoice_line_id: line?.id, amount: 1_000 }],
      reason: 'Outage',
    };
    const idempotencyKey = `refund-${payment}`;
    const refund = (body: object) => post(`/v1/refunds/payment/${payment}`, body, refunder);

    const refused = await refund({ credit_note, idempotencyKey });
    expect(refused.body).toMatchObject({ status: 403, code: 'forbidden' });
    const read = async (path: string) => (await engine.http.get(path).set(owner)).body as object;
    expect(await read(`/v1/credit-notes?invoice_id=${invoice}`)).toMatchObject({ data: [] });
    expect(await read(`/v1/refunds?payment_id=${payment}`)).toMatchObject({ data: [] });
    expect(await read(`/v1/payments/${payment}`)).toMatchObject({
      amount_refunded: 0,
      amount_refund_pending: 0,
    });
    const plain = await refund({ amount: 400, idempotencyKey });
    expect(plain.body).toMatchObject({ status: 'succeeded', amount: 400 });
  });
});
