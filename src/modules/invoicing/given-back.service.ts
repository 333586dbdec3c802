import { Injectable } from '@nestjs/common';
import type { CreditOrder, LateUsageOrder } from './domain/line-order';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { UsageReadingsService } from './usage-readings.service';

/** Invoices and usage that orders may give something back of. */
export interface GivenBackSources {
  /** Finalized invoices that credits and corrections of late usage may take from. */
  readonly invoiceIds: readonly string[];
  readonly late: readonly LateUsageOrder[];
}

/** Finds the invoices that a later one may give something back of. */
@Injectable()
export class GivenBackService {
  constructor(
    private readonly held: HeldByInvoiceRepository,
    private readonly usage: UsageReadingsService,
  ) {}

  /**
   * @param credits what is credited of items that were billed in advance
   * @param subscriptionIds subscriptions whose late usage is billed
   */
  async sourcesOf(
    credits: readonly Pick<CreditOrder, 'itemId' | 'unusedFrom'>[],
    subscriptionIds: readonly string[],
  ): Promise<GivenBackSources> {
    const late = await this.usage.late(subscriptionIds);
    const credited = await this.held.creditedBy(credits);
    const corrected = await this.held.billedUsage(late.map(({ order }) => order));
    return { invoiceIds: [...credited, ...corrected], late };
  }
}
