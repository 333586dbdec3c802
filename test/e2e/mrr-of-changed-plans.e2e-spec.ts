import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { verifyLedger } from '../support/ledger';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { post } from '../support/requests';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';
import { withoutTriggers } from '../support/without-triggers';

interface Change {
  readonly kind: string;
  readonly before: number;
  readonly after: number;
  readonly changed_at: string;
}

const AT = (date: string) => `2026-${date}T00:00:00.000Z`;

describe('the recurring revenue of a subscription with a changed plan', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp();
    engine.clock.set(AT('03-10'));
  });

  afterEach(async () => {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    await engine.close();
  });

  const planOf = async (amount: number, timing = 'in_arrears'): Promise<string> => {
    const prices = [{ name: 'Base', model: 'flat', timing, amount }];
    const plan = { code: `plan-${amount}`, name: 'Plan', currency: 'EUR', interval: 'month' };
    return (await post(engine, '/v1/plans', { ...plan, prices })).id;
  };

  const subscribe = async (plan_id: string, invoice_grace_hours: number, fields: object = {}) => {
    const customer_id = await createCustomer(engine, { invoice_grace_hours });
    const body = { customer_id, plan_id, collection: 'send_invoice', ...fields };
    return (await post(engine, '/v1/subscriptions', body)).id;
  };

  const changeTo = (id: string, plan_id: string, fields: object = {}) =>
    post(engine, `/v1/subscriptions/${id}/change`, { plan_id, when: 'now', ...fields });

  const renew = async (date: string): Promise<void> => {
    engine.clock.set(AT(date));
    while (await engine.app.get(DueSubscriptions).runDue());
  };

  const changesOf = async (id: string) => {
    const { customer_id } = await read<{ customer_id: string }>(`subscriptions/${id}`);
    const path = `analytics/mrr/changes?customer_id=${customer_id}`;
    const { data } = await read<{ data: readonly Change[] }>(path);
    return data
      .map(({ kind, before, after, changed_at: at }) => [kind, before, after, at])
      .toReversed();
  };

  const invoicesOf = async (id: string): Promise<readonly Invoice[]> =>
    (await read<{ data: readonly Invoice[] }>(`invoices?subscription_id=${id}`)).data;

  const read = async <Body>(path: string): Promise<Body> =>
    (await engine.http.get(`/v1/${path}`).expect(200)).body as Body;

  describe('is the new one after an invoice', () => {
    const expected = [
      ['new', 0, 1_000, AT('03-10')],
      ['expansion', 1_000, 3_000, '2026-04-11T00:00:02.000Z'],
    ];

    it('whose finalization was due before the change, and waited for it', async () => {
      const [small, large] = [await planOf(1_000), await planOf(3_000)];
      const [locked, changed] = [await subscribe(small, 24), await subscribe(small, 24)];
      await renew('04-10');
      engine.clock.set(AT('04-11'));
      const release = await openTransaction(engine.database, () =>
        engine.database.query('SELECT FROM subscription WHERE id = $1 FOR UPDATE', [locked]),
      );
      const finalized = engine.app.get(DueDrafts).runDue();
      await untilSessionsWait(engine.database);
      engine.clock.advanceMs(2_000);
      await changeTo(changed, large);
      await release();
      await finalized;
      expect(await changesOf(changed)).toEqual(expected);
    });

    it.each(['finalize', 'void', 'reissue'])(
      'on which a process with a slower clock does %s',
      async (command) => {
        const [small, large] = [await planOf(1_000), await planOf(3_000)];
        const id = await subscribe(small, command === 'finalize' ? 24 : 0);
        await renew('04-10');
        engine.clock.set(AT('04-11'));
        const invoice = `/v1/invoices/${(await invoicesOf(id))[0]?.id}`;
        if (command === 'reissue') await engine.http.post(`${invoice}/void`).send({}).expect(200);
        engine.clock.advanceMs(2_000);
        await changeTo(id, large);
        engine.clock.advanceMs(-1_000);
        const { status } = await engine.http.post(`${invoice}/${command}`).send({});
        expect([200, 201]).toContain(status);
        expect(await changesOf(id)).toEqual(expected);
      },
    );
  });

  describe('and prices that continue until the end of the period', () => {
    const limitedTo = (plan_id: string) =>
      post(engine, '/v1/coupons', {
        code: 'HALF',
        type: 'percent',
        percent_off: '50',
        duration: 'forever',
        plan_ids: [plan_id],
      });

    it.each(['in_advance', 'in_arrears'])(
      'is less the coupon for the former plan until then, %s',
      async (timing) => {
        const [small, large] = [await planOf(1_000, timing), await planOf(3_000, timing)];
        await limitedTo(small);
        const id = await subscribe(small, 0, { coupon: 'HALF' });
        engine.clock.set(AT('03-20'));
        await changeTo(id, large, { proration: 'none' });
        expect(await changesOf(id)).toEqual([['new', 0, 500, AT('03-10')]]);
        await renew('04-10');
        expect((await invoicesOf(id)).map(({ total }) => total)).toEqual(
          timing === 'in_advance' ? [3_000, 500] : [500],
        );
        expect((await changesOf(id)).slice(1)).toEqual([['expansion', 500, 3_000, AT('04-10')]]);
      },
    );

    it('is no fault if an earlier release recorded it without that coupon, and is corrected', async () => {
      const [small, large] = [await planOf(1_000), await planOf(3_000)];
      await limitedTo(small);
      const id = await subscribe(small, 0, { coupon: 'HALF' });
      await changeTo(id, large, { proration: 'none' });
      const record = (amount: number) =>
        withoutTriggers(engine, [`UPDATE mrr_change SET after_minor = ${amount}`]);
      await record(999);
      expect(await verifyLedger(engine)).toMatchObject({ ok: false });
      await record(1_000);
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
      engine.clock.set(AT('03-20'));
      await post(engine, `/v1/subscriptions/${id}/cancel`, { when: 'period_end' });
      expect((await changesOf(id)).slice(1)).toEqual([['contraction', 1_000, 500, AT('03-20')]]);
    });

    it('is less a coupon for the new plan from then on', async () => {
      const [small, large] = [await planOf(1_000), await planOf(3_000)];
      await limitedTo(large);
      const id = await subscribe(small, 0);
      engine.clock.set(AT('03-20'));
      await changeTo(id, large, { proration: 'none' });
      await post(engine, `/v1/subscriptions/${id}/coupons`, { code: 'HALF' });
      expect(await changesOf(id)).toEqual([['new', 0, 1_000, AT('03-10')]]);
      await renew('04-10');
      expect((await invoicesOf(id)).map(({ total }) => total)).toEqual([1_000]);
      expect((await changesOf(id)).slice(1)).toEqual([['expansion', 1_000, 1_500, AT('04-10')]]);
    });
  });
});
