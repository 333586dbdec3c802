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

/**
 * Rounds the sum of the exact taxes once, half away from zero. Splits the rounded tax over the lines by largest
 * remainder.
 */
export function splitByExactTaxes(inclusive: boolean, exactTaxes: readonly Rational[]): RateSplit {
  const shares = overCommonDenominator(exactTaxes);
  const taxMinor = roundToInteger(sum(exactTaxes));
  const partsMinor = allocateShares(taxMinor, shares.numerators, shares.denominator);
  return { ...shares, inclusive, partsMinor };
}

/**
 * Moves tax between lines so that the inclusive taxes of a line do not exceed its amount. They can exceed it if the
 * taxes of two rates were both rounded up: taxes of 0.01 + 0.01 on a line of 0.01 would leave a net amount of -0.01.
 * - One minor unit of the tax of one rate then moves to another line. On that line, the tax of the rate was rounded
 *   down, and the taxes still fit with one unit more. The total tax of each rate stays the same.
 * - The last possible rate is chosen, and the line with the largest remainder; of equal remainders, the earlier line.
 * - With three or more high rates on tiny lines, no line may be possible. The taxes then still exceed the amount.
 */
export function withinAmounts(
  amountsMinor: readonly bigint[],
  splits: readonly RateSplit[],
): readonly RateSplit[] {
  const moved = splits.map((split) => ({ ...split, partsMinor: [...split.partsMinor] }));
  const inclusive = moved.filter((split) => split.inclusive).reverse();
  const isExceeded = (line: number, addedMinor = 0n): boolean => {
    const amountMinor = amountsMinor[line] ?? 0n;
    const taxMinor = inclusive.reduce((all, split) => all + partOf(split, line), addedMinor);
    return amountMinor < 0n ? taxMinor < amountMinor : taxMinor > amountMinor;
  };
  const exceeded = [...amountsMinor.keys()].filter((line) => isExceeded(line));
  if (inclusive.length < 2 || exceeded.length === 0) return splits;

  const rates = inclusive.map((split) => ({
    split,
    up: { lines: byRemainder(split, 1n), next: 0 },
    down: { lines: byRemainder(split, -1n), next: 0 },
  }));
  for (const from of exceeded) {
    const isCredit = (amountsMinor[from] ?? 0n) < 0n;
    const unit = isCredit ? -1n : 1n;
    for (const { split, up, down } of rates) {
      if (!isExceeded(from)) break;
      if (remainderOf(split, from) * unit >= 0n) continue;
      const to = nextOf(
        isCredit ? down : up,
        (line) => remainderOf(split, line) * unit > 0n && !isExceeded(line, unit),
      );
      if (to === undefined) continue;
      split.partsMinor[from] = partOf(split, from) - unit;
      split.partsMinor[to] = partOf(split, to) + unit;
      // Both lines may now take a unit in the other direction.
      for (const rate of rates) (isCredit ? rate.up : rate.down).next = 0;
    }
  }
  return moved;
}

/**
 * Lines that may take a minor unit of a tax, in the order to try them. The lines before index `next` were tried and
 * cannot.
 */
type Receivers = { readonly lines: readonly number[]; next: number };

/**
 * Returns the lines whose exact tax has a remainder, the largest remainder first. With `unit` -1, the signs of all
 * taxes are reversed first.
 */
function byRemainder({ numerators, denominator }: RateSplit, unit: bigint): readonly number[] {
  return numerators
    .map((numerator, line) => {
      const cut = (numerator * unit) % denominator;
      return { line, remainder: cut < 0n ? cut + denominator : cut };
    })
    .filter(({ remainder }) => remainder > 0n)
    .sort((one, other) => Number(other.remainder - one.remainder) || one.line - other.line)
    .map(({ line }) => line);
}

/** Returns the first line that can take a unit; undefined if there is none. */
function nextOf(receivers: Receivers, canTake: (line: number) => boolean): number | undefined {
  const { lines } = receivers;
  let line = lines[receivers.next];
  while (line !== undefined && !canTake(line)) line = lines[(receivers.next += 1)];
  return line;
}

function partOf({ partsMinor }: RateSplit, line: number): bigint {
  return partsMinor[line] ?? 0n;
}

/** Returns (exact tax - rounded tax) of a line, times the denominator. Positive if the tax was rounded down. */
function remainderOf(split: RateSplit, line: number): bigint {
  return (split.numerators[line] ?? 0n) - partOf(split, line) * split.denominator;
}
