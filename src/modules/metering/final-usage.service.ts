import { Injectable } from '@nestjs/common';
import { CustomersService } from '../customers';
import {
  type ClosedSubscription,
  ClosedSubscriptionsRepository,
} from './closed-subscriptions.repository';
import type { BilledPeriod } from './usage-billed.repository';

/**
 * Time between the first late usage of an ended subscription and the invoice for this usage. The invoice also bills
 * late usage that arrives in between.
 */
const COLLECTION_MS = 3_600_000;

/**
 * Plans invoices for late usage of ended subscriptions. The last invoice of a subscription bills the usage that is
 * known when the invoice is made. The subscription is then closed: later changes of its usage are billed by a separate
 * invoice, an hour after the first change (decision 41).
 */
@Injectable()
export class FinalUsageService {
  constructor(
    private readonly closedSubscriptions: ClosedSubscriptionsRepository,
    private readonly customers: CustomersService,
  ) {}

  /**
   * Plans late-usage invoices for the closed subscriptions that have a bill for the same stream, meter and period as
   * one of these bills. Runs in the caller's transaction.
   */
  async planForBills(billedIds: readonly string[]): Promise<void> {
    await this.plan(await this.closedSubscriptions.lockByBills(billedIds));
  }

  /** Plans late-usage invoices for closed subscriptions with bills for these periods. Runs in the caller's transaction. */
  async planForPeriods(periods: readonly BilledPeriod[]): Promise<void> {
    await this.plan(await this.closedSubscriptions.lockByPeriods(periods));
  }

  /**
   * Plans invoices for late usage that the last invoices of these subscriptions do not bill. Runs in the caller's transaction.
   */
  async planForClosed(subscriptionIds: readonly string[]): Promise<void> {
    await this.plan(await this.closedSubscriptions.lockWithLateUsage(subscriptionIds));
  }

  /** Stops billing the late usage of these subscriptions, because their customers are deleted. */
  async forget(subscriptionIds: readonly string[]): Promise<void> {
    await this.closedSubscriptions.forget(subscriptionIds);
  }

  /** Sets the due time of the late usage to an hour from now, in the time of each customer. Skips deleted customers. */
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
