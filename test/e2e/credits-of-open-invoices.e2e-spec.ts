import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';
import { postingsOf } from '../support/ledger';
import { eventsOf } from '../support/test-app';

describe('credit of a subscription with an open invoice', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const begin = (): Promise<Story> =>
    Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
  const cancel = (id: string) =>
    engine.http
      .post(`/v1/subscriptions/${id}/cancel`)
      .send({ when: 'now', credit_unused: true })
      .expect(200);
  /** Returns the balance, after checking that its transactions add up to it and never made it negative. */
  const balanceOf = async ({ customerId }: Story): Promise<number> => {
    const path = `/v1/customers/${customerId}/balance`;
    const { balance } = (await engine.http.get(path).expect(200)).body as { balance: number };
    const { body } = await engine.http.get(`${path}/transactions?limit=100`).expect(200);
    const amounts = (body as { data: { amount: number }[] }).data.map(({ amount }) => amount);
    let sum = 0;
    const balances = amounts.toReversed().map((amount) => (sum += amount));
    expect(Math.min(0, ...balances)).toBe(0);
    expect(sum).toBe(balance);
    return balance;
  };
  const payPart = (story: Story, invoiceId: string, amount: number) =>
    engine.http
      .post('/v1/payments')
      .send({
        customer_id: story.customerId,
        invoice_id: invoiceId,
        amount,
        currency: 'USD',
        payment_method_id: 'pm_sandbox_ok',
      })
      .expect(201);
  const writeOff = (invoiceId: string) =>
    engine.http.post(`/v1/invoices/${invoiceId}/mark-uncollectible`).send({}).expect(200);
  /** Subscribes to a plan of 31.00 on 1 March; the clock then shows 16 March. */
  async function subscribed(): Promise<{ story: Story; id: string; invoice: Invoice }> {
    const story = await begin();
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-16T00:00:00.000Z');
    const [invoice] = await story.invoices();
    if (invoice === undefined) throw new Error('The subscription was billed.');
    return { story, id, invoice };
  }

  it('lowers that invoice and does not change the balance', async () => {
    const { story, id, invoice } = await subscribed();
    await cancel(id);
    const [before, credited] = await story.invoices();
    expect(before).toMatchObject({
      status: 'open',
      amount_credited: 1_500,
      amount_remaining: 1_600,
    });
    expect(credited).toMatchObject({ total: -1_500, status: 'paid' });
    expect(await balanceOf(story)).toBe(0);
    expect(await postingsOf(engine, credited?.id ?? '')).toContainEqual([
      'credit_applied',
      { customer_credit: 1_500, accounts_receivable: -1_500 },
    ]);
    expect((await eventsOf(engine, invoice.id)).map(({ type }) => type)).toContain(
      'invoice.updated',
    );
    await story.verify();
    const paid = await engine.http
      .post(`/v1/invoices/${invoice.id}/pay`)
      .send({ payment_method_id: 'pm_sandbox_ok' });
    expect(paid.body).toMatchObject({ amount: 1_600, status: 'succeeded' });
    await story.verify();
  });

  it('pays the rest of the invoice first; only what is left becomes balance', async () => {
    const { story, id, invoice } = await subscribed();
    await payPart(story, invoice.id, 2_000);
    await cancel(id);
    expect((await story.invoices())[0]).toMatchObject({ status: 'paid', amount_credited: 1_100 });
    expect(await balanceOf(story)).toBe(400);
    expect((await eventsOf(engine, invoice.id)).map(({ type }) => type)).toContain('invoice.paid');
    await story.verify();
  });

  it('lowers an uncollectible invoice, of which nothing was paid', async () => {
    const { story, id, invoice } = await subscribed();
    await writeOff(invoice.id);
    await cancel(id);
    const [before, credited] = await story.invoices();
    expect(before).toMatchObject({ status: 'uncollectible', amount_credited: 1_500 });
    expect(credited).toMatchObject({ total: -1_500, status: 'paid' });
    expect(await balanceOf(story)).toBe(0);
    expect(await postingsOf(engine, credited?.id ?? '')).toEqual(
      expect.arrayContaining([
        ['recovery', { accounts_receivable: 1_500, bad_debt: -1_500 }],
        ['credit_applied', { customer_credit: 1_500, accounts_receivable: -1_500 }],
      ]),
    );
    await story.verify();
    const paid = await engine.http
      .post(`/v1/invoices/${invoice.id}/pay`)
      .send({ payment_method_id: 'pm_sandbox_ok' });
    expect(paid.body).toMatchObject({ amount: 1_600, status: 'succeeded' });
    await story.verify();
  });

  it('lowers an uncollectible invoice after the open ones', async () => {
    const { story, id, invoice } = await subscribed();
    await writeOff(invoice.id);
    await story.advance('2026-04-01T00:00:00.000Z');
    const renewal = (await story.invoices())[1];
    await payPart(story, renewal?.id ?? '', 3_000);
    await cancel(id);
    const [first, second] = await story.invoices();
    expect(first).toMatchObject({ status: 'uncollectible', amount_credited: 2_897 });
    expect(second).toMatchObject({ status: 'paid', amount_credited: 100 });
    expect(await balanceOf(story)).toBe(0);
    expect((await eventsOf(engine, invoice.id)).at(-1)?.type).toBe('invoice.updated');
    await story.verify();
  });

  it('pays an uncollectible invoice of which nothing is left', async () => {
    const { story, id, invoice } = await subscribed();
    await payPart(story, invoice.id, 2_000);
    await writeOff(invoice.id);
    await cancel(id);
    expect((await story.invoices())[0]).toMatchObject({ status: 'paid', amount_credited: 1_100 });
    expect(await balanceOf(story)).toBe(400);
    await story.verify();
  });

  it('becomes balance if the invoice is paid', async () => {
    const { story, id, invoice } = await subscribed();
    await payPart(story, invoice.id, 3_100);
    await cancel(id);
    expect(await balanceOf(story)).toBe(1_500);
    await story.verify();
  });

  it('does not lower invoices of another subscription', async () => {
    const { story, id, invoice } = await subscribed();
    await payPart(story, invoice.id, 3_100);
    await story.subscribe(await story.plan(1_000));
    await cancel(id);
    expect((await story.invoices())[1]).toMatchObject({ status: 'open', amount_remaining: 1_000 });
    expect(await balanceOf(story)).toBe(1_500);
    await story.verify();
  });

  it('keeps as balance what a payment in flight pays beyond the lowered amount', async () => {
    const { story, id, invoice } = await subscribed();
    const { body } = await engine.http
      .post(`/v1/invoices/${invoice.id}/pay`)
      .send({ payment_method_id: 'pm_sandbox_pending' });
    await cancel(id);
    await engine.http
      .post(`/v1/sandbox/payments/${(body as { id: string }).id}/settle`)
      .send({ outcome: 'succeeded' })
      .expect(200);
    expect((await story.invoices())[0]).toMatchObject({ status: 'paid', amount_paid: 1_600 });
    expect(await balanceOf(story)).toBe(1_500);
    await story.verify();
  });

  it('prevents the void of a lowered invoice', async () => {
    const { id, invoice } = await subscribed();
    await cancel(id);
    const { body } = await engine.http.post(`/v1/invoices/${invoice.id}/void`).send({});
    expect(body).toMatchObject({ status: 409, code: 'invoice_credited' });
  });
});
