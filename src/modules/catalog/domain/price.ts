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

/** The units above the tier before it, up to and including `upTo`. */
export interface PriceTier {
  /** Decimal string; null: without end. */
  readonly upTo: string | null;
  /** Decimal string, minor units a unit. */
  readonly unitAmount: string;
  /** Minor units, due once the tier is reached. */
  readonly flatAmount: bigint;
}

interface AnyPrice {
  readonly id: string;
  readonly name: string;
  readonly timing: PriceTiming;
  /** The meter whose usage it prices; null where a quantity is agreed on. */
  readonly meterId: string | null;
  /** Whether each group of the meter is priced on its own, rather than all together. */
  readonly isByGroup: boolean;
  /** Minor units for a whole period; null: no limit. */
  readonly minimumAmount: bigint | null;
  readonly maximumAmount: bigint | null;
}

/** The same amount, whatever the quantity. */
export interface FlatPrice extends AnyPrice {
  readonly model: 'flat';
  readonly amount: bigint;
}

export interface PerUnitPrice extends AnyPrice {
  readonly model: 'per_unit';
  /** Decimal string, minor units a unit. */
  readonly unitAmount: string;
}

/** Graduated: each tier prices the units that fall into it. Volume: the tier the quantity falls into prices them all. */
export interface TieredPrice extends AnyPrice {
  readonly model: 'graduated' | 'volume';
  /** Strictly rising; the last one is open. */
  readonly tiers: readonly PriceTier[];
  /** Whether the first tier's flat amount is due at a quantity of zero. */
  readonly chargeFlatAtZero: boolean;
}

export interface PackagePrice extends AnyPrice {
  readonly model: 'package';
  /** Decimal string, minor units for one package. */
  readonly unitAmount: string;
  /** Decimal string, units in a package, above zero. */
  readonly packageSize: string;
  /** Decimal string. */
  readonly freeUnits: string;
}

/** A part of the amounts a meter saw, and an amount for each of its events. */
export interface PercentagePrice extends AnyPrice {
  readonly model: 'percentage';
  /** Decimal string, a fraction from 0 to 1. */
  readonly rate: string;
  /** Minor units for each event. */
  readonly fixedAmount: bigint;
  /** Decimal string, events that are free. */
  readonly freeUnits: string;
  /** Minor units that are free; of two free quotas, whichever ends first ends both. */
  readonly freeAmount: bigint;
  /** Minor units, the least and the most that one event costs; null: no limit. */
  readonly eventMinimumAmount: bigint | null;
  readonly eventMaximumAmount: bigint | null;
}

/** How an amount is computed from a quantity. Never changes once it is made. */
export type Price = FlatPrice | PerUnitPrice | TieredPrice | PackagePrice | PercentagePrice;

/** The terms of a price as they are sent and stored: null where the model has no such field, or its usual value. */
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
 * The price that these terms describe, with the usual value where they leave one out: no free units, no fixed amount, the
 * flat amount charged at zero.
 * @throws {InvariantError} for terms with faults; look for them with `faultsOfPrice` first
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

/** The other way round: every field, null where the model has none. */
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
