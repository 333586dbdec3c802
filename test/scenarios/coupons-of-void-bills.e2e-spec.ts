import { createCoupon, redemptionOf } from '../support/coupons';
import { post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const HALF = { type: 'percent', percent_off: '50' };
const LASTING = [
  ['once', { duration: 'once' }],
  ['of one month', { duration: 'repeating', duration_in_months: 1 }],
] as const;

/** Calls and messages at 10.00 each, and a percentage of 50. */
describe('the coupon of a void bill', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(terms: object) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const calls = await story.meter();
    const messages = await story.meter();
    const price = { model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' };
    const { id: planId } = await story.planOf([
      { ...price, name: 'Calls', meter_id: calls.id },
      { ...price, name: 'Messages', meter_id: messages.id },
    ]);
    const { code } = await createCoupon(engine, terms);
    await story.subscribe(planId, { collection: 'send_invoice', coupon: code });
    await story.advance(on('03-10'));
    const call = (date: string) => story.reportUsage(calls.event, on(date), { n: 1 });
    const message = (date: string) => story.reportUsage(messages.event, on(date), { n: 1 });
    const voidInvoice = (id: string) => post(engine, `/v1/invoices/${id}/void`, {});
    const voidLast = async (): Promise<string> => {
      const { id } = (await story.invoices()).at(-1) ?? { id: '' };
      await voidInvoice(id);
      return id;
    };
    const again = (id: string) => post(engine, `/v1/invoices/${id}/reissue`, {});
    /** Lines of the invoices that stand, with the month of their usage and their discount. */
    const billed = async (): Promise<readonly (readonly [string, number])[]> =>
      (await story.invoices())
        .filter(({ status }) => status !== 'void')
        .flatMap(({ lines }) => lines)
        .map(({ description, period_start, discount }) => {
          const name = description.startsWith('Calls') ? 'calls' : 'messages';
          const late = description.includes('(late usage)') ? 'late ' : '';
          return [`${late}${name} ${period_start?.slice(5, 7) ?? ''}`, discount];
        });
    return { story, call, message, voidInvoice, voidLast, again, billed };
  }

  it.each([
    ['a percentage, once', { ...HALF, duration: 'once' }, 1_000],
    [
      'an amount, once',
      { type: 'amount', amount_off: 700, currency: 'USD', duration: 'once' },
      700,
    ],
    ['a percentage of one month', { ...HALF, duration: 'repeating', duration_in_months: 1 }, 1_000],
  ])('is used by all usage of its period, on the next invoice: %s', async (_, terms, late) => {
    const { story, call, voidLast, billed } = await begin(terms);
    await call('03-05');
    await story.advance(on('04-05'));
    const bill = await voidLast();
    await call('03-21');
    await call('04-05');
    await story.advance(on('05-05'));
    expect(await billed()).toEqual([
      ['calls 04', 0],
      ['late calls 03', late],
    ]);
    const answer = await engine.http.post(`/v1/invoices/${bill}/reissue`).send({});
    expect(answer.body).toMatchObject({ status: 409, code: 'invoice_overtaken' });
    await story.verify();
  });

  describe.each(LASTING)('%s, and usage that had no line on the bill', (_, lasting) => {
    it('is not discounted where another invoice used the coupon before', async () => {
      const { story, call, message, voidLast, billed } = await begin({ ...HALF, ...lasting });
      await call('03-05');
      await story.advance(on('04-05'));
      await voidLast();
      await call('04-05');
      await story.advance(on('05-05'));
      await message('03-06');
      await story.advance(on('06-05'));
      expect(await billed()).toEqual([
        ['calls 04', 500],
        ['late messages 03', 0],
      ]);
      await story.verify();
    });

    it('uses it in the place of the bill, before the lines of the invoice', async () => {
      const { story, call, message, voidLast, billed } = await begin({ ...HALF, ...lasting });
      await call('03-05');
      await story.advance(on('04-05'));
      await voidLast();
      await message('03-06');
      await call('04-05');
      await story.advance(on('05-05'));
      await message('03-07');
      await story.advance(on('06-05'));
      expect(await billed()).toEqual([
        ['calls 04', 0],
        ['late messages 03', 500],
        ['late messages 03', 500],
      ]);
      await story.verify();
    });

    it('uses it with the bill that is made again', async () => {
      const { story, call, message, voidLast, again, billed } = await begin({
        ...HALF,
        ...lasting,
      });
      await call('03-05');
      await story.advance(on('04-05'));
      await again(await voidLast());
      await message('03-06');
      await story.advance(on('05-05'));
      expect(await billed()).toEqual([
        ['calls 03', 500],
        ['late messages 03', 500],
      ]);
      await story.verify();
    });

    it('is not discounted by the bill that is made again without it', async () => {
      const { story, call, message, voidLast, again, billed } = await begin({
        ...HALF,
        ...lasting,
      });
      await call('03-05');
      await story.advance(on('04-05'));
      const bill = await voidLast();
      await call('04-05');
      await story.advance(on('05-05'));
      await again(bill);
      await message('03-06');
      await story.advance(on('06-05'));
      expect(await billed()).toEqual([
        ['calls 04', 500],
        ['calls 03', 0],
        ['late messages 03', 0],
      ]);
      await story.verify();
    });
  });

  it('and of its correction, once that is void, was used by the invoice between them', async () => {
    const { story, call, voidInvoice, billed } = await begin({ ...HALF, duration: 'once' });
    await call('03-05');
    await story.advance(on('04-05'));
    await call('03-06');
    await story.advance(on('05-05'));
    const [bill, correction] = await story.invoices();
    await voidInvoice(bill?.id ?? '');
    await call('05-05');
    await story.advance(on('06-05'));
    await voidInvoice(correction?.id ?? '');
    await call('06-05');
    await story.advance(on('07-05'));
    expect(await billed()).toEqual([
      ['calls 05', 500],
      ['calls 06', 0],
      ['late calls 03', 0],
    ]);
    await story.verify();
  });

  it('stays unused where a discount of its correction returns', async () => {
    const { story, call, voidInvoice, billed } = await begin({ ...HALF, duration: 'once' });
    const lost = [await call('03-05')];
    await story.advance(on('04-05'));
    lost.push(await call('03-06'));
    await story.advance(on('05-05'));
    const [bill] = await story.invoices();
    await voidInvoice(bill?.id ?? '');
    for (const idempotency_key of lost)
      await post(engine, '/v1/usage-events/void', { idempotency_key });
    await story.advance(on('06-05'));
    await call('06-05');
    await story.advance(on('07-05'));
    expect(await billed()).toEqual([
      ['late calls 03', 500],
      ['late calls 03', 0],
      ['calls 06', 500],
    ]);
    await story.verify();
  });

  it('is used once more, beside late usage that it discounted, with the rest of an amount', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const calls = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Fee', model: 'flat', timing: 'in_advance', amount: 3_100 },
      {
        ...{ name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '0.75' },
        meter_id: calls.id,
      },
    ]);
    const gift = await createCoupon(engine, {
      ...{ type: 'amount', amount_off: 4_321, currency: 'USD', duration: 'once' },
    });
    const half = await createCoupon(engine, { ...HALF, duration: 'once' });
    const { id } = await story.subscribe(planId, {
      collection: 'send_invoice',
      coupon: gift.code,
    });
    await story.command(id, 'coupons', { code: half.code });
    await story.advance(on('04-01'));
    await story.reportUsage(calls.event, on('03-31'), { n: 0.7 });
    await story.advance(on('05-01'));
    const discounts = async () =>
      (await story.invoices()).map(({ lines }) =>
        lines.map(({ amount, discount }) => [amount, discount]),
      );
    const [start, bill, late] = [
      [[3_100, 3_100]],
      [[3_100, 2_771]],
      [
        [3_100, 0],
        [1, 1],
      ],
    ];
    expect(await discounts()).toEqual([start, bill, late]);
    await post(engine, `/v1/invoices/${(await story.invoices())[1]?.id ?? ''}/void`, {});
    const unused = { applied_amount: 1, remaining_amount: null, ended_at: null };
    expect(await redemptionOf(engine, half.id)).toMatchObject(unused);
    const rest = { applied_amount: 3_100, remaining_amount: 1_221, ended_at: null };
    expect(await redemptionOf(engine, gift.id)).toMatchObject(rest);
    await story.advance(on('07-01'));
    expect(await discounts()).toEqual([start, bill, late, [[3_100, 2_771]], [[3_100, 0]]]);
    expect(await redemptionOf(engine, half.id)).toMatchObject({
      applied_amount: 1_551,
      ended_at: on('06-01'),
    });
    const usedUp = { applied_amount: 4_321, remaining_amount: 0, ended_at: on('06-01') };
    expect(await redemptionOf(engine, gift.id)).toMatchObject(usedUp);
    await story.verify();
  });
});

/** An add-on of 50.00, which no coupon discounts, keeps each invoice open. */
describe('an invoice whose charges were taken back', () => {
  let engine: TestApp;
  let addonId: string;

  beforeAll(async () => {
    engine = await startTestApp();
    const fee = { name: 'Support', model: 'flat', timing: 'in_advance', amount: 5_000 };
    const addon = { code: 'support', name: 'Support', currency: 'USD', prices: [fee] };
    addonId = (await post(engine, '/v1/addons', addon)).id;
  });

  afterAll(() => engine.close());

  const ALL = { type: 'percent', percent_off: '100' };
  const ONCE = { duration: 'once' };
  const amount = (amount_off: number) => ({ type: 'amount', amount_off, currency: 'USD' });
  const refused = { status: 409, code: 'invoice_credited' };

  async function subscribe(story: Story, planId: string, terms: object) {
    const coupon = await createCoupon(engine, { ...terms, plan_ids: [planId] });
    const { id } = await story.subscribe(planId, {
      collection: 'send_invoice',
      coupon: coupon.code,
      addons: [{ addon_id: addonId }],
    });
    return { id, couponId: coupon.id };
  }

  /** Bills 60.00 of calls, and 40.00 of calls that can be voided, in April. */
  async function beginCalls(terms: object) {
    const story = await Story.begin(engine, on('04-01'), { currency: 'USD' });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10', meter_id },
    ]);
    const { id, couponId } = await subscribe(story, planId, terms);
    const call = (n: number) => story.reportUsage(event, on('04-02'), { n });
    await story.advance(on('04-03'));
    await call(600);
    const idempotency_key = await call(400);
    await story.advance(on('05-01'));
    const takeBack = () => post(engine, '/v1/usage-events/void', { idempotency_key });
    return { story, id, couponId, call, takeBack };
  }

  const voidAt = async (story: Story, place: number): Promise<object> => {
    const { id } = (await story.invoices()).at(place) ?? { id: '' };
    return (await engine.http.post(`/v1/invoices/${id}/void`).send({})).body as object;
  };

  it.each([
    ['one cent is left of them', { ...amount(9_999), ...ONCE }],
    ['an amount discounted them to 0', { ...amount(10_000), ...ONCE }],
    ['an amount of each invoice discounted them to 0', { ...amount(10_000), duration: 'forever' }],
    ['a percentage discounted them to 0', { ...ALL, ...ONCE }],
    ['a percentage of each invoice discounted them to 0', { ...ALL, duration: 'forever' }],
  ])('by a change stays, also if %s', async (_, terms) => {
    const story = await Story.begin(engine, on('04-01'), { currency: 'USD' });
    const { id, couponId } = await subscribe(story, await story.plan(10_000), terms);
    await story.advance(on('04-16'));
    await story.command(id, 'change', { plan_id: await story.plan(20_000), when: 'now' });
    const before = await redemptionOf(engine, couponId);
    expect(await voidAt(story, 0)).toMatchObject(refused);
    expect(await redemptionOf(engine, couponId)).toEqual(before);
    expect(await voidAt(story, 1)).toMatchObject({ status: 'void' });
    expect(await voidAt(story, 0)).toMatchObject({ status: 'void' });
    expect(await redemptionOf(engine, couponId)).toMatchObject({ applied_amount: 0 });
    await story.verify();
  });

  it('by a usage correction stays, also if a percentage discounted them to 0', async () => {
    const { story, takeBack } = await beginCalls({ ...ALL, duration: 'forever' });
    await takeBack();
    await story.advance(on('06-01'));
    expect(await voidAt(story, 1)).toMatchObject(refused);
    expect(await voidAt(story, 2)).toMatchObject({ status: 'void' });
    expect(await voidAt(story, 1)).toMatchObject({ status: 'void' });
    await story.verify();
  });

  it('by a usage correction stays, also if more usage was added before', async () => {
    const { story, couponId, call, takeBack } = await beginCalls({ ...amount(10_000), ...ONCE });
    await call(500);
    await story.advance(on('06-01'));
    await takeBack();
    await story.advance(on('07-01'));
    const shown = { applied_amount: 7_333, remaining_amount: 2_667 };
    expect(await redemptionOf(engine, couponId)).toMatchObject(shown);
    for (const place of [1, 2]) expect(await voidAt(story, place)).toMatchObject(refused);
    expect(await redemptionOf(engine, couponId)).toMatchObject(shown);
    await story.verify();
  });

  it.each(['at the same time', 'a month later'])(
    'can be void if it bills usage that was added after a usage correction, %s',
    async (later) => {
      const { story, id, call, takeBack } = await beginCalls({ ...amount(1_000), ...ONCE });
      await takeBack();
      await story.advance(on('06-01'));
      await call(500);
      if (later === 'a month later') await story.advance(on('07-01'));
      else await story.command(id, 'change', { plan_id: await story.plan(8_000), when: 'now' });
      const late = (await story.invoices()).map(({ lines }) =>
        lines.flatMap(({ description, amount: listed }) =>
          description.endsWith('(late usage)') ? listed : [],
        ),
      );
      expect(late).toEqual([[], [], [-3_600], [5_000]]);
      expect(await voidAt(story, 3)).toMatchObject({ status: 'void' });
      await story.verify();
    },
  );
});

/** A change returned 15.00 of 30.00: its invoice took 5.00 of that, the renewal 10.00. An add-on is not discounted. */
describe('an amount that is taken off once in total', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(code: string) {
    const story = await Story.begin(engine, on('04-01'), { currency: 'USD' });
    const planId = await story.seats('10');
    const fee = { name: 'Support', model: 'flat', timing: 'in_advance', amount: 20_000 };
    const addon = { code, name: 'Support', currency: 'USD', prices: [fee] };
    const { id: addon_id } = await post(engine, '/v1/addons', addon);
    const coupon = await createCoupon(engine, {
      ...{ type: 'amount', amount_off: 3_000, currency: 'USD', duration: 'once' },
      plan_ids: [planId],
    });
    const terms = { quantity: '1000', collection: 'send_invoice', coupon: coupon.code };
    const { id } = await story.subscribe(planId, terms);
    await story.advance(on('04-16'));
    const addons = [{ addon_id, quantity: '1' }];
    await story.command(id, 'change', { quantity: '100', addons, when: 'now' });
    await story.advance(on('05-01'));
    const [, change, renewal] = (await story.invoices()).map((invoice) => invoice.id);
    const send = (invoiceId: string | undefined, command: string) =>
      post(engine, `/v1/invoices/${invoiceId ?? ''}/${command}`, {});
    const left = async () => {
      const { applied_amount, remaining_amount, ended_at } = await redemptionOf(engine, coupon.id);
      return [applied_amount, remaining_amount, ended_at !== null];
    };
    const discounts = async () =>
      (await story.invoices())
        .filter(({ status }) => status !== 'void')
        .map(({ discount }) => discount);
    return { story, change, renewal, send, left, discounts };
  }

  it('is used up if the invoice that returned a part of it is void and regenerated', async () => {
    const { story, change, send, left, discounts } = await begin('once-again');
    expect(await left()).toEqual([3_000, 0, true]);
    await send(change, 'void');
    expect(await left()).toEqual([4_000, 0, true]);
    await send(change, 'reissue');
    expect(await left()).toEqual([3_000, 0, true]);
    await story.advance(on('06-01'));
    expect(await discounts()).toEqual([3_000, 1_000, 500, 0]);
    await story.verify();
  });

  it('gives what returns to the next invoice if the later one is void as well', async () => {
    const { story, change, renewal, send, left, discounts } = await begin('once-later');
    await send(change, 'void');
    await send(renewal, 'void');
    expect(await left()).toEqual([3_000, 0, true]);
    await send(renewal, 'reissue');
    await send(change, 'reissue');
    expect(await left()).toEqual([2_000, 1_000, false]);
    await story.advance(on('06-01'));
    expect(await left()).toEqual([3_000, 0, true]);
    expect(await discounts()).toEqual([3_000, 0, 500, 1_000]);
    await story.verify();
  });

  it('is used up after the upgrade, if more of it was left because of this', async () => {
    const { story, change, send, left, discounts } = await begin('once-before');
    await send(change, 'void');
    await send(change, 'reissue');
    await engine.database.query(
      `UPDATE coupon_redemption SET remaining_amount = 1000, ended_at = NULL WHERE customer_id = $1`,
      [story.customerId],
    );
    await story.advance(on('06-01'));
    expect(await discounts()).toEqual([3_000, 1_000, 500, 0]);
    expect(await left()).toEqual([3_000, 0, false]);
    await story.verify();
  });
});
