import { invariant } from '../invariant';
import { total } from './total';

/**
 * Splits `amountMinor` in proportion to `weights` by largest remainder. Every part is rounded towards zero. The
 * remaining minor units go, one each, to the parts with the largest remainders. Of equal remainders, the earlier part
 * comes first. The parts add up to the amount and have its sign. Each part differs from its exact share by less than
 * one minor unit. A weight of zero gets zero.
 * @throws InvariantError on a negative weight, or when all weights are zero and the amount is not.
 */
export function allocate(amountMinor: bigint, weights: readonly bigint[]): bigint[] {
  let totalWeight = 0n;
  for (const weight of weights) {
    invariant(weight >= 0n, 'a weight is not negative');
    totalWeight += weight;
  }
  if (amountMinor === 0n) {
    return weights.map(() => 0n);
  }
  invariant(totalWeight > 0n, 'at least one weight is above zero');
  return allocateShares(
    amountMinor,
    weights.map((weight) => amountMinor * weight),
    totalWeight,
  );
}

/**
 * Splits `amountMinor` by largest remainder into whole parts near the exact shares `shareNumerators[i] / denominator`.
 * - `amountMinor` is the rounded sum of the shares. Shares may differ in sign, such as taxes of a charge and of a
 *   credit.
 * - All shares are rounded down. The remaining minor units go, one each, to the largest remainders. Whole shares stay.
 * - A negative amount is split like its positive counterpart, with all signs reversed before and after. An amount of
 *   zero counts as negative if the first share that is not zero is negative.
 * @throws InvariantError when `amountMinor` differs from the sum of the shares by one minor unit or more, or when
 *   `denominator` is not positive.
 */
export function allocateShares(
  amountMinor: bigint,
  shareNumerators: readonly bigint[],
  denominator: bigint,
): bigint[] {
  invariant(denominator > 0n, 'shares have a positive denominator');
  const gap = amountMinor * denominator - total(shareNumerators);
  invariant(gap < denominator && gap > -denominator, 'the amount is the rounded sum of its shares');

  const first = shareNumerators.find((share) => share !== 0n) ?? 0n;
  const sign = (amountMinor === 0n ? first : amountMinor) < 0n ? -1n : 1n;
  const parts = shareNumerators.map((share) => floorDivide(share * sign, denominator));
  const left = amountMinor * sign - total(parts);
  const byRemainder = shareNumerators
    .map((share, index) => ({
      remainder: share * sign - (parts[index] ?? 0n) * denominator,
      index,
    }))
    .filter(({ remainder }) => remainder > 0n)
    .sort((a, b) => Number(b.remainder - a.remainder) || a.index - b.index);
  const receivers = new Set(byRemainder.slice(0, Number(left)).map(({ index }) => index));
  const whole = parts.map((part, index) => (receivers.has(index) ? part + 1n : part) * sign);

  invariant(total(whole) === amountMinor, 'parts add up to the whole');
  return whole;
}

/** Divides and rounds down, for negative numbers too. */
function floorDivide(numerator: bigint, denominator: bigint): bigint {
  const cut = numerator / denominator;
  return cut * denominator > numerator ? cut - 1n : cut;
}
