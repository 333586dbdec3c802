import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postRefund, postRefundReturned } from '../../core/ledger';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import { LedgerService } from '../ledger';
import {
  pollAgainLater,
  pollLease,
  DiscrepanciesService,
  type Discrepancy,
  discrepancyNotApplicable,
  discrepancyOf,
  type Payment,
  PaymentRefundsService,
  type ProviderOutcome,
} from '../payments';
import {
  correctedToSucceeded,
  exceededLimit,
  isSameRequest,
  type Refund,
  type RefundLimits,
  type RefundOutcome,
  type RefundRequest,
  withOutcome,
} from './domain/refund';
import { refundLimitExceeded, refundNotFound, refundNotInSandbox } from './refunds.errors';
import { refundAnswer, REFUND_EVENTS, refundCreated } from './refunds.events';
import { RefundsRepository } from './refunds.repository';

/** Refunds payments: a commit that reserves the amount, the provider's call, and a commit that stores the outcome. */
@Injectable()
export class RefundsService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly discrepancies: DiscrepanciesService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /**
   * Refunds a payment in full or in part. If the provider refuses, the refund has failed, which is no error; if it does not
   * answer in time, the refund stays pending. A key that made a refund before returns that refund, however old.
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `refund_amount_exceeds_refundable`,
   *   `idempotency_key_reused`, `refund_limit_exceeded`
   * @param limits limits of the caller
   */
  async create(request: RefundRequest, limits: RefundLimits): Promise<Refund> {
    const { refund, payment } = await this.begin(request, limits);
    if (payment === null) return refund;
    return this.settle(refund, await this.payments.send(payment, refund));
  }

  /** @throws {ProblemError} `refund_not_found` */
  async get(id: string): Promise<Refund> {
    const refund = await this.refunds.find(id);
    if (refund === null) throw refundNotFound(id);
    return refund;
  }

  list(paymentId: string | null, request: PageRequest): Promise<Page<Refund>> {
    return this.refunds.page(paymentId, request);
  }

  /** Asks the provider about a pending refund, and sends it again if the provider never received it. */
  async resume(id: string): Promise<Refund> {
    const refund = await this.get(id);
    return this.settle(refund, await this.payments.resume(refund.paymentId, refund));
  }

  /**
   * Decides a pending refund of the sandbox, and stores the outcome in the same commit.
   * @param failureCode why it fails; null for a success
   * @throws {ProblemError} `refund_not_found`, `refund_not_in_sandbox`
   */
  settleInSandbox(id: string, failureCode: string | null): Promise<Refund> {
    return this.database.transaction(async () => {
      const refund = await this.get(id);
      const outcome = await this.payments.settleInSandbox(id, failureCode);
      if (outcome === null) throw refundNotInSandbox(id);
      return this.settle(refund, outcome);
    });
  }

  /**
   * First commit: claims the key, reserves the amount on the payment, and stores the pending refund and its event. If the
   * key made a refund before, returns that refund without a payment, and stores the answer again.
   */
  private begin(
    request: RefundRequest,
    limits: RefundLimits,
  ): Promise<{ readonly refund: Refund; readonly payment: Payment | null }> {
    const now = this.clock.now();
    const id = newId('ref');
    const lease = pollLease(now, this.session.number);
    return this.database.transaction(async () => {
      await this.idempotency.claimFor(id, lease);
      const made = await this.madeBefore(request);
      if (made !== null) {
        await this.idempotency.completeFor(id, refundAnswer(made));
        return { refund: made, payment: null };
      }
      const { paymentId } = request;
      const { payment, amount } = await this.payments.reserve(paymentId, request.amount, now);
      const limit = exceededLimit(limits, payment);
      if (limit !== null) throw refundLimitExceeded(limit, payment.currency);
      const refund: Refund = {
        ...request,
        id,
        actor: currentActor(),
        version: 1,
        amount,
        currency: payment.currency,
        status: 'pending',
        failureCode: null,
        dueAt: lease.endsAt,
        leasedBy: lease.owner,
        attempts: 0,
        createdAt: now,
        updatedAt: now,
      };
      await this.refunds.insert(refund);
      await this.outbox.record(refundCreated, { after: refund, occurredAt: now });
      return { refund, payment };
    });
  }

  /**
   * Books a failed or canceled refund as succeeded, in the caller's transaction.
   * @throws {ProblemError} `refund_amount_exceeds_refundable`; `provider_discrepancy_not_applicable` for one that succeeded
   *   before and was returned: the books hold one transaction of each kind for a refund
   */
  async correct(discrepancy: Discrepancy, id: string): Promise<void> {
    const now = this.clock.now();
    const { paymentId, amount } = await this.get(id);
    await this.payments.lock(paymentId);
    const before = await this.refunds.lock(id);
    invariant(before !== null, `The refund ${id} is gone.`);
    if ((await this.ledger.transactionsOf(id)).length > 0) {
      throw discrepancyNotApplicable(discrepancy);
    }
    // The failure freed the reserve.
    const { payment } = await this.payments.reserve(paymentId, amount, now);
    const after = correctedToSucceeded(before, now);
    await this.refunds.updateOutcome(after);
    await this.conclude(before, after, payment);
  }

  /**
   * Last commit: stores the outcome, its event and the answer to the request. After a final outcome only a return by the
   * bank changes the refund. An outcome that contradicts a final one is recorded as a discrepancy.
   */
  private settle({ id, paymentId, leasedBy }: Refund, said: ProviderOutcome): Promise<Refund> {
    const now = this.clock.now();
    return this.database.transaction(async () => {
      const payment = await this.payments.lock(paymentId);
      const before = await this.refunds.lock(id);
      invariant(before !== null, `The refund ${id} is gone.`);
      const after = withOutcome(
        before,
        toRefundOutcome(said, before, { askedAt: now, leasedBy }),
        now,
      );
      if (after !== before) await this.refunds.updateOutcome(after);
      if (after.status !== before.status) await this.conclude(before, after, payment);
      await this.idempotency.completeFor(id, refundAnswer(after));
      const reported = { paymentId, refundId: id, status: before.status, providerReference: null };
      const discrepancy = after === before ? discrepancyOf(reported, said) : null;
      if (discrepancy !== null) await this.discrepancies.record(discrepancy);
      return after;
    });
  }

  /** Turns the reserve into a refunded amount or frees it, posts to the ledger, and records the event. */
  private async conclude(before: Refund, after: Refund, payment: Payment): Promise<void> {
    invariant(after.status !== 'pending', `The refund ${after.id} went back to pending.`);
    if (after.status === 'succeeded') {
      const fromCreditMinor = await this.payments.refunded(payment, after.amount, after.updatedAt);
      await this.post(after, payment, fromCreditMinor);
    } else if (before.status === 'succeeded') {
      const toCreditMinor = await this.payments.returned(payment, after.amount, after.updatedAt);
      await this.postReturned(after, payment, toCreditMinor);
    } else {
      await this.payments.released(payment, after.amount, after.updatedAt);
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
    toCreditMinor: bigint,
  ): Promise<void> {
    await this.ledger.post(
      postRefundReturned({ currency, provider, amountMinor: amount, toCreditMinor }),
      { sourceId: id, customerId, occurredAt: updatedAt },
    );
  }

  /**
   * Returns the refund that the key made, if any: the answer after the stored one has expired. Looked up before anything is
   * reserved, because nothing may be left to reserve.
   * @throws {ProblemError} `idempotency_key_reused`
   */
  private async madeBefore(request: RefundRequest): Promise<Refund | null> {
    const { idempotencyKey } = request;
    const refund =
      idempotencyKey === null ? null : await this.refunds.findByKey(idempotencyKey, currentActor());
    if (refund !== null && !isSameRequest(refund, request)) throw idempotencyKeyReused();
    return refund;
  }
}

/** @param asked time of the call, and the holder of its lease */
function toRefundOutcome(
  said: ProviderOutcome,
  refund: Refund,
  asked: { readonly askedAt: Date; readonly leasedBy: number | null },
): RefundOutcome {
  if (said.kind === 'pending' || said.kind === 'unknown') {
    const isHolder = refund.leasedBy === asked.leasedBy;
    return { kind: 'open', plan: isHolder ? pollAgainLater(refund, asked.askedAt) : null };
  }
  return said;
}
