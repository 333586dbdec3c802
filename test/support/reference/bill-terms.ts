import type { Exemption } from './catalog';
import type { Redemption } from './redemption';

export interface BillCoupon {
  readonly redemption: Redemption;
  readonly isUsed: boolean;
  /**
   * True for a percentage with duration `once` that was used before: it could take off only discounts that had returned
   * to it.
   */
  readonly isLimited: boolean;
}

/** Coupons, taxes and period of a bill. */
export interface BillTerms {
  /** Invoice of the bill; null if the bill had no line and so no invoice. */
  readonly invoice: object | null;
  /** Start of the billing period. */
  readonly period: number;
  readonly taxes: readonly number[];
  readonly exemption: Exemption;
  readonly coupons: readonly BillCoupon[];
}

/** Terms of a line that adds usage to a bill. */
export interface Added {
  readonly period: number;
  readonly taxes: readonly number[];
  readonly exemption: Exemption;
  readonly coupons: readonly {
    readonly redemption: Redemption;
    /** Amount of the bill from which a percentage was taken off. */
    readonly base: bigint;
    /**
     * For a coupon with duration `once`: the part of the added amount that discounts left of the coupon may lower.
     * Otherwise 0.
     */
    readonly again: bigint;
    /**
     * True if the bill has not used the coupon, but the correction may. Always false for coupons with duration
     * `forever`.
     */
    readonly begins: boolean;
  }[];
}
