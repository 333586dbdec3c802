import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { createCustomer } from '../support/billing';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';

const HOUR_MS = 3_600_000;

describe('a customer who was deleted at Stripe', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterAll(() => story.close());

  const methodsOf = (customer: string) => `/v1/customers/${customer}/payment-methods`;

  const add = (customer: string, token: string, fields: object = {}) =>
    story.engine.http.post(methodsOf(customer)).send({ provider: 'stripe', token, ...fields });

  const ownerOf = (token: string) => story.stripe.account.paymentMethods.get(token)?.customer;

  const customersAtStripe = () => story.stripe.account.customers.size;

  const openSetup = (customer: string) =>
    story.engine.http
      .post(`/v1/customers/${customer}/payment-method-setups`)
      .send({ provider: 'stripe' });

  async function deletedAtStripe(): Promise<string> {
    const { customer, method } = await story.customerWith('pm_card_visa');
    await story.stripe.client().customers.del(ownerOf(method.token) as string);
    return customer;
  }

  it('is created again with the next method, which is charged for what is open', async () => {
    const customer = await deletedAtStripe();
    expect(await story.pay(customer)).toMatchObject({ failure_code: 'method_unusable' });
    const invoice = await story.post('/v1/invoices', {
      customer_id: customer,
      currency: 'USD',
      collection: 'automatic',
      lines: [{ description: 'Work', amount: 1_000 }],
    });
    await story.engine.http.post(`/v1/invoices/${invoice.id}/finalize`).send({}).expect(200);
    const { status, body } = await add(customer, 'pm_card_mastercard');
    expect([status, body]).toEqual([201, expect.objectContaining({ is_default: true })]);
    const due = story.engine.app.get(DueCollections);
    await due.runDue();
    await due.idle();
    expect(await story.get(`/v1/invoices/${invoice.id}`)).toMatchObject({ status: 'paid' });
  });

  it('is created again by a setup', async () => {
    const customer = await deletedAtStripe();
    const { status, body } = await openSetup(customer);
    expect([status, body]).toEqual([201, expect.objectContaining({ status: 'pending' })]);
    const { id } = body as { id: string };
    const path = `/v1/customers/${customer}/payment-method-setups/${id}`;
    const { client_secret: secret } = await story.get<{ client_secret: string }>(
      `${path}/client-secret`,
    );
    story.stripe.confirmInBrowser(secret, 'pm_card_visa');
    await story.notified();
    expect(await story.get(path)).toMatchObject({ status: 'succeeded' });
  });

  it('has one customer at Stripe after several requests at once', async () => {
    const customer = await deletedAtStripe();
    const answers = await Promise.all([
      add(customer, 'pm_card_visa'),
      add(customer, 'pm_card_mastercard'),
      openSetup(customer),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const { data } = await story.get<{ data: { id: string; token: string }[] }>(
      methodsOf(customer),
    );
    const owners = data.map(({ token }) => ownerOf(token)).filter((owner) => owner !== null);
    expect(owners).toHaveLength(2);
    expect(new Set(owners).size).toBe(1);
    const [first, second] = data;
    for (const { id } of [first, second].filter((each) => each !== undefined)) {
      expect(await story.pay(customer, { payment_method_id: id })).toMatchObject({
        status: 'succeeded',
      });
    }
  });

  it('fails a charge that was prepared before, with another key', async () => {
    const { customer, method } = await story.customerWith('pm_card_visa');
    story.stripe.faults.plan('reset_after', { operation: 'paymentIntents.create', times: 2 });
    const { id } = await story.pay(customer);
    await story.stripe.client().customers.del(ownerOf(method.token) as string);
    expect((await add(customer, 'pm_card_mastercard')).status).toBe(201);
    for (let hour = 0; hour < 3; hour += 1) {
      story.engine.clock.advanceMs(HOUR_MS);
      await story.run(DuePayments);
    }
    expect(await story.get(`/v1/payments/${id}`)).toMatchObject({
      status: 'failed',
      failure_code: 'method_unusable',
    });
  });

  it('is created again later if Stripe does not answer', async () => {
    const customer = await deletedAtStripe();
    story.stripe.faults.plan('error_500_before', { operation: 'customers.create' });
    expect((await add(customer, 'pm_card_visa')).body).toMatchObject({
      code: 'payment_provider_unavailable',
    });
    expect((await add(customer, 'pm_card_visa')).status).toBe(201);
  });

  it('is not created again for a method that Stripe refuses', async () => {
    const { customer } = await story.customerWith('pm_card_visa');
    const before = customersAtStripe();
    expect((await add(customer, 'pm_unknown')).body).toMatchObject({
      code: 'payment_method_not_accepted',
    });
    expect(customersAtStripe()).toBe(before);
    const other = await createCustomer(story.engine);
    expect((await add(other, 'pm_unknown')).status).toBe(422);
  });
});
