import { greater, lesser } from '../../../core/money';
import { type Payment, returnedOf } from './payment';

/**
 * Returns the credit that refunds of a payment (pending or succeeded) gave back although invoices had already used it.
 * This is the amount of the refunds, minus the money that paid the invoice, minus `ofCreditMinor`. It is above zero
 * only if a refund was made at the provider or succeeded late. Example: of a payment of 100, 60 paid its invoice and 40
 * became credit, of which other invoices used 30. A refund of 100 at the provider then gives 100 - 60 - 10 = 30.
 * @param ofCreditMinor unused credit that the refunds paid out or have reserved (10 in the example)
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

/**
 * Amounts that refunds (pending or succeeded) and lost disputes took from a payment, except amounts that unused credit
 * covered. Minor units.
 */
export interface ReturnedParts {
  /** Refunded money that had paid the invoice of the payment. */
  readonly refundedMinor: bigint;
  /** Money lost in disputes that had paid the invoice of the payment. */
  readonly lostMinor: bigint;
  /** Refunded or lost credit that invoices had used. */
  readonly ofUsedCreditMinor: bigint;
}

/**
 * Divides the refunds and losses of a payment that unused credit did not cover. They count, in this order, as:
 * - money that paid the invoice, up to the amount of this money
 * - credit that invoices used, up to the amount of this credit
 * - money that paid the invoice. An amount is left for this only if a refund and a dispute took the same money
 *
 * @param covered `refundedMinor` and `lostMinor`: refunds and losses that unused credit covered. `usedMinor`: credit
 *   from the payment that invoices used
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
 * Returns the part of a payment that can still be refunded: not refunded, not reserved by a pending refund, not lost in
 * a dispute, and not used. Zero if the payment has not succeeded.
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

/** Part of a payment that invoices used as credit, or that credit notes gave back as credit. Minor units. */
export interface UsedMoney {
  readonly usedMinor: bigint;
  /** The amount that `usedMinor` would be if all open disputes about other payments were lost. At least `usedMinor`. */
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
 * Checks whether an amount of a payment can be refunded. The payment must have succeeded, without a dispute that
 * forbids refunds. The amount must be at least 1 and at most {@link refundableOf}. Money that open disputes about other
 * payments may take cannot be refunded.
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
