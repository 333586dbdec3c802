import { Injectable } from '@nestjs/common';
import { type CreditOrder, GivenBackService, type GivenBackTerms } from '../invoicing';
import { ReturnPaymentsService } from '../payments';
import { SubscriptionPeriodsService } from '../subscriptions';

/** Sources that a decision may give something back of. */
export interface MayGiveBack {
  readonly credits?: readonly Pick<CreditOrder, 'itemId' | 'unusedFrom'>[];
  /** Subscriptions whose late usage is billed. */
  readonly subscriptionIds?: readonly string[];
  /** Invoices that a regenerated invoice corrects. */
  readonly invoiceIds?: readonly string[];
}

/** Reads what refunds gave back of the invoices that credits and corrections take from: these give back only the rest. */
@Injectable()
export class RefundedAmounts {
  constructor(
    private readonly givenBack: GivenBackService,
    private readonly payments: ReturnPaymentsService,
    private readonly periods: SubscriptionPeriodsService,
  ) {}

  /**
   * Locks the payments of the invoices, until the caller's transaction ends: a refund at the same instant waits, and then
   * finds the credit. Called after the subscription was locked, before entitlement balances and usage.
   */
  async lock(decision: MayGiveBack): Promise<Required<GivenBackTerms>> {
    const { invoiceIds, ...found } = await this.sourcesOf(decision);
    return { refunded: await this.payments.lockRefunded(invoiceIds), ...found };
  }

  /** Returns the same without a lock, for previews. */
  async read(decision: MayGiveBack): Promise<Required<GivenBackTerms>> {
    const { invoiceIds, ...found } = await this.sourcesOf(decision);
    return { refunded: await this.payments.findRefunded(invoiceIds), ...found };
  }

  private async sourcesOf({ credits = [], subscriptionIds = [], invoiceIds = [] }: MayGiveBack) {
    const found = await this.givenBack.sourcesOf(credits, subscriptionIds);
    const periods = await this.periods.billingPeriods(
      found.late.map(({ subscriptionId, order }) => [subscriptionId, order.period.startAt]),
    );
    return { ...found, periods, invoiceIds: [...new Set([...found.invoiceIds, ...invoiceIds])] };
  }
}
