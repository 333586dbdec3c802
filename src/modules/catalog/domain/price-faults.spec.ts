import fc from 'fast-check';
import type { PriceTerms } from './price';
import {
  compareDecimals,
  faultsOfMeteredPrice,
  faultsOfPrice,
  faultsOfPrices,
} from './price-faults';

const METER = 'meter_01h455vb4pex5vsknk084sn02q';

const nothing: PriceTerms = {
  name: 'Seats',
  model: 'flat',
  timing: 'in_arrears',
  amount: null,
  unitAmount: null,
  tiers: null,
  packageSize: null,
  freeUnits: null,
  rate: null,
  fixedAmount: null,
  freeAmount: null,
  eventMinimumAmount: null,
  eventMaximumAmount: null,
  isByGroup: false,
  meterId: null,
  minimumAmount: null,
  maximumAmount: null,
  chargeFlatAtZero: null,
};
const flat: PriceTerms = { ...nothing, amount: 0n };
const perUnit: PriceTerms = { ...nothing, model: 'per_unit', unitAmount: '0.0125' };
const tier = (upTo: string | null) => ({ upTo, unitAmount: '5', flatAmount: 100n });
const graduated: PriceTerms = {
  ...nothing,
  model: 'graduated',
  tiers: [tier('10'), tier('20.5'), tier(null)],
};
const volume: PriceTerms = { ...graduated, model: 'volume' };
const package_: PriceTerms = {
  ...nothing,
  model: 'package',
  unitAmount: '900',
  packageSize: '100',
};
const percentage: PriceTerms = {
  ...nothing,
  model: 'percentage',
  rate: '0.029',
  meterId: METER,
};

const pointersOf = (terms: PriceTerms): readonly string[] =>
  faultsOfPrice(terms, '').map(({ pointer }) => pointer);

describe('the terms of a price', () => {
  it.each([
    ['flat', flat],
    ['flat in advance', { ...flat, timing: 'in_advance' }],
    ['per unit', perUnit],
    ['per unit of a meter', { ...perUnit, meterId: METER }],
    ['graduated', graduated],
    ['graduated with one open tier', { ...graduated, tiers: [tier(null)] }],
    ['graduated, its flat amount not due at zero', { ...graduated, chargeFlatAtZero: false }],
    ['graduated below one', { ...graduated, tiers: [tier('0.5'), tier('0.50001'), tier(null)] }],
    ['graduated past 2^53', { ...graduated, tiers: [tier('9'.repeat(20)), tier(null)] }],
    ['volume', { ...volume, meterId: METER }],
    ['package', package_],
    ['package, some units free', { ...package_, freeUnits: '50.5' }],
    ['percentage', percentage],
    ['percentage with all', { ...percentage, rate: '1', fixedAmount: 30n, freeUnits: '5.0' }],
    [
      'percentage within limits',
      { ...percentage, freeAmount: 5n, eventMinimumAmount: 1n, eventMaximumAmount: 1n },
    ],
    ['per unit, by group', { ...perUnit, meterId: METER, isByGroup: true }],
    ['minimum equal to maximum', { ...flat, minimumAmount: 5n, maximumAmount: 5n }],
    ['a minimum alone', { ...flat, minimumAmount: 5n }],
    ['a maximum alone', { ...flat, maximumAmount: 5n }],
  ] as const)('hold together: %s', (_, terms) => {
    expect(faultsOfPrice(terms, '/prices/0')).toEqual([]);
  });

  it.each([
    ['/amount', { ...flat, amount: null }],
    ['/unit_amount', { ...perUnit, unitAmount: null }],
    ['/tiers', { ...graduated, tiers: null }],
    ['/tiers', { ...volume, tiers: null }],
    ['/tiers', { ...graduated, tiers: [] }],
    ['/unit_amount', { ...package_, unitAmount: null }],
    ['/package_size', { ...package_, packageSize: null }],
    ['/rate', { ...percentage, rate: null }],
    ['/meter_id', { ...percentage, meterId: null }],
  ] as const)('need %s', (pointer, terms) => {
    expect(pointersOf(terms)).toEqual([pointer]);
  });

  it.each([
    ['/amount', { ...perUnit, amount: 5n }],
    ['/unit_amount', { ...flat, unitAmount: '5' }],
    ['/tiers', { ...perUnit, tiers: [tier(null)] }],
    ['/package_size', { ...perUnit, packageSize: '5' }],
    ['/free_units', { ...graduated, freeUnits: '5' }],
    ['/free_units', { ...percentage, freeUnits: '5.5' }],
    ['/rate', { ...flat, rate: '0.5' }],
    ['/fixed_amount', { ...package_, fixedAmount: 5n }],
    ['/charge_flat_at_zero', { ...flat, chargeFlatAtZero: false }],
    ['/meter_id', { ...flat, meterId: METER }],
    ['/free_amount', { ...package_, freeAmount: 5n }],
    ['/event_minimum_amount', { ...perUnit, eventMinimumAmount: 5n }],
    ['/event_maximum_amount', { ...flat, eventMaximumAmount: 5n }],
  ] as const)('of another model are not taken: %s', (pointer, terms) => {
    expect(pointersOf(terms)).toEqual([pointer]);
  });

  it.each([
    ['a package without units', '/package_size', { ...package_, packageSize: '0.000' }],
    ['a percent for a fraction', '/rate', { ...percentage, rate: '2.9' }],
    [
      'a minimum above the maximum',
      '/maximum_amount',
      { ...flat, minimumAmount: 6n, maximumAmount: 5n },
    ],
    [
      'an event minimum above its maximum',
      '/event_maximum_amount',
      { ...percentage, eventMinimumAmount: 6n, eventMaximumAmount: 5n },
    ],
    ['groups without a meter', '/by_group', { ...perUnit, isByGroup: true }],
    [
      'a meter, and due in advance',
      '/timing',
      { ...perUnit, meterId: METER, timing: 'in_advance' },
    ],
  ] as const)('contradict each other: %s', (_, pointer, terms) => {
    expect(pointersOf(terms)).toEqual([pointer]);
  });

  it.each([
    ['the last one closed', ['10', '20'], ['/tiers/1/up_to']],
    ['one before the last open', [null, null], ['/tiers/0/up_to']],
    ['the same bound twice', ['10', '10.0', null], ['/tiers/1/up_to']],
    ['falling', ['10', '9.99', null], ['/tiers/1/up_to']],
    ['written longer but less', ['9', '10', '9.999999', null], ['/tiers/2/up_to']],
    ['beginning at zero', ['0', '1', null], ['/tiers/0/up_to']],
    ['all at once', [null, '0', '5'], ['/tiers/0/up_to', '/tiers/1/up_to', '/tiers/2/up_to']],
  ] as const)('have tiers that rise to an open one, not %s', (_, bounds, pointers) => {
    expect(pointersOf({ ...graduated, tiers: bounds.map(tier) })).toEqual(pointers);
  });

  it('tell the place in a list of prices', () => {
    const faults = faultsOfPrices(
      [flat, { ...graduated, tiers: [tier('1'), tier('1'), tier(null)] }],
      '/prices',
    );
    expect(faults).toEqual([
      { pointer: '/prices/1/tiers/1/up_to', message: 'must be above 1, where the tier begins' },
    ]);
  });
});

describe('decimals', () => {
  const digits = (most: number) => fc.bigInt({ min: 0n, max: 10n ** BigInt(most) - 1n });

  it('compare by value, however many decimals they are written with', () => {
    fc.assert(
      fc.property(digits(20), digits(12), digits(20), digits(12), (a, b, c, d) => {
        const write = (whole: bigint, part: bigint): string =>
          `${whole}.${part.toString().padStart(12, '0')}`;
        const scale = 10n ** 12n;
        const difference = a * scale + b - (c * scale + d);
        expect(compareDecimals(write(a, b), write(c, d))).toBe(
          difference === 0n ? 0 : difference < 0n ? -1 : 1,
        );
      }),
    );
  });

  it.each([
    ['1', '1.000', 0],
    ['10', '9.9', 1],
    ['0.1', '0.09', 1],
    ['0', '0.000000000001', -1],
  ] as const)('%s and %s: %d', (left, right, expected) => {
    expect(compareDecimals(left, right)).toBe(expected);
  });
});

describe('a price and its meter', () => {
  it.each([
    ['per_unit', false, 'max', [], []],
    ['percentage', false, 'sum', [], []],
    ['percentage', false, 'count', [], ['/p/0/meter_id']],
    ['per_unit', true, 'count', ['region'], []],
    ['per_unit', true, 'count', [], ['/p/0/by_group']],
    ['percentage', true, 'max', [], ['/p/0/meter_id', '/p/0/by_group']],
  ] as const)(
    '%s, by group %j, of a %s with groups %j: faults at %j',
    (model, isByGroup, aggregation, groupBy, pointers) => {
      const price: PriceTerms = { ...nothing, model, isByGroup, meterId: METER };
      const faults = faultsOfMeteredPrice(price, { aggregation, groupBy }, '/p/0');
      expect(faults.map(({ pointer }) => pointer)).toEqual(pointers);
    },
  );
});
