import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DueSetups } from '../../src/modules/billing/payments/due-setups';
import { AutomaticChargesService } from '../../src/modules/payments/collection/automatic-charges.service';
import { FREQUENT_ATTEMPTS } from '../../src/platform/processes';
import { createCustomer } from '../support/billing';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { noSuch } from '../support/stripe/errors';
import { eventsOf } from '../support/test-app';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface Setup {
  readonly id: string;
  readonly status: string;
  readonly payment_method_id: string | null;
  readonly failure_code: string | null;
}

interface Method {
  readonly id: string;
  readonly is_default: boolean;
}

describe('a setup of a payment method at Stripe', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(() => story.close());

  const pathOf = (customer: string) => `/v1/customers/${customer}/payment-method-setups`;

  async function begun(fields: object = {}) {
    const customer = await createCustomer(story.engine);
    const { id } = await story.post(pathOf(customer), { provider: 'stripe', ...fields });
    const path = `${pathOf(customer)}/${id}`;
    const read = () => story.get<Setup>(path);
    const { client_secret: secret } = await story.get<{ client_secret: string }>(
      `${path}/client-secret`,
    );
    return { customer, id, path, read, secret };
  }

  const methodsOf = async (customer: string): Promise<readonly Method[]> =>
    (await story.get<{ data: Method[] }>(`/v1/customers/${customer}/payment-methods`)).data;

  const typesOf = async (id: string) => (await eventsOf(story.engine, id)).map(({ type }) => type);

  it('gives the customer a default method, which collects what is open, once', async () => {
    const { customer, id, path, read, secret } = await begun();
    const lines = [{ description: 'Work', amount: 1_000 }];
    const invoice = await story.post('/v1/invoices', {
      customer_id: customer,
      currency: 'USD',
      collection: 'automatic',
      lines,
    });
    await story.engine.http.post(`/v1/invoices/${invoice.id}/finalize`).send({}).expect(200);
    expect(await read()).toMatchObject({ status: 'pending', payment_method_id: null });
    story.stripe.webhooks.fate = () => 'double';
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.stripe.webhooks.idle();
    await Promise.all([story.notified(), story.notified()]);

    const { payment_method_id: method } = await read();
    expect(await methodsOf(customer)).toMatchObject([
      { id: method, provider: 'stripe', last4: '4242', brand: 'visa', is_default: true },
    ]);
    expect(await typesOf(id)).toEqual([
      'payment_method_setup.created',
      'payment_method_setup.succeeded',
    ]);
    const due = story.engine.app.get(DueCollections);
    await due.runDue();
    await due.idle();
    expect(await story.get(`/v1/invoices/${invoice.id}`)).toMatchObject({ status: 'paid' });
    const ended = await story.engine.http.get(`${path}/client-secret`);
    expect(ended.body).toMatchObject({ status: 409, code: 'payment_method_setup_ended' });
  });

  it('collects by debit until the mandate is revoked, and the invoice can then be paid in another way', async () => {
    const { customer, read, secret } = await begun();
    story.stripe.confirmInBrowser(secret, 'pm_success_de');
    await story.notified();
    const [mandate = ''] = story.stripe.account.mandates.keys();
    story.stripe.revokeMandate(mandate);
    const lines = [{ description: 'Work', amount: 1_000 }];
    const terms = { customer_id: customer, currency: 'EUR', collection: 'automatic' };
    const { id } = await story.post('/v1/invoices', { ...terms, lines });
    await story.engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    const due = story.engine.app.get(DueCollections);
    await due.runDue();
    await due.idle();
    const payments = await story.get<{ data: object[] }>(`/v1/payments?invoice_id=${id}`);
    expect(payments.data).toMatchObject([{ status: 'failed', failure_code: 'method_unusable' }]);
    const { payment_method_id: method } = await read();
    expect(await methodsOf(customer)).toMatchObject([
      { id: method, unusable_since: expect.any(String) as string },
    ]);
    await story.post(`/v1/invoices/${id}/pay`, { provider: 'manual' });
    expect(await story.get(`/v1/invoices/${id}`)).toMatchObject({ status: 'paid' });
  });

  it('is completed without a notification', async () => {
    const { customer, read, secret } = await begun({ is_default: false });
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    story.engine.clock.advanceMs(2 * MINUTE_MS);
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'succeeded' });
    expect(await methodsOf(customer)).toMatchObject([{ is_default: false }]);
  });

  it('waits for 3-D Secure', async () => {
    const { read, secret } = await begun();
    story.stripe.confirmInBrowser(secret, 'pm_card_authenticationRequired');
    await story.notified();
    expect(await read()).toMatchObject({ status: 'pending', failure_code: null });
    story.stripe.authenticate(secret.split('_secret_')[0] ?? '');
    await story.notified();
    expect(await read()).toMatchObject({ status: 'succeeded' });
  });

  it('that fails can be tried again with another card', async () => {
    const { id, read, secret } = await begun();
    const declined = () => {
      story.stripe.confirmInBrowser(secret, 'pm_card_chargeDeclinedInsufficientFunds');
    };
    expect(declined).toThrow();
    await story.notified();
    expect(await read()).toMatchObject({ status: 'pending', failure_code: 'insufficient_funds' });
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.notified();
    expect(await read()).toMatchObject({ status: 'succeeded', failure_code: null });
    expect(await typesOf(id)).toEqual([
      'payment_method_setup.created',
      'payment_method_setup.updated',
      'payment_method_setup.succeeded',
    ]);
  });

  it.each([
    ['is abandoned', null, 'expired'],
    ['only failed', 'pm_card_chargeDeclined', 'failed'],
  ] as const)('that %s ends after a day, also at Stripe', async (_, card, status) => {
    const { customer, id, read, secret } = await begun();
    if (card !== null) {
      expect(() => {
        story.stripe.confirmInBrowser(secret, card);
      }).toThrow();
      await story.notified();
    }
    story.engine.clock.advanceMs(DAY_MS - MINUTE_MS);
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'pending' });
    story.engine.clock.advanceMs(MINUTE_MS);
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status, payment_method_id: null });
    expect((await typesOf(id)).at(-1)).toBe(`payment_method_setup.${status}`);
    expect(() => {
      story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    }).toThrow();
    expect(await methodsOf(customer)).toEqual([]);
  });

  it('ends a day after a clock was set right that was a year ahead', async () => {
    const startsAt = story.engine.clock.now();
    story.engine.clock.advanceMs(365 * DAY_MS);
    const { id, read } = await begun();
    story.engine.clock.set(startsAt.toISOString());
    await story.run(DueSetups);
    const expires_at = new Date(startsAt.getTime() + DAY_MS).toISOString();
    expect(await read()).toMatchObject({ status: 'pending', expires_at });
    story.engine.clock.set(expires_at);
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'expired' });
    expect(await typesOf(id)).toEqual([
      'payment_method_setup.created',
      'payment_method_setup.updated',
      'payment_method_setup.expired',
    ]);
  });

  it('that the customer completes in the last moment succeeds', async () => {
    const { read, secret } = await begun();
    story.stripe.webhooks.fate = () => 'lose';
    story.engine.clock.advanceMs(DAY_MS);
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'succeeded' });
  });

  it('is looked at again if Stripe does not answer', async () => {
    const { read, secret } = await begun();
    story.stripe.faults.plan('error_500_before', { operation: 'setupIntents.retrieve', times: 10 });
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.notified();
    expect(await read()).toMatchObject({ status: 'pending' });
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(3 * MINUTE_MS);
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'succeeded' });
  });

  it('succeeds if Stripe answers again only two days later', async () => {
    const { read, secret } = await begun();
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    story.engine.clock.advanceMs(2 * DAY_MS);
    story.stripe.faults.plan('error_500_before', { operation: 'setupIntents.retrieve', times: 10 });
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'pending' });
    story.stripe.faults.clear();
    story.engine.clock.advanceMs(60 * MINUTE_MS);
    await story.run(DueSetups);
    expect(await read()).toMatchObject({ status: 'succeeded' });
  });

  it.each(['that Stripe does not have', 'that succeeded, and whose method Stripe does not have,'])(
    '%s ends a day after it expired',
    async (which) => {
      const { read, secret } = await begun();
      const [intent = ''] = secret.split('_secret_');
      const { setupIntents } = story.stripe.account;
      if (which === 'that Stripe does not have') {
        setupIntents.delete(intent);
      } else {
        story.stripe.webhooks.fate = () => 'lose';
        story.stripe.confirmInBrowser(secret, 'pm_card_visa');
        const made = setupIntents.get(intent);
        if (made !== undefined) made.payment_method = null;
      }
      story.engine.clock.advanceMs(2 * DAY_MS - 60 * MINUTE_MS);
      await story.run(DueSetups);
      expect(await read()).toMatchObject({ status: 'pending' });
      story.engine.clock.advanceMs(60 * MINUTE_MS);
      await story.run(DueSetups);
      expect(await read()).toMatchObject({ status: 'expired' });
    },
  );

  it('that Stripe does not have delays automatic charges only until one attempt', async () => {
    const { read, secret } = await begun();
    story.stripe.faults.plan(noSuch('setupintent', 'unknown', 'intent'), {
      operation: 'setupIntents.retrieve',
    });
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.stripe.webhooks.idle();
    const late = "UPDATE provider_event SET created_at = received_at - interval '20 minutes'";
    await story.engine.database.query(`${late} WHERE due_at IS NOT NULL`);
    const waitMs = () => story.engine.app.get(AutomaticChargesService).waitMs('stripe', true);
    expect(await waitMs()).toBe(MINUTE_MS);
    await story.notified();
    expect(await waitMs()).toBe(0);
    const sql = 'SELECT attempts, due_at FROM provider_event WHERE due_at IS NOT NULL';
    const due_at = new Date(story.engine.clock.now().getTime() + 60 * MINUTE_MS);
    expect(await story.engine.database.query(sql)).toEqual([
      { attempts: FREQUENT_ATTEMPTS, due_at },
    ]);
    story.engine.clock.advanceMs(60 * MINUTE_MS);
    await story.notified();
    expect(await read()).toMatchObject({ status: 'succeeded' });
  });

  it('that Stripe does not have delays no automatic charges when it ends', async () => {
    const { read, secret } = await begun();
    const [intent = ''] = secret.split('_secret_');
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    story.stripe.account.setupIntents.delete(intent);
    await story.notified();
    story.engine.clock.advanceMs(2 * DAY_MS);
    const waiting = `
      INSERT INTO provider_event (id, provider, type, subject_id, object_id, created_at, received_at, due_at, attempts)
      VALUES ('evt_waiting', 'stripe', 'refund.created', 're_waiting', 're_waiting', $1, $1, $2, $3)`;
    const now = story.engine.clock.now();
    const later = new Date(now.getTime() + 60 * MINUTE_MS);
    await story.engine.database.query(waiting, [now, later, FREQUENT_ATTEMPTS]);
    await story.notified();
    expect(await read()).toMatchObject({ status: 'expired' });
    const due = "SELECT due_at FROM provider_event WHERE id = 'evt_waiting'";
    expect(await story.engine.database.query(due)).toEqual([{ due_at: later }]);
    await story.engine.database.query("DELETE FROM provider_event WHERE id = 'evt_waiting'");
  });

  it('is refused while Stripe does not answer, and nothing is stored', async () => {
    const customer = await createCustomer(story.engine);
    story.stripe.faults.plan('error_500_before', { operation: 'setupIntents.create', times: 1 });
    const answer = await story.engine.http.post(pathOf(customer)).send({ provider: 'stripe' });
    expect(answer.body).toMatchObject({ status: 503, code: 'payment_provider_unavailable' });
    expect(await story.get(pathOf(customer))).toMatchObject({ data: [] });
  });

  it('is made once with the same key, and belongs to its customer', async () => {
    const customer = await createCustomer(story.engine);
    const create = () =>
      story.engine.http
        .post(pathOf(customer))
        .set('Idempotency-Key', `setup-${customer}`)
        .send({ provider: 'stripe' });
    const answers = await Promise.all([create(), create()]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const listed = await story.get<{ data: Setup[] }>(pathOf(customer));
    expect(listed.data).toHaveLength(1);
    const other = await createCustomer(story.engine);
    const answer = await story.engine.http.get(`${pathOf(other)}/${listed.data[0]?.id}`);
    expect(answer.body).toMatchObject({ status: 404, code: 'payment_method_setup_not_found' });
  });

  it('fails if its method was added by its token and deleted meanwhile', async () => {
    const { customer, id, read, secret } = await begun();
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    const [intent = ''] = secret.split('_secret_');
    const token = story.stripe.account.setupIntents.get(intent)?.payment_method;
    const methods = `/v1/customers/${customer}/payment-methods`;
    const method = await story.post(methods, { provider: 'stripe', token });
    await story.engine.http.delete(`${methods}/${method.id}`).expect(204);
    for (let poll = 0; poll < 2; poll++) {
      story.engine.clock.advanceMs(2 * MINUTE_MS);
      await story.run(DueSetups);
    }
    expect(await read()).toMatchObject({
      status: 'failed',
      failure_code: 'method_unusable',
      payment_method_id: null,
    });
    expect(await methodsOf(customer)).toEqual([]);
    expect(await typesOf(id)).toEqual([
      'payment_method_setup.created',
      'payment_method_setup.failed',
    ]);
  });

  it('ends if its customer was deleted', async () => {
    const { customer, id, secret } = await begun();
    await story.engine.http.delete(`/v1/customers/${customer}`).expect(204);
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.notified();
    expect((await typesOf(id)).at(-1)).toBe('payment_method_setup.expired');
  });
});
