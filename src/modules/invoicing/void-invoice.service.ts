import { Injectable } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import { currentActor } from '../../platform/access';
import { Database } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import { type InvoiceDiscount, RedemptionsService } from '../coupons';
import { BilledLinesRepository } from './billed-lines.repository';
import { CreditGrantsRepository } from './credit-grants.repository';
import { discountsOfCoupons } from './coupon-effects';
import { isPercentOnce } from './domain/corrected-coupon';
import { endOf, timeZoneOf } from './domain/decide-coupons';
import type { Invoice } from './domain/invoice';
import { closeCollectionAt } from './domain/invoice-collection';
import { InvoicePostings } from './invoice-postings';
import { invoiceVoided } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';
import { UsageReadingsService } from './usage-readings.service';

@Injectable()
export class VoidInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly redemptions: RedemptionsService,
    private readonly billed: BilledLinesRepository,
    private readonly usage: UsageReadingsService,
    private readonly postings: InvoicePostings,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Voids an invoice in the caller's transaction, and undoes its effects:
   * - Credit and discounts that the invoice used are returned.
   * - Lines that the invoice credited can be credited again. Discounts that these credits had returned to coupons are
   *   taken from the coupons again.
   * - Usage that the invoice corrected is corrected again by the next invoice.
   *
   * The caller has locked the invoice, has checked that no line of it is credited, and has turned its payments into
   * credit.
   * @throws {ProblemError} `usage_archived`: usage of archived months could not be billed again
   */
  async void(before: Invoice, now: Date): Promise<Invoice> {
    this.database.requireTransaction();
    await this.usage.lockUnarchived(before, cannotBeVoided(before));
    await this.usage.reopenCorrections(before);
    for (const { creditId, amountMinor } of before.credits) {
      await this.grants.use(creditId, -amountMinor);
    }
    await this.invoices.addCredited(
      before.lines.flatMap(({ creditsLineId: lineId, amount }) =>
        lineId === null ? [] : [{ lineId, amount }],
      ),
    );
    await this.redemptions.reverseDiscounts(await this.couponsOf(before), now);
    await this.postings.postVoided(before, now);
    const after = nextVersion(before, now, {
      status: 'void',
      amountPaid: 0n,
      voidedAt: now,
      voidedBy: currentActor(),
      collectAt: closeCollectionAt(before, now),
    });
    await this.invoices.update(after);
    await this.outbox.record(invoiceVoided, { after, before, occurredAt: now });
    return after;
  }

  /**
   * Returns the discounts of the invoice, to be returned to their coupons. The months of a repeating coupon are then
   * counted from the other finalized, non-void invoices. A percentage coupon with duration `once` becomes unused if
   * none of these other invoices used it.
   */
  private async couponsOf(invoice: Invoice): Promise<readonly InvoiceDiscount[]> {
    const { id, subscriptionId, coupons, lines } = invoice;
    const discounts = discountsOfCoupons(invoice);
    if (subscriptionId === null) return discounts;
    const repeating = coupons.filter(
      ({ duration, amountMinor }) => duration === 'repeating' && amountMinor > 0n,
    );
    const ids = new Set(repeating.map(({ redemptionId }) => redemptionId));
    const terms = await this.redemptions.getAll(discounts.map((one) => one.redemptionId));
    const spans =
      ids.size === 0
        ? new Map<string, never>()
        : await this.billed.discountedSpans([subscriptionId], id);
    const others = [...terms.values()].some(({ coupon }) => isPercentOnce(coupon))
      ? await this.billed.discountsInEffect(subscriptionId, id)
      : new Map<string, never>();
    return discounts.map((one) => {
      const { redemptionId } = one;
      const months = terms.get(redemptionId)?.coupon.durationInMonths ?? null;
      if (months === null || !ids.has(redemptionId))
        return { ...one, others: others.get(redemptionId) };
      const first = spans.get(redemptionId)?.firstAt ?? null;
      return { ...one, endsAt: endOf({ months }, first, timeZoneOf(lines)) };
    });
  }
}

function cannotBeVoided({ id, status }: Invoice): string {
  const instead =
    status === 'uncollectible'
      ? 'It is written off already.'
      : 'Issue a credit note for what is not owed, or write the invoice off.';
  return `The invoice ${id} billed some of them, and cannot be voided, because they cannot be billed again. ${instead}`;
}
