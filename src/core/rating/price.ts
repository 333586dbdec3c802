/**
 * A price, as plan versions and traces of invoice lines store it. Unit amounts, bounds, quantities and rates are
 * decimal strings. A unit amount is in minor units per unit: in USD, `"0.0125"` means 0.0125 cents. All other amounts
 * are whole minor units.
 */
export type Price =
  FlatPrice | PerUnitPrice | GraduatedPrice | VolumePrice | PackagePrice | PercentagePrice;

export type FlatPrice = { readonly model: 'flat'; readonly amountMinor: bigint };

export type PerUnitPrice = { readonly model: 'per_unit'; readonly unitAmount: string };

/** Each unit has the price of its tier. The flat amount of a tier is added if the quantity reaches the tier. */
export type GraduatedPrice = { readonly model: 'graduated' } & Tiered;

/** All units have the price of the tier that contains the quantity. The flat amount of this tier is added. */
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
 * Price of events by their base amounts, such as the amounts of payments: rate x sum of the base amounts of the charged
 * events + fixed amount x number of charged events. The first events are free: up to a number of events, or up to a sum
 * of base amounts, whichever is used up first. The event that exceeds the free amount is charged only for the part
 * above it.
 */
export type PercentagePrice = {
  readonly model: 'percentage';
  /** A fraction: `"0.029"` is 2.9%. */
  readonly rate: string;
  readonly fixedAmountMinor: bigint;
  readonly freeEvents: bigint;
  readonly freeAmountMinor: bigint;
  /** Minimum amount of one charged event; null: no minimum. */
  readonly eventMinimumMinor: bigint | null;
  /** Maximum amount of one charged event; null: no maximum. */
  readonly eventMaximumMinor: bigint | null;
};

type Tiered = {
  /** Tiers in ascending order. A tier starts above the `upTo` of the tier before it. Only the last has no `upTo`. */
  readonly tiers: readonly Tier[];
  /** True if the flat amount of the first tier is due even at a quantity of zero. Default in the API: true. */
  readonly chargeFlatAtZero: boolean;
};

export type Tier = {
  readonly upTo: string | null;
  readonly unitAmount: string;
  readonly flatAmountMinor: bigint;
};
