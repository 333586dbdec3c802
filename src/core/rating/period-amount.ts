import { parseDecimal } from '../decimal';
import type { Price } from './price';
import { rate, roundAtLine } from './rate';
import { trueUp } from './true-up';

/** A price for an agreed quantity, with its limits for each period. */
export interface LimitedPrice {
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

/**
 * Returns the cost of a full billing period at a price without usage, within its minimum and maximum, in minor units.
 * @param quantity decimal string
 */
export function periodAmountOf(price: LimitedPrice, quantity: string): bigint {
  const usage = { kind: 'quantity', quantity: parseDecimal(quantity) } as const;
  const amount = roundAtLine(rate(price.rating, usage).amount, null);
  return amount + (trueUp(amount, price, null)?.amountMinor ?? 0n);
}
