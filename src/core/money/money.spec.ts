import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { addMoney, subtractMoney, sumMoney } from './money';

const usd = (amountMinor: bigint) => ({ amountMinor, currency: 'USD' });
const eur = (amountMinor: bigint) => ({ amountMinor, currency: 'EUR' });

describe('amounts of one currency', () => {
  test('10.99 and 0.02 make 11.01', () => {
    expect(addMoney(usd(1099n), usd(2n))).toEqual(usd(1101n));
  });

  test('a difference may be negative', () => {
    expect(subtractMoney(usd(100n), usd(250n))).toEqual(usd(-150n));
  });

  test('nothing sums to zero of the currency asked for', () => {
    expect(sumMoney('JPY', [])).toEqual({ amountMinor: 0n, currency: 'JPY' });
  });

  test('taking away what was added gives the first amount back, far beyond 2^53', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (left, right) => {
        expect(subtractMoney(addMoney(usd(left), usd(right)), usd(right))).toEqual(usd(left));
      }),
    );
  });
});

describe('amounts in different currencies are never added', () => {
  test.each([
    ['added', () => addMoney(usd(1n), eur(1n))],
    ['subtracted', () => subtractMoney(usd(1n), eur(1n))],
    ['summed', () => sumMoney('USD', [usd(1n), eur(1n)])],
    ['added even when one is zero', () => addMoney(usd(1n), eur(0n))],
  ])('%s', (_, attempt) => {
    expect(attempt).toThrow(InvariantError);
  });
});
