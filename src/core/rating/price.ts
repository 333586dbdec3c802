/**
 * A price, as plan versions and traces of invoice lines store it. Unit amounts, bounds, quantities and rates are
 * decimal strings. A unit amount is in minor units per unit: in USD, `"0.0125"` means 0.0125 cents. All other amounts
 * are whole minor units.
 */
export type Price =
  FlatPrice | PerUnitPrice | GraduatedPrice | VolumePrice | PackagePrice | PercentagePrice;

/** One amount for any quantity. */
export type FlatPrice = { readonly model: 'flat'; readonly amountMinor: bigint };

/** Unit amount x quantity. */
export type PerUnitPrice = { readonly model: 'per_unit'; readonly unitAmount: string };

/**
 * Each unit has the price of the tier in which it lies. The flat amount of a tier is added if the quantity reaches the
 * tier.
 */
export type GraduatedPrice = { readonly model: 'graduated' } & Tiered;

/** The tier that contains the quantity sets the price of all units. */
export type VolumePrice = { readonly model: 'volume' } & Tiered;

/** Bills ceil((quantity - free units) / size) packages; nothing for a quantity up to the free units. */
export type PackagePrice = {
  readonly model: 'package';
  /** Amount for one package. */
  readonly unitAmount: string;
  /** Units in a package, above zero. */
  readonly packageSize: string;
  readonly freeUnits: string;
};

/**
 * Rate x (base - free amount) + fixed amount x (events - free events). The minimum and maximum per event limit the
 * amount of each event. If a price has a free amount and free events, nothing is free after one of the two is used up.
 */
export type PercentagePrice = {
  readonly model: 'percentage';
  /** A fraction: `"0.029"` is 2.9%. */
  readonly rate: string;
  /** Amount added for each event that is not free. */
  readonly fixedAmountMinor: bigint;
  readonly freeEvents: bigint;
  readonly freeAmountMinor: bigint;
  /** Least and largest amount of one charged event; null: no limit. */
  readonly eventMinimumMinor: bigint | null;
  readonly eventMaximumMinor: bigint | null;
};

type Tiered = {
  /**
   * The tiers in ascending order. A tier starts above the `upTo` of the previous tier and includes its own `upTo`. Only
   * the last tier has no `upTo`.
   */
  readonly tiers: readonly Tier[];
  /** True if the flat amount of the first tier is due even at a quantity of zero. The default is true. */
  readonly chargeFlatAtZero: boolean;
};

export type Tier = {
  readonly upTo: string | null;
  readonly unitAmount: string;
  readonly flatAmountMinor: bigint;
};
