import { Injectable } from '@nestjs/common';
import type { RedeemedTerms } from '../../coupons';
import type { Customer } from '../../customers';
import { type Invoice, IssueInvoiceService } from '../../invoicing';
import { nextBilling, type Outcome, type Snapshot, SUBSCRIPTION_IDS } from '../../subscriptions';
import { RefundedAmounts } from '../refunded-amounts';
import { creditsOf, billingRequestOf, periodsAfter } from './billing-request';

/** The next invoice after a command, with its plan version. */
export interface SubscriptionPreview {
  readonly invoice: Invoice;
  readonly planVersionId: string;
  readonly billsAt: Date;
}

/** Previews the invoice of a decision about a subscription. Writes nothing. */
@Injectable()
export class PreviewInvoiceWorkflow {
  constructor(
    private readonly issuing: IssueInvoiceService,
    private readonly refunded: RefundedAmounts,
  ) {}

  /**
   * Returns the invoice that a decision makes, else the next one after it; an empty invoice if there is none.
   * @param redeemed coupons that would be redeemed before
   * @throws {ProblemError} `invoice_too_large`
   */
  async preview(
    snapshot: Snapshot,
    decided: Outcome,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<SubscriptionPreview> {
    const { outcome, at: billsAt } = nextBilling(snapshot, decided, SUBSCRIPTION_IDS, now);
    const givenBack = await this.refunded.read({
      credits: creditsOf(outcome),
      subscriptionIds: [outcome.subscription.id],
    });
    const periods = periodsAfter(givenBack.periods, outcome);
    const request = { ...billingRequestOf(outcome), ...givenBack, periods };
    const invoice = await this.issuing.preview(request, customer, billsAt, redeemed);
    const { planVersionId } = outcome.subscription;
    return { invoice, planVersionId, billsAt };
  }
}
