import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { SubscriptionStatusWorkflow } from '../../src/modules/billing/subscriptions/subscription-status.workflow';
import { SubscriptionsRepository } from '../../src/modules/subscriptions';
import { verifyLedger } from '../support/ledger';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

/** Clocks of processes may differ by 5 s (decision 36). */
describe('commands by a clock that is behind that of the last change', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const send = async (path: string, body: object): Promise<string> => {
    const { status, body: answer } = await engine.http.post(path).send(body);
    expect([200, 201]).toContain(status);
    return (answer as { id: string }).id;
  };

  const planOf = (amount: number, proration = 'day') =>
    send('/v1/plans', {
      code: `${proration}-${amount}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      proration,
      prices: [{ name: `Base ${amount}`, model: 'flat', timing: 'in_advance', amount }],
    });

  it.each(['day', 'second'])('credit what that change charged, by the %s', async (proration) => {
    engine.clock.set('2026-03-01T00:00:00.000Z');
    const plan = (amount: number) => planOf(amount, proration);
    const [small, medium, large] = [await plan(3_100), await plan(6_200), await plan(9_300)];
    const customer_id = await send('/v1/customers', { name: 'Ada Lovelace' });
    const id = await send('/v1/subscriptions', { customer_id, plan_id: small });
    engine.clock.set('2026-03-11T00:00:00.000Z');
    await send(`/v1/subscriptions/${id}/change`, { plan_id: medium, when: 'now' });
    engine.clock.advanceMs(-2_000);
    await send(`/v1/subscriptions/${id}/change`, { plan_id: large, when: 'now' });
    await send(`/v1/subscriptions/${id}/cancel`, { when: 'now', credit_unused: true });

    const { body } = await engine.http.get('/v1/invoices').query({ subscription_id: id });
    const invoices = [...(body as { data: readonly Invoice[] }).data].reverse();
    expect(invoices.map(({ lines }) => lines.map(({ amount }) => amount))).toEqual([
      [3_100],
      [4_200, -2_100],
      [6_300, -4_200],
      [proration === 'day' ? -6_000 : -6_300],
    ]);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('and failed payments leave what the changed subscription earns per month', async () => {
    engine.clock.set('2026-03-01T00:00:00.000Z');
    const [small, large] = [await planOf(1_000), await planOf(2_000)];
    const customer_id = await send('/v1/customers', { name: 'Grace Hopper' });
    const id = await send('/v1/subscriptions', { customer_id, plan_id: small });
    engine.clock.set('2026-03-11T00:00:00.000Z');
    await send(`/v1/subscriptions/${id}/change`, { plan_id: large, when: 'now' });
    engine.clock.advanceMs(-2_000);
    await engine.database.transaction(async () => {
      const subscription = await engine.app.get(SubscriptionsRepository).lock(id);
      if (subscription === null) throw new Error('The subscription exists.');
      const status = engine.app.get(SubscriptionStatusWorkflow);
      await status.applyPaymentEvent(subscription, 'failed', engine.clock.now());
    });
    const { body } = await engine.http.get('/v1/analytics/mrr/changes').query({ customer_id });
    expect((body as { data: readonly { readonly after: number }[] }).data).toMatchObject([
      { after: 2_000 },
      { after: 1_000 },
    ]);
  });

  it.each([
    [0, 400],
    [-3_000, 800],
  ])('and coupons apply as they were redeemed, by clocks %d ms apart', async (apartMs, amount) => {
    engine.clock.set('2026-03-01T00:00:00.000Z');
    const plan_id = await planOf(amount);
    const addon_id = await send('/v1/addons', {
      code: `support-${amount}`,
      name: 'Support',
      currency: 'USD',
      prices: [{ name: 'Support', model: 'flat', timing: 'in_advance', amount }],
    });
    const off = { type: 'amount', amount_off: amount, currency: 'USD', duration: 'forever' };
    const [first, second] = [`ANY-${amount}`, `PLAN-${amount}`];
    await send('/v1/coupons', { ...off, code: first });
    await send('/v1/coupons', { ...off, code: second, plan_ids: [plan_id] });
    const customer_id = await send('/v1/customers', { name: 'Ada Lovelace' });
    const addons = [{ addon_id }];
    const id = await send('/v1/subscriptions', { customer_id, plan_id, addons });
    const coupons = `/v1/subscriptions/${id}/coupons`;
    engine.clock.set('2026-03-01T00:00:10.000Z');
    await send(coupons, { code: first });
    engine.clock.advanceMs(apartMs);
    const preview = await engine.http.post(coupons).query({ preview: true }).send({ code: second });
    await send(coupons, { code: second });
    const listed = await engine.http.get(coupons);
    engine.clock.set('2026-04-01T00:00:00.000Z');
    await engine.app.get(DueSubscriptions).runDue();
    const { body } = await engine.http.get('/v1/invoices').query({ subscription_id: id });

    // The first coupon takes half of its amount off each price, so half of the plan's price is left for the second.
    const expected = { discount: 1.5 * amount, total: amount / 2 };
    expect(preview.body).toMatchObject(expected);
    expect((body as { data: readonly Invoice[] }).data[0]).toMatchObject(expected);
    expect((listed.body as { data: unknown }).data).toMatchObject([
      { code: second, redeemed_at: '2026-03-01T00:00:10.001Z' },
      { code: first, redeemed_at: '2026-03-01T00:00:10.000Z' },
    ]);
  });
});
