import { Injectable } from '@nestjs/common';
import { RedemptionsService } from '../../coupons';
import { SubscriptionBalancesService, type SubscriptionChange } from '../../entitlements';
import { RecurringRevenueService } from '../../recurring-revenue';
import type { Subscription } from '../../subscriptions';

/**
 * Keeps entitlement balances, redemptions and recorded MRR in step with subscriptions and their invoices, in the
 * transaction that changes them.
 */
@Injectable()
export class DerivedState {
  constructor(
    private readonly balances: SubscriptionBalancesService,
    private readonly redemptions: RedemptionsService,
    private readonly revenue: RecurringRevenueService,
  ) {}

  async update(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    await this.updateBalances(changes, now);
    await this.revenue.record(
      changes.map(({ after }) => after),
      now,
    );
  }

  updateBalances(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    return this.balances.updateAfterChanges(changes, now);
  }

  /**
   * Ends the redemptions of ended subscriptions, and records the MRR of all the subscriptions. Call it after invoices
   * were made or voided. An invoice that returns discount to a used-up redemption reopens it, and the first invoice
   * with a repeating coupon starts the coupon's months.
   * @param dueAt when the work that changed the subscription was due, by subscription id
   */
  async updateAfterInvoices(
    subscriptions: readonly Subscription[],
    now: Date,
    dueAt?: ReadonlyMap<string, Date | null>,
  ): Promise<void> {
    await this.redemptions.endAll(
      subscriptions.flatMap(({ id, endedAt }) => (endedAt === null ? [] : [{ id, endedAt }])),
    );
    await this.revenue.record(subscriptions, now, dueAt);
  }
}
