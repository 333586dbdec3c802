import { createCoupon, redemptionOf } from '../support/coupons';
import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

/** A plan of 10.00, half of it off for some months from 1 March on. */
describe('the months of a repeating coupon count from the first period that an invoice which stands discounts', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(months: number) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const terms = { type: 'percent', percent_off: '50', duration: 'repeating' };
    const coupon = await createCoupon(engine, { ...terms, duration_in_months: months });
    await story.subscribe(await story.plan(1_000), {
      coupon: coupon.code,
      collection: 'send_invoice',
    });
    const endsAt = async (): Promise<string | null> => {
      const { body } = await engine.http.get(`/v1/coupons/${coupon.id}/redemptions`);
      return (body as { data: { ends_at: string | null }[] }).data[0]?.ends_at ?? null;
    };
    const standing = async (): Promise<readonly Invoice[]> =>
      (await story.invoices()).filter(({ status }) => status !== 'void');
    /** Totals by the start of the period, in order. */
    const totals = async (): Promise<readonly (readonly [string | undefined, number])[]> =>
      (await standing())
        .map(({ period_start, total }) => [period_start?.slice(5, 7), total] as const)
        .toSorted(([one = ''], [other = '']) => one.localeCompare(other));
    const ofMonth = async (month: string): Promise<string> =>
      (await story.invoices()).find(({ period_start }) => period_start?.slice(5, 7) === month)
        ?.id ?? '';
    const voidMonth = async (month: string) =>
      post(engine, `/v1/invoices/${await ofMonth(month)}/void`, {});
    const regenerate = async (month: string) =>
      post(engine, `/v1/invoices/${await ofMonth(month)}/reissue`, {});
    return { story, endsAt, totals, voidMonth, regenerate };
  }

  it('after its only invoice is void and made again: from the same period', async () => {
    const { story, endsAt, totals, voidMonth, regenerate } = await begin(1);
    expect(await endsAt()).toBe(on('04-01'));
    await voidMonth('03');
    expect(await endsAt()).toBeNull();
    await regenerate('03');
    expect(await endsAt()).toBe(on('04-01'));
    await story.advance(on('04-02'));
    expect(await totals()).toEqual([
      ['03', 500],
      ['04', 1_000],
    ]);
    await story.verify();
  });

  it('after its only invoice is void: from the next one; the void one is then made again without it', async () => {
    const { story, endsAt, totals, voidMonth, regenerate } = await begin(1);
    await voidMonth('03');
    await story.advance(on('04-02'));
    expect(await endsAt()).toBe(on('05-01'));
    await regenerate('03');
    expect(await endsAt()).toBe(on('05-01'));
    await story.advance(on('05-02'));
    expect(await totals()).toEqual([
      ['03', 1_000],
      ['04', 500],
      ['05', 1_000],
    ]);
    await story.verify();
  });

  it('from the regenerated one again, where all discounted periods are within its months', async () => {
    const { story, endsAt, totals, voidMonth, regenerate } = await begin(2);
    await voidMonth('03');
    await story.advance(on('04-02'));
    expect(await endsAt()).toBe(on('06-01'));
    await regenerate('03');
    expect(await endsAt()).toBe(on('05-01'));
    await story.advance(on('05-02'));
    expect(await totals()).toEqual([
      ['03', 500],
      ['04', 500],
      ['05', 1_000],
    ]);
    await story.verify();
  });

  it('as before, where a later invoice is void', async () => {
    const { story, endsAt, totals, voidMonth } = await begin(2);
    await story.advance(on('04-02'));
    await voidMonth('04');
    expect(await endsAt()).toBe(on('05-01'));
    await story.advance(on('05-02'));
    expect(await totals()).toEqual([
      ['03', 500],
      ['05', 1_000],
    ]);
    await story.verify();
  });

  it('in the time zone of the subscription, also from an invoice that has a minimum alone', async () => {
    const start = '2026-02-25T05:00:00.000Z';
    const story = await Story.begin(engine, start, {
      currency: 'USD',
      timezone: 'America/New_York',
    });
    const { id: meter_id } = await story.meter();
    const units = { name: 'Units', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const plan = await story.planOf([{ ...units, meter_id, minimum_amount: 1_000 }]);
    const coupon = await createCoupon(engine, {
      ...{ type: 'percent', percent_off: '50', duration: 'repeating', duration_in_months: 1 },
    });
    await story.subscribe(plan.id, { coupon: coupon.code, collection: 'send_invoice' });
    await story.advance('2026-03-25T04:00:00.000Z');
    expect((await redemptionOf(engine, coupon.id)).ends_at).toBe('2026-03-25T04:00:00.000Z');
    await story.advance('2026-04-25T04:00:00.000Z');
    expect((await story.invoices()).map(({ total }) => total)).toEqual([500, 1_000]);
    await story.verify();
  });

  it.each([
    ['02:30, which summer time skips on 8 March', '2026-02-08T07:30:00.000Z'],
    ['04:30', '2026-02-08T09:30:00.000Z'],
  ])('as one period for a month, with periods from %s', async (_, start) => {
    const story = await Story.begin(engine, start, { timezone: 'America/New_York' });
    const { id } = await story.subscribe(await story.plan(1_000), { collection: 'send_invoice' });
    await story.advance('2026-02-20T00:00:00.000Z');
    const { code } = await createCoupon(engine, {
      ...{ type: 'percent', percent_off: '50', duration: 'repeating', duration_in_months: 1 },
    });
    await story.command(id, 'coupons', { code });
    await story.advance('2026-05-20T00:00:00.000Z');
    expect((await story.invoices()).map(({ total }) => total)).toEqual([1_000, 500, 1_000, 1_000]);
    await story.verify();
  });

  it.each([
    ['UTC', on('03-01'), on('04-01')],
    ['America/New_York', '2026-03-01T05:00:00.000Z', '2026-04-01T04:00:00.000Z'],
  ])('in the time zone %s, for a draft whose usage came within its grace', async (...zone) => {
    const [timezone, start, renewal] = zone;
    const story = await Story.begin(engine, start, { timezone, invoice_grace_hours: 72 });
    const meter = await story.meter();
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const { id: planId } = await story.planOf([{ ...calls, meter_id: meter.id }]);
    const { code } = await createCoupon(engine, {
      ...{ type: 'percent', percent_off: '50', duration: 'repeating', duration_in_months: 1 },
    });
    const { id } = await story.subscribe(planId, { coupon: code, collection: 'send_invoice' });
    await story.advance(renewal);
    await story.advance(on('04-02'));
    // April is billed and discounted first, because the subscription ends within the grace of March.
    await story.reportUsage(meter.event, '2026-04-01T12:00:00.000Z', { n: 100 });
    await story.command(id, 'cancel', { when: 'now' });
    await story.reportUsage(meter.event, '2026-03-20T00:00:00.000Z', { n: 100 });
    await story.advance(on('04-05'));
    const made = (await story.invoices()).map((one) => [one.period_start, one.total]);
    expect(new Map(made as [string, number][])).toEqual(
      new Map([
        [start, 1_000],
        [renewal, 500],
      ]),
    );
    await story.verify();
  });
});
