import { invariant } from '../invariant';

/**
 * An integer count of the currency's minor unit beside its ISO 4217 code: 1099 USD is 10.99, 1099
 * JPY is 1099. Negative for a credit.
 */
export type Money = { readonly amountMinor: bigint; readonly currency: string };

/**
 * The sum of two amounts, exact.
 *
 * @throws InvariantError when the currencies differ: amounts in different currencies are never
 * added.
 */
export function addMoney(left: Money, right: Money): Money {
  assertSameCurrency(left, right);
  return { amountMinor: left.amountMinor + right.amountMinor, currency: left.currency };
}

/**
 * `left` less `right`, exact; may be negative.
 *
 * @throws InvariantError when the currencies differ.
 */
export function subtractMoney(left: Money, right: Money): Money {
  assertSameCurrency(left, right);
  return { amountMinor: left.amountMinor - right.amountMinor, currency: left.currency };
}

/**
 * The sum of any number of amounts in `currency`; zero of it when there are none.
 *
 * @throws InvariantError when one of them is in another currency.
 */
export function sumMoney(currency: string, amounts: Iterable<Money>): Money {
  let total: Money = { amountMinor: 0n, currency };
  for (const amount of amounts) {
    total = addMoney(total, amount);
  }
  return total;
}

function assertSameCurrency(left: Money, right: Money): void {
  invariant(
    left.currency === right.currency,
    `one currency in a sum: got ${left.currency} and ${right.currency}`,
  );
}
