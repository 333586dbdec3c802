import { parseDecimal } from '../decimal';
import type { Price } from './price';
import { rate, roundAtLine } from './rate';
import { trueUp } from './true-up';

/** A price with its minimum and maximum for a full billing period; null: no limit. */
export interface LimitedPrice {
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

/**
 * Returns the cost of `quantity` units in a full billing period, within the minimum and maximum of the price, in minor
 * units. For prices that do not depend on usage.
 * @param quantity decimal string
 */
export function periodAmountOf(price: LimitedPrice, quantity: string): bigint {
  const usage = { kind: 'quantity', quantity: parseDecimal(quantity) } as const;
  const amount = roundAtLine(rate(price.rating, usage).amount, null);
  return amount + (trueUp(amount, price, null)?.amountMinor ?? 0n);
}
