/** Exact amounts of the reference: fractions of two integers with a positive denominator. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

export function fraction(over: bigint, under = 1n): Fraction {
  return { over, under };
}

/** `"12.5"` as 125 / 10. */
export function fromDecimal(text: string): Fraction {
  const [whole = '0', decimals = ''] = text.split('.');
  return { over: BigInt(whole + decimals), under: 10n ** BigInt(decimals.length) };
}

export function times(one: Fraction, other: Fraction): Fraction {
  return { over: one.over * other.over, under: one.under * other.under };
}

export function plus(one: Fraction, other: Fraction): Fraction {
  return {
    over: one.over * other.under + other.over * one.under,
    under: one.under * other.under,
  };
}

/** Rounds half away from zero. */
export function rounded({ over, under }: Fraction): bigint {
  const magnitude = over < 0n ? -over : over;
  const whole = (2n * magnitude + under) / (2n * under);
  return over < 0n ? -whole : whole;
}

export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

export function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** Splits a whole by weight; units left over go to the parts that lost most, then to the first. */
export function split(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const all = sum(weights);
  if (all === 0n) return weights.map(() => 0n);
  return shares(
    amount,
    weights.map((weight) => fraction(amount * weight, all)),
  );
}

/**
 * Splits a whole into the parts that it is the sum of: each is truncated, and the rest is split as by {@link split}.
 * Where charges and credits are mixed, it goes to parts whose loss has its sign.
 */
export function shares(amount: bigint, exact: readonly Fraction[]): readonly bigint[] {
  const parts = exact.map(({ over, under }) => over / under);
  const left = amount - sum(parts);
  const unit = left < 0n ? -1n : 1n;
  const losses = exact.map(({ over, under }, index) => ({ loss: (over % under) * unit, index }));
  losses.sort((one, other) => Number(other.loss - one.loss) || one.index - other.index);
  for (const { index } of losses.slice(0, Number(left * unit))) {
    parts[index] = (parts[index] ?? 0n) + unit;
  }
  return parts;
}
