import { type AddedCoupon, type AddedDiscount, discountAdded } from '../../../core/discount';
import type { RedeemedCoupon } from '../../../core/discount';
import type { AppliedTaxRate, TaxTreatment } from '../../../core/tax';

export interface InvoiceRateTerms extends AppliedTaxRate {
  readonly name: string;
}

export interface BillCoupon {
  readonly redemptionId: string;
  readonly isUsed: boolean;
  /** True if the coupon is a percentage whose discount was limited: its `InvoiceCoupon` has a `mostMinor`. */
  readonly isLimited: boolean;
}

/** Discounts and taxes of the first bill of a period. They also apply to usage of the period that is billed later. */
export interface BillTerms {
  /** Absent in terms that were stored before this field was added. */
  readonly invoiceId?: string;
  /** Start of the period of the invoice that is the first bill; null if that invoice has no period. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of the bill's charges; empty if the customer was exempt or under reverse charge. */
  readonly taxes: readonly InvoiceRateTerms[];
  readonly coupons: readonly BillCoupon[];
}

/** A coupon of the first bill of a period, with the amounts needed to discount usage that is billed later. */
export interface BilledByCoupon
  extends AddedCoupon, Pick<RedeemedCoupon, 'redeemedAt' | 'duration'> {
  /**
   * Present if the usage billed later may be the first use of the coupon. Only for `repeating` coupons, and percentages
   * with duration `once`.
   */
  readonly begins?: true;
}

/**
 * Discounts and taxes of the first bill of a period. They also apply to usage of the period that is billed later, and
 * are stored in the trace of the line that bills it.
 */
export interface BilledBy {
  /** Start of the period of the invoice that is the first bill; null if that invoice has no period. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Tax rates of the bill's charges; empty if the customer was exempt or under reverse charge. */
  readonly taxes: readonly InvoiceRateTerms[];
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
