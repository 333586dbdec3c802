import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { startTestApp, Story, type TestApp } from '../support/story';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { declined } from '../support/stripe/test-methods';
import { eventsOf } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';
const HOUR_MS = 3_600_000;

interface Method {
  readonly id: string;
  readonly is_default: boolean;
  readonly unusable_since: string | null;
  readonly unusable_reason: string | null;
}

interface Attempt {
  readonly status: string;
  readonly failure_code: string | null;
  readonly collection_attempt: number;
}

describe('a decline that is final for the payment method', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function addCard(story: Story, token: string): Promise<Method> {
    const { status, body } = await engine.http
      .post(`/v1/customers/${story.customerId}/payment-methods`)
      .send({ provider: 'sandbox', token });
    expect(status).toBe(201);
    return body as Method;
  }

  const methodOf = async (story: Story, { id }: Method): Promise<Method> => {
    const path = `/v1/customers/${story.customerId}/payment-methods/${id}`;
    return (await engine.http.get(path).expect(200)).body as Method;
  };

  async function attemptsAt(invoiceId: string): Promise<readonly Attempt[]> {
    const { body } = await engine.http.get('/v1/payments').query({ invoice_id: invoiceId });
    return [...(body as { data: readonly Attempt[] }).data].reverse();
  }

  async function chargesAt(invoiceId: string): Promise<number> {
    const rows = await engine.database.query(
      `SELECT FROM sandbox_operation o JOIN payment p ON o.key = 'charge:' || p.id
       WHERE p.invoice_id = $1`,
      [invoiceId],
    );
    return rows.length;
  }

  it('is not tried again, dunning goes on, and another method is charged at once', async () => {
    const story = await Story.begin(engine, START);
    const card = await addCard(story, 'pm_sandbox_unusable');
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-01T01:00:00.000Z');
    const [invoice] = await story.invoices();
    expect(await methodOf(story, card)).toMatchObject({
      is_default: true,
      unusable_since: START,
      unusable_reason: 'method_unusable',
    });
    const [created, updated, ...more] = await eventsOf(engine, card.id);
    expect([created?.type, updated?.type, more.length]).toEqual([
      'payment_method.created',
      'payment_method.updated',
      0,
    ]);
    expect((await story.subscription(id)).status).toBe('past_due');

    await story.advance('2026-03-20T00:00:00.000Z');
    const attempts = await attemptsAt(invoice?.id ?? '');
    expect(attempts.map(({ collection_attempt: attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(attempts.map(({ failure_code: code }) => code))).toEqual(
      new Set(['method_unusable']),
    );
    expect(await chargesAt(invoice?.id ?? '')).toBe(1);
    expect(await eventsOf(engine, card.id)).toHaveLength(2);
    expect((await story.subscription(id)).status).toBe('unpaid');

    expect(await addCard(story, 'pm_sandbox_ok')).toMatchObject({
      is_default: true,
      unusable_since: null,
    });
    await story.advance('2026-03-20T01:00:00.000Z');
    expect((await story.invoices())[0]).toMatchObject({ status: 'paid', attempt_count: 6 });
    expect((await story.subscription(id)).status).toBe('active');
    await story.verify();
  });

  it('is not final if it may succeed later', async () => {
    const story = await Story.begin(engine, START);
    const card = await addCard(story, 'pm_sandbox_insufficient_funds');
    await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-10T00:00:00.000Z');
    const [invoice] = await story.invoices();
    expect(await methodOf(story, card)).toMatchObject({ unusable_since: null });
    const attempts = await attemptsAt(invoice?.id ?? '');
    expect(await chargesAt(invoice?.id ?? '')).toBe(attempts.length);
    expect(attempts.length).toBeGreaterThan(1);
    expect(await addCard(story, 'pm_sandbox_ok')).toMatchObject({ is_default: false });
  });

  it('in a payment by request marks the method as well, which a request may still charge', async () => {
    const story = await Story.begin(engine, START);
    const card = await addCard(story, 'pm_sandbox_unusable');
    const pay = () =>
      engine.http
        .post('/v1/payments')
        .send({ customer_id: story.customerId, amount: 100, currency: 'USD' });
    const answers = await Promise.all([pay(), pay()]);
    for (const { body } of answers) expect(body).toMatchObject({ failure_code: 'method_unusable' });
    expect(await methodOf(story, card)).toMatchObject({ unusable_reason: 'method_unusable' });
    expect(await eventsOf(engine, card.id)).toHaveLength(2);
    expect((await pay()).body).toMatchObject({ status: 'failed' });
  });
});

describe('a card that Stripe declines', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  afterAll(() => story.close());

  const collected = async () => {
    const due = story.engine.app.get(DueCollections);
    await due.runDue();
    await due.idle();
  };

  it.each([
    ['stolen_card', 'declined', true],
    ['expired_card', 'method_unusable', true],
    ['do_not_honor', 'declined', false],
    ['insufficient_funds', 'insufficient_funds', false],
  ] as const)('with %s fails with %s; final: %s', async (code, failure_code, isFinal) => {
    const { customer, method } = await story.customerWith('pm_card_visa');
    story.stripe.setBank(method.token, { charge: declined(code) });
    const lines = [{ description: 'Work', amount: 1_000 }];
    const body = { customer_id: customer, currency: 'USD', collection: 'automatic', lines };
    const { id } = await story.post('/v1/invoices', body);
    await story.engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    await collected();
    const before = story.stripe.account.paymentIntents.size;
    const path = `/v1/customers/${customer}/payment-methods/${method.id}`;
    expect(await story.get(path)).toMatchObject({
      unusable_since: isFinal ? expect.any(String) : null,
      unusable_reason: isFinal ? failure_code : null,
    });
    story.engine.clock.advanceMs(25 * HOUR_MS);
    await collected();
    const { data } = await story.get<{ data: Attempt[] }>(`/v1/payments?invoice_id=${id}`);
    expect(data).toMatchObject([
      { collection_attempt: 2, failure_code: isFinal ? 'method_unusable' : failure_code },
      { collection_attempt: 1, failure_code },
    ]);
    expect(story.stripe.account.paymentIntents.size - before).toBe(isFinal ? 0 : 1);
  });
});
