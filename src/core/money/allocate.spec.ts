import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { allocate, allocateShares } from './allocate';
import { roundHalfAwayFromZero } from './rounding';

const total = (parts: readonly bigint[]) => parts.reduce((sum, part) => sum + part, 0n);
const magnitude = (value: bigint) => (value < 0n ? -value : value);
const weights = fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: 1, maxLength: 30 });

describe('a whole is split by largest remainder', () => {
  test.each<[string, bigint, bigint[], bigint[]]>([
    ['remainder to the largest share lost', 100n, [333n, 333n, 334n], [33n, 33n, 34n]],
    ['ties to the earlier part', 100n, [1n, 1n, 1n], [34n, 33n, 33n]],
    ['two units to the first two of three', 101n, [1n, 1n, 1n], [34n, 34n, 33n]],
    ['no remainder', 1200n, [500n, 1500n], [300n, 900n]],
    ['a zero weight gets nothing', 10n, [0n, 3n, 0n, 3n, 3n], [0n, 4n, 0n, 3n, 3n]],
    ['one part takes all', 7n, [5n], [7n]],
    ['a weight of one is a weight', 7n, [0n, 1n], [0n, 7n]],
    ['fewer units than parts', 2n, [1n, 1n, 1n], [1n, 1n, 0n]],
    ['a credit mirrors the charge', -100n, [333n, 333n, 334n], [-33n, -33n, -34n]],
    ['nothing to split', 0n, [1n, 2n], [0n, 0n]],
    ['nothing to split over nothing', 0n, [], []],
    ['nothing to split over zero weights', 0n, [0n, 0n], [0n, 0n]],
  ])('%s', (_, amountMinor, weightsGiven, parts) => {
    expect(allocate(amountMinor, weightsGiven)).toEqual(parts);
  });

  test('parts add up to the whole, carry its sign, and stay within one unit of their share', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
        weights,
        (amountMinor, given) => {
          const totalWeight = total(given);
          fc.pre(totalWeight > 0n);
          const parts = allocate(amountMinor, given);
          expect(total(parts)).toBe(amountMinor);
          parts.forEach((part, index) => {
            const share = amountMinor * (given[index] ?? 0n);
            expect(part === 0n || part > 0n === amountMinor > 0n).toBe(true);
            expect(magnitude(part * totalWeight - share) < totalWeight).toBe(true);
          });
        },
      ),
    );
  });

  test('no part takes more than its weight when the whole is no more than the weights', () => {
    fc.assert(
      fc.property(weights, fc.nat(100), (given, percent) => {
        const amountMinor = (total(given) * BigInt(percent)) / 100n;
        allocate(amountMinor, given).forEach((part, index) => {
          expect(part <= (given[index] ?? 0n)).toBe(true);
        });
      }),
    );
  });

  test.each<[string, bigint, bigint[]]>([
    ['a negative weight', 1n, [1n, -1n]],
    ['an amount over zero weights', 1n, [0n, 0n]],
    ['an amount over nothing', 1n, []],
  ])('%s is refused', (_, amountMinor, given) => {
    expect(() => allocate(amountMinor, given)).toThrow(InvariantError);
  });
});

describe('a rounded sum is split over the exact shares it was rounded from', () => {
  test.each<[string, bigint, bigint[], bigint, bigint[]]>([
    ['20% of 72686 and 4214', 15380n, [72686n * 20n, 4214n * 20n], 100n, [14537n, 843n]],
    ['a charge and a credit, ties to the earlier', 29n, [333n, -47n], 10n, [34n, -5n]],
    ['a credit and a charge, ties to the earlier', 29n, [-47n, 333n], 10n, [-4n, 33n]],
    ['the charge lost more', 29n, [57_855n, -28_927n], 1_000n, [58n, -29n]],
    ['more credit than charge', -29n, [-57_855n, 28_927n], 1_000n, [-58n, 29n]],
    ['the whole share beside them stays', 29n, [57_855n, -28_927n, 0n], 1_000n, [58n, -29n, 0n]],
    ['rounded up, more than the shares hold', 1n, [50n], 100n, [1n]],
    ['rounded away to nothing', 0n, [30n, 15n], 100n, [0n, 0n]],
    ['opposite shares', 0n, [150n, -150n], 100n, [2n, -2n]],
    ['opposite shares, the credit first', 0n, [-150n, 150n], 100n, [-2n, 2n]],
  ])('%s', (_, amountMinor, shares, denominator, parts) => {
    expect(allocateShares(amountMinor, shares, denominator)).toEqual(parts);
  });

  test('parts add up, mirror with their shares, and stay within one unit', () => {
    const shares = fc.array(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), { maxLength: 30 });
    fc.assert(
      fc.property(shares, fc.bigInt({ min: 1n, max: 10n ** 6n }), (given, denominator) => {
        const amountMinor = roundHalfAwayFromZero(total(given), denominator);
        const parts = allocateShares(amountMinor, given, denominator);
        expect(total(parts)).toBe(amountMinor);
        parts.forEach((part, index) => {
          expect(magnitude(part * denominator - (given[index] ?? 0n)) < denominator).toBe(true);
        });
        const mirrored = allocateShares(
          -amountMinor,
          given.map((share) => -share),
          denominator,
        );
        expect(mirrored).toEqual(parts.map((part) => -part));
      }),
    );
  });

  test.each<[string, bigint, bigint[], bigint]>([
    ['an amount that is not the sum', 5n, [100n], 100n],
    ['one unit more than the sum', 2n, [100n], 100n],
    ['one unit less than the sum', 0n, [100n], 100n],
    ['a denominator of zero', 0n, [], 0n],
  ])('%s is refused', (_, amountMinor, shares, denominator) => {
    expect(() => allocateShares(amountMinor, shares, denominator)).toThrow(InvariantError);
  });
});
