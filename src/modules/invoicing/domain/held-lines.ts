import { formatExact, parseExact, type Rational, subtract, sum } from '../../../core/decimal';
import type { HeldDiscount, HeldTerms } from './held-terms';
import type { InvoiceLine, InvoiceTaxRate } from './invoice';
import type { BilledUsage } from './usage';

/** A line of a finalized, non-void invoice, with the tax rates and the period of the invoice. */
export interface BilledLine extends InvoiceLine {
  readonly taxRates: readonly Pick<
    InvoiceTaxRate,
    'taxRateId' | 'name' | 'percentage' | 'inclusive'
  >[];
  /** Start of the period of the invoice; null: the invoice has no period. */
  readonly billedFrom: Date | null;
}

/**
 * Returns the amounts left on the lines of one item and period after discounts and earlier credits. Credits are
 * calculated from these amounts.
 */
export function heldOf(lines: readonly BilledLine[]): HeldTerms {
  const total = (of: (line: BilledLine) => bigint): bigint =>
    lines.reduce((sum, line) => sum + of(line), 0n);
  const rates = new Map(
    lines.flatMap(({ taxShares, taxRates }) =>
      taxRates
        .filter(({ taxRateId }) => taxShares.some((share) => share.taxRateId === taxRateId))
        .map((rate) => [rate.taxRateId, rate] as const),
    ),
  );
  const taxed = lines.filter(({ net }) => net !== 0n);
  return {
    listedMinor: total(listedAmount),
    heldMinor: total(({ amount, discount, credited }) => amount - discount - credited),
    taxes: [...rates.values()].map(({ taxRateId, name, percentage, inclusive }) => ({
      taxRateId,
      name,
      percentage,
      inclusive,
      leftMinor: total((line) => taxLeft(line, taxRateId)),
    })),
    hasOneSetOfRates: taxed.every(({ taxShares }) => taxShares.length === rates.size),
    discounts: discountsOf(lines),
  };
}

/**
 * Returns, by invoice id, the amounts left on the lines of one item and period. A negative usage correction is
 * subtracted from the invoices that billed the usage, not from the invoice that contains the correction.
 */
export function heldOfInvoices(lines: readonly BilledLine[]): ReadonlyMap<string, bigint> {
  const held = new Map<string, bigint>();
  const add = (invoiceId: string, amountMinor: bigint): void => {
    held.set(invoiceId, (held.get(invoiceId) ?? 0n) + amountMinor);
  };
  for (const { invoiceId, trace, amount, discount, credited } of lines) {
    const taken = trace.kind === 'usage' ? trace.corrects?.taken : undefined;
    if (taken === undefined) add(invoiceId, amount - discount - credited);
    else for (const part of taken) add(part.invoiceId, -part.amountMinor);
  }
  return held;
}

/**
 * Returns the amount of a line at list prices. A negative usage correction can take back more at list prices than its
 * `amount`, which is limited to what was left of the billed lines.
 */
export function listedAmount({ amount, trace }: Pick<InvoiceLine, 'amount' | 'trace'>): bigint {
  return trace.kind === 'usage' ? (trace.corrects?.differenceMinor ?? amount) : amount;
}

/** Returns the amount billed for the usage of an item and period, including true-ups and usage corrections. */
export function billedUsageOf(
  lines: readonly InvoiceLine[],
): Pick<BilledUsage, 'amountMinor' | 'heldMinor' | 'quantity'> {
  const total = (of: (line: InvoiceLine) => bigint): bigint =>
    lines.reduce((amountMinor, line) => amountMinor + of(line), 0n);
  return {
    amountMinor: total(listedAmount),
    heldMinor: total(({ amount, discount, credited }) => amount - discount - credited),
    quantity: formatExact(billedQuantity(lines)),
  };
}

/**
 * Returns the total quantity of usage lines of one period. A usage correction counts with the quantity that it adds or
 * subtracts.
 */
function billedQuantity(lines: readonly Pick<InvoiceLine, 'trace'>[]): Rational {
  return sum(
    lines.flatMap(({ trace }) => {
      if (trace.kind !== 'usage') return [];
      const counted = sum(trace.parts.map(({ quantity }) => parseExact(quantity)));
      const { corrects } = trace;
      return corrects === null ? counted : subtract(counted, parseExact(corrects.quantity));
    }),
  );
}

function taxLeft({ taxShares, creditedTaxShares }: InvoiceLine, taxRateId: string): bigint {
  const of = (shares: InvoiceLine['taxShares']): bigint =>
    shares.find((share) => share.taxRateId === taxRateId)?.taxMinor ?? 0n;
  return of(taxShares) - of(creditedTaxShares);
}

/** Returns the discounts of lines, by coupon and period, less the discounts that were already returned to coupons. */
function discountsOf(lines: readonly BilledLine[]): readonly HeldDiscount[] {
  const byKey = new Map<string, HeldDiscount>();
  for (const line of lines) {
    const billedFrom = periodOfDiscount(line);
    const shares = [
      ...line.discountShares.map((share) => ({ ...share, billedFrom })),
      ...returnedBy(line).map((share) => ({ ...share, amountMinor: -share.amountMinor })),
    ];
    for (const share of shares) {
      const key = `${share.redemptionId} ${share.billedFrom?.getTime() ?? ''}`;
      const before = byKey.get(key)?.amountMinor ?? 0n;
      byKey.set(key, { ...share, amountMinor: before + share.amountMinor });
    }
  }
  return [...byKey.values()];
}

/**
 * Returns the start of the invoice period to which the discounts of a line belong. For usage added to an earlier bill,
 * this is the period of that bill.
 */
function periodOfDiscount({ trace, billedFrom }: BilledLine): Date | null {
  const added = trace.kind === 'usage' ? trace.corrects?.billedBy : undefined;
  return added === undefined ? billedFrom : added.billedFrom;
}

/** Returns the discounts that a credit line or usage correction returned to coupons, as positive amounts. */
export function returnedBy({ trace }: Pick<InvoiceLine, 'trace'>): readonly HeldDiscount[] {
  if (trace.kind === 'credit') return trace.returned ?? [];
  return trace.kind === 'usage' ? (trace.corrects?.returned ?? []) : [];
}
