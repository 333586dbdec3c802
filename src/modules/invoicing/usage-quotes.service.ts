import { Injectable } from '@nestjs/common';
import { isWireSafe } from '../../core/money';
import { newId } from '../../platform/ids';
import { decideInvoice } from './domain/decide-invoice';
import type { WaitingDraft } from './domain/grace';
import type { Invoice } from './domain/invoice';
import type { BillingRequest } from './domain/billing-request';
import { requestOf } from './domain/renewal-draft';
import { quoteOf, type UsageQuote } from './domain/usage-quote';
import { GivenBackService } from './given-back.service';
import { invoiceTooLarge } from './invoicing.errors';
import { RenewalDraftsRepository } from './renewal-drafts.repository';
import { UsageReadingsService } from './usage-readings.service';

/** Usage charge that a renewal draft would have if it were finalized now. */
interface DraftQuote extends UsageQuote {
  readonly draft: Pick<Invoice, 'id' | 'subscriptionId' | 'currency'>;
}

@Injectable()
export class UsageQuotesService {
  constructor(
    private readonly usage: UsageReadingsService,
    private readonly drafts: RenewalDraftsRepository,
    private readonly givenBack: GivenBackService,
  ) {}

  /**
   * Returns the present charges for the usage and the late usage of each request. If late usage lowers a charge,
   * `refunded` of the request limits the amount given back. Changes and locks nothing.
   * @throws {ProblemError} `invoice_too_large`
   */
  async quote(requests: readonly BillingRequest[], now: Date): Promise<readonly UsageQuote[]> {
    const counted = await this.usage.loadAll(requests, false);
    const creditable = await this.givenBack.creditableOf(requests);
    return requests.flatMap((request) => {
      const usage = counted.get(request) ?? [];
      const context = { ...NOTHING_BUT_USAGE, usage, creditable };
      const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
      const invoice = decideInvoice(request, context, ids, now);
      return usage.map((one) => notTooLarge(quoteOf(one, invoice)));
    });
  }

  /**
   * Returns the usage charges, without late usage, that the renewal drafts of a customer would have if they were
   * finalized now.
   * @throws {ProblemError} `invoice_too_large`
   */
  async quoteDrafts(customerId: string, now: Date): Promise<readonly DraftQuote[]> {
    const found: DraftQuote[] = [];
    for (const draft of await this.drafts.ofCustomer(customerId)) {
      const quotes = await this.quote([usageRequestOf(draft)], now);
      found.push(...quotes.map((quote) => ({ ...quote, draft })));
    }
    return found;
  }
}

/**
 * Returns the request for the usage of a draft. Leaves out the subscription, because with it the quote would include
 * late usage. Late usage is billed by whichever invoice is finalized next.
 */
function usageRequestOf(draft: WaitingDraft): BillingRequest {
  const lines = draft.requestedLines.filter(({ kind }) => kind === 'usage');
  return { ...requestOf(draft), subscriptionId: null, lines };
}

/** Throws an error if an amount of the charge, or of a part of it, is too large for JSON. */
function notTooLarge(quote: UsageQuote): UsageQuote {
  const amounts = [quote, ...quote.parts].map(({ amountMinor }) => amountMinor);
  if (!amounts.every(isWireSafe)) throw invoiceTooLarge();
  return quote;
}

const NOTHING_BUT_USAGE = {
  testClockId: null,
  billed: [],
  coupons: [],
  billingPeriod: null,
  taxRates: [],
  taxTreatment: 'none',
  creditGrants: [],
} as const;
