import { Injectable } from '@nestjs/common';
import { RedemptionsService } from '../../coupons';
import { SubscriptionBalancesService, type SubscriptionChange } from '../../entitlements';
import { RecurringRevenueService } from '../../recurring-revenue';
import type { Subscription } from '../../subscriptions';

/**
 * Updates the state that follows from subscriptions and their invoices: entitlement balances, redeemed coupons and the
 * recorded MRR. Runs in the transaction that changes the subscriptions or invoices.
 */
@Injectable()
export class DerivedState {
  constructor(
    private readonly balances: SubscriptionBalancesService,
    private readonly redemptions: RedemptionsService,
    private readonly revenue: RecurringRevenueService,
  ) {}

  async update(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    await this.balances.updateAfterChanges(changes, now);
    await this.revenue.record(
      changes.map(({ after }) => after),
      now,
    );
  }

  /**
   * Ends the coupons of ended subscriptions, and records the MRR of all given subscriptions. Call it after invoices
   * were made or voided, because invoices change coupons. An invoice that returns a discount to a used-up coupon makes
   * the coupon usable again. The discounted months of a repeating coupon start with its first invoice.
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
