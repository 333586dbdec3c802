import type { CorrectedCoupon } from './corrected-coupon';
import { listedAmount } from './held-lines';
import type { BillCoupon, BillTerms } from './billed-by';
import type { Invoice, InvoiceLine } from './invoice';
import type { UsageLineRequest } from './line-item-request';

/** Amount of a bill, at list prices, to which coupons of the bill apply. Includes later corrections. */
export interface BilledAmount {
  /**
   * Key of the amount. For a line that bills an item for a period, this is the {@link usagePeriodKey}, so that later
   * corrections are added to the same amount. For other lines it is the id of the line.
   */
  readonly key: string;
  readonly priceId: string | null;
  readonly amountMinor: bigint;
}

/** The invoice that first billed the usage of a period. */
export interface FirstBill extends Omit<BillTerms, 'coupons' | 'invoiceId'> {
  /** Id of the invoice, or the {@link usagePeriodKey} if no line of a finalized, non-void invoice billed the usage. */
  readonly id: string;
  /** Coupons that were active when the bill was made, even if they did not discount it. */
  readonly coupons: readonly (CorrectedCoupon & BillCoupon)[];
  readonly amounts: readonly BilledAmount[];
  /** Highest amount that was ever billed for the period, at list prices. */
  readonly highestBilledMinor: bigint;
}

/**
 * Returns the discounts and taxes of an invoice. Usage that is billed later for a period of this invoice gets the same
 * ones.
 * @param taxRateIds ids of the tax rates of the charge that the usage is added to
 */
export function termsOfBill(
  invoice: Pick<
    Invoice,
    'id' | 'periodStartAt' | 'taxTreatment' | 'taxRates' | 'coupons' | 'status'
  >,
  taxRateIds: readonly string[],
): BillTerms {
  const { id, periodStartAt, taxTreatment, taxRates, coupons, status } = invoice;
  return {
    invoiceId: id,
    billedFrom: periodStartAt,
    taxTreatment,
    taxes:
      taxTreatment === 'none'
        ? taxRates
            .filter(({ taxRateId }) => taxRateIds.includes(taxRateId))
            .map(({ taxRateId, name, percentage, inclusive }) => {
              return { taxRateId, name, percentage, inclusive };
            })
        : [],
    coupons: coupons
      .filter(({ correctedFrom }) => correctedFrom === undefined)
      .map(({ redemptionId, amountMinor, mostMinor = null }) => ({
        redemptionId,
        // The discounts of a void invoice count as never given.
        isUsed: amountMinor > 0n && status !== 'void',
        isLimited: mostMinor !== null,
      })),
  };
}

/**
 * Returns the discounts and taxes for late usage that has no line on the first bill of its period.
 * - Those in `kept`, if `kept` names no invoice, or its invoice is neither void nor regenerated.
 * - Otherwise those of `latest`. If `latest` has no charge, the taxes still come from `kept`.
 * @param latest the invoice of `kept`, or the newest invoice that regenerates it; undefined if `kept` has no invoice
 */
export function currentTerms(kept: BillTerms, latest: Invoice | undefined): BillTerms {
  if (latest === undefined) return kept;
  if (latest.id === kept.invoiceId && latest.status !== 'void') return kept;
  const charge = latest.lines.find((line) => line.kind !== 'credit' && isFirstBillLine(line));
  const terms = termsOfBill(latest, charge?.taxRateIds ?? []);
  return charge === undefined ? { ...terms, taxes: kept.taxes } : terms;
}

export function usagePeriodKey({
  itemId,
  period,
}: Pick<UsageLineRequest, 'itemId' | 'period'>): string {
  return `${itemId} ${period.startAt.getTime()} ${period.endAt.getTime()}`;
}

export function isFirstBillLine({ trace }: Pick<InvoiceLine, 'trace'>): boolean {
  return trace.kind !== 'usage' || trace.corrects === null;
}

/**
 * Returns the amounts of an invoice to which its coupons apply: before discounts, and including later corrections.
 * @param history lines of all invoices, oldest first, for the items and periods on this invoice
 */
export function billedAmounts(
  { lines }: Pick<Invoice, 'lines'>,
  history: readonly InvoiceLine[],
): readonly BilledAmount[] {
  const amounts = new Map<string, BilledAmount>();
  const add = (key: string, priceId: string | null, amountMinor: bigint): void => {
    const before = amounts.get(key)?.amountMinor ?? 0n;
    amounts.set(key, { key, priceId, amountMinor: before + amountMinor });
  };
  for (const line of lines) {
    const { id, itemId, period, priceId, amount, kind, trace } = line;
    const hasOwnTerms = trace.kind === 'usage' && trace.corrects?.billedBy !== undefined;
    if (kind === 'credit' || hasOwnTerms) continue;
    const hasUsagePeriodKey = itemId !== null && period !== null && isFirstBillLine(line);
    add(hasUsagePeriodKey ? usagePeriodKey({ itemId, period }) : id, priceId, amount);
  }
  for (const line of history) {
    const { itemId, period, priceId } = line;
    if (itemId === null || period === null || isFirstBillLine(line)) continue;
    const key = usagePeriodKey({ itemId, period });
    if (amounts.has(key)) add(key, priceId, listedAmount(line));
  }
  return [...amounts.values()];
}

/**
 * Returns the highest amount that was ever billed for a period, at list prices.
 * @param history lines of the period, oldest first
 */
export function highestBilledAmount(history: readonly InvoiceLine[]): bigint {
  const firstMinor = history
    .filter(isFirstBillLine)
    .reduce((total, line) => total + listedAmount(line), 0n);
  let [billedMinor, highestMinor] = [firstMinor, firstMinor];
  for (const line of history.filter((one) => !isFirstBillLine(one))) {
    billedMinor += listedAmount(line);
    if (billedMinor > highestMinor) highestMinor = billedMinor;
  }
  return highestMinor;
}
