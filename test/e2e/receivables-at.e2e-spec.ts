import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer, createMeter } from '../support/billing';
import { verifyLedger } from '../support/ledger';
import { startTestApp, type TestApp } from '../support/test-app';

const DAY_MS = 86_400_000;
const SUM = { aggregation: 'sum', value_property: 'n' };

interface Shown {
  readonly at: string;
  readonly data: readonly {
    readonly currency: string;
    readonly customer_id: string | null;
    readonly total: string;
  }[];
}

interface OwedInvoice {
  readonly id: string;
  readonly total: number;
  readonly amount_remaining: number;
}

describe('receivables at an instant', () => {
  let engine: TestApp;
  const seen: { readonly total: Shown; readonly byCustomer: Shown }[] = [];

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-03-01T00:00:00.000Z');
  });

  afterAll(() => engine.close());

  const post = async (path: string, body: object = {}): Promise<{ readonly id: string }> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect({ path, ...answer.body, code: answer.status < 300 ? 0 : answer.status }).toMatchObject({
      code: 0,
    });
    return answer.body as { id: string };
  };
  const read = async (query = ''): Promise<Shown> => {
    const answer = await engine.http.get(`/v1/analytics/receivables?${query}`);
    expect(answer.status).toBe(200);
    return answer.body as Shown;
  };

  async function open(customer: string, amount: number, currency = 'USD') {
    const lines = [{ description: 'Work', amount }];
    const terms = { collection: 'send_invoice', days_until_due: 10 };
    const { id } = await post('invoices', { customer_id: customer, currency, lines, ...terms });
    return (await post(`invoices/${id}/finalize`)) as {
      readonly id: string;
      readonly lines: readonly { readonly id: string }[];
    };
  }

  const pay = (customer_id: string, invoice_id: string, amount: number) =>
    post('payments', {
      customer_id,
      invoice_id,
      amount,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_ok',
    });

  /** Notes what is owed now, and goes on to a day on which another thing happens. */
  async function nextDay(): Promise<void> {
    engine.clock.advanceMs(1);
    seen.push({ total: await read(), byCustomer: await read('group_by=customer') });
    engine.clock.advanceMs(DAY_MS - 1);
  }

  it('are those that were shown then, whatever happened since', async () => {
    const ada = await createCustomer(engine, { name: 'Ada', currency: 'USD' });
    const bob = await createCustomer(engine, { name: 'Bob', currency: 'EUR' });
    const now = engine.clock.now().toISOString();
    const clock = await post('test-clocks', { name: 'C', now });
    await open(await createCustomer(engine, { test_clock_id: clock.id }), 99_999);
    await nextDay();
    const paid = await open(ada, 1_000);
    await open(bob, 50, 'EUR');
    await nextDay();
    await pay(ada, paid.id, 300);
    const credited = await open(ada, 2_000);
    await nextDay();
    const note = await post('credit-notes', {
      invoice_id: credited.id,
      lines: [{ invoice_line_id: credited.lines[0]?.id, amount: 500 }],
      reason: 'Late',
      settle: 'credit',
    });
    const voided = await open(bob, 70, 'EUR');
    await nextDay();
    await post(`credit-notes/${note.id}/void`);
    await post(`invoices/${voided.id}/void`);
    const lost = await open(ada, 40);
    await nextDay();
    await post(`invoices/${lost.id}/mark-uncollectible`);
    await pay(ada, paid.id, 700);
    await nextDay();
    await pay(ada, lost.id, 40);
    await nextDay();
    await engine.http.delete(`/v1/customers/${bob}`);
    engine.clock.advanceMs(200 * DAY_MS);
    for (const { total, byCustomer } of seen) {
      expect(await read(`at=${total.at}`)).toEqual(total);
      const data = byCustomer.data.map((row) => ({ ...row, is_deleted: row.customer_id === bob }));
      expect(await read(`at=${total.at}&group_by=customer`)).toEqual({ ...byCustomer, data });
    }
    expect(seen.map(({ total }) => total.data.map(({ total: owed }) => owed))).toEqual([
      [],
      ['50', '1000'],
      ['50', '2700'],
      ['120', '2200'],
      ['50', '2740'],
      ['50', '2000'],
      ['50', '2000'],
    ]);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('count credit of a later invoice against the oldest of its subscription, as the engine did', async () => {
    const customer = await createCustomer(engine, { name: 'Grace', currency: 'GBP' });
    const plan = await post('plans', {
      code: 'monthly',
      name: 'Monthly',
      currency: 'GBP',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_100 }],
    });
    const { id } = await post('subscriptions', {
      customer_id: customer,
      plan_id: plan.id,
      collection: 'send_invoice',
    });
    seen.splice(0);
    await nextDay();
    await post(`subscriptions/${id}/cancel`, { when: 'now', credit_unused: true });
    await nextDay();
    const [before, after] = seen;
    const owedIn = (shown: Shown | undefined): string | undefined =>
      shown?.data.find(({ currency }) => currency === 'GBP')?.total;
    expect(owedIn(before?.total)).toBe('3100');
    expect(Number(owedIn(after?.total))).toBeLessThan(3_100);
    for (const { total, byCustomer } of seen) {
      expect(await read(`at=${total.at}`)).toEqual(total);
      expect(await read(`at=${total.at}&group_by=customer`)).toEqual(byCustomer);
    }
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('count credit against the invoices that were open then, not a draft that was finalized since', async () => {
    const on = (day: string): void => engine.clock.set(`2027-${day}T00:00:00Z`);
    on('03-01');
    const customer = await createCustomer(engine, { currency: 'NOK', invoice_grace_hours: 336 });
    const price = { model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const plan = await post('plans', {
      code: 'waiting',
      name: 'Waiting',
      currency: 'NOK',
      interval: 'week',
      prices: [{ ...price, name: 'Calls', meter_id: await createMeter(engine, SUM) }],
    });
    const addon = await post('addons', {
      code: 'support',
      name: 'Support',
      currency: 'NOK',
      prices: [{ name: 'Support', model: 'flat', timing: 'in_advance', amount: 700 }],
    });
    const { id } = await post('subscriptions', {
      customer_id: customer,
      plan_id: plan.id,
      collection: 'send_invoice',
    });
    const invoices = async (): Promise<readonly OwedInvoice[]> => {
      const { body } = await engine.http.get(`/v1/invoices?customer_id=${customer}`);
      return (body as { data: OwedInvoice[] }).data.toReversed();
    };
    const newest = async (): Promise<string> => (await invoices()).at(-1)?.id ?? '';
    const use = (key: string, n: number) =>
      engine.http
        .post('/v1/usage-events')
        .send({
          idempotency_key: key,
          customer_id: customer,
          event_name: 'api_call',
          timestamp: engine.clock.now().toISOString(),
          properties: { n },
        })
        .expect(200);
    const renew = async (): Promise<void> => {
      while (await engine.app.get(DueSubscriptions).runDue()) continue;
    };

    await use('first week', 100);
    on('03-08');
    await renew();
    const first = await newest();
    await post(`invoices/${first}/finalize`);
    await post(`invoices/${first}/pay`, {
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_ok',
    });
    await use('second week', 50);
    on('03-15');
    await renew();
    on('03-16');
    await post(`subscriptions/${id}/change`, {
      addons: [{ addon_id: addon.id, quantity: '1' }],
      when: 'now',
    });
    await engine.http
      .post('/v1/usage-events/void')
      .send({ idempotency_key: 'first week' })
      .expect(200);
    on('03-22');
    await renew();
    await post(`invoices/${await newest()}/finalize`);
    on('03-29');
    while (await engine.app.get(DueDrafts).runDue()) continue;
    const owed = (await invoices()).map(({ total, amount_remaining: left }) => [total, left]);
    expect(owed).toEqual([
      [1_000, 0],
      [500, 500],
      [600, 300],
      [-300, 0],
    ]);

    on('04-20');
    const ofCustomer = async (query: string) =>
      (await read(`group_by=customer&${query}`)).data.filter(({ currency }) => currency === 'NOK');
    const now = await ofCustomer('');
    expect(now).toMatchObject([{ days_1_to_30: '500', days_31_to_60: '300', total: '800' }]);
    expect(await ofCustomer('at=2027-04-20T00:00:00Z')).toEqual(now);
    expect(await ofCustomer('at=2027-03-28T00:00:00Z')).toMatchObject([{ total: '300' }]);
    expect(await ofCustomer('at=2027-03-21T00:00:00Z')).toMatchObject([{ total: '600' }]);
    for (const day of ['03-09', '03-17', '03-23', '03-30', '04-20']) {
      const at = `2027-${day}T00:00:00Z`;
      const books = await engine.http.get(`/v1/ledger/accounts?customer_id=${customer}&at=${at}`);
      const posted = (books.body as { data: { account: string; balance: string }[] }).data;
      const balance = posted.find(({ account }) => account === 'accounts_receivable')?.balance;
      expect((await ofCustomer(`at=${at}`))[0]?.total ?? '0').toBe(balance ?? '0');
    }
  });

  it('are none before the first invoice, and age until an instant in the future', async () => {
    expect(await read('at=2020-01-01T00:00:00Z')).toMatchObject({ data: [] });
    const { data } = await read('at=2036-01-01T00:00:00Z');
    for (const row of data) expect(row).toMatchObject({ not_due: '0', over_90_days: row.total });
  });
});
