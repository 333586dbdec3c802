import { invariant } from '../../../core/invariant';

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

/** Units above the previous tier, up to and including `upTo`. */
export interface PriceTier {
  /** Decimal string; null: no upper limit. */
  readonly upTo: string | null;
  /** Minor units per unit, as a decimal string. */
  readonly unitAmount: string;
  /** Minor units, due once the tier is reached. */
  readonly flatAmount: bigint;
}

interface AnyPrice {
  readonly id: string;
  readonly name: string;
  readonly timing: PriceTiming;
  /** Meter whose usage is priced; null for a price by agreed quantity. */
  readonly meterId: string | null;
  /** If true, each group of the meter is priced separately. */
  readonly isByGroup: boolean;
  /** Minor units for a whole period; null: no limit. */
  readonly minimumAmount: bigint | null;
  readonly maximumAmount: bigint | null;
}

/** A fixed amount, independent of the quantity. */
export interface FlatPrice extends AnyPrice {
  readonly model: 'flat';
  readonly amount: bigint;
}

export interface PerUnitPrice extends AnyPrice {
  readonly model: 'per_unit';
  /** Minor units per unit, as a decimal string. */
  readonly unitAmount: string;
}

/** Graduated: each tier prices the units within it. Volume: the tier of the whole quantity prices all units. */
export interface TieredPrice extends AnyPrice {
  readonly model: 'graduated' | 'volume';
  /** Strictly rising; the last tier has no upper limit. */
  readonly tiers: readonly PriceTier[];
  /** If true, the flat amount of the first tier is due at a quantity of zero. */
  readonly chargeFlatAtZero: boolean;
}

export interface PackagePrice extends AnyPrice {
  readonly model: 'package';
  /** Minor units per package, as a decimal string. */
  readonly unitAmount: string;
  /** Units per package, as a decimal string above zero. */
  readonly packageSize: string;
  /** Decimal string. */
  readonly freeUnits: string;
}

/** A percentage of the metered amounts, plus a fixed amount per event. */
export interface PercentagePrice extends AnyPrice {
  readonly model: 'percentage';
  /** Fraction from 0 to 1, as a decimal string. */
  readonly rate: string;
  /** Minor units per event. */
  readonly fixedAmount: bigint;
  /** Number of free events, as a decimal string. */
  readonly freeUnits: string;
  /** Free minor units. With two free quotas, the one that ends first ends both. */
  readonly freeAmount: bigint;
  /** Minimum and maximum minor units per event; null: no limit. */
  readonly eventMinimumAmount: bigint | null;
  readonly eventMaximumAmount: bigint | null;
}

/** How an amount is computed from a quantity. Immutable. */
export type Price = FlatPrice | PerUnitPrice | TieredPrice | PackagePrice | PercentagePrice;

/** Terms of a price as sent and stored. Null when the model has no such field, or for the default. */
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
 * Builds the price of these terms. Defaults: no free units, no fixed amount, the flat amount charged at zero.
 * @throws {InvariantError} for contradictory terms; check them with `faultsOfPrice` first
 */
export function toPrice(id: string, terms: PriceTerms): Price {
  const { name, timing, meterId, isByGroup, minimumAmount, maximumAmount } = terms;
  const any = { id, name, timing, meterId, isByGroup, minimumAmount, maximumAmount };
  switch (terms.model) {
    case 'flat':
      return { ...any, model: terms.model, amount: given(terms.amount) };
    case 'per_unit':
      return { ...any, model: terms.model, unitAmount: given(terms.unitAmount) };
    case 'graduated':
    case 'volume':
      return {
        ...any,
        model: terms.model,
        tiers: given(terms.tiers),
        chargeFlatAtZero: terms.chargeFlatAtZero ?? true,
      };
    case 'package':
      return {
        ...any,
        model: terms.model,
        unitAmount: given(terms.unitAmount),
        packageSize: given(terms.packageSize),
        freeUnits: terms.freeUnits ?? '0',
      };
    case 'percentage':
      return {
        ...any,
        model: terms.model,
        rate: given(terms.rate),
        fixedAmount: terms.fixedAmount ?? 0n,
        freeUnits: terms.freeUnits ?? '0',
        freeAmount: terms.freeAmount ?? 0n,
        eventMinimumAmount: terms.eventMinimumAmount,
        eventMaximumAmount: terms.eventMaximumAmount,
      };
  }
}

/** Returns the terms of a price, null for fields that its model does not have. */
export function termsOfPrice(price: Price): PriceTerms {
  const { name, model, timing, meterId, isByGroup, minimumAmount, maximumAmount } = price;
  return {
    name,
    model,
    timing,
    amount: 'amount' in price ? price.amount : null,
    unitAmount: 'unitAmount' in price ? price.unitAmount : null,
    tiers: 'tiers' in price ? price.tiers : null,
    packageSize: 'packageSize' in price ? price.packageSize : null,
    freeUnits: 'freeUnits' in price ? price.freeUnits : null,
    rate: 'rate' in price ? price.rate : null,
    fixedAmount: 'fixedAmount' in price ? price.fixedAmount : null,
    freeAmount: 'freeAmount' in price ? price.freeAmount : null,
    eventMinimumAmount: 'eventMinimumAmount' in price ? price.eventMinimumAmount : null,
    eventMaximumAmount: 'eventMaximumAmount' in price ? price.eventMaximumAmount : null,
    meterId,
    isByGroup,
    minimumAmount,
    maximumAmount,
    chargeFlatAtZero: 'chargeFlatAtZero' in price ? price.chargeFlatAtZero : null,
  };
}

function given<Value>(value: Value | null): Value {
  invariant(value !== null, 'A price has every field that its model needs.');
  return value;
}
