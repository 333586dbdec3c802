import { data } from 'currency-codes';
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

describe('what is not a currency', () => {
  test.each(['usd', 'Usd', '', 'US', 'USDD', 'ABC', '840', 'constructor', '__proto__'])(
    '%j is refused: codes are three upper-case letters from the list',
    (code) => {
      expect(isCurrency(code)).toBe(false);
      expect(() => minorDigits(code)).toThrow(InvariantError);
    },
  );

  test('metals, units of account, the test code and "no currency" have no minor unit and cannot be billed in', () => {
    const refused = data.map(({ code }) => code).filter((code) => !isCurrency(code));
    expect(refused.join(' ')).toBe('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX');
  });
});
