import { Injectable } from '@nestjs/common';
import { isWireSafe } from '../../core/money';
import { newId } from '../../platform/ids';
import { decideInvoice } from './domain/decide-invoice';
import type { InvoiceOrder } from './domain/order';
import { quoteOf, type UsageQuote } from './domain/usage-quote';
import { invoiceTooLarge } from './invoicing.errors';
import { UsageReadingsService } from './usage-readings.service';

/** Says what usage costs so far, by the functions that bill it. */
@Injectable()
export class UsageQuotesService {
  constructor(private readonly usage: UsageReadingsService) {}

  /**
   * What the usage of each order, and what came late since, would be billed now. Changes and locks nothing.
   * @throws {ProblemError} `invoice_too_large`
   */
  async quote(orders: readonly InvoiceOrder[], now: Date): Promise<readonly UsageQuote[]> {
    const counted = await this.usage.loadAll(orders, false);
    return orders.flatMap((order) => {
      const usage = counted.get(order) ?? [];
      const facts = { ...NOTHING_BUT_USAGE, usage };
      const ids = { invoiceId: newId('inv'), nextLineId: () => newId('il') };
      const invoice = decideInvoice(order, facts, ids, now);
      return usage.map((one) => notTooLarge(quoteOf(one, invoice)));
    });
  }
}

/** Parts may be too large where the maximum of their price is not. */
function notTooLarge(quote: UsageQuote): UsageQuote {
  const amounts = [quote, ...quote.parts].map(({ amountMinor }) => amountMinor);
  if (!amounts.every(isWireSafe)) throw invoiceTooLarge();
  return quote;
}

const NOTHING_BUT_USAGE = {
  testClockId: null,
  billed: [],
  coupons: [],
  taxRates: [],
  taxTreatment: 'none',
  creditGrants: [],
} as const;
