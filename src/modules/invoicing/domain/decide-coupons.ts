import { invariant } from '../../../core/invariant';
import type { RedeemedCoupon } from '../../../core/discount';
import { periodAt, type Period } from '../../../core/time';
import { returnedBy } from './held-lines';
import type { HeldDiscount } from './held-terms';
import type { InvoiceCoupon } from './invoice';
import type { LineDraft } from './line-draft';

export type InvoiceCouponTerms = Omit<InvoiceCoupon, 'amountMinor'>;

/** A redemption as it stands before an invoice. Amounts are minor units. */
export interface CouponContext {
  readonly redemptionId: string;
  readonly redeemedAt: Date;
  readonly duration: 'once' | 'repeating' | 'forever';
  readonly percentOff: string | null;
  /** Limit for a billing period, or for all invoices together if it lasts `once`. */
  readonly amountOffMinor: bigint | null;
  /** Amount left if it lasts `once`; null for a percentage that nothing returned to. */
  readonly remainingMinor: bigint | null;
  /** Taken off by other invoices of the billing period, less what returned. */
  readonly takenMinor: bigint;
  /** True where an invoice took all of one that lasts `once`. */
  readonly isUsedUp: boolean;
  /** For `repeating`. */
  readonly months: number | null;
  /** The end of its months; null until it took something off. */
  readonly endsAt: Date | null;
  /** The prices of the plans it is limited to; null: it is for all lines. */
  readonly priceIds: ReadonlySet<string> | null;
}

export interface CouponsInPeriod {
  readonly coupons: readonly CouponContext[];
  /** The billing period of the subscription that the invoice belongs to; null for an invoice of none. */
  readonly billingPeriod: Period | null;
}

/**
 * Returns a function that is true if a discount returns to its coupon when its line is credited. A coupon that lasts
 * `once` gets it back at any time, an amount of each period only within the period. A percentage is not used up.
 */
export function returnsToCoupon({ coupons, billingPeriod }: CouponsInPeriod) {
  return ({ redemptionId, billedFrom }: HeldDiscount): boolean => {
    const coupon = coupons.find((one) => one.redemptionId === redemptionId);
    if (coupon === undefined) return false;
    if (coupon.duration === 'once') return true;
    return coupon.amountOffMinor !== null && isWithin(billedFrom, billingPeriod);
  };
}

/** A period that was cut off where it began has its start. */
function isWithin(instant: Date | null, period: Period | null): boolean {
  if (instant === null || period === null) return false;
  const isStart = instant.getTime() === period.startAt.getTime();
  return isStart || (instant > period.startAt && instant < period.endAt);
}

/** The coupons of an invoice: what each may take off these lines, with what their credits return to it. */
export function couponsOf(
  { coupons, billingPeriod }: CouponsInPeriod,
  lines: readonly Pick<LineDraft, 'trace' | 'timeZone' | 'priceId'>[],
): readonly InvoiceCouponTerms[] {
  const timeZone = lines.find((line) => line.timeZone !== null)?.timeZone ?? 'UTC';
  const priceIds = new Set(lines.map(({ priceId }) => priceId));
  return coupons.flatMap((coupon) => {
    const { redemptionId, redeemedAt, duration, percentOff } = coupon;
    const returnedMinor = lines
      .flatMap(returnedBy)
      .filter((share) => share.redemptionId === redemptionId)
      .reduce((total, { amountMinor }) => total + amountMinor, 0n);
    const { priceIds: scope } = coupon;
    const terms = { redemptionId, redeemedAt, duration, percentOff, returnedMinor };
    if (coupon.isUsedUp && returnedMinor === 0n) return [];
    const left = leftOf(coupon, returnedMinor);
    return [
      {
        ...terms,
        amountOffMinor: percentOff === null ? left : null,
        mostMinor: percentOff === null ? null : left,
        priceIds:
          scope === null ? null : [...scope].filter((priceId) => priceIds.has(priceId)).sort(),
        endsAt: coupon.endsAt ?? endOf(coupon, billingPeriod, timeZone),
      },
    ];
  });
}

/** Returns the amount a coupon may still take off; null for a percentage without a limit. */
function leftOf(coupon: CouponContext, returnedMinor: bigint): bigint | null {
  const { duration, percentOff, amountOffMinor, remainingMinor, takenMinor, isUsedUp } = coupon;
  if (percentOff !== null) {
    const isLimited = duration === 'once' && (isUsedUp || remainingMinor !== null);
    return isLimited ? (remainingMinor ?? 0n) + returnedMinor : null;
  }
  invariant(amountOffMinor !== null, 'a coupon takes off a percentage or an amount');
  const leftMinor =
    duration === 'once' ? (remainingMinor ?? amountOffMinor) : amountOffMinor - takenMinor;
  return (leftMinor > 0n ? leftMinor : 0n) + returnedMinor;
}

/** The months of a repeating coupon, from the start of the first period it discounts. */
function endOf(
  { months }: CouponContext,
  billingPeriod: Period | null,
  timeZone: string,
): Date | null {
  if (months === null || billingPeriod === null) return null;
  const { startAt } = billingPeriod;
  const anchor = { mode: 'anniversary', startAt, timeZone, interval: 'month' } as const;
  return periodAt({ ...anchor, intervalCount: months }, 0).endAt;
}

/** A coupon as the rules of discounts know it, for the lines of its prices. */
export function redeemed(
  coupon: InvoiceCouponTerms,
  lines: readonly { readonly lineId: string; readonly priceId: string | null }[],
): RedeemedCoupon {
  const { redemptionId, redeemedAt, duration, percentOff, amountOffMinor, mostMinor } = coupon;
  invariant(
    (percentOff === null) !== (amountOffMinor === null),
    'a coupon takes off a percentage or an amount',
  );
  const { priceIds = null } = coupon;
  return {
    redemptionId,
    redeemedAt,
    duration,
    lineIds:
      priceIds === null
        ? 'all'
        : new Set(
            lines
              .filter(({ priceId }) => priceId !== null && priceIds.includes(priceId))
              .map(({ lineId }) => lineId),
          ),
    off:
      percentOff !== null
        ? { type: 'percent', percentOff, mostMinor: mostMinor ?? null }
        : { type: 'amount', amountOffMinor: amountOffMinor ?? 0n },
  };
}
