import fc from 'fast-check';
import { rational, ZERO } from '../decimal';
import { type RateSplit, splitByExactTaxes, withinAmounts } from './split';
import { exactTaxesOf } from './index';

/** The rule of {@link withinAmounts}, which searches all lines for each minor unit that it moves. */
function searchedWithinAmounts(
  amountsMinor: readonly bigint[],
  splits: readonly RateSplit[],
): readonly RateSplit[] {
  const moved = splits.map((split) => ({ ...split, partsMinor: [...split.partsMinor] }));
  const inclusive = moved.filter((split) => split.inclusive).reverse();
  if (inclusive.length < 2) return splits;
  const remainderOf = (split: RateSplit, line: number): bigint =>
    (split.numerators[line] ?? 0n) - (split.partsMinor[line] ?? 0n) * split.denominator;
  const isExceeded = (line: number, addedMinor = 0n): boolean => {
    const amountMinor = amountsMinor[line] ?? 0n;
    const taxMinor = inclusive.reduce(
      (all, split) => all + (split.partsMinor[line] ?? 0n),
      addedMinor,
    );
    return amountMinor < 0n ? taxMinor < amountMinor : taxMinor > amountMinor;
  };
  amountsMinor.forEach((amountMinor, from) => {
    const unit = amountMinor < 0n ? -1n : 1n;
    for (const split of isExceeded(from) ? inclusive : []) {
      const receivers = amountsMinor
        .map((_, line) => ({ line, remainder: remainderOf(split, line) * unit }))
        .filter(({ line, remainder }) => remainder > 0n && !isExceeded(line, unit));
      const [first, ...others] = receivers;
      if (first === undefined || remainderOf(split, from) * unit >= 0n) continue;
      const to = others.reduce((best, one) => (one.remainder > best.remainder ? one : best), first);
      split.partsMinor[from] = (split.partsMinor[from] ?? 0n) - unit;
      split.partsMinor[to.line] = (split.partsMinor[to.line] ?? 0n) + unit;
      if (!isExceeded(from)) break;
    }
  });
  return moved;
}

const percentages = fc.constantFrom('50', '60', '19', '5.5', '100', '33.3', '7');
const rates = fc
  .array(fc.record({ percentage: percentages, inclusive: fc.boolean() }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((some) => [
    ...[80, 50].map((percent) => ({ percentage: `${percent}`, inclusive: true })),
    ...some,
  ])
  .map((all) => all.map((rate, index) => ({ ...rate, taxRateId: `rate_${index}` })));
const lines = fc.array(
  fc.record({
    amountMinor: fc.bigInt({ min: -4n, max: 4n }),
    /** Bits: the line has the rate at this place. */
    carried: fc.oneof(fc.constant(15), fc.nat(15)),
    /** Tax that the line keeps of an earlier bill, in sixths of a minor unit. */
    kept: fc.oneof(fc.constant(null), fc.constant(null), fc.bigInt({ min: -24n, max: 24n })),
  }),
  { maxLength: 40 },
);

test('units move to the same lines as if all lines were searched for each of them', () => {
  fc.assert(
    fc.property(lines, rates, (given, applied) => {
      const amounts = given.map(({ amountMinor }) => amountMinor);
      const exact = given.map(({ amountMinor, carried }) => {
        const own = applied.filter((_, place) => (carried >> place) % 2 === 1);
        return exactTaxesOf(amountMinor, own);
      });
      const splits = applied.map(({ taxRateId, inclusive }) =>
        splitByExactTaxes(
          inclusive,
          given.map(({ kept }, index) => {
            const tax = exact[index]?.get(taxRateId);
            return tax === undefined || kept === null ? (tax ?? ZERO) : rational(kept, 6n);
          }),
        ),
      );
      const expected = searchedWithinAmounts(amounts, splits);
      expect(withinAmounts(amounts, splits)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test('thousands of lines of one minor unit with two inclusive rates are read a few times each', () => {
  const half = Array.from({ length: 4000 }, () => rational(1n, 4n));
  let reads = 0;
  const countReads = (split: RateSplit): RateSplit => ({
    ...split,
    numerators: new Proxy(split.numerators, {
      get: (numerators, key): unknown => {
        reads += 1;
        return Reflect.get(numerators, key);
      },
    }),
  });
  const split = splitByExactTaxes(true, half);
  const amounts = half.map(() => 1n);
  const [first, second] = withinAmounts(amounts, [countReads(split), countReads(split)]);
  expect(first?.partsMinor.map((part, line) => part + (second?.partsMinor[line] ?? 0n))).toEqual(
    half.map((_, line) => (line < 2000 ? 1n : 0n)),
  );
  expect(reads).toBeLessThan(100 * half.length);
});
