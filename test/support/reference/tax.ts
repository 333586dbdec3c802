import { TAX_RATES } from './catalog';
import type { BilledLine } from './line';
import { type Fraction, fraction, fromDecimal, rounded, shares, sum, times } from './money';

/**
 * Notes on each line the tax of what is left after discounts: one rounding for each rate over the whole invoice, split
 * over the lines. Returns what comes on top. No customer of the model has rates of both kinds.
 */
export function taxLines(lines: readonly BilledLine[], taxes: readonly number[]): bigint {
  const rates = taxes.flatMap((index) => TAX_RATES[index] ?? []);
  return sum(
    rates.map(({ percentage, inclusive }) => {
      const { over, under } = fromDecimal(percentage);
      const rate = fraction(over, 100n * under + (inclusive ? over : 0n));
      const exact = lines.map(({ amount, discount }) => times(fraction(amount - discount), rate));
      const tax = rounded(addedUp(exact, rate));
      shares(tax, exact).forEach((share, index) => {
        const line = lines[index];
        if (line === undefined) return;
        line.tax += share;
        if (inclusive) line.taxWithin += share;
      });
      return inclusive ? 0n : tax;
    }),
  );
}

function addedUp(exact: readonly Fraction[], { under }: Fraction): Fraction {
  return fraction(sum(exact.map(({ over }) => over)), under);
}
