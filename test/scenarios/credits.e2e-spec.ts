import { startTestApp, Story, type Subscription, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

describe('credits give back what was paid', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function post(path: string, body: object): Promise<{ id: string }> {
    const answer = await engine.http.post(path).send(body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as { id: string };
  }

  const taxRate = async (percentage: string, inclusive = false): Promise<string> =>
    (await post('/v1/tax-rates', { name: 'VAT', percentage, inclusive })).id;

  async function coupon(fields: object): Promise<string> {
    made += 1;
    const code = `CREDIT${made}`;
    await post('/v1/coupons', { code, ...fields });
    return code;
  }

  const percent = (duration: string, fields: object = {}): Promise<string> =>
    coupon({ type: 'percent', percent_off: '50', duration, ...fields });

  const amount = (duration: string, amountOff: number, fields: object = {}): Promise<string> =>
    coupon({ type: 'amount', amount_off: amountOff, currency: 'USD', duration, ...fields });

  async function addon(unitAmount: string): Promise<string> {
    made += 1;
    const price = {
      name: 'Extra',
      model: 'per_unit',
      timing: 'in_advance',
      unit_amount: unitAmount,
    };
    const terms = { code: `extra-${made}`, name: 'Extra', currency: 'USD', prices: [price] };
    return (await post('/v1/addons', terms)).id;
  }

  const totals = async (story: Story): Promise<readonly number[]> =>
    (await story.invoices()).map(({ total }) => total);

  const billed = async (story: Story): Promise<number> =>
    (await story.invoices())
      .filter(({ status }) => status !== 'void')
      .reduce((sum, { total }) => sum + total, 0);

  const change = (story: Story, { id }: Subscription, body: object): Promise<Subscription> =>
    story.command(id, 'change', { when: 'now', ...body });

  const cancel = (story: Story, { id }: Subscription): Promise<Subscription> =>
    story.command(id, 'cancel', { when: 'now', credit_unused: true });

  const retax = async (story: Story, fields: object): Promise<void> => {
    const path = `/v1/customers/${story.customerId}`;
    const { status, body } = await engine.http.patch(path).send(fields);
    expect({ status, body: body as object }).toMatchObject({ status: 200 });
  };

  describe('for discounted lines', () => {
    it('the end of a subscription credits the unused share of what was paid', async () => {
      const story = await Story.begin(engine, START);
      const code = await percent('forever');
      const subscription = await story.subscribe(await story.plan(1_000), { coupon: code });
      await story.advance(on('03-16'));
      await cancel(story, subscription);
      expect(await totals(story)).toEqual([500, -242]);
      await story.verify();
    });

    it('an upgrade credits what was paid and discounts what it charges', async () => {
      const story = await Story.begin(engine, START);
      const code = await percent('forever');
      const subscription = await story.subscribe(await story.seats('1000'), { coupon: code });
      await story.advance(on('03-17'));
      await change(story, subscription, { quantity: '2' });
      expect(await totals(story)).toEqual([500, 242]);
      await story.verify();
    });

    it('voided usage gives back its share of what was paid', async () => {
      const story = await Story.begin(engine, START);
      const { id: meterId, event } = await story.meter({ aggregation: 'count' });
      const price = {
        name: 'Calls',
        model: 'per_unit',
        timing: 'in_arrears',
        unit_amount: '100',
        meter_id: meterId,
      };
      const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };
      const plan = await story.planOf([base, price]);
      const code = await percent('repeating', { duration_in_months: 2 });
      await story.subscribe(plan.id, { coupon: code });
      await story.advance(on('03-06'));
      const keys: string[] = [];
      for (let count = 0; count < 10; count += 1)
        keys.push(await story.reportUsage(event, on('03-05')));
      await story.advance(on('04-01'));
      for (const key of keys.slice(0, 5)) {
        await post('/v1/usage-events/void', { idempotency_key: key });
      }
      await story.advance(on('05-01'));
      expect(await totals(story)).toEqual([500, 1_000, 750]);
      await story.verify();
    });
  });

  describe('by the amount of the line, not by its price before rounding', () => {
    it.each([
      // 15 and 14 of 31 days are unused: the day of the end is billed.
      ['333.5 a seat, billed as 334', '333.5', START, '03-16', [334, -162]],
      ['1.49 a seat, billed as 1', '1.49', START, '03-17', [1]],
      ['1.49 a seat, with most of it unused', '1.49', START, '03-15', [1, -1]],
      // 71 for 22 days, of which 11 are unused.
      ['a part of 100, billed as 71', '100', on('03-10'), '03-20', [71, -36]],
    ])('%s', async (_, unitAmount, start, end, expected) => {
      const story = await Story.begin(engine, start);
      const plan = await story.seats(unitAmount);
      const subscription = await story.subscribe(plan, { billing_anchor: 'calendar' });
      await story.advance(on(end));
      await cancel(story, subscription);
      expect((await story.amounts()).flat()).toEqual(expected);
      await story.verify();
    });

    it('changing the quantity and back at one instant costs only the rounding of the charge', async () => {
      const story = await Story.begin(engine, START);
      const subscription = await story.subscribe(await story.seats('333.5'));
      await story.advance(on('03-17'));
      await change(story, subscription, { quantity: '2' });
      await change(story, subscription, { quantity: '1' });
      await change(story, subscription, { quantity: '2' });
      await change(story, subscription, { quantity: '1' });
      // 15 of 31 days: 161.6 of what was billed, 322.7 for two seats and 161.4 for one.
      const [back, again] = [
        [161, -323],
        [323, -161],
      ];
      expect(await story.amounts()).toEqual([[334], [323, -162], back, again, back]);
      await story.verify();
    });
  });

  describe('with amount coupons', () => {
    it('once: a discount that a change on the same day credits can be used again', async () => {
      const story = await Story.begin(engine, START);
      const code = await amount('once', 5_000);
      const subscription = await story.subscribe(await story.seats('3000'), { coupon: code });
      await change(story, subscription, { quantity: '3' });
      expect(await totals(story)).toEqual([0, 4_000]);
      await story.advance(on('04-01'));
      expect(await totals(story)).toEqual([0, 4_000, 9_000]);
      await story.verify();
    });

    it('forever: the amount is taken off once per period, after any number of changes', async () => {
      const story = await Story.begin(engine, START);
      const code = await amount('forever', 500);
      const subscription = await story.subscribe(await story.seats('1000'), { coupon: code });
      const extra = await addon('600');
      for (const quantity of ['1', '2', '3']) {
        await change(story, subscription, { addons: [{ addon_id: extra, quantity }] });
      }
      expect(await billed(story)).toBe(2_300);
      await story.advance(on('04-01'));
      expect((await totals(story)).at(-1)).toBe(2_300);
      await story.verify();
    });

    it('forever: a downgrade returns its share of the discount to the coupon', async () => {
      const story = await Story.begin(engine, START);
      const code = await amount('forever', 500);
      const subscription = await story.subscribe(await story.seats('1000'), {
        quantity: '2',
        coupon: code,
      });
      await story.advance(on('03-17'));
      await change(story, subscription, { quantity: '1' });
      expect(await billed(story)).toBe(1_016);
      await story.verify();
    });

    it('forever: a void invoice does not count as a discount of the period', async () => {
      const story = await Story.begin(engine, START);
      const code = await amount('forever', 500);
      await story.subscribe(await story.seats('1000'), { coupon: code });
      const [first] = await story.invoices();
      await post(`/v1/invoices/${first?.id ?? ''}/void`, {});
      await post(`/v1/invoices/${first?.id ?? ''}/reissue`, {});
      expect(await totals(story)).toEqual([500, 500]);
      await story.verify();
    });
  });

  describe('with repeating coupons', () => {
    it('a back-dated start is discounted for the months of its first periods', async () => {
      const story = await Story.begin(engine, on('05-20'));
      const code = await percent('repeating', { duration_in_months: 2 });
      await story.subscribe(await story.plan(1_000), { start_at: on('03-10'), coupon: code });
      expect(await totals(story)).toEqual([500, 500, 1_000]);
      await story.advance(on('06-20'));
      expect(await totals(story)).toEqual([500, 500, 1_000, 1_000]);
      await story.verify();
    });

    it('a trial and a start in the future use none of the months', async () => {
      const story = await Story.begin(engine, START);
      const code = await percent('repeating', { duration_in_months: 2 });
      await story.subscribe(await story.plan(1_000), {
        start_at: on('03-15'),
        trial_days: 40,
        coupon: code,
      });
      await story.advance(on('07-25'));
      expect(await totals(story)).toEqual([500, 500, 1_000, 1_000]);
      await story.verify();
    });
  });

  describe('with coupons for certain plans', () => {
    it('a line of another plan is not discounted', async () => {
      const story = await Story.begin(engine, START);
      const [small, large] = [await story.seats('1000'), await story.seats('6200')];
      const code = await percent('forever', { plan_ids: [small] });
      const subscription = await story.subscribe(small, { coupon: code });
      await change(story, subscription, { plan_id: large });
      await story.advance(on('04-01'));
      expect(await totals(story)).toEqual([500, 5_700, 6_200]);
      await change(story, subscription, { plan_id: small });
      expect((await totals(story)).at(-1)).toBe(500 - 6_200);
      await story.verify();
    });

    it('an add-on beside the plan is not discounted', async () => {
      const story = await Story.begin(engine, START);
      const plan = await story.seats('1000');
      const code = await percent('forever', { plan_ids: [plan] });
      await story.subscribe(plan, {
        coupon: code,
        addons: [{ addon_id: await addon('600'), quantity: '1' }],
      });
      expect(await totals(story)).toEqual([1_100]);
      await story.verify();
    });
  });

  describe('with the tax of the credited line', () => {
    it('rates that were removed from the customer since are credited', async () => {
      const rate = await taxRate('19');
      const story = await Story.begin(engine, START, { tax_rate_ids: [rate] });
      const subscription = await story.subscribe(await story.plan(3_100));
      await retax(story, { tax_rate_ids: [] });
      await story.advance(on('03-16'));
      await cancel(story, subscription);
      const [start, end] = await story.invoices();
      expect(start).toMatchObject({ subtotal: 3_100, tax: 589 });
      expect(end).toMatchObject({ subtotal: -1_500, tax: -285, total: -1_785 });
      await story.verify();
    });

    it('a different rate since does not change a full credit', async () => {
      const [old, now] = [await taxRate('19'), await taxRate('7')];
      const story = await Story.begin(engine, START, { tax_rate_ids: [old] });
      const subscription = await story.subscribe(await story.seats('3100'));
      await retax(story, { tax_rate_ids: [now] });
      await change(story, subscription, { quantity: '2' });
      const [, changed] = await story.invoices();
      expect(changed?.lines.map(({ tax }) => tax)).toEqual([434, -589]);
      expect(await totals(story)).toEqual([3_689, 6_200 + 434 - 3_689]);
      await story.verify();
    });

    it('inclusive tax is credited to a customer who is exempt by now', async () => {
      const rate = await taxRate('19', true);
      const story = await Story.begin(engine, START, { tax_rate_ids: [rate] });
      const subscription = await story.subscribe(await story.plan(3_100));
      await retax(story, { tax_exempt: 'exempt' });
      await story.advance(on('03-16'));
      await cancel(story, subscription);
      const [, end] = await story.invoices();
      expect(end).toMatchObject({ total: -1_500 });
      expect(end?.lines.map(({ tax }) => tax)).toEqual([-239]);
      await story.verify();
    });
  });

  describe('after a change whose invoice was voided', () => {
    it('the end of the subscription credits the line that remains', async () => {
      const story = await Story.begin(engine, START);
      const subscription = await story.subscribe(await story.seats('3100'));
      await story.advance(on('03-16'));
      await change(story, subscription, { quantity: '2' });
      const [, changed] = await story.invoices();
      await post(`/v1/invoices/${changed?.id ?? ''}/void`, {});
      await cancel(story, subscription);
      expect(await billed(story)).toBe(1_600);
      await story.verify();
    });

    it('the next change credits the line that remains, once', async () => {
      const story = await Story.begin(engine, START);
      const subscription = await story.subscribe(await story.seats('3100'));
      await change(story, subscription, { quantity: '2' });
      const [, changed] = await story.invoices();
      await post(`/v1/invoices/${changed?.id ?? ''}/void`, {});
      await change(story, subscription, { quantity: '3' });
      expect(await billed(story)).toBe(9_300);
      await change(story, subscription, { quantity: '1' });
      expect(await billed(story)).toBe(3_100);
      await story.verify();
    });
  });
});
