import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { DueInvoicesRepository, InvoicePaymentsService, type TimeScope } from '../../invoicing';
import { BillingLocks } from '../billing-locks';
import type { OnFailure } from './collect-invoices.workflow';
import { SubscriptionStatusWorkflow } from '../subscriptions/subscription-status.workflow';

/**
 * Stops the collection of invoices that are void, written off or credited in full. Uses one commit for each invoice,
 * which locks the customer, the subscription and the invoice. Makes the subscription active again if it has no open
 * invoice.
 */
@Injectable()
export class CloseCollectionWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicePaymentsService,
    private readonly customers: CustomersService,
    private readonly dueInvoices: DueInvoicesRepository,
    private readonly status: SubscriptionStatusWorkflow,
  ) {}

  /**
   * Returns how many collections were stopped, at most `limit`.
   * @param onFailure called for each invoice that fails; if it throws, the remaining invoices are not tried
   */
  async closeNext(
    scope: TimeScope,
    now: Date,
    limit: number,
    onFailure: OnFailure,
  ): Promise<number> {
    const ids = await this.dueInvoices.findClosed(scope, now, limit);
    let closed = 0;
    for (const id of ids) {
      try {
        await this.close(id, now);
        closed += 1;
      } catch (error) {
        await onFailure(id, error);
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
      await this.dueInvoices.closeCollection(id);
      if (subscription !== null) await this.status.applySettled(subscription, now);
    });
  }
}
