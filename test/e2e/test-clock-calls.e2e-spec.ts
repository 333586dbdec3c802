import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { overlap } from '../support/frozen-work';
import { post, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-01-31T00:00:00.000Z';

describe('a test clock that is deleted during calls to a provider', () => {
  let engine: TestApp;
  let story: Story;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    story = await Story.begin(engine, START);
  });

  afterEach(() => jest.restoreAllMocks());

  const remove = () => engine.http.delete(`/v1/test-clocks/${story.clockId}`);

  /** Calls `act` during each call to the provider. */
  function duringCalls(method: 'charge' | 'refund', act: () => PromiseLike<unknown>): void {
    const provider = engine.app.get(SandboxProvider);
    const original = provider[method].bind(provider) as (request: unknown) => Promise<never>;
    jest.spyOn(provider, method).mockImplementation(async (request: unknown) => {
      const outcome = await original(request);
      await act();
      return outcome;
    });
  }

  const pay = (fields: object = {}) =>
    engine.http
      .post('/v1/payments')
      .send({ customer_id: story.customerId, amount: 100, currency: 'USD', ...fields });

  const idOf = ({ body }: { readonly body: unknown }) => (body as { readonly id: string }).id;

  it('keeps its leases while it charges many invoices, and refuses the deletion', async () => {
    const plan_id = await story.plan(1_000);
    for (let customers = 0; customers < 5; customers += 1) {
      const { id: customer_id } = await post(engine, '/v1/customers', {
        name: 'Grace Hopper',
        test_clock_id: story.clockId,
      });
      await post(engine, `/v1/customers/${customer_id}/payment-methods`, {
        provider: 'sandbox',
        token: 'pm_sandbox_ok',
        is_default: true,
      });
      await post(engine, '/v1/subscriptions', { customer_id, plan_id });
    }
    const answers: unknown[] = [];
    duringCalls('charge', async () => {
      engine.clock.advanceMs(30_000);
      const claimable = 'SELECT count(*)::int FROM payment WHERE due_at <= $1';
      const others = await engine.database.queryValue(claimable, [engine.clock.now()]);
      answers.push([(await remove()).status, others]);
    });
    await story.advance('2026-01-31T02:00:00.000Z');
    expect(answers).toEqual(Array(5).fill([409, 0]));
    const { body } = await engine.http.get(`/v1/payments?status=succeeded&limit=100`);
    expect((body as { data: unknown[] }).data).toHaveLength(5);
    await story.verify();
  });

  it('answers a prepayment with 404 payment_not_found', async () => {
    duringCalls('charge', remove);
    expect((await pay()).body).toMatchObject({ status: 404, code: 'payment_not_found' });
  });

  it('answers the payment of an invoice with 404 payment_not_found', async () => {
    await story.subscribe(await story.plan(1_000), { collection: 'send_invoice' });
    const [invoice] = await story.invoices();
    duringCalls('charge', remove);
    const { body } = await engine.http
      .post(`/v1/invoices/${invoice?.id ?? ''}/pay`)
      .send({ payment_method_id: 'pm_sandbox_ok' });
    expect(body).toMatchObject({ status: 404, code: 'payment_not_found' });
  });

  it('answers a payment that waits for the purge with 404 payment_not_found', async () => {
    await story.subscribe(await story.plan(1_000), { collection: 'send_invoice' });
    const [invoice] = await story.invoices();
    let answer: unknown;
    let goOn = (): void => undefined;
    let payment: PromiseLike<unknown> = Promise.resolve();
    await new Promise<void>((charging) => {
      duringCalls('charge', () => {
        charging();
        return new Promise<void>((resolve) => {
          goOn = resolve;
        });
      });
      payment = engine.http
        .post(`/v1/invoices/${invoice?.id ?? ''}/pay`)
        .send({ payment_method_id: 'pm_sandbox_ok' })
        .then(({ body }) => {
          answer = body;
        });
    });
    await overlap(engine, 'DELETE ON payment', [
      async () => remove(),
      async () => {
        goOn();
        await payment;
      },
    ]);
    expect(answer).toMatchObject({ status: 404, code: 'payment_not_found' });
  });

  it('answers a payment with 404 test_clock_not_found if it is not purged yet', async () => {
    const hide = 'UPDATE test_clock SET deleted_at = created_at WHERE id = $1';
    duringCalls('charge', () => engine.database.query(hide, [story.clockId]));
    expect((await pay()).body).toMatchObject({ status: 404, code: 'test_clock_not_found' });
  });

  it('answers a refund with 404 payment_not_found', async () => {
    const payment = idOf(await pay());
    duringCalls('refund', remove);
    const { body } = await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount: 50 });
    expect(body).toMatchObject({ status: 404, code: 'payment_not_found' });
  });
});
