import { Injectable } from '@nestjs/common';
import { type CreditLineRequest, GivenBackService, type GivenBackTerms } from '../invoicing';
import { ReturnPaymentsService } from '../payments';
import { SubscriptionPeriodsService } from '../subscriptions';

/**
 * Parts of a new invoice that can give back money of earlier invoices. These parts are credits, corrections of billed
 * usage, and late usage (accepted after its period was billed).
 */
export interface CreditSources {
  readonly credits?: readonly Pick<CreditLineRequest, 'itemId' | 'unusedFrom'>[];
  /** Subscriptions whose late usage the new invoice bills. */
  readonly subscriptionIds?: readonly string[];
  /** Invoices whose billed usage a regenerated invoice may correct. */
  readonly invoiceIds?: readonly string[];
}

/**
 * Reads how much of the payments of earlier invoices was already refunded, is reserved for refunds, or was lost in
 * disputes. Only the rest can be given back when these invoices are credited or corrected.
 */
@Injectable()
export class RefundedAmounts {
  constructor(
    private readonly givenBack: GivenBackService,
    private readonly payments: ReturnPaymentsService,
    private readonly periods: SubscriptionPeriodsService,
  ) {}

  /**
   * Returns the refunded amounts by invoice. Also returns the late usage of the subscriptions, with the billing periods
   * of this usage. Locks the payments of these invoices until the caller's transaction ends. A concurrent refund waits
   * and then takes the new credit into account. Call it after locking the subscriptions, and before locking entitlement
   * balances and usage.
   */
  async lock(decision: CreditSources): Promise<Required<GivenBackTerms>> {
    const { invoiceIds, ...found } = await this.sourcesOf(decision);
    return { refunded: await this.payments.lockRefunded(invoiceIds), ...found };
  }

  /**
   * Locks the payments that `lock` locks, and those that the available credit of a customer came from. Call it before a
   * transaction makes several invoices, because a later one may credit an earlier one that used this credit.
   */
  async lockWithCredit(decision: CreditSources, customerId: string): Promise<void> {
    const { invoiceIds } = await this.sourcesOf(decision);
    await this.payments.lockSources(invoiceIds, customerId);
  }

  /** Returns the same as `lock`, without locks. Used for previews. */
  async read(decision: CreditSources): Promise<Required<GivenBackTerms>> {
    const { invoiceIds, ...found } = await this.sourcesOf(decision);
    return { refunded: await this.payments.findRefunded(invoiceIds), ...found };
  }

  private async sourcesOf({ credits = [], subscriptionIds = [], invoiceIds = [] }: CreditSources) {
    const found = await this.givenBack.sourcesOf(credits, subscriptionIds);
    const periods = await this.periods.billingPeriods(
      found.late.map(({ subscriptionId, request }) => [subscriptionId, request.period.startAt]),
    );
    return { ...found, periods, invoiceIds: [...new Set([...found.invoiceIds, ...invoiceIds])] };
  }
}
