import { Injectable } from '@nestjs/common';
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
}

/** What customers used in the periods that run. */
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
   * The usage of each metered price in the period that runs, and what it costs as if nothing more came.
   * @throws {ProblemError} `customer_not_found`, `test_clock_advancing`, `test_clock_failed`,
   *   `invoice_too_large`
   */
  async current(customerId: string): Promise<readonly CustomerUsage[]> {
    const customer = await this.customers.get(customerId);
    return this.database.transaction(async () => {
      const now = await this.testClocks.nowFor(customer.testClockId);
      const found: CustomerUsage[] = [];
      for (const snapshot of await this.subscriptions.snapshotsOf(customerId)) {
        const { id: subscriptionId, currency } = snapshot.subscription;
        const quotes = await this.quotes.quote([orderOf(snapshot)], now);
        found.push(...quotes.map((quote) => ({ ...quote, subscriptionId, currency })));
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
    lines: usageSoFar(snapshot),
    collection,
    daysUntilDue,
    metadata: {},
  };
}
