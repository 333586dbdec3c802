import { owedOf, type ReferenceInvoice } from './bill';
import { FOREVER } from './items';
import type { ReferenceSubscription } from './subscription';

/** How customers of the reference are charged, and what that makes of their subscriptions. */

export type Card = 'good' | 'bad';

/** A provider takes its time over the last one: somebody tells later what became of it. */
export type PayCard = Card | 'slow';

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
    failed(invoice: ReferenceInvoice): void;
  };
  readonly invoices: readonly ReferenceInvoice[];
  readonly subscriptions: readonly ReferenceSubscription[];
  subscription(index: number): ReferenceSubscription;
}

export class Collection {
  /** Payments that nobody knows the outcome of yet. */
  readonly underWay: { readonly invoice: ReferenceInvoice; readonly amount: bigint }[] = [];
  /** Paid for what was not owed any more. */
  leftOver = 0n;
  /** The default payment method. */
  private card: Card | null = null;

  constructor(private readonly owed: Owed) {}

  /** When something is charged, or looked at once more. */
  get planned(): readonly number[] {
    return this.owed.invoices.flatMap(({ chargeAt }) => chargeAt ?? []);
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

  /** Somebody pays an invoice by hand. What fails may have stood in the way of an attempt, which follows. */
  pay(invoice: ReferenceInvoice, card: PayCard, now: number): void {
    if (card === 'good') {
      this.paid(invoice);
      return;
    }
    if (card === 'slow') {
      invoice.pending = owedOf(invoice);
      this.underWay.push({ invoice, amount: invoice.pending });
      return;
    }
    invoice.events.push('payment_failed');
    invoice.chargeAt ??= pauseAfter(invoice.attempts) === null ? null : now;
  }

  /** What becomes of a payment under way: what its invoice does not need any more is left to the customer. */
  settle(place: number, isPaid: boolean): void {
    const [payment] = this.underWay.splice(place, 1);
    if (payment === undefined) return;
    const { invoice, amount } = payment;
    const owed = owedOf(invoice);
    invoice.pending = 0n;
    if (isPaid) {
      this.leftOver += amount - owed;
      if (owed > 0n) this.paid(invoice);
    } else {
      invoice.events.push('payment_failed');
      if (isOpen(invoice))
        invoice.chargeAt ??= pauseAfter(invoice.attempts) === null ? null : this.owed.now;
      this.owed.firstPayments.failed(invoice);
    }
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
    const planned = this.owed.invoices.filter(({ chargeAt }) => (chargeAt ?? FOREVER) <= now);
    planned.sort((one, other) => (one.chargeAt ?? 0) - (other.chargeAt ?? 0));
    const [due, closed] = [planned.filter(isOpen), planned.filter((one) => !isOpen(one))];
    for (const invoice of closed) {
      invoice.chargeAt = null;
      this.settleStanding(invoice);
    }
    const isCharged = (invoice: ReferenceInvoice): boolean =>
      this.card !== null &&
      owedOf(invoice) > invoice.pending &&
      this.owed.subscription(invoice.subscription).status !== 'unpaid';
    const charged = due.filter(isCharged).slice(0, AT_ONCE);
    for (const invoice of due.filter((one) => !isCharged(one))) invoice.chargeAt = null;
    for (const invoice of charged) {
      invoice.attempts += 1;
      invoice.chargeAt = null;
    }
    for (const invoice of charged) {
      if (this.card === 'good') this.paid(invoice);
      else this.failed(invoice, now);
    }
  }

  /** What was tried in vain while a subscription was paused, counts when it goes on. */
  resume(subscription: ReferenceSubscription): void {
    const tried = this.owed.invoices.filter(
      (one) => one.subscription === subscription.index && isOpen(one) && one.attempts > 0,
    );
    if (tried.length === 0) return;
    const isTried = tried.every(({ chargeAt }) => chargeAt !== null);
    subscription.status = isTried ? 'past_due' : 'unpaid';
  }

  /** A credit note left nothing to pay: what that makes of the subscription is seen a moment later. */
  credited(invoice: ReferenceInvoice, now: number): void {
    invoice.status = 'paid';
    invoice.chargeAt = now;
    invoice.events.push('paid');
    this.owed.firstPayments.settled(invoice);
  }

  private paid(invoice: ReferenceInvoice): void {
    invoice.paid = owedOf(invoice);
    invoice.status = 'paid';
    invoice.chargeAt = null;
    invoice.events.push('paid');
    this.owed.firstPayments.settled(invoice);
    this.settleStanding(invoice);
  }

  private failed(invoice: ReferenceInvoice, now: number): void {
    const pause = pauseAfter(invoice.attempts);
    invoice.chargeAt = pause === null ? null : now + pause;
    invoice.events.push('payment_failed');
    const subscription = this.owed.subscription(invoice.subscription);
    // Whoever waits for a first payment has no time for another attempt.
    if (subscription.status === 'incomplete') invoice.chargeAt = null;
    const { status } = subscription;
    if (pause === null && (status === 'active' || status === 'past_due')) {
      subscription.status = 'unpaid';
      subscription.events.push('updated');
    } else if (pause !== null && status === 'active') {
      subscription.status = 'past_due';
      subscription.events.push('past_due');
    }
  }

  /** A subscription that owes nothing any more is active again. */
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

/** Not before the first attempt had its chance. */
function isOverdue(invoice: ReferenceInvoice): boolean {
  const { overdueAt, chargeAt, attempts, pending } = invoice;
  const isWaiting = overdueAt === null && pending === 0n;
  return isOpen(invoice) && isWaiting && (chargeAt === null || attempts > 0);
}

function pauseAfter(attempts: number): number | null {
  if (attempts === 0) return 0;
  const days = PAUSES[attempts - 1];
  return days === undefined ? null : days * DAY_MS;
}
