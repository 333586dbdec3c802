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
  source('b', '200', { type: 'addon' }),
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
    const found = formerAllowances(row, new Map(until.map(([id, end]) => [id, at(end)])), NOW);
    expect(found).toEqual(
      (expected as readonly [number, string | null][]).map(([second, value]) => ({
        until: at(second),
        allowance: value === null ? null : parseExact(value),
      })),
    );
  });

  it('are zero for a customer who was not entitled', () => {
    const row = { sources: [], allowance: rational(5n), isEntitled: false };
    expect(formerAllowances(row, new Map(), NOW)).toEqual([{ until: NOW, allowance: ZERO }]);
  });
});

describe('the allowance at an instant', () => {
  const amount = (value: string | null) => (value === null ? null : parseExact(value));
  const former = (...values: readonly (string | null)[]) =>
    values.map((value, index) => ({ until: at(4 + 2 * index), allowance: amount(value) }));

  it.each<[string, readonly (string | null)[], number, string | null, string | null]>([
    ['is the stored one up to the first end', ['100', '0'], 4, '200', '100'],
    ['is that of the others after an end', ['150', '100', '0'], 6, '0', '100'],
    ['is zero after the last end', ['100', '0'], 5, '0', '0'],
    ['is that of the new period after a renewal', ['100', '0'], 5, '50', '50'],
    ['has no limit if the new period has none', ['100', '0'], 5, null, null],
    ['has no limit if the stored one has none', [null, '5'], 3, '5', null],
    ['has a limit after the end of a plan without one', [null, '5'], 5, '5', '5'],
    ['has no limit if another plan has none', ['100', null], 5, null, null],
  ])('%s', (_, values, second, given, expected) => {
    expect(allowanceAt(former(...values), at(second), amount(given))).toEqual(amount(expected));
  });
});
