import type { ModelPrice, ModelTier } from './catalog';
import { type Fraction, fraction, fromDecimal, least, plus, rounded, times } from './money';

/** Computes what a quantity costs by each price model, in exact minor units. */

/** A quantity in tenths, and the events that add up to it, in the order in which they happened. */
export interface Quantity {
  readonly tenths: bigint;
  /** Divisor of `tenths`, for quantities that are no whole number of tenths. Absent: 1. */
  readonly over?: bigint;
  readonly events: readonly bigint[];
}

/** Returns the cost of a whole period. A negative quantity costs the same as zero. */
export function costOf(price: ModelPrice, { tenths, over = 1n, events }: Quantity): Fraction {
  const used = tenths < 0n ? 0n : tenths;
  const unit = 10n * over;
  switch (price.model) {
    case 'flat':
      return fromDecimal(price.amount);
    case 'per_unit':
      return times(fromDecimal(price.amount), fraction(used, unit));
    case 'graduated':
      return graduated(price, used, unit);
    case 'volume':
      return volume(price, used, unit);
    case 'package':
      return packages(price, used, unit);
    case 'percentage':
      return percentage(price, events);
  }
}

/** Prices the units of each tier at its unit amount, and adds the flat amount of each reached tier. */
function graduated(price: ModelPrice, used: bigint, unit: bigint): Fraction {
  return (price.tiers ?? [])
    .filter(({ above }, index) => index === 0 || used > above * unit)
    .map((tier) => {
      const upTo = tier.upTo === null ? used : least(used, tier.upTo * unit);
      return tierCost(price, tier, fraction(upTo - tier.above * unit, unit), used);
    })
    .reduce(plus, fraction(0n));
}

/** Prices all units by the tier that contains the quantity. */
function volume(price: ModelPrice, used: bigint, unit: bigint): Fraction {
  const tier = price.tiers?.find(({ upTo }) => upTo === null || used <= upTo * unit);
  return tier === undefined ? fraction(0n) : tierCost(price, tier, fraction(used, unit), used);
}

function tierCost(
  { isFreeAtZero }: ModelPrice,
  { amount, flat }: ModelTier,
  inTier: Fraction,
  used: bigint,
): Fraction {
  const fee = used === 0n && isFreeAtZero === true ? 0n : flat;
  return plus(fraction(fee), times(fromDecimal(amount), inTier));
}

/** Charges whole packages for the units that are not free. */
function packages(
  { amount, packageSize = '1', free = 0n }: ModelPrice,
  used: bigint,
  unit: bigint,
): Fraction {
  const charged = used - free * unit;
  if (charged <= 0n) return fraction(0n);
  const { over, under } = fromDecimal(packageSize);
  const size = over * unit;
  const count = (charged * under + size - 1n) / size;
  return times(fromDecimal(amount), fraction(count));
}

/**
 * Charges a rate on the amount of each event and a fixed amount, within the minimum and maximum of an event. A number
 * of events, or an amount, is free. After either is used up, nothing more is free. The event that exceeds the free
 * amount pays for the excess. All events together cost at least zero.
 */
function percentage(price: ModelPrice, events: readonly bigint[]): Fraction {
  const { free, freeAmount } = price;
  let total = fraction(0n);
  let amount = 0n;
  let isFree = free !== undefined || freeAmount !== undefined;
  for (const [place, tenths] of events.entries()) {
    amount += tenths;
    const beyond = freeAmount === undefined ? 0n : amount - freeAmount * 10n;
    if (!isFree) total = plus(total, feeOf(price, tenths));
    else if (beyond > 0n) total = plus(total, feeOf(price, beyond));
    if (beyond >= 0n && freeAmount !== undefined) isFree = false;
    if (free !== undefined && BigInt(place) + 1n >= free) isFree = false;
  }
  return total.over < 0n ? fraction(0n) : total;
}

function feeOf(
  { amount, fixed = 0n, eventMinimum, eventMaximum }: ModelPrice,
  tenths: bigint,
): Fraction {
  const fee = plus(times(fromDecimal(amount), units(tenths)), fraction(fixed));
  if (eventMinimum !== undefined && fee.over < eventMinimum * fee.under) {
    return fraction(eventMinimum);
  }
  return eventMaximum !== undefined && fee.over > eventMaximum * fee.under
    ? fraction(eventMaximum)
    : fee;
}

/**
 * Returns what usage costs in a part of a period. If there was no usage, the cost is the fee of the price, and it is
 * prorated. The fixed amounts of a percentage belong to events, so nothing is prorated there.
 */
export function usageCost(price: ModelPrice, quantity: Quantity, part: Fraction): bigint {
  const cost = costOf(price, quantity);
  const isFee = price.model !== 'percentage' && quantity.tenths <= 0n;
  return rounded(isFee ? times(cost, part) : cost);
}

function units(tenths: bigint): Fraction {
  return fraction(tenths, 10n);
}
