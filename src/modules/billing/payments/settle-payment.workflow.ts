import { Injectable } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { type Invoice, InvoicePaymentsService } from '../../invoicing';
import {
  correctedToSucceeded,
  hasEnded,
  type Payment,
  PaymentRecordsService,
  PaymentRetries,
  type ProviderOutcome,
  validOutcome,
  withOutcome,
} from '../../payments';
import type { Subscription } from '../../subscriptions';
import { BillingLocks } from '../billing-locks';
import { FirstPaymentsWorkflow } from '../subscriptions/first-payments.workflow';
import { SubscriptionStatusWorkflow } from '../subscriptions/subscription-status.workflow';

interface LockedDebt {
  readonly subscription: Subscription | null;
  readonly invoice: Invoice;
  /** False if the payment has reserved no amount on the invoice. */
  readonly isReserved: boolean;
}

interface LockedPayment {
  readonly before: Payment;
  /** Current time of the customer (of its test clock, if any), which decides whether a time limit has passed. */
  readonly readAt: Date;
  /** Date to record for the change: not before the last change of the subscription, the invoice or the payment. */
  readonly now: Date;
}

/** A payment, with the lease (the claim of one process) that it had when the provider was called. */
type LeasedPayment = Pick<Payment, 'id' | 'customerId' | 'provider' | 'leasedBy' | 'dueAt'>;

/**
 * Writes the outcome of a charge. This is the second of the two commits of a payment.
 *
 * 1. Locks the customer and, if the outcome makes the payment method unusable, the method. Then locks the subscription,
 *    the invoice and the payment. If step 4 may follow, also locks the invoices and payments that step 4 changes.
 * 2. Pays the invoice, or frees the amount that the payment reserved, and sets the status of the subscription.
 * 3. Writes the payment and its event. Posts a succeeded payment to the ledger. The part of its amount that the invoice
 *    does not need becomes credit of the customer.
 * 4. If the payment ended and no other is pending, expires a subscription that is still unpaid after the time limit for
 *    its first payment.
 * 5. Marks the payment method as unusable after a final decline.
 * 6. Stores the response for the idempotency key of the payment. If the payment already had a final outcome, and the
 *    new outcome contradicts it, records a discrepancy.
 */
@Injectable()
export class SettlePaymentWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicePaymentsService,
    private readonly payments: PaymentRecordsService,
    private readonly retries: PaymentRetries,
    private readonly status: SubscriptionStatusWorkflow,
    private readonly firstPayments: FirstPaymentsWorkflow,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes the outcome of a charge. If the payment already has a final outcome, does not change the payment. If the new
   * outcome contradicts the final outcome, records a discrepancy.
   * @param isReserved false if the payment has reserved no amount on its invoice
   * @throws {ProblemError} `payment_not_found` or `test_clock_not_found` if the test clock of the customer was deleted
   */
  settle(
    { id: paymentId, customerId, provider, ...lease }: LeasedPayment,
    seen: ProviderOutcome,
    isReserved = true,
  ): Promise<Payment> {
    const askedAt = this.clock.now();
    return this.database.transaction(async () => {
      const found = await this.payments.lockForOutcome({ paymentId, customerId, provider }, seen);
      const declined = await this.retries.lockDeclined(found, seen);
      const owed = await this.lockDebt(found, isReserved);
      const locked = await this.lockPayment(found, owed);
      const { before, now } = locked;
      const outcome = validOutcome(before, seen);
      const updated = withOutcome(before, { outcome, askedAt, lease }, now);
      const after = updated === before ? before : await this.write(locked, updated, owed);
      if (updated !== before) await this.retries.markUnusable(declined, outcome, now);
      await this.payments.storeAnswer(after);
      await this.payments.recordDiscrepancy(before, outcome);
      return after;
    });
  }

  /**
   * Books a failed or canceled payment as succeeded, in the caller's transaction, with its ledger postings. The payment
   * pays the unpaid amount of its invoice, as far as its money suffices. The caller has locked the customer.
   * @param reference the provider's id of the charge
   * @returns the payment, and the date of the change
   */
  async correct(
    id: string,
    reference: string,
  ): Promise<{ readonly payment: Payment; readonly now: Date }> {
    // The failure freed the amount that the payment had reserved.
    const found = await this.payments.get(id);
    const owed = await this.lockDebt(found, false);
    const locked = await this.lockPayment(found, owed);
    const corrected = correctedToSucceeded(locked.before, reference, locked.now);
    return { payment: await this.write(locked, corrected, owed), now: locked.now };
  }

  /** Locks the subscription and the invoice of a payment. Returns null if the payment has no invoice. */
  private async lockDebt({ invoiceId }: Payment, isReserved: boolean): Promise<LockedDebt | null> {
    if (invoiceId === null) return null;
    const { subscriptionId } = await this.invoices.get(invoiceId);
    const subscription = await this.locks.lockSubscription(subscriptionId);
    return { subscription, invoice: await this.invoices.lock(invoiceId), isReserved };
  }

  private async lockPayment(found: Payment, owed: LockedDebt | null): Promise<LockedPayment> {
    const subscription = owed?.subscription ?? null;
    const readAt = await this.payments.currentTimeOf(found.customerId);
    await this.firstPayments.lockBeforePayment(subscription, readAt);
    const before = await this.payments.lock(found.id);
    return { before, readAt, now: changedAt(readAt, subscription, owed?.invoice ?? null, before) };
  }

  private async write(
    locked: LockedPayment,
    updated: Payment,
    owed: LockedDebt | null,
  ): Promise<Payment> {
    const { before, readAt, now } = locked;
    const after = owed === null ? updated : await this.applyTo(owed, updated, now);
    await this.payments.write(before, after, now);
    if (after.status === 'succeeded')
      await this.payments.postSucceeded(after, owed?.invoice ?? null, now);
    const subscription = owed?.subscription ?? null;
    if (subscription === null || !hasEnded(after)) return after;
    const isExpired = await this.firstPayments.endPayment(subscription, readAt, now);
    return isExpired ? this.payments.get(after.id) : after;
  }

  /**
   * Pays the locked invoice, or frees the amount that the payment has reserved. Sets the status of the subscription.
   * Returns the payment, with the part of its amount that paid the invoice. Does nothing while the payment has no final
   * outcome.
   */
  private async applyTo(
    { subscription, invoice, isReserved }: LockedDebt,
    payment: Payment,
    now: Date,
  ): Promise<Payment> {
    const { amount } = payment;
    // A first payment is not retried after its time limit.
    const retry = this.retries.planUntil(subscription?.incompleteExpiresAt ?? null);
    switch (payment.status) {
      case 'succeeded': {
        const succeeded = { amount, reserved: isReserved ? amount : 0n };
        const paid = await this.invoices.pay(invoice, succeeded, retry, now);
        const isSettled = paid.invoice.status === 'paid';
        if (isSettled && subscription !== null) await this.status.applySettled(subscription, now);
        return { ...payment, amountApplied: paid.appliedMinor };
      }
      case 'failed':
      case 'canceled': {
        const wasAttempt = payment.collectionAttempt !== null;
        const isCanceled = payment.status === 'canceled';
        const failed = { amount, wasAttempt, isCanceled };
        const after = await this.invoices.fail(invoice, failed, retry, now);
        // The subscription does not change if the invoice was voided or written off during the attempt.
        if (wasAttempt && subscription !== null && after.status === 'open') {
          await this.status.applyPaymentEvent(
            subscription,
            after.collectAt === null ? 'used_up' : 'failed',
            now,
          );
        }
        return payment;
      }
      case 'pending':
      case 'processing':
      case 'requires_action':
        return payment;
    }
  }
}
