import { Injectable } from '@nestjs/common';
import { CustomersService } from '../customers';
import {
  type ClosedSubscription,
  ClosedSubscriptionsRepository,
} from './closed-subscriptions.repository';
import type { BilledPeriod } from './usage-billed.repository';

/** Time for which late usage of an ended subscription is collected before one invoice bills it. */
const COLLECTION_MS = 3_600_000;

/**
 * Plans invoices for late usage of ended subscriptions. The last invoice of a subscription bills the usage that is
 * known at that time, and closes the subscription. Usage that changes later is billed by a separate invoice, which is
 * made an hour after the first change (decision 41).
 */
@Injectable()
export class FinalUsageService {
  constructor(
    private readonly closedSubscriptions: ClosedSubscriptionsRepository,
    private readonly customers: CustomersService,
  ) {}

  /**
   * Plans late-usage invoices, in the caller's transaction, for closed subscriptions that have a bill for the same
   * usage (stream, meter and period) as one of these bills.
   */
  async planForBills(billedIds: readonly string[]): Promise<void> {
    await this.plan(await this.closedSubscriptions.lockByBills(billedIds));
  }

  /** Plans late-usage invoices, in the caller's transaction, for closed subscriptions with bills for these periods. */
  async planForPeriods(periods: readonly BilledPeriod[]): Promise<void> {
    await this.plan(await this.closedSubscriptions.lockByPeriods(periods));
  }

  /**
   * Plans late-usage invoices, in the caller's transaction, for closed subscriptions with late usage that their last
   * invoices do not bill.
   */
  async planForClosed(subscriptionIds: readonly string[]): Promise<void> {
    await this.plan(await this.closedSubscriptions.lockWithLateUsage(subscriptionIds));
  }

  /** Stops billing the late usage of these subscriptions, because their customers are deleted. */
  async forget(subscriptionIds: readonly string[]): Promise<void> {
    await this.closedSubscriptions.forget(subscriptionIds);
  }

  /**
   * Makes late usage due in an hour, by the clock of each customer (a test clock or real time). Skips deleted
   * customers.
   */
  private async plan(closed: readonly ClosedSubscription[]): Promise<void> {
    if (closed.length === 0) return;
    const times = await this.customers.currentTimesOf(closed.map(({ customerId }) => customerId));
    await this.closedSubscriptions.plan(
      closed.flatMap(({ id, customerId }) => {
        const now = times.get(customerId);
        return now === undefined ? [] : [{ id, dueAt: new Date(now.getTime() + COLLECTION_MS) }];
      }),
    );
  }
}
