import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type { RedeemedTerms } from '../../coupons';
import type { Customer } from '../../customers';
import { type Invoice, IssueInvoiceService } from '../../invoicing';
import {
  billingsAhead,
  type NextBilling,
  type Outcome,
  type Snapshot,
  SUBSCRIPTION_IDS,
} from '../../subscriptions';
import { FinalizePrepaidDraftsWorkflow } from '../invoices/finalize-prepaid-drafts.workflow';
import { RefundedAmounts } from '../refunded-amounts';
import { creditsOf, billingRequestOf, periodsAfter } from './billing-request';

/**
 * The next invoice of a subscription after a command, and when it is made. `planVersionId` is the plan version that the
 * subscription has at that time.
 */
export interface SubscriptionPreview {
  readonly invoice: Invoice;
  readonly planVersionId: string;
  readonly billsAt: Date;
  /** Version of the subscription before the command. */
  readonly version: number;
}

/**
 * Previews the next invoice of a subscription after a change that is not written yet. The caller's transaction has
 * locked the subscription. Drafts that will be finalized before the previewed invoice use coupons and credit first, so
 * the preview finalizes these drafts too. It then rolls back everything that it wrote.
 */
@Injectable()
export class PreviewInvoiceWorkflow {
  constructor(
    private readonly database: Database,
    private readonly prepaidDrafts: FinalizePrepaidDraftsWorkflow,
    private readonly issueInvoice: IssueInvoiceService,
    private readonly refundedAmounts: RefundedAmounts,
  ) {}

  /**
   * Returns the invoice that the change makes. If the change makes none, returns the next invoice. If no invoice
   * follows at all, returns an invoice without lines.
   * @param decided change of the subscription that is worked out but not written yet
   * @param redeemed coupons that are not redeemed yet, but that the preview applies
   * @throws {ProblemError} `invoice_too_large`
   */
  async preview(
    snapshot: Snapshot,
    decided: Outcome,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[] = [],
  ): Promise<SubscriptionPreview> {
    let first: SubscriptionPreview | null = null;
    for (const billing of billingsAhead(snapshot, decided, SUBSCRIPTION_IDS, now)) {
      const preview = await this.previewOf(snapshot, billing, customer, now, redeemed);
      if (preview.invoice.lines.length > 0) return preview;
      first ??= preview;
    }
    const none = { outcome: decided, at: now };
    return first ?? this.previewOf(snapshot, none, customer, now, redeemed);
  }

  private async previewOf(
    snapshot: Snapshot,
    { outcome, at: billsAt }: NextBilling,
    customer: Customer,
    now: Date,
    redeemed: readonly RedeemedTerms[],
  ): Promise<SubscriptionPreview> {
    const givenBack = await this.refundedAmounts.read({
      credits: creditsOf(outcome),
      subscriptionIds: [outcome.subscription.id],
    });
    const periods = periodsAfter(givenBack.periods, outcome);
    const request = { ...billingRequestOf(outcome), ...givenBack, periods };
    const decision = { before: snapshot.subscription, outcome };
    const finalizesAt = this.issueInvoice.graceEnd(request, customer, billsAt) ?? billsAt;
    const invoice = await this.database.rolledBack(async () => {
      await this.prepaidDrafts.finalizeForPreview(decision, givenBack, now, finalizesAt);
      return this.issueInvoice.preview(request, customer, billsAt, redeemed);
    });
    const { planVersionId } = outcome.subscription;
    return { invoice, planVersionId, billsAt, version: snapshot.subscription.version };
  }
}
