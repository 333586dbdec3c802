import { Injectable } from '@nestjs/common';
import { CustomersService } from '../customers';
import {
  type ClosedSubscription,
  ClosedSubscriptionsRepository,
} from './closed-subscriptions.repository';
import type { BilledPeriod } from './usage-billed.repository';

/** Late usage that arrives within this time after the first shares its invoice. */
const COLLECTION_MS = 3_600_000;

/**
 * Plans invoices for late usage of ended subscriptions. Their last invoice bills the usage known by then. Later changes are due
 * an hour after the first one, on an invoice of their own (decision 41).
 */
@Injectable()
export class FinalUsageService {
  constructor(
    private readonly closed: ClosedSubscriptionsRepository,
    private readonly customers: CustomersService,
  ) {}

  /** Plans late-usage invoices for the periods of these bills, in the caller's transaction. */
  async planForBills(billedIds: readonly string[]): Promise<void> {
    await this.plan(await this.closed.lockOfBills(billedIds));
  }

  /** Plans late-usage invoices for periods that are to be billed again, in the caller's transaction. */
  async planForPeriods(periods: readonly BilledPeriod[]): Promise<void> {
    await this.plan(await this.closed.lockOfPeriods(periods));
  }

  /** Plans late-usage invoices for usage that the last invoices of subscriptions left out, in the caller's transaction. */
  async planForClosed(subscriptionIds: readonly string[]): Promise<void> {
    await this.plan(await this.closed.lockOfLateUsage(subscriptionIds));
  }

  /** Forgets subscriptions of deleted customers: their late usage is no longer billed. */
  async forget(subscriptionIds: readonly string[]): Promise<void> {
    await this.closed.forget(subscriptionIds);
  }

  /** Sets due times. Skips deleted customers. */
  private async plan(closed: readonly ClosedSubscription[]): Promise<void> {
    if (closed.length === 0) return;
    const times = await this.customers.timesOf(closed.map(({ customerId }) => customerId));
    await this.closed.plan(
      closed.flatMap(({ id, customerId }) => {
        const now = times.get(customerId);
        return now === undefined ? [] : [{ id, dueAt: new Date(now.getTime() + COLLECTION_MS) }];
      }),
    );
  }
}
