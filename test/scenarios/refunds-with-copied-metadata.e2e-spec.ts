import type { RefundSource, RefundStatus } from '../../src/modules/refunds/domain/refund';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { newId } from '../../src/platform/ids';
import { verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';

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

  async function pollFor8Hours(): Promise<void> {
    for (let poll = 0; poll < 8; poll += 1) {
      story.engine.clock.advanceMs(61 * 60_000);
      await story.run(DueRefunds);
      await story.notified();
    }
  }

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
});
