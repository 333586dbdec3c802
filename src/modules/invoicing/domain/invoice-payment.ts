import { invariant } from '../../../core/invariant';
import { mayInvoiceBecome } from './finalize';
import { amountRemaining, type Invoice } from './invoice';

/** Of what remains, what no payment under way has reserved: at most this may be charged now. */
export function payableOf(invoice: Invoice): bigint {
  const free = amountRemaining(invoice) - invoice.amountPending;
  return mayInvoiceBecome(invoice, 'paid') && free > 0n ? free : 0n;
}

export type PaymentDecision =
  | { readonly kind: 'reserve'; readonly amount: bigint }
  | { readonly kind: 'not_payable' }
  /** All that remains is reserved by payments under way. */
  | { readonly kind: 'under_way' }
  | { readonly kind: 'exceeds'; readonly payable: bigint };

/**
 * Whether an invoice may be paid: it is open or was written off, and the amount is 1 up to what is neither paid, credited
 * nor reserved.
 * @param requested minor units; null for all that is free
 */
export function decidePayment(invoice: Invoice, requested: bigint | null): PaymentDecision {
  if (!mayInvoiceBecome(invoice, 'paid')) return { kind: 'not_payable' };
  const payable = payableOf(invoice);
  if (payable === 0n) return { kind: 'under_way' };
  const amount = requested ?? payable;
  if (amount < 1n || amount > payable) return { kind: 'exceeds', payable };
  return { kind: 'reserve', amount };
}

/** The invoice with an amount of it reserved for a payment. */
export function withReserve(invoice: Invoice, amount: bigint, now: Date): Invoice {
  return touched({ ...invoice, amountPending: invoice.amountPending + amount }, now);
}

/** The invoice with an automatic attempt begun, for all that is free of it. What comes next depends on its outcome. */
export function withAttempt(invoice: Invoice, now: Date): Invoice {
  const amount = payableOf(invoice);
  invariant(amount > 0n, 'an attempt charges something');
  const attemptCount = invoice.attemptCount + 1;
  return { ...withReserve(invoice, amount, now), attemptCount, collectAt: null };
}

export interface PaidInvoice {
  readonly invoice: Invoice;
  /** What of the money pays the invoice. The rest came too late: it was voided, credited or paid meanwhile. */
  readonly appliedMinor: bigint;
}

/** What a payment that succeeded makes of an invoice. Its reserve is freed; nothing left to pay makes it paid. */
export function withPayment(before: Invoice, amount: bigint, now: Date): PaidInvoice {
  const invoice = withoutReserve(before, amount, now);
  const remaining = mayInvoiceBecome(before, 'paid') ? amountRemaining(before) : 0n;
  const appliedMinor = amount < remaining ? amount : remaining;
  if (appliedMinor === 0n) return { invoice, appliedMinor };
  const paid = { ...invoice, amountPaid: before.amountPaid + appliedMinor };
  if (appliedMinor < remaining) return { invoice: paid, appliedMinor };
  return { invoice: { ...paid, status: 'paid', paidAt: now, collectAt: null }, appliedMinor };
}

/** What a payment that failed makes of an invoice: what it reserved is free again. */
export function withoutReserve(invoice: Invoice, amount: bigint, now: Date): Invoice {
  invariant(invoice.amountPending >= amount, 'a payment frees what it reserved');
  return touched({ ...invoice, amountPending: invoice.amountPending - amount }, now);
}

function touched(invoice: Invoice, now: Date): Invoice {
  return { ...invoice, version: invoice.version + 1, updatedAt: now };
}
