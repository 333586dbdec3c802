import type { BillCoupon } from './billed-by';
import type { CouponContext } from './decide-coupons';

/** State of a coupon for a usage correction: a line that bills a change of usage that an earlier invoice billed. */
export interface CorrectedCoupon extends CouponContext {
  /** Start of the period of the corrected invoice; null: that invoice has no period. */
  readonly billedFrom: Date | null;
  /** Start of the billing period that contains `billedFrom`; null if `billedFrom` is null. */
  readonly periodStartAt: Date | null;
  /**
   * End of a `repeating` coupon if its months begin at `periodStartAt`, e.g. 3 months later. Null for other durations,
   * or if `periodStartAt` is null.
   */
  readonly ownEndsAt: Date | null;
  /**
   * For a `repeating` coupon: start of the last billing period in which the coupon discounted a finalized, non-void
   * invoice; null if there is none.
   */
  readonly lastAt: Date | null;
  /**
   * True if the coupon discounted a finalized, non-void invoice of the billing period that starts at `periodStartAt`.
   * Used only for a percentage with duration `once`.
   */
  readonly isDiscounted: boolean;
  /** True if the coupon was first used by a usage correction of the billing period that starts at `periodStartAt`. */
  readonly isFirstUsedByCorrection: boolean;
}

export function couponKey(redemptionId: string, billedFrom: Date | null): string {
  return `${redemptionId} ${billedFrom?.getTime() ?? ''}`;
}

/**
 * Returns true if a coupon that was active when a bill was made also discounts usage that is added to the bill later.
 * There are three cases:
 * - The coupon discounted the bill.
 * - The correction can be the first use of the coupon.
 * - The coupon is a percentage with duration `once`, and discounted another invoice of the same billing period. In this
 *   case the discount is at most what credits returned to the coupon.
 */
export function appliesToCorrection(coupon: CorrectedCoupon & Pick<BillCoupon, 'isUsed'>): boolean {
  if (coupon.isUsed || mayApplyFirstToCorrection(coupon)) return true;
  return isPercentOnce(coupon) && coupon.isDiscounted;
}

/** Returns true if a usage correction may use a coupon that the corrected bill did not use. */
export function mayApplyFirstToCorrection(coupon: CorrectedCoupon): boolean {
  const { duration, isFirstUsedByCorrection, endsAt, periodStartAt, ownEndsAt, lastAt } = coupon;
  if (duration !== 'repeating')
    return !isPercentOnce(coupon) || isUnused(coupon) || isFirstUsedByCorrection;
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

/**
 * Returns true if a coupon has no stored remaining amount and is not used up. This is the state of a coupon with
 * duration `once` before its first discount.
 */
export function isUnused({ remainingMinor, isUsedUp }: CorrectedCoupon): boolean {
  return remainingMinor === null && !isUsedUp;
}

/**
 * Returns the state of `coupon` after a usage correction has used the coupon `used`. If the two belong to different
 * redemptions, this is `coupon` unchanged.
 */
export function afterUse(coupon: CorrectedCoupon, used: CorrectedCoupon): CorrectedCoupon {
  if (coupon.redemptionId !== used.redemptionId) return coupon;
  const isSamePeriod = coupon.periodStartAt?.getTime() === used.periodStartAt?.getTime();
  return {
    ...coupon,
    isUsedUp: coupon.isUsedUp || isPercentOnce(coupon),
    isFirstUsedByCorrection: coupon.isFirstUsedByCorrection || isSamePeriod,
    endsAt: sortedDates(coupon.endsAt, used.ownEndsAt)[0] ?? null,
    lastAt: sortedDates(coupon.lastAt, used.periodStartAt).at(-1) ?? null,
  };
}

function sortedDates(one: Date | null, other: Date | null): readonly Date[] {
  const both = [one, other].filter((at) => at !== null);
  return both.sort((a, b) => a.getTime() - b.getTime());
}
