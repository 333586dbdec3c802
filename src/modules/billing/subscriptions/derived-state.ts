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
    await this.updateBalances(changes, now);
    await this.recordRevenue(changes, now);
  }

  updateBalances(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    return this.balances.updateAfterChanges(changes, now);
  }

  /**
   * Records the MRR of the subscriptions. Call it after making their invoices, because the first invoice with a coupon
   * starts the months of the coupon.
   */
  recordRevenue(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    return this.revenue.record(
      changes.map(({ after }) => after),
      now,
    );
  }
}
