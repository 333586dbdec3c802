import { type AddedCoupon, type AddedDiscount, discountAdded } from '../../../core/discount';
import type { RedeemedCoupon } from '../../../core/discount';
import type { AppliedTaxRate, TaxTreatment } from '../../../core/tax';

export interface InvoiceRateTerms extends AppliedTaxRate {
  readonly name: string;
}

export interface BillCoupon {
  readonly redemptionId: string;
  readonly isUsed: boolean;
  /** True for a percentage coupon whose discount on the bill had an upper limit (`InvoiceCoupon.mostMinor`). */
  readonly isLimited: boolean;
}

/**
 * Discounts and taxes of the first bill: the invoice that first billed the usage of a period. They also apply to usage
 * of that period that is billed later.
 */
export interface BillTerms {
  /** Id of the first bill. Absent in data that was stored before this field was added. */
  readonly invoiceId?: string;
  /** Period start of the first bill; null if the bill has no period. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of the first bill; empty if the customer was exempt or under reverse charge. */
  readonly taxes: readonly InvoiceRateTerms[];
  readonly coupons: readonly BillCoupon[];
}

/** A coupon of the first bill of a period, with the amounts needed to discount usage that is billed later. */
export interface BilledByCoupon
  extends AddedCoupon, Pick<RedeemedCoupon, 'redeemedAt' | 'duration'> {
  /**
   * Present if the usage billed later may be the first use of the coupon. This is possible only for `repeating`
   * coupons, and for percentages with duration `once`.
   */
  readonly begins?: true;
}

/**
 * Discounts and taxes of the first bill: the invoice that first billed the usage of a period. Usage of that period that
 * is billed later gets the same ones, and stores this object in the trace of its line.
 */
export interface BilledBy extends Omit<BillTerms, 'coupons' | 'invoiceId'> {
  /** Percentages first. */
  readonly coupons: readonly BilledByCoupon[];
}

/**
 * Returns the discounts on usage that is billed after the first bill of its period; none if the amount is not positive.
 */
export function addedDiscounts(
  amountMinor: bigint,
  { coupons }: Pick<BilledBy, 'coupons'>,
): readonly AddedDiscount[] {
  return amountMinor <= 0n ? [] : discountAdded(amountMinor, coupons);
}
