import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { verifyLedger } from '../support/ledger';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { post } from '../support/requests';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

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

  const planOf = async (amount: number): Promise<string> => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_arrears', amount }];
    const plan = { code: `plan-${amount}`, name: 'Plan', currency: 'EUR', interval: 'month' };
    return (await post(engine, '/v1/plans', { ...plan, prices })).id;
  };

  const subscribe = async (plan_id: string, invoice_grace_hours: number) => {
    const customer_id = await createCustomer(engine, { invoice_grace_hours });
    const body = { customer_id, plan_id, collection: 'send_invoice' };
    return (await post(engine, '/v1/subscriptions', body)).id;
  };

  const changeTo = (id: string, plan_id: string) =>
    post(engine, `/v1/subscriptions/${id}/change`, { plan_id, when: 'now' });

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
});
