import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

/** Calls of March at 0.01 with 19 % tax: some billed on 1 April, some on 1 May. All are then voided. */
describe('corrections of usage that two invoices billed', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function billed(first: number, late: number) {
    const rate = await post(engine, '/v1/tax-rates', { name: 'VAT', percentage: '19' });
    const story = await Story.begin(engine, on('03-01'), { tax_rate_ids: [rate.id] });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 },
      { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1', meter_id },
    ]);
    await story.subscribe(planId, { collection: 'send_invoice' });
    const keys = [await story.reportUsage(event, on('03-01'), { n: first })];
    await story.advance(on('04-01'));
    keys.push(await story.reportUsage(event, on('03-01'), { n: late }));
    await story.advance(on('05-01'));
    const [april, may] = (await story.invoices()).slice(1);
    if (april === undefined || may === undefined) throw new Error('Two invoices billed calls.');
    return { story, keys, april, may };
  }

  const voidUsage = (idempotency_key?: string) =>
    engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);

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
    const { story, keys, april, may } = await billed(first, late);
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
    const { story, keys, may } = await billed(777, 333);
    const { id } = await post(engine, `/v1/invoices/${may.id}/pay`, {
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_ok',
    });
    await voidUsage(keys[0]);
    await story.advance(on('06-01'));
    await voidUsage(keys[1]);
    await story.advance(on('07-01'));
    expect(await post(engine, `/v1/refunds/payment/${id}`, {})).toMatchObject({ amount: 1_190 });
    await story.verify();
  });

  it('leave the other charges if a credit note took calls before', async () => {
    const { story, keys, april, may } = await billed(6, 14);
    expect(await credit(april, 'Calls', 3)).toMatchObject({ net: 3, tax: 1 });
    for (const key of keys) await voidUsage(key);
    await story.advance(on('06-01'));
    for (const invoice of [april, may]) {
      expect(await credit(invoice, 'Base', 1_000)).toMatchObject({ net: 1_000, total: 1_190 });
    }
    await story.verify();
  });
});
