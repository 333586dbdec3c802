import fc from 'fast-check';
import { InvariantError } from '../invariant';
import * as exact from './index';
import { parseDecimal, rational, type Rational } from './index';

const anyRational = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 10n ** 9n }))
  .map(([numerator, denominator]) => rational(numerator, denominator));

describe('a number is kept in lowest terms', () => {
  test.each([
    [rational(2n, 4n), rational(1n, 2n)],
    [rational(1n, -2n), rational(-1n, 2n)],
    [rational(0n, -7n), exact.ZERO],
    [rational(10n, 5n), rational(2n)],
  ])('case %#', (left, right) => {
    expect(left).toEqual(right);
  });

  test('nothing is divided by zero', () => {
    expect(() => rational(1n, 0n)).toThrow(InvariantError);
    expect(() => exact.divide(rational(1n), exact.ZERO)).toThrow(InvariantError);
  });
});

describe('arithmetic loses nothing', () => {
  test('0.1 + 0.2 is 0.3', () => {
    expect(exact.add(parseDecimal('0.1'), parseDecimal('0.2'))).toEqual(parseDecimal('0.3'));
  });

  test('a third, three times, is one', () => {
    const third = exact.divide(rational(1n), rational(3n));
    expect(exact.sum([third, third, third])).toEqual(rational(1n));
  });

  test('what is added can be taken away, what is multiplied divided', () => {
    fc.assert(
      fc.property(anyRational, anyRational, (left, right) => {
        expect(exact.subtract(exact.add(left, right), right)).toEqual(left);
        if (exact.compare(right, exact.ZERO) !== 0) {
          expect(exact.divide(exact.multiply(left, right), right)).toEqual(left);
        }
      }),
    );
  });

  test('a sum is the sum one by one, and its shares over one denominator', () => {
    fc.assert(
      fc.property(fc.array(anyRational, { maxLength: 20 }), (values) => {
        const total = exact.sum(values);
        expect(values.reduce(exact.add, exact.ZERO)).toEqual(total);
        const { numerators, denominator } = exact.overCommonDenominator(values);
        expect(
          rational(
            numerators.reduce((all, one) => all + one, 0n),
            denominator,
          ),
        ).toEqual(total);
      }),
    );
  });

  test('one denominator is the least', () => {
    const shares = exact.overCommonDenominator([rational(1n, 4n), rational(1n, 6n), rational(2n)]);
    expect(shares).toEqual({ numerators: [3n, 2n, 24n], denominator: 12n });
    expect(exact.overCommonDenominator([])).toEqual({ numerators: [], denominator: 1n });
  });

  test('order agrees with subtraction', () => {
    fc.assert(
      fc.property(anyRational, anyRational, (left, right) => {
        const sign = exact.compare(left, right);
        expect(sign).toBe(exact.compare(exact.subtract(left, right), exact.ZERO));
        expect(exact.lesserOf(left, right)).toEqual(sign <= 0 ? left : right);
        expect(exact.greaterOf(left, right)).toEqual(sign <= 0 ? right : left);
      }),
    );
  });
});

describe('to an integer', () => {
  test.each<[Rational, bigint, bigint]>([
    [rational(5n, 2n), 3n, 3n],
    [rational(-5n, 2n), -2n, -3n],
    [rational(7n, 3n), 3n, 2n],
    [rational(4n), 4n, 4n],
    [exact.ZERO, 0n, 0n],
    [rational(1n, 1000n), 1n, 0n],
    [rational(-1n, 1000n), 0n, 0n],
  ])('case %#: up and to the nearest', (value, up, nearest) => {
    expect(exact.ceiling(value)).toBe(up);
    expect(exact.roundToInteger(value)).toBe(nearest);
  });
});
