import fc from 'fast-check';
import { compare, formatExact, parseDecimal, type Rational } from '../../../core/decimal';
import { allowanceOf, type AddonSource, type PlanSource, type AllowanceSource } from './allowance';

const value = (text: string | null) => (text === null ? null : parseDecimal(text));

function plan(text: string | null, isHardLimit = true): PlanSource {
  return { kind: 'plan', subscriptionId: 's', planId: 'p', value: value(text), isHardLimit };
}

function addon(mode: 'set' | 'increment', text: string | null, quantity = '1'): AddonSource {
  return {
    kind: 'addon',
    subscriptionId: 's',
    addonId: 'a',
    mode,
    value: value(text),
    quantity: parseDecimal(quantity),
  };
}

const shown = (amount: Rational | null) => (amount === null ? null : formatExact(amount));

describe('the allowance of subscriptions', () => {
  test.each<[string, AllowanceSource[], string | null, boolean[]]>([
    ['nothing', [], '0', []],
    ['one plan', [plan('100')], '100', [true]],
    ['two subscriptions add up', [plan('100'), plan('50.5')], '150.5', [true, true]],
    ['no value is no limit', [plan(null), plan('5')], null, [true, true]],
    [
      'an add-on adds, times its quantity',
      [plan('100'), addon('increment', '10', '3')],
      '130',
      [true, true],
    ],
    ['an add-on alone', [addon('increment', '10', '2.5')], '25', [true]],
    ['set replaces plans', [plan('100'), addon('set', '40', '2')], '80', [false, true]],
    [
      'set comes before increment, whatever their order',
      [plan('100'), addon('increment', '5'), addon('set', '40')],
      '45',
      [false, true, true],
    ],
    [
      'of two with mode set, the greater',
      [addon('set', '40'), addon('set', '30', '2')],
      '60',
      [false, true],
    ],
    ['of two equal ones, one', [addon('set', '40'), addon('set', '40')], '40', [true, false]],
    ['set to nothing', [plan('100'), addon('set', '0')], '0', [false, true]],
    ['set replaces no limit', [plan(null), addon('set', '10')], '10', [false, true]],
    ['an add-on in no quantity', [plan('1'), addon('increment', '10', '0')], '1', [true, true]],
  ])('%s', (_, sources, amount, counted) => {
    const allowance = allowanceOf(sources);
    expect(shown(allowance.amount)).toBe(amount);
    expect(allowance.sources.map(({ isCounted }) => isCounted)).toEqual(counted);
  });

  test.each<[AllowanceSource[], boolean]>([
    [[], false],
    [[plan('1')], false],
    [[plan('1', false)], true],
    [[plan('1'), plan('1', false)], true],
    [[addon('increment', '1')], false],
  ])('overage is allowed if one plan allows it: %#', (sources, expected) => {
    expect(allowanceOf(sources).isOverageAllowed).toBe(expected);
  });

  test('does not depend on the order of sources, and an increment never reduces it', () => {
    const amounts = fc.option(fc.nat(1_000_000).map((digits) => String(digits / 100)));
    const anySource = fc.oneof(
      amounts.map((text) => plan(text)),
      fc
        .tuple(fc.constantFrom('set' as const, 'increment' as const), fc.nat(1000), fc.nat(5))
        .map(([mode, text, quantity]) => addon(mode, String(text), String(quantity))),
    );
    fc.assert(
      fc.property(fc.array(anySource, { maxLength: 6 }), (sources) => {
        const { amount } = allowanceOf(sources);
        expect(allowanceOf([...sources].reverse()).amount).toEqual(amount);
        const more = allowanceOf([...sources, addon('increment', '1')]).amount;
        expect(amount === null ? more === null : more !== null && compare(more, amount) > 0).toBe(
          true,
        );
      }),
    );
  });
});
