import { startTestApp, Story, type TestApp } from '../support/story';

describe('refunds of a payment whose invoice was credited by a later one', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });
  afterAll(() => engine.close());

  const refund = (payment: string, body: object = {}) =>
    engine.http.post(`/v1/refunds/payment/${payment}`).send(body);

  /** Pays 31.00 for March, and changes or cancels the subscription on 16 March. */
  async function paidInMarch(command: string, body: object): Promise<{ story: Story; id: string }> {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
    const { id } = await story.subscribe(await story.seats('3100'));
    const [invoice] = await story.invoices();
    const payment = await engine.http.post(`/v1/invoices/${invoice?.id ?? ''}/pay`).send({
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_ok',
    });
    expect(payment.body).toMatchObject({ status: 'succeeded', amount: 3_100 });
    await story.advance('2026-03-16T00:00:00.000Z');
    await story.command(id, command, body);
    return { story, id: (payment.body as { id: string }).id };
  }

  it('give back what a cancellation did not credit, then the credit, and no money twice', async () => {
    const { story, id } = await paidInMarch('cancel', { when: 'now', credit_unused: true });
    const balance = async () =>
      (await engine.http.get(`/v1/customers/${story.customerId}/balance`)).body as object;
    expect(await balance()).toMatchObject({ balance: 1_500 });
    expect((await refund(id)).body).toMatchObject({ status: 'succeeded', amount: 1_600 });
    expect(await balance()).toMatchObject({ balance: 1_500 });
    const refused = await refund(id, { amount: 1_501 });
    expect(refused.body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 1_500,
    });
    const rest = await refund(id, { amount: 1_500 });
    expect(rest.body).toMatchObject({ status: 'succeeded' });
    expect(await balance()).toMatchObject({ balance: 0 });
    expect((await refund(id)).status).toBe(422);
    expect((await engine.http.get('/v1/ledger/verify')).body).toMatchObject({ ok: true });
  });

  it('give back what a change did not credit', async () => {
    const { id } = await paidInMarch('change', { quantity: '2', when: 'now' });
    expect((await refund(id, { amount: 1_501 })).status).toBe(422);
    expect((await refund(id, { amount: 1_500 })).body).toMatchObject({ status: 'succeeded' });
  });
});
