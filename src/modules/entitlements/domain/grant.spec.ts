import fc from 'fast-check';
import published from '../../../../test/vectors/published-cases.json';
import {
  add,
  compare,
  formatExact,
  parseDecimal,
  rational,
  sum,
  ZERO,
} from '../../../core/decimal';
import { burnDown, type GrantBalance, inBurnDownOrder, rolledOver } from './grant';
import { afterReset, withoutGrant, spreadOverGrants } from './entitlement-balance';

const number = (text: string) => parseDecimal(text);
const instant = (text: string) => new Date(`2026-${text}T00:00:00Z`);

function grant(id: string, balance: string, fields: Partial<GrantBalance> = {}): GrantBalance {
  return {
    id,
    balance: number(balance),
    priority: 1,
    expiresAt: null,
    createdAt: instant('01-01'),
    rollover: null,
    ...fields,
  };
}

const rollover = (min: string, max: string) => ({ min: number(min), max: number(max) });
const NEXT = { reset: 'month', startAt: instant('02-01'), endAt: instant('03-01') } as const;
const usedOf = (used: string) => ({
  window: null,
  coveredUntil: null,
  used: number(used),
  expiredGrantUsage: ZERO,
  planUsage: ZERO,
  notifiedThresholds: [],
});

describe('grants are used up by priority, then expiry, then age', () => {
  test.each<[string, GrantBalance[], string[]]>([
    ['the lower priority', [grant('b', '1', { priority: 2 }), grant('a', '1')], ['a', 'b']],
    [
      'of one priority the earliest expiry, and last those without one',
      [
        grant('c', '1'),
        grant('b', '1', { expiresAt: instant('03-01') }),
        grant('a', '1', { expiresAt: instant('02-01') }),
      ],
      ['a', 'b', 'c'],
    ],
    [
      'priority before expiry',
      [grant('b', '1', { priority: 5, expiresAt: instant('02-01') }), grant('a', '1')],
      ['a', 'b'],
    ],
    [
      'of one expiry the older',
      [grant('a', '1', { createdAt: instant('01-02') }), grant('b', '1')],
      ['b', 'a'],
    ],
    ['of one instant the earlier id', [grant('b', '1'), grant('a', '1')], ['a', 'b']],
  ])('%s', (_, grants, expected) => {
    expect(inBurnDownOrder(grants).map(({ id }) => id)).toEqual(expected);
  });
});

describe('burn-down', () => {
  const grants = [grant('a', '100'), grant('b', '50.5', { priority: 2 })];

  test.each([
    ['0', ['0', '0'], '0'],
    ['99.9', ['99.9', '0'], '0'],
    ['100', ['100', '0'], '0'],
    ['120.25', ['100', '20.25'], '0'],
    ['150.5', ['100', '50.5'], '0'],
    ['200', ['100', '50.5'], '49.5'],
  ])('%s takes %j and leaves %s uncovered', (amount, taken, uncovered) => {
    const result = burnDown(grants, number(amount));
    expect(result.parts.map((part) => formatExact(part.taken))).toEqual(taken);
    expect(formatExact(result.uncovered)).toBe(uncovered);
  });

  const amounts = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.constantFrom(1n, 10n, 1000n))
    .map(([numerator, denominator]) => rational(numerator, denominator));
  const anyCredits = fc.uniqueArray(
    fc.record({
      id: fc.stringMatching(/^g[0-9]{3}$/),
      balance: amounts,
      priority: fc.integer({ min: 0, max: 3 }),
      expiresAt: fc.option(fc.integer({ min: 1, max: 3 }).map((day) => instant(`02-0${day}`))),
      createdAt: fc.integer({ min: 1, max: 3 }).map((day) => instant(`01-0${day}`)),
      rollover: fc.option(
        fc
          .tuple(amounts, amounts)
          .map(([one, other]) =>
            compare(one, other) <= 0 ? { min: one, max: other } : { min: other, max: one },
          ),
      ),
    }),
    { selector: ({ id }) => id, maxLength: 8 },
  );

  test('never goes below zero, adds up, and takes from the next grant only when the one before is empty', () => {
    fc.assert(
      fc.property(anyCredits, amounts, (given, amount) => {
        const { parts, uncovered } = burnDown(given, amount);
        expect(add(sum(parts.map(({ taken }) => taken)), uncovered)).toEqual(amount);
        for (const { grant: one, taken, left } of parts) {
          expect(compare(left, ZERO)).toBeGreaterThanOrEqual(0);
          expect(add(taken, left)).toEqual(one.balance);
        }
        const firstLeft = parts.findIndex(({ left }) => compare(left, ZERO) > 0);
        const after = firstLeft === -1 ? [] : parts.slice(firstLeft + 1);
        expect(after.every(({ taken }) => compare(taken, ZERO) === 0)).toBe(true);
        expect(firstLeft === -1 || compare(uncovered, ZERO) === 0).toBe(true);
        expect(parts.map(({ grant: one }) => one)).toEqual(inBurnDownOrder(given));
      }),
    );
  });

  test('does not depend on the order of the input', () => {
    fc.assert(
      fc.property(anyCredits, amounts, (given, amount) => {
        expect(burnDown([...given].reverse(), amount)).toEqual(burnDown(given, amount));
      }),
    );
  });

  test('ending a grant does not change the usage taken from the others', () => {
    fc.assert(
      fc.property(anyCredits, amounts, amounts, (given, allowance, used) => {
        const [gone] = inBurnDownOrder(given);
        if (gone === undefined) return;
        const counter = {
          window: null,
          coveredUntil: null,
          used,
          expiredGrantUsage: ZERO,
          planUsage: ZERO,
          notifiedThresholds: [],
        };
        const before = spreadOverGrants(given, allowance, counter);
        const after = withoutGrant(counter, given, allowance, gone.id);
        const rest = spreadOverGrants(after.grants, allowance, after.counter);
        expect(rest).toEqual(before.filter(({ grant: one }) => one.id !== gone.id));
      }),
    );
  });

  test('the balance after a reset lies between min and max, and is zero without a rollover', () => {
    fc.assert(
      fc.property(anyCredits, amounts, amounts, (given, allowance, used) => {
        const counter = {
          window: null,
          coveredUntil: null,
          used,
          expiredGrantUsage: ZERO,
          planUsage: ZERO,
          notifiedThresholds: [80],
        };
        const { grants: left, counter: next } = afterReset(counter, given, allowance, NEXT);
        expect(next).toEqual({
          window: NEXT,
          coveredUntil: null,
          used: ZERO,
          expiredGrantUsage: ZERO,
          planUsage: ZERO,
          notifiedThresholds: [],
        });
        for (const { rollover: rule, balance } of left) {
          expect(compare(balance, rule?.max ?? ZERO)).toBeLessThanOrEqual(0);
          expect(compare(balance, rule?.min ?? ZERO)).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('rolling over', () => {
  test.each([
    [null, '400', '0'],
    [rollover('0', '1000'), '400', '400'],
    [rollover('0', '100'), '400', '100'],
    [rollover('50', '100'), '0', '50'],
    [rollover('50', '100'), '75', '75'],
    [rollover('0', '0'), '75', '0'],
    [rollover('10', '10'), '3', '10'],
  ])('by %j, %s becomes %s', (rule, ending, expected) => {
    expect(formatExact(rolledOver(rule, number(ending)))).toBe(expected);
  });
});

/** Computes the result of each published case, by the name of the case. */
const computed: Readonly<Record<string, () => string>> = {
  E01: () => {
    const grants = [
      grant('g1', '1000', { rollover: rollover('0', '1000') }),
      grant('g2', '1000', { rollover: rollover('0', '100') }),
    ];
    const { grants: left } = afterReset(usedOf('600'), grants, ZERO, NEXT);
    return formatExact(sum(left.map(({ balance }) => balance)));
  },
};

describe('published cases of entitlements', () => {
  const cases = published.cases.filter(({ area }) => /rollover|entitlement|grant/.test(area));

  test.each(cases)('$id $area: $rule', ({ id, expected }) => {
    expect(computed[id]?.()).toBe(JSON.stringify(expected));
  });

  test('every case is computed', () => {
    expect(cases.map(({ id }) => id).sort()).toEqual(Object.keys(computed).sort());
  });
});
