import { eventsOf } from '../support/test-app';
import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';

describe('credit notes', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Creates an open invoice of 10.00 and 0.05 with 19 % tax. */
  async function billed(): Promise<{ story: Story; invoice: Invoice }> {
    const rate = await engine.http.post('/v1/tax-rates').send({ name: 'VAT', percentage: '19' });
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', {
      currency: 'EUR',
      tax_rate_ids: [(rate.body as { id: string }).id],
    });
    const draft = await engine.http.post('/v1/invoices').send({
      customer_id: story.customerId,
      lines: [
        { description: 'Work', amount: 1_000 },
        { description: 'Paper', amount: 5 },
      ],
    });
    const { id } = draft.body as Invoice;
    const { body } = await engine.http.post(`/v1/invoices/${id}/finalize`).send({});
    return { story, invoice: body as Invoice };
  }

  const issue = (invoice: Invoice, amount: number, fields: object = {}) =>
    engine.http.post('/v1/credit-notes').send({
      invoice_id: invoice.id,
      lines: [{ invoice_line_id: invoice.lines[0]?.id, amount }],
      reason: 'Late',
      settle: 'credit',
      ...fields,
    });

  const read = async (invoice: Invoice): Promise<Invoice> =>
    (await engine.http.get(`/v1/invoices/${invoice.id}`)).body as Invoice;

  it('for parts credit exactly the line and its tax, and never more', async () => {
    const { story, invoice } = await billed();
    expect(invoice).toMatchObject({ subtotal: 1_005, tax: 191, total: 1_196 });
    const taxes: number[] = [];
    for (const amount of [333, 333, 334]) {
      const { status, body } = await issue(invoice, amount);
      expect(status).toBe(201);
      taxes.push((body as { tax: number }).tax);
    }
    expect(taxes.reduce((sum, tax) => sum + tax, 0)).toBe(invoice.lines[0]?.tax);
    expect((await issue(invoice, 1)).body).toMatchObject({
      status: 422,
      code: 'credit_exceeds_line',
      creditable_amount: 0,
    });
    expect(await read(invoice)).toMatchObject({ status: 'open', amount_remaining: 6 });
    await story.verify();
  });

  it('that leave nothing to pay make the invoice paid; amounts beyond that become credit', async () => {
    const { story, invoice } = await billed();
    const lines = invoice.lines.map(({ id, amount }) => ({ invoice_line_id: id, amount }));
    const { body } = await issue(invoice, 1, { lines });
    expect(body).toMatchObject({
      number: expect.stringMatching(/^TEST-CN-\d{6}$/) as string,
      net: 1_005,
      tax: 191,
      total: 1_196,
      applied_to_invoice: 1_196,
      credited_to_balance: 0,
    });
    expect(await read(invoice)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    const { id } = body as { id: string };
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual(['credit_note.issued']);
    expect((await engine.http.post(`/v1/credit-notes/${id}/void`).send({})).body).toMatchObject({
      status: 409,
      code: 'credit_note_settled',
    });
    await story.verify();
  });

  it('that lower an invoice send an event of the invoice, and one when they are voided', async () => {
    const { story, invoice } = await billed();
    const note = (await issue(invoice, 100)).body as { id: string };
    await engine.http.post(`/v1/credit-notes/${note.id}/void`).send({});
    const events = (await eventsOf(engine, invoice.id)).slice(2);
    expect(events.map(({ type, data: { object, previous } }) => [type, object, previous])).toEqual([
      [
        'invoice.updated',
        expect.objectContaining({ amount_credited: 119, amount_remaining: 1_077 }),
        { amount_credited: 0, amount_remaining: 1_196 },
      ],
      [
        'invoice.updated',
        expect.objectContaining({ amount_credited: 0, amount_remaining: 1_196 }),
        { amount_credited: 119, amount_remaining: 1_077 },
      ],
    ]);
    await story.verify();
  });

  it('of a paid subscription credit a deferred line, and can be voided while the credit is unspent', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    await engine.http
      .post('/v1/invoices')
      .send({
        customer_id: story.customerId,
        currency: 'USD',
        lines: [{ description: 'Gift', amount: -5_000 }],
      })
      .then((answer) =>
        engine.http.post(`/v1/invoices/${(answer.body as Invoice).id}/finalize`).send({}),
      );
    await story.subscribe(await story.plan(1_000));
    const invoice = (await story.invoices())[1];
    expect(invoice).toMatchObject({ status: 'paid', credit_applied: 1_000 });
    if (invoice === undefined) return;
    const note = await issue(invoice, 400);
    expect(note.body).toMatchObject({ applied_to_invoice: 0, credited_to_balance: 400 });
    // A note that does not lower the invoice leaves it as it was.
    expect(await read(invoice)).toEqual(invoice);
    const { id } = note.body as { id: string };
    await story.verify();
    await story.advance('2026-04-01T00:00:00.000Z');
    await story.verify();
    expect((await engine.http.post(`/v1/credit-notes/${id}/void`).send({})).body).toMatchObject({
      status: 'void',
    });
    await story.verify();
    expect((await engine.http.post(`/v1/credit-notes/${id}/void`).send({})).body).toMatchObject({
      code: 'invalid_transition',
    });
    expect((await issue(invoice, 1_000, { settle: 'refund' })).body).toMatchObject({
      to_refund: 0,
      credited_to_balance: 1_000,
    });
    const accounts = await engine.http.get(`/v1/ledger/accounts?customer_id=${story.customerId}`);
    expect(accounts.status).toBe(200);
    await story.verify();
  });

  it('issued concurrently credit no more than the line', async () => {
    const { story, invoice } = await billed();
    const answers = await Promise.all(Array.from({ length: 8 }, () => issue(invoice, 400)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      201,
      ...Array<number>(6).fill(422),
    ]);
    await story.verify();
  });

  it('credit what a change has left of a line, and no more', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(9_300), when: 'now' });
    const [bought] = await story.invoices();
    if (bought === undefined) return;
    // 21 of 31 days are credited.
    expect((await issue(bought, 1_001)).body).toMatchObject({ creditable_amount: 1_000 });
    await issue(bought, 1_000).expect(201);
    expect(await read(bought)).toMatchObject({ status: 'open', amount_remaining: 2_100 });
    expect((await issue(bought, 1)).body).toMatchObject({ creditable_amount: 0 });
    await story.verify();
  });

  it('leave a line whose unused share an end credits', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(3_000));
    const [bought] = await story.invoices();
    if (bought === undefined) return;
    await issue(bought, 2_500).expect(201);
    await story.advance('2026-04-11T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    // 19 of 30 days of the 500 that the line still holds.
    expect(await story.amounts()).toEqual([[3_000], [-317]]);
    await story.verify();
  });

  it('do not credit what a maximum took off', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '100' };
    const { id } = await story.planOf([{ ...price, maximum_amount: 600 }]);
    await story.subscribe(id, { quantity: '10' });
    const [bought] = await story.invoices();
    if (bought === undefined) return;
    expect(bought.lines.map(({ type, amount }) => [type, amount])).toEqual([
      ['recurring', 1_000],
      ['maximum', -400],
    ]);
    const tooMuch = await issue(bought, 601);
    expect(tooMuch.body).toMatchObject({ code: 'credit_exceeds_line', creditable_amount: 600 });
    expect((await issue(bought, 600)).body).toMatchObject({ applied_to_invoice: 600 });
    expect(await read(bought)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    expect((await issue(bought, 1)).body).toMatchObject({ creditable_amount: 0 });
    await story.verify();
  });

  it('credit a minimum together with its charge once, and what an end left of both', async () => {
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z');
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '100' };
    const plan = await story.planOf([{ ...price, minimum_amount: 3_000 }]);
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-04-11T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect(await story.amounts()).toEqual([[100, 2_900], [-1_900]]);
    const [bought] = await story.invoices();
    if (bought === undefined) return;
    const ofMinimum = (amount: number) => ({
      lines: [{ invoice_line_id: bought.lines[1]?.id, amount }],
    });
    expect((await issue(bought, 1)).body).toMatchObject({ creditable_amount: 0 });
    expect((await issue(bought, 1, ofMinimum(1_101))).body).toMatchObject({
      code: 'credit_exceeds_line',
      creditable_amount: 1_100,
    });
    await issue(bought, 1, ofMinimum(1_100)).expect(201);
    expect(await read(bought)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    await story.verify();
  });

  it('do not credit what late usage gave back', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const meter = await story.meter();
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const { id } = await story.planOf([{ ...calls, meter_id: meter.id }]);
    await story.subscribe(id);
    await story.reportUsage(meter.event, '2026-03-01T06:00:00.000Z', { n: 6 });
    const key = await story.reportUsage(meter.event, '2026-03-01T12:00:00.000Z', { n: 4 });
    await story.advance('2026-04-01T00:00:00.000Z');
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    await story.reportUsage(meter.event, '2026-04-01T12:00:00.000Z', { n: 9 });
    await story.advance('2026-05-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[100], [90, -40]]);
    const [march] = await story.invoices();
    if (march === undefined) return;
    const tooMuch = await issue(march, 61);
    expect(tooMuch.body).toMatchObject({ code: 'credit_exceeds_line', creditable_amount: 60 });
    await issue(march, 60).expect(201);
    await story.verify();
  });

  it('are refused for a draft, an unknown invoice and an unknown line', async () => {
    const { invoice } = await billed();
    const unknown = { invoice_id: 'inv_01h455vb4pex5vsknk084sn02q' };
    expect((await issue(invoice, 1, unknown)).body).toMatchObject({ code: 'reference_not_found' });
    const lines = [{ invoice_line_id: 'il_01h455vb4pex5vsknk084sn02q', amount: 1 }];
    expect((await issue(invoice, 1, { lines })).body).toMatchObject({
      code: 'reference_not_found',
    });
    await engine.http.post(`/v1/invoices/${invoice.id}/void`).send({}).expect(200);
    expect((await issue(invoice, 1)).body).toMatchObject({
      status: 409,
      code: 'invoice_not_creditable',
    });
    const { body } = await engine.http.get('/v1/credit-notes/cn_01h455vb4pex5vsknk084sn02q');
    expect(body).toMatchObject({ status: 404, code: 'credit_note_not_found' });
  });

  describe('give nothing back twice', () => {
    const begin = (): Promise<Story> =>
      Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
    async function bill(story: Story, amount: number): Promise<Invoice> {
      const draft = await engine.http
        .post('/v1/invoices')
        .send({ customer_id: story.customerId, lines: [{ description: 'Work', amount }] });
      const path = `/v1/invoices/${(draft.body as Invoice).id}/finalize`;
      return (await engine.http.post(path).send({}).expect(200)).body as Invoice;
    }
    const pay = async ({ id }: Invoice): Promise<string> => {
      const method = { payment_method_id: 'pm_sandbox_ok' };
      const { body } = await engine.http.post(`/v1/invoices/${id}/pay`).send(method).expect(201);
      return (body as { id: string }).id;
    };
    const refund = (payment: string, body: object = {}) =>
      engine.http.post(`/v1/refunds/payment/${payment}`).send(body);
    const accountsOf = async ({ customerId }: Story): Promise<Record<string, string>> => {
      const { body } = await engine.http.get(`/v1/ledger/accounts?customer_id=${customerId}`);
      const { data } = body as { data: { account: string; balance: string }[] };
      return Object.fromEntries(data.map(({ account, balance }) => [account, balance]));
    };

    it('settled as a refund: the part that credit paid returns as credit', async () => {
      const story = await begin();
      const advance = { customer_id: story.customerId, amount: 800, currency: 'USD' };
      await engine.http.post('/v1/payments').send(advance).expect(201);
      const invoice = await bill(story, 1_000);
      await pay(invoice);
      const { body } = await issue(invoice, 1_000, { settle: 'refund' }).expect(201);
      expect(body).toMatchObject({ to_refund: 200, credited_to_balance: 800 });
      expect(await accountsOf(story)).toMatchObject({ refunds: '-200', customer_credit: '-800' });
      await story.verify();
    });

    it('after a refund', async () => {
      const story = await begin();
      const invoice = await bill(story, 1_000);
      await refund(await pay(invoice), { amount: 700 }).expect(201);
      expect((await issue(invoice, 301)).body).toMatchObject({
        status: 422,
        code: 'credit_given_back_already',
        creditable_total: 300,
        detail:
          `The note would be 301 minor units with tax, but only 300 of the invoice ${invoice.id} can still be credited: ` +
          '1000 were charged, 700 were refunded without a credit note. Lower the lines until they total at most 300 with tax. ' +
          'To document a refund that was made, issue the note with settle "refund".',
        errors: [
          { pointer: '/lines', code: 'given_back_already', message: 'must total at most 300' },
        ],
      });
      await issue(invoice, 300).expect(201);
      expect((await issue(invoice, 1)).body).toMatchObject({
        detail: expect.stringMatching(
          /1000 were charged, 300 were credited by other credit notes, 700 were refunded without a credit note. Nothing is left to credit. To document/,
        ) as unknown,
      });
      await issue(invoice, 700, { settle: 'refund' }).expect(201);
      expect(await accountsOf(story)).toMatchObject({ refunds: '0', customer_credit: '-300' });
      await story.verify();
    });

    it('before a refund', async () => {
      const story = await begin();
      const invoice = await bill(story, 1_000);
      const payment = await pay(invoice);
      await issue(invoice, 400).expect(201);
      expect((await refund(payment, { amount: 1_001 })).body).toMatchObject({
        status: 422,
        code: 'refund_amount_exceeds_refundable',
        refundable_amount: 1_000,
      });
      expect((await refund(payment)).body).toMatchObject({ amount: 600, status: 'succeeded' });
      expect((await refund(payment)).body).toMatchObject({ refundable_amount: 400 });
      expect(await accountsOf(story)).toMatchObject({ refunds: '600', customer_credit: '-400' });
      await story.verify();
    });

    it('concurrently with a refund', async () => {
      const story = await begin();
      const invoice = await bill(story, 1_000);
      const payment = await pay(invoice);
      const answers = await Promise.all([issue(invoice, 600), refund(payment, { amount: 600 })]);
      // A note that comes first leaves 400 of what the invoice holds, and the refund takes 200 of its credit.
      const isNoteFirst = answers[0].status === 201;
      expect(answers.map(({ status }) => status)).toEqual([isNoteFirst ? 201 : 422, 201]);
      expect((await accountsOf(story))['customer_credit'] ?? '0').toBe(isNoteFirst ? '-400' : '0');
      await story.verify();
    });
  });
});
