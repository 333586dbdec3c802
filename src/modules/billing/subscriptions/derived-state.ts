import { Injectable } from '@nestjs/common';
import { SubscriptionBalancesService, type SubscriptionChange } from '../../entitlements';
import { RecurringRevenueService } from '../../recurring-revenue';

/** Keeps what follows from subscriptions in step with them, in the transaction that changes them. */
@Injectable()
export class DerivedState {
  constructor(
    private readonly balances: SubscriptionBalancesService,
    private readonly revenue: RecurringRevenueService,
  ) {}

  /** Updates the entitlement balances of the customers, and records what the subscriptions earn per month. */
  async update(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    await this.balances.follow(changes, now);
    await this.revenue.record(
      changes.map(({ after }) => after),
      now,
    );
  }
}
