import { greaterOf, lesserOf, rational, type Rational } from '../decimal';
import { invariant } from '../invariant';
import { multiplyByRatio } from '../money';
import type { Proration } from '../proration';

export type TrueUp = { readonly kind: 'minimum' | 'maximum'; readonly amountMinor: bigint };

/**
 * Returns the true-up of a period, or null if none is needed. It lifts the billed amount to the minimum (positive
 * amount), or lowers it to the maximum (negative amount). `limits` are for the full period. Each limit is multiplied by
 * `proration` and rounded once, half away from zero.
 * @param billedMinor total billed for the price in the period, earlier true-ups included
 * @throws InvariantError when the minimum is above the maximum, or a limit is negative.
 */
export function trueUp(
  billedMinor: bigint,
  limits: { readonly minimumMinor: bigint | null; readonly maximumMinor: bigint | null },
  proration: Proration | null,
): TrueUp | null {
  const minimum = prorated(limits.minimumMinor, proration);
  const maximum = prorated(limits.maximumMinor, proration);
  invariant(
    minimum === null || maximum === null || minimum <= maximum,
    'a minimum is at most the maximum',
  );
  if (minimum !== null && billedMinor < minimum) {
    return { kind: 'minimum', amountMinor: minimum - billedMinor };
  }
  if (maximum !== null && billedMinor > maximum) {
    return { kind: 'maximum', amountMinor: maximum - billedMinor };
  }
  return null;
}

/** Returns `fullAmount`, an exact cost in minor units, raised to the minimum or lowered to the maximum. */
export function withinLimits(
  fullAmount: Rational,
  {
    minimumMinor,
    maximumMinor,
  }: { readonly minimumMinor: bigint | null; readonly maximumMinor: bigint | null },
): Rational {
  const lifted = minimumMinor === null ? fullAmount : greaterOf(fullAmount, rational(minimumMinor));
  return maximumMinor === null ? lifted : lesserOf(lifted, rational(maximumMinor));
}

function prorated(limitMinor: bigint | null, proration: Proration | null): bigint | null {
  invariant(limitMinor === null || limitMinor >= 0n, 'a limit is not negative');
  if (limitMinor === null || proration === null) {
    return limitMinor;
  }
  return multiplyByRatio(limitMinor, proration.numerator, proration.denominator);
}
