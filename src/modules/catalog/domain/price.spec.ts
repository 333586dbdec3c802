import { InvariantError } from '../../../core/invariant';
import { type PriceTerms, termsOfPrice, toPrice } from './price';

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
  minimumAmount: 1n,
  maximumAmount: 2n,
  chargeFlatAtZero: null,
};
const tiers = [{ upTo: null, unitAmount: '5', flatAmount: 0n }];

describe('a price', () => {
  it.each([
    [{ model: 'flat', amount: 5n }, {}],
    [{ model: 'per_unit', unitAmount: '5' }, {}],
    [{ model: 'graduated', tiers }, { chargeFlatAtZero: true }],
    [{ model: 'volume', tiers, chargeFlatAtZero: false }, {}],
    [{ model: 'package', unitAmount: '5', packageSize: '10' }, { freeUnits: '0' }],
    [
      { model: 'percentage', rate: '0.1' },
      {
        freeUnits: '0',
        fixedAmount: 0n,
        freeAmount: 0n,
        eventMinimumAmount: null,
        eventMaximumAmount: null,
      },
    ],
  ] as const)('of %j keeps its terms, with the usual values', (terms, usual) => {
    const price = toPrice('price_1', { ...nothing, ...terms });
    expect(price).toMatchObject({ id: 'price_1', ...nothing, ...terms, ...usual });
    expect(price.rating.model).toBe(terms.model);
    expect(termsOfPrice(price)).toEqual({ ...nothing, ...terms, ...usual });
  });

  it.each(['flat', 'per_unit', 'graduated', 'volume', 'package', 'percentage'] as const)(
    'of model %s is never made without what the model needs',
    (model) => {
      expect(() => toPrice('price_1', { ...nothing, model })).toThrow(InvariantError);
    },
  );
});
