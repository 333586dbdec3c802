import type { RefundSource, RefundStatus } from '../../src/modules/refunds/domain/refund';
import { DueReconciliations } from '../../src/modules/reconciliations/due-reconciliations';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { newId } from '../../src/platform/ids';
import { verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { invalidRequest } from '../support/stripe/errors';

const HOUR_MS = 3_600_000;

interface Refund {
  readonly id: string;
  readonly status: RefundStatus;
  readonly source: RefundSource;
  readonly amount: number;
}

/** Refunds whose metadata somebody copied to another refund, or deleted, before their id at Stripe was stored. */
describe('a refund at Stripe whose metadata somebody changed', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterEach(async () => {
    expect(await verifyLedger(story.engine)).toMatchObject({ ok: true });
    expect(
      await story.engine.database.query('SELECT id FROM provider_event WHERE due_at IS NOT NULL'),
    ).toEqual([]);
  });

  afterAll(() => story.close());

  /** Refunds a payment at Stripe, with our id of a refund in the metadata. */
  async function refundThere(payment: string, amount: number, refundId: string): Promise<void> {
    await story.stripe.client().refunds.create({
      payment_intent: story.intentOf(payment),
      amount,
      metadata: { environment: 'live', refund_id: refundId },
    });
    await story.notified();
  }

  const refundsOf = async (payment: string): Promise<readonly Refund[]> =>
    (await story.get<{ data: Refund[] }>(`/v1/refunds?payment_id=${payment}`)).data;
  const refundedOf = async (payment: string): Promise<number> =>
    (await story.get<{ amount_refunded: number }>(`/v1/payments/${payment}`)).amount_refunded;

  /** Requests a refund that Stripe does not receive. Returns the refund's id. */
  async function neverReceived(payment: string, amount: number): Promise<string> {
    story.stripe.faults.plan('error_500_before', { operation: 'refunds.create', times: 2 });
    const { id, status } = await story.post(`/v1/refunds/payment/${payment}`, { amount });
    expect(status).toBe('pending');
    story.stripe.faults.clear();
    return id;
  }

  /** Requests a refund that Stripe refuses. Returns the refund's id. */
  async function refused(payment: string, amount: number): Promise<string> {
    story.stripe.faults.plan(invalidRequest('Refused.'), { operation: 'refunds.create' });
    const { id, status } = await story.post(`/v1/refunds/payment/${payment}`, { amount });
    expect(status).toBe('failed');
    return id;
  }

  /** Requests a refund that Stripe makes, and that a proxy refuses. Returns the refund's id. */
  async function refusedByProxy(payment: string, amount: number): Promise<string> {
    const text = '{"error":{"type":"invalid_request_error","message":"Refused."}}';
    story.stripe.faults.plan({ status: 400, text }, { operation: 'refunds.create' });
    const { id, status } = await story.post(`/v1/refunds/payment/${payment}`, { amount });
    expect(status).toBe('failed');
    await story.notified();
    return id;
  }

  const madeFor = (refundId: string) => {
    const made = [...story.stripe.account.refunds.values()];
    const found = made.find(({ metadata }) => metadata?.['refund_id'] === refundId);
    if (found === undefined) throw new Error(`Stripe has no refund of ${refundId}.`);
    return found;
  };

  async function deleteMetadata(refundId: string): Promise<void> {
    const made = madeFor(refundId);
    made.metadata = {};
    story.stripe.account.record('refund.updated', made);
    await story.notified();
  }

  async function apply(refundId: string): Promise<number> {
    const path = '/v1/provider-discrepancies';
    const { data } = await story.get<{ data: { id: string; refund_id: string }[] }>(path);
    const found = data.find(({ refund_id }) => refund_id === refundId);
    const { status } = await story.engine.http.post(`${path}/${found?.id}/apply`).send({});
    return status;
  }

  async function pollFor8Hours(): Promise<void> {
    for (let poll = 0; poll < 8; poll += 1) {
      story.engine.clock.advanceMs(61 * 60_000);
      await story.run(DueRefunds);
      await story.notified();
    }
  }

  it('is recorded once if an earlier release applied its discrepancy without storing its id', async () => {
    const { payment } = await story.paid();
    const id = await refusedByProxy(payment, 300);
    expect(await apply(id)).toBe(200);
    const sql = 'UPDATE refund SET provider_reference = NULL WHERE id = $1';
    await story.engine.database.query(sql, [id]);
    await deleteMetadata(id);
    expect(await refundsOf(payment)).toMatchObject([{ id, status: 'succeeded' }]);
    expect(await refundedOf(payment)).toBe(300);
  });

  it('is recorded once if its discrepancy is open', async () => {
    const { payment } = await story.paid();
    const id = await refusedByProxy(payment, 300);
    await deleteMetadata(id);
    expect(await refundsOf(payment)).toMatchObject([{ id, status: 'failed' }]);
    expect(await apply(id)).toBe(200);
    expect(await refundsOf(payment)).toMatchObject([{ id, status: 'succeeded' }]);
    expect(await refundedOf(payment)).toBe(300);
  });

  it('is recorded once if an earlier release recorded it beside its open discrepancy', async () => {
    const { payment } = await story.paid();
    const id = await refusedByProxy(payment, 300);
    const hidden = 'UPDATE provider_discrepancy SET provider_reference = $2 WHERE refund_id = $1';
    const [found] = await story.engine.database.query<{ reference: string }>(
      'SELECT provider_reference AS reference FROM provider_discrepancy WHERE refund_id = $1',
      [id],
    );
    await story.engine.database.query(hidden, [id, 're_other']);
    await deleteMetadata(id);
    await story.engine.database.query(hidden, [id, found?.reference]);
    expect(await apply(id)).toBe(409);
    expect(await refundsOf(payment)).toMatchObject([
      { status: 'succeeded', source: 'provider' },
      { id, status: 'failed' },
    ]);
    expect(await refundedOf(payment)).toBe(300);
  });

  it('is another refund than one with an open discrepancy about a different refund', async () => {
    const { payment } = await story.paid();
    const id = await refusedByProxy(payment, 300);
    await refundThere(payment, 300, id);
    expect(await refundsOf(payment)).toMatchObject([
      { status: 'succeeded', source: 'provider', amount: 300 },
      { id, status: 'failed' },
    ]);
    expect(await apply(id)).toBe(200);
    expect(await refundedOf(payment)).toBe(600);
  });

  it.each([
    ['pending', neverReceived, 'succeeded'],
    ['failed', refused, 'failed'],
  ] as const)(
    'is recorded for its own payment if it names a %s refund of another one',
    async (_, request, status) => {
      const { payment } = await story.paid();
      const { payment: other } = await story.paid();
      const id = await request(payment, 300);
      await refundThere(other, 300, id);
      expect(await refundsOf(other)).toMatchObject([{ source: 'provider', amount: 300 }]);
      await pollFor8Hours();
      expect(await refundsOf(payment)).toMatchObject([{ id, status }]);
      expect(await refundedOf(other)).toBe(300);
    },
  );

  it.each([
    ['pending', 600, neverReceived, 'succeeded', 900],
    ['failed', 600, refused, 'failed', 300],
  ] as const)(
    'is recorded with its own amount if it names a %s refund of %d',
    async (_, amount, request, status, refunded) => {
      const { payment } = await story.paid();
      const id = await request(payment, amount);
      await refundThere(payment, 300, id);
      await pollFor8Hours();
      expect(await refundsOf(payment)).toMatchObject([
        { status: 'succeeded', source: 'provider', amount: 300 },
        { id, status, amount },
      ]);
      expect(await refundedOf(payment)).toBe(refunded);
    },
  );

  it('is recorded after a wait even if another refund was stored with its id meanwhile', async () => {
    const { payment } = await story.paid();
    const own = await neverReceived(payment, 800);
    const id = newId('ref');
    await refundThere(payment, 300, id);
    await refundThere(payment, 150, id);
    expect(await refundsOf(payment)).toMatchObject([{ id, amount: 150 }, { id: own }]);
    await pollFor8Hours();
    expect(await refundsOf(payment)).toMatchObject([
      { source: 'provider', amount: 300, status: 'succeeded' },
      { id, source: 'provider', amount: 150, status: 'succeeded' },
      { id: own, status: 'failed' },
    ]);
    expect(await refundedOf(payment)).toBe(450);
  });

  it('is recorded once if it waited before it was recognized as a refund made here', async () => {
    const { payment } = await story.paid();
    const other = await neverReceived(payment, 600);
    story.stripe.webhooks.fate = () => 'lose';
    story.stripe.faults.plan('reset_after', { operation: 'refunds.create', times: 2 });
    const { id } = await story.post(`/v1/refunds/payment/${payment}`, { amount: 300 });
    story.reset();
    await deleteMetadata(id);
    expect(await refundsOf(payment)).toMatchObject([{ id }, { id: other, status: 'pending' }]);
    await pollFor8Hours();
    expect(await refundedOf(payment)).toBe(900);
    story.stripe.failRefund(madeFor(other).id);
    await story.notified();
    expect(await refundsOf(payment)).toMatchObject([
      { id, status: 'succeeded' },
      { id: other, status: 'failed' },
    ]);
    expect(await refundedOf(payment)).toBe(300);
  });

  it('is not taken for another one that waits for its outcome if it is stored', async () => {
    const { payment } = await story.paid();
    const made = story.stripe.account.refunds.size;
    const id = await neverReceived(payment, 300);
    const other = newId('ref');
    await refundThere(payment, 300, other);
    madeFor(other).metadata = { environment: 'live', refund_id: id };
    await pollFor8Hours();
    expect(await refundsOf(payment)).toMatchObject([
      { source: 'provider', amount: 300, status: 'succeeded' },
      { id, status: 'succeeded' },
    ]);
    expect(await refundedOf(payment)).toBe(600);
    expect(story.stripe.account.refunds.size).toBe(made + 2);
  });

  describe('compared with the books by a reconciliation', () => {
    /** Returns the differences of refunds of the given payments. */
    async function differencesOf(...payments: string[]): Promise<readonly object[]> {
      story.engine.clock.advanceMs(HOUR_MS);
      const { id } = await story.post('/v1/reconciliations', { provider: 'stripe' });
      while ((await story.get(`/v1/reconciliations/${id}`)).status === 'running')
        await story.run(DueReconciliations);
      const { data } = await story.get<{ data: { payment_id: string }[] }>(
        `/v1/reconciliations/${id}/differences`,
      );
      return data.filter(({ payment_id: payment }) => payments.includes(payment));
    }

    it.each([
      ['failed', refused],
      ['pending', neverReceived],
    ] as const)(
      'is missing if it names a %s refund of another amount or payment',
      async (_, request) => {
        const { payment } = await story.paid();
        const { payment: other } = await story.paid();
        const named = [await request(payment, 500), await request(payment, 200)] as const;
        story.stripe.webhooks.fate = () => 'lose';
        await refundThere(payment, 300, named[0]);
        await refundThere(other, 200, named[1]);
        const found = await differencesOf(payment, other);
        expect(found).toHaveLength(2);
        expect(found).toEqual(
          expect.arrayContaining([
            expect.objectContaining({ type: 'missing_here', payment_id: payment, refund_id: null }),
            expect.objectContaining({ type: 'missing_here', payment_id: other, refund_id: null }),
          ]),
        );
      },
    );

    it('is the one that it names if that one failed here and agrees with it', async () => {
      const { payment } = await story.paid();
      const id = await refused(payment, 300);
      story.stripe.webhooks.fate = () => 'lose';
      await refundThere(payment, 300, id);
      expect(await differencesOf(payment)).toMatchObject([{ type: 'status', refund_id: id }]);
    });
  });
});
