import { CollectInvoicesWorkflow } from '../../src/modules/billing/payments/collect-invoices.workflow';
import { post, startTestApp, Story, type TestApp } from '../support/story';
import { loseNumber } from '../support/process-sessions';

const START = '2026-01-31T00:00:00.000Z';
const LATER = '2026-02-20T00:00:00.000Z';

describe('a test clock that advances while a payment has no answer', () => {
  let engine: TestApp;
  let story: Story;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    story = await Story.begin(engine, START);
  });

  const read = async (path: string) =>
    (await engine.http.get(path)).body as Readonly<Record<string, unknown>>;
  const next = () => read(`/v1/test-clocks/${story.clockId}/next`);

  /** Subscribes the customer, who has this payment method. The subscription waits for its first payment. */
  async function subscribe(token: string): Promise<string> {
    const path = `/v1/customers/${story.customerId}/payment-methods`;
    await post(engine, path, { provider: 'sandbox', token });
    const fields = { payment_behavior: 'default_incomplete' };
    return (await story.subscribe(await story.plan(1_000), fields)).id;
  }

  async function lastPayment(): Promise<Readonly<Record<string, unknown>>> {
    const { data } = await read(`/v1/payments?customer_id=${story.customerId}&limit=1`);
    return (data as Readonly<Record<string, unknown>>[])[0] ?? {};
  }

  async function expectActivatedAtStart(id: string): Promise<void> {
    expect(await lastPayment()).toMatchObject({ status: 'succeeded', updated_at: START });
    expect(await read(`/v1/subscriptions/${id}`)).toMatchObject({
      status: 'active',
      updated_at: START,
    });
    await story.verify();
  }

  it('completes the payments of a process that died', async () => {
    const id = await subscribe('pm_sandbox_ok');
    const collections = engine.app.get(CollectInvoicesWorkflow);
    const { payments } = await collections.begin(story.clockId, new Date(START), 20);
    expect(payments).toHaveLength(1);
    await loseNumber(engine);
    await story.advance(LATER);
    await expectActivatedAtStart(id);
  });

  it('asks again about a charge that got no answer', async () => {
    const id = await subscribe('pm_sandbox_unknown');
    await story.advance(LATER);
    await expectActivatedAtStart(id);
  });

  it('asks again about a refund that got no answer', async () => {
    const { id } = await post(engine, '/v1/payments', {
      customer_id: story.customerId,
      amount: 1_000,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_unknown',
    });
    await story.advance(START);
    expect(await read(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
    const refund = await post(engine, `/v1/refunds/payment/${id}`, {});
    expect(await next()).toEqual({ due_at: START, work: ['refund_resumed'] });
    await story.advance(LATER);
    expect(await read(`/v1/refunds/${refund.id}`)).toMatchObject({
      status: 'succeeded',
      updated_at: START,
    });
    await story.verify();
  });

  it('does not wait for a provider that answered that the charge is pending', async () => {
    const id = await subscribe('pm_sandbox_pending');
    await story.advance(LATER);
    expect(await lastPayment()).toMatchObject({ status: 'processing' });
    expect(await story.subscription(id)).toMatchObject({ status: 'incomplete' });
    expect(await next()).toEqual({ due_at: null, work: [] });
  });

  it('does not wait for a provider that stays without an answer', async () => {
    await subscribe('pm_sandbox_ok');
    const collections = engine.app.get(CollectInvoicesWorkflow);
    await collections.begin(story.clockId, new Date(START), 20);
    await loseNumber(engine);
    const environment = { PAYMENT_PROVIDERS: 'manual' };
    const other = await startTestApp({ databaseUrl: engine.databaseUrl, environment });
    await post(other, `/v1/test-clocks/${story.clockId}/advance`, { to: LATER });
    await other.close();
    expect(await lastPayment()).toMatchObject({ status: 'processing' });
    expect(await next()).toEqual({ due_at: null, work: [] });
  });
});
