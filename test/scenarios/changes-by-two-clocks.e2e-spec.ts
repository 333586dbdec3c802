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
});
