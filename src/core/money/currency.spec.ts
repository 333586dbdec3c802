import { data, publishDate } from 'currency-codes';
import { InvariantError } from '../invariant';
import { isCurrency, minorDigits } from './currency';

describe('minor digits follow ISO 4217', () => {
  test.each([
    ['USD', 2],
    ['EUR', 2],
    ['JPY', 0],
    ['KRW', 0],
    ['ISK', 0],
    ['KWD', 3],
    ['BHD', 3],
    ['CLF', 4],
    ['MRU', 2],
    ['XAF', 0],
    ['XOF', 0],
    ['XPF', 0],
    ['XCD', 2],
  ])('%s has %i', (code, digits) => {
    expect(isCurrency(code)).toBe(true);
    expect(minorDigits(code)).toBe(digits);
  });
});

describe('the currencies of ISO 4217, edition of 2026-01-01', () => {
  it('are those of the list of 2024-06-25 with the changes since; a newer list makes them unnecessary', () => {
    expect(publishDate).toBe('2024-06-25');
  });

  it('have XCG, of Curaçao and Sint Maarten since 2025, in the place of ANG', () => {
    expect([isCurrency('XCG'), minorDigits('XCG'), isCurrency('ANG')]).toEqual([true, 2, false]);
  });

  it('have no BGN: Bulgaria has the euro since 2026-01-01', () => {
    expect([isCurrency('EUR'), isCurrency('BGN')]).toEqual([true, false]);
  });

  it.each(['ANG', 'BGN'])('leave amounts stored in %s readable', (code) => {
    expect(minorDigits(code)).toBe(2);
  });
});

describe('what is not a currency', () => {
  test.each(['usd', 'Usd', '', 'US', 'USDD', 'ABC', '840', 'constructor', '__proto__'])(
    '%j is refused: codes are three upper-case letters from the list',
    (code) => {
      expect(isCurrency(code)).toBe(false);
      expect(() => minorDigits(code)).toThrow(InvariantError);
    },
  );

  test('former currencies, metals, units of account, the test code and "no currency" cannot be billed in', () => {
    const refused = data.map(({ code }) => code).filter((code) => !isCurrency(code));
    expect(refused.join(' ')).toBe('ANG BGN XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX');
  });
});
