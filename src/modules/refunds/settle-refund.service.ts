import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { changedAt } from '../../core/next-version';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { raise } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import {
  DiscrepanciesService,
  type Discrepancy,
  discrepancyNotApplicable,
  discrepancyOf,
  PaymentRecordsService,
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
import { RefundOutcomesService } from './refund-outcomes.service';
import { refundNotFound } from './refunds.errors';
import { refundAnswer } from './refunds.events';
import { RefundsRepository } from './refunds.repository';

/**
 * Stores the outcome of a refund after a call to the provider. Also corrects a failed or canceled refund if the
 * provider later reports that it succeeded.
 */
@Injectable()
export class SettleRefundService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRecordsService,
    private readonly paymentRefunds: PaymentRefundsService,
    private readonly discrepancies: DiscrepanciesService,
    private readonly outcomes: RefundOutcomesService,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  /**
   * Changes a failed or canceled refund to succeeded, in the caller's transaction. The caller has locked the
   * customer, the payment, and the others of its invoice.
   * @param reference the provider's id of the refund
   * @param discrepancy the report of the success
   * @throws {ProblemError} `refund_not_found`, `refund_amount_exceeds_refundable`,
   *   `provider_discrepancy_not_applicable` if another refund has this id at the provider
   */
  async correct(id: string, reference: string, discrepancy: Discrepancy): Promise<void> {
    const found = (await this.refunds.find(id)) ?? raise(refundNotFound(id));
    const { paymentId, amount, source } = found;
    const recorded = await this.refunds.findByReference(paymentId, reference);
    if (recorded !== null && recorded.id !== id) {
      throw discrepancyNotApplicable(discrepancy, { recordedId: recorded.id });
    }
    const before = await this.refunds.lock(id);
    invariant(before !== null, `The refund ${id} is gone.`);
    // The failure released the reserved amount, so it is reserved again.
    const isMadeAtProvider = source === 'provider';
    const late = { refundId: id, paymentId, amount, isMadeAtProvider };
    const { payment, at } = await this.paymentRefunds.reserveForLateSuccess(late);
    const after = correctedToSucceeded(before, reference, at);
    await this.refunds.updateOutcome(after);
    await this.outcomes.apply(before, after, payment, changedAt(at, before));
  }

  /**
   * Stores the outcome of a refund, its event, and the answer to the request that created the refund.
   * - A succeeded refund changes only if the bank returns it. A failed or canceled refund does not change.
   * - An outcome that contradicts an earlier final outcome is recorded as a discrepancy instead.
   * - A failure or cancellation dismisses the open discrepancy in which the provider reported a success of this refund.
   *
   * @param asked the refund before the provider was asked. `providerReference`: the id that the provider was asked
   *   about
   * @returns null if the refund was changed since then and `outcome` would change it or contradict it. Nothing is
   *   stored then. The caller must ask the provider again, because `outcome` may be older
   * @throws {ProblemError} `payment_not_found` or `test_clock_not_found` if the test clock of the customer was deleted
   */
  settle(asked: Refund, outcome: ProviderOutcome): Promise<Refund | null> {
    const { id, paymentId, customerId, version, leasedBy, dueAt } = asked;
    const { providerReference: reference } = asked;
    const called = { paymentId, refundId: id, customerId };
    const answeredAt = this.clock.now();
    return this.database.transaction(async () => {
      await this.payments.lockForOutcome(called, outcome);
      const payment = await this.payments.lock(paymentId);
      const now = await this.payments.followingTimeOf(payment);
      const before = await this.refunds.lock(id);
      if (before === null) this.payments.logUnstored(called, outcome);
      invariant(before !== null, `The refund ${id} is gone.`);
      const after = withOutcome(
        before,
        toRefundOutcome(outcome, before, { answeredAt, leasedBy, dueAt }),
        now,
      );
      const reported = { paymentId, refundId: id, status: before.status, providerReference: null };
      const discrepancy = after === before ? discrepancyOf(reported, outcome) : null;
      const mayBeOlder = before.version !== version;
      if (mayBeOlder && (after !== before || discrepancy !== null)) return null;
      if (after !== before) await this.refunds.updateOutcome(after);
      if (after.status !== before.status)
        await this.outcomes.apply(before, after, payment, changedAt(now, before));
      await this.idempotency.completeFor(id, refundAnswer(after));
      if (discrepancy !== null) await this.discrepancies.record(discrepancy);
      const isReturned = outcome.kind === 'failed' || outcome.kind === 'canceled';
      if (isReturned && reference !== null) await this.discrepancies.dismissReport(id, reference);
      return after;
    });
  }
}

/** @param call time of the provider's answer, from which the next poll is planned, and the lease during the call */
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
