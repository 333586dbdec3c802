import { createCoupon, redemptionOf } from '../support/coupons';
import { type Invoice, type Line, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' };
const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 };

interface BilledInvoice extends Invoice {
  readonly tax_note: string | null;
  readonly taxes: readonly { readonly name: string; readonly tax: number }[];
}

/** March usage is billed on 1 April. What is reported for it later is a correction on the invoice of 1 May. */
describe('usage that is added to a bill takes the discounts and taxes of the bill', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const couponIds = new Map<string, string>();
  async function coupon(fields: object): Promise<string> {
    const { id, code } = await createCoupon(engine, fields);
    couponIds.set(code, id);
    return code;
  }
  const half = (duration: string, fields: object = {}): Promise<string> =>
    coupon({ type: 'percent', percent_off: '50', duration, ...fields });
  const amount = (amount_off: number, duration: string, fields: object = {}): Promise<string> =>
    coupon({ type: 'amount', amount_off, currency: 'USD', duration, ...fields });
  const taxRate = async (percentage: string, inclusive = false): Promise<string> =>
    (await post(engine, '/v1/tax-rates', { name: `VAT ${percentage}`, percentage, inclusive })).id;

  async function begin(prices: readonly object[] = [calls], fields: object = {}) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD', ...fields });
    const { id: meter_id, event } = await story.meter();
    const metered = prices.map((price) =>
      'amount' in price || 'plan' in price ? price : { ...price, meter_id },
    );
    const { id: planId } = await story.planOf(metered);
    const use = (date: string, n: number | string) => story.reportUsage(event, on(date), { n });
    const customer = async (change: object): Promise<void> => {
      await engine.http.patch(`/v1/customers/${story.customerId}`).send(change).expect(200);
    };
    return { story, planId, meter_id, event, use, customer };
  }
  type Begun = Awaited<ReturnType<typeof begin>>;

  const invoices = async ({ story }: Begun): Promise<readonly BilledInvoice[]> =>
    (await story.invoices()) as readonly BilledInvoice[];
  const late = async (begun: Begun): Promise<readonly Line[]> =>
    (await invoices(begun))
      .flatMap(({ lines }) => lines)
      .filter(({ description }) => description.includes('(late usage)'));
  const shownLate = async (begun: Begun): Promise<readonly (readonly number[])[]> =>
    (await late(begun)).map((line) => [line.amount, line.discount, line.tax]);
  const voidUsage = async (idempotency_key: string): Promise<void> => {
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
  };
  const redemption = (code: string) => redemptionOf(engine, couponIds.get(code) ?? '');

  it('after a coupon of one month has ended, another one has begun, and the rate is another', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    const code = await half('repeating', { duration_in_months: 1 });
    const { id } = await story.subscribe(planId, { coupon: code });
    await use('03-01', 10);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_rate_ids: [await taxRate('7')] });
    await story.command(id, 'coupons', {
      code: await coupon({ type: 'percent', percent_off: '10', duration: 'forever' }),
    });
    await use('04-02', 1);
    await story.advance(on('05-01'));
    const [march, april] = await invoices(begun);
    expect(march).toMatchObject({ subtotal: 10_000, discount: 5_000, tax: 950, total: 5_950 });
    expect(april?.lines.map((line) => [line.amount, line.discount, line.tax])).toEqual([
      [1_000, 100, 63],
      [2_000, 1_000, 190],
    ]);
    expect(april).toMatchObject({ subtotal: 3_000, discount: 1_100, tax: 253, total: 2_153 });
    expect((await redemption(code)).ends_at).toBe(on('04-01'));
    await story.verify();
  });

  it.each([
    ['exempt', 'exempt'],
    ['reverse', 'reverse_charge'],
  ])('where the customer is %s by now', async (treatment, note) => {
    const begun = await begin([calls, base], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId);
    await use('03-01', 10);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_exempt: treatment });
    await story.advance(on('05-01'));
    expect(await shownLate(begun)).toEqual([[2_000, 0, 380]]);
    expect((await invoices(begun)).at(-1)).toMatchObject({ total: 5_380, tax_note: note });
    await story.verify();
  });

  it.each([
    ['exempt', 'exempt'],
    ['reverse', 'reverse_charge'],
  ])('where the bill was %s: without tax, and with its note', async (treatment, note) => {
    const begun = await begin([calls], {
      tax_rate_ids: [await taxRate('19')],
      tax_exempt: treatment,
    });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId);
    await use('03-01', 10);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_exempt: 'none' });
    await use('04-02', 1);
    await story.advance(on('05-01'));
    expect(await shownLate(begun)).toEqual([[2_000, 0, 0]]);
    expect((await invoices(begun)).at(-1)).toMatchObject({ tax: 190, tax_note: note });
    await story.verify();
  });

  it('does not state a reverse charge that no line has', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId);
    await use('03-01', 10);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_exempt: 'reverse' });
    await story.advance(on('05-01'));
    expect((await invoices(begun)).at(-1)).toMatchObject({ total: 2_380, tax_note: null });
    await story.verify();
  });

  it('with an inclusive rate, where the rate is exclusive by now', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('25', true)] });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId);
    await use('03-01', 10);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_rate_ids: [await taxRate('10')] });
    await use('04-02', 1);
    await story.advance(on('05-01'));
    const april = (await invoices(begun)).at(-1);
    expect(april?.lines.map((line) => [line.amount, line.tax])).toEqual([
      [1_000, 100],
      [2_000, 400],
    ]);
    expect(april?.total).toBe(3_100);
    await story.verify();
  });

  it('an amount of each period takes what the period of the bill left, and leaves that of the next', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    await story.subscribe(planId, { coupon: await amount(2_500, 'forever') });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    await use('03-20', 1);
    await use('04-02', 4);
    await story.advance(on('05-05'));
    await use('03-21', 2);
    await story.advance(on('06-05'));
    expect(await shownLate(begun)).toEqual([
      [1_000, 1_000, 0],
      [2_000, 500, 0],
    ]);
    expect((await invoices(begun)).map(({ discount }) => discount)).toEqual([1_000, 3_500, 500]);
    await story.verify();
  });

  it('two corrections of one invoice share what the period of their bill left', async () => {
    const other = { ...calls, name: 'Other', unit_amount: '700' };
    const begun = await begin([calls, other]);
    const { story, planId, use } = begun;
    await story.subscribe(planId, { coupon: await amount(2_500, 'forever') });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    await use('03-20', 1);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([
      [1_000, 800, 0],
      [700, 0, 0],
    ]);
    await story.verify();
  });

  it.each([
    ['after both', 'week'],
    ['between them', 'large'],
  ])(
    'an amount does not wait for what a change took, where the next one ends its period at the same instant: %s',
    async (_, lateAfter) => {
      const begun = await begin([base, calls]);
      const { story, planId, meter_id, use } = begun;
      const prices = (amount: number) => [
        { ...base, amount },
        { ...calls, meter_id },
      ];
      const large = await story.planOf(prices(6_200));
      const week = await story.planOf(prices(700), { interval: 'week' });
      const code = await amount(6_000, 'forever');
      const { id } = await story.subscribe(planId, { coupon: code });
      await use('03-01', 2);
      await story.advance(on('04-11'));
      for (const [name, plan] of Object.entries({ large, week })) {
        await story.command(id, 'change', { plan_id: plan.id, when: 'now' });
        if (name === lateAfter) await use('03-06', 3);
        if (name !== 'large' || lateAfter !== 'large') continue;
        const path = `/v1/subscriptions/${id}/change?preview=true`;
        const answer = await engine.http.post(path).send({ plan_id: week.id, when: 'now' });
        expect((answer.body as Invoice).lines.map(({ discount }) => discount)).toContain(1_000);
      }
      await story.advance(on('04-18'));
      // April has 6,000, of which its invoice took 3,000 and 2,000. What the first change took belongs to the week.
      expect(await shownLate(begun)).toEqual([[3_000, 1_000, 0]]);
      await story.verify();
    },
  );

  it('takes of the rest of a coupon that the bill began, and leaves one alone that waits', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    const rest = await amount(1_500, 'once');
    const { id } = await story.subscribe(planId, { coupon: rest });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    const waiting = await half('once');
    await story.command(id, 'coupons', { code: waiting });
    await use('03-20', 1);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[1_000, 500, 0]]);
    expect(await redemption(rest)).toMatchObject({ applied_amount: 1_500, remaining_amount: 0 });
    expect(await redemption(waiting)).toMatchObject({ applied_amount: 0, ended_at: null });
    await story.verify();
  });

  it('a percentage used up by the bill discounts what is added, and is not used again', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    const code = await half('once');
    await story.subscribe(planId, { coupon: code });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    await use('03-20', 3);
    await use('04-02', 5);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[3_000, 1_500, 0]]);
    expect((await invoices(begun)).at(-1)).toMatchObject({ discount: 1_500, total: 6_500 });
    expect(await redemption(code)).toMatchObject({ applied_amount: 2_000 });
    await story.verify();
  });

  it('uses no month of a repeating coupon that began later', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    const { id } = await story.subscribe(planId);
    await use('03-01', 1);
    await story.advance(on('04-05'));
    const code = await half('repeating', { duration_in_months: 1 });
    await story.command(id, 'coupons', { code });
    await use('03-20', 1);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[1_000, 0, 0]]);
    expect(await redemption(code)).toMatchObject({ ends_at: null, applied_amount: 0 });
    await use('05-06', 1);
    await story.advance(on('06-05'));
    expect((await invoices(begun)).at(-1)).toMatchObject({ discount: 500 });
    expect(await redemption(code)).toMatchObject({ ends_at: on('06-01') });
    await story.verify();
  });

  it('rounds a percentage with all that the bill took it off', async () => {
    const price = { ...calls, unit_amount: '1' };
    const begun = await begin([{ ...base, amount: 333 }, price], {
      tax_rate_ids: [await taxRate('19')],
    });
    const { story, planId, use } = begun;
    const third = { type: 'percent', percent_off: '33.33', duration: 'forever' };
    await story.subscribe(planId, { coupon: await coupon(third) });
    await use('03-01', 101);
    await story.advance(on('04-05'));
    for (const [day, next] of [
      ['03-20', '05-05'],
      ['03-21', '06-05'],
      ['03-22', '07-05'],
    ] as const) {
      await use(day, 1);
      await story.advance(on(next));
    }
    const discounts = (await late(begun)).map(({ discount }) => discount);
    const april = (await invoices(begun))[1]?.discount ?? 0;
    // 33.33 % of 333 + 101 + 3.
    expect(april + discounts.reduce((total, one) => total + one, 0)).toBe(146);
    await story.verify();
  });

  it('adds up where usage is taken back and reported again', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use } = begun;
    await story.subscribe(planId, { coupon: await amount(2_500, 'forever') });
    await use('03-01', 1);
    const key = await use('03-02', 3);
    await story.advance(on('04-05'));
    await voidUsage(key);
    await story.advance(on('05-05'));
    await use('03-20', 3);
    await story.advance(on('06-05'));
    // 4 calls less 25.00 are 15.00, of which 1 call keeps its share: 3.75.
    expect(await shownLate(begun)).toEqual([
      [-1_125, 0, -214],
      [3_000, 1_875, 214],
    ]);
    await story.verify();
  });

  it.each([0, 72])(
    'returns what is taken back to a coupon that was used up, for the same invoice, after %d hours as a draft',
    async (invoice_grace_hours) => {
      const begun = await begin([base, calls], { invoice_grace_hours });
      const { story, planId, use } = begun;
      await story.subscribe(planId, { coupon: await amount(5_000, 'once') });
      const key = await use('03-01', 3);
      await story.advance(on('04-05'));
      await voidUsage(key);
      await story.advance(on('05-05'));
      // March took 3,000 off and April 2,000: 1,000 off the base of April, and 1,000 off its usage.
      expect((await invoices(begun)).map(({ discount }) => discount)).toEqual([
        3_000, 2_000, 1_000,
      ]);
      await story.verify();
    },
  );

  it('that is added after some was taken back has all of a percentage that lasts once', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    await story.subscribe(planId, { coupon: await half('once') });
    await use('03-01', 8);
    const key = await use('03-02', 2);
    await story.advance(on('04-05'));
    await voidUsage(key);
    await use('04-06', 4);
    await story.advance(on('05-05'));
    // The 10.00 that returned wait for usage of March.
    expect((await invoices(begun)).at(-1)).toMatchObject({ subtotal: 3_000, discount: 0 });
    await use('03-20', 5);
    await story.advance(on('06-05'));
    expect(await shownLate(begun)).toEqual([
      [-1_000, 0, 0],
      [5_000, 2_500, 0],
    ]);
    await story.verify();
  });

  it('within the limits of the price, whose true-up was discounted', async () => {
    const begun = await begin([{ ...calls, minimum_amount: 5_000, maximum_amount: 8_000 }], {
      tax_rate_ids: [await taxRate('19')],
    });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId, { coupon: await half('once') });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    await customer({ tax_rate_ids: [] });
    await use('03-20', 5);
    await story.advance(on('05-05'));
    await use('03-21', 9);
    await story.advance(on('06-05'));
    expect((await late(begun)).map((line) => [line.amount, line.discount, line.tax])).toEqual([
      [1_000, 500, 95],
      [2_000, 1_000, 190],
    ]);
    await story.verify();
  });

  it('only by the coupons of its plan', async () => {
    const begun = await begin([base, calls]);
    const { story, planId, use } = begun;
    const code = await half('forever', { plan_ids: [planId] });
    const addon = await post(engine, '/v1/addons', {
      code: 'late',
      name: 'Extra',
      currency: 'USD',
      prices: [{ ...calls, name: 'Extra', meter_id: begun.meter_id, unit_amount: '100' }],
    });
    await story.subscribe(planId, {
      coupon: code,
      addons: [{ addon_id: addon.id, quantity: '1' }],
    });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    await use('03-20', 1);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([
      [1_000, 500, 0],
      [100, 0, 0],
    ]);
    await story.verify();
  });

  it('after a credit note for the line, and after its payment was refunded', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId, {
      coupon: await half('repeating', { duration_in_months: 1 }),
      collection: 'send_invoice',
    });
    await use('03-01', 10);
    await story.advance(on('04-05'));
    const [march] = await invoices(begun);
    await post(engine, '/v1/credit-notes', {
      invoice_id: march?.id,
      reason: 'Late',
      settle: 'credit',
      lines: [{ invoice_line_id: march?.lines[0]?.id, amount: 1_000 }],
    });
    const payment = await post(engine, `/v1/invoices/${march?.id ?? ''}/pay`, {
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_ok',
    });
    await post(engine, `/v1/refunds/payment/${payment.id}`, { amount: 2_000 });
    await customer({ tax_rate_ids: [await taxRate('7')] });
    await use('03-20', 2);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[2_000, 1_000, 190]]);
    await story.verify();
  });

  it('of the regenerated invoice, where the first one is void', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    await story.subscribe(planId, { collection: 'send_invoice', coupon: await half('once') });
    await use('03-01', 10);
    await story.advance(on('04-05'));
    const [march] = await invoices(begun);
    await post(engine, `/v1/invoices/${march?.id ?? ''}/void`, {});
    await customer({ tax_rate_ids: [await taxRate('7')] });
    await post(engine, `/v1/invoices/${march?.id ?? ''}/reissue`, {});
    await customer({ tax_rate_ids: [] });
    await use('03-20', 2);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[2_000, 1_000, 70]]);
    await story.verify();
  });

  it('and keeps them when the invoice of the correction is made again', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    const code = await amount(2_500, 'forever');
    await story.subscribe(planId, { collection: 'send_invoice', coupon: code });
    await use('03-01', 1);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await story.advance(on('05-05'));
    const april = (await invoices(begun)).at(-1);
    expect(april).toMatchObject({ subtotal: 2_000, discount: 1_500, tax: 95 });
    await post(engine, `/v1/invoices/${april?.id ?? ''}/void`, {});
    expect(await redemption(code)).toMatchObject({ applied_amount: 1_000 });
    await customer({ tax_rate_ids: [] });
    await post(engine, `/v1/invoices/${april?.id ?? ''}/reissue`, {});
    expect((await invoices(begun)).at(-1)).toMatchObject({
      subtotal: 2_000,
      discount: 1_500,
      tax: 95,
    });
    expect(await redemption(code)).toMatchObject({ applied_amount: 2_500 });
    await story.verify();
  });

  it.each([
    ['its invoice had other lines', [base, calls]],
    ['there was no invoice', [calls]],
  ])('without a line of the period: those in force at its invoice; %s', async (_, prices) => {
    const begun = await begin(prices, { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    const { id } = await story.subscribe(planId, { coupon: await half('forever') });
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_rate_ids: [await taxRate('7')] });
    await story.command(id, 'coupons', { code: await half('forever') });
    await story.advance(on('05-05'));
    await use('03-21', 2);
    await story.advance(on('06-05'));
    expect(await shownLate(begun)).toEqual([
      [2_000, 1_000, 190],
      [2_000, 1_000, 190],
    ]);
    await story.verify();
  });

  it('takes of an amount that lasts once what no bill used yet, where the period had no line', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    const code = await amount(1_000, 'once');
    await story.subscribe(planId, { coupon: code, collection: 'send_invoice' });
    await use('03-01', '0.3');
    await story.advance(on('05-05'));
    await use('04-02', '0.5');
    await story.advance(on('06-05'));
    // March took 300. April had no bill: its usage of 500 takes 500 of the rest.
    expect(await shownLate(begun)).toEqual([[500, 500, 0]]);
    expect(await redemption(code)).toMatchObject({ applied_amount: 800, remaining_amount: 200 });
    await use('04-03', '0.4');
    await use('05-02', 1);
    await story.advance(on('07-05'));
    expect((await shownLate(begun))[1]).toEqual([400, 200, 0]);
    expect(await redemption(code)).toMatchObject({ applied_amount: 1_000, remaining_amount: 0 });
    await story.verify();
  });

  it.each([
    ['for the bill of its period', { when: 'period_end' }, '04-01'],
    ['also after the end', { when: 'now' }, '03-10'],
  ])('takes of an amount that lasts once and was never used, %s', async (_, cancel, endsAt) => {
    const begun = await begin();
    const { story, planId, use } = begun;
    const code = await amount(700, 'once');
    const { id } = await story.subscribe(planId, { coupon: code, collection: 'send_invoice' });
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', cancel);
    await story.advance(on(endsAt === '03-10' ? '03-11' : '04-02'));
    await use('03-05', 1);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[1_000, 700, 0]]);
    const billed = (await invoices(begun)).at(-1);
    await post(engine, `/v1/invoices/${billed?.id ?? ''}/void`, {});
    expect(await redemption(code)).toMatchObject({ applied_amount: 0, remaining_amount: 700 });
    await post(engine, `/v1/invoices/${billed?.id ?? ''}/reissue`, {});
    expect((await shownLate(begun)).at(-1)).toEqual([1_000, 700, 0]);
    expect(await redemption(code)).toMatchObject({ applied_amount: 700, remaining_amount: 0 });
    await story.verify();
  });

  it('shares the rest of an amount that lasts once with the usage of the next period', async () => {
    const begun = await begin();
    const { story, planId, use } = begun;
    await story.subscribe(planId, { coupon: await amount(1_500, 'once') });
    await story.advance(on('04-05'));
    await use('03-20', 1);
    await use('04-02', 1);
    await story.advance(on('05-05'));
    const lines = (await invoices(begun)).flatMap((one) => one.lines);
    expect(lines.map((line) => [line.amount, line.discount])).toEqual([
      [1_000, 500],
      [1_000, 1_000],
    ]);
    await story.verify();
  });

  it('after the end of the subscription, whose coupons ended with it', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    const code = await amount(2_500, 'forever');
    const { id } = await story.subscribe(planId, { coupon: code });
    await use('03-01', 1);
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', { when: 'now' });
    await customer({ tax_exempt: 'exempt' });
    await use('03-05', 2);
    await story.advance(on('03-11'));
    expect((await invoices(begun)).at(-1)).toMatchObject({ reason: 'late_usage', tax_note: null });
    expect(await shownLate(begun)).toEqual([[2_000, 1_500, 95]]);
    await story.verify();
  });

  it('in tiers, by the difference of the period rated again', async () => {
    const tiers = [
      { up_to: '10', unit_amount: '100' },
      { up_to: null, unit_amount: '50' },
    ];
    const begun = await begin([{ name: 'Calls', model: 'graduated', timing: 'in_arrears', tiers }]);
    const { story, planId, use } = begun;
    await story.subscribe(planId, { coupon: await half('repeating', { duration_in_months: 1 }) });
    await use('03-01', 8);
    await story.advance(on('04-05'));
    await use('03-20', 4);
    await story.advance(on('05-05'));
    expect(await shownLate(begun)).toEqual([[300, 150, 0]]);
    await story.verify();
  });

  it('in a preview as on the invoice, and in the explanation', async () => {
    const begun = await begin([calls], { tax_rate_ids: [await taxRate('19')] });
    const { story, planId, use, customer } = begun;
    const { id } = await story.subscribe(planId, { coupon: await half('once') });
    await use('03-01', 10);
    await story.advance(on('04-05'));
    await use('03-20', 2);
    await customer({ tax_rate_ids: [] });
    const path = `/v1/subscriptions/${id}/cancel?preview=true`;
    const answer = await engine.http.post(path).send({ when: 'period_end' });
    const invoice = answer.body as Invoice;
    await story.advance(on('05-01'));
    const made = (await invoices(begun)).at(-1);
    expect(invoice).toMatchObject({ discount: 1_000, tax: 190, total: 1_190 });
    expect(made).toMatchObject({ discount: 1_000, tax: 190, total: 1_190 });
    const { body } = await engine.http.get(`/v1/invoices/${made?.id ?? ''}/explanation`);
    expect(body).toMatchObject({ discounts: [{ percent_off: '50', amount: 1_000 }] });
    await story.verify();
  });
});
