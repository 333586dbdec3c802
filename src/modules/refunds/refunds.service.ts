import { Injectable } from '@nestjs/common';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { idempotencyKeyReused, raise } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import {
  isAnswer,
  type Payment,
  PaymentRefundsService,
  pollLease,
  type ProviderOutcome,
} from '../payments';
import {
  exceededLimit,
  isSameRequest,
  type Refund,
  type RefundLimits,
  type RefundRequest,
  withAbsence,
} from './domain/refund';
import { refundLimitExceeded, refundNotFound, refundNotInSandbox } from './refunds.errors';
import { refundAnswer, refundCreated } from './refunds.events';
import { RefundsRepository } from './refunds.repository';
import { SettleRefundService } from './settle-refund.service';

/** Refunds payments: a commit that reserves the amount, the provider's call, and a commit that stores the outcome. */
@Injectable()
export class RefundsService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly settlement: SettleRefundService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /**
   * Refunds a payment in full or in part. If the provider refuses, the refund has failed, which is no error; if it does not
   * answer in time, the refund stays pending. A key that made a refund before returns that refund, however old.
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `payment_disputed`, `refund_amount_exceeds_refundable`,
   *   `idempotency_key_reused`, `refund_limit_exceeded`
   * @param limits limits of the caller
   */
  async create(request: RefundRequest, limits: RefundLimits): Promise<Refund> {
    const { refund, payment } = await this.begin(request, limits);
    if (payment === null) return refund;
    return this.settlement.settle(refund, await this.payments.send(payment, refund));
  }

  /** @throws {ProblemError} `refund_not_found` */
  async get(id: string): Promise<Refund> {
    return (await this.refunds.find(id)) ?? raise(refundNotFound(id));
  }

  async exists(id: string): Promise<boolean> {
    return (await this.refunds.find(id)) !== null;
  }

  list(paymentId: string | null, request: PageRequest): Promise<Page<Refund>> {
    return this.refunds.page(paymentId, request);
  }

  /**
   * Asks the provider about a refund, and sends it again if the provider never received it. Returns false if the provider did
   * not answer, and no poll will ask it again.
   */
  async resume(id: string): Promise<boolean> {
    const refund = await this.get(id);
    const look = await this.payments.resume(refund.paymentId, refund);
    const outcome = look.kind === 'absent' ? await this.sendAgain(refund) : look;
    const { dueAt } = await this.settlement.settle(refund, outcome);
    return dueAt !== null || isAnswer(outcome);
  }

  /** Sends a refund that the provider does not list again, once that is certain. */
  private async sendAgain(before: Refund): Promise<ProviderOutcome> {
    const after = await this.refunds.noteAbsence(before, withAbsence(before, this.clock.now()));
    const isNext = after !== null && after.providerAttempt > before.providerAttempt;
    return isNext ? this.payments.sendAgain(after.paymentId, after) : { kind: 'unknown' };
  }

  /**
   * Decides a pending refund of the sandbox, and stores the outcome in the same commit.
   * @param failureCode why it fails; null for a success
   * @throws {ProblemError} `refund_not_found`, `refund_not_in_sandbox`
   */
  settleInSandbox(id: string, failureCode: string | null): Promise<Refund> {
    return this.database.transaction(async () => {
      const refund = await this.get(id);
      const outcome =
        (await this.payments.settleInSandbox(id, failureCode)) ?? raise(refundNotInSandbox(id));
      return this.settlement.settle(refund, outcome);
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
        providerReference: null,
        providerAttempt: 1,
        sentAt: null,
        absentSince: null,
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
