import {
  createCoupon,
  type CreatedCoupon,
  type Redemption,
  redemptionOf,
} from '../support/coupons';
import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' };

const HALF = { type: 'percent', percent_off: '50' };
const SEVEN = { type: 'amount', amount_off: 700, currency: 'USD' };
const months = (duration_in_months: number) => ({ duration: 'repeating', duration_in_months });

/** Calls at 10.00. Nothing is used in March, so that 1 April has no invoice; calls of March are reported later. */
describe('usage that is added to a bill without usage uses the coupons that ran then', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Nothing is left of a void invoice that could be made again. */
  async function expectNotRegenerated(invoice: string): Promise<void> {
    const answer = await engine.http.post(`/v1/invoices/${invoice}/reissue`).send({});
    expect(answer.body).toMatchObject({ status: 409, code: 'invoice_overtaken' });
  }

  const begin = (...coupons: readonly object[]) => beginWith({}, ...coupons);

  async function beginWith(customer: object, ...coupons: readonly object[]) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD', ...customer });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([{ ...calls, meter_id }]);
    const { id: weekId } = await story.planOf([{ ...calls, meter_id }], { interval: 'week' });
    const codes: CreatedCoupon[] = [];
    for (const fields of coupons) {
      const terms = 'of' in fields ? { ...fields, of: undefined, plan_ids: [planId] } : fields;
      codes.push(await createCoupon(engine, terms));
    }
    const [first, ...others] = codes;
    const subscribe = async (fields: object = {}, interval = 'month'): Promise<string> => {
      const terms = { collection: 'send_invoice', coupon: first?.code, ...fields };
      const { id } = await story.subscribe(interval === 'week' ? weekId : planId, terms);
      for (const { code } of others) await story.command(id, 'coupons', { code });
      return id;
    };
    const use = (date: string, n = 1) => story.reportUsage(event, on(date), { n });
    /** Amounts and discounts of finalized invoices that stand, by the starts of their periods; late usage has the name late. */
    const billed = async (): Promise<readonly (readonly (string | number)[])[]> =>
      (await story.invoices())
        .filter(({ status }) => status !== 'void' && status !== 'draft')
        .flatMap(({ lines }) => lines)
        .map(({ description, period_start, amount, discount }) => [
          `${description.includes('(late usage)') ? 'late ' : ''}${period_start?.slice(5, 7) ?? ''}`,
          amount,
          discount,
        ]);
    const redemption = (place = 0): Promise<Redemption> =>
      redemptionOf(engine, codes[place]?.id ?? '');
    const last = async (): Promise<Invoice> => {
      const invoice = (await story.invoices()).at(-1);
      if (invoice === undefined) throw new Error('There is no invoice.');
      return invoice;
    };
    return { story, meter_id, subscribe, use, billed, redemption, last };
  }

  it.each([
    ['a percentage, once', { ...HALF, duration: 'once' }, 500, 0, null],
    ['an amount, once', { ...SEVEN, duration: 'once' }, 700, 0, null],
    ['a percentage of one month', { ...HALF, ...months(1) }, 500, 0, '04-01'],
    ['an amount of one month', { ...SEVEN, ...months(1) }, 700, 0, '04-01'],
    ['a percentage of two months', { ...HALF, ...months(2) }, 500, 500, '05-01'],
    ['an amount of two months', { ...SEVEN, ...months(2) }, 700, 700, '05-01'],
    ['a percentage for ever', { ...HALF, duration: 'forever' }, 500, 500, null],
    ['an amount for ever', { ...SEVEN, duration: 'forever' }, 700, 700, null],
  ])('instead of the next invoice, and counts its month: %s', async (_, terms, late, own, ends) => {
    const { story, subscribe, use, billed, redemption } = await begin(terms);
    await subscribe();
    await story.advance(on('04-05'));
    await use('03-20');
    await use('04-02');
    await story.advance(on('05-05'));
    await use('05-06');
    await story.advance(on('06-05'));
    expect(await billed()).toEqual([
      ['04', 1_000, own],
      ['late 03', 1_000, late],
      ['05', 1_000, terms.duration === 'forever' ? own : 0],
    ]);
    expect((await redemption()).ends_at).toBe(ends === null ? null : on(ends));
    await story.verify();
  });

  it.each([
    ['a percentage, once', { ...HALF, duration: 'once' }, 500],
    ['an amount, once', { ...SEVEN, duration: 'once' }, 0],
    ['a percentage of one month', { ...HALF, ...months(1) }, 500],
    ['an amount of one month', { ...SEVEN, ...months(1) }, 0],
  ])('also where more of it is reported later: %s', async (_, terms, again) => {
    const { story, subscribe, use, billed } = await begin(terms);
    await subscribe();
    await story.advance(on('04-05'));
    await use('03-20');
    await story.advance(on('05-05'));
    await use('03-21');
    await use('05-06');
    await story.advance(on('06-05'));
    const first = 'amount_off' in terms ? 700 : 500;
    expect(await billed()).toEqual([
      ['late 03', 1_000, first],
      ['05', 1_000, 0],
      ['late 03', 1_000, again],
    ]);
    await story.verify();
  });

  it.each([
    ['a percentage, once', { ...HALF, duration: 'once' }, 1_000],
    ['an amount, once', { ...SEVEN, duration: 'once' }, 700],
    ['a percentage of one month', { ...HALF, ...months(1) }, 1_000],
    ['an amount of one month', { ...SEVEN, ...months(1) }, 700],
  ])(
    'which is given back when the invoice is void; the next correction bills all and takes it: %s',
    async (_, terms, late) => {
      const { story, subscribe, use, billed, redemption, last } = await begin(terms);
      await subscribe();
      await story.advance(on('04-05'));
      await use('03-20');
      await story.advance(on('05-05'));
      const before = await last();
      await post(engine, `/v1/invoices/${before.id}/void`, {});
      const remaining_amount = 'amount_off' in terms && terms.duration === 'once' ? 700 : null;
      const unused = { applied_amount: 0, ends_at: null, ended_at: null, remaining_amount };
      expect(await redemption()).toMatchObject(unused);
      await use('03-21');
      await story.advance(on('06-05'));
      expect(await billed()).toEqual([['late 03', 2_000, late]]);
      await expectNotRegenerated(before.id);
      expect((await redemption()).applied_amount).toBe(late);
      await use('06-06');
      await story.advance(on('07-05'));
      expect((await billed()).at(-1)).toEqual(['06', 1_000, 0]);
      await story.verify();
    },
  );

  it.each([
    ['once', { ...HALF, duration: 'once' }, 0, null],
    ['of one month', { ...HALF, ...months(1) }, 0, '05-01'],
    ['of two months, which then begin earlier', { ...HALF, ...months(2) }, 500, '05-01'],
  ])('but not where a later bill used it before: %s', async (_, terms, late, ends) => {
    const { story, subscribe, use, billed, redemption } = await begin(terms);
    await subscribe();
    await story.advance(on('04-05'));
    await use('04-02');
    await story.advance(on('05-05'));
    await use('03-20');
    await use('05-06');
    await story.advance(on('06-05'));
    expect(await billed()).toEqual([
      ['04', 1_000, 500],
      ['05', 1_000, 0],
      ['late 03', 1_000, late],
    ]);
    expect((await redemption()).ends_at).toBe(ends === null ? null : on(ends));
    await story.verify();
  });

  it.each([
    ['once', { ...HALF, duration: 'once' }],
    ['of one month', { ...HALF, ...months(1) }],
  ])(
    'before the lines of the next invoice, if its own invoice was voided: %s',
    async (_, terms) => {
      const { story, subscribe, use, billed, last } = await begin(terms);
      await subscribe();
      await story.advance(on('04-05'));
      await use('03-20');
      await story.advance(on('05-05'));
      const { id } = await last();
      await post(engine, `/v1/invoices/${id}/void`, {});
      await use('05-06');
      await story.advance(on('06-05'));
      expect(await billed()).toEqual([
        ['05', 1_000, 0],
        ['late 03', 1_000, 500],
      ]);
      await expectNotRegenerated(id);
      await story.verify();
    },
  );

  it.each([
    ['once, whose usage is void', { duration: 'once' }, true, [['03', 1_000, 500]]],
    ['of one month, whose usage is void', months(1), true, [['03', 1_000, 500]]],
    [
      'once',
      { duration: 'once' },
      false,
      [
        ['late 03', 1_000, 500],
        ['03', 1_000, 0],
      ],
    ],
    [
      'of one month',
      months(1),
      false,
      [
        ['late 03', 1_000, 500],
        ['03', 1_000, 500],
      ],
    ],
  ])(
    'and once it is void, the first invoice that is finalized then, a waiting draft or its correction: %s',
    async (_, terms, isLost, expected) => {
      const { story, subscribe, use, billed, redemption, last } = await beginWith(
        { invoice_grace_hours: 400 },
        { ...HALF, ...terms },
      );
      await subscribe({}, 'week');
      await story.advance(on('03-25'));
      const idempotency_key = await use('03-05');
      await use('03-25');
      await story.advance(on('04-01'));
      const correction = (await story.invoices()).find(({ status }) => status === 'open');
      expect(correction).toMatchObject({ total: 500 });
      await post(engine, `/v1/invoices/${correction?.id ?? ''}/void`, {});
      expect(await redemption()).toMatchObject({ applied_amount: 0, ended_at: null });
      if (isLost) await post(engine, '/v1/usage-events/void', { idempotency_key });
      await story.advance(on('04-15'));
      expect(await billed()).toEqual(expected);
      expect(await last()).toMatchObject({ status: 'draft' });
      await story.verify();
    },
  );

  it('one bill after the other, the oldest first', async () => {
    const { story, subscribe, use, billed } = await begin({ ...HALF, duration: 'once' });
    await subscribe();
    await story.advance(on('05-05'));
    await use('04-02');
    await use('03-20');
    await story.advance(on('06-05'));
    expect(await billed()).toEqual([
      ['late 03', 1_000, 500],
      ['late 04', 1_000, 0],
    ]);
    await story.verify();
  });

  it('for the prices of its plan alone, beside other lines of the bill', async () => {
    const { story, meter_id, subscribe, use, billed, redemption } = await begin({
      ...HALF,
      duration: 'once',
      of: 'the plan',
    });
    const { id: addon_id } = await post(engine, '/v1/addons', {
      code: 'empty',
      name: 'Extra',
      currency: 'USD',
      prices: [
        { ...calls, name: 'Extra', meter_id, unit_amount: '100' },
        { name: 'Fee', model: 'flat', timing: 'in_advance', amount: 300 },
      ],
    });
    await subscribe({ addons: [{ addon_id, quantity: '1' }] });
    await story.advance(on('04-05'));
    await use('03-20');
    await story.advance(on('05-05'));
    expect((await billed()).slice(2)).toEqual([
      ['05', 300, 0],
      ['late 03', 1_000, 500],
      ['late 03', 100, 0],
    ]);
    expect(await redemption()).toMatchObject({ applied_amount: 500, ended_at: on('05-01') });
    await story.verify();
  });

  it('each of two, percentages first', async () => {
    const { story, subscribe, use, billed, redemption } = await begin(
      { type: 'amount', amount_off: 300, currency: 'USD', duration: 'once' },
      { ...HALF, duration: 'once' },
      { type: 'percent', percent_off: '10', ...months(1) },
    );
    await subscribe();
    await story.advance(on('04-05'));
    await use('03-20');
    await use('04-02');
    await story.advance(on('05-05'));
    // 500 of 1,000, 50 of the rest, and 300.
    expect(await billed()).toEqual([
      ['04', 1_000, 0],
      ['late 03', 1_000, 850],
    ]);
    expect(await redemption(1)).toMatchObject({ applied_amount: 500, ended_at: on('05-01') });
    expect(await redemption(2)).toMatchObject({ applied_amount: 50, ends_at: on('04-01') });
    await story.verify();
  });

  it('after the end of the subscription, and again for what was taken back', async () => {
    const { story, subscribe, use, billed, redemption } = await begin({
      ...HALF,
      duration: 'once',
    });
    const id = await subscribe();
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', { when: 'now' });
    await story.advance(on('03-11'));
    const idempotency_key = await use('03-05', 2);
    await story.advance(on('03-12'));
    expect(await billed()).toEqual([['late 03', 2_000, 1_000]]);
    await post(engine, '/v1/usage-events/void', { idempotency_key });
    await story.advance(on('03-13'));
    expect(await redemption()).toMatchObject({ applied_amount: 0, remaining_amount: 1_000 });
    await use('03-06', 3);
    await story.advance(on('03-14'));
    expect((await billed()).at(-1)).toEqual(['late 03', 3_000, 1_500]);
    await story.verify();
  });

  it('once in its period, on waiting drafts of earlier periods as well', async () => {
    const terms = { type: 'amount', amount_off: 1_500, currency: 'USD', duration: 'forever' };
    const { story, subscribe, use, billed } = await beginWith({ invoice_grace_hours: 400 }, terms);
    const id = await subscribe({}, 'week');
    await story.advance(on('03-16'));
    await use('03-15');
    await story.command(id, 'cancel', { when: 'now' });
    for (const day of ['03-15', '03-15']) {
      await use(day);
      const draft = (await story.invoices()).find(({ status }) => status === 'draft');
      await post(engine, `/v1/invoices/${draft?.id ?? ''}/finalize`, {});
    }
    expect(await billed()).toEqual([
      ['late 03', 1_000, 500],
      ['late 03', 1_000, 0],
      ['03', 1_000, 1_000],
    ]);
    await story.verify();
  });
});
