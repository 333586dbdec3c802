import { multiply, parseDecimal, rational, type Rational, roundToInteger } from '../decimal';
import type { Interval } from '../time';
import type { Price } from './price';
import { rate, roundAtLine } from './rate';
import { trueUp } from './true-up';

/** Billing intervals per month. A year has 365 days, a week has 7 days, and a month is a twelfth of a year. */
const PER_MONTH: Readonly<Record<Interval, Rational>> = {
  day: rational(365n, 12n),
  week: rational(365n, 84n),
  month: rational(1n),
  year: rational(1n, 12n),
};

/** A price with its minimum and maximum for a full billing period; null: no limit. */
export interface LimitedPrice {
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

/**
 * Returns the cost of `quantity` units in a full billing period, in minor units. The cost is kept within the minimum
 * and maximum of the price. Only for prices that do not depend on usage.
 * @param quantity decimal string
 */
export function periodAmountOf(price: LimitedPrice, quantity: string): bigint {
  const usage = { kind: 'quantity', quantity: parseDecimal(quantity) } as const;
  const amount = roundAtLine(rate(price.rating, usage).amount, null);
  return amount + (trueUp(amount, price, null)?.amountMinor ?? 0n);
}

/**
 * Converts the amount of a billing period, which lasts `intervalCount` intervals, to an amount per month, in minor
 * units, rounded half away from zero.
 */
export function monthlyAmountOf(
  periodMinor: bigint,
  { interval, intervalCount }: { readonly interval: Interval; readonly intervalCount: number },
): bigint {
  const perMonth = multiply(PER_MONTH[interval], rational(1n, BigInt(intervalCount)));
  return roundToInteger(multiply(rational(periodMinor), perMonth));
}
