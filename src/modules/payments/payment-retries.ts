import { Injectable } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import { Configuration } from '../../platform/config';
import { isId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import type { RetryPlan } from '../invoicing';
import { nextAttemptAt } from './collection/domain/attempt';
import { hasEnded, type Payment } from './domain/payment';
import { finalDeclineOf, type ProviderOutcome } from './domain/payment-provider';
import type { PaymentMethod } from './methods/domain/payment-method';
import { paymentMethodUpdated } from './methods/payment-methods.events';
import { PaymentMethodsRepository } from './methods/payment-methods.repository';

/**
 * Plans automatic charges by the setting `PAYMENT_RETRY_DAYS`, and marks payment methods as unusable after a final
 * decline.
 */
@Injectable()
export class PaymentRetries {
  constructor(
    private readonly configuration: Configuration,
    private readonly methods: PaymentMethodsRepository,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Returns the function that plans the next automatic charge of an invoice.
   * @param endAt no charge is attempted from this instant on; null: no end
   */
  planUntil(endAt: Date | null): RetryPlan {
    return (attemptCount, now) =>
      nextAttemptAt(attemptCount, this.configuration.paymentRetryDays, now, endAt);
  }

  /**
   * Locks and returns the payment method that an outcome makes unusable. Must be called before the subscription of the
   * payment is locked. Returns null in these cases:
   * - the outcome is not a final decline
   * - the payment has ended or has no stored method
   * - the method is deleted or already unusable
   */
  async lockDeclined(payment: Payment, outcome: ProviderOutcome): Promise<PaymentMethod | null> {
    if (finalDeclineOf(outcome) === null || hasEnded(payment)) return null;
    const { paymentMethodId } = payment;
    if (paymentMethodId === null || !isId('pm', paymentMethodId)) return null;
    const method = await this.methods.lock(paymentMethodId);
    return method?.unusableSince === null ? method : null;
  }

  /**
   * Marks the method from {@link lockDeclined} as unusable, and records `payment_method.updated`. Null: does nothing.
   */
  async markUnusable(
    before: PaymentMethod | null,
    outcome: ProviderOutcome,
    now: Date,
  ): Promise<void> {
    const failureCode = finalDeclineOf(outcome);
    if (before === null || failureCode === null) return;
    const unusable = { unusableSince: now, unusableReason: failureCode };
    const after = nextVersion(before, now, unusable);
    await this.methods.update(after);
    await this.outbox.recordChange(paymentMethodUpdated, { after, before }, now);
  }
}
