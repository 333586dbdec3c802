import type { INestApplicationContext } from '@nestjs/common';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/databases';
import { verifyLedger } from '../support/ledger';
import { EngineWithStripe } from '../support/stripe/engine-with-stripe';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { startTestApp, type TestApp } from '../support/test-app';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** The backup contains a pending payment, which Stripe has executed since with another idempotency key. */
describe('a restored backup with a pending payment, with a clock ahead of that of Stripe', () => {
  let stripe: StripeDouble;
  let databases: TestDatabase[];
  let engine: TestApp;
  let shop: EngineWithStripe;
  /** Time by which the clock of the service is ahead of Stripe's. */
  let aheadMs: number;

  async function start(databaseUrl: string, now: Date): Promise<void> {
    engine = await startTestApp({
      databaseUrl,
      environment: {
        PAYMENT_PROVIDERS: 'stripe,manual',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
      },
    });
    engine.clock.set(now.toISOString());
    shop = new EngineWithStripe(engine, stripe);
  }

  async function restartOn(databaseUrl: string): Promise<void> {
    const now = engine.clock.now();
    await engine.close();
    await start(databaseUrl, now);
  }

  async function copied(databaseUrl: string): Promise<string> {
    const now = engine.clock.now();
    await engine.close();
    const copy = await copyTestDatabase(databaseUrl);
    databases.push(copy);
    await start(databaseUrl, now);
    return copy.url;
  }

  beforeEach(async () => {
    aheadMs = 0;
    stripe = await startStripeDouble({
      now: () => new Date(engine.clock.now().getTime() - aheadMs),
    });
    databases = [await createTestDatabase()];
    await start(databases[0]?.url ?? '', new Date('2026-03-01T09:30:00.000Z'));
  });

  afterEach(async () => {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    await engine.close();
    await stripe.close();
    for (const database of databases) await database.drop();
    expect(stripe.server.defects).toEqual([]);
  });

  async function pollUntilSucceeded(payment: string): Promise<void> {
    for (let minute = 0; minute < 180; minute += 1) {
      if ((await shop.get(`/v1/payments/${payment}`)).status === 'succeeded') return;
      engine.clock.advanceMs(MINUTE_MS);
      await shop.run(DuePayments);
    }
    throw new Error(`${payment} has not succeeded.`);
  }

  const listEvents = () =>
    (engine.app as INestApplicationContext).get(MissedProviderEvents).runDue();

  /** Begins a payment that Stripe refuses to make before its third poll. */
  async function begin(): Promise<string> {
    const { customer } = await shop.customerWith('pm_card_visa');
    stripe.faults.plan('rate_limited', { operation: 'paymentIntents.create', times: 3 });
    const { id, status } = await shop.pay(customer);
    expect(status).toBe('pending');
    return id;
  }

  const succeeded = () =>
    [...stripe.account.paymentIntents.values()].filter(({ status }) => status === 'succeeded');

  it('does not charge it again if the clock is always ten minutes ahead', async () => {
    aheadMs = 10 * MINUTE_MS;
    const payment = await begin();
    const [original = ''] = databases.map(({ url }) => url);
    const backup = await copied(original);
    await pollUntilSucceeded(payment);
    await restartOn(backup);
    await pollUntilSucceeded(payment);
    expect(succeeded()).toHaveLength(1);
  });

  describe.each([
    ['two hours', 120 * MINUTE_MS],
    ['a month', 30 * DAY_MS],
  ])('does not charge it again if the clock was %s ahead when it began', (_, startedAheadMs) => {
    let payment: string;

    beforeEach(async () => {
      await listEvents();
      const right = engine.clock.now().toISOString();
      engine.clock.advanceMs(startedAheadMs);
      aheadMs = startedAheadMs;
      payment = await begin();
      engine.clock.set(right);
      aheadMs = 0;
      // Due at once, as after the end of the process that began the payment.
      await engine.database.query('UPDATE payment SET due_at = $1', [right]);
      const [original = ''] = databases.map(({ url }) => url);
      const backup = await copied(original);
      await pollUntilSucceeded(payment);
      await restartOn(backup);
    });

    it('and finds the charge by a poll', async () => {
      await pollUntilSucceeded(payment);
      expect(succeeded()).toHaveLength(1);
    });

    it('and finds the charge by its event', async () => {
      engine.clock.advanceMs(MINUTE_MS);
      await listEvents();
      await shop.run(DueProviderEvents);
      expect(await shop.get(`/v1/payments/${payment}`)).toMatchObject({ status: 'succeeded' });
      expect(succeeded()).toHaveLength(1);
    });
  });
});
