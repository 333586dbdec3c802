import type { DiscountShare, HeldLines } from '../../../core/invoice';

/**
 * A discount on billed lines. `billedFrom` is the start of the invoice period to which the discount belongs; null: the
 * invoice has no period.
 */
export interface HeldDiscount extends DiscountShare {
  readonly billedFrom: Date | null;
}

/**
 * Amounts left on billed lines after discounts and credits, in the form stored in traces. Includes the names of the tax
 * rates, because an invoice that credits the lines shows them.
 */
export interface HeldTerms extends HeldLines<HeldDiscount> {
  readonly taxes: readonly (HeldLines['taxes'][number] & { readonly name: string })[];
  /** Amount at list prices, before discounts and credits. */
  readonly listedMinor: bigint;
}
