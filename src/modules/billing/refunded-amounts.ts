import { Injectable } from '@nestjs/common';
import { type CreditLineRequest, GivenBackService, type GivenBackTerms } from '../invoicing';
import { ReturnPaymentsService } from '../payments';
import { SubscriptionPeriodsService } from '../subscriptions';

/** Parts of a decision that may give money back: credits, late usage and usage corrections. */
export interface CreditSources {
  readonly credits?: readonly Pick<CreditLineRequest, 'itemId' | 'unusedFrom'>[];
  /** Subscriptions whose late usage is billed. */
  readonly subscriptionIds?: readonly string[];
  /** Invoices whose billed usage a regenerated invoice may correct. */
  readonly invoiceIds?: readonly string[];
}

/**
 * Reads, for invoices that a decision credits or corrects, how much of their payments was refunded. A credit gives back
 * only money that was not refunded.
 */
@Injectable()
export class RefundedAmounts {
  constructor(
    private readonly givenBack: GivenBackService,
    private readonly payments: ReturnPaymentsService,
    private readonly periods: SubscriptionPeriodsService,
  ) {}

  /**
   * Locks the payments of the invoices until the caller's transaction ends, and returns the refunded amounts. A
   * concurrent refund waits for the lock, and then takes the new credit into account. Call it after locking the
   * subscription, and before locking entitlement balances and usage.
   */
  async lock(decision: CreditSources): Promise<Required<GivenBackTerms>> {
    const { invoiceIds, ...found } = await this.sourcesOf(decision);
    return { refunded: await this.payments.lockRefunded(invoiceIds), ...found };
  }

  /** Returns the same as `lock`, but locks nothing, for previews. */
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
