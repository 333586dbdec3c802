import type { Exemption } from './catalog';
import type { Redemption } from './redemption';

export interface BillCoupon {
  readonly redemption: Redemption;
  readonly isUsed: boolean;
  /** True for a percentage that could only take off discounts that had returned to it. */
  readonly isLimited: boolean;
}

/** Terms of the invoice of a bill. */
export interface BillTerms {
  /** Invoice of the bill; null if the bill had no line and so no invoice. */
  readonly invoice: object | null;
  /** Start of its billing period. */
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
    /** Amount of the bill that a percentage has discounted already. */
    readonly base: bigint;
    /** Part of the added amount that a coupon with duration `once` discounts from its rest; 0 for other coupons. */
    readonly again: bigint;
    /** True if the bill has not used the coupon, so that the correction uses it. */
    readonly begins: boolean;
  }[];
}
