import { greater, lesser } from '../../../core/money';
import { type Payment, returnedOf } from './payment';

/**
 * Returns the part of a payment's refunds, pending ones included, beyond what paid its invoice and the credit that they
 * took. Invoices had used this part. Only refunds that were made at the provider or that succeeded late have one.
 * @param ofCreditMinor credit that the refunds paid out or have reserved
 */
export function refundedBeyondCredit(
  {
    amountApplied,
    amountRefunded,
    amountRefundPending,
  }: Pick<Payment, 'amountApplied' | 'amountRefunded' | 'amountRefundPending'>,
  ofCreditMinor: bigint,
): bigint {
  return greater(amountRefunded + amountRefundPending - ofCreditMinor - amountApplied, 0n);
}

/** Amounts that refunds, pending ones included, and lost disputes took beyond the credit from a payment. Minor units. */
export interface ReturnedParts {
  /** Part of the refunds, and of the losses, that took money that paid the invoice of the payment. */
  readonly refundedMinor: bigint;
  readonly lostMinor: bigint;
  /** Part that took credit which invoices have used. */
  readonly ofUsedCreditMinor: bigint;
}

/**
 * Divides what refunds and losses took beyond the credit from a payment: first what paid the invoice of the payment,
 * then credit that invoices have used. What exceeds both counts on the invoice: a refund and a dispute took the same
 * money.
 * @param covered refunds and losses that credit from the payment covered, and credit from it that invoices have used
 */
export function returnedParts(
  payment: Pick<Payment, 'amountApplied' | 'amountRefunded' | 'amountRefundPending' | 'amountLost'>,
  covered: Readonly<Record<'refundedMinor' | 'lostMinor' | 'usedMinor', bigint>>,
): ReturnedParts {
  const { amountApplied, amountRefunded, amountRefundPending, amountLost } = payment;
  const { usedMinor } = covered;
  const refundedMinor = amountRefunded + amountRefundPending - covered.refundedMinor;
  const lostMinor = amountLost - covered.lostMinor;
  const refundedBeyond = lesser(refundedBeyondCredit(payment, covered.refundedMinor), usedMinor);
  const beyondMinor = greater(refundedMinor + lostMinor - amountApplied, 0n);
  const lostBeyond = lesser(beyondMinor, usedMinor) - refundedBeyond;
  return {
    refundedMinor: refundedMinor - refundedBeyond,
    lostMinor: lostMinor - lostBeyond,
    ofUsedCreditMinor: refundedBeyond + lostBeyond,
  };
}

/**
 * Returns the refundable part of a succeeded payment: the part that is neither refunded, nor reserved by a pending
 * refund, nor lost in a dispute, nor used. Returns zero if the payment has another status.
 * @param usedMinor part that invoices used as credit, or that credit notes gave back as credit
 * @param creditMinor credit of the customer from credit notes and negative invoices. A refund may pay out this credit
 *   in place of the used part
 */
export function refundableOf(payment: Payment, usedMinor: bigint, creditMinor = 0n): bigint {
  if (payment.status !== 'succeeded') return 0n;
  const left = payment.amount - returnedOf(payment);
  const free = left > usedMinor ? left - usedMinor : 0n;
  return left > 0n ? lesser(left, free + creditMinor) : 0n;
}

/** Part of a payment that invoices used as credit, or that credit notes gave back as credit, in minor units. */
export interface UsedMoney {
  readonly usedMinor: bigint;
  /** The used part if open disputes about other payments are lost. At least `usedMinor`. */
  readonly usedIfLostMinor: bigint;
  /** Id of another payment with an open dispute; null if there is no such payment. */
  readonly disputedId: string | null;
}

export type RefundDecision =
  | { readonly kind: 'reserve'; readonly amount: bigint }
  | { readonly kind: 'not_succeeded' }
  | { readonly kind: 'disputed'; readonly paymentId: string }
  | { readonly kind: 'exceeds'; readonly refundable: bigint };

/**
 * Decides whether an amount of a payment can be refunded. The payment must have succeeded, and no dispute may forbid
 * refunds. The amount must be at least 1 and at most {@link refundableOf}, which also describes `creditMinor`. The
 * refund must leave what open disputes about other payments may take.
 * @param requested minor units; null: all that can be refunded without `creditMinor`
 */
export function decideRefund(
  payment: Payment,
  requested: bigint | null,
  { usedMinor, usedIfLostMinor, disputedId }: UsedMoney,
  creditMinor: bigint,
): RefundDecision {
  if (payment.status !== 'succeeded') return { kind: 'not_succeeded' };
  if (payment.isDisputed) return { kind: 'disputed', paymentId: payment.id };
  const amountWith = (used: bigint): bigint | null => {
    const amount = requested ?? refundableOf(payment, used);
    return amount >= 1n && amount <= refundableOf(payment, used, creditMinor) ? amount : null;
  };
  const amount = amountWith(usedIfLostMinor);
  if (amount !== null) return { kind: 'reserve', amount };
  if (disputedId !== null && amountWith(usedMinor) !== null) {
    return { kind: 'disputed', paymentId: disputedId };
  }
  return { kind: 'exceeds', refundable: refundableOf(payment, usedIfLostMinor, creditMinor) };
}
