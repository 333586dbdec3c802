import { invariant } from '../invariant';

/** An amount that belongs to one thing billed for one period; the key names both. */
export type KeyedAmount = {
  readonly key: string;
  readonly amountMinor: bigint;
  readonly currency: string;
};

export type Difference = {
  readonly key: string;
  readonly currency: string;
  /** Amount that should have been billed; zero when no longer due. */
  readonly shouldMinor: bigint;
  /** Billed so far by all lines of the key. */
  readonly billedMinor: bigint;
  /** Amount of the next invoice: should less billed, negative for a credit. */
  readonly amountMinor: bigint;
};

/**
 * Returns the amounts still to be billed: for each key, should less billed, in the order of `should`,
 * then the keys that were billed and are no longer due. Without a difference there is no entry,
 * so a second run after billing the first adds nothing.
 *
 * @throws InvariantError when `should` names a key twice or a key has two currencies.
 */
export function differences(
  should: readonly KeyedAmount[],
  billed: readonly KeyedAmount[],
): Difference[] {
  const byKey = new Map<string, Difference>();
  for (const { key, currency, amountMinor } of should) {
    invariant(!byKey.has(key), 'what should be billed is named once');
    byKey.set(key, { key, currency, shouldMinor: amountMinor, billedMinor: 0n, amountMinor });
  }
  for (const { key, currency, amountMinor } of billed) {
    const known = byKey.get(key) ?? {
      key,
      currency,
      shouldMinor: 0n,
      billedMinor: 0n,
      amountMinor: 0n,
    };
    invariant(known.currency === currency, 'one thing is billed in one currency');
    const billedMinor = known.billedMinor + amountMinor;
    byKey.set(key, { ...known, billedMinor, amountMinor: known.shouldMinor - billedMinor });
  }
  return [...byKey.values()].filter(({ amountMinor }) => amountMinor !== 0n);
}
