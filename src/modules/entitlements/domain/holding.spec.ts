import { formatExact, parseDecimal, ZERO } from '../../../core/decimal';
import {
  allows,
  hasAccess,
  type Holding,
  limitOf,
  newlyReached,
  remainingOf,
  withUsed,
} from './holding';

const number = parseDecimal;

function holding(
  fields: Partial<Holding> & { used?: string; spent?: string; covered?: string } = {},
): Holding {
  const { used = '0', spent = '0', covered = '0', ...rest } = fields;
  return {
    type: 'metered',
    isHeld: true,
    allowance: number('100'),
    granted: ZERO,
    isOverageAllowed: false,
    counter: {
      window: null,
      used: number(used),
      spent: number(spent),
      covered: number(covered),
      told: [],
    },
    ...rest,
  };
}

const shown = (value: ReturnType<typeof limitOf>) => (value === null ? null : formatExact(value));

describe('what a customer has', () => {
  test.each<[string, Holding, [boolean, string | null, string | null]]>([
    ['some left', holding({ used: '40' }), [true, '100', '60']],
    ['nothing left', holding({ used: '100' }), [false, '100', '0']],
    ['more used than allowed', holding({ used: '120' }), [false, '100', '0']],
    ['overage', holding({ used: '120', isOverageAllowed: true }), [true, '100', '0']],
    ['no limit', holding({ used: '120', allowance: null }), [true, null, null]],
    ['with grants', holding({ used: '120', granted: number('30') }), [true, '130', '10']],
    [
      'what an expired grant covered stays covered',
      holding({ used: '120', spent: '20', granted: number('5') }),
      [true, '125', '5'],
    ],
    [
      'what subscriptions covered before they allowed less takes nothing from a grant',
      holding({ allowance: number('10'), used: '90', covered: '80', granted: number('30') }),
      [true, '110', '20'],
    ],
    [
      'without a grant nobody asks what covered it',
      holding({ allowance: number('10'), used: '90', covered: '80' }),
      [false, '10', '0'],
    ],
    ['not held', holding({ isHeld: false, used: '5' }), [false, '0', '0']],
    ['seats', holding({ type: 'static', allowance: number('5') }), [true, '5', null]],
    ['no seats', holding({ type: 'static', allowance: ZERO }), [false, '0', null]],
    ['a feature', holding({ type: 'boolean', allowance: null }), [true, null, null]],
    ['no feature', holding({ type: 'boolean', isHeld: false }), [false, null, null]],
  ])('%s', (_, given, [access, limit, remaining]) => {
    expect(hasAccess(given)).toBe(access);
    expect(shown(limitOf(given))).toBe(limit);
    expect(shown(remainingOf(given))).toBe(remaining);
  });

  test.each<[string, Holding, string, boolean]>([
    ['all that is left', holding({ used: '40' }), '60', true],
    ['a little more', holding({ used: '40' }), '60.000000000001', false],
    ['more, as overage', holding({ used: '40', isOverageAllowed: true }), '61', true],
    ['more, without a limit', holding({ allowance: null }), '1000000', true],
    ['what is not held', holding({ isHeld: false, isOverageAllowed: true }), '1', false],
  ])('allows %s', (_, given, quantity, expected) => {
    expect(allows(given, number(quantity))).toBe(expected);
  });
});

describe('what subscriptions cover of what is used', () => {
  test.each<[string, [string, string, string], string, string | null, string]>([
    ['what they allow', ['0', '0', '0'], '120', '100', '100'],
    ['all of it', ['0', '0', '0'], '60', '100', '60'],
    ['all of it, without a limit', ['0', '0', '0'], '120', null, '120'],
    ['what they allowed before', ['90', '0', '80'], '95', '10', '80'],
    ['no more than is left of it', ['90', '0', '80'], '30', '10', '30'],
    ['not what grants covered that are gone', ['90', '20', '70'], '85', '10', '65'],
    ['more, since they allow more', ['90', '0', '80'], '200', '100', '100'],
  ])('%s', (_, [before, spent, covered], used, allowance, expected) => {
    const { counter } = holding({ used: before, spent, covered });
    const after = withUsed(counter, number(used), allowance === null ? null : number(allowance));
    expect(formatExact(after.used)).toBe(used);
    expect(formatExact(after.covered)).toBe(expected);
  });
});

describe('thresholds', () => {
  const told = (used: string, thresholds: number[], before: number[] = []) => {
    const given = holding({ used });
    return newlyReached({ ...given, counter: { ...given.counter, told: before } }, thresholds);
  };

  test.each([
    ['79.99', [80, 100], [], []],
    ['80', [80, 100], [], [80]],
    ['80', [80, 100], [80], []],
    ['150', [100, 80], [], [80, 100]],
    ['150', [150, 80], [80], [150]],
    ['100', [80, 80], [], [80]],
  ])('at %s of 100, of %j with %j told: %j', (used, thresholds, before, expected) => {
    expect(told(used, thresholds, before)).toEqual(expected);
  });

  test.each([
    ['nothing is used', holding({ allowance: ZERO })],
    ['there is no limit', holding({ allowance: null, used: '5' })],
    ['nothing is counted', holding({ type: 'static', used: '100' })],
    ['it is not held', holding({ isHeld: false, used: '5' })],
  ])('none is reached where %s', (_, given) => {
    expect(newlyReached(given, [80, 100])).toEqual([]);
  });

  test('a limit of nothing is reached with the first use', () => {
    expect(newlyReached(holding({ allowance: ZERO, used: '1' }), [80, 100])).toEqual([80, 100]);
  });
});
