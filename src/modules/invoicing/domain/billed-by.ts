import { type AddedCoupon, type AddedDiscount, discountAdded } from '../../../core/discount';
import type { RedeemedCoupon } from '../../../core/discount';
import type { AppliedTaxRate, TaxTreatment } from '../../../core/tax';

/** A tax rate as an invoice applies it. */
export interface InvoiceRateTerms extends AppliedTaxRate {
  readonly name: string;
}

/** A coupon of a bill. */
export interface BillCoupon {
  readonly redemptionId: string;
  /** True if it took something off. */
  readonly isUsed: boolean;
  /** True for a percentage that was limited to what had returned to it. */
  readonly isLimited: boolean;
}

/** Terms of the bill of a period, by which later usage of the period is discounted and taxed. */
export interface BillTerms {
  /** The invoice; absent in terms that were kept before they named it. */
  readonly invoiceId?: string;
  /** Start of the period of the invoice. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Rates of its charges; none for a customer without tax. */
  readonly taxes: readonly InvoiceRateTerms[];
  readonly coupons: readonly BillCoupon[];
}

/** A coupon of the bill that usage is added to. */
export interface BilledByCoupon
  extends AddedCoupon, Pick<RedeemedCoupon, 'redeemedAt' | 'duration'> {
  /** Present if the bill has not used the coupon, so that the correction uses it. */
  readonly begins?: true;
}

/** Terms of the bill that usage is added to, as a trace stores them. */
export interface BilledBy {
  /** Start of the period of its invoice. */
  readonly billedFrom: Date | null;
  readonly taxTreatment: TaxTreatment;
  /** Rates of its charges; none for a customer without tax. */
  readonly taxes: readonly InvoiceRateTerms[];
  /** Percentages first. */
  readonly coupons: readonly BilledByCoupon[];
}

/** Returns the discounts of an amount that is added to a bill; none where something is taken back. */
export function addedDiscounts(
  amountMinor: bigint,
  { coupons }: Pick<BilledBy, 'coupons'>,
): readonly AddedDiscount[] {
  return amountMinor <= 0n ? [] : discountAdded(amountMinor, coupons);
}
