import { invariant } from '../invariant';
import { lesser, nonNegative } from '../money';
import { applyCoupons, type DiscountableLine, percentOf, type RedeemedCoupon } from './coupons';

/**
 * Input for the discount of one coupon on an amount that is added to an invoice later, such as late usage. Amounts are
 * in minor units. Traces of invoice lines store these properties, so their names must not change.
 */
export type AddedCoupon = {
  readonly redemptionId: string;
  /** Percent as a decimal string; null for a coupon with an amount. */
  readonly percentOff: string | null;
  /** Amount to which the percentage applied before the addition. It includes earlier additions and corrections. */
  readonly baseMinor: bigint;
  /**
   * Part of the added amount that was billed before, then credited, and is now billed again. A percentage discounts
   * this part by at most `restMinor`. If the coupon is used up, this part is the whole added amount.
   */
  readonly againMinor: bigint;
  /**
   * Discount that the coupon can still give. A negative number counts as 0.
   * - Coupon with an amount: limits the whole discount.
   * - Percentage: limits only the discount on `againMinor`.
   */
  readonly restMinor: bigint;
};

export type AddedDiscount = {
  readonly redemptionId: string;
  readonly amountMinor: bigint;
  /** Part of the discount that uses up `restMinor` of the {@link AddedCoupon}. */
  readonly fromRemainingMinor: bigint;
};

/**
 * Returns the discounts on an amount that is added to an invoice later. Each coupon discounts the amount that the
 * coupons before it left.
 * - Percentage: (rounded discount on base + added amount) - (rounded discount on base). Two additions of 1 therefore
 *   get the same discount as one addition of 2.
 * - Coupon with an amount: discounts up to its `restMinor`.
 * @param coupons coupons with a percentage first, then coupons with an amount
 */
export function discountAdded(
  addedMinor: bigint,
  coupons: readonly AddedCoupon[],
): readonly AddedDiscount[] {
  let leftMinor = addedMinor;
  return coupons.map(({ redemptionId, percentOff, baseMinor, againMinor, restMinor }) => {
    const remaining = nonNegative(restMinor);
    const discountOf = (partMinor: bigint): bigint =>
      percentOff === null
        ? partMinor
        : percentOf(baseMinor + partMinor, percentOff) - percentOf(baseMinor, percentOff);
    const limitedMinor = discountOf(
      percentOff === null ? leftMinor : lesser(againMinor, leftMinor),
    );
    const fromRemainingMinor = lesser(limitedMinor, remaining);
    const amountMinor = fromRemainingMinor + discountOf(leftMinor) - limitedMinor;
    leftMinor -= amountMinor;
    invariant(leftMinor >= 0n, 'no amount is discounted below zero');
    return { redemptionId, amountMinor, fromRemainingMinor };
  });
}

/**
 * Returns the amount to which each percentage applies, by redemption id. It is the sum of the lines that the coupon may
 * discount, less the discounts of the percentages applied earlier.
 */
export function percentageBases(
  lines: readonly DiscountableLine[],
  coupons: readonly RedeemedCoupon[],
): ReadonlyMap<string, bigint> {
  const byId = new Map(coupons.map((coupon) => [coupon.redemptionId, coupon]));
  const percentages = coupons.filter(({ off }) => off.type === 'percent');
  const leftMinor = lines.map(({ amountMinor }) => nonNegative(amountMinor));
  return new Map(
    applyCoupons(lines, percentages).coupons.map(({ redemptionId, sharesMinor }) => {
      const lineIds = byId.get(redemptionId)?.lineIds ?? 'all';
      let baseMinor = 0n;
      lines.forEach(({ lineId }, index) => {
        const left = leftMinor[index] ?? 0n;
        if (lineIds === 'all' || lineIds.has(lineId)) baseMinor += left;
        leftMinor[index] = left - (sharesMinor[index] ?? 0n);
      });
      return [redemptionId, baseMinor] as const;
    }),
  );
}
