import { applyCoupons, type RedeemedCoupon } from '../../../core/discount';
import { type LimitedPrice, monthlyAmountOf, periodAmountOf } from '../../../core/rating';
import type { Interval } from '../../../core/time';

/** A price of a subscription, with the terms at which it was sold. Never metered. */
export interface RecurringItem {
  readonly id: string;
  readonly price: LimitedPrice & { readonly priceId: string };
  /** Decimal string. */
  readonly quantity: string;
}

/** A redeemed coupon that discounts the current billing period. */
export interface RecurringCoupon {
  readonly redemption: { readonly id: string; readonly redeemedAt: Date };
  readonly coupon: {
    readonly duration: RedeemedCoupon['duration'];
    readonly percentOff: string | null;
    readonly amountOff: bigint | null;
  };
  /** Prices that the coupon discounts; null: all prices. */
  readonly priceIds: ReadonlySet<string> | null;
}

/** Terms from which the amount of a full billing period is calculated. */
export interface RecurringTerms {
  readonly interval: Interval;
  readonly intervalCount: number;
  readonly items: readonly RecurringItem[];
  readonly coupons: readonly RecurringCoupon[];
}

/**
 * Returns the monthly recurring revenue in minor units: the price of a full billing period, after discounts, converted
 * to a month. Discounts of coupons with duration `once` are not subtracted. Usage and added taxes do not count. Amounts
 * of the period are rounded as on its invoice. The amount per month is rounded once, half away from zero.
 */
export function mrrOf({ interval, intervalCount, items, coupons }: RecurringTerms): bigint {
  const lines = items.map(({ id, price, quantity }) => ({
    lineId: id,
    amountMinor: periodAmountOf(price, quantity),
  }));
  const lasting = coupons.filter(isLasting);
  const gross = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const discounts = applyCoupons(
    lines,
    lasting.map((coupon) => redeemedOn(coupon, items)),
  );
  return monthlyAmountOf(gross - discounts.totalMinor, { interval, intervalCount });
}

/** Returns true for a coupon that lowers recurring revenue: one that lasts longer than one invoice. */
function isLasting({ coupon }: { readonly coupon: Pick<RedeemedCoupon, 'duration'> }): boolean {
  return coupon.duration !== 'once';
}

function redeemedOn(
  { redemption, coupon, priceIds }: RecurringCoupon,
  items: readonly RecurringItem[],
): RedeemedCoupon {
  const { duration, percentOff, amountOff } = coupon;
  const discounted = items.filter(({ price }) => priceIds?.has(price.priceId));
  return {
    redemptionId: redemption.id,
    redeemedAt: redemption.redeemedAt,
    duration,
    lineIds: priceIds === null ? 'all' : new Set(discounted.map(({ id }) => id)),
    off:
      percentOff === null
        ? { type: 'amount', amountOffMinor: amountOff ?? 0n }
        : { type: 'percent', percentOff },
  };
}
