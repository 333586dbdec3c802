import { invariant } from '../../../core/invariant';
import type { Price, Tier } from '../../../core/rating';

export const PRICE_MODELS = [
  'flat',
  'per_unit',
  'graduated',
  'volume',
  'package',
  'percentage',
] as const;
export type PriceModel = (typeof PRICE_MODELS)[number];

export const PRICE_TIMINGS = ['in_advance', 'in_arrears'] as const;
export type PriceTiming = (typeof PRICE_TIMINGS)[number];

/**
 * A tier of a graduated or volume price. Contains the quantities above the `upTo` of the previous tier, up to and
 * including its own `upTo`.
 */
export interface PriceTier {
  /** Decimal string; null: no upper limit. */
  readonly upTo: string | null;
  /** Price of one unit in minor units, as a decimal string. */
  readonly unitAmount: string;
  /**
   * Flat amount in minor units. A graduated price charges the amount if the quantity reaches the tier. A volume price
   * charges the amount if the quantity lies in the tier.
   */
  readonly flatAmount: bigint;
}

/**
 * Terms of a price. A field is null if the pricing model does not have the field. In a request, a field is also null if
 * the client omits it: {@link toPrice} then applies the default, where there is one.
 */
export interface PriceTerms {
  readonly name: string;
  readonly model: PriceModel;
  readonly timing: PriceTiming;
  readonly amount: bigint | null;
  readonly unitAmount: string | null;
  readonly tiers: readonly PriceTier[] | null;
  readonly packageSize: string | null;
  readonly freeUnits: string | null;
  readonly rate: string | null;
  readonly fixedAmount: bigint | null;
  readonly freeAmount: bigint | null;
  readonly eventMinimumAmount: bigint | null;
  readonly eventMaximumAmount: bigint | null;
  readonly meterId: string | null;
  readonly isByGroup: boolean;
  readonly minimumAmount: bigint | null;
  readonly maximumAmount: bigint | null;
  readonly chargeFlatAtZero: boolean | null;
}

/**
 * Immutable price of a plan version or add-on, with the defaults applied. `rating` is the same price in the form that
 * `core/rating` needs.
 */
export interface CatalogPrice extends PriceTerms {
  readonly id: string;
  readonly rating: Price;
}

/**
 * Builds the price of these terms. Defaults: no free units, no free amount and no fixed amount. The flat amount of the
 * first tier is charged by default, even if the quantity is zero.
 * @throws {InvariantError} for contradictory terms; check them with `faultsOfPrice` first
 */
export function toPrice(id: string, terms: PriceTerms): CatalogPrice {
  const complete = { ...terms, ...defaultsOf(terms) };
  return { ...complete, id, rating: toRatingPrice(complete) };
}

function defaultsOf(terms: PriceTerms): Partial<PriceTerms> {
  const freeUnits = terms.freeUnits ?? '0';
  switch (terms.model) {
    case 'flat':
    case 'per_unit':
      return {};
    case 'graduated':
    case 'volume':
      return { chargeFlatAtZero: terms.chargeFlatAtZero ?? true };
    case 'package':
      return { freeUnits };
    case 'percentage': {
      const { fixedAmount, freeAmount } = terms;
      return { freeUnits, fixedAmount: fixedAmount ?? 0n, freeAmount: freeAmount ?? 0n };
    }
  }
}

export function termsOfPrice({ id, rating, ...terms }: CatalogPrice): PriceTerms {
  return terms;
}

function toRatingPrice(terms: PriceTerms): Price {
  switch (terms.model) {
    case 'flat':
      return { model: 'flat', amountMinor: requireField(terms.amount) };
    case 'per_unit':
      return { model: 'per_unit', unitAmount: requireField(terms.unitAmount) };
    case 'graduated':
    case 'volume':
      return {
        model: terms.model,
        tiers: requireField(terms.tiers).map(toRatingTier),
        chargeFlatAtZero: requireField(terms.chargeFlatAtZero),
      };
    case 'package':
      return {
        model: 'package',
        unitAmount: requireField(terms.unitAmount),
        packageSize: requireField(terms.packageSize),
        freeUnits: requireField(terms.freeUnits),
      };
    case 'percentage':
      return {
        model: 'percentage',
        rate: requireField(terms.rate),
        fixedAmountMinor: requireField(terms.fixedAmount),
        freeEvents: wholeOf(requireField(terms.freeUnits)),
        freeAmountMinor: requireField(terms.freeAmount),
        eventMinimumMinor: terms.eventMinimumAmount,
        eventMaximumMinor: terms.eventMaximumAmount,
      };
  }
}

function toRatingTier({ upTo, unitAmount, flatAmount }: PriceTier): Tier {
  return { upTo, unitAmount, flatAmountMinor: flatAmount };
}

/** Converts a decimal string that {@link faultsOfPrice} has found to be a whole number, such as `100.0`. */
function wholeOf(decimal: string): bigint {
  return BigInt(decimal.split('.')[0] ?? '0');
}

function requireField<Value>(value: Value | null): Value {
  invariant(value !== null, 'A price has every field that its model needs.');
  return value;
}
