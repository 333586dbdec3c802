import { overCommonDenominator, roundToInteger, sum, type Rational } from '../decimal';
import { allocateShares } from '../money';

/** The tax of one rate on the lines of an invoice, in the order of the lines. */
export type RateSplit = {
  readonly inclusive: boolean;
  /** The tax of each line in minor units. The parts add up to the tax of the rate. */
  readonly partsMinor: readonly bigint[];
  /** The exact tax of each line, times `denominator`. */
  readonly numerators: readonly bigint[];
  readonly denominator: bigint;
};

/** Rounds the sum of the exact taxes once, half away from zero, and splits it over the lines by largest remainder. */
export function splitByExactTaxes(inclusive: boolean, exactTaxes: readonly Rational[]): RateSplit {
  const shares = overCommonDenominator(exactTaxes);
  const taxMinor = roundToInteger(sum(exactTaxes));
  const partsMinor = allocateShares(taxMinor, shares.numerators, shares.denominator);
  return { ...shares, inclusive, partsMinor };
}

/**
 * Moves tax between lines so that the inclusive taxes of a line do not exceed its amount. The tax of a single rate
 * never exceeds the amount. The taxes of two rates can, if both were rounded up: 0.01 + 0.01 on a line of 0.01 would
 * leave a net amount of -0.01.
 *
 * In this case, one minor unit of the tax of one rate moves to another line. On that line, the tax of this rate was
 * rounded down, and the taxes still fit after the move. Of several possible rates, the last one is chosen. Of several
 * possible lines, the line with the largest remainder is chosen; of equal remainders, the earlier line. The total tax
 * of each rate does not change, and each part stays within one minor unit of its exact share. With three or more high
 * rates on tiny lines, no such line may exist. The taxes then still exceed the amount.
 */
export function withinAmounts(
  amountsMinor: readonly bigint[],
  splits: readonly RateSplit[],
): readonly RateSplit[] {
  const moved = splits.map((split) => ({ ...split, partsMinor: [...split.partsMinor] }));
  const inclusive = moved.filter((split) => split.inclusive).reverse();
  if (inclusive.length < 2) return splits;

  const isExceeded = (line: number, addedMinor = 0n): boolean => {
    const amountMinor = amountsMinor[line] ?? 0n;
    const taxMinor = inclusive.reduce((all, split) => all + partOf(split, line), addedMinor);
    return amountMinor < 0n ? taxMinor < amountMinor : taxMinor > amountMinor;
  };
  amountsMinor.forEach((amountMinor, from) => {
    const unit = amountMinor < 0n ? -1n : 1n;
    for (const split of isExceeded(from) ? inclusive : []) {
      const receivers = amountsMinor
        .map((_, line) => ({ line, remainder: remainderOf(split, line) * unit }))
        .filter(({ line, remainder }) => remainder > 0n && !isExceeded(line, unit));
      const [first, ...others] = receivers;
      if (first === undefined || remainderOf(split, from) * unit >= 0n) continue;
      const to = others.reduce((best, one) => (one.remainder > best.remainder ? one : best), first);
      split.partsMinor[from] = partOf(split, from) - unit;
      split.partsMinor[to.line] = partOf(split, to.line) + unit;
      if (!isExceeded(from)) break;
    }
  });
  return moved;
}

function partOf({ partsMinor }: RateSplit, line: number): bigint {
  return partsMinor[line] ?? 0n;
}

/** Returns (exact tax - rounded tax) of a line, times the denominator. Positive if the tax was rounded down. */
function remainderOf(split: RateSplit, line: number): bigint {
  return (split.numerators[line] ?? 0n) - partOf(split, line) * split.denominator;
}
