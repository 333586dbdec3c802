import { Injectable, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postRefund, postRefundReturned } from '../../core/ledger';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import { LedgerService } from '../ledger';
import {
  askAgainLater,
  askingLease,
  DiscrepanciesService,
  type Discrepancy,
  discrepancyNotApplicable,
  discrepancyOf,
  type Payment,
  PaymentRefundsService,
  type ProviderOutcome,
  RefundCorrections,
} from '../payments';
import {
  correctedToSucceeded,
  isSameRequest,
  type Refund,
  type RefundOutcome,
  type RefundRequest,
  withOutcome,
} from './domain/refund';
import { refundNotFound, refundNotInSandbox } from './refunds.errors';
import { answerAbout, REFUND_EVENTS, refundCreated } from './refunds.events';
import { RefundsRepository } from './refunds.repository';

/** Gives money back: a reserve and a pending row, the provider's call outside any transaction, and its outcome. */
@Injectable()
export class RefundsService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly discrepancies: DiscrepanciesService,
    private readonly corrections: RefundCorrections,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  onModuleInit(): void {
    this.corrections.register((discrepancy, id) => this.correct(discrepancy, id));
  }

  /**
   * Refunds a payment, wholly or in part. A refusal of the provider is a refund that failed, not an error; one that
   * takes its time is pending. A key that made a refund before gives that one, however long ago.
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `refund_amount_exceeds_refundable`,
   *   `idempotency_key_reused`
   */
  async create(request: RefundRequest): Promise<Refund> {
    const { refund, payment } = await this.begin(request);
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

  /** Asks the provider what became of a pending refund, and makes it if it never arrived. */
  async resume(id: string): Promise<Refund> {
    const refund = await this.get(id);
    return this.settle(refund, await this.payments.resume(refund.paymentId, refund));
  }

  /**
   * Lets the sandbox decide a refund it left pending, and settles it in the same commit.
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
   * The first commit: the key's claim, the reserve on the payment, the pending row and its event. Where the key made a
   * refund before, that refund is the answer, stored once more, and there is no payment to send it to.
   */
  private begin(
    request: RefundRequest,
  ): Promise<{ readonly refund: Refund; readonly payment: Payment | null }> {
    const now = this.clock.now();
    const id = newId('ref');
    const lease = askingLease(now, this.session.number);
    return this.database.transaction(async () => {
      await this.idempotency.claimFor(id, lease);
      const made = await this.madeBefore(request);
      if (made !== null) {
        await this.idempotency.completeFor(id, answerAbout(made));
        return { refund: made, payment: null };
      }
      const { paymentId } = request;
      const { payment, amount } = await this.payments.reserve(paymentId, request.amount, now);
      const refund: Refund = {
        ...request,
        id,
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
  private async correct(discrepancy: Discrepancy, id: string): Promise<void> {
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
   * The last commit: the outcome, its event and the answer of the request. An outcome that comes after a final one changes
   * nothing, unless a bank returned the refund; one that contradicts it is recorded as a discrepancy.
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
      await this.idempotency.completeFor(id, answerAbout(after));
      const reported = { paymentId, refundId: id, status: before.status, providerReference: null };
      const discrepancy = after === before ? discrepancyOf(reported, said) : null;
      if (discrepancy !== null) await this.discrepancies.record(discrepancy);
      return after;
    });
  }

  /** Moves the reserve to where the outcome says, posts what was given back, and tells of it. */
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
    const facts = { sourceId: id, customerId, occurredAt: updatedAt };
    await this.ledger.post(postRefund(refund), facts);
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
   * A refund's key stays unique for ever: after its stored answer was forgotten, the refund itself is the answer. Looked up
   * before the reserve, which may no longer be possible.
   * @throws {ProblemError} `idempotency_key_reused`
   */
  private async madeBefore(request: RefundRequest): Promise<Refund | null> {
    const { idempotencyKey } = request;
    const refund = idempotencyKey === null ? null : await this.refunds.findByKey(idempotencyKey);
    if (refund !== null && !isSameRequest(refund, request)) throw idempotencyKeyReused();
    return refund;
  }
}

/** @param asked when, and the holder of the lease under which the provider was asked */
function toRefundOutcome(
  said: ProviderOutcome,
  refund: Refund,
  asked: { readonly askedAt: Date; readonly leasedBy: number | null },
): RefundOutcome {
  if (said.kind === 'pending' || said.kind === 'unknown') {
    const isHolder = refund.leasedBy === asked.leasedBy;
    return { kind: 'open', plan: isHolder ? askAgainLater(refund, asked.askedAt) : null };
  }
  return said;
}
