import type { Credit, Payer, ReferenceInvoice } from './bill';
import { standingOf } from './given-back';
import { least, sum } from './money';

/** Payment method: `bad` fails, `slow` delays the outcome, `keeps` refuses refunds, and `slow to refund` delays them. */
export type PayCard = 'good' | 'bad' | 'slow' | 'keeps' | 'slow to refund';

/** A payment, with its refunded amount. */
export interface ReferencePayment {
  /** Null: a payment without an invoice, which becomes credit. */
  readonly invoice: ReferenceInvoice | null;
  readonly amount: bigint;
  readonly card: PayCard;
  /** True for an automatic payment. */
  readonly isAttempt: boolean;
  status: 'pending' | 'processing' | 'succeeded' | 'failed';
  /** Amount that paid the invoice. */
  applied: bigint;
  refunded: bigint;
  refundPending: bigint;
  /** Credit from the part of the payment that exceeds `applied`; null: none. */
  credit: PaymentCredit | null;
  /**
   * Credit from credit notes and negative invoices that refunds of this payment have paid out, or that pending refunds
   * reserve.
   */
  readonly paidOut: { pending: bigint; refunded: bigint };
  readonly events: string[];
}

/** Credit of the customer from a payment. Refunds of the payment use this credit first. */
interface PaymentCredit extends Credit {
  /** Amount reserved by pending refunds. `refunded`: amount refunded. */
  reserved: bigint;
  refunded: bigint;
}

export interface ReferenceRefund {
  readonly payment: ReferencePayment;
  readonly amount: bigint;
  /** Credit from credit notes and negative invoices that the refund pays out, with the amount of each. */
  readonly paidOut: readonly { readonly credit: Credit; readonly amount: bigint }[];
  status: 'pending' | 'succeeded' | 'failed';
  readonly events: string[];
}

/** Payments and refunds of the reference, oldest first. */
export class Payments {
  readonly all: ReferencePayment[] = [];
  readonly refunds: ReferenceRefund[] = [];

  constructor(
    private readonly owner: {
      readonly payer: Payer;
      readonly invoices: readonly ReferenceInvoice[];
      readonly creditNotes: { givenOf(invoice: ReferenceInvoice): { readonly refunds: bigint } };
    },
  ) {}

  /** Sums refunds of the money that paid an invoice, pending ones included. */
  refundedOf(invoice: ReferenceInvoice): bigint {
    return this.all
      .filter((one) => one.invoice === invoice && one.applied > 0n)
      .reduce((total, one) => total + refundedOfInvoice(one) + pendingOfInvoice(one), 0n);
  }

  /**
   * Returns the refundable amount of a payment: what is left of the payment, and credit that does not come from
   * payments.
   */
  refundableOf(payment: ReferencePayment): bigint {
    const { amount, refunded, refundPending } = payment;
    const others = sum(this.otherCredits().map(({ left }) => left));
    return least(amount - refunded - refundPending, this.ownRefundable(payment) + others);
  }

  private otherCredits(): readonly Credit[] {
    return this.owner.payer.credits.filter((one) => !this.all.some(({ credit }) => credit === one));
  }

  /**
   * Returns what is left of a payment itself. Leaves out consumed credit, and money that credits or credit notes gave
   * back.
   */
  private ownRefundable(payment: ReferencePayment): bigint {
    const { invoice, applied, credit } = payment;
    const all = refundableOf(payment);
    if (invoice === null || applied === 0n) return all;
    const free = all - (credit?.left ?? 0n);
    // A refund returns the money of notes that are settled as a refund.
    const toRefund = this.owner.creditNotes.givenOf(invoice).refunds;
    const left = standingOf(invoice, this.owner) + toRefund - this.refundedOf(invoice);
    const capped = left < 0n ? 0n : least(free, left);
    return all - free + capped;
  }

  /** The payments without a known outcome. */
  get inFlight(): readonly ReferencePayment[] {
    return this.all.filter(({ status }) => status === 'processing');
  }

  begin(
    invoice: ReferenceInvoice | null,
    amount: bigint,
    card: PayCard,
    isAttempt: boolean,
  ): ReferencePayment {
    const paidOut = { pending: 0n, refunded: 0n };
    const nothing = { applied: 0n, refunded: 0n, refundPending: 0n, credit: null, paidOut };
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

  /** Turns the part of a payment that pays no invoice into credit, which the next invoices consume. */
  keepRest(payment: ReferencePayment): void {
    this.addCredit(payment, payment.amount - payment.applied, 0n, 0n);
  }

  /** Takes all payments off an invoice. Their money becomes credit, except for refunds that were made or are pending. */
  takeOff(invoice: ReferenceInvoice): void {
    for (const payment of this.all) {
      if (payment.invoice !== invoice || payment.applied === 0n) continue;
      const reserved = pendingOfInvoice(payment);
      this.addCredit(payment, payment.applied, reserved, refundedOfInvoice(payment));
      payment.applied = 0n;
      payment.events.push('updated');
    }
    invoice.paid = 0n;
  }

  /** Refunds a part of a payment, or everything that is left of it. Returns the refund, or the code of the refusal. */
  refund(payment: ReferencePayment, asked: bigint | null): ReferenceRefund | string {
    if (payment.status !== 'succeeded') return 'payment_not_refundable';
    const left = this.ownRefundable(payment);
    // A refund without an amount refunds the payment itself. It does not pay out other credit.
    const amount = asked ?? left;
    if (amount < 1n || amount > this.refundableOf(payment)) {
      return 'refund_amount_exceeds_refundable';
    }
    const own = least(amount, left);
    const paidOut = this.payOut(amount - own);
    const refund = { payment, amount, paidOut, status: 'pending' as const, events: ['created'] };
    this.refunds.push(refund);
    payment.refundPending += amount;
    payment.paidOut.pending += amount - own;
    const { credit } = payment;
    if (credit !== null) {
      const reserved = least(credit.left, own);
      credit.left -= reserved;
      credit.reserved += reserved;
    }
    if (payment.card !== 'slow to refund') this.settleRefund(refund, payment.card !== 'keeps');
    return refund;
  }

  settleRefund(refund: ReferenceRefund, isDone: boolean): void {
    const { payment, amount } = refund;
    const ofOthers = sum(refund.paidOut.map((part) => part.amount));
    payment.refundPending -= amount;
    payment.paidOut.pending -= ofOthers;
    if (isDone) {
      payment.refunded += amount;
      payment.paidOut.refunded += ofOthers;
    } else for (const part of refund.paidOut) part.credit.left += part.amount;
    const { credit } = payment;
    if (credit !== null) {
      const given = isDone ? least(credit.reserved, amount - ofOthers) : 0n;
      credit.reserved -= given;
      credit.refunded += given;
      const pending = payment.refundPending - payment.paidOut.pending;
      const freed = credit.reserved - least(credit.reserved, pending);
      credit.reserved -= freed;
      credit.left += freed;
    }
    payment.events.push('updated');
    refund.status = isDone ? 'succeeded' : 'failed';
    refund.events.push(refund.status);
  }

  /** Takes credit that comes from no payment, oldest first. */
  private payOut(amount: bigint): ReferenceRefund['paidOut'] {
    let missing = amount;
    return this.otherCredits().flatMap((credit) => {
      const part = least(credit.left, missing);
      credit.left -= part;
      missing -= part;
      return part === 0n ? [] : [{ credit, amount: part }];
    });
  }

  private addCredit(
    payment: ReferencePayment,
    amount: bigint,
    reserved: bigint,
    refunded: bigint,
  ): void {
    if (amount === 0n) return;
    if (payment.credit === null) {
      payment.credit = { left: 0n, reserved: 0n, refunded: 0n };
      this.owner.payer.credits.push(payment.credit);
    }
    payment.credit.left += amount - reserved - refunded;
    payment.credit.reserved += reserved;
    payment.credit.refunded += refunded;
  }
}

/**
 * Returns the refundable part of a succeeded payment: all that was not refunded, less its credit that invoices
 * consumed.
 */
function refundableOf(payment: ReferencePayment): bigint {
  const { amount, applied, refunded, refundPending, credit, paidOut } = payment;
  const used =
    credit === null ? 0n : amount - applied - credit.left - credit.reserved - credit.refunded;
  return amount - refunded - refundPending - used + paidOut.pending + paidOut.refunded;
}

/** Sums refunds of the part that paid an invoice. */
export function refundedOfInvoice({ refunded, credit, paidOut }: ReferencePayment): bigint {
  return refunded - (credit?.refunded ?? 0n) - paidOut.refunded;
}

function pendingOfInvoice({ refundPending, credit, paidOut }: ReferencePayment): bigint {
  return refundPending - (credit?.reserved ?? 0n) - paidOut.pending;
}
