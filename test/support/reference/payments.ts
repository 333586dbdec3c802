import type { ReferenceInvoice } from './bill';
import { least } from './money';

/** What a payment is made with: the last ones take their time, or give nothing back, or take their time over that. */
export type PayCard = 'good' | 'bad' | 'slow' | 'keeps' | 'slow to refund';

/** A payment, and what of it was given back. */
export interface ReferencePayment {
  /** Null: it is for none, and stays the customer's. */
  readonly invoice: ReferenceInvoice | null;
  readonly amount: bigint;
  readonly card: PayCard;
  /** Whether nobody asked for it. */
  readonly isAttempt: boolean;
  status: 'pending' | 'processing' | 'succeeded' | 'failed';
  /** What of it paid the invoice. */
  applied: bigint;
  refunded: bigint;
  refundPending: bigint;
  readonly events: string[];
}

export interface ReferenceRefund {
  readonly payment: ReferencePayment;
  readonly amount: bigint;
  status: 'pending' | 'succeeded' | 'failed';
  readonly events: string[];
}

/** The money of the reference that comes and goes, oldest first. */
export class Payments {
  readonly all: ReferencePayment[] = [];
  readonly refunds: ReferenceRefund[] = [];

  /** Nobody knows their outcome yet. */
  get underWay(): readonly ReferencePayment[] {
    return this.all.filter(({ status }) => status === 'processing');
  }

  begin(
    invoice: ReferenceInvoice | null,
    amount: bigint,
    card: PayCard,
    isAttempt: boolean,
  ): ReferencePayment {
    const nothing = { applied: 0n, refunded: 0n, refundPending: 0n };
    const events = ['created'];
    const payment = {
      invoice,
      amount,
      card,
      isAttempt,
      status: 'pending' as const,
      ...nothing,
      events,
    };
    this.all.push(payment);
    return payment;
  }

  /** What paid parts of an invoice is the customer's. */
  takeOff(invoice: ReferenceInvoice): void {
    for (const payment of this.all) {
      if (payment.invoice !== invoice || payment.applied === 0n) continue;
      payment.applied = 0n;
      payment.events.push('updated');
    }
    invoice.paid = 0n;
  }

  /** Gives back a part, or all that is left; returns the refund, or the code of the refusal. */
  refund(payment: ReferencePayment, asked: bigint | null): ReferenceRefund | string {
    if (payment.status !== 'succeeded') return 'payment_not_refundable';
    const left = refundableOf(payment);
    const amount = asked ?? left;
    if (amount < 1n || amount > left) return 'refund_amount_exceeds_refundable';
    const refund = { payment, amount, status: 'pending' as const, events: ['created'] };
    this.refunds.push(refund);
    payment.refundPending += amount;
    if (payment.card !== 'slow to refund') this.settleRefund(refund, payment.card !== 'keeps');
    return refund;
  }

  settleRefund(refund: ReferenceRefund, isDone: boolean): void {
    const { payment, amount } = refund;
    payment.refundPending -= amount;
    if (isDone) payment.refunded += amount;
    payment.events.push('updated');
    refund.status = isDone ? 'succeeded' : 'failed';
    refund.events.push(refund.status);
  }
}

/** What of a payment that succeeded can be given back. */
export function refundableOf({ amount, refunded, refundPending }: ReferencePayment): bigint {
  return amount - refunded - refundPending;
}

/** What of a payment is held, and whose that is. What paid no invoice is the customer's, and given back first. */
export function heldOf({ status, amount, applied, refunded }: ReferencePayment): {
  readonly cash: bigint;
  readonly credit: bigint;
  /** Given back of what paid an invoice. */
  readonly refunds: bigint;
} {
  if (status !== 'succeeded') return { cash: 0n, credit: 0n, refunds: 0n };
  const free = amount - applied;
  const ofFree = least(refunded, free);
  return { cash: amount - refunded, credit: free - ofFree, refunds: refunded - ofFree };
}
