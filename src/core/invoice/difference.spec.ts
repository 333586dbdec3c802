import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { differences, type KeyedAmount } from './index';

const keyed = (key: string, amountMinor: bigint, currency = 'USD'): KeyedAmount => ({
  key,
  amountMinor,
  currency,
});

describe('an invoice says what should have been billed, less what was', () => {
  test.each<[string, KeyedAmount[], KeyedAmount[], [string, bigint][]]>([
    ['all of it the first time', [keyed('march', 500n)], [], [['march', 500n]]],
    ['nothing the second time', [keyed('march', 500n)], [keyed('march', 500n)], []],
    [
      'a better tier gives some back',
      [keyed('calls', 8000n)],
      [keyed('calls', 15000n)],
      [['calls', -7000n]],
    ],
    ['what is no longer due comes back whole', [], [keyed('march', 500n)], [['march', -500n]]],
    [
      'several lines of one thing count together',
      [keyed('calls', 900n)],
      [keyed('calls', 500n), keyed('calls', 300n)],
      [['calls', 100n]],
    ],
    ['a line and its credit cancel out', [], [keyed('march', 500n), keyed('march', -500n)], []],
    ['nothing due and nothing billed', [keyed('calls', 0n)], [], []],
    [
      'new and old, in this order',
      [keyed('b', 1n), keyed('a', 2n)],
      [keyed('c', 3n)],
      [
        ['b', 1n],
        ['a', 2n],
        ['c', -3n],
      ],
    ],
  ])('%s', (_, should, billed, expected) => {
    const found = differences(should, billed);
    expect(found.map(({ key, amountMinor }) => [key, amountMinor])).toEqual(expected);
  });

  test.each<[string, KeyedAmount[], KeyedAmount[]]>([
    ['one key twice', [keyed('a', 1n), keyed('a', 2n)], []],
    ['one key in two currencies', [keyed('a', 1n)], [keyed('a', 1n, 'EUR')]],
  ])('refused: %s', (_, should, billed) => {
    expect(() => differences(should, billed)).toThrow(InvariantError);
  });

  test('a second run adds nothing, whatever was billed before', () => {
    const amounts = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c'),
        amountMinor: fc.bigInt({ min: -99n, max: 99n }),
      }),
    );
    fc.assert(
      fc.property(amounts, amounts, (due, before) => {
        const should = [...new Map(due.map((one) => [one.key, one])).values()].map((one) =>
          keyed(one.key, one.amountMinor),
        );
        const billed = before.map(({ key, amountMinor }) => keyed(key, amountMinor));
        const first = differences(should, billed);
        expect(differences(should, [...billed, ...first])).toEqual([]);
      }),
    );
  });
});
