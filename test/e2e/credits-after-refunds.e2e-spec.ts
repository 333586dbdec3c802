import { Client } from 'pg';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, Story, type Subscription, type TestApp } from '../support/story';

const on = (day: string): string => `2026-${day}T00:00:00.000Z`;

/** Seats at 31.00 for March, paid; the subscription is changed or canceled on 16 March. */
describe('credit for charges that were refunded', () => {
  let engine: TestApp;
  let holder: Client;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
  });
  afterAll(async () => {
    await holder.end();
    await engine.close();
  });

  interface Paid {
    readonly story: Story;
    readonly subscription: Subscription;
    readonly invoice: string;
    readonly payment: string;
  }

  const create = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return answer.body as { id: string };
  };
  const refund = async (payment: string, body: object = {}): Promise<object> =>
    (await engine.http.post(`/v1/refunds/payment/${payment}`).send(body)).body as object;

  async function paid(
    terms: { readonly token?: string; readonly customer?: object; readonly sold?: object } = {},
    before: (story: Story) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Paid> {
    const { token = 'pm_sandbox_ok', customer = {}, sold = {} } = terms;
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD', ...customer });
    await before(story);
    const subscription = await story.subscribe(await story.seats('3100'), {
      collection: 'send_invoice',
      ...sold,
    });
    const [{ id: invoice } = { id: '' }] = await story.invoices();
    const payment = await pay(invoice, token);
    await story.advance(on('03-16'));
    return { story, subscription, invoice, payment };
  }
  async function pay(invoice: string, payment_method_id = 'pm_sandbox_ok'): Promise<string> {
    const body = { provider: 'sandbox', payment_method_id };
    return (await create(`invoices/${invoice}/pay`, body)).id;
  }
  const cancel = ({ story, subscription }: Paid): Promise<Subscription> =>
    story.command(subscription.id, 'cancel', { when: 'now', credit_unused: true });
  const change = ({ story, subscription }: Paid, body: object): Promise<Subscription> =>
    story.command(subscription.id, 'change', { when: 'now', ...body });
  const balanceOf = async ({ story }: Paid): Promise<number> => {
    await story.verify();
    const { body } = await engine.http.get(`/v1/customers/${story.customerId}/balance`);
    return (body as { balance: number }).balance;
  };
  const totals = async ({ story }: Paid): Promise<readonly number[]> =>
    (await story.invoices()).map(({ total }) => total);
  const note = (invoice_id: string, line: string, amount: number, settle: string) =>
    engine.http
      .post('/v1/credit-notes')
      .send({ invoice_id, lines: [{ invoice_line_id: line, amount }], reason: 'Sorry', settle });
  const taxed = async (inclusive: boolean): Promise<object> => {
    const rate = await create('tax-rates', { name: 'VAT', percentage: '20', inclusive });
    return { tax_rate_ids: [rate.id] };
  };
  const halved = async (): Promise<object> => {
    made += 1;
    const coupon = `HALF${made}`;
    const terms = { type: 'percent', percent_off: '50', duration: 'forever' };
    await create('coupons', { code: coupon, ...terms });
    return { coupon };
  };

  it('is not given after a refund of all, when the subscription ends', async () => {
    const life = await paid();
    expect(await refund(life.payment)).toMatchObject({ status: 'succeeded', amount: 3_100 });
    await cancel(life);
    expect(await totals(life)).toEqual([3_100]);
    expect(await balanceOf(life)).toBe(0);
  });

  it.each([
    ['what was not refunded, if that is less than the unused part', [2_000], 1_100],
    ['what two refunds left', [1_000, 1_000], 1_100],
    ['the whole unused part after a small refund', [1_000], 1_500],
  ])('is %s', async (_, refunds, expected) => {
    const life = await paid();
    for (const amount of refunds) {
      expect(await refund(life.payment, { amount })).toMatchObject({ status: 'succeeded' });
    }
    await cancel(life);
    expect(await balanceOf(life)).toBe(expected);
    const left = 3_100 - refunds.reduce((total, amount) => total + amount, 0);
    if (left > expected) await refund(life.payment, { amount: left - expected });
    expect(await balanceOf(life)).toBe(expected);
    expect(await refund(life.payment, { amount: expected + 1 })).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: expected,
    });
  });

  it.each([
    [0, false, -4_000],
    [7_000, false, -3_000],
    [7_000, true, -4_000],
    [10_000, true, -1_666],
    [12_000, true, 0],
  ])(
    'is quoted for late usage as the next invoice gives it, after a refund of %i (taxed: %s)',
    async (refunded, isTaxed, expected) => {
      const fields = { currency: 'USD', ...(isTaxed ? await taxed(false) : {}) };
      const story = await Story.begin(engine, on('03-01'), fields);
      const { id: meter_id, event } = await story.meter();
      const calls = { model: 'per_unit', timing: 'in_arrears', unit_amount: '1000', meter_id };
      const { id: planId } = await story.planOf([{ name: 'Calls', ...calls }]);
      await story.subscribe(planId, { collection: 'send_invoice' });
      await story.reportUsage(event, on('03-01'), { n: 6 });
      const taken = await story.reportUsage(event, on('03-01'), { n: 4 });
      await story.advance(on('04-01'));
      const payment = await pay((await story.invoices())[0]?.id ?? '');
      if (refunded > 0) await refund(payment, { amount: refunded });
      await engine.http.post('/v1/usage-events/void').send({ idempotency_key: taken });
      const quoted = (await story.usage()).reduce((total, { amount }) => total + amount, 0);
      await story.advance(on('05-01'));
      const [, corrected] = await story.invoices();
      expect([quoted, corrected?.subtotal]).toEqual([expected, expected]);
      await story.verify();
    },
  );

  it('is what a refund leaves, also in a preview', async () => {
    const life = await paid();
    await refund(life.payment, { amount: 2_000 });
    const path = `/v1/subscriptions/${life.subscription.id}/cancel?preview=true`;
    const { body } = await engine.http.post(path).send({ when: 'now', credit_unused: true });
    expect(body).toMatchObject({ status: 'draft', total: -1_100 });
  });

  it('is not given while a refund is pending; its failure frees the amount for another refund', async () => {
    const life = await paid({ token: 'pm_sandbox_refund_pending' });
    const pending = (await refund(life.payment)) as { id: string; status: string };
    expect(pending).toMatchObject({ status: 'pending', amount: 3_100 });
    await cancel(life);
    expect(await balanceOf(life)).toBe(0);
    const settled = await engine.http
      .post(`/v1/sandbox/refunds/${pending.id}/settle`)
      .send({ outcome: 'failed' });
    expect(settled.body).toMatchObject({ status: 'failed' });
    expect(await balanceOf(life)).toBe(0);
    expect(await refund(life.payment)).toMatchObject({ status: 'pending', amount: 3_100 });
  });

  it('is lower on the invoice of a downgrade', async () => {
    const life = await paid({ sold: { quantity: '2' } });
    expect(await refund(life.payment, { amount: 5_000 })).toMatchObject({ status: 'succeeded' });
    await change(life, { quantity: '1' });
    // 32.00 of 62.00 are unused, and 12.00 were not refunded. The rest of March costs 16.00.
    expect((await life.story.amounts())[1]).toEqual([1_600, -1_200]);
    await life.story.verify();
  });

  it('is given line by line, until it equals what was not refunded of their invoice', async () => {
    made += 1;
    const price = { name: 'Disk', model: 'flat', timing: 'in_advance', amount: 3_100 };
    const addon = await create('addons', {
      ...{ code: `disk-${made}`, name: 'Disk', currency: 'USD' },
      prices: [price],
    });
    const life = await paid({ sold: { addons: [{ addon_id: addon.id }] } });
    expect(await refund(life.payment, { amount: 4_000 })).toMatchObject({ status: 'succeeded' });
    await cancel(life);
    expect((await life.story.amounts())[1]).toEqual([-1_500, -700]);
    expect(await balanceOf(life)).toBe(2_200);
  });

  it.each([
    ['exclusive', false, 1_500, [-300, -60]],
    ['inclusive', true, 1_400, [-150, -25]],
  ])(
    'includes the tax of discounted lines, %s',
    async (_, inclusive, amount, [expectedAmount, expectedTax]) => {
      const life = await paid({ customer: await taxed(inclusive), sold: await halved() });
      expect(await refund(life.payment, { amount })).toMatchObject({ status: 'succeeded' });
      await cancel(life);
      const [, ended] = await life.story.invoices();
      expect(ended?.lines[0]).toMatchObject({ amount: expectedAmount, tax: expectedTax });
      expect(await balanceOf(life)).toBe((inclusive ? 1_550 : 1_860) - amount);
    },
  );

  it('is lowered by a credit note that gave a part back as credit', async () => {
    const life = await paid();
    const [invoice] = await life.story.invoices();
    const given = await note(life.invoice, invoice?.lines[0]?.id ?? '', 1_000, 'credit');
    expect(given.body).toMatchObject({ credited_to_balance: 1_000 });
    expect(await refund(life.payment)).toMatchObject({ amount: 2_100 });
    await cancel(life);
    expect(await balanceOf(life)).toBe(1_000);
  });

  it('is lowered by a credit note, but not also by the refund that pays the note', async () => {
    const life = await paid();
    const [invoice] = await life.story.invoices();
    await note(life.invoice, invoice?.lines[0]?.id ?? '', 1_000, 'refund');
    expect(await refund(life.payment, { amount: 1_000 })).toMatchObject({ status: 'succeeded' });
    await cancel(life);
    // 15 of 31 days of the 21.00 that the line still holds.
    expect(await balanceOf(life)).toBe(1_016);
  });

  it('is what credit paid of an invoice whose other half was refunded', async () => {
    const life = await paid({}, ({ customerId: customer_id }) =>
      create('payments', { customer_id, amount: 1_550, currency: 'USD', provider: 'sandbox' }),
    );
    expect(await refund(life.payment)).toMatchObject({ status: 'succeeded', amount: 1_550 });
    await cancel(life);
    expect(await balanceOf(life)).toBe(1_500);
  });

  it('is not given again by a credit note after an end with credit and a refund', async () => {
    const life = await paid();
    const usage = await life.story.meter({ aggregation: 'count' });
    const metered = {
      ...{ name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1000' },
      meter_id: usage.id,
    };
    const seats = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '3000' };
    const plan = await life.story.planOf([seats, metered]);
    const second = await life.story.subscribe(plan.id, { collection: 'send_invoice' });
    await life.story.reportUsage(usage.event, on('03-16'));
    await life.story.advance(on('04-16'));
    const renewal = (await life.story.invoices()).find(({ total }) => total === 4_000);
    const payment = await pay(renewal?.id ?? '');
    await life.story.advance(on('05-01'));
    await life.story.command(second.id, 'cancel', { when: 'now', credit_unused: true });
    // 14 of 30 days of the seats were credited.
    expect(await refund(payment)).toMatchObject({ status: 'succeeded', amount: 2_600 });
    await life.story.verify();
    const line = renewal?.lines.find(({ type }) => type === 'usage');
    expect((await note(renewal?.id ?? '', line?.id ?? '', 1, 'credit')).body).toMatchObject({
      code: 'credit_given_back_already',
      detail: expect.stringContaining(
        '4000 were charged, 1400 were credited by later invoices, 2600 were refunded without a credit note. Nothing is left to credit.',
      ) as unknown,
    });
  });

  it('is not given again when the invoice of a change is regenerated after a refund', async () => {
    const life = await paid();
    await change(life, { quantity: '2' });
    const [, changed] = await life.story.invoices();
    expect(changed?.lines.map(({ amount }) => amount)).toEqual([3_200, -1_600]);
    await engine.http.post(`/v1/invoices/${changed?.id ?? ''}/void`).expect(200);
    expect(await refund(life.payment)).toMatchObject({ status: 'succeeded', amount: 3_100 });
    await engine.http.post(`/v1/invoices/${changed?.id ?? ''}/reissue`).expect(201);
    expect((await life.story.amounts())[2]).toEqual([3_200]);
    await life.story.verify();
  });

  it('is not given when another interval ends the period at its first instant, and its revenue is earned', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const yearly = await story.seats('9900', { interval: 'year' });
    const subscription = await story.subscribe(await story.seats('3100'), {
      collection: 'send_invoice',
    });
    const [{ id: invoice } = { id: '' }] = await story.invoices();
    const payment = await pay(invoice);
    const life = { story, subscription, invoice, payment };
    await refund(payment);
    await change(life, { plan_id: yearly });
    expect(await totals(life)).toEqual([3_100, 9_900]);
    const path = `/v1/ledger/accounts?customer_id=${story.customerId}`;
    const { body } = await engine.http.get(path);
    expect(body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ account: 'deferred_revenue', balance: '-9900' }),
        expect.objectContaining({ account: 'revenue', balance: '-3100' }),
      ]) as unknown,
    });
  });

  it.each(['refund', 'cancel'])(
    'is given once, if a refund and an end wait for the payment at one instant, the %s first',
    async (first) => {
      const life = await paid();
      const works = { refund: () => refund(life.payment), cancel: () => cancel(life) };
      const order = first === 'refund' ? ['refund', 'cancel'] : ['cancel', 'refund'];
      await holder.query('BEGIN');
      await holder.query('SELECT FROM payment WHERE id = $1 FOR UPDATE', [life.payment]);
      const running: Promise<unknown>[] = [];
      for (const [index, name] of order.entries()) {
        running.push(works[name as keyof typeof works]());
        await untilSessionsWait(engine.database, index + 1);
      }
      await holder.query('ROLLBACK');
      await Promise.all(running);
      const balance = await balanceOf(life);
      const { body } = await engine.http.get(`/v1/payments/${life.payment}`);
      expect(balance + (body as { amount_refunded: number }).amount_refunded).toBe(3_100);
      expect(balance).toBe(first === 'refund' ? 0 : 1_500);
    },
  );
});
