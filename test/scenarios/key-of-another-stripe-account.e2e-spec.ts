import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { AutomaticChargesService } from '../../src/modules/payments/collection/automatic-charges.service';
import { MissedProviderEvents } from '../../src/modules/payments/provider-events/missed-provider-events';
import { ProviderEventsRepository } from '../../src/modules/payments/provider-events/provider-events.repository';
import { ProviderGateway } from '../../src/modules/payments/providers/provider-gateway';
import { Clock } from '../../src/platform/clock';
import { Configuration } from '../../src/platform/config';
import { Database } from '../../src/platform/database';
import { FREQUENT_ATTEMPTS, LATE_ATTEMPTS, ProcessSession } from '../../src/platform/processes';
import { captureLog, type CapturedLog } from '../support/leaks';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { noSuch } from '../support/stripe/errors';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('with the key of another Stripe account', () => {
  let log: CapturedLog;
  let story: EngineWithStripe;

  beforeAll(async () => {
    log = captureLog();
    story = await startEngineWithStripe({ LOG_LEVEL: 'warn' });
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(async () => {
    await story.close();
    log.stop();
  });

  /** Lets requests meet an account without the customers and payment methods of this one, as with its key. */
  async function inOtherAccount<Result>(run: () => Promise<Result>): Promise<Result> {
    const { customers, paymentMethods } = story.stripe.account;
    const hidden = [customers, paymentMethods].map((objects) => {
      const kept = [...(objects as Map<string, unknown>)];
      objects.clear();
      return () => {
        objects.clear();
        for (const [id, object] of kept) (objects as Map<string, unknown>).set(id, object);
      };
    });
    try {
      return await run();
    } finally {
      for (const restore of hidden) restore();
    }
  }

  const add = (customer: string, token: string) =>
    story.engine.http
      .post(`/v1/customers/${customer}/payment-methods`)
      .send({ provider: 'stripe', token });

  const openSetup = (customer: string) =>
    story.engine.http
      .post(`/v1/customers/${customer}/payment-method-setups`)
      .send({ provider: 'stripe' });

  it.each([
    ['a method', (customer: string) => add(customer, 'pm_card_mastercard')],
    ['a setup', openSetup],
  ])('%s is refused, and the stored customer is charged later', async (_, request) => {
    const { customer } = await story.customerWith('pm_card_visa');
    const before = story.stripe.account.customers.size;
    const { status, body } = await inOtherAccount(() => request(customer));
    expect([status, body]).toMatchObject([503, { code: 'payment_provider_unavailable' }]);
    expect(story.stripe.account.customers.size).toBe(before);
    expect(await story.pay(customer)).toMatchObject({ status: 'succeeded' });
    expect((await request(customer)).status).toBe(201);
  });

  it.each(['customer', 'payment_method'])('a charge waits (refused: %s)', async (missing) => {
    const { customer } = await story.customerWith('pm_card_visa');
    const refusal = noSuch(missing, 'unknown', missing);
    story.stripe.faults.plan(refusal, { operation: 'paymentIntents.create' });
    const { id, status } = await inOtherAccount(() => story.pay(customer));
    expect(status).toBe('pending');
    // By then, the double has forgotten the refusal of the other account.
    story.engine.clock.advanceMs(DAY_MS);
    await story.run(DuePayments);
    expect(await story.get(`/v1/payments/${id}`)).toMatchObject({ status: 'succeeded' });
    expect(await story.pay(customer)).toMatchObject({ status: 'succeeded' });
  });

  it('a dispute and a refund of which Stripe sent a notification are recorded later', async () => {
    const { payment: disputed } = await story.paid();
    const { payment: refunded } = await story.paid();
    await story.notified();
    const missing = noSuch('object', 'unknown', 'id');
    for (const operation of ['disputes.retrieve', 'refunds.retrieve'] as const)
      story.stripe.faults.plan(missing, { operation, times: 1_000 });
    story.stripe.openDispute(story.intentOf(disputed), 'fraudulent', 1_000);
    const charge = story.intentOf(refunded);
    await story.stripe.client().refunds.create({ payment_intent: charge, amount: 300 });
    await story.notified();
    expect(log.text()).not.toContain('an event of a provider is not applied');
    for (let attempt = 0; attempt < FREQUENT_ATTEMPTS + 5; attempt += 1) {
      story.engine.clock.advanceMs(HOUR_MS);
      await story.notified();
    }
    expect(log.text()).toMatch(
      /"provider":"stripe","type":"refund.created","reference":"re_\w+".*an event of a provider is not applied/,
    );
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(HOUR_MS);
    await story.notified();
    expect(await story.get(`/v1/payments/${disputed}`)).toMatchObject({ is_disputed: true });
    expect(await story.get(`/v1/payments/${refunded}`)).toMatchObject({ amount_refunded: 300 });
  });

  describe('an event whose object this account never has', () => {
    let own: EngineWithStripe;

    beforeEach(async () => {
      own = await startEngineWithStripe({ LOG_LEVEL: 'warn' });
    });

    afterEach(() => own.close());

    const listEvents = () => own.engine.app.get(MissedProviderEvents).runDue();
    const waitMs = () => own.engine.app.get(AutomaticChargesService).waitMs('stripe', true);
    /** Returns {@link waitMs} of another session. */
    const startSession = (): typeof waitMs => {
      const { app } = own.engine;
      const session = new AutomaticChargesService(
        app.get(ProviderGateway),
        app.get(ProviderEventsRepository),
        app.get(Clock),
        app.get(Configuration),
        app.get(ProcessSession),
        app.get(Database),
      );
      return () => session.waitMs('stripe', true);
    };

    /** Sends a signed event, 20 minutes after its creation, of a refund that Stripe does not have. */
    async function sendOfOtherAccount(id: string): Promise<void> {
      const timestamp = Math.floor(own.engine.clock.now().getTime() / 1_000);
      const event = { id, object: 'event', type: 'refund.created', created: timestamp - 1_200 };
      const data = { object: { id: 're_of_other_account', metadata: {} } };
      const payload = JSON.stringify({ ...event, livemode: false, data });
      const header = { payload, secret: 'whsec_scenarios', timestamp };
      const { webhooks } = own.stripe.client();
      await own.engine.http
        .post('/v1/providers/stripe/webhooks')
        .set('Content-Type', 'application/json')
        .set('Stripe-Signature', webhooks.generateTestHeaderString(header))
        .send(payload)
        .expect(204);
      await own.notified();
    }

    it('delays automatic charges only until one attempt in each session', async () => {
      await listEvents();
      await sendOfOtherAccount('evt_of_other_account');
      own.engine.clock.advanceMs(60_000);
      expect(await waitMs()).toBe(10_000);
      own.engine.clock.advanceMs(60_000);
      await listEvents();
      // The key may be right now.
      expect(await waitMs()).toBe(10_000);
      await own.notified();
      expect(await waitMs()).toBe(0);
    });

    const minuteLater = async () => {
      own.engine.clock.advanceMs(60_000);
      await listEvents();
    };

    /** Stores events whose objects Stripe did not have, oldest first, and whose next attempt is in `dueInMs`. */
    async function storeWaiting(objects: readonly string[], dueInMs = HOUR_MS): Promise<void> {
      const now = own.engine.clock.now().getTime();
      await own.engine.database.query(
        `INSERT INTO provider_event
          (id, provider, type, subject_id, object_id, created_at, received_at, due_at, attempts)
         SELECT 'evt_' || number, 'stripe', 'refund.created', object, object, at, at, $3, $4
         FROM unnest($1::text[]) WITH ORDINALITY AS waiting (object, number),
           LATERAL (SELECT $2::timestamptz + number * interval '1 second' AS at) AS received`,
        [objects, new Date(now - HOUR_MS), new Date(now + dueInMs), FREQUENT_ATTEMPTS],
      );
    }

    const ofOtherAccount = (count: number) =>
      Array.from({ length: count }, (_, index) => `re_of_other_account_${index}`);

    /** Returns the number of due events that are not tried only once an hour. */
    const dueCount = () =>
      own.engine.database.queryValue<number>(
        'SELECT count(*)::integer FROM provider_event WHERE due_at <= $1 AND attempts < $2',
        [own.engine.clock.now(), FREQUENT_ATTEMPTS],
      );

    async function applyDue(): Promise<void> {
      while ((await dueCount()) !== 0) await own.notified();
    }

    it.each([HOUR_MS, -1])(
      'delays charges after a start only until the latest 50 were tried (due in %d ms)',
      async (dueInMs) => {
        await listEvents();
        await storeWaiting(ofOtherAccount(55), dueInMs);
        await waitMs();
        expect(await dueCount()).toBe(50);
        await minuteLater();
        expect(await waitMs()).toBe(10_000);
        await applyDue();
        expect(await waitMs()).toBe(0);
      },
    );

    it('is tried after new notifications', async () => {
      await listEvents();
      const { payment } = await own.paid();
      await own.notified();
      await storeWaiting(ofOtherAccount(10));
      await waitMs();
      own.engine.clock.advanceMs(1_000);
      const charge = own.intentOf(payment);
      await own.stripe.client().refunds.create({ payment_intent: charge, amount: 300 });
      await own.notified();
      expect(await own.get(`/v1/payments/${payment}`)).toMatchObject({ amount_refunded: 300 });
      expect(await dueCount()).toBeGreaterThan(0);
    });

    /** Returns the provider's id of a refund that Stripe has, and about which it sent no notification. */
    async function refundAtStripe(): Promise<string> {
      await listEvents();
      const { payment } = await own.paid();
      const charge = own.intentOf(payment);
      own.stripe.webhooks.fate = () => 'lose';
      const { id } = await own.stripe.client().refunds.create({ payment_intent: charge });
      await own.notified();
      return id;
    }

    it('delays charges again, in a session that has waited, once an older one than the latest 50 is applied', async () => {
      await storeWaiting([await refundAtStripe(), ...ofOtherAccount(55)]);
      await waitMs();
      await minuteLater();
      await applyDue();
      expect(await waitMs()).toBe(0);
      own.engine.clock.advanceMs(HOUR_MS - 60_000);
      await listEvents();
      await own.notified();
      expect(await dueCount()).toBeGreaterThan(0);
      expect(await waitMs()).toBe(10_000);
      await applyDue();
      expect(await waitMs()).toBe(0);
    });

    it('delays no charges of a session that began before it was received', async () => {
      await listEvents();
      await waitMs();
      await minuteLater();
      expect(await waitMs()).toBe(0);
      own.engine.clock.advanceMs(2 * HOUR_MS);
      await storeWaiting(ofOtherAccount(1));
      await own.engine.database.query('UPDATE provider_event SET attempts = 0');
      await listEvents();
      expect([await waitMs(), await startSession()()]).toEqual([0, 10_000]);
    });

    /** Stores 56 events. Only the latest is of a refund that Stripe has. Its next attempt is in 150 s, as after a crash. */
    async function storeWithOneFound(): Promise<void> {
      const found = await refundAtStripe();
      await storeWaiting([...ofOtherAccount(55), found]);
      const lease =
        'UPDATE provider_event SET due_at = $1, leased_by = 999999 WHERE subject_id = $2';
      const endsAt = new Date(own.engine.clock.now().getTime() + 150_000);
      await own.engine.database.query(lease, [endsAt, found]);
    }

    it('delays charges in all sessions until all were tried if one of the latest 50 is found', async () => {
      await storeWithOneFound();
      await waitMs();
      await applyDue();
      own.engine.clock.advanceMs(150_000);
      await own.notified();
      expect(await dueCount()).toBe(55);
      const waitInOther = startSession();
      expect(await waitInOther()).toBe(10_000);
      await minuteLater();
      expect([await waitInOther(), await waitMs()]).toEqual([10_000, 10_000]);
      await applyDue();
      expect([await waitInOther(), await waitMs()]).toEqual([0, 0]);
    });

    it('delays charges no longer if one of the latest 50 is ended by an operator', async () => {
      await storeWithOneFound();
      await waitMs();
      await minuteLater();
      const end = 'UPDATE provider_event SET due_at = NULL, leased_by = NULL WHERE id = $1';
      await own.engine.database.query(end, ['evt_56']);
      await applyDue();
      expect(await waitMs()).toBe(0);
      expect(await dueCount()).toBe(0);
    });

    it('is the same in sessions that start together', async () => {
      await listEvents();
      await storeWaiting(ofOtherAccount(55));
      const waitInOther = startSession();
      expect([await waitMs(), await waitInOther()]).toEqual([10_000, 10_000]);
      expect(await dueCount()).toBe(50);
      await minuteLater();
      await applyDue();
      expect([await waitMs(), await waitInOther()]).toEqual([0, 0]);
    });

    it('is not tried more often by further starts while Stripe does not answer about it', async () => {
      await listEvents();
      await storeWaiting(ofOtherAccount(1));
      own.stripe.faults.plan('error_500_before', { operation: 'refunds.retrieve', times: 1_000 });
      for (let start = 0; start < FREQUENT_ATTEMPTS - LATE_ATTEMPTS; start += 1) {
        await startSession()();
        await own.notified();
      }
      await minuteLater();
      expect(await waitMs()).toBe(10_000);
      const sql = 'SELECT attempts FROM provider_event';
      expect(await own.engine.database.query(sql)).toEqual([{ attempts: LATE_ATTEMPTS + 1 }]);
    });

    it('is tried again in a session even if the first transaction was rolled back', async () => {
      await listEvents();
      await storeWaiting(ofOtherAccount(1));
      const rolledBack = own.engine.app.get(Database).transaction(async () => {
        await waitMs();
        throw new Error('rolled back');
      });
      await expect(rolledBack).rejects.toThrow('rolled back');
      await waitMs();
      expect(await dueCount()).toBe(1);
    });

    it('delays charges after a start while Stripe does not answer about it', async () => {
      await listEvents();
      await storeWaiting(ofOtherAccount(1));
      await waitMs();
      await minuteLater();
      own.stripe.faults.plan('error_500_before', { operation: 'refunds.retrieve', times: 2 });
      await own.notified();
      own.stripe.faults.clear();
      expect(await waitMs()).toBe(10_000);
      own.engine.clock.advanceMs(150_000);
      await own.notified();
      expect(await waitMs()).toBe(0);
    });

    it('delays charges after a start if a process has died during an attempt', async () => {
      await listEvents();
      await storeWaiting(ofOtherAccount(1), 150_000);
      await own.engine.database.query('UPDATE provider_event SET leased_by = 999999');
      await waitMs();
      await minuteLater();
      expect(await waitMs()).toBe(10_000);
      own.engine.clock.advanceMs(150_000);
      await own.notified();
      expect(await waitMs()).toBe(0);
    });

    it('delays no charges after a start if it is about a payment that is stored here', async () => {
      await listEvents();
      const { payment } = await own.paid();
      await own.notified();
      await storeWaiting([payment]);
      await waitMs();
      await minuteLater();
      expect(await waitMs()).toBe(0);
    });

    it('is tried every hour for 30 days, then given up with an error in the log', async () => {
      const id = 'evt_given_up';
      const isWaiting = () =>
        own.engine.database.queryValue<boolean>(
          'SELECT due_at IS NOT NULL FROM provider_event WHERE id = $1',
          [id],
        );
      await sendOfOtherAccount(id);
      own.engine.clock.advanceMs(30 * DAY_MS - HOUR_MS);
      await own.notified();
      expect(await isWaiting()).toBe(true);
      own.engine.clock.advanceMs(HOUR_MS);
      await own.notified();
      expect(await isWaiting()).toBe(false);
      expect(log.text()).toMatch(
        /"reference":"re_of_other_account","attempts":28.*an event of a provider is given up/,
      );
    });

    it('a wait for the first list of events is logged once after ten minutes', async () => {
      await listEvents();
      const message =
        'invoices wait: events of the provider from before the start are not read or applied';
      const times = () => log.text().split(message).length - 1;
      const before = times();
      own.engine.clock.advanceMs(60_000);
      expect(await waitMs()).toBe(10_000);
      own.engine.clock.advanceMs(9 * 60_000);
      expect(await waitMs()).toBe(10_000);
      expect(times()).toBe(before);
      own.engine.clock.advanceMs(60_000);
      expect([await waitMs(), await waitMs()]).toEqual([10_000, 10_000]);
      expect(times()).toBe(before + 1);
    });
  });

  it('an event that the list passed over is found after the cursor was set back', async () => {
    const listEvents = async () => {
      story.engine.clock.advanceMs(HOUR_MS);
      await story.engine.app.get(MissedProviderEvents).runDue();
      await story.notified();
    };
    const { payment } = await story.paid();
    await listEvents();
    const before = story.engine.clock.now();
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.openDispute(story.intentOf(payment), 'fraudulent', 1_000);
    const text = JSON.stringify({ object: 'list', data: [], has_more: false, url: '/v1/events' });
    story.stripe.faults.plan({ status: 200, text }, { operation: 'events.list' });
    await listEvents();
    await listEvents();
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: false });
    const back = 'UPDATE provider_cursor SET read_until = $1, provider_read_until = $1';
    await story.engine.database.query(back, [before]);
    await listEvents();
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: true });
  });

  it('a customer who was made there is made again once their row is deleted', async () => {
    const { customer } = await inOtherAccount(() => story.customerWith('pm_card_visa'));
    expect((await add(customer, 'pm_card_mastercard')).status).toBe(503);
    const sql = 'DELETE FROM provider_customer WHERE customer_id = $1';
    await story.engine.database.query(sql, [customer]);
    const { status, body } = await add(customer, 'pm_card_mastercard');
    expect(status).toBe(201);
    const { id } = body as { id: string };
    expect(await story.pay(customer, { payment_method_id: id })).toMatchObject({
      status: 'succeeded',
    });
  });

  it('the log names the refused setup', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    await inOtherAccount(() => openSetup(customer));
    expect(log.text()).toMatch(/"setup_id":"pms_\w+".*"code":"resource_missing"/);
    expect(log.text()).not.toContain('a provider refused a request');
  });
});
