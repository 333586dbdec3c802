import { type AddedCoupon, type AddedDiscount, discountAdded } from '../../../core/discount';
import type { RedeemedCoupon } from '../../../core/discount';
import type { AppliedTaxRate, TaxTreatment } from '../../../core/tax';

/** A tax rate that an invoice applies, with its name. */
export interface InvoiceRateTerms extends AppliedTaxRate {
  readonly name: string;
}

export interface BillCoupon {
  readonly redemptionId: string;
  /** True if the coupon discounted the bill. */
  readonly isUsed: boolean;
  /** True if the coupon is a percentage with a limited discount: `mostMinor` of its `InvoiceCoupon` is not null. */
  readonly isLimited: boolean;
}

/** Discounts and taxes of the first bill of a period. They also apply to usage of that period that is billed later. */
export interface BillTerms {
  /** Absent in terms that were stored before the field existed. */
  readonly invoiceId?: string;
  /** Start of the invoice period of the first bill; null: the invoice has no period. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of the bill's charges; empty if the customer was exempt or reverse-charged. */
  readonly taxes: readonly InvoiceRateTerms[];
  readonly coupons: readonly BillCoupon[];
}

/** A coupon of the first bill of a period, with the amounts needed to discount late usage of that period. */
export interface BilledByCoupon
  extends AddedCoupon, Pick<RedeemedCoupon, 'redeemedAt' | 'duration'> {
  /**
   * Present if the usage correction may be the first use of the coupon, and the coupon is either `repeating` or a
   * percentage with duration `once`.
   */
  readonly begins?: true;
}

/**
 * Discounts and taxes of the first bill of a period, which also apply to late usage of that period. The trace of the
 * line that bills the late usage stores them.
 */
export interface BilledBy {
  /** Start of the invoice period of the first bill; null: the invoice has no period. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of the bill's charges; empty if the customer was exempt or reverse-charged. */
  readonly taxes: readonly InvoiceRateTerms[];
  /** Coupons of the first bill, percentages first. */
  readonly coupons: readonly BilledByCoupon[];
}

/** Returns the discounts on late usage of the given amount; none if the amount is 0 or negative. */
export function addedDiscounts(
  amountMinor: bigint,
  { coupons }: Pick<BilledBy, 'coupons'>,
): readonly AddedDiscount[] {
  return amountMinor <= 0n ? [] : discountAdded(amountMinor, coupons);
}
