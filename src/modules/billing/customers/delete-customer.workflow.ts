import { Injectable } from '@nestjs/common';
import { Database, type VersionCondition } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { SubscriptionBalancesService } from '../../entitlements';
import { UsageStreams } from '../../metering';
import { RenewSubscriptionsWorkflow } from '../subscriptions/renew-subscriptions.workflow';

/**
 * Deletes customers.
 *
 * 1. Locks the customer, marks it as deleted and records `customer.deleted`. The row of the customer stays, because
 *    other objects refer to it.
 * 2. Locks and invalidates the usage streams of the customer (a stream is the events of one name), so that no more
 *    usage is accepted. Ingestion also locks streams in the order of their ids, and before balances.
 * 3. Ends paused subscriptions whose period is over. Every other subscription ends the next time it has due work, such
 *    as a renewal.
 * 4. Invalidates the cached entitlement balances, so that access checks no longer find the customer.
 */
@Injectable()
export class DeleteCustomerWorkflow {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly streams: UsageStreams,
    private readonly balances: SubscriptionBalancesService,
  ) {}

  /** @throws {ProblemError} `customer_not_found`, `precondition_failed` */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const customer = await this.customers.delete(id, expected);
      await this.streams.invalidateAll(id);
      await this.renewals.endPaused(id, customer.deletedAt ?? customer.updatedAt);
      await this.balances.invalidate(customer);
    });
  }
}
