/**
 * A price, as plan versions and traces store it. Unit amounts, bounds, quantities and rates are decimal strings, unit amounts
 * in minor units per unit (`"0.0125"`); other amounts are whole minor units.
 */
export type Price =
  FlatPrice | PerUnitPrice | GraduatedPrice | VolumePrice | PackagePrice | PercentagePrice;

/** One amount for any quantity. */
export type FlatPrice = { readonly model: 'flat'; readonly amountMinor: bigint };

/** Unit amount x quantity. */
export type PerUnitPrice = { readonly model: 'per_unit'; readonly unitAmount: string };

/** Each tier prices the units within it. Its flat amount is due once the tier is reached. */
export type GraduatedPrice = { readonly model: 'graduated' } & Tiered;

/** The tier that contains the quantity prices all units. */
export type VolumePrice = { readonly model: 'volume' } & Tiered;

/** Bills ceil((quantity - free units) / size) packages; nothing for a quantity up to the free units. */
export type PackagePrice = {
  readonly model: 'package';
  /** For one package. */
  readonly unitAmount: string;
  /** Units in a package, above zero. */
  readonly packageSize: string;
  readonly freeUnits: string;
};

/**
 * Rate x (base - free amount) + fixed amount x (events - free events), each event within its minimum and maximum. A free quota
 * of zero means no quota. When either of two quotas is used up, both end.
 */
export type PercentagePrice = {
  readonly model: 'percentage';
  /** A fraction: `"0.029"` is 2.9%. */
  readonly rate: string;
  /** For each event that is not free. */
  readonly fixedAmountMinor: bigint;
  readonly freeEvents: bigint;
  readonly freeAmountMinor: bigint;
  /** Least and largest amount of one charged event; null: no limit. */
  readonly eventMinimumMinor: bigint | null;
  readonly eventMaximumMinor: bigint | null;
};

type Tiered = {
  /** In ascending order. A tier contains the quantities above the previous `upTo`, up to its own; only the last has no end. */
  readonly tiers: readonly Tier[];
  /**
   * True when the first tier's flat amount is due at a quantity of zero, which is the default.
   */
  readonly chargeFlatAtZero: boolean;
};

export type Tier = {
  readonly upTo: string | null;
  readonly unitAmount: string;
  readonly flatAmountMinor: bigint;
};
