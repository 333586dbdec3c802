/** Exact amounts of the reference: fractions of two integers with a positive denominator. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

export function fraction(over: bigint, under = 1n): Fraction {
  return { over, under };
}

/** Converts a decimal string: `12.5` becomes 125 / 10. */
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

/** Splits an amount by weights. Rounds as {@link shares} does. */
export function split(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const all = sum(weights);
  if (all === 0n) return weights.map(() => 0n);
  return shares(
    amount,
    weights.map((weight) => fraction(amount * weight, all)),
  );
}

/**
 * Splits an amount into whole parts that are close to exact parts. The amount must be the rounded sum of the exact
 * parts. Rounds each part down, and gives the units that are left to the largest remainders, then to the first parts.
 * Splits a negative amount like the positive one. If the amount is 0, the first part that is not 0 decides the sign.
 */
export function shares(amount: bigint, exact: readonly Fraction[]): readonly bigint[] {
  const decides = amount === 0n ? (exact.find(({ over }) => over !== 0n)?.over ?? 0n) : amount;
  if (decides < 0n) {
    return shares(
      -amount,
      exact.map(({ over, under }) => fraction(-over, under)),
    ).map((part) => -part);
  }
  const divided = exact.map(({ over, under }, index) => {
    const remainder = ((over % under) + under) % under;
    return { index, part: (over - remainder) / under, remainder, under };
  });
  const left = Number(amount - sum(divided.map(({ part }) => part)));
  const ranked = divided.toSorted(
    (one, other) =>
      Number(other.remainder * one.under - one.remainder * other.under) || one.index - other.index,
  );
  const raised = ranked.slice(0, left).map(({ index }) => index);
  return divided.map(({ part, index }) => (raised.includes(index) ? part + 1n : part));
}
