import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { RedemptionsService } from '../../coupons';
import { RecurringRevenueService } from '../../recurring-revenue';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/**
 * Removes coupons from subscriptions. Invoices that were made with a coupon stay as they are. First locks the customer,
 * does the due work of the subscription, such as a renewal, and locks the subscription.
 */
@Injectable()
export class RemoveCouponWorkflow {
  constructor(
    private readonly database: Database,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly redemptions: RedemptionsService,
    private readonly revenue: RecurringRevenueService,
  ) {}

  /**
   * A no-op if the coupon is removed already.
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
