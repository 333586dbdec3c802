import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { createCustomer } from '../support/billing';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { type OperationName } from '../support/stripe/parameters';

const ANSWERS = [
  { status: 502, text: '"Bad Gateway"' },
  { status: 200, text: '"ok"' },
  { status: 200, text: '1' },
  { status: 503, text: 'true' },
  { status: 200, text: 'null' },
  { status: 200, text: '[]' },
  { status: 200, text: '{}' },
  { status: 200, text: '{"id":"pi_1"}' },
  { status: 400, text: '{"error":true}' },
  { status: 400, text: '{"error":"busy"}' },
  { status: 200, text: '' },
  { status: 502, text: '<html>Bad Gateway</html>' },
  { status: 200, text: '{"object":"list","data":[{}]}' },
  { status: 200, text: '{"object":"payment_intent"}' },
  { status: 200, text: '{"object":"file","id":"file_1"}' },
  { status: 200, text: '{"object":"customer","id":5}' },
  { status: 400, text: '{"error":{}}' },
  { status: 402, text: '{"error":{}}' },
  { status: 200, text: '{"error":{"type":"card_error"}}' },
];

const HOUR_MS = 3_600_000;

describe('an answer that is neither the requested object nor an error', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(() => story.close());

  async function run(
    work: typeof DuePayments | typeof DueRefunds | typeof DueProviderEvents,
  ): Promise<void> {
    story.engine.clock.advanceMs(HOUR_MS);
    await story.run(work);
  }

  it.each(ANSWERS)(
    'to the list of events is followed by another request: $text',
    async (garbled) => {
      const { customer } = await story.customerWith('pm_card_visa');
      const { id } = await story.pay(customer);
      story.stripe.webhooks.fate = () => 'lose';
      await story.stripe
        .client()
        .refunds.create({ payment_intent: story.intentOf(id), amount: 100 });
      story.stripe.faults.plan(garbled, { operation: 'events.list' });
      for (let listing = 0; listing < 2; listing += 1) {
        story.engine.clock.advanceMs(2 * 60_000);
        await story.engine.app.get(MissedProviderEvents).runDue();
        await story.run(DueProviderEvents);
      }
      expect(await story.get(`/v1/payments/${id}`)).toMatchObject({ amount_refunded: 100 });
    },
  );

  it.each(ANSWERS)('leaves a payment processing, which is charged once: $text', async (garbled) => {
    const { customer } = await story.customerWith('pm_card_visa');
    story.stripe.faults.plan(garbled, { operation: 'paymentIntents.confirm' });
    const payment = await story.pay(customer);
    expect(payment.status).toBe('processing');
    await run(DuePayments);
    expect(await story.get(`/v1/payments/${payment.id}`)).toMatchObject({ status: 'succeeded' });
  });

  it.each(ANSWERS)('leaves a refund pending, which is made once: $text', async (garbled) => {
    const { customer } = await story.customerWith('pm_card_visa');
    const payment = await story.pay(customer);
    story.stripe.faults.plan(garbled, { operation: 'refunds.create' });
    const refund = await story.post(`/v1/refunds/payment/${payment.id}`, { amount: 100 });
    expect(refund.status).toBe('pending');
    await run(DueRefunds);
    expect(await story.get(`/v1/refunds/${refund.id}`)).toMatchObject({ status: 'succeeded' });
  });

  describe.each<[OperationName, string, object]>([
    ['customers.create', 'payment-methods', { provider: 'stripe', token: 'pm_card_visa' }],
    ['paymentMethods.attach', 'payment-methods', { provider: 'stripe', token: 'pm_card_visa' }],
    ['setupIntents.create', 'payment-method-setups', { provider: 'stripe' }],
  ])('to %s', (operation, path, body) => {
    it.each(ANSWERS)('is 503, and a repeated request succeeds: $text', async (garbled) => {
      const customer = await createCustomer(story.engine);
      story.stripe.faults.plan(garbled, { operation });
      const send = () => story.engine.http.post(`/v1/customers/${customer}/${path}`).send(body);
      const refused = await send();
      expect(refused.status).toBe(503);
      expect(refused.body).toMatchObject({ code: 'payment_provider_unavailable' });
      await send().expect(201);
    });
  });
});
