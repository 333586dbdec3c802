import type { BillCoupon } from './billed-by';
import type { CouponContext } from './decide-coupons';

/** A coupon as corrections of bills of a billing period find it. */
export interface CorrectedCoupon extends CouponContext {
  /** Start of the period of the invoice that they correct, and of its billing period. */
  readonly billedFrom: Date | null;
  readonly periodStartAt: Date | null;
  /** For `repeating`: the end of its months if they begin with the billing period. */
  readonly ownEndsAt: Date | null;
  /** For `repeating`: start of the last billing period that invoices in effect discount. */
  readonly lastAt: Date | null;
  /** True if invoices in effect discount the billing period with a percentage that lasts `once`. */
  readonly isDiscounted: boolean;
  /** True if a correction of a bill of the billing period used that percentage, which the bill had not used. */
  readonly isBegun: boolean;
}

/** Returns the key of a coupon as corrections of bills of a period find it. */
export function couponKey(redemptionId: string, billedFrom: Date | null): string {
  return `${redemptionId} ${billedFrom?.getTime() ?? ''}`;
}

/**
 * Returns true if a coupon that ran at a bill discounts what is added to it: one that took something off the bill, or one that
 * would have. A percentage that lasts `once` and was used on another invoice of the billing period has what returned to it.
 */
export function isInForce(coupon: CorrectedCoupon & Pick<BillCoupon, 'isUsed'>): boolean {
  if (coupon.isUsed || mayBegin(coupon)) return true;
  return isPercentOnce(coupon) && coupon.isDiscounted;
}

/** Returns true if corrections may use a coupon that their bill has not used. */
export function mayBegin(coupon: CorrectedCoupon): boolean {
  const { duration, isBegun, endsAt, periodStartAt, ownEndsAt, lastAt } = coupon;
  if (duration !== 'repeating') return !isPercentOnce(coupon) || isUnused(coupon) || isBegun;
  if (periodStartAt === null || ownEndsAt === null) return false;
  const isBeforeEnd = endsAt === null || periodStartAt < endsAt;
  return isBeforeEnd && (lastAt === null || lastAt < ownEndsAt);
}

export function isPercentOnce({
  duration,
  percentOff,
}: Pick<CouponContext, 'duration' | 'percentOff'>): boolean {
  return duration === 'once' && percentOff !== null;
}

/** Returns true for one with duration `once` that no invoice took anything of. */
export function isUnused({ remainingMinor, isUsedUp }: CorrectedCoupon): boolean {
  return remainingMinor === null && !isUsedUp;
}

/** Returns a coupon after corrections used it that the bills of their period had not used. */
export function afterUse(coupon: CorrectedCoupon, used: CorrectedCoupon): CorrectedCoupon {
  if (coupon.redemptionId !== used.redemptionId) return coupon;
  const isSamePeriod = coupon.periodStartAt?.getTime() === used.periodStartAt?.getTime();
  return {
    ...coupon,
    isUsedUp: coupon.isUsedUp || isPercentOnce(coupon),
    isBegun: coupon.isBegun || isSamePeriod,
    endsAt: ordered(coupon.endsAt, used.ownEndsAt)[0] ?? null,
    lastAt: ordered(coupon.lastAt, used.periodStartAt).at(-1) ?? null,
  };
}

function ordered(one: Date | null, other: Date | null): readonly Date[] {
  const both = [one, other].filter((at) => at !== null);
  return both.sort((a, b) => a.getTime() - b.getTime());
}
