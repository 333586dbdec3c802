import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { type Invoice, DueInvoicesRepository } from '../../invoicing';
import {
  decideEndUnpaid,
  isAwaitingPayment,
  isFirstPaymentOverdue,
  type Subscription,
  SubscriptionsRepository,
} from '../../subscriptions';
import { BillingLocks } from '../billing-locks';
import { VoidUnpaidInvoicesWorkflow } from '../invoices/void-unpaid-invoices.workflow';
import { ApplyOutcomesWorkflow } from './apply-outcomes.workflow';
import { SubscriptionStatusWorkflow } from './subscription-status.workflow';

/**
 * Ends the wait of subscriptions for their first payment. Activates a subscription that no longer needs this payment,
 * and expires a subscription whose first payment can no longer succeed. Runs in the transaction of the caller, which
 * has locked the subscription.
 */
@Injectable()
export class FirstPaymentsWorkflow {
  constructor(
    private readonly locks: BillingLocks,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly dueInvoices: DueInvoicesRepository,
    private readonly status: SubscriptionStatusWorkflow,
    private readonly outcomes: ApplyOutcomesWorkflow,
    private readonly unpaidInvoices: VoidUnpaidInvoicesWorkflow,
  ) {}

  /**
   * Locks the invoices and payments that `endInvoice` may change. Call it before locking credit. Does nothing if the
   * subscription is null or does not wait for its first payment.
   */
  async lockBeforeInvoice(subscription: Subscription | null): Promise<void> {
    if (subscription === null || !isAwaitingPayment(subscription)) return;
    await this.unpaidInvoices.lock([subscription.id]);
  }

  /**
   * Locks the access version, usage and credit that `endInvoice` changes. Call it after locking payments, and before
   * changing credit or taking the number of a credit note. Does nothing for null, or for a subscription that does not
   * wait for its first payment.
   */
  async lockBeforeCredit(subscription: Subscription | null): Promise<void> {
    if (subscription === null || !isAwaitingPayment(subscription)) return;
    await this.locks.lockBeforeInvoices([subscription]);
  }

  /**
   * Locks the invoices and payments that `endPayment` may change. Call it before locking the payment or credit. Does
   * nothing if the subscription is null, or if the time limit for its first payment has not passed.
   */
  async lockBeforePayment(subscription: Subscription | null, now: Date): Promise<void> {
    if (subscription === null || !isFirstPaymentOverdue(subscription, now)) return;
    await this.unpaidInvoices.lock([subscription.id]);
  }

  /**
   * Ends the wait for the first payment after the first invoice was closed without a payment:
   * - An invoice that was credited in full (its status is `paid`) activates the subscription.
   * - A void invoice expires the subscription.
   *
   * Does nothing if the subscription does not wait for its first payment.
   * @param subscription subscription of the invoice; null if the invoice has none
   */
  async endInvoice(invoice: Invoice, subscription: Subscription | null, now: Date): Promise<void> {
    if (subscription === null || !isAwaitingPayment(subscription)) return;
    if (invoice.status === 'paid')
      await this.status.applyPaymentEvent(subscription, 'settled', now);
    else await this.expire(subscription.id, now);
  }

  /**
   * Expires a subscription if the time limit for its first payment has passed. Call it after a payment for an invoice
   * of the subscription has ended. Does nothing if the subscription no longer waits for its first payment, or while
   * another payment is pending.
   * @param before state of the subscription before the payment ended
   * @param readAt current time of the customer, compared with the time limit; the same as for `lockBeforePayment`
   * @param now date to record for the changes
   * @returns true if the subscription expired
   */
  async endPayment(before: Subscription, readAt: Date, now: Date): Promise<boolean> {
    if (!isFirstPaymentOverdue(before, readAt)) return false;
    const { id } = before;
    const subscription = await this.locks.lockSubscription(id);
    if (subscription === null || !isAwaitingPayment(subscription)) return false;
    if ((await this.dueInvoices.lockBeingPaid([id])).has(id)) return false;
    await this.expire(id, now);
    return true;
  }

  private async expire(id: string, now: Date): Promise<void> {
    const snapshot = await this.subscriptions.lockSnapshot(id);
    invariant(snapshot !== null, `The subscription ${id} exists.`);
    // The subscription may begin after `now`, if the clock of the process that made it was wrong.
    const beginsAt = snapshot.period?.startAt ?? now;
    const endedAt = beginsAt > now ? beginsAt : now;
    const outcome = decideEndUnpaid(snapshot, endedAt, 'incomplete_expired');
    await this.outcomes.apply(snapshot.subscription, outcome, now);
  }
}
