import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { invariant } from '../../core/invariant';
import { lesser } from '../../core/money';
import { Outbox } from '../../platform/outbox';
import { CreditBalanceService, InvoicePaymentsService, maxRefundable } from '../invoicing';
import { type LostCreditOfInvoice, LostCreditService } from './disputes/lost-credit.service';
import { paymentDisputed } from './disputes/disputes.errors';
import { isAllApplied, type Payment, returnedOf } from './domain/payment';
import type { ProviderOutcome } from './domain/payment-provider';
import { decideRefund, refundableOf, type UsedMoney } from './domain/refundable';
import {
  paymentNotFound,
  paymentNotRefundable,
  refundAmountExceedsRefundable,
} from './payments.errors';
import { paymentUpdated } from './payments.events';
import { PaymentRecordsService } from './payment-records.service';
import { PaymentsRepository } from './payments.repository';
import { ProviderGateway } from './providers/provider-gateway';
import type {
  ProviderRefundState,
  RequestedRefund,
  ResumedRefund,
} from './providers/requested-refund';
import { ReturnPaymentsService } from './return-payments.service';

/** Amounts that a refund of a payment can have, in minor units. Both are zero while nothing can be refunded. */
export interface Refundable {
  readonly currency: string;
  /** Amount that is refunded if the request states no amount. */
  readonly defaultAmount: bigint;
  /** Largest amount of a refund. Includes credit of the customer from credit notes and negative invoices. */
  readonly refundableAmount: bigint;
}

/** A refund that succeeded after it was recorded as failed or canceled. `amount` is in minor units. */
interface LateRefund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly amount: bigint;
  readonly isMadeAtProvider: boolean;
}

const remainingOf = (credits: readonly { readonly remaining: bigint }[]): bigint =>
  credits.reduce((total, { remaining }) => total + remaining, 0n);

/**
 * Changes the amounts of a payment when a refund of it is reserved, succeeds, fails, or is returned by a bank. The
 * `refunds` module stores the refunds themselves.
 */
@Injectable()
export class PaymentRefundsService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly records: PaymentRecordsService,
    private readonly credit: CreditBalanceService,
    private readonly invoices: InvoicePaymentsService,
    private readonly returns: ReturnPaymentsService,
    private readonly losses: LostCreditService,
    private readonly gateway: ProviderGateway,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Reserves an amount of a payment for a refund, in the caller's transaction. Records no event, because the first
   * event of the refund shows the amount. Reserves in this order:
   * 1. the part of the payment that became credit of the customer
   * 2. the part that paid the invoice and was not credited
   * 3. credit of the customer from credit notes and negative invoices
   * @param requested minor units; null: all of the parts 1 and 2
   * @returns the reserved amount, the changed payment, and the time of the change on the customer's clock
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `payment_disputed` (also if the dispute is
   *   about another payment whose money or credit paid the invoice), `refund_amount_exceeds_refundable`,
   *   `payment_provider_not_enabled`
   */
  async reserve(
    refundId: string,
    paymentId: string,
    requested: bigint | null,
  ): Promise<{ readonly payment: Payment; readonly amount: bigint; readonly at: Date }> {
    const { payment: before, others, used, freeMinor: free } = await this.lockRefundable(paymentId);
    this.gateway.requireEnabled(before.provider);
    const { usedIfLostMinor } = used;
    const needsOthers =
      usedIfLostMinor > 0n && (requested === null ? free === 0n : requested > free);
    const available = needsOthers ? others : [];
    const decision = decideRefund(before, requested, used, remainingOf(available));
    if (decision.kind === 'not_succeeded') throw paymentNotRefundable(paymentId, before.status);
    if (decision.kind === 'disputed') throw paymentDisputed(decision.paymentId);
    if (decision.kind === 'exceeds') throw refundAmountExceedsRefundable(decision.refundable);
    const { amount } = decision;
    const at = await this.records.followingTimeOf(before);
    const payment = await this.payments.reserveRefund(paymentId, amount, at);
    invariant(payment !== null, `The payment ${paymentId} changed under its lock.`);
    const ofPayment = lesser(amount, free);
    if (!isAllApplied(payment) && ofPayment > 0n) await this.credit.reserve(paymentId, ofPayment);
    await this.credit.reserveOthers({ refundId, paymentId }, amount - ofPayment, available);
    return { payment, amount, at };
  }

  /**
   * Locks a payment and its credit in the caller's transaction, and returns what can be refunded.
   * @throws {ProblemError} `payment_not_found`
   */
  async refundableOf(paymentId: string): Promise<Refundable> {
    const { payment, others, used, freeMinor } = await this.lockRefundable(paymentId);
    const { currency, isDisputed } = payment;
    if (isDisputed) return { currency, defaultAmount: 0n, refundableAmount: 0n };
    const refundableAmount = refundableOf(payment, used.usedIfLostMinor, remainingOf(others));
    return { currency, defaultAmount: freeMinor, refundableAmount };
  }

  /**
   * Reserves an amount of a payment for a refund that was made at the provider, in the caller's transaction. Ignores
   * disputes and used credit, because the money has moved already. Returns null if the payment has not succeeded, or if
   * all its refunds together would exceed the payment.
   */
  async reserveForProviderRefund(
    paymentId: string,
    amount: bigint,
    now: Date,
  ): Promise<Payment | null> {
    const payment = await this.payments.reserveForProviderRefund(paymentId, amount, now);
    if (payment !== null && !isAllApplied(payment)) await this.credit.reserve(paymentId, amount);
    return payment;
  }

  /**
   * Reserves an amount of a payment, in the caller's transaction, for a refund that succeeded late: it was recorded as
   * failed or canceled. Takes the same parts as a new refund of this amount: those of {@link reserve}, or those of
   * {@link reserveForProviderRefund} if it was made at the provider. Ignores amounts
   * lost in disputes, and credit that is used or missing, because the money has moved already. The caller has locked
   * the payment and the others of its invoice.
   * @returns the changed payment, and the time of the change on the customer's clock
   * @throws {ProblemError} `refund_amount_exceeds_refundable`
   */
  async reserveForLateSuccess({
    refundId,
    paymentId,
    amount,
    isMadeAtProvider,
  }: LateRefund): Promise<{ readonly payment: Payment; readonly at: Date }> {
    const { payment: before, others, used } = await this.lockRefundable(paymentId);
    const at = await this.records.followingTimeOf(before);
    const left = { ...before, amountLost: 0n };
    const payment =
      (await this.payments.reserveForProviderRefund(paymentId, amount, at)) ??
      raise(refundAmountExceedsRefundable(refundableOf(left, 0n)));
    const beyond = amount - lesser(amount, refundableOf(left, used.usedMinor));
    const ofOthers = isMadeAtProvider ? 0n : lesser(beyond, remainingOf(others));
    if (!isAllApplied(payment)) await this.credit.reserve(paymentId, amount - ofOthers);
    await this.credit.reserveOthers({ refundId, paymentId }, ofOthers, others);
    return { payment, at };
  }

  /**
   * Turns a reserved amount of a locked payment into a refunded amount, in the caller's transaction. Records
   * `payment.updated`.
   * @returns the part of the amount that was paid out from credit of the customer
   */
  async markRefunded(
    refundId: string,
    payment: Payment,
    amount: bigint,
    now: Date,
  ): Promise<bigint> {
    await this.settleReserve(payment, { reserved: amount, refunded: amount }, now);
    return this.credit.takeRefund(refundId, payment.id, amount);
  }

  /**
   * Releases a reserved amount of a locked payment, in the caller's transaction, and records `payment.updated`. Credit
   * that becomes available again then covers losses of the payment.
   */
  async releaseReserve(
    refundId: string,
    payment: Payment,
    amount: bigint,
    now: Date,
  ): Promise<void> {
    const after = await this.settleReserve(payment, { reserved: amount, refunded: 0n }, now);
    await this.credit.releaseRefund(refundId, payment.id, after.amountRefundPending);
    if (isAllApplied(payment)) return;
    await this.losses.coverLosses([after], { sourceId: refundId, occurredAt: now });
  }

  /**
   * Lowers the refunded amount of a locked payment, in the caller's transaction, because a bank returned the refund.
   * Records `payment.updated`. Credit that becomes available again then covers losses of the payment.
   * @returns `toCreditMinor`: the part that became credit of the customer again. `recoveredMinor`: the credit that then
   *   covered losses in disputes. The caller must post both in one ledger transaction
   */
  async markReturned(
    refundId: string,
    payment: Payment,
    amount: bigint,
    now: Date,
  ): Promise<{ readonly toCreditMinor: bigint; readonly recoveredMinor: bigint }> {
    const after = await this.settleReserve(payment, { reserved: 0n, refunded: -amount }, now);
    const { id, amountRefunded } = after;
    const toCreditMinor = await this.credit.returnRefund(refundId, id, amountRefunded);
    const recoveredMinor = isAllApplied(after) ? 0n : await this.losses.coverAfterReturn(after);
    return { toCreditMinor, recoveredMinor };
  }

  send(payment: Payment, refund: RequestedRefund): Promise<ProviderOutcome> {
    return this.gateway.refund(payment, refund);
  }

  /**
   * Sends a refund again. Must be called only if the provider certainly did not execute earlier requests for the
   * refund.
   */
  async sendAgain(paymentId: string, refund: RequestedRefund): Promise<ProviderOutcome> {
    return this.gateway.refund(await this.records.get(paymentId), refund);
  }

  /**
   * Returns the state of a refund from the provider. Sends the request again, but only if this cannot pay the refund
   * twice. Returns `absent` if the refund is not in the provider's list of the charge's refunds.
   */
  async resume(paymentId: string, refund: ResumedRefund): Promise<ProviderRefundState> {
    return this.gateway.resumeRefund(await this.records.get(paymentId), refund);
  }

  /**
   * Sets the outcome of a refund in the sandbox. A null `failureCode` lets the refund succeed. Returns null if the
   * refund is not pending there.
   */
  settleInSandbox(refundId: string, failureCode: string | null): Promise<ProviderOutcome | null> {
    return this.gateway.settleSandboxRefund(refundId, failureCode);
  }

  /**
   * Locks the customer of a payment, then the payment, then the customer's credit. `others` is the credit from credit
   * notes and negative invoices. `freeMinor` is the amount that can be refunded without `others`.
   */
  private async lockRefundable(paymentId: string) {
    const { payment, ...ofCredit } = await this.lockForRefund(paymentId);
    // Must precede `usedOf`, which locks only the credit of the payment. Credits must be locked oldest first, and the
    // credit of the payment may be newer than the others.
    const others = await this.credit.lockAvailable(payment);
    const used = await this.usedOf(payment, ofCredit);
    return { payment, others, used, freeMinor: refundableOf(payment, used.usedIfLostMinor) };
  }

  private async lockForRefund(
    paymentId: string,
  ): Promise<LostCreditOfInvoice & { readonly payment: Payment }> {
    const { customerId, invoiceId } =
      (await this.payments.find(paymentId)) ?? raise(paymentNotFound(paymentId));
    await this.records.lockCustomer(customerId);
    const { payment, ...ofCredit } = await this.losses.lockForRefund(paymentId, invoiceId);
    return { payment: payment ?? raise(paymentNotFound(paymentId)), ...ofCredit };
  }

  private async usedOf(payment: Payment, ofCredit: LostCreditOfInvoice): Promise<UsedMoney> {
    const { reserved, refunded, lost, used, paidOut } = await this.credit.lockOf(payment.id);
    const applied = payment.amountApplied - (returnedOf(payment) - reserved - refunded - lost);
    const limit = await this.limitOf(payment, ofCredit);
    const usedBeyond = (maxMinor: bigint | null): bigint => {
      const beyond = applied - (maxMinor ?? payment.amountApplied);
      // `paidOut` is subtracted, because `returnedOf` includes refunds that paid out credit from other sources.
      return used + (beyond > 0n ? beyond : 0n) - paidOut;
    };
    return {
      usedMinor: usedBeyond(limit.leftMinor),
      usedIfLostMinor: usedBeyond(limit.leftIfLostMinor),
      disputedId: limit.disputedId,
    };
  }

  /**
   * Returns how much of the money that paid the payment's invoice can still be refunded (`leftMinor`), and the same
   * amount if all open disputes are lost (`leftIfLostMinor`). Credit notes and credits on later invoices lower both
   * amounts. Null: no limit. Negative: refunds exceed the limit. The caller must have locked the payments of the
   * invoice.
   */
  private async limitOf({ invoiceId, amountApplied }: Payment, ofCredit: LostCreditOfInvoice) {
    if (invoiceId === null || amountApplied === 0n) {
      return { leftMinor: null, leftIfLostMinor: null, disputedId: null };
    }
    const held = await this.invoices.heldBy(invoiceId);
    const { refundedMinor, lostMinor, disputed } = await this.returns.lockReturned(invoiceId);
    const left = (disputedMinor: bigint): bigint | null => {
      const maxMinor = maxRefundable(held, ofCredit.lostCreditMinor + disputedMinor);
      return maxMinor === null ? null : maxMinor - refundedMinor - lostMinor;
    };
    return {
      leftMinor: left(0n),
      leftIfLostMinor: left(disputed.disputedMinor + ofCredit.disputedCredit.disputedMinor),
      disputedId: disputed.disputedId ?? ofCredit.disputedCredit.disputedId,
    };
  }

  private async settleReserve(
    before: Payment,
    { reserved, refunded }: { readonly reserved: bigint; readonly refunded: bigint },
    now: Date,
  ): Promise<Payment> {
    const after = await this.payments.settleRefund(before.id, reserved, refunded, now);
    invariant(after !== null, `The payment ${before.id} is gone.`);
    await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
    return after;
  }
}
