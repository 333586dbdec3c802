import type { CountedUsage } from './decide-usage-lines';
import type { Invoice } from './invoice';
import type { UsageLineRequest } from './line-item-request';
import { linesOfUsage } from './usage-bill';
import { ratePart, shownQuantity, type UsageGroup, zeroUsageShare } from './usage';

/** Charge for usage, before discounts and tax, if it were invoiced now. */
export interface UsageQuote {
  readonly request: UsageLineRequest;
  /** True if the period is already billed, so that the quote is for late usage. */
  readonly isLate: boolean;
  readonly parts: readonly {
    readonly group: UsageGroup | null;
    /** Decimal string, as shown on an invoice line. */
    readonly quantity: string;
    readonly events: bigint;
    readonly amountMinor: bigint;
  }[];
  /** Total amount within the minimum and maximum of the price. For late usage, less the amount billed so far. */
  readonly amountMinor: bigint;
}

/**
 * Returns the quote for counted usage: the sum of the lines that bill this usage on a preview.
 * @param invoice preview that bills the usage
 */
export function quoteOf({ request, reading, billed }: CountedUsage, invoice: Invoice): UsageQuote {
  const lines = linesOfUsage(request, invoice.lines);
  const { rating } = request.price;
  const zeroUsage = zeroUsageShare(rating, request.proration);
  return {
    request,
    isLate: billed !== null,
    parts: reading.parts.map((part) => {
      const { group, events } = part;
      const { amountMinor } = ratePart(rating, part, zeroUsage);
      return { group, quantity: shownQuantity(part.quantity), events, amountMinor };
    }),
    amountMinor: lines.reduce((total, { amount }) => total + amount, 0n),
  };
}
