import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { startTestApp, Story, type TestApp } from '../support/story';
import {
  type Answer,
  type EngineWithStripe,
  startEngineWithStripe,
} from '../support/stripe/engine-with-stripe';
import { type Fault } from '../support/stripe/faults';
import { declined } from '../support/stripe/test-methods';
import { eventsOf } from '../support/test-app';
import { until } from '../support/until';

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

  describe('for good while another charge of it is pending', () => {
    let customer: string;
    let method: Answer;
    let invoices: string[];
    /** Requests to confirm a charge. */
    let confirms: number;

    beforeEach(async () => {
      ({ customer, method } = await story.customerWith('pm_card_visa'));
      story.stripe.setBank(method.token, { charge: declined('stolen_card') });
      invoices = [];
      for (const amount of [1_000, 2_000]) {
        const lines = [{ description: 'Work', amount }];
        const body = { customer_id: customer, currency: 'USD', collection: 'automatic', lines };
        const { id } = await story.post('/v1/invoices', body);
        await story.engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
        invoices.push(id);
      }
      confirms = 0;
    });

    afterEach(() => {
      story.reset();
      story.stripe.faults.decide = () => null;
    });

    /** Counts confirmations; the first ones have a fault. */
    function confirmWith(faults: readonly (Fault | null)[]): void {
      story.stripe.faults.decide = (operation) => {
        if (operation !== 'paymentIntents.confirm') return null;
        confirms += 1;
        return faults[confirms - 1] ?? null;
      };
    }

    /** Charges both invoices at once; the two requests overlap. */
    async function collectAtOnce(meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
      confirmWith(['hang_before', 'hang_before']);
      const due = story.engine.app.get(DueCollections);
      await due.runDue();
      await until('both are asked', () => story.stripe.faults.hanging === 2);
      await meanwhile();
      story.stripe.faults.release();
      await due.idle();
    }

    const intentsOf = (field: 'customer_id' | 'invoice_id', id: string) =>
      [...story.stripe.account.paymentIntents.values()].filter(
        ({ metadata }) => metadata[field] === id,
      );

    const statuses = async () => {
      const shown = await Promise.all(invoices.map((id) => story.get(`/v1/invoices/${id}`)));
      return shown.map(({ status }) => status);
    };

    it('is not sent a third time', async () => {
      await collectAtOnce();
      expect(confirms).toBe(2);
      const path = `/v1/customers/${customer}/payment-methods/${method.id}`;
      expect(await story.get(path)).toMatchObject({ unusable_reason: 'declined' });
      expect(
        (await eventsOf(story.engine, method.id)).filter(({ type }) => type.endsWith('updated')),
      ).toHaveLength(1);
      for (const hours of [25, 73]) {
        story.engine.clock.advanceMs(hours * HOUR_MS);
        await collected();
      }
      expect(intentsOf('customer_id', customer)).toHaveLength(2);
      for (const id of invoices) {
        const { data } = await story.get<{ data: Attempt[] }>(`/v1/payments?invoice_id=${id}`);
        expect(data.map(({ failure_code: code }) => code)).toEqual([
          'method_unusable',
          'method_unusable',
          'declined',
        ]);
      }
    });

    it('is replaced by a default that was chosen in between', async () => {
      const body = { provider: 'stripe', token: 'pm_card_mastercard', is_default: true };
      let other: Answer | null = null;
      await collectAtOnce(async () => {
        other = await story.post(`/v1/customers/${customer}/payment-methods`, body);
      });
      await collected();
      expect(await statuses()).toEqual(['paid', 'paid']);
      expect(confirms).toBe(4);
      const { data } = await story.get<{ data: (Attempt & { payment_method_id: string })[] }>(
        `/v1/payments?customer_id=${customer}`,
      );
      const charged = data.map(({ status, payment_method_id: id }) => [status, id]);
      expect(charged.slice(0, 2)).toEqual(Array(2).fill(['succeeded', other?.['id']]));
      expect(charged.slice(2)).toEqual(Array(2).fill(['failed', method.id]));
    });

    it('does not confirm a charge that was only prepared', async () => {
      // The SDK sends a request again once after a reset.
      confirmWith(Array<Fault>(4).fill('reset_before'));
      const due = story.engine.app.get(DueCollections);
      await due.runDue();
      await due.idle();
      story.stripe.faults.decide = () => null;
      const declinedNow = await story.pay(customer);
      expect(declinedNow.status).toBe('failed');
      confirmWith([]);
      confirms = 0;
      story.engine.clock.advanceMs(HOUR_MS);
      await story.run(DuePayments);
      expect(confirms).toBe(0);
      for (const id of invoices) {
        const { data } = await story.get<{ data: Attempt[] }>(`/v1/payments?invoice_id=${id}`);
        expect(data).toMatchObject([{ status: 'failed', failure_code: 'method_unusable' }]);
        expect(intentsOf('invoice_id', id)).toMatchObject([{ status: 'canceled' }]);
      }
    });
  });
});
