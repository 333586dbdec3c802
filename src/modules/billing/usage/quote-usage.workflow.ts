import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { type UsageQuote, UsageQuotesService } from '../../invoicing';
import { SubscriptionsRepository, usageSoFar } from '../../subscriptions';
import { TestClocksService } from '../../test-clocks';
import { RefundedAmounts } from '../refunded-amounts';
import { usageRequestOf } from '../subscriptions/billing-request';

export interface CustomerUsage extends UsageQuote {
  readonly subscriptionId: string;
  readonly currency: string;
  /** Draft invoice that bills the usage when its grace period ends; null if the next invoice bills the usage. */
  readonly invoiceId: string | null;
}

/**
 * Quotes the cost of usage that is not billed yet: usage of the current periods, and usage on drafts whose grace period
 * has not ended. Reads both in one database snapshot. Writes and locks nothing.
 */
@Injectable()
export class QuoteUsageWorkflow {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly quotes: UsageQuotesService,
    private readonly refundedAmounts: RefundedAmounts,
  ) {}

  /**
   * Returns usage and cost of each metered price in the current periods, and in ended periods whose invoice is still a
   * draft. The cost assumes that no further usage arrives.
   * @throws {ProblemError} `customer_not_found`, `test_clock_advancing`, `test_clock_failed`, `invoice_too_large`
   */
  async current(customerId: string): Promise<readonly CustomerUsage[]> {
    const { testClockId } = await this.customers.get(customerId);
    const now = await this.database.transaction(() => this.testClocks.nowFor(testClockId));
    return this.database.snapshot(async () => {
      const found: CustomerUsage[] = [];
      for (const snapshot of await this.subscriptions.snapshotsOf(customerId)) {
        const { subscription } = snapshot;
        const { id: subscriptionId, currency } = subscription;
        const request = usageRequestOf(subscription, usageSoFar(snapshot));
        const givenBack = await this.refundedAmounts.read({ subscriptionIds: [subscriptionId] });
        const quotes = await this.quotes.quote([{ ...request, ...givenBack }], now);
        const common = { subscriptionId, currency, invoiceId: null };
        found.push(...quotes.map((quote) => ({ ...quote, ...common })));
      }
      for (const { draft, ...quote } of await this.quotes.quoteDrafts(customerId, now)) {
        const { id: invoiceId, subscriptionId, currency } = draft;
        invariant(subscriptionId !== null, `The draft ${invoiceId} bills a subscription.`);
        found.push({ ...quote, subscriptionId, currency, invoiceId });
      }
      return found;
    });
  }
}
