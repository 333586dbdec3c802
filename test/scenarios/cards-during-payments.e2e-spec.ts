import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';

/** A new default method charges all open invoices. One that is being paid is charged after that payment failed. */
describe('a new default method while an invoice is being paid', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const post = async (path: string, body: object, status = 201): Promise<{ id: string }> => {
    const answer = await engine.http.post(path).send(body);
    expect({ path, status: answer.status }).toEqual({ path, status });
    return answer.body as { id: string };
  };

  const addCard = (story: Story, token: string) =>
    post(`/v1/customers/${story.customerId}/payment-methods`, {
      provider: 'sandbox',
      token,
      is_default: true,
    });

  const fail = (paymentId: string) =>
    post(`/v1/sandbox/payments/${paymentId}/settle`, { outcome: 'failed' }, 200);

  const invoiceOf = async (story: Story) => {
    const [invoice] = await story.invoices();
    if (invoice === undefined) throw new Error('There is no invoice.');
    return invoice;
  };

  it('is charged after that payment failed, also if no attempts are left', async () => {
    const story = await Story.begin(engine, START);
    await addCard(story, 'pm_sandbox_declined');
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-20T00:00:00.000Z');
    expect((await story.subscription(id)).status).toBe('unpaid');
    const invoice = await invoiceOf(story);
    const path = `/v1/invoices/${invoice.id}/pay`;
    const payment = await post(path, { payment_method_id: 'pm_sandbox_pending' });
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-03-21T00:00:00.000Z');
    expect((await story.subscription(id)).status).toBe('past_due');
    expect(await invoiceOf(story)).toMatchObject({ status: 'open', attempt_count: 5 });
    await fail(payment.id);
    await story.advance('2026-03-21T00:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ status: 'paid', attempt_count: 6 });
    expect((await story.subscription(id)).status).toBe('active');
    await story.verify();
  });

  it('is charged at once after an attempt in flight, and not days later', async () => {
    const story = await Story.begin(engine, START);
    await addCard(story, 'pm_sandbox_pending');
    await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-01T01:00:00.000Z');
    const invoice = await invoiceOf(story);
    const { body } = await engine.http.get('/v1/payments').query({ invoice_id: invoice.id });
    const [attempt] = (body as { data: { id: string; status: string }[] }).data;
    expect(attempt?.status).toBe('processing');
    await addCard(story, 'pm_sandbox_ok');
    await fail(attempt?.id ?? '');
    await story.advance('2026-03-01T01:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ status: 'paid', attempt_count: 2 });
    await story.verify();
  });

  it('is charged at once for what no payment in flight reserves', async () => {
    const story = await Story.begin(engine, START);
    await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-01T01:00:00.000Z');
    const { id: invoice_id } = await invoiceOf(story);
    await post('/v1/payments', {
      customer_id: story.customerId,
      invoice_id,
      amount: 400,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_pending',
    });
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-03-01T02:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({
      status: 'open',
      amount_paid: 600,
      amount_pending: 400,
    });
    await story.verify();
  });
});
