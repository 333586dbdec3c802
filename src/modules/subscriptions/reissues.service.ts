import { Injectable } from '@nestjs/common';
import { type Invoice, ReissueInvoiceService, type Standing } from '../invoicing';
import { earnedUntil } from './domain/periods';
import { spanOf } from './domain/subscription';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Void invoices of subscriptions, and any others, billed anew: what has become of their items is known here. */
@Injectable()
export class ReissuesService {
  constructor(
    private readonly reissuing: ReissueInvoiceService,
    private readonly subscriptions: SubscriptionsRepository,
  ) {}

  /** @throws {ProblemError} what `ReissueInvoiceService.reissue` throws */
  reissue(invoiceId: string): Promise<Invoice> {
    return this.reissuing.reissue(invoiceId, (invoice) => this.standingOf(invoice));
  }

  /** The subscription stays locked, so that nothing is changed or ended meanwhile. */
  private async standingOf(invoice: Invoice): Promise<Standing> {
    const { subscriptionId, reason, lines, periodStartAt } = invoice;
    const snapshot =
      subscriptionId === null ? null : await this.subscriptions.lockSnapshot(subscriptionId);
    const period = snapshot?.period ?? null;
    const billed =
      subscriptionId === null || periodStartAt === null
        ? null
        : await this.subscriptions.periodAt(subscriptionId, periodStartAt);
    return {
      itemEnds: await this.subscriptions.itemEnds(lines.flatMap(({ itemId }) => itemId ?? [])),
      isWithdrawn:
        reason === 'subscription_start' &&
        snapshot?.subscription.paymentBehavior === 'default_incomplete',
      hasEnded: (snapshot?.subscription.endedAt ?? null) !== null,
      billingPeriod: billed === null ? null : spanOf(billed),
      earnedUntil: period === null ? null : earnedUntil(period),
    };
  }
}
