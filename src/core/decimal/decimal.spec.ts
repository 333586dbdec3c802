import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { formatDecimal, formatExact, parseDecimal, parseExact, rational } from './index';

describe('a quantity or unit price is a plain decimal string', () => {
  test.each([
    ['0', 0n, 1n],
    ['-0', 0n, 1n],
    ['10.625', 85n, 8n],
    ['0.0125', 1n, 80n],
    ['-4.4556', -11139n, 2500n],
    ['100', 100n, 1n],
    ['1.50', 3n, 2n],
    ['99999999999999999999.999999999999999999', 10n ** 38n - 1n, 10n ** 18n],
  ])('%s', (text, numerator, denominator) => {
    expect(() => parseDecimal(text)).not.toThrow();
    expect(parseDecimal(text)).toEqual(rational(numerator, denominator));
  });

  test.each([
    ...['', ' 1', '1 ', '1.', '.5', '+1', '1e3', '0x10', '01', '--1', 'NaN', 'Infinity', '1,5'],
    ...['1/3', '١', '100000000000000000000', '0.1234567890123456789', '1\n'],
  ])('%j is none', (text) => {
    expect(() => parseDecimal(text)).toThrow();
    expect(() => parseDecimal(text)).toThrow(InvariantError);
  });
});

describe('as text', () => {
  test.each([
    [rational(1n, 80n), 4, '0.0125'],
    [rational(1n, 80n), 3, '0.013'],
    [rational(-1n, 3n), 2, '-0.33'],
    [rational(5n, 2n), 0, '3'],
    [rational(100n), 2, '100'],
    [rational(-1n, 1000n), 2, '0'],
  ])('case %#: rounded half away from zero to the digits asked for', (value, digits, text) => {
    expect(formatDecimal(value, digits)).toBe(text);
  });

  test.each([
    [rational(1n, 80n), '0.0125'],
    [rational(1n, 2n ** 5n), '0.03125'],
    [rational(67500n, 31n), '67500/31'],
    [rational(-1n, 3n), '-1/3'],
    [rational(1200n), '1200'],
  ])('case %#: a trace keeps the decimal, or the ratio where there is none', (value, text) => {
    expect(formatExact(value)).toBe(text);
  });

  test.each(['', '1/0', '1.5/2', 'x', '1/-2', '1e3'])('%j is no exact number', (text) => {
    expect(() => parseExact(text)).toThrow(InvariantError);
  });

  test('what was written exactly reads back the same', () => {
    fc.assert(
      fc.property(
        fc.bigInt(),
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        (numerator, denominator) => {
          const value = rational(numerator, denominator);
          expect(parseExact(formatExact(value))).toEqual(value);
        },
      ),
    );
  });
});
