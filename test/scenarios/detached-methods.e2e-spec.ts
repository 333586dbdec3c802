import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { DueDetachments } from '../../src/modules/payments/methods/due-detachments';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { createCustomer } from '../support/billing';
import { AbandonedWork } from '../../src/platform/processes';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('a deleted payment method at Stripe', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(() => story.close());

  const remove = (customer: string, method: string) =>
    story.engine.http.delete(`/v1/customers/${customer}/payment-methods/${method}`);

  async function deletedMethod(token = 'pm_card_visa') {
    const { customer, method } = await story.customerWith(token);
    await remove(customer, method.id).expect(204);
    return { customer, method };
  }

  const ownerOf = (token: string) => story.stripe.account.paymentMethods.get(token)?.customer;

  const run = () => story.run(DueDetachments);

  async function dueAt(method: string): Promise<Date | null> {
    const [row] = await story.engine.database.query<{ due_at: Date | null }>(
      'SELECT due_at FROM payment_method WHERE id = $1',
      [method],
    );
    return row?.due_at ?? null;
  }

  it('is detached, once', async () => {
    const { customer, method } = await deletedMethod();
    expect(ownerOf(method.token)).not.toBeNull();
    await Promise.all([run(), run()]);
    expect(ownerOf(method.token)).toBeNull();
    expect(await dueAt(method.id)).toBeNull();
    await remove(customer, method.id).expect(404);
    await run();
    const detached = [...story.stripe.account.events.values()].filter(
      ({ type, data }) =>
        type === 'payment_method.detached' && (data.object as { id: string }).id === method.token,
    );
    expect(detached).toHaveLength(1);
  });

  it.each([
    'error_500_before',
    'error_500_after',
    'reset_before',
    'rate_limited',
    'not_found',
  ] as const)('is detached later if Stripe answers with a fault: %s', async (fault) => {
    const { method } = await deletedMethod();
    story.stripe.faults.plan(fault, { operation: 'paymentMethods.detach', times: 2 });
    await run();
    expect(await dueAt(method.id)).toEqual(new Date(story.engine.clock.now().getTime() + 5_000));
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(5_000);
    await run();
    expect(ownerOf(method.token)).toBeNull();
    expect(await dueAt(method.id)).toBeNull();
  });

  it('is left alone if Stripe does not know it, or somebody detached it there', async () => {
    const { method } = await deletedMethod();
    await story.stripe.client().paymentMethods.detach(method.token);
    const { method: unknown } = await deletedMethod();
    story.stripe.account.paymentMethods.delete(unknown.token);
    await run();
    expect([await dueAt(method.id), await dueAt(unknown.id)]).toEqual([null, null]);
  });

  it('is detached by the next process if its process dies in between', async () => {
    const { method } = await deletedMethod();
    await story.engine.database.query(
      `UPDATE payment_method SET due_at = due_at + interval '150 seconds', leased_by = 2147483647
       WHERE id = $1`,
      [method.id],
    );
    await run();
    expect(ownerOf(method.token)).not.toBeNull();
    await story.engine.app.get(AbandonedWork).runDue();
    await run();
    expect(ownerOf(method.token)).toBeNull();
  });

  it('stays with the customer while another payment method of ours has the same token', async () => {
    const { customer, method } = await story.customerWith('pm_card_visa');
    const path = `/v1/customers/${customer}/payment-methods`;
    const second = await story.post(path, { provider: 'stripe', token: method.token });
    await remove(customer, method.id).expect(204);
    await run();
    expect(ownerOf(method.token)).not.toBeNull();
    expect(await dueAt(method.id)).toBeNull();
    await remove(customer, second.id).expect(204);
    await run();
    expect(ownerOf(method.token)).toBeNull();
  });

  it('cannot be added again, because Stripe gives it up', async () => {
    const { customer, method } = await deletedMethod();
    const again = await story.engine.http
      .post(`/v1/customers/${customer}/payment-methods`)
      .send({ provider: 'stripe', token: method.token });
    expect([again.status, again.body]).toEqual([
      422,
      expect.objectContaining({ code: 'payment_method_not_accepted' }),
    ]);
    await run();
    expect(ownerOf(method.token)).toBeNull();
  });

  it('that was detached at Stripe alone fails the payment, and is not charged again', async () => {
    const { customer, method } = await story.customerWith('pm_card_visa');
    await story.stripe.client().paymentMethods.detach(method.token);
    expect(await story.pay(customer)).toMatchObject({
      status: 'failed',
      failure_code: 'method_unusable',
    });
    const path = `/v1/customers/${customer}/payment-methods`;
    const { data } = (await story.get(path)) as unknown as { data: readonly object[] };
    expect(data).toEqual([expect.objectContaining({ unusable_since: expect.any(String) })]);
  });

  it('waits for a payment that charges it', async () => {
    const { customer, method } = await story.customerWith('pm_card_threeDSecure2Required');
    const payment = await story.pay(customer);
    expect(payment.status).toBe('requires_action');
    await remove(customer, method.id).expect(204);
    await run();
    expect(ownerOf(method.token)).not.toBeNull();
    story.stripe.authenticate(story.intentOf(payment.id));
    await story.notified();
    expect(await story.get(`/v1/payments/${payment.id}`)).toMatchObject({ status: 'succeeded' });
    story.engine.clock.advanceMs(DAY_MS);
    await run();
    expect(ownerOf(method.token)).toBeNull();
    await story.engine.app.get(MissedProviderEvents).runDue();
    await story.run(DuePayments);
    const refund = await story.post(`/v1/refunds/payment/${payment.id}`, { amount: 100 });
    expect(refund.status).toBe('succeeded');
  });

  it('of a provider that keeps no methods needs nothing', async () => {
    const customer = await createCustomer(story.engine);
    await story.engine.database.query(
      `INSERT INTO payment_method (id, version, customer_id, provider, token, is_default, created_at, updated_at)
       VALUES ('pm_01h455vb4pex5vsknk084sn02q', 1, $1, 'sandbox', 'pm_sandbox_ok', true, now(), now())`,
      [customer],
    );
    await remove(customer, 'pm_01h455vb4pex5vsknk084sn02q').expect(204);
    expect(await dueAt('pm_01h455vb4pex5vsknk084sn02q')).toBeNull();
  });
});
