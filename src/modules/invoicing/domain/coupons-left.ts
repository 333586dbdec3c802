import { discountAdded } from '../../../core/discount';
import type { BilledBy } from './billed-by';
import { afterUse, type CorrectedCoupon, couponKey } from './corrected-coupon';
import { restKey } from './corrected-discounts';
import { leftOf, positive } from './decide-coupons';
import type { HeldDiscount } from './held-terms';

/** Amounts that coupons have left for the usage corrections of an invoice, updated by each correction. */
export class CouponsLeft {
  /** Amount that each coupon has left, in minor units, by {@link restKey}. */
  private readonly rests: Map<string, bigint>;

  /** @param coupons by {@link couponKey} */
  constructor(private coupons: ReadonlyMap<string, CorrectedCoupon>) {
    this.rests = new Map(
      [...coupons.values()].map((coupon) => [
        restKey(coupon, coupon.billedFrom),
        leftOf(coupon, 0n) ?? 0n,
      ]),
    );
  }

  find(redemptionId: string, billedFrom: Date | null): CorrectedCoupon | undefined {
    return this.coupons.get(couponKey(redemptionId, billedFrom));
  }

  /**
   * Lowers what the coupons have left by the discounts of an added amount. Returns `billedBy` with the amounts that the coupons
   * had left before.
   */
  take(billedBy: BilledBy, addedMinor: bigint): BilledBy {
    const { billedFrom } = billedBy;
    const coupons = billedBy.coupons.map((coupon) => ({
      ...coupon,
      restMinor: positive(this.rests.get(restKey(coupon, billedFrom)) ?? 0n),
    }));
    discountAdded(addedMinor, coupons).forEach(({ ofRestMinor, amountMinor }, index) => {
      const coupon = coupons[index];
      if (coupon === undefined || amountMinor === 0n) return;
      const { redemptionId, duration, begins } = coupon;
      this.change(restKey(coupon, billedFrom), -ofRestMinor);
      if (begins !== true && duration !== 'repeating') return;
      const used = this.find(redemptionId, billedFrom);
      if (used === undefined) return;
      this.coupons = new Map([...this.coupons].map(([key, one]) => [key, afterUse(one, used)]));
    });
    return { ...billedBy, coupons };
  }

  giveBack({ redemptionId, billedFrom, amountMinor }: HeldDiscount): void {
    const coupon = this.find(redemptionId, billedFrom);
    if (coupon !== undefined) this.change(restKey(coupon, billedFrom), amountMinor);
  }

  private change(key: string, byMinor: bigint): void {
    this.rests.set(key, (this.rests.get(key) ?? 0n) + byMinor);
  }
}
