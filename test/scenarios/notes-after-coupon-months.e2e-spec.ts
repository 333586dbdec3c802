import { createCoupon } from '../support/coupons';
import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

/**
 * JPY 137 and 1,201 a month and 10 a call, with 19 % and 7.75 % of tax, and 100 off for two months from 1 March on. Two of five
 * calls of March are voided after April billed them, so that the invoice of May gives them back.
 */
describe('a correction after the months of a repeating coupon', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });
  afterAll(() => engine.close());

  async function invoiceOfMay(): Promise<{ readonly story: Story; readonly invoice: Invoice }> {
    const rates: string[] = [];
    for (const percentage of ['19', '7.75']) {
      const rate = { name: 'VAT', percentage, inclusive: false };
      rates.push((await post(engine, '/v1/tax-rates', rate)).id);
    }
    const terms = { type: 'amount', amount_off: 100, currency: 'JPY', duration: 'repeating' };
    const { code } = await createCoupon(engine, { ...terms, duration_in_months: 2 });
    const story = await Story.begin(engine, on('03-01'), { currency: 'JPY', tax_rate_ids: rates });
    const meter = await story.meter();
    const advance = { model: 'flat', timing: 'in_advance' };
    const calls = { model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const plan = await story.planOf(
      [
        { name: 'Base', ...advance, amount: 137 },
        { name: 'Support', ...advance, amount: 1_201 },
        { name: 'Calls', ...calls, meter_id: meter.id },
      ],
      { currency: 'JPY' },
    );
    await story.subscribe(plan.id, { coupon: code, collection: 'send_invoice' });
    await story.reportUsage(meter.event, on('03-01'), { n: 3 });
    const lost = await story.reportUsage(meter.event, on('03-01'), { n: 2 });
    await story.advance(on('04-02'));
    await story.reportUsage(meter.event, on('04-02'), { n: 10 });
    await post(engine, '/v1/usage-events/void', { idempotency_key: lost });
    await story.advance(on('05-02'));
    const invoice = (await story.invoices()).at(-1);
    if (invoice === undefined) throw new Error('May is billed.');
    return { story, invoice };
  }

  it('discounts nothing of its invoice with what it returns, and notes give back what the lines billed', async () => {
    const { story, invoice } = await invoiceOfMay();
    expect((await story.invoices()).map(({ discount }) => discount)).toEqual([100, 100, 0]);
    expect(
      invoice.lines.map(({ type, amount, discount, tax }) => [type, amount, discount, tax]),
    ).toEqual([
      ['recurring', 137, 0, 37],
      ['recurring', 1_201, 0, 321],
      ['usage', 100, 0, 27],
      ['usage', -18, 0, -5],
    ]);
    const order = (...amounts: readonly number[]): object => ({
      invoice_id: invoice.id,
      lines: amounts.map((amount, index) => ({
        invoice_line_id: invoice.lines[index]?.id,
        amount,
      })),
      reason: 'Outage',
      settle: 'credit',
    });
    // The taxes are 125 / 137 of 37 and 1,092 / 1,201 of 321: 33.76 and 291.87, together 325.63.
    expect(await post<object>(engine, '/v1/credit-notes', order(125, 1_092))).toMatchObject({
      lines: [
        { amount: 125, tax: 34 },
        { amount: 1_092, tax: 292 },
      ],
      tax: 326,
      total: 1_543,
    });
    expect(await post<object>(engine, '/v1/credit-notes', order(12, 109))).toMatchObject({
      lines: [
        { amount: 12, tax: 3 },
        { amount: 109, tax: 29 },
      ],
      tax: 32,
      total: 153,
    });
    const more = await engine.http.post('/v1/credit-notes').send(order(1));
    expect(more.body).toMatchObject({ code: 'credit_exceeds_line', creditable_amount: 0 });
    const credited = await engine.database.query<{ rest: number }>(
      `SELECT (share #>> '{taxMinor,$bigint}')::int - (noted #>> '{taxMinor,$bigint}')::int AS rest
       FROM invoice_line, jsonb_array_elements(tax_shares) share, jsonb_array_elements(credited_tax_shares) noted
       WHERE invoice_id = $1 AND share ->> 'taxRateId' = noted ->> 'taxRateId'`,
      [invoice.id],
    );
    expect(credited.map(({ rest }) => rest)).toEqual([0, 0, 0, 0]);
    await story.verify();
  });
});
