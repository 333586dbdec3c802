import { formatAmount, formatQuantity, formatUnitPrice } from './figures';

/** Replaces separators by the characters that people type, so that the tables below are readable. */
const plain = (text: string): string => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-');

describe('figures on paper', () => {
  it.each([
    [0n, 'USD', '0.00'],
    [5n, 'USD', '0.05'],
    [-5n, 'USD', '-0.05'],
    [1099n, 'EUR', '10.99'],
    [100_000n, 'EUR', '1 000.00'],
    [1_234_567n, 'JPY', '1 234 567'],
    [-999n, 'JPY', '-999'],
    [1n, 'KWD', '0.001'],
    [9_007_199_254_740_991n, 'KWD', '9 007 199 254 740.991'],
  ])('%s minor units of %s read %s', (amount, currency, text) => {
    expect(plain(formatAmount(amount, currency))).toBe(text);
  });

  it.each([
    ['1000', 'USD', '10.00'],
    ['0.0125', 'USD', '0.000125'],
    ['12.50', 'USD', '0.125'],
    ['0.5', 'JPY', '0.5'],
    ['1500.00', 'JPY', '1 500'],
    ['1.5', 'KWD', '0.0015'],
  ])('a unit price of %s minor units of %s reads %s', (price, currency, text) => {
    expect(plain(formatUnitPrice(price, currency))).toBe(text);
  });

  it.each([
    ['5', '5'],
    ['10.50', '10.5'],
    ['1234567.000', '1 234 567'],
    ['0.123456', '0.123456'],
  ])('a quantity of %s reads %s', (quantity, text) => {
    expect(plain(formatQuantity(quantity))).toBe(text);
  });
});
