import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { CustomersService } from '../customers';
import { type InvoiceOrder, IssueInvoiceService } from '../invoicing';
import { FinalUsageService } from '../metering';
import type { Subscription } from './domain/subscription';
import { SubscriptionOutcomesService } from './subscription-outcomes.service';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Bills usage that changed after the last invoice of its subscription, by an invoice of its own. */
@Injectable()
export class DueLateUsageService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly customers: CustomersService,
    private readonly outcomes: SubscriptionOutcomesService,
    private readonly invoicing: IssueInvoiceService,
    private readonly finalUsage: FinalUsageService,
  ) {}

  /** Bills the late usage of these ended subscriptions in one commit; deleted customers are not billed. */
  billAll(ids: readonly string[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const snapshots = await this.subscriptions.lockSnapshots(ids);
      const ended = snapshots.map(({ subscription }) => subscription);
      const customerIds = await this.customers.existing(ended.map(({ customerId }) => customerId));
      const billed = ended.filter(({ customerId }) => customerIds.has(customerId));
      const billedIds = new Set(billed.map(({ id }) => id));
      await this.finalUsage.forget(ids.filter((id) => !billedIds.has(id)));
      await this.outcomes.lockForTurns(billed);
      await this.invoicing.issueAll(billed.map(orderOf), now);
    });
  }
}

function orderOf(subscription: Subscription): InvoiceOrder {
  const { id, customerId, currency, collection, daysUntilDue } = subscription;
  return {
    reason: 'late_usage',
    customerId,
    subscriptionId: id,
    renewsAt: null,
    currency,
    period: null,
    billingPeriod: null,
    lines: [],
    collection,
    daysUntilDue,
    metadata: {},
    lateUsage: 'closed',
  };
}
