import { isOwed, owedOf, type ReferenceInvoice } from './bill';
import { FOREVER } from './items';
import { least } from './money';
import type { PayCard, Payments, ReferencePayment } from './payments';
import type { ReferenceSubscription } from './subscription';

/** How customers of the reference are charged, and what that makes of their subscriptions. */

export type Card = 'good' | 'bad' | 'slow';

const DAY_MS = 86_400_000;

/** Days from each attempt that failed to the next one; after the last one nobody asks again. */
const PAUSES = [1, 3, 5, 7];

/** Invoices that are charged in one go: what becomes of one says nothing about the others. */
const AT_ONCE = 20;

interface Owed {
  readonly now: number;
  /** Who begins with a payment, or ends without it. */
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
  /** The default payment method. */
  private card: Card | null = null;

  constructor(private readonly owed: Owed) {}

  /** When something is charged, or looked at once more. */
  get planned(): readonly number[] {
    return this.owed.invoices.flatMap((one) => (isReserved(one) ? [] : (one.chargeAt ?? [])));
  }

  get nextOverdueAt(): number {
    const due = this.owed.invoices.filter(isOverdue);
    return Math.min(FOREVER, ...due.map(({ madeAt }) => madeAt));
  }

  /** Another card: whatever is open is charged to it, also what was given up. */
  take(card: Card, now: number): void {
    this.card = card;
    for (const subscription of this.owed.subscriptions) {
      if (subscription.status !== 'unpaid') continue;
      subscription.status = 'past_due';
      subscription.events.push('past_due');
    }
    for (const invoice of this.owed.invoices) if (invoice.status === 'open') invoice.chargeAt = now;
  }

  /** Somebody pays an invoice by hand, or a part of it; returns the payment, or the code of the refusal. */
  pay(invoice: ReferenceInvoice, asked: bigint | null, card: PayCard): ReferencePayment | string {
    if (!isOwed(invoice)) return 'invoice_not_payable';
    const free = owedOf(invoice) - invoice.pending;
    if (free <= 0n) return 'invoice_payment_pending';
    if (asked !== null && asked > free) return 'payment_exceeds_invoice';
    return this.charge(invoice, asked ?? free, card);
  }

  /** Somebody pays for no invoice. */
  payAhead(amount: bigint, card: PayCard): ReferencePayment {
    return this.charge(null, amount, card);
  }

  /** What becomes of a payment under way. */
  settle(payment: ReferencePayment, isPaid: boolean): void {
    this.conclude(payment, isPaid);
  }

  tellOverdue(now: number): void {
    for (const invoice of this.owed.invoices.filter(isOverdue)) {
      if (invoice.madeAt > now) continue;
      invoice.overdueAt = now;
      invoice.events.push('overdue');
    }
  }

  /** Looks once more at what is void, and charges what is due; without a card, and for who is unpaid, that waits. */
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
      this.card !== null && !this.isLeftAlone(invoice);
    const charged = due.filter(isCharged).slice(0, AT_ONCE);
    for (const invoice of due.filter((one) => !isCharged(one))) invoice.chargeAt = null;
    const payments = charged.map((invoice) => {
      invoice.attempts += 1;
      invoice.chargeAt = null;
      return this.reserve(invoice, owedOf(invoice) - invoice.pending, this.card ?? 'bad', true);
    });
    for (const payment of payments) this.ask(payment);
  }

  /** What was tried in vain while a subscription was paused, counts when it goes on. */
  resume(subscription: ReferenceSubscription): void {
    const { invoices, payments } = this.owed;
    const isAttempted = (invoice: ReferenceInvoice): boolean =>
      payments.underWay.some((one) => one.isAttempt && one.invoice === invoice);
    const tried = invoices.filter(
      (one) =>
        one.subscription === subscription.index &&
        isOpen(one) &&
        one.attempts > (isAttempted(one) ? 1 : 0),
    );
    if (tried.length === 0) return;
    const isTried = tried.every((one) => one.chargeAt !== null || isAttempted(one));
    subscription.status = isTried ? 'past_due' : 'unpaid';
  }

  /** A credit note left nothing to pay: what that makes of the subscription is seen a moment later. */
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
    this.ask(payment);
    return payment;
  }

  private ask(payment: ReferencePayment): void {
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
    if (invoice !== null) invoice.pending += amount;
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

  /** What the invoice does not need any more is left to the customer. */
  private paid(invoice: ReferenceInvoice, payment: ReferencePayment): void {
    payment.applied = least(payment.amount, owedOf(invoice));
    invoice.paid += payment.applied;
    this.owed.payments.keepRest(payment);
    if (isOwed(invoice)) {
      if (owedOf(invoice) > 0n) {
        this.tryAgain(invoice);
        return;
      }
      invoice.status = 'paid';
      invoice.chargeAt = null;
      invoice.events.push('paid');
      this.owed.firstPayments.settled(invoice);
    }
    if (invoice.status === 'paid') this.settleStanding(invoice);
  }

  private failed(invoice: ReferenceInvoice, wasAttempt: boolean): void {
    invoice.events.push('payment_failed');
    if (!wasAttempt) {
      this.tryAgain(invoice);
      return;
    }
    if (!isOpen(invoice)) return;
    // Another card that came meanwhile is charged at once.
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

  /** What ended may have stood in the way of an attempt, which follows. */
  private tryAgain(invoice: ReferenceInvoice): void {
    if (!isOpen(invoice) || invoice.pending > 0n || this.pauseAfter(invoice) === null) return;
    invoice.chargeAt ??= this.owed.now;
  }

  /** Null: nobody asks again. Whoever waits for a first payment has no time for another attempt. */
  private pauseAfter({ attempts, subscription }: ReferenceInvoice): number | null {
    if (attempts === 0) return 0;
    if (this.owed.subscription(subscription).status === 'incomplete') return null;
    const days = PAUSES[attempts - 1];
    return days === undefined ? null : days * DAY_MS;
  }

  /** Nothing is charged by itself for who is unpaid, or out of time for a first payment. */
  private isLeftAlone({ subscription: index }: ReferenceInvoice): boolean {
    const { status, firstPayment } = this.owed.subscription(index);
    const isWaiting = status === 'incomplete' && firstPayment !== null;
    return status === 'unpaid' || (isWaiting && firstPayment.until <= this.owed.now);
  }

  /** A subscription that owes nothing any more is active again. */
  private settleStanding({ subscription: index }: ReferenceInvoice): void {
    const subscription = this.owed.subscription(index);
    const isOwing = this.owed.invoices.some((one) => one.subscription === index && isOwed(one));
    if (isOwing || (subscription.status !== 'past_due' && subscription.status !== 'unpaid')) return;
    subscription.status = 'active';
    subscription.events.push('activated');
  }
}

function isOpen({ status }: ReferenceInvoice): boolean {
  return status === 'open';
}

/** Whether payments under way are to pay all that is left of it. */
function isReserved(invoice: ReferenceInvoice): boolean {
  return isOpen(invoice) && owedOf(invoice) <= invoice.pending;
}

/** Not before the first attempt had its chance. */
function isOverdue(invoice: ReferenceInvoice): boolean {
  const { overdueAt, chargeAt, attempts, pending } = invoice;
  const isWaiting = overdueAt === null && pending === 0n;
  return isOpen(invoice) && isWaiting && (chargeAt === null || attempts > 0);
}
