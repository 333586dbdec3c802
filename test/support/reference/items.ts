import { isDeepStrictEqual } from 'node:util';
import type { ModelPlan } from './catalog';
import type { BilledLine } from './line';
import { addonPrices, type SoldPrice, type Terms } from './offers';

/** Instant after all others: the end of items that continue. */
export const FOREVER = Number.MAX_SAFE_INTEGER;

export interface Item {
  readonly price: SoldPrice;
  readonly quantity: number;
  /** The plan that the item was sold with, also after a change to another plan. */
  readonly proration: ModelPlan['proration'];
  from: number;
  to: number;
  /** True if the period in which it was sold was cut short: what it billed is earned. */
  isOver: boolean;
  /** For an item that a pause stopped, the instant until which it continues after a resume; otherwise null. */
  resumesUntil: number | null;
  /**
   * True if the day on which the item ended is billed by a plan with proration by day: a pause ended the item, and no
   * resume followed on that day.
   */
  billsLastDay: boolean;
  /**
   * Unit of the new version in a change that ended the item: the part before the change is counted in it too. Null: the
   * unit of the item itself.
   */
  lastUnit: 'day' | 'second' | null;
  billed: BilledLine[];
}

export function itemsOf(terms: Terms, from: number): Item[] {
  const { prices, proration } = terms.version;
  const sold = [
    { prices, quantity: terms.quantity },
    ...terms.addons.map(({ addon, quantity }) => ({ prices: addonPrices(addon), quantity })),
  ].flatMap((one) => one.prices.map((price) => ({ price, quantity: one.quantity })));
  return sold.map(({ price, quantity }) => ({
    price,
    quantity: price.model === 'flat' || price.isMetered ? 1 : quantity,
    proration,
    from,
    to: FOREVER,
    isOver: false,
    resumesUntil: null,
    billsLastDay: false,
    lastUnit: null,
    billed: [],
  }));
}

/** Replaces the items from an instant on; unchanged items continue. */
export function swap(
  subscription: { items: Item[]; terms: Terms },
  terms: Terms,
  at: number,
): { readonly ended: readonly Item[]; readonly added: readonly Item[] } {
  const kept = subscription.items.filter(({ from }) => from <= at);
  const current = kept.filter(({ to }) => to > at);
  const wanted = itemsOf(terms, at);
  const isVersion = isVersionOf(subscription.terms, terms);
  const added = wanted.filter(
    (item) => !current.some((one) => one.to === FOREVER && isSame(one, item, isVersion)),
  );
  const ended = current.filter(
    (item) => item.to !== FOREVER || !wanted.some((one) => isSame(one, item, isVersion)),
  );
  for (const item of ended) item.to = at;
  subscription.items = [...kept, ...added];
  subscription.terms = terms;
  return { ended, added };
}

/** Returns true if a subscription has these terms now and from an instant on. */
export function hasTerms(
  { items, terms: held }: { readonly items: readonly Item[]; readonly terms: Terms },
  terms: Terms,
  at: number,
): boolean {
  const isSameOffer =
    held.version === terms.version &&
    held.quantity === terms.quantity &&
    held.addons.length === terms.addons.length &&
    held.addons.every(({ addon, quantity }) =>
      terms.addons.some((other) => other.addon === addon && other.quantity === quantity),
    );
  const current = items.filter(({ to }) => to > at);
  return (
    isSameOffer &&
    current.every(({ from, to }) => from <= at && to === FOREVER) &&
    itemsOf(terms, at).every((item) => current.some((one) => isSame(one, item, true)))
  );
}

/**
 * Returns true if two items sell the same price. An item keeps the proration it was sold with, also beside another plan. A
 * price with the same terms in another version of the plan is the same price, if the proration is the same too.
 */
function isSame(one: Item, other: Item, isVersion: boolean): boolean {
  const isEqual =
    isVersion && one.proration === other.proration && isDeepStrictEqual(one.price, other.price);
  return (isEqual || one.price === other.price) && one.quantity === other.quantity;
}

/** Returns true if terms are for versions of one plan with the same interval. */
function isVersionOf({ version: one }: Terms, { version: other }: Terms): boolean {
  return one.plan === other.plan && one.interval === other.interval;
}

/** Returns true if an item ended and others replaced it, in the plan or in the same add-on. */
export function isReplacedBy({ price, to }: Item, others: readonly Item[]): boolean {
  return others.some((other) => placeOf(other.price) === placeOf(price) && to <= other.from);
}

/** The add-on; null: the plan. */
function placeOf({ seller }: SoldPrice): number | null {
  return 'addon' in seller ? seller.addon : null;
}

export function isInAdvance({ price }: Item): boolean {
  return price.timing === 'in_advance';
}

/** Returns the unit of proration, also where a caller asks for one that the plan does not have. */
export function unitOf({ proration }: Pick<Item, 'proration'>): 'day' | 'second' {
  return proration === 'second' ? 'second' : 'day';
}

/** Returns true if the price itself is never prorated. */
export function isWholeOnly({ proration }: Item): boolean {
  return proration === 'none';
}
