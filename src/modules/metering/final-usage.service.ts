import { Injectable } from '@nestjs/common';
import { CustomersService } from '../customers';
import {
  type ClosedSubscription,
  ClosedSubscriptionsRepository,
} from './closed-subscriptions.repository';
import type { BilledPeriod } from './usage-billed.repository';

/** Late usage that arrives within this time after the first shares its invoice. */
const COLLECTED_MS = 3_600_000;

/**
 * Usage of subscriptions that ended. Their last invoice bills what is known by then; what changes later falls due an hour
 * after the first change, for an invoice of its own.
 */
@Injectable()
export class FinalUsageService {
  constructor(
    private readonly closed: ClosedSubscriptionsRepository,
    private readonly customers: CustomersService,
  ) {}

  /** Plans the final invoices for late usage of periods that these bills billed, in the caller's transaction. */
  async planForBills(billedIds: readonly string[]): Promise<void> {
    await this.plan(await this.closed.lockOfBills(billedIds));
  }

  /** Plans the final invoices for periods that are to be billed again, in the caller's transaction. */
  async planForPeriods(periods: readonly BilledPeriod[]): Promise<void> {
    await this.plan(await this.closed.lockOfPeriods(periods));
  }

  /** Subscriptions with late usage that is due by the real clock, in due order, leased to the caller. */
  claimDue(now: Date, leaseEndsAt: Date, most: number): Promise<readonly string[]> {
    return this.closed.claimDue(now, leaseEndsAt, most);
  }

  /** Those that are due on a test clock, in due order. */
  dueOn(testClockId: string, now: Date, most: number): Promise<readonly string[]> {
    return this.closed.dueOn(testClockId, now, most);
  }

  /** When the next one is due on a test clock. */
  nextDueOn(testClockId: string): Promise<Date | null> {
    return this.closed.nextDueOn(testClockId);
  }

  /** Keeps late usage of a subscription from being billed before an instant. */
  async postpone(id: string, until: Date): Promise<void> {
    await this.closed.plan([{ id, dueAt: until }]);
  }

  /** Bills no late usage of these subscriptions any more: their customers are deleted. */
  async forget(subscriptionIds: readonly string[]): Promise<void> {
    await this.closed.forget(subscriptionIds);
  }

  /** Nobody bills customers who are deleted. */
  private async plan(closed: readonly ClosedSubscription[]): Promise<void> {
    if (closed.length === 0) return;
    const times = await this.customers.timesOf(closed.map(({ customerId }) => customerId));
    await this.closed.plan(
      closed.flatMap(({ id, customerId }) => {
        const now = times.get(customerId);
        return now === undefined ? [] : [{ id, dueAt: new Date(now.getTime() + COLLECTED_MS) }];
      }),
    );
  }
}
