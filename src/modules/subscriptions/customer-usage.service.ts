import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { CustomersService } from '../customers';
import { type InvoiceOrder, type UsageQuote, UsageQuotesService } from '../invoicing';
import { TestClocksService } from '../test-clocks';
import { usageSoFar } from './domain/periods';
import type { Snapshot } from './domain/subscription';
import { SubscriptionsRepository } from './subscriptions.repository';

/** What a customer used of a price, and the subscription that sold it. */
export interface CustomerUsage extends UsageQuote {
  readonly subscriptionId: string;
  readonly currency: string;
  /** The draft that bills it once its grace is over; null: the invoice that is made next does. */
  readonly invoiceId: string | null;
}

/** What customers used and have not been billed. */
@Injectable()
export class CustomerUsageService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly quotes: UsageQuotesService,
  ) {}

  /**
   * The usage of each metered price in the period that runs, and in those whose invoice is still a draft, as it is at one
   * moment, and what it costs as if nothing more came.
   * @throws {ProblemError} `customer_not_found`, `test_clock_advancing`, `test_clock_failed`,
   *   `invoice_too_large`
   */
  async current(customerId: string): Promise<readonly CustomerUsage[]> {
    const { testClockId } = await this.customers.get(customerId);
    const now = await this.database.transaction(() => this.testClocks.nowFor(testClockId));
    return this.database.snapshot(async () => {
      const found: CustomerUsage[] = [];
      for (const snapshot of await this.subscriptions.snapshotsOf(customerId)) {
        const { id: subscriptionId, currency } = snapshot.subscription;
        const quotes = await this.quotes.quote([orderOf(snapshot)], now);
        const common = { subscriptionId, currency, invoiceId: null };
        found.push(...quotes.map((quote) => ({ ...quote, ...common })));
      }
      for (const { draft, ...quote } of await this.quotes.quoteDrafts(customerId, now)) {
        const { id: invoiceId, subscriptionId, currency } = draft;
        invariant(subscriptionId !== null, 'a draft that waits is of a subscription');
        found.push({ ...quote, subscriptionId, currency, invoiceId });
      }
      return found;
    });
  }
}

function orderOf(snapshot: Snapshot): InvoiceOrder {
  const { subscription } = snapshot;
  const { id, customerId, currency, collection, daysUntilDue } = subscription;
  return {
    reason: 'renewal',
    customerId,
    subscriptionId: id,
    renewsAt: null,
    currency,
    period: null,
    billingPeriod: null,
    lines: usageSoFar(snapshot),
    collection,
    daysUntilDue,
    metadata: {},
  };
}
