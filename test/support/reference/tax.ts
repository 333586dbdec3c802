import { TAX_RATES } from './catalog';
import type { BilledLine } from './line';
import { type Fraction, fraction, fromDecimal, plus, rounded, shares, sum, times } from './money';

/**
 * Adds to each line the tax on its amount after discounts: one rounding per rate over the whole invoice, split over the
 * lines. Returns the exclusive tax. No customer of the model has both kinds of rates.
 */
export function taxLines(lines: readonly BilledLine[], taxes: readonly number[]): bigint {
  const rates = taxes.flatMap((index) => TAX_RATES[index] ?? []);
  return sum(
    rates.map(({ percentage, inclusive }, place) => {
      const { over, under } = fromDecimal(percentage);
      const rate = fraction(over, 100n * under + (inclusive ? over : 0n));
      const exact = lines.map((line) => taxOf(line, rate, place));
      const tax = rounded(exact.reduce(plus));
      shares(tax, exact).forEach((share, index) => {
        const line = lines[index];
        if (line === undefined) return;
        line.tax += share;
        line.taxes = [...line.taxes, share];
        if (inclusive) line.taxWithin += share;
      });
      return inclusive ? 0n : tax;
    }),
  );
}

/**
 * Returns the exact tax of a line. A credit gives back the tax that was billed, at the same rate: never more than is
 * left of it, and all of it with the last of the credited lines.
 */
function taxOf({ amount, discount, back }: BilledLine, rate: Fraction, place: number): Fraction {
  if (back === null) return times(fraction(amount - discount), rate);
  if (amount === 0n) return fraction(0n);
  const left = sum(
    back.lines.map(({ taxes, noted }) => (taxes[place] ?? 0n) - (noted.taxes[place] ?? 0n)),
  );
  const exact = times(fraction(-amount), rate);
  const isMore = exact.over > left * exact.under;
  return -amount === back.held || isMore ? fraction(-left) : { ...exact, over: -exact.over };
}
