import { parseExact, rational, ZERO } from '../../../core/decimal';
import { allowanceAt, formerAllowances } from './former-terms';
import type { SourceView } from './customer-entitlement';

const at = (second: number) => new Date(Date.UTC(2026, 3, 1, 0, 0, second));
const NOW = at(10);

const source = (
  subscriptionId: string | null,
  value: string | null,
  fields: Partial<SourceView> = {},
): SourceView => ({
  type: subscriptionId === null ? 'grant' : 'plan',
  id: 'source',
  subscriptionId,
  value,
  isCounted: true,
  ...fields,
});

const PLANS = [source('a', '100'), source('b', '50'), source(null, '30')];
/** An add-on of `b` with mode `set` replaces both plans. */
const SET = [
  source('a', '100', { isCounted: false }),
  source('b', '50', { isCounted: false }),
  source('b', '200', { type: 'addon', id: 'addon' }),
];

describe('former allowances', () => {
  it.each<[string, readonly SourceView[], string | null, object, readonly unknown[]]>([
    ['no end', PLANS, '150', { a: 10, b: 10 }, [[10, '150']]],
    [
      'one end',
      PLANS,
      '150',
      { a: 10, b: 4 },
      [
        [4, '150'],
        [10, '100'],
      ],
    ],
    [
      'two ends',
      PLANS,
      '150',
      { a: 6, b: 4 },
      [
        [4, '150'],
        [6, '100'],
        [10, '0'],
      ],
    ],
    [
      'ends together',
      PLANS,
      '150',
      { a: 4, b: 4 },
      [
        [4, '150'],
        [10, '0'],
      ],
    ],
    [
      'the end of a replacement',
      SET,
      '200',
      { a: 10, b: 4 },
      [
        [4, '200'],
        [10, '100'],
      ],
    ],
    [
      'the end of a replaced plan',
      SET,
      '200',
      { a: 4, b: 10 },
      [
        [4, '200'],
        [10, '200'],
      ],
    ],
    [
      'the end of a limit',
      [source('a', null), source('b', '5')],
      null,
      { a: 4, b: 10 },
      [
        [4, null],
        [10, '5'],
      ],
    ],
    [
      'no limit that is left',
      [source('a', null), source('b', '5')],
      null,
      { a: 10, b: 4 },
      [
        [4, null],
        [10, null],
      ],
    ],
    ['grants only', [source(null, '30')], '0', {}, [[10, '0']]],
  ])('after %s', (_, sources, allowance, ends, expected) => {
    const row = {
      sources,
      allowance: allowance === null ? null : parseExact(allowance),
      isEntitled: true,
    };
    const until = Object.entries(ends as Readonly<Record<string, number>>);
    const found = formerAllowances(row, new Map(until.map(([id, end]) => [id, at(end)])), [], NOW);
    expect(found).toEqual(
      (expected as readonly [number, string | null][]).map(([second, value]) => ({
        until: at(second),
        allowance: value === null ? null : parseExact(value),
      })),
    );
  });

  it('are zero for a customer who was not entitled', () => {
    const row = { sources: [], allowance: rational(5n), isEntitled: false };
    expect(formerAllowances(row, new Map(), [], NOW)).toEqual([{ until: NOW, allowance: ZERO }]);
  });
});

describe('former allowances with a period that began', () => {
  const SET_BY_B = source('b', '200', { type: 'addon', id: 'addon' });
  const REPLACED = source('a', '20', { isCounted: false });

  it.each<[string, readonly SourceView[], readonly SourceView[], string | null]>([
    ['count the new value beside the others', PLANS, [source('b', '20')], '120'],
    ['count none of another subscription', PLANS, [source('c', '20')], '100'],
    ['count none of a changed subscription', PLANS, [source('a', '20')], '100'],
    ['have no limit if the new period has none', PLANS, [source('b', null)], null],
    ['count an add-on that stays, but no plan that it replaces', SET, [REPLACED, SET_BY_B], '200'],
    ['count replaced plans after an add-on ended', SET, [source('b', '5')], '105'],
  ])('%s', (_, sources, given, expected) => {
    const row = { sources, allowance: rational(300n), isEntitled: true };
    const ends = new Map([
      ['a', NOW],
      ['b', at(4)],
    ]);
    expect(formerAllowances(row, ends, given, NOW)).toEqual([
      { until: at(4), allowance: rational(300n) },
      { until: NOW, allowance: expected === null ? null : parseExact(expected) },
    ]);
  });
});

describe('the allowance at an instant', () => {
  it.each([
    ['is the stored one up to the first end', 4, '150'],
    ['is that of the others after an end', 6, '100'],
    ['is zero after the last end', 7, '0'],
  ])('%s', (_, second, expected) => {
    const values = ['150', '100', '0'].map(parseExact);
    const former = values.map((allowance, index) => ({ until: at(4 + 2 * index), allowance }));
    expect(allowanceAt(former, at(second))).toEqual(parseExact(expected));
  });
});
