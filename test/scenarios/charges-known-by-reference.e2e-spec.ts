import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { verifyLedger } from '../support/ledger';
import { EngineWithStripe } from '../support/stripe/engine-with-stripe';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { startTestApp, type TestApp } from '../support/test-app';

const HOUR_MS = 3_600_000;
const SECRET = 'whsec_known_by_reference';

/** The metadata of these charges do not show, or no longer show, that this service made the charges. */
describe('a charge at Stripe whose id is stored', () => {
  let stripe: StripeDouble;
  let database: TestDatabase;
  let engine: TestApp;
  let story: EngineWithStripe;

  async function start(environmentName: string): Promise<void> {
    engine = await startTestApp({
      databaseUrl: database.url,
      environment: {
        ENVIRONMENT_NAME: environmentName,
        PAYMENT_PROVIDERS: 'stripe,manual',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
        STRIPE_WEBHOOK_SECRETS: SECRET,
      },
    });
    stripe.webhooks.register(`${await engine.app.getUrl()}/v1/providers/stripe/webhooks`, SECRET);
    story = new EngineWithStripe(engine, stripe);
  }

  async function restartAs(environmentName: string): Promise<void> {
    const now = engine.clock.now();
    await engine.close();
    await start(environmentName);
    engine.clock.set(now.toISOString());
  }

  beforeEach(async () => {
    stripe = await startStripeDouble({ now: () => engine.clock.now() });
    database = await createTestDatabase();
    await start('live');
  });

  afterEach(async () => {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    await engine.close();
    await stripe.close();
    await database.drop();
    expect(stripe.server.defects).toEqual([]);
  });

  it.each([
    ['ENVIRONMENT_NAME was changed', () => restartAs('prod')],
    [
      'somebody removed its metadata',
      () => {
        for (const intent of stripe.account.paymentIntents.values()) intent.metadata = {};
        return Promise.resolve();
      },
    ],
  ])('is disputed and refunded here too after %s', async (_, change) => {
    const { payment: disputed } = await story.paid();
    const { payment: refunded } = await story.paid();
    const charges = [story.intentOf(disputed), story.intentOf(refunded)] as const;
    await story.notified();
    await change();
    stripe.openDispute(charges[0], 'fraudulent', 1_000);
    await stripe.client().refunds.create({ payment_intent: charges[1], amount: 300 });
    await story.notified();
    expect(await story.get(`/v1/payments/${disputed}`)).toMatchObject({ is_disputed: true });
    expect(await story.get(`/v1/payments/${refunded}`)).toMatchObject({ amount_refunded: 300 });
  });

  it('is refunded here too if ENVIRONMENT_NAME was changed before its id was stored', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const times = 2;
    stripe.faults.plan('reset_after', { operation: 'paymentIntents.create', times });
    const { id } = await story.pay(customer);
    await restartAs('prod');
    const intent = story.intentOf(id);
    await stripe.client().paymentIntents.confirm(intent);
    await stripe.client().refunds.create({ payment_intent: intent, amount: 300 });
    await story.notified();
    engine.clock.advanceMs(30 * HOUR_MS);
    await story.run(DuePayments);
    engine.clock.advanceMs(HOUR_MS);
    await story.run(DuePayments);
    await story.notified();
    expect(await story.get(`/v1/payments/${id}`)).toMatchObject({
      status: 'succeeded',
      amount_refunded: 300,
    });
  });

  it('is refunded once if ENVIRONMENT_NAME was changed before the refund had an answer', async () => {
    const { payment } = await story.paid();
    stripe.faults.plan('reset_after', { operation: 'refunds.create', times: 2 });
    const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount: 300 });
    await restartAs('prod');
    await story.notified();
    engine.clock.advanceMs(30 * HOUR_MS);
    await story.run(DueRefunds);
    engine.clock.advanceMs(2 * HOUR_MS);
    await story.run(DueRefunds);
    await story.notified();
    const refunds = await story.get(`/v1/refunds?payment_id=${payment}`);
    expect(refunds).toMatchObject({ data: [{ id, amount: 300, status: 'succeeded' }] });
    expect([...stripe.account.refunds.values()]).toHaveLength(1);
  });

  it('has no differences while a refund waits that was sent before ENVIRONMENT_NAME was changed', async () => {
    const { payment } = await story.paid();
    await story.notified();
    stripe.webhooks.fate = () => 'lose';
    stripe.faults.plan('reset_after', { operation: 'refunds.create', times: 2 });
    await story.post(`/v1/refunds/payment/${payment}`, { amount: 300 });
    await restartAs('prod');
    engine.clock.advanceMs(HOUR_MS);
    const { id } = await story.post('/v1/reconciliations', { provider: 'stripe' });
    while ((await story.get(`/v1/reconciliations/${id}`)).status === 'running')
      await story.run(DueReconciliations);
    expect(await story.get(`/v1/reconciliations/${id}`)).toMatchObject({
      status: 'completed',
      refunds_listed: 1,
      differences_found: 0,
    });
  });

  it('is found, not made again, if ENVIRONMENT_NAME was changed before its id was stored', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    stripe.faults.plan('reset_after', { operation: 'paymentIntents.create', times: 2 });
    const { id } = await story.pay(customer);
    await restartAs('prod');
    engine.clock.advanceMs(30 * HOUR_MS);
    await story.run(DuePayments);
    engine.clock.advanceMs(HOUR_MS);
    await story.run(DuePayments);
    expect(await story.get(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
    const intents = [...stripe.account.paymentIntents.values()];
    expect(intents.filter(({ metadata }) => metadata['payment_id'] === id)).toHaveLength(1);
  });
});
