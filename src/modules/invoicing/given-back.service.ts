import { Injectable } from '@nestjs/common';
import type { GivenBackTerms } from './domain/billing-request';
import { maxCreditable, NOTHING_REFUNDED, type RefundedOf } from './domain/given-back';
import type { CreditLineRequest, LateUsageRequest } from './domain/line-item-request';
import { BilledLinesRepository } from './billed-lines.repository';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { UsageReadingsService } from './usage-readings.service';

/** Earlier invoices that a new invoice may credit or correct, and the late usage that is the reason for corrections. */
export interface GivenBackSources {
  /** Ids of finalized, non-void invoices from which credits and usage corrections may take amounts. */
  readonly invoiceIds: readonly string[];
  readonly late: readonly LateUsageRequest[];
}

/** Finds the earlier invoices that a new invoice may credit or correct, and how much of each may be credited. */
@Injectable()
export class GivenBackService {
  constructor(
    private readonly billed: BilledLinesRepository,
    private readonly held: HeldByInvoiceRepository,
    private readonly usage: UsageReadingsService,
  ) {}

  /**
   * Returns the invoices that the given credits may credit, and the late usage of the given subscriptions with the
   * invoices that billed the usage before.
   * @param credits items billed in advance, each with the time from which it is unused and credited
   * @param subscriptionIds subscriptions whose late usage the new invoice bills
   */
  async sourcesOf(
    credits: readonly Pick<CreditLineRequest, 'itemId' | 'unusedFrom'>[],
    subscriptionIds: readonly string[],
  ): Promise<GivenBackSources> {
    const late = await this.usage.late(subscriptionIds);
    const credited = await this.billed.invoicesInAdvance(credits);
    const corrected = await this.billed.invoicesOfUsage(late.map(({ request }) => request));
    return { invoiceIds: [...credited, ...corrected], late };
  }

  /**
   * Returns how much of an invoice may still be credited after refunds and lost disputes, in minor units by invoice id.
   * Omits invoices without such a limit.
   */
  async creditableOf(
    requests: readonly Pick<GivenBackTerms, 'refunded'>[],
  ): Promise<ReadonlyMap<string, bigint>> {
    const refunded: RefundedOf = new Map(
      requests.flatMap((request) => [...(request.refunded ?? [])]),
    );
    const held = await this.held.heldBy([...refunded.keys()]);
    return new Map(
      [...held].flatMap(([id, heldBy]) => {
        const maxMinor = maxCreditable(heldBy, refunded.get(id) ?? NOTHING_REFUNDED);
        return maxMinor === null ? [] : [[id, maxMinor]];
      }),
    );
  }
}
