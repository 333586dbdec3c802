import { createCoupon, redemptionOf } from '../support/coupons';
import { type Invoice, type Line, post, startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const units = { name: 'Units', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
const rent = { name: 'Rent', model: 'per_unit', timing: 'in_arrears', unit_amount: '3000' };
const half = { type: 'percent', percent_off: '50' };

/** Periods of 30 days from 1 March on, with 10 units at 0.10 used in the first one and a rent of 30.00. */
describe('a coupon that ended with its subscription discounts what is made again of the time before', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(coupon: object) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const { id: meter_id, event } = await story.meter();
    const plan = await story.planOf([{ ...units, meter_id }, rent], {
      interval: 'day',
      interval_count: 30,
    });
    const { id: couponId, code } = await createCoupon(engine, coupon);
    const { id } = await story.subscribe(plan.id, { coupon: code, collection: 'send_invoice' });
    await story.reportUsage(event, on('03-01'), { n: 10 });
    const redemption = () => redemptionOf(engine, couponId);
    const shown = async (): Promise<readonly (readonly (number | string)[])[]> =>
      (await story.invoices()).map(({ status, subtotal, discount }) => [
        status,
        subtotal,
        discount,
      ]);
    return { story, id, event, redemption, shown };
  }

  const makeAgain = async ({ id }: Invoice): Promise<void> => {
    await post(engine, `/v1/invoices/${id}/reissue`);
  };
  const voidFirst = async (story: Story): Promise<Invoice> => {
    const [first] = await story.invoices();
    if (first === undefined) throw new Error('There is an invoice.');
    await post(engine, `/v1/invoices/${first.id}/void`);
    return first;
  };

  it.each([
    ['a percentage for ever', { ...half, duration: 'forever' }, 550],
    ['a percentage for two months', { ...half, duration: 'repeating', duration_in_months: 2 }, 550],
    ['a percentage once', { ...half, duration: 'once' }, 550],
    ['an amount', { type: 'amount', amount_off: 400, currency: 'USD', duration: 'forever' }, 400],
    ['an amount once', { type: 'amount', amount_off: 400, currency: 'USD', duration: 'once' }, 400],
  ])('the last invoice: %s', async (_, coupon, discount) => {
    const { story, id, redemption, shown } = await begin(coupon);
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', { when: 'now' });
    const before = await redemption();
    await makeAgain(await voidFirst(story));
    // 10 units, and 10 days of 30.00.
    expect(await shown()).toEqual([
      ['void', 1_100, discount],
      ['open', 1_100, discount],
    ]);
    expect(await redemption()).toMatchObject({ ...before, ended_at: on('03-10') });
    await story.verify();
  });

  it('a renewal that was void before the end', async () => {
    const { story, id, shown } = await begin({ ...half, duration: 'forever' });
    await story.advance(on('03-31'));
    const renewal = await voidFirst(story);
    await story.command(id, 'cancel', { when: 'now' });
    await makeAgain(renewal);
    expect((await shown()).filter(([, subtotal]) => subtotal === 3_100)).toEqual([
      ['void', 3_100, 1_550],
      ['open', 3_100, 1_550],
    ]);
    await story.verify();
  });

  it('and usage that is added to it later', async () => {
    const { story, id, event } = await begin({ ...half, duration: 'forever' });
    await story.advance(on('03-10'));
    await story.command(id, 'cancel', { when: 'now' });
    await makeAgain(await voidFirst(story));
    await story.reportUsage(event, on('03-02'), { n: 20 });
    await story.advance(on('03-11'));
    const late = (await story.invoices())
      .at(-1)
      ?.lines.map((line: Line) => [line.amount, line.discount]);
    expect(late).toEqual([[200, 100]]);
    await story.verify();
  });

  it.each([
    ['whose months were over', { ...half, duration: 'repeating', duration_in_months: 1 }, '05-30'],
    ['that was used up before', { ...half, duration: 'once' }, '04-30'],
  ])('not one %s', async (_, coupon, renewsAt) => {
    const { story, id, shown } = await begin(coupon);
    await story.advance(on(renewsAt));
    const renewal = (await story.invoices()).at(-1);
    await post(engine, `/v1/invoices/${renewal?.id ?? ''}/void`);
    await story.command(id, 'cancel', { when: 'now' });
    await post(engine, `/v1/invoices/${renewal?.id ?? ''}/reissue`);
    expect((await shown())[0]).toEqual(['open', 3_100, 1_550]);
    expect((await shown()).filter(([, subtotal]) => subtotal === 3_000).at(-1)).toEqual([
      'open',
      3_000,
      0,
    ]);
    await story.verify();
  });
});
