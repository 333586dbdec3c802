import { isOwed, owedOf, type ReferenceInvoice } from './bill';
import { FOREVER } from './items';
import { least } from './money';
import type { PayCard, Payments, ReferencePayment } from './payments';
import type { ReferenceSubscription } from './subscription';

/** Default payment method, by its outcome: `slow` delays the outcome. */

export type Card = 'good' | 'bad' | 'slow';

const DAY_MS = 86_400_000;

/** Days from each failed attempt to the next one. After the last pause, there is no further attempt. */
const PAUSES = [1, 3, 5, 7];

/** Invoices that are charged together: the outcome of one does not affect the others. */
const BATCH_SIZE = 20;

interface Owed {
  readonly now: number;
  /** Callbacks for when an invoice is settled, and for when a payment ends. */
  readonly firstPayments: {
    settled(invoice: ReferenceInvoice): void;
    paymentEnded(invoice: ReferenceInvoice): void;
  };
  readonly payments: Payments;
  readonly invoices: readonly ReferenceInvoice[];
  readonly subscriptions: readonly ReferenceSubscription[];
  subscription(index: number): ReferenceSubscription;
}

export class Collection {
  private card: Card | null = null;

  constructor(private readonly owed: Owed) {}

  /** Instants at which charges or checks are planned. */
  get planned(): readonly number[] {
    return this.owed.invoices.flatMap((one) => (isReserved(one) ? [] : (one.chargeAt ?? [])));
  }

  get nextOverdueAt(): number {
    const due = this.owed.invoices.filter(isOverdue);
    return Math.min(FOREVER, ...due.map(({ madeAt }) => madeAt));
  }

  /** Sets another card. All open invoices are charged to it now, even those without further attempts. */
  take(card: Card, now: number): void {
    this.card = card;
    for (const subscription of this.owed.subscriptions) {
      if (subscription.status !== 'unpaid') continue;
      subscription.status = 'past_due';
      subscription.events.push('past_due');
    }
    for (const invoice of this.owed.invoices.filter(isOpen)) {
      // An invoice that is charged at this instant anyway does not change.
      if (invoice.chargeAt !== now) invoice.events.push('updated');
      invoice.chargeAt = now;
    }
  }

  /** Pays an invoice, or a part of it, manually; returns the payment, or the code of the refusal. */
  pay(invoice: ReferenceInvoice, asked: bigint | null, card: PayCard): ReferencePayment | string {
    if (!isOwed(invoice)) return 'invoice_not_payable';
    const free = owedOf(invoice) - invoice.pending;
    if (free <= 0n) return 'invoice_payment_pending';
    if (asked !== null && asked > free) return 'payment_exceeds_invoice';
    return this.charge(invoice, asked ?? free, card);
  }

  /** Pays without an invoice. */
  payAhead(amount: bigint, card: PayCard): ReferencePayment {
    return this.charge(null, amount, card);
  }

  /** Applies the outcome of a payment in flight. */
  settle(payment: ReferencePayment, isPaid: boolean): void {
    this.conclude(payment, isPaid);
  }

  reportOverdue(now: number): void {
    for (const invoice of this.owed.invoices.filter(isOverdue)) {
      if (invoice.madeAt > now) continue;
      invoice.overdueAt = now;
      invoice.events.push('overdue');
    }
  }

  /**
   * Updates the subscriptions of void and written-off invoices, and charges the invoices that are due. Without a card, or for an
   * unpaid subscription, nothing is charged, and no further charge is planned.
   */
  run(now: number): void {
    const isPlanned = (one: ReferenceInvoice): boolean =>
      (one.chargeAt ?? FOREVER) <= now && !isReserved(one);
    const planned = this.owed.invoices.filter(isPlanned);
    planned.sort((one, other) => (one.chargeAt ?? 0) - (other.chargeAt ?? 0));
    const [due, closed] = [planned.filter(isOpen), planned.filter((one) => !isOpen(one))];
    for (const invoice of closed) {
      invoice.chargeAt = null;
      this.settleStanding(invoice);
    }
    const isCharged = (invoice: ReferenceInvoice): boolean =>
      this.card !== null && !this.isNotChargedAutomatically(invoice);
    const charged = due.filter(isCharged).slice(0, BATCH_SIZE);
    for (const invoice of due.filter((one) => !isCharged(one))) {
      invoice.chargeAt = null;
      // The other invoices become overdue, which records an event of its own.
      if (invoice.overdueAt !== null || invoice.pending > 0n) invoice.events.push('updated');
    }
    const payments = charged.map((invoice) => {
      invoice.attempts += 1;
      invoice.chargeAt = null;
      return this.reserve(invoice, owedOf(invoice) - invoice.pending, this.card ?? 'bad', true);
    });
    for (const payment of payments) this.poll(payment);
  }

  /** Sets the status of a subscription that resumes. It depends on the attempts to charge that failed until then. */
  resume(subscription: ReferenceSubscription): void {
    const { invoices, payments } = this.owed;
    const isAttempted = (invoice: ReferenceInvoice): boolean =>
      payments.inFlight.some((one) => one.isAttempt && one.invoice === invoice);
    const tried = invoices.filter(
      (one) =>
        one.subscription === subscription.index &&
        isOpen(one) &&
        one.attempts > (isAttempted(one) ? 1 : 0),
    );
    if (tried.length === 0) return;
    const isTried = tried.every(
      (one) => one.chargeAt !== null || isAttempted(one) || this.pauseAfter(one) !== null,
    );
    subscription.status = isTried ? 'past_due' : 'unpaid';
  }

  /** Marks an invoice as paid after a credit has reduced its amount due to 0. The next `run` updates its subscription. */
  credited(invoice: ReferenceInvoice, now: number): void {
    invoice.status = 'paid';
    invoice.chargeAt = now;
    invoice.events.push('paid');
    this.owed.firstPayments.settled(invoice);
  }

  private charge(
    invoice: ReferenceInvoice | null,
    amount: bigint,
    card: PayCard,
  ): ReferencePayment {
    const payment = this.reserve(invoice, amount, card, false);
    this.poll(payment);
    return payment;
  }

  private poll(payment: ReferencePayment): void {
    if (payment.card === 'slow') {
      payment.status = 'processing';
      payment.events.push('processing');
    } else this.conclude(payment, payment.card !== 'bad');
  }

  private reserve(
    invoice: ReferenceInvoice | null,
    amount: bigint,
    card: PayCard,
    isAttempt: boolean,
  ): ReferencePayment {
    if (invoice !== null) {
      invoice.pending += amount;
      invoice.events.push('updated');
    }
    return this.owed.payments.begin(invoice, amount, card, isAttempt);
  }

  private conclude(payment: ReferencePayment, isPaid: boolean): void {
    const { invoice, amount, isAttempt } = payment;
    payment.status = isPaid ? 'succeeded' : 'failed';
    payment.events.push(payment.status);
    if (invoice === null) {
      if (isPaid) this.owed.payments.keepRest(payment);
      return;
    }
    invoice.pending -= amount;
    if (isPaid) this.paid(invoice, payment);
    else this.failed(invoice, isAttempt);
    this.owed.firstPayments.paymentEnded(invoice);
  }

  /** Applies a payment to its invoice. The part that the invoice does not owe becomes credit of the customer. */
  private paid(invoice: ReferenceInvoice, payment: ReferencePayment): void {
    payment.applied = least(payment.amount, owedOf(invoice));
    invoice.paid += payment.applied;
    this.owed.payments.keepRest(payment);
    if (isOwed(invoice)) {
      if (owedOf(invoice) > 0n) {
        invoice.events.push('updated');
        this.tryAgain(invoice);
        return;
      }
      invoice.status = 'paid';
      invoice.chargeAt = null;
      invoice.events.push('paid');
      this.owed.firstPayments.settled(invoice);
    } else invoice.events.push('updated');
    if (invoice.status === 'paid') this.settleStanding(invoice);
  }

  private failed(invoice: ReferenceInvoice, wasAttempt: boolean): void {
    invoice.events.push('payment_failed');
    if (!wasAttempt) {
      this.tryAgain(invoice);
      return;
    }
    if (!isOpen(invoice)) return;
    // Keeps an instant that is already set, because a card that was added meanwhile is charged at once.
    const pause = this.pauseAfter(invoice);
    if (pause !== null) invoice.chargeAt ??= this.owed.now + pause;
    const isOver = invoice.chargeAt === null;
    const subscription = this.owed.subscription(invoice.subscription);
    const { status } = subscription;
    if (isOver && (status === 'active' || status === 'past_due')) {
      subscription.status = 'unpaid';
      subscription.events.push('updated');
    } else if (!isOver && status === 'active') {
      subscription.status = 'past_due';
      subscription.events.push('past_due');
    }
  }

  /** Plans an attempt now, because a payment that has ended may have delayed it. */
  private tryAgain(invoice: ReferenceInvoice): void {
    if (!isOpen(invoice) || invoice.pending > 0n || this.pauseAfter(invoice) === null) return;
    invoice.chargeAt ??= this.owed.now;
  }

  /**
   * Returns the pause until the next attempt; null if there is no further attempt. A subscription that waits for its
   * first payment is charged only once.
   */
  private pauseAfter({ attempts, subscription }: ReferenceInvoice): number | null {
    if (attempts === 0) return 0;
    if (this.owed.subscription(subscription).status === 'incomplete') return null;
    const days = PAUSES[attempts - 1];
    return days === undefined ? null : days * DAY_MS;
  }

  /** Returns true if the subscription is unpaid, or the time limit of its first payment has passed. */
  private isNotChargedAutomatically({ subscription: index }: ReferenceInvoice): boolean {
    const { status, firstPayment } = this.owed.subscription(index);
    const isWaiting = status === 'incomplete' && firstPayment !== null;
    return status === 'unpaid' || (isWaiting && firstPayment.until <= this.owed.now);
  }

  /** Makes a subscription without open invoices active again. */
  private settleStanding({ subscription: index }: ReferenceInvoice): void {
    const subscription = this.owed.subscription(index);
    const isOwing = this.owed.invoices.some((one) => one.subscription === index && isOpen(one));
    if (isOwing || (subscription.status !== 'past_due' && subscription.status !== 'unpaid')) return;
    subscription.status = 'active';
    subscription.events.push('activated');
  }
}

function isOpen({ status }: ReferenceInvoice): boolean {
  return status === 'open';
}

/** Returns true if payments in flight cover the rest of the invoice. */
function isReserved(invoice: ReferenceInvoice): boolean {
  return isOpen(invoice) && owedOf(invoice) <= invoice.pending;
}

/** Returns true if an open invoice without a pending payment can become overdue: a charge was attempted, or none is planned. */
function isOverdue(invoice: ReferenceInvoice): boolean {
  const { overdueAt, chargeAt, attempts, pending } = invoice;
  const isWaiting = overdueAt === null && pending === 0n;
  return isOpen(invoice) && isWaiting && (chargeAt === null || attempts > 0);
}
