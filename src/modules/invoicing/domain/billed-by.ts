import { type AddedCoupon, type AddedDiscount, discountAdded } from '../../../core/discount';
import type { RedeemedCoupon } from '../../../core/discount';
import type { AppliedTaxRate, TaxTreatment } from '../../../core/tax';

/** A tax rate as an invoice applies it. */
export interface InvoiceRateTerms extends AppliedTaxRate {
  readonly name: string;
}

export interface BillCoupon {
  readonly redemptionId: string;
  /** True if the coupon discounted the bill. */
  readonly isUsed: boolean;
  /** True if the percentage was limited to discounts that credits had returned to it. */
  readonly isLimited: boolean;
}

/** Discounts and taxes of the bill of a period. They also apply to usage of the period that is billed later. */
export interface BillTerms {
  /** Absent in terms that were stored before the field existed. */
  readonly invoiceId?: string;
  /** Start of the period of the invoice. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of its charges; empty for a customer without tax. */
  readonly taxes: readonly InvoiceRateTerms[];
  readonly coupons: readonly BillCoupon[];
}

/** A coupon of the bill that usage is added to. */
export interface BilledByCoupon
  extends AddedCoupon, Pick<RedeemedCoupon, 'redeemedAt' | 'duration'> {
  /** Present if the bill did not use the coupon, so that the correction is its first use. */
  readonly begins?: true;
}

/** Terms of the bill that usage is added to, as a trace stores them. */
export interface BilledBy {
  /** Start of the period of the invoice of that bill. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of its charges; empty for a customer without tax. */
  readonly taxes: readonly InvoiceRateTerms[];
  /** Coupons of that bill, percentages first. */
  readonly coupons: readonly BilledByCoupon[];
}

/** Returns the discounts of an amount that is added to a bill; none if the amount is negative. */
export function addedDiscounts(
  amountMinor: bigint,
  { coupons }: Pick<BilledBy, 'coupons'>,
): readonly AddedDiscount[] {
  return amountMinor <= 0n ? [] : discountAdded(amountMinor, coupons);
}
