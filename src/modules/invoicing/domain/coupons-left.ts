import { discountAdded } from '../../../core/discount';
import { nonNegative } from '../../../core/money';
import type { BilledBy } from './billed-by';
import { afterUse, type CorrectedCoupon, couponKey } from './corrected-coupon';
import { remainingKey } from './corrected-discounts';
import { leftOf } from './decide-coupons';
import type { HeldDiscount } from './held-terms';

/** Remaining amounts of coupons during the usage corrections of one invoice. Each correction updates them. */
export class CouponsLeft {
  /** In minor units, by {@link remainingKey}. */
  private readonly remaining: Map<string, bigint>;

  /** @param coupons by {@link couponKey} */
  constructor(private coupons: ReadonlyMap<string, CorrectedCoupon>) {
    this.remaining = new Map(
      [...coupons.values()].map((coupon) => [
        remainingKey(coupon, coupon.billedFrom),
        leftOf(coupon) ?? 0n,
      ]),
    );
  }

  find(redemptionId: string, billedFrom: Date | null): CorrectedCoupon | undefined {
    return this.coupons.get(couponKey(redemptionId, billedFrom));
  }

  /**
   * Subtracts the discounts on added usage from the remaining amounts of the coupons. Returns `billedBy` with the
   * remaining amount that each coupon had before (`restMinor`).
   */
  takeDiscounts(billedBy: BilledBy, addedMinor: bigint): BilledBy {
    const { billedFrom } = billedBy;
    const coupons = billedBy.coupons.map((coupon) => ({
      ...coupon,
      restMinor: nonNegative(this.remaining.get(remainingKey(coupon, billedFrom)) ?? 0n),
    }));
    discountAdded(addedMinor, coupons).forEach(({ fromRemainingMinor, amountMinor }, index) => {
      const coupon = coupons[index];
      if (coupon === undefined || amountMinor === 0n) return;
      const { redemptionId, duration, begins } = coupon;
      this.change(remainingKey(coupon, billedFrom), -fromRemainingMinor);
      if (begins !== true && duration !== 'repeating') return;
      const used = this.find(redemptionId, billedFrom);
      if (used === undefined) return;
      this.coupons = new Map([...this.coupons].map(([key, one]) => [key, afterUse(one, used)]));
    });
    return { ...billedBy, coupons };
  }

  /**
   * Adds a returned discount to the remaining amount of its coupon. Does nothing for percentages that repeat or last
   * forever, because they have no remaining amount.
   */
  returnDiscount({ redemptionId, billedFrom, amountMinor }: HeldDiscount): void {
    const coupon = this.find(redemptionId, billedFrom);
    if (coupon === undefined) return;
    if (coupon.duration !== 'once' && coupon.amountOffMinor === null) return;
    this.change(remainingKey(coupon, billedFrom), amountMinor);
  }

  private change(key: string, byMinor: bigint): void {
    this.remaining.set(key, (this.remaining.get(key) ?? 0n) + byMinor);
  }
}
