import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { type RedeemedTerms, RedemptionsService } from '../../coupons';
import { SubscriptionBalancesService } from '../../entitlements';
import {
  type CreateSubscription,
  type Outcome,
  StartSubscriptionService,
  type Subscription,
} from '../../subscriptions';
import { BillingLocks } from '../billing-locks';
import { ApplyOutcomesWorkflow } from './apply-outcomes.workflow';
import { PreviewInvoiceWorkflow, type SubscriptionPreview } from './preview-invoice.workflow';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/**
 * Subscribes customers from now, from a future time or from a past time.
 *
 * 1. Locks the customer. Works out the start date, trial and first period.
 * 2. If the customer has no currency yet, sets it permanently. Writes the subscription, and redeems the coupon.
 * 3. If the start is in the future: updates the entitlement balances, and skips the next steps.
 * 4. If the start is in the past: blocks new usage events of the customer until the transaction ends. Refuses the start
 *    if archived usage would have to be billed. Refuses any start whose entitlements would count archived usage,
 *    because a usage window, such as a calendar year, may begin before the start.
 * 5. Opens the first period and makes its invoice.
 * 6. On a test clock, does the due work that a past start causes, up to a maximum. No background work runs between two
 *    advances of the clock. In real time, background work does it, each period in a commit of its own.
 */
@Injectable()
export class SubscribeWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly starts: StartSubscriptionService,
    private readonly redemptions: RedemptionsService,
    private readonly balances: SubscriptionBalancesService,
    private readonly outcomes: ApplyOutcomesWorkflow,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly previews: PreviewInvoiceWorkflow,
  ) {}

  /**
   * @throws {ProblemError} `reference_not_found`, `plan_version_changed`, `customer_currency_mismatch`,
   *   `subscription_terms_contradict`, `subscription_too_large`, `usage_archived`, `test_clock_advancing`,
   *   `test_clock_failed`, and the errors of `RedemptionsService.redeem`
   */
  subscribe(command: CreateSubscription): Promise<Subscription> {
    return this.database.transaction(async () => {
      const { customer, now } = await this.locks.lockReferredCustomer(
        command.customerId,
        '/customer_id',
      );
      const { snapshot, outcome, redemption } = await this.starts.decide(command, customer, now);
      const created = snapshot.subscription;
      await this.starts.insert(snapshot, now);
      if (redemption !== null) await this.redemptions.redeem(redemption, now);
      if (outcome.periodOpened === null) {
        await this.balances.updateAfterChanges([{ before: null, after: created }], now);
        return created;
      }
      if (created.startAt < now) {
        await this.locks.lockBeforeInvoices([created]);
        await this.starts.requireUsage(snapshot);
      }
      await this.requireCountable(outcome, now);
      const begun = await this.outcomes.apply(created, outcome, now);
      return created.testClockId !== null ? this.renewals.runDueWork(begun, now) : begun;
    });
  }

  /** Returns the first invoice that `subscribe` would make. Writes nothing. Throws the errors of `subscribe`. */
  preview(command: CreateSubscription): Promise<SubscriptionPreview> {
    return this.database.transaction(async () => {
      const { customer, now } = await this.locks.lockReferredCustomer(
        command.customerId,
        '/customer_id',
      );
      const { snapshot, outcome, redemption } = await this.starts.decide(command, customer, now);
      await this.starts.requireUsage(snapshot);
      await this.requireCountable(outcome, now);
      const redeemed: RedeemedTerms[] =
        redemption === null ? [] : [await this.redemptions.preview(redemption, now)];
      return this.previews.preview(snapshot, outcome, customer, now, redeemed);
    });
  }

  private requireCountable({ subscription }: Outcome, now: Date): Promise<void> {
    return this.balances.requireCountable(subscription, subscription.planVersionId, now);
  }
}
