import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { createCustomer } from '../support/billing';
import { post, startTestApp, Story, type Invoice, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

interface Copy {
  readonly amount_pending: number;
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
}

describe('events of invoices about their payments', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const begin = (): Promise<Story> => Story.begin(engine, '2026-03-01T00:00:00.000Z');
  async function open(story: Story, fields: object = {}): Promise<string> {
    const lines = [{ description: 'Work', amount: 1_000 }];
    const draft = { customer_id: story.customerId, currency: 'USD', lines, ...fields };
    const { id } = await post(engine, '/v1/invoices', draft);
    await post(engine, `/v1/invoices/${id}/finalize`);
    return id;
  }
  const read = async (id: string) =>
    (await engine.http.get(`/v1/invoices/${id}`)).body as Invoice & Copy;
  const pay = (id: string, method: string) =>
    post(engine, `/v1/invoices/${id}/pay`, { payment_method_id: method });
  const settle = (id: string, outcome: 'succeeded' | 'failed') =>
    post(engine, `/v1/sandbox/payments/${id}/settle`, { outcome });

  /** Returns types and amounts of the events after the first two, which create and finalize the invoice. */
  async function changesOf(id: string): Promise<readonly unknown[]> {
    const events = await eventsOf(engine, id);
    const shown = events.map(({ type, data }) => {
      const { object } = data as unknown as { object: Copy };
      return [type, object.amount_pending, object.attempt_count];
    });
    const { amount_pending: pending, attempt_count: attempts } = await read(id);
    expect(shown.at(-1)?.slice(1)).toEqual([pending, attempts]);
    return shown.slice(2);
  }

  it('show what a pending payment reserves, and that it ends after the invoice was voided', async () => {
    for (const [outcome, type] of [
      ['succeeded', 'invoice.updated'],
      ['failed', 'invoice.payment_failed'],
    ] as const) {
      const story = await begin();
      const id = await open(story);
      const payment = await pay(id, 'pm_sandbox_pending');
      expect(await changesOf(id)).toEqual([['invoice.updated', 1_000, 0]]);
      await post(engine, `/v1/invoices/${id}/void`);
      await settle(payment.id, outcome);
      await settle(payment.id, outcome).catch(() => null);
      expect(await changesOf(id)).toEqual([
        ['invoice.updated', 1_000, 0],
        ['invoice.voided', 1_000, 0],
        [type, 0, 0],
      ]);
      await story.verify();
    }
  });

  it('show that a pending payment ends after a credit note paid the invoice', async () => {
    const story = await begin();
    const id = await open(story);
    const payment = await pay(id, 'pm_sandbox_pending');
    await post(engine, '/v1/credit-notes', {
      invoice_id: id,
      lines: [{ invoice_line_id: (await read(id)).lines[0]?.id, amount: 1_000 }],
      reason: 'Late',
      settle: 'credit',
    });
    await settle(payment.id, 'succeeded');
    expect(await changesOf(id)).toEqual([
      ['invoice.updated', 1_000, 0],
      ['invoice.paid', 1_000, 0],
      ['invoice.updated', 0, 0],
    ]);
    await story.verify();
  });

  it('show each automatic charge', async () => {
    const story = await begin();
    await post(engine, `/v1/customers/${story.customerId}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_declined',
      is_default: true,
    });
    await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-02T00:00:00.000Z');
    const id = (await story.invoices())[0]?.id ?? '';
    expect((await changesOf(id)).slice(0, 2)).toEqual([
      ['invoice.updated', 1_000, 1],
      ['invoice.payment_failed', 0, 1],
    ]);
    await story.verify();
  });

  it('show that a new payment method is charged at once, unless that was planned', async () => {
    const story = await begin();
    const keep = (token: string) =>
      post(engine, `/v1/customers/${story.customerId}/payment-methods`, {
        provider: 'sandbox',
        token,
        is_default: true,
      });
    await keep('pm_sandbox_declined');
    await story.subscribe(await story.plan(1_000));
    await story.advance('2026-03-01T12:00:00.000Z');
    const id = (await story.invoices())[0]?.id ?? '';
    const before = await read(id);
    expect(before.next_attempt_at).not.toBeNull();
    await keep('pm_sandbox_ok');
    await keep('pm_sandbox_ok');
    const changes = await eventsOf(engine, id);
    expect(changes.slice(5)).toMatchObject([
      {
        type: 'invoice.updated',
        data: {
          object: { next_attempt_at: '2026-03-01T12:00:00.000Z', attempt_count: 1 },
          previous: { next_attempt_at: before.next_attempt_at },
        },
      },
    ]);
    expect(changes.at(-1)?.data).toMatchObject({ object: await read(id) });
    await story.verify();
  });

  it('show that an invoice without a payment method is not charged automatically, before it is due', async () => {
    const story = await begin();
    const id = await open(story, { days_until_due: 14 });
    expect((await read(id)).next_attempt_at).toBe('2026-03-01T00:00:00.000Z');
    await story.advance('2026-03-02T00:00:00.000Z');
    const stopped = (await eventsOf(engine, id)).slice(2);
    expect(stopped).toMatchObject([
      {
        type: 'invoice.updated',
        data: {
          object: await read(id),
          previous: { next_attempt_at: '2026-03-01T00:00:00.000Z' },
        },
      },
    ]);
    expect((await read(id)).next_attempt_at).toBeNull();
    await story.advance('2026-03-15T00:00:00.000Z');
    const [, overdue] = (await eventsOf(engine, id)).slice(2);
    expect(overdue).toMatchObject({ type: 'invoice.overdue', data: { object: await read(id) } });
  });

  it('show that the rest of an invoice is not charged automatically while a part is pending', async () => {
    const story = await begin();
    const id = await open(story);
    await post(engine, '/v1/payments', {
      customer_id: story.customerId,
      invoice_id: id,
      amount: 400,
      currency: 'USD',
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_pending',
    });
    await story.advance('2026-03-02T00:00:00.000Z');
    const stopped = (await eventsOf(engine, id)).at(-1);
    expect(stopped).toMatchObject({
      type: 'invoice.updated',
      data: {
        object: { amount_pending: 400, next_attempt_at: null },
        previous: { next_attempt_at: '2026-03-01T00:00:00.000Z' },
      },
    });
    expect(stopped?.data).toMatchObject({ object: await read(id) });
  });

  it('show a written-off invoice as it is after its collection was closed', async () => {
    const customer = await createCustomer(engine);
    const story = await begin();
    const plan = await story.plan(1_000);
    await post(engine, '/v1/subscriptions', { customer_id: customer, plan_id: plan });
    const { body } = await engine.http.get('/v1/invoices').query({ customer_id: customer });
    const [{ id }] = (body as { data: [Invoice] }).data;
    await post(engine, `/v1/invoices/${id}/mark-uncollectible`);
    engine.clock.advanceMs(60_000);
    await engine.app.get(DueCollections).runDue();
    await engine.app.get(DueCollections).idle();
    const count = `SELECT count(*)::int AS open FROM invoice WHERE id = $1 AND collect_at IS NOT NULL`;
    expect(await engine.database.query(count, [id])).toEqual([{ open: 0 }]);
    expect((await eventsOf(engine, id)).at(-1)).toMatchObject({
      type: 'invoice.uncollectible',
      data: { object: await read(id) },
    });
  });
});
