import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { MeterUsageService, type UsageProof } from '../../metering';
import { SoldUsageService } from '../../subscriptions';

/**
 * Proves what became of the usage of a customer. Writes and locks nothing.
 *
 * 1. Reads what the meter accepted, counted and billed of the customer in the period.
 * 2. In the same snapshot: reads the times whose usage no subscription bills.
 */
@Injectable()
export class ProveUsageWorkflow {
  constructor(
    private readonly usage: MeterUsageService,
    private readonly soldUsage: SoldUsageService,
  ) {}

  /**
   * @throws {ProblemError} `meter_not_found`, `customer_not_found`, `usage_period_empty`, `too_many_events_to_prove`,
   *   `too_many_reports`
   */
  prove(meterId: string, customerId: string, period: Period): Promise<UsageProof> {
    return this.usage.prove(meterId, customerId, period, (meter, now) =>
      this.soldUsage.unbillableTimes(customerId, meter, now),
    );
  }
}
