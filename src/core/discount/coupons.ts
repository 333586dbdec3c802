import {
  compare,
  divide,
  multiply,
  parseDecimal,
  rational,
  roundToInteger,
  ZERO,
} from '../decimal';
import { invariant } from '../invariant';
import { allocate, lesser, nonNegative, total } from '../money';

/** A redeemed coupon, with the lines of one invoice that it may discount. */
export type RedeemedCoupon = {
  readonly redemptionId: string;
  readonly redeemedAt: Date;
  readonly duration: 'once' | 'repeating' | 'forever';
  /** Ids of the lines that the coupon may discount; `'all'` for the whole invoice. */
  readonly lineIds: ReadonlySet<string> | 'all';
  readonly off: CouponOff;
};

export type CouponOff =
  /** A percentage as a decimal string, above 0 and up to 100: `"20"` is a fifth. */
  | {
      readonly type: 'percent';
      readonly percentOff: string;
      /** Maximum discount in minor units; null or absent: no maximum. */
      readonly limitMinor?: bigint | null;
    }
  /** Amount that the coupon may still take off, in minor units of the invoice's currency. */
  | { readonly type: 'amount'; readonly amountOffMinor: bigint };

export type DiscountableLine = { readonly lineId: string; readonly amountMinor: bigint };

export type AppliedCoupon = {
  readonly redemptionId: string;
  /** Amount that this coupon takes off, zero or more. */
  readonly amountMinor: bigint;
  /** Part of `amountMinor` that is taken off each line, in the order of the lines. */
  readonly sharesMinor: readonly bigint[];
  /**
   * Discount that is left for later invoices:
   * - percentage with `limitMinor`: the unused part of the limit
   * - amount with the duration `once`: the unused part of the amount
   * - all other coupons: zero
   */
  readonly unusedMinor: bigint;
};

export type Discounts = {
  /** The coupons in the order in which they were applied. */
  readonly coupons: readonly AppliedCoupon[];
  /** Discount of each line by all coupons, in the order of the lines. */
  readonly lineDiscountsMinor: readonly bigint[];
  readonly totalMinor: bigint;
};

/**
 * Applies coupons to the lines that each coupon may discount.
 * - Percentages come first, then amounts. Within each kind, the earlier redemption comes first, then the given order.
 * - Each coupon discounts the amounts that remain after the coupons before it.
 * - A percentage is applied to the sum of its lines and rounded once, half away from zero.
 * - Every discount is split over its lines by largest remainder. No line falls below zero.
 * - Lines of zero or less are unchanged.
 * @throws InvariantError on a percentage outside 0 to 100 or an amount below zero.
 */
export function applyCoupons(
  lines: readonly DiscountableLine[],
  coupons: readonly RedeemedCoupon[],
): Discounts {
  const leftMinor = lines.map(({ amountMinor }) => nonNegative(amountMinor));
  const applied = inOrder(coupons).map((coupon) => {
    const weights = lines.map(({ lineId }, index) =>
      coupon.lineIds === 'all' || coupon.lineIds.has(lineId) ? (leftMinor[index] ?? 0n) : 0n,
    );
    const result = applyOne(coupon, weights);
    result.sharesMinor.forEach((share, index) => {
      leftMinor[index] = (leftMinor[index] ?? 0n) - share;
    });
    return result;
  });

  const lineDiscountsMinor = lines.map((_, index) =>
    applied.reduce((total, { sharesMinor }) => total + (sharesMinor[index] ?? 0n), 0n),
  );
  const totalMinor = total(applied.map(({ amountMinor }) => amountMinor));
  invariant(total(lineDiscountsMinor) === totalMinor, 'discounts on lines add up to the coupons');
  invariant(
    leftMinor.every((left) => left >= 0n),
    'no line is discounted below zero',
  );
  return { coupons: applied, lineDiscountsMinor, totalMinor };
}

function inOrder(coupons: readonly RedeemedCoupon[]): RedeemedCoupon[] {
  const rank = ({ off }: RedeemedCoupon) => (off.type === 'percent' ? 0 : 1);
  return [...coupons].sort(
    (left, right) =>
      rank(left) - rank(right) || left.redeemedAt.getTime() - right.redeemedAt.getTime(),
  );
}

function applyOne(coupon: RedeemedCoupon, weights: readonly bigint[]): AppliedCoupon {
  const { redemptionId, off, duration } = coupon;
  const baseMinor = total(weights);
  if (off.type === 'percent') {
    const fullMinor = percentOf(baseMinor, off.percentOff);
    const limitMinor = off.limitMinor ?? fullMinor;
    const amountMinor = lesser(fullMinor, limitMinor);
    const sharesMinor = allocate(amountMinor, weights);
    return { redemptionId, amountMinor, sharesMinor, unusedMinor: limitMinor - amountMinor };
  }
  invariant(off.amountOffMinor >= 0n, 'a coupon amount is not negative');
  const amountMinor = off.amountOffMinor < baseMinor ? off.amountOffMinor : baseMinor;
  return {
    redemptionId,
    amountMinor,
    sharesMinor: allocate(amountMinor, weights),
    unusedMinor: duration === 'once' ? off.amountOffMinor - amountMinor : 0n,
  };
}

/** Returns a percentage of an amount, in minor units, rounded half away from zero. */
export function percentOf(baseMinor: bigint, percentOff: string): bigint {
  const percent = parseDecimal(percentOff);
  const hundred = rational(100n);
  invariant(
    compare(percent, ZERO) >= 0 && compare(percent, hundred) <= 0,
    'a percentage is from 0 to 100',
  );
  return roundToInteger(multiply(rational(baseMinor), divide(percent, hundred)));
}
