import { groupBy } from '../../core/grouping';
import { greater, nonNegative } from '../../core/money';
import { earliest } from '../../core/time';
import type { AppliedRedemption, InvoiceDiscount } from '../coupons';
import { returnedBy } from './domain/held-lines';
import type { Invoice, InvoiceCoupon } from './domain/invoice';

/**
 * Returns the effect of an invoice on each of its coupons:
 * - the discount, and the discount returned to the coupon
 * - the amount left for later invoices; 0 if the duration is not `once`
 * - for a repeating coupon, the end of its months
 */
export function appliedBy(invoice: InvoiceEffects): readonly AppliedRedemption[] {
  return effectsOf(invoice).map(({ own, corrected, ...total }) => ({
    ...total,
    unusedMinor: own === undefined ? unusedOfCorrections(corrected) : unusedOf(own),
    endsAt: firstEndOf(own === undefined ? corrected : [own, ...corrected]),
  }));
}

/** Returns the earliest `endsAt` of the entries with a discount; null if these entries have no end. */
function firstEndOf(coupons: readonly InvoiceCoupon[]): Date | null {
  const discounting = coupons.filter(({ amountMinor }) => amountMinor > 0n);
  return earliest(discounting.map(({ endsAt }) => endsAt ?? null));
}

/** Returns the discounts of an invoice by coupon. Voiding the invoice returns them to the coupons. */
export function discountsOfCoupons(invoice: InvoiceEffects): readonly InvoiceDiscount[] {
  return effectsOf(invoice).map(({ own, corrected, ...total }) => ({
    ...total,
    limitMinor: own?.mostMinor ?? null,
    correctedMinor: sumOf(corrected, ({ amountMinor }) => amountMinor),
    fromRemainingMinor: sumOf(corrected, ({ ofRestMinor = 0n }) => ofRestMinor),
  }));
}

type InvoiceEffects = Pick<Invoice, 'coupons' | 'lines'>;

/**
 * Groups the coupon entries of an invoice by redemption. `own` is the entry for the charges of the invoice; `corrected`
 * has the entries for usage corrections of earlier bills. `unusableMinor` is the part of the returned discounts that
 * cannot be used again, because it belongs to another billing period or to a coupon that no longer applies.
 */
function effectsOf({ coupons, lines }: InvoiceEffects) {
  const entries = groupBy(coupons, ({ redemptionId }) => redemptionId);
  const returned = groupBy(lines.flatMap(returnedBy), ({ redemptionId }) => redemptionId);
  return [...new Set([...entries.keys(), ...returned.keys()])].map((redemptionId) => {
    const all = entries.get(redemptionId) ?? [];
    const returnedMinor = sumOf(all, (one) => one.returnedMinor ?? 0n);
    const ofLines = sumOf(returned.get(redemptionId) ?? [], ({ amountMinor }) => amountMinor);
    return {
      redemptionId,
      amountMinor: sumOf(all, ({ amountMinor }) => amountMinor),
      returnedMinor,
      unusableMinor: greater(ofLines - returnedMinor, 0n),
      own: all.find(({ correctedFrom }) => correctedFrom === undefined),
      corrected: all.filter(({ correctedFrom }) => correctedFrom !== undefined),
    };
  });
}

function unusedOf({ duration, amountOffMinor, mostMinor, amountMinor }: InvoiceCoupon): bigint {
  return duration === 'once' ? (amountOffMinor ?? mostMinor ?? amountMinor) - amountMinor : 0n;
}

/**
 * Returns the amount left of a coupon with duration `once` after an invoice that used the coupon only for usage
 * corrections. Never less than 0. Returns 0 for coupons with another duration.
 */
function unusedOfCorrections(corrected: readonly InvoiceCoupon[]): bigint {
  const [first] = corrected;
  if (first?.duration !== 'once') return 0n;
  const change = sumOf(
    corrected,
    ({ returnedMinor = 0n, ofRestMinor = 0n }) => returnedMinor - ofRestMinor,
  );
  return nonNegative((first.restMinor ?? 0n) + change);
}

function sumOf<One>(all: readonly One[], of: (one: One) => bigint): bigint {
  return all.reduce((total, one) => total + of(one), 0n);
}
