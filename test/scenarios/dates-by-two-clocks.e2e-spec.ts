import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { RenewSubscriptionsWorkflow } from '../../src/modules/billing/subscriptions/renew-subscriptions.workflow';
import { DueInvoices } from '../../src/modules/invoicing/due-invoices';
import { createCustomer } from '../support/billing';
import { recordDispute } from '../support/disputes';
import { verifyLedger } from '../support/ledger';
import { post } from '../support/requests';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

interface Dated {
  readonly id: string;
  readonly created_at: string;
}

interface DatedInvoice extends Invoice {
  readonly finalized_at: string;
  readonly paid_at: string;
  readonly voided_at: string;
}

/** Clocks of processes may differ by 5 s (decision 36). Each test sets the clock back between two commands. */
describe('a command by a clock that is behind is not dated before', () => {
  let engine: TestApp;
  let customer: string;
  const beginsAt = '2026-04-01T00:00:01.000Z';

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    engine.clock.set(beginsAt);
    customer = await createCustomer(engine, { currency: 'USD' });
  });

  afterEach(async () => {
    const { body } = await engine.http
      .get('/v1/ledger/transactions')
      .query({ customer_id: customer, limit: 100 });
    const { data } = body as { data: readonly { kind: string; occurred_at: string }[] };
    const times = data.map(({ occurred_at: at }) => at).reverse();
    expect(times).toEqual([...times].sort());
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  const setBack = (): void => {
    engine.clock.advanceMs(-3_000);
  };
  const draft = (amount: number, fields: object = {}): Promise<{ readonly id: string }> =>
    post(engine, '/v1/invoices', {
      customer_id: customer,
      currency: 'USD',
      lines: [{ description: 'Work', amount }],
      ...fields,
    });
  const command = async (path: string): Promise<DatedInvoice> =>
    (await engine.http.post(path).send({}).expect(200)).body as DatedInvoice;
  const finalize = ({ id }: { readonly id: string }) => command(`/v1/invoices/${id}/finalize`);
  const billed = async (amount: number): Promise<DatedInvoice> => finalize(await draft(amount));
  const pay = (id: string, token = 'pm_sandbox_ok'): Promise<Dated> =>
    post(engine, `/v1/invoices/${id}/pay`, { provider: 'sandbox', payment_method_id: token });
  const topUp = (amount: number): Promise<Dated> =>
    post(engine, '/v1/payments', { customer_id: customer, amount, currency: 'USD' });
  const read = async <Body = DatedInvoice>(path: string): Promise<Body> =>
    (await engine.http.get(path).expect(200)).body as Body;
  const note = ({ id, lines }: Invoice, amount: number): Promise<Dated> =>
    post(engine, '/v1/credit-notes', {
      invoice_id: id,
      lines: [{ invoice_line_id: lines[0]?.id, amount }],
      reason: 'Late',
      settle: 'credit',
    });
  const refund = (payment: Dated, body: object = {}): Promise<Dated> =>
    post(engine, `/v1/refunds/payment/${payment.id}`, body);

  const lose = (payment: Dated): Promise<unknown> =>
    recordDispute(engine, payment.id, {
      providerReference: `dp_${payment.id}`,
      status: 'lost',
      reason: null,
      amount: 1_000n,
      amountWithdrawn: 1_000n,
      amountReinstated: 0n,
      isRefundable: false,
      evidenceDueAt: null,
    });

  it('the creation of the draft that it finalizes, nor its due date', async () => {
    const made = await draft(1_000, { days_until_due: 1 });
    setBack();
    expect(await finalize(made)).toMatchObject({
      finalized_at: beginsAt,
      due_at: '2026-04-02T00:00:01.000Z',
    });
  });

  it.each([
    ['void', 'voided_at'],
    ['mark-uncollectible', 'uncollectible_at'],
  ])('the invoice that it ends: %s', async (action, field) => {
    const { id } = await billed(1_000);
    setBack();
    expect(await command(`/v1/invoices/${id}/${action}`)).toMatchObject({ [field]: beginsAt });
  });

  it('the void invoice that it regenerates', async () => {
    const { id } = await billed(1_000);
    await command(`/v1/invoices/${id}/void`);
    setBack();
    const again = await post<DatedInvoice>(engine, `/v1/invoices/${id}/reissue`, {});
    expect(again).toMatchObject({ created_at: beginsAt, finalized_at: beginsAt });
  });

  it('the invoice that it credits, or the credit note that it voids', async () => {
    const invoice = await billed(1_000);
    await pay(invoice.id);
    setBack();
    expect(await note(invoice, 100)).toMatchObject({ created_at: beginsAt });
    engine.clock.advanceMs(3_000);
    const later = await note(invoice, 200);
    setBack();
    const { body } = await engine.http.post(`/v1/credit-notes/${later.id}/void`).send({});
    expect(body).toMatchObject({ voided_at: later.created_at });
  });

  it('the invoice that it pays, also if a process wrote the invoice off meanwhile', async () => {
    const invoice = await billed(1_000);
    setBack();
    const payment = await pay(invoice.id, 'pm_sandbox_pending');
    expect(payment).toMatchObject({ created_at: beginsAt });
    engine.clock.advanceMs(4_000);
    await command(`/v1/invoices/${invoice.id}/mark-uncollectible`);
    setBack();
    await engine.http
      .post(`/v1/sandbox/payments/${payment.id}/settle`)
      .send({ outcome: 'succeeded' })
      .expect(200);
    expect(await read(`/v1/invoices/${invoice.id}`)).toMatchObject({
      status: 'paid',
      paid_at: '2026-04-01T00:00:02.000Z',
    });
  });

  it('the payment that it refunds', async () => {
    const payment = await topUp(1_000);
    setBack();
    const refunded = await refund(payment, { amount: 400 });
    expect(refunded).toMatchObject({ created_at: beginsAt, status: 'succeeded' });
    expect(await read(`/v1/payments/${payment.id}`)).toMatchObject({ updated_at: beginsAt });
  });

  it('the payment that a bank disputes', async () => {
    const payment = await topUp(1_000);
    setBack();
    await lose(payment);
    const { data } = await read<{ data: readonly Dated[] }>(
      `/v1/disputes?payment_id=${payment.id}`,
    );
    expect(data).toMatchObject([{ created_at: beginsAt, updated_at: beginsAt }]);
  });

  it('the credit that it uses', async () => {
    const { id } = await draft(400);
    engine.clock.advanceMs(3_000);
    await topUp(500);
    setBack();
    expect(await finalize({ id })).toMatchObject({
      credit_applied: 400,
      finalized_at: '2026-04-01T00:00:04.000Z',
      paid_at: '2026-04-01T00:00:04.000Z',
    });
  });

  it('the void invoice that returned the credit which it uses or refunds', async () => {
    const payment = await topUp(500);
    const { id } = await billed(600);
    engine.clock.advanceMs(3_000);
    await command(`/v1/invoices/${id}/void`);
    setBack();
    const atVoid = '2026-04-01T00:00:04.000Z';
    expect(await billed(300)).toMatchObject({ credit_applied: 300, finalized_at: atVoid });
    expect(await refund(payment, { amount: 200 })).toMatchObject({ created_at: atVoid });
  });

  it('the credit note whose credit it refunds', async () => {
    const invoice = await billed(1_000);
    const payment = await pay(invoice.id);
    engine.clock.advanceMs(3_000);
    await note(invoice, 300);
    setBack();
    const rest = await refund(payment, { amount: 1_000 });
    expect(rest).toMatchObject({ created_at: '2026-04-01T00:00:04.000Z' });
  });

  const planOf = (code: string, amount: number) =>
    post(engine, '/v1/plans', {
      code,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount }],
    });
  const subscribe = async (code: string, fields: object = {}) => {
    const { id: plan_id } = await planOf(code, 3_000);
    return post(engine, '/v1/subscriptions', { customer_id: customer, plan_id, ...fields });
  };
  const patch = (path: string): Promise<unknown> =>
    engine.http
      .patch(path)
      .send({ metadata: { team: 'blue' } })
      .expect(200);
  const firstInvoiceOf = async (id: string): Promise<DatedInvoice> => {
    const path = `/v1/invoices?subscription_id=${id}`;
    const [first] = (await read<{ data: readonly DatedInvoice[] }>(path)).data;
    if (first === undefined) throw new Error('The first period is billed.');
    return first;
  };
  const timesOf = async (id: string, type: string): Promise<readonly string[]> => {
    const path = `/v1/events?object_id=${id}&type=${type}`;
    const { data } = await read<{ data: readonly { readonly timestamp: string }[] }>(path);
    return data.map(({ timestamp }) => timestamp);
  };

  it('the invoice of a subscription that a change credits', async () => {
    const subscription = await subscribe('dated-3000');
    const large = await planOf('dated-6000', 6_000);
    const path = `/v1/invoices?subscription_id=${subscription.id}`;
    const invoices = async (): Promise<readonly DatedInvoice[]> =>
      (await read<{ data: readonly DatedInvoice[] }>(path)).data;
    const [first] = await invoices();
    await command(`/v1/invoices/${first?.id ?? ''}/void`);
    engine.clock.set('2026-04-11T00:00:03.000Z');
    await post(engine, `/v1/invoices/${first?.id ?? ''}/reissue`, {});
    setBack();
    const body = { plan_id: large.id, when: 'now' };
    await engine.http.post(`/v1/subscriptions/${subscription.id}/change`).send(body).expect(200);
    expect((await invoices())[0]).toMatchObject({
      subtotal: 2_000,
      finalized_at: '2026-04-11T00:00:03.000Z',
    });
  });

  it('the revenue of a period that it ends, together with the invoice of the end', async () => {
    const { id } = await subscribe('dated-ended');
    engine.clock.set('2026-04-11T00:00:03.000Z');
    await topUp(500);
    setBack();
    const body = { when: 'now', credit_unused: true };
    await engine.http.post(`/v1/subscriptions/${id}/cancel`).send(body).expect(200);
  });

  it('the void invoice that returned the credit of the credit note that it voids', async () => {
    const invoice = await billed(1_000);
    await pay(invoice.id);
    const given = await note(invoice, 300);
    const { id } = await billed(600);
    engine.clock.advanceMs(3_000);
    await command(`/v1/invoices/${id}/void`);
    setBack();
    expect(await command(`/v1/credit-notes/${given.id}/void`)).toMatchObject({
      voided_at: '2026-04-01T00:00:04.000Z',
    });
  });

  it('the loss that the void of an invoice covers', async () => {
    const payment = await topUp(1_000);
    const { id } = await billed(1_200);
    engine.clock.advanceMs(3_000);
    await lose(payment);
    setBack();
    expect(await command(`/v1/invoices/${id}/void`)).toMatchObject({
      voided_at: '2026-04-01T00:00:04.000Z',
    });
  });

  it('the loss that a credit note covers', async () => {
    const payment = await topUp(1_000);
    const invoice = await billed(800);
    engine.clock.advanceMs(3_000);
    await lose(payment);
    setBack();
    expect(await note(invoice, 500)).toMatchObject({ created_at: '2026-04-01T00:00:04.000Z' });
  });

  it('the last change of the invoice that it charges automatically', async () => {
    await post(engine, `/v1/customers/${customer}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    const first = await firstInvoiceOf((await subscribe('dated-charge')).id);
    engine.clock.advanceMs(3_000);
    await patch(`/v1/invoices/${first.id}`);
    setBack();
    await engine.app.get(DueCollections).runDue();
    await engine.app.get(DueCollections).idle();
    const payments = await read<object>(`/v1/payments?customer_id=${customer}`);
    expect(payments).toMatchObject({ data: [{ created_at: '2026-04-01T00:00:04.000Z' }] });
  });

  it('the last change of a subscription, in its events', async () => {
    const { id } = await subscribe('dated-events');
    setBack();
    await patch(`/v1/subscriptions/${id}`);
    expect(await timesOf(id, 'subscription.updated')).toEqual([beginsAt]);
  });

  it('the last change of a subscription, in the events of its renewal', async () => {
    const { id } = await subscribe('dated-renewal');
    const [dueAt, patchedAt] = ['2026-05-01T00:00:01.000Z', '2026-05-01T00:00:04.000Z'];
    engine.clock.set(patchedAt);
    await patch(`/v1/subscriptions/${id}`);
    setBack();
    const due = { id, dueAt: new Date(dueAt) };
    const renewals = engine.app.get(RenewSubscriptionsWorkflow);
    await renewals.recordFailure(due, 'invoice_too_large', engine.clock.now());
    expect(await timesOf(id, 'subscription.renewal_failed')).toEqual([patchedAt]);
    await engine.app.get(DueSubscriptions).runDue();
    expect(await timesOf(id, 'subscription.renewed')).toEqual([patchedAt]);
  });

  it('the last change of the invoice that a new payment method pays, in its events', async () => {
    const first = await firstInvoiceOf((await subscribe('dated-method')).id);
    setBack();
    await post(engine, `/v1/customers/${customer}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    expect(await timesOf(first.id, 'invoice.updated')).toEqual([beginsAt]);
  });

  it('the last change of the draft that it deletes, in the event', async () => {
    const { id } = await draft(1_000);
    engine.clock.advanceMs(3_000);
    await patch(`/v1/invoices/${id}`);
    setBack();
    await engine.http.delete(`/v1/invoices/${id}`).expect(204);
    expect(await timesOf(id, 'invoice.deleted')).toEqual(['2026-04-01T00:00:04.000Z']);
  });

  it('the last change of the empty renewal draft that it deletes, in the event', async () => {
    await engine.http
      .patch(`/v1/customers/${customer}`)
      .send({ invoice_grace_hours: 1 })
      .expect(200);
    const meter = { key: 'dated', event_name: 'dated', aggregation: 'count' };
    const { id: meter_id } = await post(engine, '/v1/meters', meter);
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const { id: plan_id } = await post(engine, '/v1/plans', {
      code: 'dated-calls',
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ ...calls, meter_id }],
    });
    const subscription = await post(engine, '/v1/subscriptions', {
      customer_id: customer,
      plan_id,
    });
    engine.clock.set('2026-05-01T00:00:01.000Z');
    await engine.app.get(DueSubscriptions).runDue();
    const { id } = await firstInvoiceOf(subscription.id);
    engine.clock.set('2026-05-01T01:00:04.000Z');
    await patch(`/v1/invoices/${id}`);
    setBack();
    await engine.app.get(DueDrafts).runDue();
    expect(await timesOf(id, 'invoice.deleted')).toEqual(['2026-05-01T01:00:04.000Z']);
  });

  it('the last change of the invoice that becomes overdue', async () => {
    const fields = { collection: 'send_invoice', days_until_due: 1 };
    const { id } = await finalize(await draft(1_000, fields));
    engine.clock.set('2026-04-02T00:00:04.000Z');
    await patch(`/v1/invoices/${id}`);
    setBack();
    await engine.app.get(DueInvoices).runDue();
    const changedAt = '2026-04-02T00:00:04.000Z';
    expect(await timesOf(id, 'invoice.overdue')).toEqual([changedAt]);
    expect(await read(`/v1/invoices/${id}`)).toMatchObject({ overdue_at: changedAt });
  });

  it('the time limit of a first payment, which is not over by that clock', async () => {
    const { id } = await subscribe('dated-limit', { payment_behavior: 'default_incomplete' });
    const first = await firstInvoiceOf(id);
    engine.clock.set('2026-04-01T23:00:02.000Z');
    await patch(`/v1/invoices/${first.id}`);
    setBack();
    await pay(first.id, 'pm_sandbox_declined');
    expect(await read(`/v1/subscriptions/${id}`)).toMatchObject({ status: 'incomplete' });
  });
});
