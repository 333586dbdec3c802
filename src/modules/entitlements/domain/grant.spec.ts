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
import { burn, type Credit, inBurningOrder, rolledOver } from './grant';
import { afterReset, withoutCredit, spreadOver } from './holding';

const number = (text: string) => parseDecimal(text);
const instant = (text: string) => new Date(`2026-${text}T00:00:00Z`);

function credit(id: string, balance: string, fields: Partial<Credit> = {}): Credit {
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
  used: number(used),
  spent: ZERO,
  covered: ZERO,
  told: [],
});

describe('grants are used up by priority, then expiry, then age', () => {
  test.each<[string, Credit[], string[]]>([
    ['the lower priority', [credit('b', '1', { priority: 2 }), credit('a', '1')], ['a', 'b']],
    [
      'of one priority what expires first, and last what never does',
      [
        credit('c', '1'),
        credit('b', '1', { expiresAt: instant('03-01') }),
        credit('a', '1', { expiresAt: instant('02-01') }),
      ],
      ['a', 'b', 'c'],
    ],
    [
      'priority before expiry',
      [credit('b', '1', { priority: 5, expiresAt: instant('02-01') }), credit('a', '1')],
      ['a', 'b'],
    ],
    [
      'of one expiry the older',
      [credit('a', '1', { createdAt: instant('01-02') }), credit('b', '1')],
      ['b', 'a'],
    ],
    ['of one instant the earlier id', [credit('b', '1'), credit('a', '1')], ['a', 'b']],
  ])('%s', (_, credits, expected) => {
    expect(inBurningOrder(credits).map(({ id }) => id)).toEqual(expected);
  });
});

describe('burning', () => {
  const credits = [credit('a', '100'), credit('b', '50.5', { priority: 2 })];

  test.each([
    ['0', ['0', '0'], '0'],
    ['99.9', ['99.9', '0'], '0'],
    ['100', ['100', '0'], '0'],
    ['120.25', ['100', '20.25'], '0'],
    ['150.5', ['100', '50.5'], '0'],
    ['200', ['100', '50.5'], '49.5'],
  ])('%s takes %j and leaves %s uncovered', (amount, burnt, uncovered) => {
    const result = burn(credits, number(amount));
    expect(result.parts.map((part) => formatExact(part.burnt))).toEqual(burnt);
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

  test('never goes below zero, adds up, and takes the next only once the one before is empty', () => {
    fc.assert(
      fc.property(anyCredits, amounts, (given, amount) => {
        const { parts, uncovered } = burn(given, amount);
        expect(add(sum(parts.map(({ burnt }) => burnt)), uncovered)).toEqual(amount);
        for (const { credit: one, burnt, left } of parts) {
          expect(compare(left, ZERO)).toBeGreaterThanOrEqual(0);
          expect(add(burnt, left)).toEqual(one.balance);
        }
        const firstLeft = parts.findIndex(({ left }) => compare(left, ZERO) > 0);
        const after = firstLeft === -1 ? [] : parts.slice(firstLeft + 1);
        expect(after.every(({ burnt }) => compare(burnt, ZERO) === 0)).toBe(true);
        expect(firstLeft === -1 || compare(uncovered, ZERO) === 0).toBe(true);
        expect(parts.map(({ credit: one }) => one)).toEqual(inBurningOrder(given));
      }),
    );
  });

  test('in whatever order grants come, each loses the same', () => {
    fc.assert(
      fc.property(anyCredits, amounts, (given, amount) => {
        expect(burn([...given].reverse(), amount)).toEqual(burn(given, amount));
      }),
    );
  });

  test('a grant that goes away leaves what the others lost as it was', () => {
    fc.assert(
      fc.property(anyCredits, amounts, amounts, (given, allowance, used) => {
        const [gone] = inBurningOrder(given);
        if (gone === undefined) return;
        const counter = { window: null, used, spent: ZERO, covered: ZERO, told: [] };
        const before = spreadOver(given, allowance, counter);
        const after = withoutCredit(counter, given, allowance, gone.id);
        const rest = spreadOver(after.credits, allowance, after.counter);
        expect(rest).toEqual(before.filter(({ credit: one }) => one.id !== gone.id));
      }),
    );
  });

  test('what is left after a reset lies between min and max, and is nothing without a rollover', () => {
    fc.assert(
      fc.property(anyCredits, amounts, amounts, (given, allowance, used) => {
        const counter = { window: null, used, spent: ZERO, covered: ZERO, told: [80] };
        const { credits: left, counter: next } = afterReset(counter, given, allowance, NEXT);
        expect(next).toEqual({ window: NEXT, used: ZERO, spent: ZERO, covered: ZERO, told: [] });
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

/** Each published case, computed. */
const computed: Readonly<Record<string, () => string>> = {
  E01: () => {
    const credits = [
      credit('g1', '1000', { rollover: rollover('0', '1000') }),
      credit('g2', '1000', { rollover: rollover('0', '100') }),
    ];
    const { credits: left } = afterReset(usedOf('600'), credits, ZERO, NEXT);
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
