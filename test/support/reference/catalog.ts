import type { Interval } from './calendar';

/**
 * A price in the catalogue of the billing model. The engine and the reference have the same catalogue, in each
 * currency.
 */
export interface ModelPrice {
  readonly name: string;
  readonly model: 'flat' | 'per_unit' | 'graduated' | 'volume' | 'package' | 'percentage';
  readonly timing: 'in_advance' | 'in_arrears';
  /** Minor units per unit or package, or the rate of a percentage, as a decimal string. Empty if the tiers have amounts. */
  readonly amount: string;
  readonly tiers?: readonly ModelTier[];
  /** True if the flat amount of the first tier is not due at a quantity of zero. */
  readonly isFreeAtZero?: boolean;
  /** Units per package, as a decimal string. */
  readonly packageSize?: string;
  /** Free units of a package, or free events of a percentage. */
  readonly free?: bigint;
  /** Minor units that each event of a percentage costs in addition. `freeAmount`: minor units that are free. */
  readonly fixed?: bigint;
  readonly freeAmount?: bigint;
  /** Minimum and maximum of one event of a percentage, in minor units. */
  readonly eventMinimum?: bigint;
  readonly eventMaximum?: bigint;
  /** True if the quantity is usage of a meter. */
  readonly isMetered?: boolean;
  /** True if the quantity is a weighted sum: each event counts from its instant to the end of the period. */
  readonly isHeld?: boolean;
  /** True if each region is priced separately. */
  readonly isByGroup?: boolean;
  /** Minimum and maximum of a whole period, in minor units. */
  readonly minimum?: bigint;
  readonly maximum?: bigint;
}

/** A price tier: the units above one bound, up to another. */
export interface ModelTier {
  readonly above: bigint;
  /** Null: no bound. */
  readonly upTo: bigint | null;
  /** Minor units per unit, as a decimal string. */
  readonly amount: string;
  /** Minor units that are due in addition when the quantity reaches the tier. */
  readonly flat: bigint;
}

export interface ModelPlan {
  readonly name: string;
  readonly interval: Interval;
  readonly proration: 'day' | 'second' | 'none';
  readonly prices: readonly ModelPrice[];
}

/** An add-on for plans of its interval and proration. */
export interface ModelAddon {
  readonly name: string;
  readonly prices: readonly ModelPrice[];
}

export interface ModelCoupon {
  readonly name: string;
  readonly duration: 'once' | 'repeating' | 'forever';
  readonly months?: number;
  /** Decimal string. */
  readonly percentOff?: string;
  readonly amountOff?: bigint;
  /** The only plan whose prices are discounted. */
  readonly plan?: number;
}

export interface ModelTaxRate {
  readonly percentage: string;
  readonly inclusive: boolean;
}

const flat = (amount: string, timing: ModelPrice['timing'] = 'in_advance'): ModelPrice => ({
  name: 'Base',
  model: 'flat',
  timing,
  amount,
});

const seats = (amount: string, timing: ModelPrice['timing'] = 'in_advance'): ModelPrice => ({
  name: 'Seats',
  model: 'per_unit',
  timing,
  amount,
});

const calls = (terms: Omit<ModelPrice, 'name' | 'timing'>): ModelPrice => ({
  name: 'Calls',
  timing: 'in_arrears',
  isMetered: true,
  ...terms,
});

const stored = (terms: Omit<ModelPrice, 'name' | 'timing'>): ModelPrice => ({
  ...calls(terms),
  name: 'Stored',
  isHeld: true,
});

/** Meter that sums a property of each event, by region. Another meter weighs the same events by time. */
export const METER = {
  key: 'calls',
  eventName: 'call',
  valueProperty: 'calls',
  groupBy: 'region',
} as const;

export const PLANS: readonly ModelPlan[] = [
  { name: 'flat', interval: 'month', proration: 'day', prices: [flat('3100')] },
  { name: 'seats', interval: 'month', proration: 'day', prices: [seats('333.5')] },
  { name: 'large', interval: 'month', proration: 'day', prices: [flat('9999')] },
  {
    name: 'both',
    interval: 'month',
    proration: 'second',
    prices: [flat('1999'), seats('712.345')],
  },
  { name: 'yearly', interval: 'year', proration: 'day', prices: [flat('30001')] },
  { name: 'weekly', interval: 'week', proration: 'second', prices: [seats('101')] },
  {
    name: 'mixed',
    interval: 'month',
    proration: 'day',
    prices: [flat('1000'), seats('207.7', 'in_arrears')],
  },
  {
    name: 'arrears',
    interval: 'month',
    proration: 'second',
    prices: [flat('777', 'in_arrears'), seats('55.5', 'in_arrears')],
  },
  {
    name: 'whole',
    interval: 'month',
    proration: 'none',
    prices: [seats('610'), seats('38.25', 'in_arrears')],
  },
  {
    name: 'metered',
    interval: 'month',
    proration: 'day',
    prices: [flat('800'), calls({ model: 'per_unit', amount: '7.125' })],
  },
  {
    name: 'tiered',
    interval: 'week',
    proration: 'second',
    prices: [
      calls({
        model: 'graduated',
        amount: '',
        tiers: [
          { above: 0n, upTo: 20n, amount: '0', flat: 150n },
          { above: 20n, upTo: 50n, amount: '3.33', flat: 0n },
          { above: 50n, upTo: null, amount: '1.5', flat: 75n },
        ],
      }),
    ],
  },
  {
    name: 'limited',
    interval: 'month',
    proration: 'day',
    prices: [
      { ...seats('210.5'), minimum: 500n, maximum: 1_500n },
      { ...seats('99', 'in_arrears'), minimum: 301n },
    ],
  },
  {
    name: 'committed',
    interval: 'month',
    proration: 'second',
    prices: [
      flat('450'),
      calls({ model: 'per_unit', amount: '19.5', minimum: 701n, maximum: 1_203n }),
    ],
  },
  {
    name: 'regional',
    interval: 'week',
    proration: 'day',
    prices: [
      calls({
        model: 'graduated',
        amount: '',
        isByGroup: true,
        maximum: 640n,
        tiers: [
          { above: 0n, upTo: 15n, amount: '11.1', flat: 80n },
          { above: 15n, upTo: null, amount: '4.25', flat: 0n },
        ],
      }),
    ],
  },
  {
    name: 'crowd',
    interval: 'month',
    proration: 'day',
    prices: [
      {
        ...seats(''),
        model: 'volume',
        tiers: [
          { above: 0n, upTo: 3n, amount: '410.5', flat: 0n },
          { above: 3n, upTo: 8n, amount: '301.25', flat: 99n },
          { above: 8n, upTo: null, amount: '187', flat: 0n },
        ],
      },
      { ...seats('640.75', 'in_arrears'), model: 'package', packageSize: '4', free: 2n },
    ],
  },
  {
    name: 'volume',
    interval: 'week',
    proration: 'second',
    prices: [
      calls({
        model: 'volume',
        amount: '',
        tiers: [
          { above: 0n, upTo: 25n, amount: '9.5', flat: 120n },
          { above: 25n, upTo: 60n, amount: '6.25', flat: 0n },
          { above: 60n, upTo: null, amount: '2.5', flat: 41n },
        ],
      }),
    ],
  },
  {
    name: 'packages',
    interval: 'month',
    proration: 'day',
    prices: [
      flat('305'),
      calls({ model: 'package', amount: '130.5', packageSize: '12.5', free: 20n }),
    ],
  },
  {
    name: 'processing',
    interval: 'month',
    proration: 'second',
    prices: [
      calls({ model: 'percentage', amount: '0.875', fixed: 30n, free: 3n, freeAmount: 50n }),
    ],
  },
  {
    name: 'clamped',
    interval: 'week',
    proration: 'day',
    prices: [
      calls({
        model: 'percentage',
        amount: '0.729',
        isByGroup: true,
        fixed: 12n,
        eventMinimum: 13n,
        eventMaximum: 31n,
        minimum: 22n,
      }),
    ],
  },
  {
    name: 'stored',
    interval: 'month',
    proration: 'day',
    prices: [stored({ model: 'per_unit', amount: '91.5', minimum: 617n, maximum: 4_001n })],
  },
  {
    name: 'shelved',
    interval: 'week',
    proration: 'day',
    prices: [
      stored({
        model: 'graduated',
        amount: '',
        isByGroup: true,
        tiers: [
          { above: 0n, upTo: 10n, amount: '31.25', flat: 140n },
          { above: 10n, upTo: null, amount: '7.5', flat: 25n },
        ],
      }),
    ],
  },
  {
    name: 'kept',
    interval: 'month',
    proration: 'second',
    prices: [
      flat('205'),
      stored({
        model: 'volume',
        amount: '',
        tiers: [
          { above: 0n, upTo: 12n, amount: '18.5', flat: 310n },
          { above: 12n, upTo: null, amount: '12.25', flat: 0n },
        ],
      }),
    ],
  },
  {
    name: 'usage',
    interval: 'week',
    proration: 'second',
    prices: [calls({ model: 'per_unit', amount: '13.25' })],
  },
];

/** Index of the plan that bills nothing without usage. */
export const USAGE_ALONE = PLANS.length - 1;

export const ADDONS: readonly ModelAddon[] = [
  { name: 'storage', prices: [seats('45.5')] },
  { name: 'support', prices: [flat('1201'), seats('12.25', 'in_arrears')] },
  { name: 'calls', prices: [calls({ model: 'per_unit', amount: '0.75' })] },
  {
    name: 'regions',
    prices: [calls({ model: 'per_unit', amount: '2.35', isByGroup: true, minimum: 100n })],
  },
  {
    name: 'bulk',
    prices: [
      calls({
        model: 'volume',
        amount: '',
        isFreeAtZero: true,
        tiers: [
          { above: 0n, upTo: 30n, amount: '0', flat: 77n },
          { above: 30n, upTo: null, amount: '1.15', flat: 0n },
        ],
      }),
    ],
  },
  {
    name: 'fees',
    prices: [calls({ model: 'percentage', amount: '0.95', freeAmount: 35n, eventMaximum: 25n })],
  },
];

export const REGIONS = ['eu', 'us', null] as const;

/** The plan of seats, and the place of the coupon for it in {@link COUPONS}. */
export const GIFTED = { plan: 1, coupon: 6 } as const;

export const COUPONS: readonly ModelCoupon[] = [
  { name: 'half-once', duration: 'once', percentOff: '50' },
  { name: 'third', duration: 'repeating', months: 2, percentOff: '33.33' },
  { name: 'gift', duration: 'once', amountOff: 4_321n },
  { name: 'steady', duration: 'forever', amountOff: 250n },
  { name: 'months', duration: 'repeating', months: 3, amountOff: 777n },
  { name: 'scoped', duration: 'forever', percentOff: '12.5', plan: 0 },
  { name: 'gift-of-plan', duration: 'once', amountOff: 2_987n, plan: GIFTED.plan },
];

export const TAX_RATES: readonly ModelTaxRate[] = [
  { percentage: '19', inclusive: false },
  { percentage: '7.75', inclusive: false },
  { percentage: '10', inclusive: true },
  { percentage: '5.5', inclusive: true },
];

/** Tax treatments of a customer. Only `none` is billed tax. */
export const EXEMPTIONS = ['none', 'exempt', 'reverse'] as const;
export type Exemption = (typeof EXEMPTIONS)[number];

/** Choices of the customer's tax rates, as indexes of the rates of the model. */
export const TAXES: readonly (readonly number[])[] = [
  [],
  [0],
  [0, 1],
  [1, 0],
  [1],
  [2],
  [0, 2],
  [2, 1, 0],
  [2, 3],
  [3, 0, 2],
];

export const ZONES = [
  'UTC',
  'America/New_York',
  'Europe/Paris',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
] as const;

export const CURRENCIES = ['USD', 'JPY', 'KWD'] as const;
export type ModelCurrency = (typeof CURRENCIES)[number];
