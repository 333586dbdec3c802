import { invariant } from '../invariant';

/**
 * Splits `amountMinor` in proportion to `weights` by largest remainder: every part is cut towards
 * zero, and the minor units left over go one each to the parts that lost most, ties to the earlier
 * part. The parts add up to the amount, carry its sign, stay within one minor unit of their exact
 * share, and are zero where the weight is zero.
 *
 * @throws InvariantError on a negative weight, or when there is an amount but no weight to put it
 * on.
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
  invariant(totalWeight > 0n, 'an amount needs a weight to be put on');
  return allocateShares(
    amountMinor,
    weights.map((weight) => amountMinor * weight),
    totalWeight,
  );
}

/**
 * Splits `amountMinor`, which is the rounded sum of the exact shares `shareNumerators[i] /
 * denominator`, into whole parts by largest remainder, as {@link allocate} does. Shares may differ
 * in sign (tax on a charge and on a credit, rounded once together); mirrored shares give mirrored
 * parts, and a share that is whole is left as it is.
 *
 * @throws InvariantError unless `amountMinor` is within one minor unit of the sum of the shares, or
 * when `denominator` is not positive.
 */
export function allocateShares(
  amountMinor: bigint,
  shareNumerators: readonly bigint[],
  denominator: bigint,
): bigint[] {
  invariant(denominator > 0n, 'shares have a positive denominator');
  // bigint division and remainder both cut towards zero, so a remainder has the sign of its share.
  const parts = shareNumerators.map((share) => share / denominator);
  const remainders = shareNumerators.map((share) => share % denominator);
  const left = amountMinor - sum(parts);
  const gap = left * denominator - sum(remainders);
  invariant(gap < denominator && gap > -denominator, 'the amount is the rounded sum of its shares');

  const unit = left < 0n ? -1n : 1n;
  const byLoss = remainders
    .map((remainder, index) => ({ loss: remainder * unit, index }))
    .filter(({ loss }) => loss > 0n)
    .sort((a, b) => (a.loss === b.loss ? a.index - b.index : a.loss > b.loss ? -1 : 1));
  const receivers = new Set(byLoss.slice(0, Number(left * unit)).map(({ index }) => index));
  const whole = parts.map((part, index) => (receivers.has(index) ? part + unit : part));

  invariant(sum(whole) === amountMinor, 'parts add up to the whole');
  return whole;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
