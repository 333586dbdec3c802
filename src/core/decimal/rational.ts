import { invariant } from '../invariant';
import { roundHalfAwayFromZero } from '../money';

/**
 * An exact fraction in lowest terms with a positive denominator, so that equal numbers have equal fields. Make it only
 * with {@link rational} or from a decimal string.
 */
export type Rational = { readonly numerator: bigint; readonly denominator: bigint };

export const ZERO: Rational = { numerator: 0n, denominator: 1n };

/**
 * Returns `numerator / denominator` in lowest terms.
 * @throws InvariantError when the denominator is zero.
 */
export function rational(numerator: bigint, denominator = 1n): Rational {
  invariant(denominator !== 0n, 'a ratio has a denominator');
  if (denominator === 1n) {
    return { numerator, denominator };
  }
  const divisor = greatestCommonDivisor(numerator, denominator);
  const sign = denominator < 0n ? -1n : 1n;
  return {
    numerator: (sign * numerator) / divisor,
    denominator: (sign * denominator) / divisor,
  };
}

export function add(left: Rational, right: Rational): Rational {
  return rational(
    left.numerator * right.denominator + right.numerator * left.denominator,
    left.denominator * right.denominator,
  );
}

export function subtract(left: Rational, right: Rational): Rational {
  return add(left, { numerator: -right.numerator, denominator: right.denominator });
}

export function multiply(left: Rational, right: Rational): Rational {
  return rational(left.numerator * right.numerator, left.denominator * right.denominator);
}

/** @throws InvariantError when `right` is zero. */
export function divide(left: Rational, right: Rational): Rational {
  return rational(left.numerator * right.denominator, left.denominator * right.numerator);
}

/** Returns the exact sum of the values. The sum of an empty list is zero. */
export function sum(values: Iterable<Rational>): Rational {
  let numerator = 0n;
  let denominator = 1n;
  for (const value of values) {
    if (denominator % value.denominator !== 0n) {
      const common = leastCommonMultiple(denominator, value.denominator);
      numerator *= common / denominator;
      denominator = common;
    }
    numerator += value.numerator * (denominator / value.denominator);
  }
  return rational(numerator, denominator);
}

/** Returns -1 if `left` is less than `right`, 0 if they are equal, and 1 if `left` is greater. */
export function compare(left: Rational, right: Rational): -1 | 0 | 1 {
  const gap = left.numerator * right.denominator - right.numerator * left.denominator;
  return gap < 0n ? -1 : gap > 0n ? 1 : 0;
}

export function lesserOf(left: Rational, right: Rational): Rational {
  return compare(left, right) <= 0 ? left : right;
}

export function greaterOf(left: Rational, right: Rational): Rational {
  return compare(left, right) >= 0 ? left : right;
}

export function ceiling(value: Rational): bigint {
  const quotient = value.numerator / value.denominator;
  const isWhole = value.numerator % value.denominator === 0n;
  return isWhole || value.numerator < 0n ? quotient : quotient + 1n;
}

/**
 * Returns the integer nearest to `value`, halves away from zero. Use it only on the final amount of a line, not on
 * the parts that add up to the amount.
 */
export function roundToInteger(value: Rational): bigint {
  return roundHalfAwayFromZero(value.numerator, value.denominator);
}

/** Returns `values` as numerators over their least common denominator, in the order given. */
export function overCommonDenominator(values: readonly Rational[]): {
  numerators: bigint[];
  denominator: bigint;
} {
  const denominator = values.reduce(
    (common, value) => leastCommonMultiple(common, value.denominator),
    1n,
  );
  const numerators = values.map((value) => value.numerator * (denominator / value.denominator));
  return { numerators, denominator };
}

function leastCommonMultiple(left: bigint, right: bigint): bigint {
  return (left / greatestCommonDivisor(left, right)) * right;
}

function greatestCommonDivisor(left: bigint, right: bigint): bigint {
  let [larger, smaller] = [left < 0n ? -left : left, right < 0n ? -right : right];
  while (smaller !== 0n) {
    [larger, smaller] = [smaller, larger % smaller];
  }
  return larger;
}
