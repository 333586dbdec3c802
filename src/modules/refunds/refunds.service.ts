import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postRefund } from '../../core/ledger';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { idempotencyKeyReused } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { LedgerService } from '../ledger';
import {
  ASKING_LEASE_MS,
  creditPartOf,
  nextCheckAt,
  type Payment,
  PaymentRefundsService,
  type ProviderOutcome,
} from '../payments';
import {
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
export class RefundsService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

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
    return this.database.transaction(async () => {
      await this.idempotency.claimFor(id);
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
        dueAt: new Date(now.getTime() + ASKING_LEASE_MS),
        attempts: 0,
        createdAt: now,
        updatedAt: now,
      };
      await this.refunds.insert(refund);
      await this.outbox.record(refundCreated, { after: refund, occurredAt: now });
      return { refund, payment };
    });
  }

  /** The last commit: the outcome, its event and the answer of the request. Late outcomes change nothing. */
  private settle({ id, paymentId }: Refund, said: ProviderOutcome): Promise<Refund> {
    const now = this.clock.now();
    return this.database.transaction(async () => {
      const payment = await this.payments.lock(paymentId);
      const before = await this.refunds.lock(id);
      invariant(before !== null, `The refund ${id} is gone.`);
      const after = withOutcome(before, toRefundOutcome(said, before, now), now);
      if (after !== before) await this.refunds.updateOutcome(after);
      if (after.status !== before.status) await this.conclude(before, after, payment);
      await this.idempotency.completeFor(id, answerAbout(after));
      return after;
    });
  }

  /** Moves the reserve to where the outcome says, posts what was given back, and tells of it. */
  private async conclude(before: Refund, after: Refund, payment: Payment): Promise<void> {
    invariant(after.status !== 'pending', `The refund ${after.id} went back to pending.`);
    if (after.status === 'succeeded') {
      await this.payments.refunded(payment, after.amount, after.updatedAt);
      await this.post(after, payment);
    } else {
      await this.payments.released(payment, after.amount, after.updatedAt);
    }
    await this.outbox.record(REFUND_EVENTS[after.status], {
      after,
      before,
      occurredAt: after.updatedAt,
    });
  }

  /** @param payment as it was before this refund: what of it paid no invoice is given back first */
  private async post({ id, currency, amount, updatedAt }: Refund, payment: Payment): Promise<void> {
    const { provider, customerId } = payment;
    const fromCreditMinor = creditPartOf(payment, amount);
    const refund = { currency, provider, amountMinor: amount, fromCreditMinor };
    const facts = { sourceId: id, customerId, occurredAt: updatedAt };
    await this.ledger.post(postRefund(refund), facts);
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

function toRefundOutcome(said: ProviderOutcome, refund: Refund, now: Date): RefundOutcome {
  if (said.kind === 'pending' || said.kind === 'unknown') {
    return { kind: 'open', askAgainAt: nextCheckAt(refund.attempts, now) };
  }
  return said;
}
