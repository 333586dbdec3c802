import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

/** Calls of March at 0.01 with tax: some billed on 1 April, some on 1 May. All are then voided. */
describe('corrections of usage that two invoices billed', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function billedOnce(calls: readonly number[], percentage = '19') {
    const rate = await post(engine, '/v1/tax-rates', { name: 'VAT', percentage });
    const story = await Story.begin(engine, on('03-01'), { tax_rate_ids: [rate.id] });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 },
      { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1', meter_id },
    ]);
    await story.subscribe(planId, { collection: 'send_invoice' });
    const keys: string[] = [];
    for (const n of calls) keys.push(await story.reportUsage(event, on('03-01'), { n }));
    await story.advance(on('04-01'));
    const [, first] = await story.invoices();
    if (first === undefined) throw new Error('An invoice billed the calls.');
    return { story, keys, event, first };
  }

  async function billed(calls: readonly number[], late: number, percentage?: string) {
    const { story, keys, event, first: april } = await billedOnce(calls, percentage);
    keys.push(await story.reportUsage(event, on('03-01'), { n: late }));
    await story.advance(on('05-01'));
    const may = (await story.invoices()).at(-1);
    if (may === undefined) throw new Error('Two invoices billed calls.');
    return { story, keys, april, may };
  }

  const voidUsage = (idempotency_key?: string) =>
    engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);

  const pay = ({ id }: Invoice) =>
    post(engine, `/v1/invoices/${id}/pay`, {
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_ok',
    });

  const refund = (paymentId: string, amount?: number): Promise<{ readonly amount: number }> =>
    post(engine, `/v1/refunds/payment/${paymentId}`, { amount });

  /** Returns the amounts with tax that usage corrections gave back. */
  const correctionsOf = async (story: Story): Promise<readonly number[]> =>
    (await story.invoices())
      .flatMap(({ lines }) => lines)
      .filter(({ amount }) => amount < 0)
      .map(({ amount, tax }) => -amount - tax);

  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);

  /** Issues a credit note for a net amount of one line, and returns the answer. */
  const credit = async ({ id, lines }: Invoice, name: string, amount: number): Promise<object> => {
    const line = lines.find(({ description }) => description.startsWith(name));
    const parts = [{ invoice_line_id: line?.id, amount }];
    const note = { invoice_id: id, lines: parts, reason: 'Outage', settle: 'credit' };
    return (await engine.http.post('/v1/credit-notes').send(note)).body as object;
  };

  it.each([
    [3, 1],
    [777, 333],
  ])('of %d and %d leave the other charges to credit notes', async (first, late) => {
    const { story, keys, april, may } = await billed([first], late);
    for (const key of keys) await voidUsage(key);
    await story.advance(on('06-01'));
    const nothing = { code: 'credit_exceeds_line' };
    for (const invoice of [april, may]) {
      expect(await credit(invoice, 'Base', 1_000)).toMatchObject({ net: 1_000, total: 1_190 });
      expect(await credit(invoice, 'Calls', 1)).toMatchObject(nothing);
    }
    await story.verify();
  });

  it('leave the other charges to refunds, after each of two corrections', async () => {
    const { story, keys, may } = await billed([777], 333);
    const { id } = await pay(may);
    await voidUsage(keys[0]);
    await story.advance(on('06-01'));
    await voidUsage(keys[1]);
    await story.advance(on('07-01'));
    expect(await post(engine, `/v1/refunds/payment/${id}`, {})).toMatchObject({ amount: 1_190 });
    await story.verify();
  });

  it('leave the other charges if a credit note took calls before', async () => {
    const { story, keys, april, may } = await billed([6], 14);
    expect(await credit(april, 'Calls', 3)).toMatchObject({ net: 3, tax: 1 });
    for (const key of keys) await voidUsage(key);
    await story.advance(on('06-01'));
    for (const invoice of [april, may]) {
      expect(await credit(invoice, 'Base', 1_000)).toMatchObject({ net: 1_000, total: 1_190 });
    }
    await story.verify();
  });

  const month = (number: number): string => on(`${String(number).padStart(2, '0')}-01`);

  it.each([
    { leaves: 119, voided: 'all', bills: 4 },
    { leaves: 119, voided: 'all', bills: 7 },
    { leaves: 595, voided: 'half', bills: 4 },
  ])(
    'give back what was paid, if a refund of the first bill leaves $leaves, and $bills bills follow',
    async ({ leaves, voided, bills }) => {
      const { story, keys, event, first } = await billedOnce([504, 496]);
      for (let place = 1; place <= bills; place += 1) {
        keys.push(await story.reportUsage(event, on('03-01'), { n: 2 }));
        await story.advance(month(4 + place));
      }
      const late = (await story.invoices()).slice(2);
      const payment = await pay(first);
      const payments = await Promise.all(late.map(pay));
      const refunded = first.total - leaves;
      await refund(payment.id, refunded);
      for (const key of voided === 'all' ? keys : keys.slice(0, 1)) await voidUsage(key);
      await story.advance(month(5 + bills));
      const refunds = await Promise.all(payments.map(({ id }) => refund(id)));
      const given = [
        refunded,
        ...(await correctionsOf(story)),
        ...refunds.map(({ amount }) => amount),
      ];
      const paid = [first, ...late].map(({ total }) => total);
      expect(late).toHaveLength(bills);
      expect(sum(given)).toBe(sum(paid));
      await story.verify();
    },
  );

  it('give back what was paid, if refunds leave a share of the tax that earlier roundings left', async () => {
    const { story, keys, april, may } = await billed([6, 2], 8, '20');
    const [first, second] = [await pay(april), await pay(may)];
    await voidUsage(keys[0]);
    await story.advance(on('06-01'));
    // Of 10 calls with 3 of tax, 5 are left on each invoice, and the refunds leave 6 for them.
    await refund(first.id, 1_201);
    await refund(second.id, 1_200);
    await voidUsage(keys[1]);
    await voidUsage(keys[2]);
    await story.advance(on('07-01'));
    expect(await correctionsOf(story)).toEqual([7, 10]);
    expect(await refund(first.id)).toMatchObject({ amount: 1 });
    expect(await refund(second.id)).toMatchObject({ amount: 1 });
    expect(1_201 + 1_200 + 7 + 10 + 1 + 1).toBe(april.total + may.total);
    await story.verify();
  });

  it('leave the other charges to refunds, after the tax that earlier roundings left', async () => {
    const { story, keys, april, may } = await billed([6, 2], 8, '20');
    const payments = [await pay(april), await pay(may)];
    await voidUsage(keys[0]);
    await story.advance(on('06-01'));
    await voidUsage(keys[1]);
    await voidUsage(keys[2]);
    await story.advance(on('07-01'));
    expect(await correctionsOf(story)).toEqual([7, 13]);
    for (const { id } of payments) expect(await refund(id)).toMatchObject({ amount: 1_200 });
    await story.verify();
  });
});
