import { Injectable } from '@nestjs/common';
import type { CreditLineRequest, LateUsageRequest } from './domain/line-item-request';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { UsageReadingsService } from './usage-readings.service';

/** Invoices that a later invoice may credit or correct, and late usage. */
export interface GivenBackSources {
  /** Finalized invoices that credits and corrections of late usage may take from. */
  readonly invoiceIds: readonly string[];
  readonly late: readonly LateUsageRequest[];
}

/** Finds the invoices that a later one may credit or correct. */
@Injectable()
export class GivenBackService {
  constructor(
    private readonly held: HeldByInvoiceRepository,
    private readonly usage: UsageReadingsService,
  ) {}

  /**
   * @param credits items billed in advance, with the instant from which they are credited
   * @param subscriptionIds subscriptions whose late usage is billed
   */
  async sourcesOf(
    credits: readonly Pick<CreditLineRequest, 'itemId' | 'unusedFrom'>[],
    subscriptionIds: readonly string[],
  ): Promise<GivenBackSources> {
    const late = await this.usage.late(subscriptionIds);
    const credited = await this.held.creditedBy(credits);
    const corrected = await this.held.billedUsage(late.map(({ request }) => request));
    return { invoiceIds: [...credited, ...corrected], late };
  }
}
