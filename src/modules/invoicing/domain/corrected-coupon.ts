import type { BillCoupon } from './billed-by';
import type { CouponContext } from './decide-coupons';

/** State of a coupon as usage corrections need it, for bills of one billing period. */
export interface CorrectedCoupon extends CouponContext {
  /** Start of the period of the corrected invoice. */
  readonly billedFrom: Date | null;
  /** Start of the billing period that the corrected invoice belongs to. */
  readonly periodStartAt: Date | null;
  /** For `repeating`: the end of its months if they begin with this billing period. */
  readonly ownEndsAt: Date | null;
  /** For `repeating`: start of the last billing period that it discounted on invoices in effect. */
  readonly lastAt: Date | null;
  /** True if the coupon is a percentage that lasts `once`, and discounts this billing period on invoices in effect. */
  readonly isDiscounted: boolean;
  /** True if the first to use that percentage in this billing period was a usage correction, not a bill. */
  readonly isBegunByCorrection: boolean;
}

/** Returns the key of a {@link CorrectedCoupon}. */
export function couponKey(redemptionId: string, billedFrom: Date | null): string {
  return `${redemptionId} ${billedFrom?.getTime() ?? ''}`;
}

/**
 * Returns true if a coupon that ran when a bill was made also discounts usage that is added to the bill later. It does if it
 * discounted the bill, or if the correction may be the first to use it. A percentage that lasts `once` also does if it
 * discounted another invoice of the billing period, but it takes off at most the discounts that were returned to it.
 */
export function isInForce(coupon: CorrectedCoupon & Pick<BillCoupon, 'isUsed'>): boolean {
  if (coupon.isUsed || mayBegin(coupon)) return true;
  return isPercentOnce(coupon) && coupon.isDiscounted;
}

/** Returns true if usage corrections may use a coupon that the corrected bill did not use. */
export function mayBegin(coupon: CorrectedCoupon): boolean {
  const { duration, isBegunByCorrection, endsAt, periodStartAt, ownEndsAt, lastAt } = coupon;
  if (duration !== 'repeating')
    return !isPercentOnce(coupon) || isUnused(coupon) || isBegunByCorrection;
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

/** Returns true for a coupon that lasts `once` and has taken nothing off. */
export function isUnused({ remainingMinor, isUsedUp }: CorrectedCoupon): boolean {
  return remainingMinor === null && !isUsedUp;
}

/**
 * Returns `coupon` as it is after a usage correction used `used`, the same redemption, for the first time in its billing
 * period. Coupons of other redemptions do not change.
 */
export function afterUse(coupon: CorrectedCoupon, used: CorrectedCoupon): CorrectedCoupon {
  if (coupon.redemptionId !== used.redemptionId) return coupon;
  const isSamePeriod = coupon.periodStartAt?.getTime() === used.periodStartAt?.getTime();
  return {
    ...coupon,
    isUsedUp: coupon.isUsedUp || isPercentOnce(coupon),
    isBegunByCorrection: coupon.isBegunByCorrection || isSamePeriod,
    endsAt: ordered(coupon.endsAt, used.ownEndsAt)[0] ?? null,
    lastAt: ordered(coupon.lastAt, used.periodStartAt).at(-1) ?? null,
  };
}

function ordered(one: Date | null, other: Date | null): readonly Date[] {
  const both = [one, other].filter((at) => at !== null);
  return both.sort((a, b) => a.getTime() - b.getTime());
}
