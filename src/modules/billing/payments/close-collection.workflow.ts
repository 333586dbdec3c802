import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { InvoiceCollectionService, InvoicePaymentsService, type TimeScope } from '../../invoicing';
import { BillingLocks } from '../billing-locks';
import { SubscriptionStatusWorkflow } from '../subscriptions/subscription-status.workflow';

/**
 * Stops the collection of invoices that are void, written off or wholly credited, each in a commit of its own. Locks
 * the customer, the subscription and the invoice. Makes the subscription active again if it has no other open invoice.
 */
@Injectable()
export class CloseCollectionWorkflow {
  private readonly logger = new Logger('close-collection');

  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicePaymentsService,
    private readonly customers: CustomersService,
    private readonly collection: InvoiceCollectionService,
    private readonly status: SubscriptionStatusWorkflow,
  ) {}

  /**
   * Returns how many collections were stopped, at most `limit`. In real time, an invoice that fails is logged and tried
   * again at the next call. On a test clock, the first failure is thrown.
   */
  async closeNext(scope: TimeScope, now: Date, limit: number): Promise<number> {
    const ids = await this.collection.findClosed(scope, now, limit);
    let closed = 0;
    for (const id of ids) {
      try {
        await this.close(id, now);
        closed += 1;
      } catch (error) {
        if (scope !== null) throw error;
        this.logger.error({ err: error, object_id: id }, 'due work was not finished');
      }
    }
    return closed;
  }

  private close(id: string, now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const { customerId, subscriptionId } = await this.invoices.get(id);
      await this.customers.lockForHistory(customerId);
      const subscription = await this.locks.lockSubscription(subscriptionId);
      const invoice = await this.invoices.lock(id);
      if (invoice.collectAt === null) return;
      await this.collection.closeCollection(id);
      if (subscription !== null) await this.status.applySettled(subscription, now);
    });
  }
}
