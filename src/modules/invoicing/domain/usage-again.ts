import { trueUp } from '../../../core/rating';
import type { CountedUsage } from './decide-usage-lines';
import { isFirst, subjectOf } from './first-bill';
import { listedAmount } from './held-lines';
import type { Invoice, InvoiceLine } from './invoice';
import type { UsageLineRequest } from './line-item-request';
import { ratePart, zeroUsageShare } from './usage';

/** Usage of a void invoice that cannot be billed again with the same lines. */
export interface UsageAgain {
  /** Usage that no other invoice billed and that changed since: billed as counted now. */
  readonly first: readonly CountedUsage[];
  /** Late usage, and usage that other invoices billed in part or in whole: the difference is billed. */
  readonly late: readonly CountedUsage[];
}

/**
 * Returns the usage of a void invoice that cannot be billed again with the same lines. A period is left out if what is still to
 * be billed equals what its lines billed.
 * @param usage as counted now, with what invoices in effect billed of it
 */
export function usageAgain(
  { lines }: Pick<Invoice, 'lines'>,
  usage: readonly CountedUsage[],
): UsageAgain {
  const first: CountedUsage[] = [];
  const late: CountedUsage[] = [];
  for (const counted of usage) {
    const before = lines.filter((line) => isOf(line, counted));
    const { billed } = counted;
    if (!before.every(isFirst)) late.push(counted);
    else if (before.reduce((sum, line) => sum + listedAmount(line), 0n) !== leftMinor(counted)) {
      if (billed === null || billed.lines.length === 0) first.push({ ...counted, billed: null });
      else late.push(counted);
    }
  }
  return { first, late };
}

/** Returns the item and period whose usage a line may bill. A true-up counts, although its price may not be metered. */
export function usageOf({
  kind,
  itemId,
  period,
}: InvoiceLine): readonly Pick<UsageLineRequest, 'itemId' | 'period'>[] {
  if (kind !== 'usage' && kind !== 'minimum' && kind !== 'maximum') return [];
  return itemId === null || period === null ? [] : [{ itemId, period }];
}

/** Returns true for a line that bills usage of an item and period, limits included. */
export function isOf(
  { kind, itemId, period }: Pick<InvoiceLine, 'kind' | 'itemId' | 'period'>,
  { request }: CountedUsage,
): boolean {
  if (kind === 'credit' || itemId === null || period === null) return false;
  return subjectOf({ itemId, period }) === subjectOf(request);
}

/** Returns what is left to be billed of usage, at list prices. */
function leftMinor({ request: { price, proration }, reading, billed }: CountedUsage): bigint {
  const zeroUsage = zeroUsageShare(price.rating, proration);
  const ratedMinor = reading.parts.reduce(
    (total, part) => total + ratePart(price.rating, part, zeroUsage).amountMinor,
    0n,
  );
  const trueUpMinor = trueUp(ratedMinor, price, proration)?.amountMinor ?? 0n;
  return ratedMinor + trueUpMinor - (billed?.amountMinor ?? 0n);
}
