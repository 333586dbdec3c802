import {
  ceiling,
  compare,
  divide,
  multiply,
  parseDecimal,
  roundToInteger,
  subtract,
  ZERO,
  type Rational,
} from '../decimal';
import { invariant } from '../invariant';
import { factorOf, type Proration } from '../proration';
import { chargeEvents, ratePercentage, type ChargedEvents } from './percentage';
import type { PackagePrice, PercentagePrice, PerUnitPrice, Price } from './price';
import { rateGraduated, rateVolume } from './tiers';
import { amountStep, ratedAmount, toRational, step, type RatedAmount } from './trace';

/**
 * Usage to which a price is applied. The percentage model takes one of two kinds, all other models take `quantity`:
 * - `events`: the base amounts of the events, in minor units and in time order
 * - `charged`: sums over the events, see {@link chargeEvents}
 */
export type Usage =
  | { readonly kind: 'quantity'; readonly quantity: Rational }
  | { readonly kind: 'events'; readonly baseAmounts: readonly Rational[] }
  | { readonly kind: 'charged'; readonly charged: ChargedEvents };

/**
 * Returns the exact amount of `price` for `usage` in minor units, not yet rounded, with the steps of its calculation. A
 * quantity below zero counts as zero, because the usage of a period never costs less than nothing.
 * @throws InvariantError when the price is malformed, or when the model does not take this kind of usage.
 */
export function rate(price: Price, usage: Usage): RatedAmount {
  switch (price.model) {
    case 'flat':
      return ratedAmount([amountStep('flat', toRational(price.amountMinor))]);
    case 'per_unit':
      return ratePerUnit(price, quantityOf(usage));
    case 'graduated':
      return rateGraduated(price, quantityOf(usage));
    case 'volume':
      return rateVolume(price, quantityOf(usage));
    case 'package':
      return ratePackage(price, quantityOf(usage));
    case 'percentage':
      return ratePercentage(price, chargedBy(price, usage));
  }
}

/** Returns the amount of a line before rounding: `exact` times the proration, or `exact` if the proration is null. */
export function exactAtLine(exact: Rational, proration: Proration | null): Rational {
  return proration === null ? exact : multiply(exact, factorOf(proration));
}

/** Returns {@link exactAtLine}, rounded once to minor units, half away from zero. */
export function roundAtLine(exact: Rational, proration: Proration | null): bigint {
  return roundToInteger(exactAtLine(exact, proration));
}

function ratePerUnit(price: PerUnitPrice, quantity: Rational): RatedAmount {
  return ratedAmount([step('unit', quantity, parseDecimal(price.unitAmount))]);
}

function ratePackage(price: PackagePrice, quantity: Rational): RatedAmount {
  const size = parseDecimal(price.packageSize);
  invariant(compare(size, ZERO) > 0, 'a package holds something');
  const beyondFree = subtract(quantity, parseDecimal(price.freeUnits));
  const packages = compare(beyondFree, ZERO) > 0 ? ceiling(divide(beyondFree, size)) : 0n;
  return ratedAmount([step('package', toRational(packages), parseDecimal(price.unitAmount))]);
}

function chargedBy(price: PercentagePrice, usage: Usage): ChargedEvents {
  invariant(usage.kind !== 'quantity', 'the percentage model prices events');
  if (usage.kind === 'charged') return usage.charged;
  const charger = chargeEvents(price);
  usage.baseAmounts.forEach(charger.add);
  return charger.charged();
}

function quantityOf(usage: Usage): Rational {
  invariant(usage.kind === 'quantity', 'only the percentage model prices events');
  const { quantity } = usage;
  return compare(quantity, ZERO) < 0 ? ZERO : quantity;
}
