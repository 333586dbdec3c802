import { invariant } from '../../../core/invariant';
import { lesser, nonNegative } from '../../../core/money';
import { nextVersion } from '../../../core/next-version';
import { mayInvoiceBecome } from './finalize';
import { amountRemaining, type Invoice } from './invoice';
import { closeCollectionAt } from './invoice-collection';

/** Returns the unpaid amount; 0 if the invoice cannot be paid. */
export function unpaidOf(invoice: Invoice): bigint {
  return mayInvoiceBecome(invoice, 'paid') ? amountRemaining(invoice) : 0n;
}

/** Returns the unpaid amount that no pending payment has reserved: the most that can be charged now. */
export function payableOf(invoice: Invoice): bigint {
  return nonNegative(unpaidOf(invoice) - invoice.amountPending);
}

export type PaymentDecision =
  | { readonly kind: 'reserve'; readonly amount: bigint }
  | { readonly kind: 'not_payable' }
  | { readonly kind: 'under_way' }
  | { readonly kind: 'exceeds'; readonly payable: bigint };

/**
 * Returns whether an invoice can be paid, and with what amount. The invoice must be open or written off. The amount
 * must be from 1 to {@link payableOf}.
 * @param requested minor units; null: the whole payable amount
 */
export function decidePayment(invoice: Invoice, requested: bigint | null): PaymentDecision {
  if (!mayInvoiceBecome(invoice, 'paid')) return { kind: 'not_payable' };
  const payable = payableOf(invoice);
  if (payable === 0n) return { kind: 'under_way' };
  const amount = requested ?? payable;
  if (amount < 1n || amount > payable) return { kind: 'exceeds', payable };
  return { kind: 'reserve', amount };
}

export function withReserve(invoice: Invoice, amount: bigint, now: Date): Invoice {
  return nextVersion(invoice, now, { amountPending: invoice.amountPending + amount });
}

/**
 * Returns the invoice after the start of an automatic charge for its whole payable amount. The next charge is planned
 * only when this one ends.
 */
export function withAttempt(invoice: Invoice, now: Date): Invoice {
  const amount = payableOf(invoice);
  invariant(amount > 0n, 'an attempt charges something');
  const attemptCount = invoice.attemptCount + 1;
  const done = { attemptCount, collectAt: null, isCollectedWhileUnpaid: false };
  return { ...withReserve(invoice, amount, now), ...done };
}

export interface PaidInvoice {
  readonly invoice: Invoice;
  /**
   * Part of the payment that pays the invoice. Less than the whole payment if the invoice was voided, credited or paid
   * meanwhile.
   */
  readonly appliedMinor: bigint;
}

/**
 * Applies a succeeded payment: frees the amount that it reserved, and marks the invoice as paid if nothing is left to
 * pay.
 * @param reserved amount of the invoice that the payment reserved, in minor units
 */
export function withPayment(
  before: Invoice,
  amount: bigint,
  reserved: bigint,
  now: Date,
): PaidInvoice {
  const invoice = withoutReserve(before, reserved, now);
  const remaining = unpaidOf(before);
  const appliedMinor = lesser(amount, remaining);
  if (appliedMinor === 0n) return { invoice, appliedMinor };
  const paid = { ...invoice, amountPaid: before.amountPaid + appliedMinor };
  if (appliedMinor < remaining) return { invoice: paid, appliedMinor };
  return { invoice: { ...paid, status: 'paid', paidAt: now, collectAt: null }, appliedMinor };
}

/** Lowers the unpaid amount of an invoice. If nothing is left to pay, marks the invoice as paid. */
export function withCredit(before: Invoice, amount: bigint, now: Date): Invoice {
  const after = nextVersion(before, now, { amountCredited: before.amountCredited + amount });
  if (!mayInvoiceBecome(before, 'paid') || amountRemaining(after) !== 0n) return after;
  return { ...after, status: 'paid', paidAt: now, collectAt: closeCollectionAt(before, now) };
}

export function withoutReserve(invoice: Invoice, amount: bigint, now: Date): Invoice {
  invariant(invoice.amountPending >= amount, 'a payment frees what it reserved');
  return nextVersion(invoice, now, { amountPending: invoice.amountPending - amount });
}
