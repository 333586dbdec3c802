import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { multiplyByRatio, roundHalfAwayFromZero } from './rounding';

describe('rounding is half away from zero', () => {
  test.each([
    [0n, 1n, 0n],
    [1n, 2n, 1n],
    [-1n, 2n, -1n],
    [1n, -2n, -1n],
    [-1n, -2n, 1n],
    [3n, 2n, 2n],
    [5n, 2n, 3n], // not to even
    [-5n, 2n, -3n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [49n, 100n, 0n],
    [50n, 100n, 1n],
    [-49n, 100n, 0n],
    [10275n, 10n, 1028n], // 10.275 USD
    [10005n, 10n, 1001n], // 1000.5 JPY
    [9007199254740993n, 1n, 9007199254740993n], // beyond what a double holds
  ])('%d / %d rounds to %d', (numerator, denominator, rounded) => {
    expect(roundHalfAwayFromZero(numerator, denominator)).toBe(rounded);
  });

  test('nothing is divided by zero', () => {
    expect(() => roundHalfAwayFromZero(1n, 0n)).toThrow(InvariantError);
  });

  test('it misses the exact value by at most a half, and by a half only away from zero', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
        const missTwice =
          2n * (roundHalfAwayFromZero(numerator, denominator) * denominator - numerator);
        expect(missTwice <= denominator && missTwice >= -denominator).toBe(true);
        if (missTwice === denominator) expect(numerator > 0n).toBe(true);
        if (missTwice === -denominator) expect(numerator < 0n).toBe(true);
      }),
    );
  });

  test('a credit rounds as the charge it mirrors', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
        expect(roundHalfAwayFromZero(-numerator, denominator)).toBe(
          -roundHalfAwayFromZero(numerator, denominator),
        );
      }),
    );
  });
});

describe('an amount times a ratio', () => {
  test.each([
    [5000n, 22n, 31n, 3548n],
    [59995n, 29n, 31n, 56124n],
    [20000n, 29n, 30n, 19333n],
    [1000n, 0n, 31n, 0n],
    [-1000n, 17n, 31n, -548n],
  ])('%d x %d/%d is %d', (amountMinor, numerator, denominator, expected) => {
    expect(multiplyByRatio(amountMinor, numerator, denominator)).toBe(expected);
  });

  test('the whole of an amount is the amount', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (amountMinor, days) => {
        expect(multiplyByRatio(amountMinor, days, days)).toBe(amountMinor);
      }),
    );
  });
});
