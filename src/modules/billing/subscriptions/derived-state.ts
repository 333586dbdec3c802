import { Injectable } from '@nestjs/common';
import { SubscriptionBalancesService, type SubscriptionChange } from '../../entitlements';
import { RecurringRevenueService } from '../../recurring-revenue';

/** Keeps entitlement balances and recorded MRR in step with subscriptions, in the transaction that changes them. */
@Injectable()
export class DerivedState {
  constructor(
    private readonly balances: SubscriptionBalancesService,
    private readonly revenue: RecurringRevenueService,
  ) {}

  async update(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    await this.balances.updateAfterChanges(changes, now);
    await this.revenue.record(
      changes.map(({ after }) => after),
      now,
    );
  }
}
