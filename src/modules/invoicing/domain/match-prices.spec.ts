import type { Price } from '../../../core/rating';
import { matchPrices, type NamedPrice } from './match-prices';

const PER_UNIT: Price = { model: 'per_unit', unitAmount: '5' };
const FLAT: Price = { model: 'flat', amountMinor: 500n };

const price = (name: string, parts: Partial<NamedPrice> = {}): NamedPrice => ({
  name,
  meterId: null,
  isByGroup: false,
  timing: 'in_arrears',
  rating: PER_UNIT,
  minimumMinor: null,
  maximumMinor: null,
  ...parts,
});

describe('the prices of a simulation', () => {
  it('replace those of the same name; a sold price without one is no longer sold', () => {
    const [calls, seats] = [price('Calls', { meterId: 'meter_1' }), price('Seats')];
    const offered = price('Calls', { meterId: 'meter_1', minimumMinor: 100n });
    const { replacements, faults } = matchPrices([[calls, seats]], [offered]);
    expect(faults).toEqual([]);
    expect([replacements.get(calls), replacements.get(seats)]).toEqual([offered, null]);
  });

  it('replace a price in each version that sold it', () => {
    const [first, second] = [price('Calls'), price('Calls')];
    const offered = price('Calls');
    const { replacements } = matchPrices([[first], [second]], [offered]);
    expect([replacements.get(first), replacements.get(second)]).toEqual([offered, offered]);
  });

  it.each([
    ['timing', { timing: 'in_advance' }],
    ['meter', { meterId: 'meter_1' }],
    ['groups', { isByGroup: true }],
  ] as const)('match the versions with the same %s, and no others', (_, parts) => {
    const [first, second] = [price('Calls'), price('Calls', parts)];
    const [offered, another] = [price('Calls', parts), price('Calls')];
    const { unmatched, faults } = matchPrices([[first], [second]], [offered]);
    expect([[...unmatched.keys()], faults]).toEqual([[first], []]);
    const former = matchPrices([[first], [second]], [another]);
    expect([[...former.unmatched.keys()], former.faults]).toEqual([[second], []]);
  });

  it('match a version only if they match all its prices of their name', () => {
    const [one, metered] = [price('Calls'), price('Calls', { meterId: 'meter_1' })];
    const mixed = matchPrices([[one, metered]], [price('Calls')]);
    expect(mixed.faults).toEqual([{ index: 0, message: 'has another meter' }]);
    const { unmatched, faults } = matchPrices([[one, metered], [price('Calls')]], [price('Calls')]);
    expect([[...unmatched.keys()], faults]).toEqual([[metered], []]);
  });

  it.each<[string, readonly NamedPrice[], readonly NamedPrice[], readonly [number, string][]]>([
    [
      'a name twice',
      [price('Calls')],
      [price('Calls'), price('Calls')],
      [[1, 'repeats the name of another new price']],
    ],
    [
      'an unknown name',
      [price('Calls')],
      [price('Seats')],
      [[0, 'has a name that no price of the plan has']],
    ],
    [
      'another meter',
      [price('Calls', { meterId: 'meter_1' })],
      [price('Calls', { meterId: 'meter_2' })],
      [[0, 'has another meter']],
    ],
    [
      'groups where the sold price has none',
      [price('Calls')],
      [price('Calls', { isByGroup: true })],
      [[0, 'has another `by_group` than the price it replaces']],
    ],
    [
      'another timing',
      [price('Base')],
      [price('Base', { timing: 'in_advance' })],
      [[0, 'has another `timing` than the price it replaces']],
    ],
    [
      'a price per unit for a flat one',
      [price('Base', { rating: FLAT })],
      [price('Base')],
      [[0, 'replaces a flat price']],
    ],
    ['a flat price for one per unit', [price('Base')], [price('Base', { rating: FLAT })], []],
  ])('%s', (_, sold, offered, expected) => {
    const { faults } = matchPrices([sold], offered);
    expect(faults.map(({ index, message }) => [index, message])).toEqual(expected);
  });
});
