import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { invariant } from '../../core/invariant';
import { postRefund, postRefundReturned } from '../../core/ledger';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Idempotency } from '../../platform/idempotency';
import { Outbox } from '../../platform/outbox';
import { LedgerService } from '../ledger';
import {
  DiscrepanciesService,
  type Discrepancy,
  discrepancyNotApplicable,
  discrepancyOf,
  type Payment,
  PaymentRefundsService,
  isSameLease,
  pollAgainLater,
  type PolledLease,
  type ProviderOutcome,
} from '../payments';
import {
  correctedToSucceeded,
  type Refund,
  type RefundOutcome,
  withOutcome,
} from './domain/refund';
import { refundNotFound } from './refunds.errors';
import { REFUND_EVENTS, refundAnswer } from './refunds.events';
import { RefundsRepository } from './refunds.repository';

/** Writes the outcome of a refund in the commit that follows the call to the provider. Also corrects outcomes. */
@Injectable()
export class SettleRefundService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly discrepancies: DiscrepanciesService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  /**
   * Books a failed or canceled refund as succeeded, in the caller's transaction.
   * @throws {ProblemError} `refund_not_found`; `refund_amount_exceeds_refundable`;
   *   `provider_discrepancy_not_applicable` for a refund that succeeded and was returned by the bank, because the
   *   ledger has one transaction of each kind per refund
   */
  async correct(discrepancy: Discrepancy, id: string): Promise<void> {
    const found = (await this.refunds.find(id)) ?? raise(refundNotFound(id));
    const { paymentId, amount } = found;
    const locked = await this.payments.lock(paymentId);
    const now = await this.payments.currentTimeOf(locked);
    const before = await this.refunds.lock(id);
    invariant(before !== null, `The refund ${id} is gone.`);
    // A failed refund may have a ledger transaction of another kind: the credit that the failure released can cover
    // the loss of a dispute.
    const posted = await this.ledger.transactionsOf(id);
    if (posted.some(({ kind }) => kind === 'refund')) {
      throw discrepancyNotApplicable(discrepancy);
    }
    // The failure released the reserved amount, so it is reserved again.
    const payment = await this.payments.reserveForLateSuccess(locked, amount, now);
    const after = correctedToSucceeded(before, now);
    await this.refunds.updateOutcome(after);
    await this.writeOutcome(before, after, payment);
  }

  /**
   * Stores the outcome, its event and the answer to the request. A succeeded refund changes only if the bank returns
   * it; a failed or canceled refund does not change. An outcome that contradicts a final one is recorded as a
   * discrepancy.
   */
  settle({ id, paymentId, leasedBy, dueAt }: Refund, outcome: ProviderOutcome): Promise<Refund> {
    const answeredAt = this.clock.now();
    return this.database.transaction(async () => {
      const payment = await this.payments.lock(paymentId);
      const now = await this.payments.currentTimeOf(payment);
      const before = await this.refunds.lock(id);
      invariant(before !== null, `The refund ${id} is gone.`);
      const after = withOutcome(
        before,
        toRefundOutcome(outcome, before, { answeredAt, leasedBy, dueAt }),
        now,
      );
      if (after !== before) await this.refunds.updateOutcome(after);
      if (after.status !== before.status) await this.writeOutcome(before, after, payment);
      await this.idempotency.completeFor(id, refundAnswer(after));
      const reported = { paymentId, refundId: id, status: before.status, providerReference: null };
      const discrepancy = after === before ? discrepancyOf(reported, outcome) : null;
      if (discrepancy !== null) await this.discrepancies.record(discrepancy);
      return after;
    });
  }

  /**
   * Updates the refunded and reserved amounts of the payment for a new status of the refund, posts to the ledger,
   * and records the event.
   */
  private async writeOutcome(before: Refund, after: Refund, payment: Payment): Promise<void> {
    invariant(after.status !== 'pending', `The refund ${after.id} went back to pending.`);
    if (after.status === 'succeeded') {
      const fromCreditMinor = await this.payments.markRefunded(
        after.id,
        payment,
        after.amount,
        after.updatedAt,
      );
      await this.post(after, payment, fromCreditMinor);
    } else if (before.status === 'succeeded') {
      const { id, amount, updatedAt } = after;
      const parts = await this.payments.markReturned(id, payment, amount, updatedAt);
      await this.postReturned(after, payment, parts);
    } else {
      await this.payments.releaseReserve(after.id, payment, after.amount, after.updatedAt);
    }
    await this.outbox.record(REFUND_EVENTS[after.status], {
      after,
      before,
      occurredAt: after.updatedAt,
    });
  }

  private async post(
    { id, currency, amount, updatedAt }: Refund,
    { provider, customerId }: Payment,
    fromCreditMinor: bigint,
  ): Promise<void> {
    const refund = { currency, provider, amountMinor: amount, fromCreditMinor };
    const source = { sourceId: id, customerId, occurredAt: updatedAt };
    await this.ledger.post(postRefund(refund), source);
  }

  private async postReturned(
    { id, currency, amount, updatedAt }: Refund,
    { provider, customerId }: Payment,
    parts: { readonly toCreditMinor: bigint; readonly recoveredMinor: bigint },
  ): Promise<void> {
    const returned = { currency, provider, amountMinor: amount, ...parts };
    const source = { sourceId: id, customerId, occurredAt: updatedAt };
    await this.ledger.post(postRefundReturned(returned), source);
  }
}

/**
 * @param call time of the answer, from which the next poll is scheduled, and the lease held during the call to the
 *   provider
 */
function toRefundOutcome(
  outcome: ProviderOutcome,
  refund: Refund,
  call: PolledLease & { readonly answeredAt: Date },
): RefundOutcome {
  switch (outcome.kind) {
    case 'succeeded':
    case 'canceled':
    case 'failed':
      return outcome;
    case 'pending':
    case 'requires_action':
    case 'not_sent':
    case 'unknown': {
      return {
        kind: 'open',
        plan: isSameLease(refund, call) ? pollAgainLater(refund, call.answeredAt) : null,
        ...('reference' in outcome && { reference: outcome.reference }),
      };
    }
  }
}
