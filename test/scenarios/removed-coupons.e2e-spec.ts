import { createCoupon, type Redemption, redemptionOf } from '../support/coupons';
import { type Line, post, startTestApp, Story, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;
const rent = { name: 'Rent', model: 'per_unit', timing: 'in_advance', unit_amount: '3000' };
const inArrears = { ...rent, timing: 'in_arrears' };
const units = { name: 'Units', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
const half = { type: 'percent', percent_off: '50', duration: 'forever' };
const tenOff = { type: 'amount', amount_off: 1_000, currency: 'USD', duration: 'once' };

/** Periods of 30 days from 1 March on: to 31 March, to 30 April, to 30 May. */
describe('a coupon that is removed from its subscription', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const coupons = async (subscription: string): Promise<readonly Redemption[]> => {
    const { body } = await engine.http.get(`/v1/subscriptions/${subscription}/coupons`);
    return (body as { data: readonly Redemption[] }).data;
  };
  const remove = (subscription: string, redemption: string) =>
    engine.http.delete(`/v1/subscriptions/${subscription}/coupons/${redemption}`);

  async function begin(coupon: object, prices: readonly object[] = [rent], fields: object = {}) {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD', ...fields });
    const { id: meter_id, event } = await story.meter();
    const plan = await story.planOf(
      prices.map((price) => (price === units ? { ...units, meter_id } : price)),
      { interval: 'day', interval_count: 30 },
    );
    const { id: couponId, code } = await createCoupon(engine, coupon);
    const { id } = await story.subscribe(plan.id, { coupon: code, collection: 'send_invoice' });
    const { id: redemption } = await redemptionOf(engine, couponId);
    return { story, id, event, code, redemption, removeIt: () => remove(id, redemption) };
  }

  const shown = async (story: Story): Promise<readonly (readonly (number | string)[])[]> =>
    (await story.invoices()).map(({ status, subtotal, discount }) => [status, subtotal, discount]);

  const last = async (story: Story) => {
    const invoice = (await story.invoices()).at(-1);
    if (invoice === undefined) throw new Error('There is an invoice.');
    return invoice;
  };

  it('discounts no later invoice, and the earlier ones stay', async () => {
    const { story, id, redemption, removeIt } = await begin(half);
    await story.advance(on('03-10'));
    const { text } = await removeIt().expect(204);
    expect(text).toBe('');
    await story.advance(on('03-31'));
    expect(await shown(story)).toEqual([
      ['open', 3_000, 1_500],
      ['open', 3_000, 0],
    ]);
    const [kept] = await coupons(id);
    expect(kept).toMatchObject({
      id: redemption,
      subscription_id: id,
      applied_amount: 1_500,
      ended_at: on('03-10'),
      removed_at: on('03-10'),
    });
    const [, event] = await eventsOf(engine, redemption);
    expect(event).toEqual({
      type: 'coupon.removed',
      sequence: 2,
      data: { object: kept, previous: { ended_at: null, removed_at: null } },
    });
    await story.verify();
  });

  it('is removed once, by two requests at once and by another one later', async () => {
    const { story, id, redemption, removeIt } = await begin(half);
    const answers = await Promise.all([removeIt(), removeIt()]);
    await story.advance(on('03-02'));
    answers.push(await removeIt());
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await coupons(id)).toMatchObject([{ removed_at: on('03-01') }]);
    expect(await eventsOf(engine, redemption)).toHaveLength(2);
  });

  it('cannot be redeemed again on the subscription', async () => {
    const { id, code, removeIt } = await begin(half);
    await removeIt();
    const answer = await engine.http.post(`/v1/subscriptions/${id}/coupons`).send({ code });
    expect(answer.body).toMatchObject({ status: 409, code: 'coupon_already_redeemed' });
  });

  it('is not in the preview of the next invoice', async () => {
    const { id, removeIt } = await begin(half);
    const discountOfNext = async (): Promise<number> => {
      const path = `/v1/subscriptions/${id}/change?preview=true`;
      const { body } = await engine.http.post(path).send({ quantity: '1', when: 'now' });
      return (body as { discount: number }).discount;
    };
    expect(await discountOfNext()).toBe(1_500);
    await removeIt();
    expect(await discountOfNext()).toBe(0);
  });

  it.each([
    ['coupon_redemption_not_found', 'red_01h455vb4pex5vsknk084sn02q'],
    ['coupon_redemption_not_found', 'HALF'],
  ])('is not found: %s for %s', async (code, redemption) => {
    const { id } = await begin(half);
    expect((await remove(id, redemption)).body).toMatchObject({ status: 404, code });
  });

  it('is found only under its own subscription', async () => {
    const [one, other] = [await begin(half), await begin(half)];
    expect((await remove(one.id, other.redemption)).body).toMatchObject({
      status: 404,
      code: 'coupon_redemption_not_found',
    });
    expect(await coupons(other.id)).toMatchObject([{ removed_at: null }]);
    const unknown = 'sub_01h455vb4pex5vsknk084sn02q';
    expect((await remove(unknown, one.redemption)).body).toMatchObject({
      code: 'subscription_not_found',
    });
    expect((await engine.http.get(`/v1/subscriptions/${unknown}/coupons`)).body).toMatchObject({
      code: 'subscription_not_found',
    });
  });

  it('is not found on a subscription without coupons, which lists none', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const { id } = await story.subscribe(await story.plan(1_000));
    expect(await coupons(id)).toEqual([]);
  });

  it('does not discount the period in arrears in which it was removed', async () => {
    const { story, removeIt } = await begin(half, [inArrears]);
    await story.advance(on('03-30'));
    await removeIt();
    await story.advance(on('03-31'));
    expect(await shown(story)).toEqual([['open', 3_000, 0]]);
  });

  it('stays in the draft that was made with it', async () => {
    const { story, removeIt } = await begin(half, [inArrears], { invoice_grace_hours: 48 });
    await story.advance(on('03-31'));
    expect(await shown(story)).toEqual([['draft', 3_000, 1_500]]);
    await removeIt();
    await story.advance(on('04-02'));
    expect(await shown(story)).toEqual([['open', 3_000, 1_500]]);
    await story.verify();
  });

  it('still discounts usage that is added to an invoice that was made with it', async () => {
    const { story, id, event, removeIt } = await begin(half, [units]);
    await story.reportUsage(event, on('03-02'), { n: 10 });
    await story.advance(on('03-31'));
    await removeIt();
    await story.reportUsage(event, on('03-03'), { n: 4 });
    await story.reportUsage(event, on('04-01'), { n: 1 });
    await story.advance(on('04-30'));
    const lines = (await last(story)).lines.map((line: Line) => [line.amount, line.discount]);
    expect(lines).toEqual([
      [10, 0],
      [40, 20],
    ]);
    expect(await coupons(id)).toMatchObject([{ applied_amount: 70 }]);
    await story.verify();
  });

  it('does not discount its invoice when that is made again', async () => {
    const { story, removeIt } = await begin(half);
    const { id } = await last(story);
    await post(engine, `/v1/invoices/${id}/void`);
    await removeIt();
    await post(engine, `/v1/invoices/${id}/reissue`);
    expect(await shown(story)).toEqual([
      ['void', 3_000, 1_500],
      ['open', 3_000, 0],
    ]);
    await story.verify();
  });

  it.each(['before', 'after'])(
    'does not discount what is made again after the end, removed %s it',
    async (time) => {
      const { story, id, removeIt } = await begin(half, [inArrears]);
      await story.advance(on('03-10'));
      if (time === 'before') await removeIt();
      await story.command(id, 'cancel', { when: 'now' });
      const ended = await coupons(id);
      if (time === 'after') await removeIt().expect(204);
      expect(await coupons(id)).toMatchObject([{ ended_at: ended[0]?.ended_at }]);
      const invoice = await last(story);
      await post(engine, `/v1/invoices/${invoice.id}/void`);
      await post(engine, `/v1/invoices/${invoice.id}/reissue`);
      // 10 days of 30.00.
      expect(await shown(story)).toEqual([
        ['void', 1_000, time === 'before' ? 0 : 500],
        ['open', 1_000, 0],
      ]);
      await story.verify();
    },
  );

  it('loses what is left of its amount', async () => {
    const { story, id, removeIt } = await begin({ ...tenOff, amount_off: 4_000 });
    await removeIt();
    await story.advance(on('03-31'));
    expect(await shown(story)).toEqual([
      ['paid', 3_000, 3_000],
      ['open', 3_000, 0],
    ]);
    expect(await coupons(id)).toMatchObject([{ remaining_amount: 1_000, applied_amount: 3_000 }]);
    await story.verify();
  });

  it('stays ended when the invoice that used it up is voided', async () => {
    const { story, id, removeIt } = await begin(tenOff);
    await story.advance(on('03-02'));
    await removeIt();
    expect(await coupons(id)).toMatchObject([
      { ended_at: on('03-01'), removed_at: on('03-02'), remaining_amount: 0 },
    ]);
    await story.advance(on('03-03'));
    await post(engine, `/v1/invoices/${(await last(story)).id}/void`);
    expect(await coupons(id)).toMatchObject([
      { ended_at: on('03-02'), removed_at: on('03-02'), remaining_amount: 1_000 },
    ]);
    await story.advance(on('03-31'));
    expect(await shown(story)).toEqual([
      ['void', 3_000, 1_000],
      ['open', 3_000, 0],
    ]);
    await story.verify();
  });

  it('uses nothing again that a credit returns', async () => {
    const { story, id, removeIt } = await begin(tenOff);
    await removeIt();
    await story.advance(on('03-16'));
    const plan = await story.plan(6_000, { interval: 'day', interval_count: 30 });
    await story.command(id, 'change', { plan_id: plan, when: 'now' });
    expect((await last(story)).discount).toBe(0);
    expect(await coupons(id)).toMatchObject([{ remaining_amount: 0, applied_amount: 500 }]);
    await story.verify();
  });
});
