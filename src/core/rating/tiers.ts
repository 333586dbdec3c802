import { compare, lesserOf, parseDecimal, subtract, ZERO, type Rational } from '../decimal';
import { invariant } from '../invariant';
import type { GraduatedPrice, Tier, VolumePrice } from './price';
import { ratedAmount, step, type RatedAmount, type TraceStep } from './trace';

type BoundedTier = { readonly tier: Tier; readonly index: number; readonly from: Rational } & (
  { readonly isLast: true } | { readonly isLast: false; readonly upTo: Rational }
);

/**
 * Returns the exact graduated amount for `quantity`. The trace has one step for each tier that the quantity reaches:
 * the units in the tier at its unit amount, plus its flat amount.
 * @throws InvariantError if the tiers do not ascend. Also if the last tier has an upper bound, or another tier has
 *   none.
 */
export function rateGraduated(price: GraduatedPrice, quantity: Rational): RatedAmount {
  const steps: TraceStep[] = [];
  for (const bounded of boundTiers(price.tiers)) {
    if (!isReached(bounded, quantity, price.chargeFlatAtZero)) {
      break;
    }
    const upTo = bounded.isLast ? quantity : lesserOf(quantity, bounded.upTo);
    steps.push(tierStep(bounded, subtract(upTo, bounded.from)));
  }
  return ratedAmount(steps);
}

/**
 * Returns the exact volume amount for `quantity`: all units at the unit amount of one tier, plus that tier's flat
 * amount. A quantity on a bound belongs to the tier that ends there. A quantity of zero belongs to the first tier. It
 * costs the flat amount of this tier only with `chargeFlatAtZero`.
 * @throws InvariantError if the tiers do not ascend. Also if the last tier has an upper bound, or another tier has
 *   none.
 */
export function rateVolume(price: VolumePrice, quantity: Rational): RatedAmount {
  const tiers = boundTiers(price.tiers);
  const reached = tiers.find((bounded) => bounded.isLast || compare(quantity, bounded.upTo) <= 0);
  invariant(reached !== undefined, 'the last tier has no end');
  const isDue = isReached(reached, quantity, price.chargeFlatAtZero);
  return ratedAmount(isDue ? [tierStep(reached, quantity)] : []);
}

/** Returns true if `quantity` is above the start of the tier. With `chargeFlatAtZero`, zero reaches the first tier. */
function isReached(bounded: BoundedTier, quantity: Rational, chargeFlatAtZero: boolean): boolean {
  const above = compare(quantity, bounded.from) > 0;
  return above || (bounded.index === 0 && chargeFlatAtZero);
}

function tierStep({ tier, index }: BoundedTier, quantity: Rational): TraceStep {
  const unitAmount = parseDecimal(tier.unitAmount);
  return { ...step('tier', quantity, unitAmount, tier.flatAmountMinor), tier: index };
}

function boundTiers(tiers: readonly Tier[]): BoundedTier[] {
  let from = ZERO;
  return tiers.map((tier, index): BoundedTier => {
    const isLast = index === tiers.length - 1;
    invariant((tier.upTo === null) === isLast, 'the last tier, and only it, has no end');
    if (tier.upTo === null) {
      return { tier, index, from, isLast: true };
    }
    const upTo = parseDecimal(tier.upTo);
    invariant(compare(upTo, from) > 0, 'tiers ascend');
    const bounded = { tier, index, from, isLast: false as const, upTo };
    from = upTo;
    return bounded;
  });
}
