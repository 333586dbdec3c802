import type { Price as RatingPrice } from '../../../core/rating';
import type { Price, PriceTier } from './price';

/**
 * Returns the part of a price that rates a quantity. Timing, meter and period limits are not part of it: they decide when
 * and how much is billed.
 */
export function toRatingPrice(price: Price): RatingPrice {
  switch (price.model) {
    case 'flat':
      return { model: 'flat', amountMinor: price.amount };
    case 'per_unit':
      return { model: 'per_unit', unitAmount: price.unitAmount };
    case 'graduated':
    case 'volume':
      return {
        model: price.model,
        tiers: price.tiers.map(toRatingTier),
        chargeFlatAtZero: price.chargeFlatAtZero,
      };
    case 'package':
      return {
        model: 'package',
        unitAmount: price.unitAmount,
        packageSize: price.packageSize,
        freeUnits: price.freeUnits,
      };
    case 'percentage':
      return {
        model: 'percentage',
        rate: price.rate,
        fixedAmountMinor: price.fixedAmount,
        freeEvents: wholeOf(price.freeUnits),
        freeAmountMinor: price.freeAmount,
        eventMinimumMinor: price.eventMinimumAmount,
        eventMaximumMinor: price.eventMaximumAmount,
      };
  }
}

function toRatingTier({ upTo, unitAmount, flatAmount }: PriceTier) {
  return { upTo, unitAmount, flatAmountMinor: flatAmount };
}

/** Events are whole numbers; `faultsOfPrice` refuses fractions of free events. */
function wholeOf(decimal: string): bigint {
  return BigInt(decimal.split('.')[0] ?? '0');
}
