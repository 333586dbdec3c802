import { type ModelTaxRate, TAX_RATES } from './catalog';
import { type Back, type BilledLine, type LineTax, netOf } from './line';
import { type Fraction, fraction, fromDecimal, plus, rounded, shares, sum, times } from './money';

/**
 * Computes the tax of each line after discounts, with one rounding for each rate over the whole invoice. Returns the
 * exclusive tax. Charges have the rates of the customer, credits the rates of the credited lines, and added usage the
 * rates of its bill.
 */
export function taxLines(lines: readonly BilledLine[], taxes: readonly number[]): bigint {
  const rates = [...new Set([...taxes, ...lines.flatMap((line) => ratesOf(line, taxes))])];
  return sum(
    rates.map((rate) => {
      const isInclusive = rateOf(rate).inclusive;
      const exact = lines.map((line) =>
        ratesOf(line, taxes).includes(rate)
          ? taxOf(line, rate, ratesOf(line, taxes))
          : fraction(0n),
      );
      const tax = rounded(exact.reduce(plus));
      shares(tax, exact).forEach((amount, index) => {
        const line = lines[index];
        if (line === undefined || !ratesOf(line, taxes).includes(rate)) return;
        line.tax += amount;
        line.taxes = [...line.taxes, { rate, amount }];
        if (isInclusive) line.taxWithin += amount;
      });
      return isInclusive ? 0n : tax;
    }),
  );
}

function ratesOf({ back, added }: BilledLine, taxes: readonly number[]): readonly number[] {
  if (added !== null) return added.taxes;
  return back === null ? taxes : billedRates(back.lines);
}

function billedRates(lines: readonly BilledLine[]): readonly number[] {
  return [...new Set(lines.flatMap((line) => line.taxes.map(({ rate }) => rate)))];
}

/**
 * Returns the exact tax of a line at one rate. A credit takes back billed tax: at most what is left of it, and all that
 * is left if it takes back all that the credited lines hold. If the credited lines have different rates, the credit
 * takes the same share of the tax as of the amounts.
 */
function taxOf(
  { amount, discount, back }: BilledLine,
  rate: number,
  rates: readonly number[],
): Fraction {
  if (back === null) return times(fraction(amount - discount), shareOf(rateOf(rate), rates));
  const tax = taxOfPart(back, -amount, rate);
  return { ...tax, over: -tax.over };
}

function taxOfPart({ lines, held, sharesTax }: Back, amount: bigint, rate: number): Fraction {
  if (amount === 0n) return fraction(0n);
  const left = sum(lines.map((line) => taxLeft(line, rate)));
  if (amount >= held) return fraction(left);
  if (sharesTax || !isTaxedAlike(lines)) return fraction(left * amount, held);
  const exact = times(fraction(amount), shareOf(rateOf(rate), billedRates(lines)));
  return exact.over > left * exact.under ? fraction(left) : exact;
}

/** Returns the largest possible exclusive tax on an amount that is taken from lines: the sum over the rates, each rounded up. */
export function taxOnTop(back: Back, amount: bigint): bigint {
  const rates = billedRates(back.lines).filter((rate) => !rateOf(rate).inclusive);
  return sum(
    rates.map((rate) => {
      const { over, under } = taxOfPart(back, amount, rate);
      return (over + under - 1n) / under;
    }),
  );
}

/** Returns the tax of a rate as a share of an amount. The amount includes the tax of those `rates` that are inclusive. */
function shareOf({ percentage }: ModelTaxRate, rates: readonly number[]): Fraction {
  const within = rates
    .map(rateOf)
    .filter(({ inclusive }) => inclusive)
    .map((one) => fromDecimal(one.percentage))
    .reduce(plus, fraction(0n));
  const { over, under } = fromDecimal(percentage);
  return fraction(over * within.under, under * (100n * within.under + within.over));
}

/** Sums the amounts of inclusive rates. `amounts` are in the order of the rates of the line. */
export function inclusiveTaxOf(taxes: readonly LineTax[], amounts: readonly bigint[]): bigint {
  return sum(
    taxes.map(({ rate }, place) => (rateOf(rate).inclusive ? (amounts[place] ?? 0n) : 0n)),
  );
}

function taxLeft({ taxes, creditedByNotes }: BilledLine, rate: number): bigint {
  const leftOf = ({ amount }: LineTax, place: number): bigint =>
    amount - (creditedByNotes.taxes[place] ?? 0n);
  return sum(taxes.map((one, place) => (one.rate === rate ? leftOf(one, place) : 0n)));
}

/** Returns true if all lines with an amount were billed with the same rates. */
function isTaxedAlike(lines: readonly BilledLine[]): boolean {
  const rates = billedRates(lines).length;
  return lines.every((line) => netOf(line) === 0n || line.taxes.length === rates);
}

function rateOf(index: number): ModelTaxRate {
  const found = TAX_RATES[index];
  if (found === undefined) throw new Error(`There is no tax rate ${index}.`);
  return found;
}
