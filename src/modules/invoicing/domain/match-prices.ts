import type { Price } from '../../../core/rating';

export interface NamedPrice {
  readonly name: string;
  readonly meterId: string | null;
  readonly isByGroup: boolean;
  readonly timing: 'in_advance' | 'in_arrears';
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

export interface MatchFault {
  readonly index: number;
  readonly message: string;
}

/**
 * Matches new prices to the prices of the same name that all versions of a plan sold. Two prices match only if both
 * have the same meter, `isByGroup` and `timing`. A sold flat price matches only a flat price, because its quantity is
 * not known.
 * - `replacements`: null for a sold price without a new price of its name.
 * - `unmatched`: sold prices that the new price of their name does not match. Bills with them cannot be simulated.
 * - `faults`: new prices that repeat a name, or for which no version exists whose prices of that name all match.
 *
 * @param sold prices of each version
 */
export function matchPrices<Sold extends NamedPrice>(
  sold: readonly (readonly Sold[])[],
  offered: readonly NamedPrice[],
): {
  readonly replacements: ReadonlyMap<Sold, NamedPrice | null>;
  readonly unmatched: ReadonlyMap<Sold, MatchFault>;
  readonly faults: readonly MatchFault[];
} {
  const replacements = new Map<Sold, NamedPrice | null>();
  const unmatched = new Map<Sold, MatchFault>();
  for (const price of sold.flat()) {
    const index = offered.findIndex(({ name }) => name === price.name);
    const replacement = offered[index] ?? null;
    const message = replacement === null ? null : differenceOf(price, replacement);
    replacements.set(price, replacement);
    if (message !== null) unmatched.set(price, { index, message });
  }
  const faults = offered.flatMap((price, index) => {
    const message = faultOf(price, index, sold, offered);
    return message === null ? [] : [{ index, message }];
  });
  return { replacements, unmatched, faults };
}

function faultOf(
  price: NamedPrice,
  index: number,
  sold: readonly (readonly NamedPrice[])[],
  offered: readonly NamedPrice[],
): string | null {
  if (offered.findIndex(({ name }) => name === price.name) !== index)
    return 'repeats the name of another new price';
  const replaced = sold.map((version) => version.filter(({ name }) => name === price.name));
  const differences = replaced
    .filter((ofVersion) => ofVersion.length > 0)
    .map((ofVersion) => ofVersion.flatMap((one) => differenceOf(one, price) ?? []).at(0));
  if (differences.includes(undefined)) return null;
  return differences[0] ?? 'has a name that no price of the plan has';
}

/** Returns why a new price cannot replace a sold price of the same name; null if it can. */
function differenceOf(sold: NamedPrice, price: NamedPrice): string | null {
  if (sold.meterId !== price.meterId) return 'has another meter';
  if (sold.isByGroup !== price.isByGroup)
    return 'has another `by_group` than the price it replaces';
  if (sold.timing !== price.timing) return 'has another `timing` than the price it replaces';
  const wasFlat = sold.rating.model === 'flat';
  return wasFlat && price.rating.model !== 'flat' ? 'replaces a flat price' : null;
}
