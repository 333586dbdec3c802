import { DataSource } from 'typeorm';
import { ExpireUnpaidStarts1796300230000 } from '../../migrations/1796300230000-ExpireUnpaidStarts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { CollectInvoicesWorkflow } from '../../src/modules/billing/payments/collect-invoices.workflow';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { startTestApp, type Invoice, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';
const BEFORE_EXPIRY = '2026-03-01T22:59:59.999Z';
const EXPIRY = '2026-03-01T23:00:00.000Z';
const LATER = '2026-03-03T12:00:00.000Z';

describe('incomplete subscriptions on the real clock', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set(START);
  });

  afterAll(() => engine.close());

  beforeEach(() => {
    engine.clock.set(START);
  });

  /** Creates subscriptions that wait for their first payment, of customers with this card or none. */
  async function waiting(count: number, token: string | null): Promise<readonly string[]> {
    made += 1;
    const plan = await engine.http.post('/v1/plans').send({
      code: `waits-${made}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }],
    });
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const customer = await engine.http.post('/v1/customers').send({ name: 'Ada' });
      const { id: customer_id } = customer.body as { id: string };
      if (token !== null) {
        await engine.http
          .post(`/v1/customers/${customer_id}/payment-methods`)
          .send({ provider: 'sandbox', token })
          .expect(201);
      }
      const { id: plan_id } = plan.body as { id: string };
      const answer = await engine.http
        .post('/v1/subscriptions')
        .send({ customer_id, plan_id, payment_behavior: 'default_incomplete' })
        .expect(201);
      ids.push((answer.body as { id: string }).id);
    }
    return ids;
  }

  const read = async (path: string): Promise<Record<string, unknown>> =>
    (await engine.http.get(path)).body as Record<string, unknown>;
  const statusOf = async (id: string) => (await read(`/v1/subscriptions/${id}`))['status'];
  async function invoiceOf(id: string): Promise<Invoice> {
    const { data } = await read(`/v1/invoices?subscription_id=${id}`);
    const [invoice] = data as readonly Invoice[];
    if (invoice === undefined) throw new Error('There is no invoice.');
    return invoice;
  }
  const verified = async (): Promise<void> => {
    expect(await read('/v1/ledger/verify')).toMatchObject({ ok: true });
  };
  async function runDue(): Promise<void> {
    while (await engine.app.get(DueSubscriptions).runDue());
  }
  async function collect(): Promise<void> {
    const collections = engine.app.get(DueCollections);
    await collections.runDue();
    await collections.idle();
  }
  async function finishPayments(): Promise<void> {
    const payments = engine.app.get(DuePayments);
    await payments.runDue();
    await payments.idle();
  }

  it('expire in a batch, beside others that are renewed, with concurrent workers', async () => {
    const ids = await waiting(6, null);
    const { id: paidId } = await invoiceOf(ids[0] ?? '');
    await engine.http.post(`/v1/invoices/${paidId}/pay`).send({ provider: 'manual' }).expect(201);
    engine.clock.set('2026-04-01T00:00:00.000Z');
    await Promise.all([runDue(), runDue(), runDue()]);
    const statuses = await Promise.all(ids.map(statusOf));
    expect(statuses).toEqual(['active', ...ids.slice(1).map(() => 'incomplete_expired')]);
    for (const id of ids.slice(1)) {
      expect(await invoiceOf(id)).toMatchObject({ status: 'void' });
      expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
        'subscription.created',
        'subscription.updated',
        'subscription.expired',
      ]);
    }
    await verified();
  });

  it('either are paid or expire, when both happen concurrently', async () => {
    const ids = await waiting(8, null);
    const invoices = await Promise.all(ids.map(invoiceOf));
    engine.clock.set(EXPIRY);
    const [answers] = await Promise.all([
      Promise.all(
        invoices.map(({ id }) =>
          engine.http.post(`/v1/invoices/${id}/pay`).send({ provider: 'manual' }),
        ),
      ),
      runDue(),
    ]);
    await runDue();
    for (const [index, id] of ids.entries()) {
      const isPaid = answers[index]?.status === 201;
      expect([201, 409]).toContain(answers[index]?.status);
      expect(await statusOf(id)).toBe(isPaid ? 'active' : 'incomplete_expired');
      expect(await invoiceOf(id)).toMatchObject({ status: isPaid ? 'paid' : 'void' });
    }
    await verified();
  });

  it('either are voided or paid, when both happen concurrently, and no money is lost', async () => {
    const ids = await waiting(8, null);
    const invoices = await Promise.all(ids.map(invoiceOf));
    await Promise.all(
      invoices.flatMap(({ id }) => [
        engine.http.post(`/v1/invoices/${id}/pay`).send({ provider: 'manual' }),
        engine.http.post(`/v1/invoices/${id}/void`).send({}),
      ]),
    );
    for (const id of ids) {
      const { status } = await invoiceOf(id);
      expect(await statusOf(id)).toBe(status === 'paid' ? 'active' : 'incomplete_expired');
    }
    await verified();
  });

  it('are paid once by two concurrent payments', async () => {
    const [id] = await waiting(1, null);
    const { id: invoiceId } = await invoiceOf(id ?? '');
    const pay = () =>
      engine.http.post(`/v1/invoices/${invoiceId}/pay`).send({ provider: 'sandbox' });
    const answers = await Promise.all([pay(), pay(), pay()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(await statusOf(id ?? '')).toBe('active');
    const activated = await eventsOf(engine, id ?? '');
    expect(activated.filter(({ type }) => type === 'subscription.activated')).toHaveLength(1);
    await verified();
  });

  it('credit a charge without a response that is found to have succeeded after the expiry', async () => {
    const [id] = await waiting(1, 'pm_sandbox_unknown');
    engine.clock.set(BEFORE_EXPIRY);
    await collect();
    expect(await invoiceOf(id ?? '')).toMatchObject({ status: 'open', amount_pending: 1_000 });
    engine.clock.set(EXPIRY);
    await runDue();
    expect(await statusOf(id ?? '')).toBe('incomplete');
    engine.clock.advanceMs(60_000);
    await finishPayments();
    expect(await invoiceOf(id ?? '')).toMatchObject({ status: 'paid' });
    expect(await statusOf(id ?? '')).toBe('active');
    await verified();
  });

  it('are finished by another process if one died during the charge', async () => {
    const [id] = await waiting(1, 'pm_sandbox_declined');
    engine.clock.set(BEFORE_EXPIRY);
    const begun = await engine.app.get(CollectInvoicesWorkflow).begin(null, engine.clock.now(), 5);
    expect(begun.payments).toHaveLength(1);
    engine.clock.set(LATER);
    await runDue();
    expect(await statusOf(id ?? '')).toBe('incomplete');
    await finishPayments();
    expect(await statusOf(id ?? '')).toBe('incomplete_expired');
    expect(await invoiceOf(id ?? '')).toMatchObject({ status: 'void', amount_pending: 0 });
    await verified();
  });

  /** Waits for a payment that is still in flight after the expiry. Returns the ids of the subscription and payment. */
  async function paidLate(): Promise<readonly [string, string]> {
    const [id = ''] = await waiting(1, 'pm_sandbox_pending');
    engine.clock.set(BEFORE_EXPIRY);
    await collect();
    engine.clock.set('2026-03-01T23:00:02.000Z');
    await runDue();
    const { data } = await read(`/v1/payments?invoice_id=${(await invoiceOf(id)).id}`);
    const [payment] = data as readonly { readonly id: string }[];
    return [id, payment?.id ?? ''];
  }

  it('expire if the payment fails by a clock that is behind the one by which it was late', async () => {
    const [id, paymentId] = await paidLate();
    expect(await statusOf(id)).toBe('incomplete');
    engine.clock.set(BEFORE_EXPIRY);
    const path = `/v1/sandbox/payments/${paymentId}/settle`;
    await engine.http.post(path).send({ outcome: 'failed' }).expect(200);
    expect(await statusOf(id)).toBe('incomplete_expired');
    expect(await invoiceOf(id)).toMatchObject({ status: 'void' });
    await verified();
  });

  it('that an earlier release never expired are due after the upgrade, unless a payment is in flight', async () => {
    const [paid] = await paidLate();
    const before = await eventsOf(engine, paid);
    engine.clock.set(START);
    const [stuck = ''] = await waiting(1, null);
    const wait = 'UPDATE subscription SET next_billing_at = NULL WHERE id = $1';
    await engine.database.query(wait, [stuck]);
    engine.clock.set(LATER);
    await runDue();
    expect(await statusOf(stuck)).toBe('incomplete');
    const runner = engine.app.get(DataSource).createQueryRunner();
    await new ExpireUnpaidStarts1796300230000().up(runner);
    await runner.release();
    await runDue();
    expect(await statusOf(stuck)).toBe('incomplete_expired');
    expect(await invoiceOf(stuck)).toMatchObject({ status: 'void' });
    expect(await eventsOf(engine, paid)).toEqual(before);
    await verified();
  });

  it('are not charged after the expiry by workers that were stopped', async () => {
    const [id] = await waiting(1, 'pm_sandbox_ok');
    engine.clock.set(LATER);
    await collect();
    expect(await invoiceOf(id ?? '')).toMatchObject({ status: 'open', attempt_count: 0 });
    await runDue();
    expect(await statusOf(id ?? '')).toBe('incomplete_expired');
    await verified();
  });

  it('are expired for a command once their time limit has passed', async () => {
    const [id] = await waiting(1, null);
    engine.clock.set(LATER);
    const path = `/v1/subscriptions/${id ?? ''}/cancel`;
    const { status, body } = await engine.http.post(path).send({ when: 'now' });
    expect([status, (body as { code: string }).code]).toEqual([409, 'invalid_transition']);
  });
});
