import { Injectable } from '@nestjs/common';
import { Database, type VersionCondition } from '../../../platform/database';
import { RedemptionsService } from '../../coupons';
import { RecurringRevenueService } from '../../recurring-revenue';
import { outcomeOf, type Subscription, SubscriptionCommandsService } from '../../subscriptions';
import { PreviewInvoiceWorkflow, type SubscriptionPreview } from './preview-invoice.workflow';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/**
 * Redeems coupons on subscriptions, and removes them. A redeemed coupon applies from the next invoice on. Removing a
 * coupon does not change invoices that were made with it. Each method first locks the customer, does the due work of
 * the subscription, such as a renewal, and locks the subscription.
 */
@Injectable()
export class SubscriptionCouponsWorkflow {
  constructor(
    private readonly database: Database,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly commands: SubscriptionCommandsService,
    private readonly redemptions: RedemptionsService,
    private readonly revenue: RecurringRevenueService,
    private readonly previews: PreviewInvoiceWorkflow,
  ) {}

  /**
   * @throws {ProblemError} `subscription_not_running`, and the errors of `RenewSubscriptionsWorkflow.lockCurrent` and
   *   `RedemptionsService.redeem`
   */
  redeem(id: string, code: string, expected: VersionCondition): Promise<Subscription> {
    return this.database.transaction(async () => {
      const { snapshot, now } = await this.renewals.lockCurrent(id, expected);
      await this.redemptions.redeem(this.commands.redemption(snapshot, code), now);
      await this.revenue.record([snapshot.subscription], now);
      return snapshot.subscription;
    });
  }

  /**
   * Returns the next invoice as it would be with the coupon, and the version of the subscription. Does not redeem the
   * coupon. The only change is work of the subscription that is already due, such as a renewal. Throws the errors of
   * `redeem`.
   */
  preview(id: string, code: string, expected: VersionCondition): Promise<SubscriptionPreview> {
    return this.database.transaction(async () => {
      const { snapshot, customer, now } = await this.renewals.lockCurrent(id, expected);
      const redemption = this.commands.redemption(snapshot, code);
      const redeemed = await this.redemptions.preview(redemption, now);
      const nothing = outcomeOf(snapshot.subscription, {});
      return this.previews.preview(snapshot, nothing, customer, now, [redeemed]);
    });
  }

  /**
   * Removes a redeemed coupon. A no-op if it is removed already.
   * @throws {ProblemError} the errors of `RenewSubscriptionsWorkflow.lockCurrent` and `RedemptionsService.remove`
   */
  remove(id: string, redemptionId: string): Promise<void> {
    return this.database.transaction(async () => {
      const { snapshot, now } = await this.renewals.lockCurrent(id);
      await this.redemptions.remove(id, redemptionId, now);
      await this.revenue.record([snapshot.subscription], now);
    });
  }
}
