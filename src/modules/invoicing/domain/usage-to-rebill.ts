import { trueUp } from '../../../core/rating';
import type { CountedUsage } from './decide-usage-lines';
import { isFirstBillLine, usagePeriodKey } from './first-bill';
import { listedAmount } from './held-lines';
import type { Invoice, InvoiceLine } from './invoice';
import type { UsageLineRequest } from './line-item-request';
import { ratePart, zeroUsageShare } from './usage';

/**
 * Usage of a void invoice, by how the invoice that regenerates it bills the usage. Late usage (accepted after its
 * period was billed) is rated again. Other usage is rated again only if the amount still to be billed differs from the
 * amount on the void invoice.
 */
export interface UsageToRebill {
  /** Usage that changed, and that no other invoice billed. It is billed in full, as counted now. */
  readonly first: readonly CountedUsage[];
  /** Late usage, and usage that other invoices billed in part or in whole. Only the unbilled difference is billed. */
  readonly late: readonly CountedUsage[];
  /**
   * Usage whose amount still to be billed is the same as on the void invoice. The lines of the void invoice are billed
   * again.
   */
  readonly unchanged: readonly CountedUsage[];
}

/**
 * Returns how the usage of a void invoice is billed again.
 * @param usage as counted now, with the amounts that finalized, non-void invoices billed for it
 */
export function usageToRebill(
  { lines }: Pick<Invoice, 'lines'>,
  usage: readonly CountedUsage[],
): UsageToRebill {
  const first: CountedUsage[] = [];
  const late: CountedUsage[] = [];
  const unchanged: CountedUsage[] = [];
  for (const counted of usage) {
    const before = lines.filter((line) => billsSameUsage(line, counted));
    const { billed } = counted;
    if (!before.every(isFirstBillLine)) late.push(counted);
    else if (before.reduce((sum, line) => sum + listedAmount(line), 0n) !== leftMinor(counted)) {
      if (billed === null || billed.lines.length === 0) first.push({ ...counted, billed: null });
      else late.push(counted);
    } else unchanged.push(counted);
  }
  return { first, late, unchanged };
}

/**
 * Returns the item and period of a line that may bill usage; empty for charges, credits and one-off items. Includes
 * true-ups, although their price may not be metered.
 */
export function usageOf({
  kind,
  itemId,
  period,
}: InvoiceLine): readonly Pick<UsageLineRequest, 'itemId' | 'period'>[] {
  if (kind !== 'usage' && kind !== 'minimum' && kind !== 'maximum') return [];
  return itemId === null || period === null ? [] : [{ itemId, period }];
}

/**
 * Returns the items and periods whose usage an invoice may bill, without duplicates: lines for several groups of a
 * meter have the same item and period.
 */
export function usagePeriodsOf({
  lines,
}: Pick<Invoice, 'lines'>): readonly Pick<UsageLineRequest, 'itemId' | 'period'>[] {
  return [...new Map(lines.flatMap(usageOf).map((one) => [usagePeriodKey(one), one])).values()];
}

/** Returns true for a line that bills this usage, and for a true-up of the same item and period. */
export function billsSameUsage(
  { kind, itemId, period }: Pick<InvoiceLine, 'kind' | 'itemId' | 'period'>,
  { request }: CountedUsage,
): boolean {
  if (kind === 'credit' || itemId === null || period === null) return false;
  return usagePeriodKey({ itemId, period }) === usagePeriodKey(request);
}

/** Returns the amount still to be billed, at list prices. */
function leftMinor({ request: { price, proration }, reading, billed }: CountedUsage): bigint {
  const zeroUsage = zeroUsageShare(price.rating, proration);
  const ratedMinor = reading.parts.reduce(
    (total, part) => total + ratePart(price.rating, part, zeroUsage).amountMinor,
    0n,
  );
  const trueUpMinor = trueUp(ratedMinor, price, proration)?.amountMinor ?? 0n;
  return ratedMinor + trueUpMinor - (billed?.amountMinor ?? 0n);
}
