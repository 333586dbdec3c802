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
 * Matches new prices to sold prices by name. Two prices match only if both have the same meter, `isByGroup` and
 * `timing`. A flat price matches only a flat price, because its quantity is not known. A sold price without a match is
 * dropped.
 */
export function matchPrices<Sold extends NamedPrice>(
  sold: readonly Sold[],
  offered: readonly NamedPrice[],
): {
  readonly replacements: ReadonlyMap<Sold, NamedPrice | null>;
  readonly faults: readonly MatchFault[];
} {
  const faults = offered.flatMap((price, index) => {
    const message = faultOf(price, index, sold, offered);
    return message === null ? [] : [{ index, message }];
  });
  const replacements = new Map(
    sold.map((price) => [price, offered.find(({ name }) => name === price.name) ?? null] as const),
  );
  return { replacements, faults };
}

function faultOf(
  price: NamedPrice,
  index: number,
  sold: readonly NamedPrice[],
  offered: readonly NamedPrice[],
): string | null {
  if (offered.findIndex(({ name }) => name === price.name) !== index)
    return 'repeats the name of another new price';
  const replaced = sold.filter(({ name }) => name === price.name);
  if (replaced.length === 0) return 'has a name that no price of the plan has';
  if (replaced.some(({ meterId }) => meterId !== price.meterId)) return 'has another meter';
  if (replaced.some(({ isByGroup }) => isByGroup !== price.isByGroup)) {
    return 'has another `by_group` than the price it replaces';
  }
  if (replaced.some(({ timing }) => timing !== price.timing)) {
    return 'has another `timing` than the price it replaces';
  }
  const wasFlat = replaced.some(({ rating }) => rating.model === 'flat');
  return wasFlat && price.rating.model !== 'flat' ? 'replaces a flat price' : null;
}
