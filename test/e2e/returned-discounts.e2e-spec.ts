import { createCoupon, type CreatedCoupon, redemptionOf } from '../support/coupons';
import { post } from '../support/requests';
import { startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const half = { type: 'percent', percent_off: '50', duration: 'forever' };
const all = { ...half, percent_off: '100' };
const tenOff = { type: 'amount', amount_off: 1_000, currency: 'USD', duration: 'forever' };
const months = { duration: 'repeating', duration_in_months: 3 };
const base = { name: 'Base', model: 'flat', timing: 'in_advance' };

describe('applied_amount is what a coupon took off, less what credits returned', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(start: string, ...terms: readonly object[]) {
    const coupons: CreatedCoupon[] = [];
    for (const one of terms) coupons.push(await createCoupon(engine, one));
    const story = await Story.begin(engine, start, { currency: 'USD' });
    const subscribe = async (planId: string): Promise<string> => {
      const [first, ...others] = coupons;
      const { id } = await story.subscribe(planId, {
        collection: 'send_invoice',
        coupon: first?.code,
      });
      for (const { code } of others) await story.command(id, 'coupons', { code });
      return id;
    };
    const applied = async (place = 0): Promise<number> =>
      (await redemptionOf(engine, coupons[place]?.id ?? '')).applied_amount;
    const amounts = async (): Promise<readonly (readonly number[])[]> =>
      (await story.invoices()).map(({ subtotal, discount }) => [subtotal, discount]);
    const voidLast = async (): Promise<void> => {
      const { id } = (await story.invoices()).at(-1) ?? {};
      await post(engine, `/v1/invoices/${id}/void`);
    };
    return { story, coupons, subscribe, applied, amounts, voidLast };
  }

  it.each([
    ['for ever', half],
    ['for three months', { ...half, ...months }],
  ])('a change returns a percentage %s', async (_, terms) => {
    const { story, subscribe, applied, amounts, voidLast } = await begin(on('04-01'), terms);
    const id = await subscribe(await story.plan(3_000));
    await story.advance(on('04-16'));
    await story.command(id, 'change', { plan_id: await story.plan(6_000), when: 'now' });
    // 30.00 for the rest of the period, and 15 of 30 days of what 30.00 cost.
    expect(await amounts()).toEqual([
      [3_000, 1_500],
      [3_000 - 750, 1_500],
    ]);
    expect(await applied()).toBe(2_250);
    await voidLast();
    expect(await applied()).toBe(1_500);
    await story.verify();
  });

  it.each(['', ', also after the coupon was removed'])(
    'an end returns a percentage%s',
    async (removed) => {
      const { story, coupons, subscribe, applied, amounts } = await begin(on('04-01'), half);
      const id = await subscribe(await story.plan(3_000));
      await story.advance(on('04-16'));
      if (removed !== '') {
        const { id: redemption } = await redemptionOf(engine, coupons[0]?.id ?? '');
        await engine.http.delete(`/v1/subscriptions/${id}/coupons/${redemption}`).expect(204);
      }
      await story.command(id, 'cancel', { when: 'now', credit_unused: true });
      // The end keeps its day, so that 14 of 30 days of 15.00 are left.
      expect(await amounts()).toEqual([
        [3_000, 1_500],
        [-700, 0],
      ]);
      expect(await applied()).toBe(800);
      await story.verify();
    },
  );

  it('an end returns a percentage that took off all', async () => {
    const { story, subscribe, applied, amounts } = await begin(on('04-01'), all);
    const id = await subscribe(await story.plan(3_000));
    await story.advance(on('04-16'));
    await story.command(id, 'cancel', { when: 'now', credit_unused: true });
    expect(await amounts()).toEqual([
      [3_000, 3_000],
      [0, 0],
    ]);
    expect(await applied()).toBe(1_600);
    await story.verify();
  });

  it('usage that is taken back returns a percentage', async () => {
    const { story, subscribe, applied, amounts } = await begin(on('04-01'), half);
    const { id: meter_id, event } = await story.meter();
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const { id: planId } = await story.planOf([
      { ...base, amount: 1_000 },
      { ...calls, meter_id },
    ]);
    await subscribe(planId);
    const idempotency_key = await story.reportUsage(event, on('04-02'), { n: 30 });
    await story.advance(on('05-02'));
    expect(await applied()).toBe(500 + 650);
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200);
    await story.advance(on('06-02'));
    expect(await amounts()).toEqual([
      [1_000, 500],
      [1_300, 650],
      [1_000 - 150, 500],
    ]);
    expect(await applied()).toBe(1_500);
    await story.verify();
  });

  it.each([
    ['an amount for ever', tenOff, 1_084, 1_000, 2_000 - 516, null],
    ['an amount for three months', { ...tenOff, ...months }, 1_084, 1_000, 2_000 - 516, null],
    ['a percentage of one invoice', { ...half, duration: 'once' }, 800, 0, 1_550 - 800, 0],
    ['a percentage of one invoice, in whole', { ...all, duration: 'once' }, 0, 0, 3_100 - 1_600, 0],
  ])(
    'a change of the interval returns %s, which is not used again',
    async (_, terms, credit, off, net, remaining_amount) => {
      const { story, coupons, subscribe, applied, amounts, voidLast } = await begin(
        on('05-01'),
        terms,
      );
      const id = await subscribe(await story.plan(3_100));
      const before = await applied();
      await story.advance(on('05-16'));
      const plan_id = await story.plan(36_500, { interval: 'year' });
      await story.command(id, 'change', { plan_id, when: 'now' });
      expect(await amounts()).toEqual([
        [3_100, before],
        [36_500 - credit, off],
      ]);
      const redemption = () => redemptionOf(engine, coupons[0]?.id ?? '');
      expect(await redemption()).toMatchObject({ applied_amount: net, remaining_amount });
      await voidLast();
      expect(await redemption()).toMatchObject({ applied_amount: before, remaining_amount });
      await story.verify();
    },
  );

  it('a change after the months of a coupon returns its discount', async () => {
    const month = { ...half, duration: 'repeating', duration_in_months: 1 };
    const { story, subscribe, applied, amounts } = await begin(on('05-01'), month);
    const id = await subscribe(await story.plan(36_500, { interval: 'year' }));
    await story.advance(on('07-01'));
    await story.command(id, 'change', { plan_id: await story.plan(3_100), when: 'now' });
    // 304 of 365 days are left.
    expect(await amounts()).toEqual([
      [36_500, 18_250],
      [3_100 - 15_200, 0],
    ]);
    expect(await applied()).toBe(18_250 - 15_200);
    await story.verify();
  });

  it('the share of a percentage and an amount is rounded once', async () => {
    const eighth = { ...half, percent_off: '12.5' };
    const amount = { ...tenOff, amount_off: 276 };
    const { story, subscribe, applied, amounts } = await begin(on('08-01'), eighth, amount);
    const id = await subscribe(await story.plan(315));
    await story.advance(on('09-04'));
    await story.command(id, 'change', { plan_id: await story.plan(3_150), when: 'now' });
    // For 27 of 30 days, 283.5 return: 35 and 249. 12.5 % of 28.35 are 354, and 249 can be used again.
    expect((await amounts()).slice(1)).toEqual([
      [315, 39 + 276],
      [2_835, 354 + 249],
    ]);
    expect([await applied(0), await applied(1)]).toEqual([39 + 39 + 354 - 35, 276]);
    await story.verify();
  });
});
