import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { lesser } from '../../core/money';
import { newId } from '../../platform/ids';
import { CustomersService } from '../customers';
import { CreditGrantsRepository, type OriginUse } from './credit-grants.repository';
import {
  type AvailableCredit,
  CreditPayoutsRepository,
  type PaidOut,
  type RefundedPayment,
} from './credit-payouts.repository';
import {
  type CreditBalance,
  type CreditUse,
  newGrant,
  type StoredCreditGrant,
  usedByInvoices,
} from './domain/credit-grant';
import { type CoveredCredit, NOTHING_COVERED } from './domain/given-back';

/** Money of a payment that is added to the credit balance of its customer. Amounts in minor units. */
export interface NewPaymentCredit {
  readonly paymentId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Part of `amount` that pending refunds reserve. `refunded` and `lost` (in disputes) are parts of `amount` too. */
  readonly reserved: bigint;
  readonly refunded: bigint;
  readonly lost: bigint;
}

/** Credit from a payment, and other credit that its refunds took or reserved. In minor units. */
export interface PaymentCredit {
  /** Null: no credit came from the payment. */
  readonly creditId: string | null;
  /** Reserved for pending refunds. Like `refunded`, it includes credit from credit notes and negative invoices. */
  readonly reserved: bigint;
  readonly refunded: bigint;
  /** Part of `reserved` plus `refunded` that came from credit notes and negative invoices, not from the payment. */
  readonly paidOut: bigint;
  /** Amount that lost disputes took. */
  readonly lost: bigint;
  /** Amount that invoices used, which cannot be refunded. */
  readonly used: bigint;
}

const NOTHING_PAID_OUT: PaidOut = { reserved: 0n, refunded: 0n };

const NO_CREDIT = { creditId: null, reserved: 0n, refunded: 0n, lost: 0n, used: 0n };

/** Reads and changes the credit balances of customers, including the credit that came from payments. */
@Injectable()
export class CreditBalanceService {
  constructor(
    private readonly grants: CreditGrantsRepository,
    private readonly payouts: CreditPayoutsRepository,
    private readonly customers: CustomersService,
  ) {}

  /** @throws {ProblemError} `customer_not_found` */
  async balanceOf(customerId: string): Promise<CreditBalance> {
    const { currency } = await this.customers.get(customerId);
    return { customerId, currency, ...(await this.grants.balanceOf(customerId)) };
  }

  /** Adds money of a payment to the credit balance, in the caller's transaction. The caller has locked the payment. */
  async add(credit: NewPaymentCredit, now: Date): Promise<void> {
    const { paymentId: sourceId, customerId, currency, amount, reserved, refunded, lost } = credit;
    if (amount === 0n) return;
    const grant = newGrant({
      id: newId('crd'),
      customerId,
      currency,
      amount,
      sourceId,
      createdAt: now,
    });
    const remaining = amount - reserved - refunded - lost;
    await this.grants.add({ ...grant, remaining, reserved, refunded, lost });
  }

  /** Returns, by credit id, the id of the invoice, credit note or payment that the credit came from. */
  sourcesOf(creditIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.grants.sourcesOf(creditIds);
  }

  /** Locks the available credit of customers until the caller's transaction ends. */
  async lockAvailableOf(customerIds: readonly string[]): Promise<void> {
    await this.grants.open(customerIds, true);
  }

  /** Returns the ids of the invoices, credit notes and payments that the available credit of a customer came from. */
  async availableSourcesOf(customerId: string): Promise<readonly string[]> {
    return (await this.grants.open([customerId], false)).map(({ sourceId }) => sourceId);
  }

  /**
   * Returns the credit that these invoices used, less the amounts that {@link takeOfNote} took of their credit notes.
   */
  usesOf(invoiceIds: readonly string[]): Promise<readonly CreditUse[]> {
    return this.grants.usesOf(invoiceIds);
  }

  /**
   * Returns the credit that finalized, non-void invoices used from these payments, less the amounts that
   * {@link takeOfNote} took from credit notes of these invoices. Sorts by credit and then by invoice, oldest first.
   */
  usesOfPayments(paymentIds: readonly string[]): Promise<readonly CreditUse[]> {
    return this.grants.usesOfPayments(paymentIds);
  }

  /** Returns the credit from a payment, locked until the transaction ends. The caller has locked the payment. */
  async lockOf(paymentId: string): Promise<PaymentCredit> {
    const grant = await this.grants.lockOf(paymentId);
    const { reserved, refunded } = await this.paidOutOf(paymentId);
    const own = grant === null ? NO_CREDIT : creditOf(grant);
    return {
      ...own,
      reserved: own.reserved + reserved,
      refunded: own.refunded + refunded,
      paidOut: reserved + refunded,
    };
  }

  /**
   * Returns three amounts of credit by payment id:
   * - paid out or reserved by refunds of the payment. Includes credit from credit notes and negative invoices, because
   *   refunds can pay out that credit too.
   * - taken by lost disputes about the payment
   * - used by invoices
   */
  async returnedOf(paymentIds: readonly string[]): Promise<ReadonlyMap<string, CoveredCredit>> {
    const own = await this.grants.returnedOf(paymentIds);
    const paidOut = await this.payouts.byPayment(paymentIds);
    return new Map(
      paymentIds.map((id) => {
        const covered = own.get(id) ?? NOTHING_COVERED;
        const { reserved, refunded } = paidOut.get(id) ?? NOTHING_PAID_OUT;
        const refundedMinor = covered.refundedMinor + reserved + refunded;
        return [id, { ...covered, refundedMinor }];
      }),
    );
  }

  /**
   * Locks the credit that came from `payment`, and the available credit that the customer has from credit notes and
   * negative invoices. Returns only the credit from credit notes and negative invoices. A refund of any payment of the
   * customer can pay it out.
   */
  lockAvailable(payment: RefundedPayment): Promise<readonly AvailableCredit[]> {
    return this.payouts.lockAvailable(payment);
  }

  /** Reserves up to `amount` of the credit from a payment for a refund. The caller has locked the payment. */
  async reserve(paymentId: string, amount: bigint): Promise<void> {
    await this.grants.reserve(paymentId, amount);
  }

  /**
   * Reserves `amount` of the credit from credit notes and negative invoices for a refund, oldest credit first.
   * @param available result of `lockAvailable` in the same transaction
   */
  async reserveOthers(
    refund: { readonly refundId: string; readonly paymentId: string },
    amount: bigint,
    available: readonly AvailableCredit[],
  ): Promise<void> {
    if (amount === 0n) return;
    let missing = amount;
    const parts = available.map(({ id, remaining }) => {
      const part = lesser(remaining, missing);
      missing -= part;
      return { id, remaining: part };
    });
    invariant(missing === 0n, `The available credits cover ${amount}.`);
    await this.payouts.reserve(
      refund,
      parts.filter(({ remaining }) => remaining > 0n),
    );
  }

  /**
   * Counts the credit that a refund had reserved as refunded, because the refund succeeded. Returns the part of the
   * refund that was paid from credit.
   */
  async takeRefund(refundId: string, paymentId: string, amount: bigint): Promise<bigint> {
    const paidOut = await this.payouts.refund(refundId, paymentId);
    return paidOut + (await this.grants.takeReserved(paymentId, amount - paidOut));
  }

  /**
   * Takes up to `amount` of the unused credit from a payment, after a dispute about the payment was lost. A negative
   * amount makes credit available again that was taken before. Returns the amount taken. The caller has locked the
   * payment.
   */
  takeLost(paymentId: string, amount: bigint): Promise<bigint> {
    return this.grants.takeLost(paymentId, amount);
  }

  /**
   * Takes up to `amount` of the unused credit from a payment, and counts it as refunded. Used for credit that could not
   * be taken when the payment was refunded, because invoices used it then. Returns the amount taken. The caller has
   * locked the payment.
   */
  takeRefunded(paymentId: string, amount: bigint): Promise<bigint> {
    return this.grants.takeRefunded(paymentId, amount);
  }

  /**
   * Takes up to `amount` of the unused credit from a credit note, and counts it as lost, refunded or reserved credit of
   * a payment. The credited invoice was paid with credit from this payment, but the money of the payment was refunded,
   * is being refunded, or was lost in a dispute. Returns the amount taken.
   * @param amount at most the credit from the payment that invoices have used
   */
  takeOfNote(noteId: string, paymentId: string, use: OriginUse, amount: bigint): Promise<bigint> {
    return this.grants.takeAtOrigin(noteId, paymentId, use, amount);
  }

  /**
   * Makes the credit that a refund had paid out available again, because a bank returned the money of the refund.
   * Returns the amount of this credit.
   * @param stillRefunded amount of credit that other refunds of the payment paid out
   */
  async returnRefund(refundId: string, paymentId: string, stillRefunded: bigint): Promise<bigint> {
    const paidOut = await this.payouts.release(refundId, paymentId);
    const { refunded } = await this.paidOutOf(paymentId);
    return paidOut + (await this.grants.returnRefunded(paymentId, stillRefunded - refunded));
  }

  /**
   * Makes the credit that a refund had reserved available again, because the refund failed.
   * @param stillPending amount of credit that other pending refunds of the payment have reserved
   */
  async releaseRefund(refundId: string, paymentId: string, stillPending: bigint): Promise<void> {
    await this.payouts.release(refundId, paymentId);
    const { reserved } = await this.paidOutOf(paymentId);
    await this.grants.releaseReserved(paymentId, stillPending - reserved);
  }

  private async paidOutOf(paymentId: string): Promise<PaidOut> {
    return (await this.payouts.byPayment([paymentId])).get(paymentId) ?? NOTHING_PAID_OUT;
  }
}

function creditOf(grant: StoredCreditGrant): Omit<PaymentCredit, 'paidOut'> {
  const { id: creditId, reserved, refunded, lost } = grant;
  return { creditId, reserved, refunded, lost, used: usedByInvoices(grant) };
}
