import { Injectable } from '@nestjs/common';
import { RefundedAmounts } from '../refunded-amounts';
import { Database } from '../../../platform/database';
import { IssueInvoiceService } from '../../invoicing';
import { FinalUsageService } from '../../metering';
import { SubscriptionsRepository } from '../../subscriptions';
import { BillingLocks } from '../billing-locks';
import { lateUsageRequestOf } from './billing-request';
import { DerivedState } from './derived-state';

/**
 * Bills ended subscriptions whose usage changed after their last invoice (late usage). Each subscription gets an
 * invoice of its own.
 *
 * 1. Locks the customers that are not deleted, then the ended subscriptions.
 * 2. Drops the late usage of deleted customers, who are not billed.
 * 3. Locks the payments of the invoices that billed the changed usage, so that no money is both refunded and credited.
 * 4. Calls {@link BillingLocks.lockBeforeInvoices}, then makes the invoices.
 * 5. Ends coupons that became usable again because an invoice returned a discount to them.
 */
@Injectable()
export class BillLateUsageWorkflow {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly finalUsage: FinalUsageService,
    private readonly refundedAmounts: RefundedAmounts,
    private readonly locks: BillingLocks,
    private readonly issueInvoice: IssueInvoiceService,
    private readonly derivedState: DerivedState,
  ) {}

  billAll(ids: readonly string[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const customerIds = await this.subscriptions.lockCustomersOf(ids);
      const snapshots = await this.subscriptions.lockSnapshots(ids);
      const ended = snapshots.map(({ subscription }) => subscription);
      const billed = ended.filter(({ customerId }) => customerIds.has(customerId));
      const billedIds = new Set(billed.map(({ id }) => id));
      await this.finalUsage.forget(ids.filter((id) => !billedIds.has(id)));
      const givenBack = await this.refundedAmounts.lock({ subscriptionIds: [...billedIds] });
      await this.locks.lockBeforeInvoices(billed);
      const requests = billed.map((subscription) => ({
        ...lateUsageRequestOf(subscription),
        ...givenBack,
      }));
      await this.issueInvoice.issueAll(requests, now);
      await this.derivedState.updateAfterInvoices(billed, now);
    });
  }
}
