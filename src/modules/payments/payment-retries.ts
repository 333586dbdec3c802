import { Injectable } from '@nestjs/common';
import { Configuration } from '../../platform/config';
import type { RetryPlan } from '../invoicing';
import { nextAttemptAt } from './collection/domain/attempt';

/** Plans automatic attempts at invoices by the configured pauses. */
@Injectable()
export class PaymentRetries {
  constructor(private readonly configuration: Configuration) {}

  /** @param endAt instant from which on nothing is attempted; null: there is none */
  planUntil(endAt: Date | null): RetryPlan {
    return (attemptCount, now) =>
      nextAttemptAt(attemptCount, this.configuration.paymentRetryDays, now, endAt);
  }
}
