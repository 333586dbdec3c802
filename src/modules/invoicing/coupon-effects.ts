import { groupBy } from '../../core/grouping';
import type { AppliedRedemption, InvoiceDiscount } from '../coupons';
import type { InvoiceCoupon } from './domain/invoice';

/**
 * Returns the effect of an invoice on each of its coupons: the discount, the discount returned to the coupon, the
 * unused amount, and the end of the months of a repeating coupon.
 */
export function appliedBy(coupons: readonly InvoiceCoupon[]): readonly AppliedRedemption[] {
  return effectsOf(coupons).map(({ own, corrected, ...total }) => ({
    ...total,
    unusedMinor: own === undefined ? unusedOfCorrections(corrected) : unusedOf(own),
    endsAt: firstEndOf(own === undefined ? corrected : [own, ...corrected]),
  }));
}

/**
 * Returns the end of the months in which a repeating coupon applies: the earliest `endsAt` of the entries with a
 * discount; null if these entries have no end.
 */
function firstEndOf(coupons: readonly InvoiceCoupon[]): Date | null {
  const ends = coupons.flatMap(({ amountMinor, endsAt }) =>
    amountMinor > 0n ? (endsAt ?? []) : [],
  );
  return ends.sort((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

/**
 * Returns the discounts of an invoice for each coupon. Voiding the invoice returns these discounts to the coupons.
 */
export function discountsOfCoupons(coupons: readonly InvoiceCoupon[]): readonly InvoiceDiscount[] {
  return effectsOf(coupons).map(({ own, corrected, ...total }) => ({
    ...total,
    limitMinor: own?.mostMinor ?? null,
    correctedMinor: sumOf(corrected, ({ amountMinor }) => amountMinor),
    fromRemainingMinor: sumOf(corrected, ({ ofRestMinor = 0n }) => ofRestMinor),
  }));
}

/**
 * Groups the coupon entries of an invoice by redemption. `own` is the entry for the charges of the invoice;
 * `corrected` has the entries for usage corrections of earlier bills on this invoice.
 */
function effectsOf(coupons: readonly InvoiceCoupon[]) {
  return [...groupBy(coupons, ({ redemptionId }) => redemptionId)].map(([redemptionId, all]) => ({
    redemptionId,
    amountMinor: sumOf(all, ({ amountMinor }) => amountMinor),
    returnedMinor: sumOf(all, ({ returnedMinor = 0n }) => returnedMinor),
    own: all.find(({ correctedFrom }) => correctedFrom === undefined),
    corrected: all.filter(({ correctedFrom }) => correctedFrom !== undefined),
  }));
}

function unusedOf({ duration, amountOffMinor, mostMinor, amountMinor }: InvoiceCoupon): bigint {
  return duration === 'once' ? (amountOffMinor ?? mostMinor ?? amountMinor) - amountMinor : 0n;
}

/**
 * Returns the remaining amount of a coupon with duration `once` after an invoice that used the coupon only for usage
 * corrections: the amount before, plus returned discounts, less what the corrections used. Returns at least 0, and 0
 * for other durations.
 */
function unusedOfCorrections(corrected: readonly InvoiceCoupon[]): bigint {
  const [first] = corrected;
  if (first?.duration !== 'once') return 0n;
  const change = sumOf(
    corrected,
    ({ returnedMinor = 0n, ofRestMinor = 0n }) => returnedMinor - ofRestMinor,
  );
  const restMinor = (first.restMinor ?? 0n) + change;
  return restMinor > 0n ? restMinor : 0n;
}

function sumOf(coupons: readonly InvoiceCoupon[], of: (coupon: InvoiceCoupon) => bigint): bigint {
  return coupons.reduce((total, coupon) => total + of(coupon), 0n);
}
