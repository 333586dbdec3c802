import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';

describe('credit notes for a line whose unused part was credited', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });
  afterAll(() => engine.close());

  const issue = ({ id, lines }: Invoice, amount: number, settle = 'credit') =>
    engine.http.post('/v1/credit-notes').send({
      invoice_id: id,
      lines: [{ invoice_line_id: lines[0]?.id, amount }],
      reason: 'Outage',
      settle,
    });
  const read = async ({ id }: Invoice): Promise<Invoice> =>
    (await engine.http.get(`/v1/invoices/${id}`)).body as Invoice;
  const pay = async ({ id }: Invoice): Promise<string> => {
    const { body } = await engine.http
      .post(`/v1/invoices/${id}/pay`)
      .send({ provider: 'sandbox', payment_method_id: 'pm_sandbox_ok' })
      .expect(201);
    return (body as { id: string }).id;
  };
  const balanceOf = async ({ customerId }: Story): Promise<number> => {
    const { body } = await engine.http.get(`/v1/customers/${customerId}/balance`);
    return (body as { balance: number }).balance;
  };

  interface Sold {
    readonly story: Story;
    readonly id: string;
    readonly invoice: Invoice;
  }

  /** Sells seats for 30.00 in April. */
  async function sold(
    rates: readonly { percentage: string; inclusive: boolean }[] = [],
  ): Promise<Sold> {
    const ids: string[] = [];
    for (const rate of rates) {
      const { body } = await engine.http.post('/v1/tax-rates').send({ name: 'VAT', ...rate });
      ids.push((body as { id: string }).id);
    }
    const story = await Story.begin(engine, '2026-04-01T00:00:00.000Z', {
      currency: 'USD',
      ...(ids.length > 0 && { tax_rate_ids: ids }),
    });
    const { id } = await story.subscribe(await story.seats('3000'));
    const [invoice] = await story.invoices();
    if (invoice === undefined) throw new Error('The start is billed.');
    return { story, id, invoice };
  }

  /** Ends the subscription on 16 April, with a credit for 14 of 30 days. */
  async function end({ story, id }: Sold): Promise<void> {
    await story.advance('2026-04-16T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
  }

  it('take what a paid line still holds, and no more', async () => {
    const sale = await sold();
    const { story, invoice } = sale;
    await pay(invoice);
    await end(sale);
    expect(await story.amounts()).toEqual([[3_000], [-1_400]]);
    await issue(invoice, 1).expect(201);
    expect((await issue(invoice, 1_600)).body).toMatchObject({
      code: 'credit_exceeds_line',
      creditable_amount: 1_599,
    });
    await issue(invoice, 1_599).expect(201);
    expect((await issue(invoice, 1)).body).toMatchObject({ creditable_amount: 0 });
    expect(await balanceOf(story)).toBe(3_000);
    await story.verify();
  });

  it('are made with a refund of the rest', async () => {
    const sale = await sold();
    const { story, invoice } = sale;
    const payment = await pay(invoice);
    await end(sale);
    const refund = (amount: number) =>
      engine.http.post(`/v1/refunds/payment/${payment}`).send({
        credit_note: {
          lines: [{ invoice_line_id: invoice.lines[0]?.id, amount }],
          reason: 'Outage',
        },
      });
    expect((await refund(1_601)).body).toMatchObject({ creditable_amount: 1_600 });
    expect((await refund(1_600)).body).toMatchObject({ status: 'succeeded', amount: 1_600 });
    const again = await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount: 1_401 });
    expect(again.body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 1_400,
    });
    expect(await balanceOf(story)).toBe(1_400);
    await story.verify();
  });

  it('lower what an open invoice still owes', async () => {
    const sale = await sold();
    const { story, invoice } = sale;
    await end(sale);
    expect(await read(invoice)).toMatchObject({ amount_remaining: 1_600 });
    const { body } = await issue(invoice, 1_600).expect(201);
    expect(body).toMatchObject({ applied_to_invoice: 1_600, credited_to_balance: 0 });
    expect(await read(invoice)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    await story.verify();
  });

  it('count notes before the credit', async () => {
    const sale = await sold();
    const { story, invoice } = sale;
    await issue(invoice, 1_000).expect(201);
    await end(sale);
    // 14 of 30 days of the 2000 that the line still held.
    expect(await story.amounts()).toEqual([[3_000], [-933]]);
    expect((await issue(invoice, 1_068)).body).toMatchObject({ creditable_amount: 1_067 });
    await issue(invoice, 1_067).expect(201);
    expect(await read(invoice)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    await story.verify();
  });

  it.each([
    // 150.00 and 299.25 of 3000 at 5 and 9.975 percent: 150 + 299; of the unused 1400: 70 + 140.
    ['exclusive', false, { net: 1_600, tax: 239 }],
    // Within 3000: 130 + 260 of tax, and so 2610 net; of the unused 1400: 61 + 121, and so 1218 net.
    ['inclusive', true, { net: 1_392, tax: 208 }],
  ])('credit the %s tax that is left, whatever the parts', async (_, inclusive, rest) => {
    const sale = await sold([
      { percentage: '5', inclusive },
      { percentage: '9.975', inclusive },
    ]);
    const { story, invoice } = sale;
    await pay(invoice);
    await end(sale);
    const parts = [533, 533, rest.net - 1_066];
    const notes: { tax: number }[] = [];
    for (const part of parts) notes.push((await issue(invoice, part).expect(201)).body as never);
    expect(notes.reduce((sum, { tax }) => sum + tax, 0)).toBe(rest.tax);
    expect((await issue(invoice, 1)).body).toMatchObject({ creditable_amount: 0 });
    expect(await balanceOf(story)).toBe((await read(invoice)).total);
    await story.verify();
  });

  it('issued at once credit no more than the rest', async () => {
    const sale = await sold();
    await pay(sale.invoice);
    await end(sale);
    const answers = await Promise.all(Array.from({ length: 6 }, () => issue(sale.invoice, 700)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422, 422]);
    await sale.story.verify();
  });

  it('say which lines of the invoice itself gave a part back', async () => {
    const sale = await sold();
    const { story, id } = sale;
    await pay(sale.invoice);
    await story.advance('2026-04-16T00:00:00.000Z');
    await story.command(id, 'change', { when: 'now', quantity: '2' });
    expect((await story.amounts())[1]).toEqual([3_000, -1_500]);
    const changed = (await story.invoices())[1];
    if (changed === undefined) return;
    const payment = await pay(changed);
    const credit_note = {
      lines: [{ invoice_line_id: changed.lines[0]?.id, amount: 3_000 }],
      reason: 'Outage',
    };
    const refund = () => engine.http.post(`/v1/refunds/payment/${payment}`).send({ credit_note });
    const expected = {
      status: 422,
      code: 'credit_given_back_already',
      creditable_total: 1_500,
      detail:
        `The note would be 3000 minor units with tax, but only 1500 of the invoice ${changed.id} can still be credited: ` +
        '3000 were charged, 1500 were credited by lines of the same invoice. Lower the lines until they total at most 1500 with tax.',
    };
    expect((await issue(changed, 3_000)).body).toMatchObject({
      ...expected,
      errors: [{ pointer: '/lines' }],
    });
    expect((await refund()).body).toMatchObject({
      ...expected,
      errors: [{ pointer: '/credit_note/lines' }],
    });
    await issue(changed, 1_500).expect(201);
    expect((await issue(changed, 1)).body).toMatchObject({
      creditable_total: 0,
      detail: expect.stringContaining(
        '3000 were charged, 1500 were credited by lines of the same invoice, 1500 were credited by other credit notes. Nothing is left to credit.',
      ) as unknown,
    });
    expect(await balanceOf(story)).toBe(1_500);
    await story.verify();
  });

  it('for an older invoice that the credit of a later one paid give that credit back', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
    const { id } = await story.subscribe(await story.seats('3100'));
    await story.advance('2026-04-01T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect(await story.amounts()).toEqual([[3_100], [3_100], [-2_997]]);
    const [march, april] = await story.invoices();
    if (march === undefined || april === undefined) return;
    expect(march).toMatchObject({ status: 'open', amount_remaining: 103 });
    const { body } = await issue(march, 3_100).expect(201);
    expect(body).toMatchObject({ applied_to_invoice: 103, credited_to_balance: 2_997 });
    expect(await read(march)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    expect((await issue(march, 1)).body).toMatchObject({ creditable_amount: 0 });
    expect((await issue(april, 104)).body).toMatchObject({ creditable_amount: 103 });
    await issue(april, 103).expect(201);
    // All was taken back: what is owed for April is in the balance.
    expect(await read(april)).toMatchObject({ status: 'open', amount_remaining: 2_997 });
    expect(await balanceOf(story)).toBe(2_997);
    await story.verify();
  });

  it('for an older invoice count what was paid of it and refunded', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
    const { id } = await story.subscribe(await story.seats('3100'));
    await story.advance('2026-04-01T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    const [march] = await story.invoices();
    if (march === undefined) return;
    await engine.http
      .post(`/v1/refunds/payment/${await pay(march)}`)
      .send({ amount: 103 })
      .expect(201);
    expect((await issue(march, 2_998)).body).toMatchObject({
      code: 'credit_given_back_already',
      creditable_total: 2_997,
    });
    await issue(march, 2_997).expect(201);
    expect((await issue(march, 1)).body).toMatchObject({ code: 'credit_given_back_already' });
    expect(await balanceOf(story)).toBe(2_997);
    await story.verify();
  });
});
