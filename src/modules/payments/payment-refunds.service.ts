import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import { decideRefund, type Payment } from './domain/payment';
import type { ProviderOutcome } from './domain/payment-provider';
import {
  paymentNotFound,
  paymentNotRefundable,
  refundAmountExceedsRefundable,
} from './payments.errors';
import { paymentUpdated } from './payments.events';
import { PaymentsRepository } from './payments.repository';
import { ProviderGateway, type RefundOrder } from './providers/provider-gateway';

/** What a payment lets be done to give its money back. Refunds themselves belong to the module above. */
@Injectable()
export class PaymentRefundsService {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly gateway: ProviderGateway,
    private readonly outbox: Outbox,
  ) {}

  /** The payments of these customers, by id. */
  paymentIdsOf(customerIds: readonly string[]): Promise<readonly string[]> {
    return this.payments.idsOf(customerIds);
  }

  /**
   * Reserves an amount of a payment for a refund, in the caller's transaction. The refund's own first event tells of it.
   * @param requested minor units; null for all that remains
   * @returns the payment, and the amount reserved
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `refund_amount_exceeds_refundable`
   */
  async reserve(
    paymentId: string,
    requested: bigint | null,
    now: Date,
  ): Promise<{ readonly payment: Payment; readonly amount: bigint }> {
    this.database.requireTransaction();
    // An amount that is given needs no look before: the update itself refuses what the rules do not allow.
    const reserved =
      requested === null ? null : await this.payments.reserveRefund(paymentId, requested, now);
    if (requested !== null && reserved !== null) return { payment: reserved, amount: requested };
    const payment = await this.payments.lock(paymentId);
    if (payment === null) throw paymentNotFound(paymentId);
    const decision = decideRefund(payment, requested);
    if (decision.kind === 'not_succeeded') throw paymentNotRefundable(paymentId, payment.status);
    if (decision.kind === 'exceeds') {
      throw refundAmountExceedsRefundable(decision.refundable);
    }
    const { amount } = decision;
    const locked = await this.payments.reserveRefund(paymentId, amount, now);
    invariant(locked !== null, `The payment ${paymentId} changed under its lock.`);
    return { payment: locked, amount };
  }

  /** The payment, locked: before its refunds, as everywhere. */
  async lock(paymentId: string): Promise<Payment> {
    const payment = await this.payments.lock(paymentId);
    invariant(payment !== null, `The payment ${paymentId} is gone.`);
    return payment;
  }

  /** Turns a reserved amount of a locked payment into a refunded one and tells of it, in the caller's transaction. */
  refunded(payment: Payment, amount: bigint, now: Date): Promise<void> {
    return this.settleReserve(payment, { reserved: amount, refunded: amount }, now);
  }

  /** Frees a reserved amount of a locked payment and tells of it, in the caller's transaction. */
  released(payment: Payment, amount: bigint, now: Date): Promise<void> {
    return this.settleReserve(payment, { reserved: amount, refunded: 0n }, now);
  }

  /** Asks the payment's provider to give money back. */
  send(payment: Payment, order: RefundOrder): Promise<ProviderOutcome> {
    return this.gateway.refund(payment, order);
  }

  /** Asks the provider what became of a refund, and makes it if it never arrived. */
  async resume(paymentId: string, order: RefundOrder): Promise<ProviderOutcome> {
    const payment = await this.payments.find(paymentId);
    invariant(payment !== null, `The payment ${paymentId} is gone.`);
    return this.gateway.resumeRefund(payment, order);
  }

  /** Decides a refund that the sandbox left pending, and returns its outcome; null when there is none. */
  settleInSandbox(refundId: string, failureCode: string | null): Promise<ProviderOutcome | null> {
    return this.gateway.settleSandboxRefund(refundId, failureCode);
  }

  private async settleReserve(
    before: Payment,
    { reserved, refunded }: { readonly reserved: bigint; readonly refunded: bigint },
    now: Date,
  ): Promise<void> {
    const after = await this.payments.settleRefund(before.id, reserved, refunded, now);
    invariant(after !== null, `The payment ${before.id} is gone.`);
    await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
  }
}
