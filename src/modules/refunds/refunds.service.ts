import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Database, type ListSummary, type Page, type PageRequest } from '../../platform/database';
import { idempotencyKeyReused, raise } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import type { CreditNote } from '../invoicing';
import {
  isAnswer,
  type Lease,
  type Payment,
  PaymentRefundsService,
  pollLease,
  type ProviderOutcome,
  type Refundable,
} from '../payments';
import {
  exceededLimit,
  isSameRequest,
  newRefund,
  type Refund,
  type RefundFilter,
  type RefundLimits,
  type RefundRequest,
  withAbsence,
} from './domain/refund';
import { refundLimitExceeded, refundNotFound, refundNotInSandbox } from './refunds.errors';
import { refundAnswer, refundCreated } from './refunds.events';
import { RefundsRepository } from './refunds.repository';
import { SettleRefundService } from './settle-refund.service';

/** A refund that is not stored yet. */
export interface StartedRefund {
  readonly id: string;
  /** Lease during which only this process asks the provider about the refund. */
  readonly lease: Lease;
}

/** A stored pending refund, and its payment after the amount was reserved. */
export interface ReservedRefund {
  readonly refund: Refund;
  readonly payment: Payment;
}

export type RefundedNote = Pick<CreditNote, 'id' | 'toRefund' | 'updatedAt'>;

/** Reserves the amount of a refund in a first commit, calls the provider, and stores the outcome in a second commit. */
@Injectable()
export class RefundsService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly settleRefund: SettleRefundService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /** @throws {ProblemError} `refund_not_found` */
  async get(id: string): Promise<Refund> {
    return (await this.refunds.find(id)) ?? raise(refundNotFound(id));
  }

  /** Returns true if a refund that pays out the credit note is pending or has succeeded. */
  async refundsCreditNote(creditNoteId: string): Promise<boolean> {
    const refund = await this.refunds.findByCreditNote(creditNoteId);
    return refund?.status === 'pending' || refund?.status === 'succeeded';
  }

  list(filter: RefundFilter, request: PageRequest): Promise<Page<Refund>> {
    return this.refunds.page(filter, request);
  }

  /** @throws {ProblemError} `payment_not_found` */
  refundableOf(paymentId: string): Promise<Refundable> {
    return this.database.transaction(() => this.payments.refundableOf(paymentId));
  }

  summarize(filter: RefundFilter): Promise<readonly ListSummary[]> {
    return this.refunds.summarize(filter);
  }

  /**
   * Asks the provider for the state of a refund, and stores the outcome. Sends the refund again if the provider has not
   * listed it for an hour. Returns false if the provider gave no answer and no further poll is planned.
   * @param isRepeated true if the caller repeats the call after it returned false or threw an error
   */
  async resume(id: string, isRepeated = false): Promise<boolean> {
    const refund = await this.get(id);
    const otherReferences = await this.refunds.findOtherReferences(refund);
    const state = await this.payments.resume(refund.paymentId, { ...refund, otherReferences });
    const outcome = state.kind === 'absent' ? await this.sendAgain(refund) : state;
    const settled = await this.settleRefund.settle(refund, outcome);
    if (settled === null) return this.resumeAfter(id, outcome, isRepeated);
    return settled.dueAt !== null || isAnswer(outcome);
  }

  /**
   * Asks the provider again, because the answer `earlier` may be older than the stored outcome. Returns false as
   * {@link resume} does. If this attempt fails and neither a poll nor the caller repeats it, an `earlier` success is
   * stored. If that success contradicts the stored outcome, it is recorded as a discrepancy.
   */
  private async resumeAfter(
    id: string,
    earlier: ProviderOutcome,
    isRepeated: boolean,
  ): Promise<boolean> {
    let isDone = false;
    try {
      isDone = await this.resume(id, isRepeated);
    } finally {
      if (!isDone && !isRepeated && earlier.kind === 'succeeded')
        await this.settleRefund.settle(await this.get(id), earlier);
    }
    return isDone;
  }

  /** Returns the outcome if the refund was sent again, otherwise `unknown`. */
  private async sendAgain(before: Refund): Promise<ProviderOutcome> {
    const after = await this.refunds.recordAbsence(before, withAbsence(before, this.clock.now()));
    const isNext = after !== null && after.providerAttempt > before.providerAttempt;
    return isNext ? this.payments.sendAgain(after.paymentId, after) : { kind: 'unknown' };
  }

  /**
   * Sets the outcome of a pending refund at the sandbox provider, and stores the outcome in the same commit.
   * @param failureCode null: success
   * @throws {ProblemError} `refund_not_found`, `refund_not_in_sandbox`
   */
  settleInSandbox(id: string, failureCode: string | null): Promise<Refund> {
    return this.database.transaction(async () => {
      const refund = await this.get(id);
      const outcome =
        (await this.payments.settleInSandbox(id, failureCode)) ?? raise(refundNotInSandbox(id));
      return (await this.settleRefund.settle(refund, outcome)) ?? this.get(id);
    });
  }

  /**
   * Returns the id and the lease of a new refund, and stores nothing. Must not be called in a transaction.
   * @throws {ProblemError} `service_unavailable` while this process has no session on the database
   */
  async start(): Promise<StartedRefund> {
    const owner = await this.session.requireNumber();
    return { id: newId('ref'), lease: pollLease(this.clock.now(), owner) };
  }

  /**
   * Claims the idempotency key of a request. Must be the first call in the transaction. Returns null if the key is new.
   * If a request with this key has already created a refund, however long ago, stores that refund as the answer to the
   * new request and returns it.
   * @throws {ProblemError} `idempotency_key_reused`
   */
  async claim({ id }: StartedRefund, request: RefundRequest): Promise<Refund | null> {
    this.database.requireTransaction();
    await this.idempotency.claimFor(id);
    const made = await this.findByRequestKey(request);
    if (made !== null) await this.idempotency.completeFor(id, refundAnswer(made));
    return made;
  }

  /**
   * Reserves the amount on the payment, and stores the pending refund and its event. Must be called in the transaction
   * that claimed the key.
   * @param note credit note that the refund pays out; null: none
   * @param limits limits of the caller; null: no limit
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `payment_disputed`,
   *   `refund_amount_exceeds_refundable`, `refund_limit_exceeded`
   */
  async begin(
    { id, lease }: StartedRefund,
    { creditNote: _, ...request }: RefundRequest,
    note: RefundedNote | null,
    limits: RefundLimits,
  ): Promise<ReservedRefund> {
    const requested = note?.toRefund ?? request.amount;
    const { payment, amount, at } = await this.payments.reserve(id, request.paymentId, requested);
    const now = changedAt(at, note);
    const limit = exceededLimit(limits, payment);
    if (limit !== null) throw refundLimitExceeded(limit, payment.currency);
    const refund = newRefund(
      {
        ...request,
        id,
        customerId: payment.customerId,
        amount,
        currency: payment.currency,
        source: 'api',
        creditNoteId: note?.id ?? null,
        actor: currentActor(),
        providerReference: null,
        sentAt: this.clock.now(),
        dueAt: lease.endsAt,
        leasedBy: lease.owner,
      },
      now,
    );
    await this.refunds.insert(refund);
    await this.outbox.record(refundCreated, { after: refund, occurredAt: now });
    return { refund, payment };
  }

  /**
   * Sends a refund to the provider, and stores the outcome. If the provider refuses, returns a failed refund. If the
   * provider does not answer in time, the refund stays pending.
   */
  async send({ refund, payment }: ReservedRefund): Promise<Refund> {
    const outcome = await this.payments.send(payment, refund);
    const settled = await this.settleRefund.settle(refund, outcome);
    if (settled !== null) return settled;
    await this.resumeAfter(refund.id, outcome, false);
    return this.get(refund.id);
  }

  /**
   * Returns the refund that was created with the key of the request, or null. A repeated request gets this refund even
   * after the stored answer has expired. Must be called before the amount is reserved: the first request may have
   * reserved all that was left.
   * @throws {ProblemError} `idempotency_key_reused`
   */
  private async findByRequestKey(request: RefundRequest): Promise<Refund | null> {
    const { idempotencyKey } = request;
    const refund =
      idempotencyKey === null ? null : await this.refunds.findByKey(idempotencyKey, currentActor());
    if (refund !== null && !isSameRequest(refund, request)) throw idempotencyKeyReused();
    return refund;
  }
}
