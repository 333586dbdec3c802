import { formatExact, rational } from '../../../core/decimal';
import { rate, type Usage } from '../../../core/rating';
import { type PriceTerms, toPrice } from './price';

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
const tiers = [
  { upTo: '10', unitAmount: '5', flatAmount: 100n },
  { upTo: null, unitAmount: '3', flatAmount: 7n },
];
const percentage = { model: 'percentage', rate: '0.029', fixedAmount: 30n } as const;

const quantity = (units: bigint): Usage => ({ kind: 'quantity', quantity: rational(units) });
const events = (...amounts: readonly bigint[]): Usage => ({
  kind: 'events',
  baseAmounts: amounts.map((amount) => rational(amount)),
});

describe('a stored price costs what its model says', () => {
  it.each([
    [{ model: 'flat', amount: 500n }, quantity(3n), '500'],
    [{ model: 'per_unit', unitAmount: '0.0125' }, quantity(3n), '0.0375'],
    [{ model: 'graduated', tiers }, quantity(12n), '163'],
    [{ model: 'volume', tiers }, quantity(12n), '43'],
    [{ model: 'graduated', tiers }, quantity(0n), '100'],
    [{ model: 'graduated', tiers, chargeFlatAtZero: false }, quantity(0n), '0'],
    [
      { model: 'package', unitAmount: '900', packageSize: '100', freeUnits: '50' },
      quantity(151n),
      '1800',
    ],
    [{ model: 'package', unitAmount: '900', packageSize: '100' }, quantity(100n), '900'],
    [percentage, events(1_000n, 2_000n), '147'],
    [{ ...percentage, freeUnits: '1' }, events(1_000n, 2_000n), '88'],
    [{ ...percentage, freeUnits: '1.0', fixedAmount: null }, events(1_000n, 2_000n), '58'],
  ] as const)('%j for %j: %s', (terms, usage, amount) => {
    const price = toPrice('price_1', { ...nothing, ...terms });
    expect(formatExact(rate(price.rating, usage).amount)).toBe(amount);
  });
});
