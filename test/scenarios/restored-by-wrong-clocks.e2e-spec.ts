import type { INestApplicationContext } from '@nestjs/common';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { AutomaticChargesService } from '../../src/modules/payments/collection/automatic-charges.service';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/databases';
import { captureLog, type CapturedLog } from '../support/leaks';
import { verifyLedger } from '../support/ledger';
import { EngineWithStripe } from '../support/stripe/engine-with-stripe';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { startTestApp, type TestApp } from '../support/test-app';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

describe('with a clock that differs from that of Stripe,', () => {
  let log: CapturedLog;
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
        LOG_LEVEL: 'warn',
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

  /** Returns the URL of a copy of the database, and starts the service again. */
  async function backedUp(): Promise<string> {
    const now = engine.clock.now();
    await engine.close();
    const url = databases[0]?.url ?? '';
    const copy = await copyTestDatabase(url);
    databases.push(copy);
    await start(url, now);
    return copy.url;
  }

  beforeEach(async () => {
    log = captureLog();
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
    log.stop();
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

  /** Runs a function while the clock of the service is ahead by a time. */
  async function whileAhead<Result>(ms: number, run: () => Promise<Result>): Promise<Result> {
    const right = engine.clock.now().toISOString();
    engine.clock.advanceMs(ms);
    aheadMs = ms;
    const result = await run();
    engine.clock.set(right);
    aheadMs = 0;
    return result;
  }

  const collect = async () => {
    const collections = (engine.app as INestApplicationContext).get(DueCollections);
    await collections.runDue();
    await collections.idle();
  };

  /** Lists events and collects, as background work does within some minutes of a start. */
  async function runForMinutes(minutes = 15): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) {
      engine.clock.advanceMs(MINUTE_MS);
      await listEvents();
      await shop.run(DueProviderEvents);
      await collect();
    }
  }

  describe('a refund at Stripe is recorded', () => {
    let payment: string;

    beforeEach(async () => {
      const { customer } = await shop.customerWith('pm_card_visa');
      ({ id: payment } = await shop.pay(customer));
      await listEvents();
    });

    const refund = () =>
      stripe.client().refunds.create({ payment_intent: shop.intentOf(payment), amount: 300 });

    async function expectRefunded(): Promise<void> {
      await runForMinutes();
      expect(await shop.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 300 });
    }

    it('once the clock is right, without a restart', async () => {
      await whileAhead(120 * MINUTE_MS, listEvents);
      await refund();
      await expectRefunded();
    });

    it('if it was made before the first list of all, with a clock two hours ahead', async () => {
      await refund();
      engine.clock.advanceMs(10 * MINUTE_MS);
      await engine.database.query('DELETE FROM provider_cursor');
      await whileAhead(120 * MINUTE_MS, listEvents);
      await expectRefunded();
    });

    it('if the answer to a list with a clock two hours ahead had no date', async () => {
      stripe.server.sendsDate = false;
      await whileAhead(120 * MINUTE_MS, listEvents);
      stripe.server.sendsDate = true;
      await refund();
      engine.clock.advanceMs(10 * MINUTE_MS);
      await expectRefunded();
    });

    it('if it was made after the first page of a list that ended an hour later', async () => {
      engine.clock.advanceMs(10 * MINUTE_MS);
      aheadMs = 10 * MINUTE_MS;
      for (let number = 0; number < 150; number += 1)
        stripe.account.record('payment_intent.canceled', { id: `pi_${number}`, metadata: {} });
      engine.clock.advanceMs(MINUTE_MS);
      stripe.faults.plan('error_500_before', { operation: 'events.list', skip: 1 });
      await listEvents();
      await refund();
      engine.clock.advanceMs(60 * MINUTE_MS);
      await expectRefunded();
    });
  });

  async function expectPaidOnce(invoice: string, minutes = 15): Promise<void> {
    await runForMinutes(minutes);
    expect(succeeded()).toHaveLength(1);
    expect(await shop.get(`/v1/invoices/${invoice}`)).toMatchObject({ status: 'paid' });
  }

  async function finalize(): Promise<string> {
    const { customer } = await shop.customerWith('pm_card_visa');
    const lines = [{ description: 'Work', amount: 1_000 }];
    const body = { customer_id: customer, currency: 'USD', collection: 'automatic', lines };
    const { id } = await shop.post('/v1/invoices', body);
    await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    return id;
  }

  it('charges and renewals go on within minutes once a clock that was ahead is right, without a restart', async () => {
    const charges = (engine.app as INestApplicationContext).get(AutomaticChargesService);
    await whileAhead(120 * MINUTE_MS, async () => {
      await charges.waitMs('stripe', true);
      await runForMinutes(2);
    });
    await expectPaidOnce(await finalize(), 2);
    expect(await charges.waitMs('stripe', true)).toBe(0);
    expect(await charges.mustRenewalsWait()).toBe(false);
  });

  const waitMs = () =>
    (engine.app as INestApplicationContext).get(AutomaticChargesService).waitMs('stripe', true);

  it.each([
    ['without a restart', false],
    ['after a restart', true],
  ])(
    'an event stored by a clock 40 minutes ahead is applied within minutes once it is right, %s',
    async (_, isRestarted) => {
      const { customer } = await shop.customerWith('pm_card_visa');
      const { id } = await shop.pay(customer);
      await listEvents();
      await stripe.client().refunds.create({ payment_intent: shop.intentOf(id), amount: 300 });
      engine.clock.advanceMs(MINUTE_MS);
      await waitMs();
      await whileAhead(40 * MINUTE_MS, async () => {
        await waitMs();
        await listEvents();
      });
      if (isRestarted) await restartOn(databases[0]?.url ?? '');
      await waitMs();
      await runForMinutes(2);
      expect(await shop.get(`/v1/payments/${id}`)).toMatchObject({ amount_refunded: 300 });
      expect(await waitMs()).toBe(0);
    },
  );

  it('charges wait for events that were last read while the clock was ahead', async () => {
    await waitMs();
    await runForMinutes(1);
    expect(await waitMs()).toBe(0);
    await whileAhead(120 * MINUTE_MS, () => runForMinutes(1));
    stripe.faults.plan('error_500_before', { operation: 'events.list', times: 100 });
    await runForMinutes(11);
    expect(await waitMs()).toBe(MINUTE_MS);
    stripe.faults.clear();
    await runForMinutes(2);
    expect(await waitMs()).toBe(0);
  });

  it('without the time of Stripe, a list begins five minutes before the newest event of the last one', async () => {
    stripe.server.sendsDate = false;
    const { customer } = await shop.customerWith('pm_card_visa');
    await shop.pay(customer);
    const newestAtS = Math.floor(stripe.account.nowMs / 1_000);
    await runForMinutes(10);
    const lists = stripe.server.requests.filter(({ operation }) => operation === 'events.list');
    const created = { gte: String(newestAtS - 300) };
    expect(lists.at(-1)).toMatchObject({ parameters: { created } });
    expect(log.text().split('answers of Stripe have no Date header')).toHaveLength(2);
  });

  it('events are not listed again after a start with a clock two hours behind', async () => {
    await listEvents();
    const { length } = stripe.server.requests;
    const listedAt = stripe.account.nowMs;
    await whileAhead(-120 * MINUTE_MS, async () => {
      await restartOn(databases[0]?.url ?? '');
      const charges = (engine.app as INestApplicationContext).get(AutomaticChargesService);
      expect(await charges.waitMs('stripe', true)).toBe(10_000);
      await runForMinutes(2);
      expect(await charges.waitMs('stripe', true)).toBe(0);
    });
    const starts = stripe.server.requests
      .slice(length)
      .filter(({ operation }) => operation === 'events.list')
      .map(({ parameters }) => Number((parameters['created'] as { gte: string }).gte) * 1_000);
    expect(starts).toHaveLength(2);
    expect(Math.min(...starts)).toBe(listedAt - 5 * MINUTE_MS);
  });

  describe('a restored backup in which an invoice is unpaid that Stripe has charged since', () => {
    it.each([4, 10, 60])(
      'does not charge it again if the clock is always %i minutes ahead',
      async (minutes) => {
        aheadMs = minutes * MINUTE_MS;
        await listEvents();
        const invoice = await finalize();
        const backup = await backedUp();
        await expectPaidOnce(invoice);
        await restartOn(backup);
        await expectPaidOnce(invoice);
      },
    );

    it('does not charge it again in a backup of the previous release, whose clock was ahead', async () => {
      await whileAhead(120 * MINUTE_MS, listEvents);
      await engine.database.query('UPDATE provider_cursor SET provider_read_until = NULL');
      const invoice = await finalize();
      const backup = await backedUp();
      await expectPaidOnce(invoice);
      engine.clock.advanceMs(180 * MINUTE_MS);
      await restartOn(backup);
      await expectPaidOnce(invoice);
    });

    it.each([1, 2, 3])(
      'does not charge it again %i hours after the backup if events were read by a clock two hours ahead',
      async (hours) => {
        await whileAhead(120 * MINUTE_MS, listEvents);
        const invoice = await finalize();
        const backup = await backedUp();
        await expectPaidOnce(invoice);
        engine.clock.advanceMs((hours * 60 - 15) * MINUTE_MS);
        await restartOn(backup);
        await expectPaidOnce(invoice);
      },
    );
  });

  describe('a restored backup in which a payment is pending that Stripe has executed since with another key', () => {
    it.each([
      ['once, from five minutes before the request, if the clock is right', 0, [300]],
      ['again, from seven days before, if it is ten minutes ahead', 10, [300, 7 * 86_400]],
    ])('reads charges %s', async (_, minutesAhead, secondsBefore) => {
      aheadMs = minutesAhead * MINUTE_MS;
      const sentAtS = engine.clock.now().getTime() / 1_000;
      const payment = await begin();
      const backup = await backedUp();
      await pollUntilSucceeded(payment);
      await restartOn(backup);
      const { length } = stripe.server.requests;
      await pollUntilSucceeded(payment);
      expect(succeeded()).toHaveLength(1);
      const lists = stripe.server.requests
        .slice(length)
        .filter(({ operation }) => operation === 'paymentIntents.list')
        .map(({ parameters }) => parameters['created']);
      expect(lists).toEqual(secondsBefore.map((seconds) => ({ gte: String(sentAtS - seconds) })));
    });

    it('finds the charge if the clock is ten minutes ahead and a later charge was canceled', async () => {
      aheadMs = 10 * MINUTE_MS;
      const payment = await begin();
      const backup = await backedUp();
      await pollUntilSucceeded(payment);
      engine.clock.advanceMs(10 * MINUTE_MS);
      const intents = stripe.client().paymentIntents;
      const { customer, amount, currency, metadata } = await intents.retrieve(
        shop.intentOf(payment),
      );
      const later = { customer: customer as string, amount, currency, metadata };
      await intents.cancel((await intents.create(later)).id);
      await restartOn(backup);
      await pollUntilSucceeded(payment);
      expect(succeeded()).toHaveLength(1);
    });

    describe.each([
      ['two hours', 'at once', 120 * MINUTE_MS, 0],
      ['a month', 'at once', 30 * DAY_MS, 0],
      ['a month', 'eight days later', 30 * DAY_MS, 8 * DAY_MS],
    ])(
      'if the clock was %s ahead when it began, and it is restored %s',
      (_ahead, _later, ms, laterMs) => {
        let payment: string;

        beforeEach(async () => {
          await listEvents();
          payment = await whileAhead(ms, begin);
          // Due at once, as after the end of the process that began the payment.
          await engine.database.query('UPDATE payment SET due_at = $1', [engine.clock.now()]);
          const backup = await backedUp();
          await pollUntilSucceeded(payment);
          engine.clock.advanceMs(laterMs);
          await restartOn(backup);
        });

        it('finds the charge by a poll', async () => {
          await pollUntilSucceeded(payment);
          expect(succeeded()).toHaveLength(1);
        });

        it('finds the charge by its event', async () => {
          engine.clock.advanceMs(MINUTE_MS);
          await listEvents();
          await shop.run(DueProviderEvents);
          expect(await shop.get(`/v1/payments/${payment}`)).toMatchObject({ status: 'succeeded' });
          expect(succeeded()).toHaveLength(1);
        });
      },
    );
  });
});
