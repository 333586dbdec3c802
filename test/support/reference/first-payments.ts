import type { ReferenceInvoice } from './bill';
import type { CreditNotes } from './credit-notes';
import type { Payments } from './payments';
import type { ReferenceSubscription } from './subscription';
import { isCredited, voidInvoice } from './voids';

const TIME_TO_PAY_MS = 23 * 3_600_000;

interface Waiting {
  readonly now: number;
  readonly zone: string;
  readonly creditNotes: CreditNotes;
  readonly payments: Payments;
  subscription(index: number): ReferenceSubscription;
}

/** Subscriptions of the reference that start with their first payment, and expire without it. */
export class FirstPayments {
  constructor(private readonly owner: Waiting) {}

  /** Makes the subscription wait for the payment of its first invoice, if the invoice is open. */
  begin(subscription: ReferenceSubscription, invoice: ReferenceInvoice | null): void {
    if (invoice?.status !== 'open') return;
    subscription.status = 'incomplete';
    subscription.events.splice(1, 1, 'updated');
    const until = this.owner.now + TIME_TO_PAY_MS;
    subscription.firstPayment = { invoice, until, reportsAt: until };
  }

  /** Called at the time limit. The subscription expires, unless the outcome of a payment in flight decides later. */
  fallDue(subscription: ReferenceSubscription): void {
    const first = subscription.firstPayment;
    if (first !== null && first.invoice.pending > 0n) {
      first.reportsAt = null;
      subscription.events.push('updated');
    } else this.expire(subscription);
  }

  /** Called when an invoice that a subscription may wait for is settled. */
  settled(invoice: ReferenceInvoice): void {
    const subscription = this.waitingFor(invoice);
    if (subscription === null) return;
    subscription.status = 'active';
    subscription.events.push('activated');
  }

  /** Called when a payment ends. If it ends after the time limit, the subscription expires. */
  paymentEnded(invoice: ReferenceInvoice): void {
    const subscription = this.waitingFor(invoice);
    if ((subscription?.firstPayment?.until ?? Infinity) > this.owner.now) return;
    if (subscription !== null && invoice.pending === 0n) this.expire(subscription);
  }

  isAwaited(invoice: ReferenceInvoice): boolean {
    return this.waitingFor(invoice) !== null;
  }

  /** Called when an invoice is voided manually. */
  givenUp(invoice: ReferenceInvoice): void {
    const subscription = this.waitingFor(invoice);
    if (subscription !== null) this.expire(subscription);
  }

  cancel(subscription: ReferenceSubscription): void {
    this.end(subscription, 'canceled');
    subscription.events.push('canceled');
  }

  private expire(subscription: ReferenceSubscription): void {
    this.end(subscription, 'incomplete_expired');
    subscription.events.push('expired');
  }

  /** Ends a subscription that was never active: nothing is owed for it. */
  private end(
    subscription: ReferenceSubscription,
    status: 'incomplete_expired' | 'canceled',
  ): void {
    const { now, zone, creditNotes, payments } = this.owner;
    const { period } = subscription;
    subscription.status = status;
    subscription.endedAt = now;
    // A payment in flight may outlast the first period, which is not extended.
    period.to = Math.min(period.to, now);
    period.isOver = true;
    for (const item of subscription.items) item.to = Math.min(item.to, now);
    for (const redemption of subscription.redemptions) redemption.isOver = true;
    const invoice = subscription.firstPayment?.invoice;
    if (invoice === undefined) return;
    invoice.isVoidedUnpaid = true;
    if (invoice.status !== 'open') return;
    payments.takeOff(invoice);
    if (isCredited(invoice)) creditNotes.issueWholly(invoice);
    else voidInvoice(invoice, now, subscription.redemptions, zone);
  }

  private waitingFor(invoice: ReferenceInvoice): ReferenceSubscription | null {
    const subscription = this.owner.subscription(invoice.subscription);
    const isIt = subscription.firstPayment?.invoice === invoice;
    return isIt && subscription.status === 'incomplete' ? subscription : null;
  }
}
