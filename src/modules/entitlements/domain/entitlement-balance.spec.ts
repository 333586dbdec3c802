import { formatExact, parseDecimal, ZERO } from '../../../core/decimal';
import {
  allows,
  hasAccess,
  limitOf,
  newlyReached,
  remainingOf,
  withUsed,
} from './entitlement-balance';

const number = parseDecimal;

type Balance = Parameters<typeof newlyReached>[0];

function balance(
  fields: Partial<Omit<Balance['row'], 'used'>> & {
    type?: Balance['entitlement']['type'];
    used?: string;
    spent?: string;
    covered?: string;
  } = {},
): Balance {
  const { type = 'metered', used = '0', spent = '0', covered = '0', ...rest } = fields;
  return {
    entitlement: { type },
    row: {
      isEntitled: true,
      allowance: number('100'),
      granted: ZERO,
      isOverageAllowed: false,
      used: number(used),
      expiredGrantUsage: number(spent),
      planUsage: number(covered),
      notifiedThresholds: [],
      ...rest,
    },
  };
}

const shown = (value: ReturnType<typeof limitOf>) => (value === null ? null : formatExact(value));

describe('an entitlement balance', () => {
  test.each<[string, Balance, [boolean, string | null, string | null]]>([
    ['some left', balance({ used: '40' }), [true, '100', '60']],
    ['nothing left', balance({ used: '100' }), [false, '100', '0']],
    ['more used than allowed', balance({ used: '120' }), [false, '100', '0']],
    ['overage', balance({ used: '120', isOverageAllowed: true }), [true, '100', '0']],
    ['no limit', balance({ used: '120', allowance: null }), [true, null, null]],
    ['with grants', balance({ used: '120', granted: number('30') }), [true, '130', '10']],
    [
      'usage taken from an expired grant stays covered',
      balance({ used: '120', spent: '20', granted: number('5') }),
      [true, '125', '5'],
    ],
    [
      'plan usage above a reduced allowance takes nothing from a grant',
      balance({ allowance: number('10'), used: '90', covered: '80', granted: number('30') }),
      [true, '110', '20'],
    ],
    [
      'without a grant, plan usage above the allowance raises the limit as well, and nothing remains',
      balance({ allowance: number('10'), used: '90', covered: '90' }),
      [false, '90', '0'],
    ],
    ['not entitled', balance({ isEntitled: false, used: '5' }), [false, '0', '0']],
    ['seats', balance({ type: 'static', allowance: number('5') }), [true, '5', null]],
    ['no seats', balance({ type: 'static', allowance: ZERO }), [false, '0', null]],
    ['a feature', balance({ type: 'boolean', allowance: null }), [true, null, null]],
    ['no feature', balance({ type: 'boolean', isEntitled: false }), [false, null, null]],
  ])('%s', (_, given, [access, limit, remaining]) => {
    expect(hasAccess(given)).toBe(access);
    expect(shown(limitOf(given))).toBe(limit);
    expect(shown(remainingOf(given))).toBe(remaining);
  });

  test.each<[string, Balance, string, boolean]>([
    ['all that is left', balance({ used: '40' }), '60', true],
    ['a little more', balance({ used: '40' }), '60.000000000001', false],
    ['more, as overage', balance({ used: '40', isOverageAllowed: true }), '61', true],
    ['more, without a limit', balance({ allowance: null }), '1000000', true],
    [
      'nothing without an entitlement',
      balance({ isEntitled: false, isOverageAllowed: true }),
      '1',
      false,
    ],
  ])('allows %s', (_, given, quantity, expected) => {
    expect(allows(given, number(quantity))).toBe(expected);
  });
});

describe('plan usage', () => {
  test.each<[string, [string, string, string], string, string | null, string]>([
    ['what they allow', ['0', '0', '0'], '120', '100', '100'],
    ['all of it', ['0', '0', '0'], '60', '100', '60'],
    ['all of it, without a limit', ['0', '0', '0'], '120', null, '120'],
    ['what they allowed before', ['90', '0', '80'], '95', '10', '80'],
    ['no more than is left of it', ['90', '0', '80'], '30', '10', '30'],
    ['all of it, if grants covered what is voided', ['90', '20', '70'], '85', '10', '70'],
    ['more, since they allow more', ['90', '0', '80'], '200', '100', '100'],
  ])('%s', (_, [before, spent, covered], used, allowance, expected) => {
    const { row } = balance({ used: before, spent, covered });
    const after = withUsed(row, number(used), allowance === null ? null : number(allowance));
    expect(formatExact(after.used)).toBe(used);
    expect(formatExact(after.planUsage)).toBe(expected);
  });
});

describe('expired grant usage', () => {
  test.each<[string, string, string | null, string]>([
    ['stays when usage grows', '140', '100', '20'],
    ['ends with voided usage that it covered', '105', '100', '5'],
    ['ends when the allowance covers what is left', '60', '100', '0'],
    ['stays while overage is voided', '125', '90', '20'],
    ['ends with voided usage below a larger allowance', '119', '200', '19'],
    ['ends with voided usage below no limit', '110', null, '10'],
    ['ends with voided usage after the allowance fell below plan usage', '105', '10', '5'],
  ])('%s', (_, used, allowance, expected) => {
    const { row } = balance({ used: '120', spent: '20', covered: '100' });
    const before = used === '125' ? { ...row, used: number('130') } : row;
    const after = withUsed(before, number(used), allowance === null ? null : number(allowance));
    expect(formatExact(after.expiredGrantUsage)).toBe(expected);
  });
});

describe('thresholds', () => {
  const notified = (used: string, thresholds: number[], before: number[] = []) => {
    const given = balance({ used });
    return newlyReached(
      { ...given, row: { ...given.row, notifiedThresholds: before } },
      thresholds,
    );
  };

  test.each([
    ['79.99', [80, 100], [], []],
    ['80', [80, 100], [], [80]],
    ['80', [80, 100], [80], []],
    ['150', [100, 80], [], [80, 100]],
    ['150', [150, 80], [80], [150]],
    ['100', [80, 80], [], [80]],
  ])('at %s of 100, of %j with %j notified: %j', (used, thresholds, before, expected) => {
    expect(notified(used, thresholds, before)).toEqual(expected);
  });

  test.each([
    ['nothing is used', balance({ allowance: ZERO })],
    ['there is no limit', balance({ allowance: null, used: '5' })],
    ['nothing is counted', balance({ type: 'static', used: '100' })],
    ['there is no entitlement', balance({ isEntitled: false, used: '5' })],
  ])('none is reached where %s', (_, given) => {
    expect(newlyReached(given, [80, 100])).toEqual([]);
  });

  test('a limit of nothing is reached with the first use', () => {
    expect(newlyReached(balance({ allowance: ZERO, used: '1' }), [80, 100])).toEqual([80, 100]);
  });
});
