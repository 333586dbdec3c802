import type { DiscountShare, HeldLines } from '../../../core/invoice';

/** A discount of a billed line that returns to its coupon, with the start of the period it was taken in. */
export interface HeldDiscount extends DiscountShare {
  readonly billedFrom: Date | null;
}

/** Amounts that billed lines still hold, as a trace stores them. The invoice that credits them shows the rate names. */
export interface HeldTerms extends HeldLines<HeldDiscount> {
  readonly taxes: readonly (HeldLines['taxes'][number] & { readonly name: string })[];
  /** The amounts as listed, before discounts and credits. */
  readonly listedMinor: bigint;
}
