import type { Rational } from '../decimal';
import type { AppliedCoupon } from '../discount';
import type { TaxRateTotal, TaxShare } from '../tax';

/** Purpose of an invoice line. `minimum` and `maximum`: a true-up to the minimum or maximum of a price. */
export type LineKind =
  'recurring' | 'usage' | 'proration' | 'one_off' | 'credit' | 'minimum' | 'maximum';

/** A line before discount and tax. The amount is rounded, and negative for a credit. */
export type LineAmount = {
  readonly lineId: string;
  readonly kind: LineKind;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly taxRateIds: readonly string[];
  /** Exact tax by tax rate id, for a line that keeps the tax of an earlier bill; negative for a credit. */
  readonly exactTaxes?: ReadonlyMap<string, Rational>;
  /** Discounts of a line that keeps the discounts of an earlier bill. Coupons of the invoice do not apply to it. */
  readonly fixedDiscounts?: readonly DiscountShare[];
};

export type DiscountShare = { readonly redemptionId: string; readonly amountMinor: bigint };

export type AssembledLine = LineAmount & {
  readonly discountMinor: bigint;
  /** Amount that each coupon took off the line. Coupons that took nothing are absent. */
  readonly discountShares: readonly DiscountShare[];
  /** Amount after discounts, without any tax. */
  readonly netMinor: bigint;
  /** Sum of inclusive and exclusive tax. */
  readonly taxMinor: bigint;
  readonly taxShares: readonly TaxShare[];
};

export type AppliedCredit = { readonly creditId: string; readonly amountMinor: bigint };

/** An invoice with every amount fixed: total = subtotal - discount + exclusive tax. */
export type AssembledInvoice = {
  readonly currency: string;
  readonly lines: readonly AssembledLine[];
  readonly subtotalMinor: bigint;
  readonly discountMinor: bigint;
  readonly coupons: readonly AppliedCoupon[];
  readonly exclusiveTaxMinor: bigint;
  readonly inclusiveTaxMinor: bigint;
  readonly taxRates: readonly TaxRateTotal[];
  readonly taxNote: 'exempt' | 'reverse_charge' | null;
  readonly totalMinor: bigint;
  readonly credits: readonly AppliedCredit[];
  readonly creditAppliedMinor: bigint;
  /** Amount left to pay; never negative. */
  readonly amountDueMinor: bigint;
  /** Amount that a negative total adds to the credit balance. An invoice with a negative total is paid at once. */
  readonly creditedToBalanceMinor: bigint;
};
