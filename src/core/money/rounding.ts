import { invariant } from '../invariant';

/**
 * Returns the integer nearest to `numerator / denominator`, halves away from zero: 1/2 gives 1, -1/2 gives -1. Use it
 * only to round the final amount of a line, not the parts that add up to the amount.
 * @throws InvariantError when `denominator` is zero.
 */
export function roundHalfAwayFromZero(numerator: bigint, denominator: bigint): bigint {
  invariant(denominator !== 0n, 'a ratio has a denominator');
  const isNegative = numerator < 0n !== denominator < 0n;
  const dividend = absolute(numerator);
  const divisor = absolute(denominator);
  const rounded = (2n * dividend + divisor) / (2n * divisor);
  return isNegative ? -rounded : rounded;
}

/**
 * Returns `amountMinor` x `numerator` / `denominator`, rounded once, half away from zero.
 * @throws InvariantError when `denominator` is zero.
 */
export function multiplyByRatio(
  amountMinor: bigint,
  numerator: bigint,
  denominator: bigint,
): bigint {
  return roundHalfAwayFromZero(amountMinor * numerator, denominator);
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
