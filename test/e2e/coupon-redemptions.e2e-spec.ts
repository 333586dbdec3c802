import { type RedemptionRequest, RedemptionsService } from '../../src/modules/coupons';
import { newId } from '../../src/platform/ids';
import { createCustomer, createPlan } from '../support/billing';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('redemptions of coupons', () => {
  let engine: TestApp;
  let customer: string;

  beforeAll(async () => {
    engine = await startTestApp();
    customer = await createCustomer(engine);
  });

  afterAll(() => engine.close());

  const PLAN = 'plan_01h455vb4pex5vsknk084sn02q';
  const percent = { type: 'percent', percent_off: '20', duration: 'once' };
  const amount = { type: 'amount', amount_off: 500, currency: 'USD', duration: 'once' };

  interface CouponBody {
    readonly id: string;
    readonly code: string;
  }

  async function createCoupon(fields: object = percent): Promise<CouponBody> {
    const answer = await engine.http.post('/v1/coupons').send(fields);
    expect(answer.status).toBe(201);
    return answer.body as CouponBody;
  }

  const redemptions = () => engine.app.get(RedemptionsService);
  const request = (code: string, fields: Partial<RedemptionRequest> = {}): RedemptionRequest => ({
    code,
    subscriptionId: newId('sub'),
    customerId: customer,
    planId: PLAN,
    currency: 'USD',
    ...fields,
  });
  const redeem = (asked: RedemptionRequest, now = engine.clock.now()) =>
    engine.database.transaction(() => redemptions().redeem(asked, now));
  const coupon = async (id: string) => (await engine.http.get(`/v1/coupons/${id}`)).body as object;
  const listed = async (id: string) =>
    (await engine.http.get(`/v1/coupons/${id}/redemptions`)).body as {
      data: object[];
      next_cursor: string | null;
    };
  const noted = (
    id: string,
    amountMinor: bigint,
    unusedMinor: bigint,
    endsAt: Date | null = null,
  ) =>
    engine.database.transaction(() =>
      redemptions().recordApplied(
        [
          {
            redemptionId: id,
            amountMinor,
            returnedMinor: 0n,
            unusableMinor: 0n,
            unusedMinor,
            endsAt,
          },
        ],
        engine.clock.now(),
      ),
    );
  const running = async (subscriptionId: string) =>
    ((await redemptions().runningRedemptions([subscriptionId])).get(subscriptionId) ?? []).map(
      ({ redemption }) => redemption,
    );

  it('are none at first', async () => {
    const { id } = await createCoupon();
    expect(await listed(id)).toEqual({ data: [], next_cursor: null });
    expect(await running('sub_x')).toEqual([]);
    expect(await redemptions().runningRedemptions([])).toEqual(new Map());
  });

  it('are counted, recorded as events and listed with every field the API shows', async () => {
    const { id, code } = await createCoupon({ ...amount, duration: 'once' });
    const asked = request(code);
    const { redemption } = await redeem(asked);
    const shown = {
      id: expect.stringMatching(/^red_/) as string,
      coupon_id: id,
      code,
      subscription_id: asked.subscriptionId,
      customer_id: customer,
      currency: 'USD',
      applied_amount: 0,
      remaining_amount: 500,
      redeemed_at: '2026-03-01T09:30:00.000Z',
      ends_at: null,
      ended_at: null,
      removed_at: null,
    };
    expect((await listed(id)).data).toEqual([shown]);
    expect(await eventsOf(engine, redemption.id)).toEqual([
      { type: 'coupon.redeemed', sequence: 1, data: { object: shown, previous: {} } },
    ]);
    expect(await coupon(id)).toMatchObject({ times_redeemed: 1 });
    const deletion = await engine.http.delete(`/v1/coupons/${id}`);
    expect(deletion.body).toMatchObject({ code: 'coupon_in_use' });
  });

  it('by a clock that is behind do not set updated_at of the coupon back', async () => {
    const { id, code } = await createCoupon();
    const updatedAt = engine.clock.now().toISOString();
    engine.clock.advanceMs(-3_000);
    await redeem(request(code));
    engine.clock.advanceMs(3_000);
    const { body } = await engine.http.get(`/v1/coupons/${id}`);
    expect(body).toMatchObject({ times_redeemed: 1, updated_at: updatedAt });
  });

  it('are limited to five with a hundred concurrent requests', async () => {
    const { id, code } = await createCoupon({ ...percent, max_redemptions: 5 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => redeem(request(code))),
    );
    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled'
        ? 'redeemed'
        : (outcome.reason as { definition: { code: string } }).definition.code,
    );
    expect(codes.sort()).toEqual([
      ...Array<string>(95).fill('coupon_exhausted'),
      ...Array<string>(5).fill('redeemed'),
    ]);
    expect(await coupon(id)).toMatchObject({ times_redeemed: 5 });
    expect((await listed(id)).data).toHaveLength(5);
    const [{ events } = { events: 0 }] = await engine.database.query<{ events: number }>(
      `SELECT count(*)::int AS events FROM event
       WHERE type = 'coupon.redeemed' AND data -> 'object' ->> 'coupon_id' = $1`,
      [id],
    );
    expect(events).toBe(5);
  });

  it('on one subscription are limited to one with twenty concurrent requests', async () => {
    const { id, code } = await createCoupon();
    const asked = request(code);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => redeem(asked)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ definition: { code: 'coupon_already_redeemed' } });
      }
    }
    expect(await coupon(id)).toMatchObject({ times_redeemed: 1 });
  });

  it('can be repeated on another subscription, and with another coupon on the same one', async () => {
    const first = await createCoupon();
    const second = await createCoupon();
    const asked = request(first.code);
    await redeem(asked);
    await redeem(request(first.code));
    await redeem({ ...asked, code: second.code });
    const found = await redemptions().runningRedemptions([asked.subscriptionId, 'sub_x']);
    expect([...found].map(([id, terms]) => [id, terms.map((each) => each.coupon.id)])).toEqual([
      [asked.subscriptionId, [first.id, second.id]],
    ]);
  });

  it('roll back with the transaction of the caller', async () => {
    const { id, code } = await createCoupon({ ...percent, max_redemptions: 1 });
    const lost = engine.database.transaction(async () => {
      await redemptions().redeem(request(code), engine.clock.now());
      throw new Error('lost');
    });
    await expect(lost).rejects.toThrow('lost');
    expect(await coupon(id)).toMatchObject({ times_redeemed: 0 });
    await redeem(request(code));
    await expect(redemptions().redeem(request(code), engine.clock.now())).rejects.toThrow(
      'transaction',
    );
  });

  it.each([
    ['coupon_code_unknown', {}, { code: 'NO-SUCH' }],
    ['coupon_not_for_plan', {}, {}],
    ['coupon_currency_mismatch', { ...amount, currency: 'EUR', percent_off: null }, {}],
    ['coupon_inactive', {}, {}],
  ])('are refused with %s, and change nothing', async (problem, terms, asked) => {
    const plan_ids = problem === 'coupon_not_for_plan' ? [await createPlan(engine)] : [];
    const { id, code } = await createCoupon({ ...percent, ...terms, plan_ids });
    if (problem === 'coupon_inactive') {
      await engine.http.patch(`/v1/coupons/${id}`).send({ is_active: false });
    }
    const before = await coupon(id);
    const refused = { definition: { code: problem } };
    await expect(redeem(request(code, asked))).rejects.toMatchObject(refused);
    const now = engine.clock.now();
    await expect(redemptions().preview(request(code, asked), now)).rejects.toMatchObject(refused);
    expect(await coupon(id)).toEqual(before);
    expect((await listed(id)).data).toEqual([]);
  });

  it('are possible up to and including redeem_by, not after it', async () => {
    const { code } = await createCoupon({ ...percent, redeem_by: '2030-01-01T00:00:00.000Z' });
    await redeem(request(code), new Date('2030-01-01T00:00:00.000Z'));
    await expect(redeem(request(code), new Date('2030-01-01T00:00:00.001Z'))).rejects.toMatchObject(
      { definition: { code: 'coupon_expired' } },
    );
  });

  it('in a preview are not stored', async () => {
    const { id, code } = await createCoupon(amount);
    const asked = request(code);
    const { redemption } = await redemptions().preview(asked, engine.clock.now());
    expect(redemption).toMatchObject({ remainingAmount: 500n, couponId: id });
    expect(await coupon(id)).toMatchObject({ times_redeemed: 0 });
    expect(await running(asked.subscriptionId)).toEqual([]);
  });

  it('of a deactivated coupon continue', async () => {
    const { id, code } = await createCoupon();
    const asked = request(code);
    await redeem(asked);
    await engine.http.patch(`/v1/coupons/${id}`).send({ is_active: false });
    expect(await running(asked.subscriptionId)).toHaveLength(1);
  });

  it('that repeat run until the end of their months, which the first discount fixes', async () => {
    const { code } = await createCoupon({
      ...percent,
      duration: 'repeating',
      duration_in_months: 1,
    });
    const asked = request(code);
    const { redemption } = await redeem(asked, new Date('2026-03-01T08:30:00.000Z'));
    expect(redemption.endsAt).toBeNull();
    expect(await running(asked.subscriptionId)).toEqual([redemption]);
    const endsAt = new Date('2026-04-01T07:30:00.000Z');
    await noted(redemption.id, 100n, 0n, endsAt);
    await noted(redemption.id, 100n, 0n, new Date('2026-05-01T07:30:00.000Z'));
    expect(await running(asked.subscriptionId)).toMatchObject([{ endsAt }]);
  });

  it('of an amount keep the rest after each invoice, until nothing is left', async () => {
    const { id, code } = await createCoupon(amount);
    const asked = request(code);
    const { redemption } = await redeem(asked);
    await noted(redemption.id, 0n, 500n);
    await noted(redemption.id, 300n, 200n);
    expect(await running(asked.subscriptionId)).toMatchObject([
      { appliedAmount: 300n, remainingAmount: 200n, endedAt: null },
    ]);
    await noted(redemption.id, 200n, 0n);
    expect(await running(asked.subscriptionId)).toEqual([]);
    expect((await listed(id)).data).toMatchObject([
      { applied_amount: 500, remaining_amount: 0, ended_at: '2026-03-01T09:30:00.000Z' },
    ]);
  });

  it('of a subscription are ended together, not before they began, and stay ended', async () => {
    const subscriptionId = newId('sub');
    for (let count = 0; count < 3; count += 1) {
      const { code } = await createCoupon({ ...percent, duration: 'forever' });
      await redeem(request(code, { subscriptionId }));
    }
    const end = () =>
      engine.database.transaction(() =>
        redemptions().endAll([{ id: subscriptionId, endedAt: engine.clock.now() }]),
      );
    await end();
    expect(await running(subscriptionId)).toEqual([]);
    const endedAt = engine.clock.now();
    engine.clock.advanceMs(1_000);
    await end();
    const rows = await engine.database.query<{ ended_at: Date }>(
      'SELECT ended_at FROM coupon_redemption WHERE subscription_id = $1 ORDER BY id',
      [subscriptionId],
    );
    // The clock stands still, so redemptions are 1 ms apart.
    const expected = [0, 1, 2].map((ms) => new Date(endedAt.getTime() + ms));
    expect(rows.map((row) => row.ended_at)).toEqual(expected);
  });

  it('after one that a wrong clock dated an hour ahead are later, but their events are not', async () => {
    const now = engine.clock.now();
    const hourLater = new Date(now.getTime() + 3_600_000);
    const asked = request((await createCoupon()).code);
    await redeem(asked, hourLater);
    const { code } = await createCoupon();
    const { redemption } = await redeem({ ...asked, code }, now);
    expect(redemption.redeemedAt).toEqual(new Date(hourLater.getTime() + 1));
    await engine.database.transaction(() =>
      redemptions().remove(asked.subscriptionId, redemption.id, now),
    );
    const timestamp = now.toISOString();
    const { body } = await engine.http.get('/v1/events').query({ object_id: redemption.id });
    expect(body).toMatchObject({ data: [{ timestamp }, { timestamp }] });
  });

  it('of a subscription are listed by redeemed_at, whatever their ids', async () => {
    const asked = request('');
    const ids: string[] = [];
    for (const after of [2, 1, 3]) {
      const { code } = await createCoupon();
      const { redemption } = await redeem({ ...asked, code });
      await engine.database.query('UPDATE coupon_redemption SET redeemed_at = $2 WHERE id = $1', [
        redemption.id,
        new Date(engine.clock.now().getTime() + after),
      ]);
      ids[3 - after] = redemption.id;
    }
    const page = (after: string | null) =>
      redemptions().listBySubscription(asked.subscriptionId, { limit: 2, after });
    const { items, next } = await page(null);
    const rest = await page(next);
    expect([...items, ...rest.items].map(({ redemption }) => redemption.id)).toEqual(ids);
  });

  it('are listed newest first, page by page', async () => {
    const { id, code } = await createCoupon();
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      made.push((await redeem(request(code))).redemption.id);
    }
    const path = `/v1/coupons/${id}/redemptions`;
    const first = (await engine.http.get(path).query({ limit: 2 })).body as {
      data: { id: string }[];
      next_cursor: string;
    };
    const second = (await engine.http.get(path).query({ cursor: first.next_cursor }))
      .body as typeof first;
    expect([...first.data, ...second.data].map((each) => each.id)).toEqual(made.reverse());
    expect((await engine.http.get(`${path}?cursor=nope`)).body).toMatchObject({
      code: 'invalid_cursor',
    });
    const unknown = 'coup_01h455vb4pex5vsknk084sn02q';
    expect((await engine.http.get(`/v1/coupons/${unknown}/redemptions`)).body).toMatchObject({
      code: 'coupon_not_found',
    });
  });
});
