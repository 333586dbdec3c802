import { Client } from 'pg';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { recordDispute } from '../support/disputes';
import { lockLaterRows } from '../support/lock-waits';
import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const ACCESS_HELD = 'SELECT FROM customer_access WHERE customer_id = $1 FOR UPDATE';
const CREDIT_HELD = 'SELECT FROM credit_grant WHERE customer_id = $1 FOR UPDATE';
const CREDIT = `${CREDIT_HELD} NOWAIT`;
const numbersOf = (series: string): string =>
  `SELECT FROM invoice_series WHERE name = '${series}' AND $1::text <> '' FOR UPDATE NOWAIT`;
const NOTE_NUMBERS = numbersOf('TEST-CN');

/** While a request waits for rows that come first, it has not locked rows that come later. */
describe('the order of locks is kept for credit and for the numbers of credit notes', () => {
  let made: TestDatabase;
  let engine: TestApp;
  let holder: Client;

  beforeAll(async () => {
    made = await createTestDatabase();
    engine = await startTestApp({ databaseUrl: made.url });
    holder = new Client({ connectionString: made.url });
    await holder.connect();
  });

  afterAll(async () => {
    await holder.end();
    await engine.close();
    await made.drop();
  });

  const lockLater = (
    customerId: string,
    rows: readonly [first: string, later: string],
    work: () => PromiseLike<{ readonly status: number }>,
  ): Promise<number | null> => lockLaterRows(engine, holder, customerId, rows, work);

  const waiting = { payment_behavior: 'default_incomplete' };
  const sent = { collection: 'send_invoice' };
  const credit = ({ id: invoice_id, lines: [line] }: Invoice, amount: number) =>
    engine.http.post('/v1/credit-notes').send({
      ...{ invoice_id, reason: 'Agreed.', settle: 'credit' },
      lines: [{ invoice_line_id: line?.id, amount }],
    });
  const pay = (customer_id: string, amount: number, invoice_id?: string) =>
    post(engine, '/v1/payments', {
      ...{ customer_id, invoice_id, amount, currency: 'USD', provider: 'sandbox' },
    });

  /** Subscribes a customer, the one of the story by default, to a plan. Returns the first invoice. */
  async function bill(story: Story, amount: number, fields: object) {
    const { customerId: customer_id } = story;
    const plan_id = await story.plan(amount);
    const { id } = await post(engine, '/v1/subscriptions', { customer_id, plan_id, ...fields });
    const { body } = await engine.http.get(`/v1/invoices?subscription_id=${id}`);
    const [{ id: invoice } = { id: '' }] = (body as { data: Invoice[] }).data;
    const read = await engine.http.get(`/v1/invoices/${invoice}`).expect(200);
    return { ...(read.body as Invoice), subscriptionId: id };
  }
  /** Returns a story and a customer without a test clock. */
  async function inRealTime() {
    const story = await Story.begin(engine, START);
    engine.clock.set(START);
    const { id: customer_id } = await post(engine, '/v1/customers', { name: 'Ben' });
    return { story, customer_id };
  }
  const runDue = async () => {
    await engine.app.get(DueSubscriptions).runDue();
    return { status: 200 };
  };

  it('by a credit note that activates a subscription, which is numbered last', async () => {
    const story = await Story.begin(engine, START);
    await credit(await bill(story, 1_000, sent), 100).expect(201);
    const first = await bill(story, 5_000, waiting);
    const issue = () => credit(first, 5_000);
    expect(await lockLater(story.customerId, [ACCESS_HELD, NOTE_NUMBERS], issue)).toBe(1);
    expect((await story.subscription(first.subscriptionId)).status).toBe('active');
  });

  it('by a refund with a credit note, which is numbered last', async () => {
    const story = await Story.begin(engine, START);
    const other = await bill(story, 1_000, sent);
    await pay(story.customerId, 1_000, other.id);
    const { id, lines } = await bill(story, 5_000, sent);
    const payment = await pay(story.customerId, 5_000, id);
    await credit(other, 400).expect(201);
    const refund = () =>
      engine.http.post(`/v1/refunds/payment/${payment.id}`).send({
        credit_note: { reason: 'Agreed.', lines: [{ invoice_line_id: lines[0]?.id, amount: 1 }] },
      });
    expect(await lockLater(story.customerId, [CREDIT_HELD, NOTE_NUMBERS], refund)).toBe(1);
  });

  it('by the void of a first invoice, which returns credit', async () => {
    const story = await Story.begin(engine, START);
    await bill(story, 1_000, sent);
    await pay(story.customerId, 700);
    const { id } = await bill(story, 5_000, waiting);
    const cancel = () => engine.http.post(`/v1/invoices/${id}/void`).send({});
    expect(await lockLater(story.customerId, [ACCESS_HELD, CREDIT], cancel)).toBe(1);
  });

  it('by expired first payments, whose note is numbered after a void', async () => {
    const { story, customer_id } = await inRealTime();
    const own = { ...waiting, customer_id };
    await credit(await bill(story, 5_000, own), 100).expect(201);
    await pay(customer_id, 700);
    await bill(story, 5_000, own);
    engine.clock.set('2026-03-20T00:00:00.000Z');
    expect(await lockLater(customer_id, [CREDIT_HELD, numbersOf('CN')], runDue)).toBe(1);
  });

  it('by an expired first payment, whose note covers a loss', async () => {
    const { story, customer_id } = await inRealTime();
    const { id: payment } = await pay(customer_id, 700);
    await credit(await bill(story, 5_000, { ...waiting, customer_id }), 100).expect(201);
    await recordDispute(engine, payment, {
      ...{ providerReference: `dp_${payment}`, status: 'lost', reason: null },
      ...{ amount: 700n, amountWithdrawn: 700n, amountReinstated: 0n },
      ...{ isRefundable: false, evidenceDueAt: null },
    });
    await pay(customer_id, 50);
    engine.clock.set('2026-03-20T00:00:00.000Z');
    expect(await lockLater(customer_id, [CREDIT_HELD, numbersOf('CN')], runDue)).toBe(1);
  });

  it('by a command that finds the first payment expired', async () => {
    const story = await Story.begin(engine, START);
    engine.clock.set(START);
    const { id: customer_id } = await post(engine, '/v1/customers', { name: 'Ben' });
    const plan_id = await story.plan(5_000);
    const { id } = await post(engine, '/v1/subscriptions', { customer_id, plan_id, ...waiting });
    const { body } = await engine.http.get(`/v1/invoices?subscription_id=${id}`);
    await pay(customer_id, 700, (body as { data: Invoice[] }).data[0]?.id);
    await pay(customer_id, 900);
    engine.clock.set('2026-03-20T00:00:00.000Z');
    const cancel = async () => {
      const refused = await engine.http
        .post(`/v1/subscriptions/${id}/cancel`)
        .send({ when: 'now' });
      expect(refused.body).toMatchObject({ code: 'invalid_transition' });
      return { status: 200 };
    };
    const paid = 'SELECT FROM payment WHERE customer_id = $1 AND amount_applied > 0 FOR UPDATE';
    expect(await lockLater(customer_id, [paid, CREDIT], cancel)).toBe(1);
  });

  it('by a command that finds a renewal due, which bills late usage', async () => {
    const story = await Story.begin(engine, START);
    engine.clock.set(START);
    const { id: customer_id } = await post(engine, '/v1/customers', { name: 'Ben' });
    const { id: meter_id, event: event_name } = await story.meter();
    const price = { name: 'Usage', model: 'per_unit', timing: 'in_arrears', unit_amount: '5' };
    const { id: plan_id } = await story.planOf([{ ...price, meter_id }]);
    const { id } = await post(engine, '/v1/subscriptions', { customer_id, plan_id, ...sent });
    const use = (key: string, n: number) => {
      const event = { idempotency_key: `${id} ${key}`, customer_id, event_name };
      return engine.http
        .post('/v1/usage-events')
        .send({ ...event, timestamp: START, properties: { n } })
        .expect(200);
    };
    await use('billed', 10);
    engine.clock.set('2026-04-01T00:00:00.000Z');
    while (await engine.app.get(DueSubscriptions).runDue());
    const { body } = await engine.http.get(`/v1/invoices?subscription_id=${id}`);
    await pay(customer_id, 50, (body as { data: Invoice[] }).data[0]?.id);
    await use('late', 20);
    await pay(customer_id, 10);
    engine.clock.set('2026-05-01T00:00:00.000Z');
    const cancel = () => engine.http.post(`/v1/subscriptions/${id}/cancel`).send({ when: 'now' });
    const paid = 'SELECT FROM payment WHERE customer_id = $1 AND amount_applied > 0 FOR UPDATE';
    expect(await lockLater(customer_id, [paid, CREDIT], cancel)).toBe(1);
  });

  it('by a command that finds an end due, which credits a paid invoice', async () => {
    const { story, customer_id } = await inRealTime();
    const first = await bill(story, 5_000, { ...sent, customer_id });
    await pay(customer_id, 5_000, first.id);
    await pay(customer_id, 10);
    const command = (name: string, body: object) =>
      engine.http.post(`/v1/subscriptions/${first.subscriptionId}/${name}`).send(body);
    const end = { when: 'at', at: '2026-03-20T00:00:00.000Z', credit_unused: true };
    await command('cancel', end).expect(200);
    engine.clock.set('2026-03-20T00:00:01.000Z');
    const change = async () => {
      const refused = await command('uncancel', {});
      expect(refused.body).toMatchObject({ code: 'subscription_not_canceling' });
      return { status: 200 };
    };
    const paid = 'SELECT FROM payment WHERE customer_id = $1 AND amount_applied > 0 FOR UPDATE';
    expect(await lockLater(customer_id, [paid, CREDIT], change)).toBe(1);
  });

  it('by a command that finds a renewal due, and credits what money without an invoice paid', async () => {
    const { story, customer_id } = await inRealTime();
    const { subscriptionId } = await bill(story, 5_000, { ...sent, customer_id });
    await pay(customer_id, 900);
    engine.clock.set('2026-04-01T00:00:01.000Z');
    const cancel = () =>
      engine.http
        .post(`/v1/subscriptions/${subscriptionId}/cancel`)
        .send({ when: 'now', credit_unused: true });
    const paid = 'SELECT FROM payment WHERE customer_id = $1 FOR UPDATE';
    expect(await lockLater(customer_id, [paid, CREDIT], cancel)).toBe(1);
  });
});
