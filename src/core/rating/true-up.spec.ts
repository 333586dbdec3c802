import { rational, type Rational } from '../decimal';
import { InvariantError } from '../invariant';
import type { Proration } from '../proration';
import { trueUp, withinLimits } from './index';

const days = (numerator: bigint, denominator: bigint): Proration => ({
  numerator,
  denominator,
  unit: 'day',
});

describe('a minimum lifts and a maximum lowers what a price billed in a period', () => {
  test.each<[string, bigint, bigint | null, bigint | null, Proration | null, unknown]>([
    ['below the minimum', 100n, 1000n, null, null, { kind: 'minimum', amountMinor: 900n }],
    ['nothing billed', 0n, 1000n, null, null, { kind: 'minimum', amountMinor: 1000n }],
    ['at the minimum', 1000n, 1000n, null, null, null],
    ['between', 1500n, 1000n, 2000n, null, null],
    ['at the maximum', 2000n, 1000n, 2000n, null, null],
    ['above the maximum', 2500n, null, 2000n, null, { kind: 'maximum', amountMinor: -500n }],
    ['a maximum of zero', 5n, null, 0n, null, { kind: 'maximum', amountMinor: -5n }],
    ['one limit both ways, met', 1000n, 1000n, 1000n, null, null],
    ['no limits', 2500n, null, null, null, null],
    [
      'prorated, rounded once',
      0n,
      1000n,
      null,
      days(17n, 31n),
      { kind: 'minimum', amountMinor: 548n },
    ],
    [
      'a prorated maximum',
      600n,
      null,
      1000n,
      days(17n, 31n),
      { kind: 'maximum', amountMinor: -52n },
    ],
    ['nothing of the period', 0n, 1000n, null, days(0n, 31n), null],
  ])('%s', (_, billedMinor, minimumMinor, maximumMinor, proration, expected) => {
    expect(trueUp(billedMinor, { minimumMinor, maximumMinor }, proration)).toEqual(expected);
  });

  test.each([
    [2000n, 1000n],
    [-1n, null],
    [null, -1n],
  ])('a minimum of %s with a maximum of %s is refused', (minimumMinor, maximumMinor) => {
    expect(() => trueUp(0n, { minimumMinor, maximumMinor }, null)).toThrow(InvariantError);
  });
});

test.each<[string, Rational, bigint | null, bigint | null, Rational]>([
  ['below the minimum', rational(1n, 3n), 1n, null, rational(1n)],
  ['within', rational(7n, 3n), 1n, 3n, rational(7n, 3n)],
  ['above the maximum', rational(10n, 3n), 1n, 3n, rational(3n)],
  ['without limits', rational(10n, 3n), null, null, rational(10n, 3n)],
])('a full period costs, %s, exactly', (_, full, minimumMinor, maximumMinor, expected) => {
  expect(withinLimits(full, { minimumMinor, maximumMinor })).toEqual(expected);
});
