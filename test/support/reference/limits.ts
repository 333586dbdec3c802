import type { ModelPrice } from './catalog';
import { type BilledLine, UNTOUCHED } from './line';
import { type Fraction, fraction, rounded, split, sum, times } from './money';

/** Applies the minimum and maximum of a price to the cost of a period. Each limit is prorated and rounded once. */
export function within(amount: bigint, { minimum, maximum }: ModelPrice, part: Fraction): bigint {
  const [lowest, highest] = [minimum, maximum].map((limit) =>
    limit === undefined ? undefined : rounded(times(fraction(limit), part)),
  );
  if (lowest !== undefined && amount < lowest) return lowest;
  return highest !== undefined && amount > highest ? highest : amount;
}

/** Returns the true-up line of a price, if one is needed. Coupons do not discount the amount that a maximum took off. */
export function trueUp(
  price: ModelPrice,
  lines: readonly BilledLine[],
  like: Omit<BilledLine, 'type' | 'amount'>,
): readonly BilledLine[] {
  const billed = sum(lines.map(({ amount }) => amount));
  const off = within(billed, price, like.part) - billed;
  if (off === 0n) return [];
  if (off > 0n) return [{ ...like, ...UNTOUCHED, type: 'minimum', amount: off }];
  const shares = split(
    -off,
    lines.map(({ amount }) => amount),
  );
  lines.forEach((line, index) => {
    line.capped = shares[index] ?? 0n;
  });
  return [{ ...like, ...UNTOUCHED, type: 'maximum', amount: off }];
}
