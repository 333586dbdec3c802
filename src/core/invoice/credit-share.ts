import {
  ceiling,
  compare,
  lesserOf,
  multiply,
  rational,
  roundToInteger,
  ZERO,
  type Rational,
} from '../decimal';
import { invariant } from '../invariant';
import { allocate } from '../money';
import { type AppliedTaxRate, exactTaxesOf } from '../tax';
import type { DiscountShare } from './line';

/** A tax rate of finalized lines. `leftMinor` is the tax that was billed and not credited yet, in minor units. */
export type HeldTax = AppliedTaxRate & { readonly leftMinor: bigint };

/** Amounts of finalized lines that credits have not taken back yet. */
export type HeldLines<Share extends DiscountShare = DiscountShare> = {
  /** Amount of the lines after discounts and earlier credits. Contains inclusive tax, but not exclusive tax. */
  readonly heldMinor: bigint;
  readonly taxes: readonly HeldTax[];
  /**
   * True: the tax of a part is computed with the tax rates. False: a part gets a proportional share of the tax that is
   * left. False is required if the lines have different tax rates.
   */
  readonly hasOneSetOfRates: boolean;
  /** Discounts of the lines. A credit returns its share of each discount to the coupon. */
  readonly discounts: readonly Share[];
};

/** Credit for a share of {@link HeldLines}, in positive minor units. */
export type CreditedShare<Share extends DiscountShare = DiscountShare> = {
  readonly amountMinor: bigint;
  readonly discounts: readonly Share[];
};

/**
 * Returns the credit for a share of {@link HeldLines}. The credited amount is rounded once, half away from zero. The
 * same share of the sum of the discounts goes back to the coupons. It is also rounded once, and then split over the
 * discounts by largest remainder.
 * @param share from 0 to 1
 * @param limitMinor maximum of the credited amount; null: no maximum. A maximum that lowers the credit also lowers the
 *   returned discounts in proportion.
 */
export function creditShare<Share extends DiscountShare>(
  held: HeldLines<Share>,
  share: Rational,
  limitMinor: bigint | null = null,
): CreditedShare<Share> {
  invariant(
    compare(share, ZERO) >= 0 && compare(share, rational(1n)) <= 0,
    'a credit takes back a share from 0 to 1',
  );
  const { heldMinor, discounts } = held;
  const part = (amountMinor: bigint) =>
    amountMinor <= 0n ? 0n : roundToInteger(multiply(rational(amountMinor), share));
  if (limitMinor !== null && limitMinor < part(heldMinor)) {
    return creditShare(held, rational(limitMinor, heldMinor));
  }
  const given = discounts.filter(({ amountMinor }) => amountMinor > 0n);
  const weights = given.map(({ amountMinor }) => amountMinor);
  const returned = allocate(part(weights.reduce((total, weight) => total + weight, 0n)), weights);
  return {
    amountMinor: part(heldMinor),
    discounts: given
      .map((one, index) => ({ ...one, amountMinor: returned[index] ?? 0n }))
      .filter(({ amountMinor }) => amountMinor > 0n),
  };
}

/**
 * Returns the exact tax of `amountMinor`, a part of {@link HeldLines}, by tax rate id, in minor units.
 * - With `hasOneSetOfRates`: applies the rates to the part, up to the tax that is left.
 * - Otherwise: splits the tax that is left at each rate in proportion. Half of the held amount gets half of the tax.
 * - The last part gets all tax that is left, so that the credits together return exactly the billed tax.
 */
export function taxOfPart(
  { heldMinor, taxes, hasOneSetOfRates }: HeldLines,
  amountMinor: bigint,
): ReadonlyMap<string, Rational> {
  const exact = exactTaxesOf(amountMinor, taxes);
  const share =
    heldMinor > 0n && amountMinor < heldMinor ? rational(amountMinor, heldMinor) : rational(1n);
  const exactOf = (rate: HeldTax): Rational => {
    const left = rational(rate.leftMinor);
    if (amountMinor === 0n) return ZERO;
    if (!hasOneSetOfRates || amountMinor >= heldMinor) return multiply(left, share);
    return lesserOf(exact.get(rate.taxRateId) ?? ZERO, left);
  };
  return new Map(taxes.map((rate) => [rate.taxRateId, exactOf(rate)]));
}

/**
 * Returns the highest possible sum of `amountMinor`, a part of {@link HeldLines}, and the exclusive tax on it. Rounds
 * each tax up, because the invoice with the credit may round it up too.
 */
export function maxWithTax(held: HeldLines, amountMinor: bigint): bigint {
  const taxes = taxOfPart(held, amountMinor);
  return held.taxes
    .filter(({ inclusive }) => !inclusive)
    .reduce((total, { taxRateId }) => total + ceiling(taxes.get(taxRateId) ?? ZERO), amountMinor);
}

/** Returns the largest amount up to `amountMinor` for which {@link maxWithTax} is at most `limitMinor`. */
export function partWithin(held: HeldLines, amountMinor: bigint, limitMinor: bigint): bigint {
  let [fits, exceeds] = [0n, amountMinor + 1n];
  while (exceeds - fits > 1n) {
    const middle = (fits + exceeds) / 2n;
    if (maxWithTax(held, middle) <= limitMinor) fits = middle;
    else exceeds = middle;
  }
  return fits;
}
