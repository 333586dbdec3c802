import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Reports } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { MeterUsageService, type UsageProof, UsageStore } from '../../metering';
import { UnbillableUsageService } from '../../subscriptions';

/**
 * Proves which usage of a customer was accepted, counted and billed, and in which periods no subscription bills the
 * usage of the meter. Reads all of this in one database snapshot. Writes and locks nothing.
 */
@Injectable()
export class ProveUsageWorkflow {
  constructor(
    private readonly reports: Reports,
    private readonly customers: CustomersService,
    private readonly usage: MeterUsageService,
    private readonly unbillableUsage: UnbillableUsageService,
    private readonly store: UsageStore,
  ) {}

  /**
   * @throws {ProblemError} `meter_not_found`, `customer_not_found`, `usage_period_empty`, `too_many_events_to_prove`,
   *   `too_many_reports`
   */
  async prove(meterId: string, customerId: string, period: Period): Promise<UsageProof> {
    const query = await this.usage.proofOf(meterId, customerId, period);
    return this.reports.run('proof', async () => {
      const customer = await this.customers.getForHistory(customerId);
      const now = await this.customers.currentTimeOf(customer);
      const unbillable = await this.unbillableUsage.unbillablePeriods(customerId, query.meter, now);
      return this.store.prove({ ...query, unbillable });
    });
  }
}
