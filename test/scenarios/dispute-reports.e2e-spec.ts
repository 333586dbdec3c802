import { DueProviderEvents } from '../../src/modules/billing/payments/due-provider-events';
import { postingsOf, verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { until } from '../support/until';

interface Dispute {
  readonly id: string;
  readonly status: string;
}

describe('a report of a dispute', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  beforeEach(() => {
    story.reset();
  });

  afterEach(async () => {
    expect(await verifyLedger(story.engine)).toMatchObject({ ok: true });
    expect(await unfinished()).toBe(0);
  });

  afterAll(() => story.close());

  const disputesOf = async (payment: string): Promise<readonly Dispute[]> =>
    (await story.get<{ data: Dispute[] }>(`/v1/disputes?payment_id=${payment}`)).data;

  /** Returns how many notifications are not applied yet. */
  const unfinished = async (): Promise<number> =>
    (await story.engine.database.query('SELECT FROM provider_event WHERE due_at IS NOT NULL'))
      .length;

  /** Changes a dispute after Stripe has answered an earlier notification, and releases that answer once the change is applied. */
  async function overtake(change: () => void): Promise<void> {
    const events = story.engine.app.get(DueProviderEvents);
    story.stripe.faults.plan('answer_held', { operation: 'disputes.retrieve' });
    await story.stripe.webhooks.idle();
    await events.runDue();
    await until('Stripe holds its answer', () => story.stripe.faults.hanging === 1);
    change();
    await story.stripe.webhooks.idle();
    await events.runDue();
    await until('the change is applied', async () => (await unfinished()) === 1);
    story.stripe.faults.release();
    await events.idle();
  }

  it('that arrives after a later one does not open a dispute that has ended', async () => {
    const { payment } = await story.paid();
    const dispute = story.stripe.openDispute(story.intentOf(payment), 'inquiry');
    await story.notified();
    dispute.status = 'needs_response';
    story.stripe.account.record('charge.dispute.updated', dispute);
    await overtake(() => {
      dispute.status = 'prevented';
      story.stripe.account.record('charge.dispute.closed', dispute);
    });
    expect(await disputesOf(payment)).toMatchObject([{ status: 'closed' }]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: false });
  });

  it('that arrives after a later one does not end a dispute that is open again, and books no loss', async () => {
    const { payment } = await story.paid();
    const { id: reference } = story.stripe.openDispute(story.intentOf(payment), 'inquiry');
    await story.notified();
    story.stripe.closeDispute(reference, 'warning_closed');
    await overtake(() => story.stripe.escalateInquiry(reference));
    const [dispute] = await disputesOf(payment);
    expect(dispute).toMatchObject({ status: 'open', amount_lost: 0 });
    expect(await postingsOf(story.engine, dispute?.id ?? '')).toEqual([
      ['dispute_withdrawn', { disputed: 1_000, 'cash_clearing:stripe': -1_000 }],
    ]);
    expect(await story.get(`/v1/payments/${payment}`)).toMatchObject({ is_disputed: true });
  });
});
